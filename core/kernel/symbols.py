"""Symbols: the names by which machine code refers to libm functions, tables of ufunc loops and other addresses.

A name is resolved when the code is linked. So machine code from the disk cache gets the addresses of its own process.
The emitter names them, and `llvm/codegen.py` registers their addresses. Two meanings must never have one name.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any, Dict, Tuple

import llvmlite.binding as llvm
import numpy as np

from pijit.core.graph import special_functions
from pijit.core.graph.gufuncs import LINALG
from pijit.core.named_tuples import NamedTuple

LIBM, LOOP, WORD, OBJECT, HERE = "libm", "loop", "word", "object", "here"
"""Kinds of symbols: a libm function, a ufunc's inner loop, a word of the interpreter, an object.

HERE is an inner loop that has its name in this process only.
"""

Meaning = Tuple[Any, ...]
"""What a name in kernel source stands for: a `LinkSymbol`, or the description of code, such as a loop nest."""


class LinkSymbol(NamedTuple):
    """A symbol that machine code refers to.

    Attributes:
        name: LLVM's name for it.
        kind: the kind.
        function: the name of the libm function, the ufunc or the word.
        home: the word of the ufunc's module in `HOMES`.
        loop: the number of the ufunc's inner loop.
    """

    name: str
    kind: str
    function: str = ""
    home: str = ""
    loop: int = 0


_CORE = "numpy._core" if int(np.__version__.split(".")[0]) > 1 else "numpy.core"
UMATH: Any = importlib.import_module(_CORE + ".umath")
HOMES: Dict[str, Any] = {"": UMATH, "linalg": LINALG, "special": special_functions}
"""Modules whose ufuncs are the same in every process, by the word in the names of symbols."""
_KNOWN: Dict[str, Any] = {}
"""The object that each name of a symbol keeps alive, or None."""


def _add(symbol: LinkSymbol, address: int, keep: Any = None) -> LinkSymbol:
    """Tell LLVM the address of a symbol, once per process, and keep ``keep`` alive. Returns the symbol."""
    if symbol.name not in _KNOWN:
        llvm.add_symbol(symbol.name, address)
        _KNOWN[symbol.name] = keep
    return symbol


def libm_symbol(function: str, address: int) -> LinkSymbol:
    """The symbol of a libm function."""
    return _add(LinkSymbol("pijit.libm." + function, LIBM, function), address)


def word_symbol(word: str, address: int) -> LinkSymbol:
    """The symbol of a word of the interpreter."""
    return _add(LinkSymbol("pijit." + word, WORD, word), address)


def object_symbol(name: str, known: Any) -> LinkSymbol:
    """The symbol of an object, which then lives as long as the process."""
    return _add(LinkSymbol(name, OBJECT), id(known), known)


def _table_symbol(symbol: LinkSymbol, words: Tuple[int, int]) -> LinkSymbol:
    """A symbol for a table of 64-bit words that is never freed. It is the given one, unless another table has it."""
    if symbol.name in _KNOWN:
        return symbol if tuple(_KNOWN[symbol.name]) == words else _table_symbol(_only_here(symbol.name, words), words)
    table = (ctypes.c_int64 * len(words))(*words)
    return _add(symbol, ctypes.addressof(table), table)


def _only_here(name: str, words: Tuple[int, int]) -> LinkSymbol:
    """The symbol of a table that has its name in this process only."""
    return LinkSymbol("pijit.here.%s.%r" % (name, words), HERE)


def is_numpys(ufunc: np.ufunc) -> bool:
    """Whether the ufunc is the one that NumPy has under its name."""
    return getattr(UMATH, ufunc.__name__, None) is ufunc


def loop_symbol(ufunc: np.ufunc, index: int, words: Tuple[int, int]) -> LinkSymbol:
    """A symbol for [function, data] of an inner loop. It is the same in every process if the ufunc is in `HOMES`."""
    name = ufunc.__name__
    for home, module in HOMES.items():
        if getattr(module, name, None) is ufunc:
            full = "pijit.ufunc.%s%s.%d" % (home + "." if home else "", name, index)
            return _table_symbol(LinkSymbol(full, LOOP, name, home, index), words)
    return _table_symbol(_only_here("pijit.ufunc.%s.%d" % (name, index), words), words)


def lasts(meaning: Meaning) -> bool:
    """Whether a name means the same in every process."""
    return not isinstance(meaning, LinkSymbol) or meaning.kind != HERE
