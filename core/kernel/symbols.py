"""Symbols: the names by which machine code refers to libm functions, tables of ufunc loops and other addresses.

A name is resolved when the code is linked. So machine code from the disk cache gets the addresses of its own process.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any, Dict, Sequence, Tuple

import llvmlite.binding as llvm
import numpy as np

from pijit.core.graph import special_functions
from pijit.core.graph.gufuncs import LINALG

_HERE = "pijit.here."
"""The prefix of names that are valid in this process only."""
_CORE = "numpy._core" if int(np.__version__.split(".")[0]) > 1 else "numpy.core"
UMATH: Any = importlib.import_module(_CORE + ".umath")
HOMES: Dict[str, Any] = {"": UMATH, "linalg": LINALG, "special": special_functions}
"""Modules whose ufuncs are the same in every process, by the word in the names of symbols."""
_SYMBOLS: Dict[str, Any] = {}


def symbol(name: str, address: int, keep: Any = None) -> str:
    """Tell LLVM that ``name`` is ``address``, once per process, and keep ``keep`` alive. Returns the name."""
    if name not in _SYMBOLS:
        llvm.add_symbol(name, address)
        _SYMBOLS[name] = (address, keep)
    return name


def table_symbol(name: str, words: Sequence[int]) -> str:
    """A symbol for a table of 64-bit words that is never freed. It is the name, unless another table has it."""
    if name in _SYMBOLS:
        known = list(_SYMBOLS[name][1])
        return name if known == list(words) else table_symbol(_HERE + "%s.%r" % (name, tuple(words)), words)
    table = (ctypes.c_int64 * len(words))(*words)
    return symbol(name, ctypes.addressof(table), table)


def is_numpys(ufunc: np.ufunc) -> bool:
    """Whether the ufunc is the one that NumPy has under its name."""
    return getattr(UMATH, ufunc.__name__, None) is ufunc


def loop_symbol(ufunc: np.ufunc, index: int, words: Tuple[int, int]) -> str:
    """A symbol for [function, data] of an inner loop. It is the same in every process if the ufunc is in `HOMES`."""
    name = ufunc.__name__
    for home, module in HOMES.items():
        if getattr(module, name, None) is ufunc:
            return table_symbol("pijit.ufunc.%s%s.%d" % (home + "." if home else "", name, index), words)
    return table_symbol(_HERE + "pijit.ufunc.%s.%d.%r" % (name, index, words), words)


def lasts(name: str) -> bool:
    """Whether a symbol means the same in every process."""
    return not name.startswith(_HERE)
