"""Records of kernel functions: what another process needs to run a kernel without its graph.

The machine code is in the disk cache under a key of its own. A record has that key, and what the launcher and the
guards are made of. `pijit/joint/joint_cache.py` keeps records.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, Optional, Tuple

from pijit.core import _launcher
from pijit.core._hook import KernelFunction
from pijit.core.kernel import symbols
from pijit.core.kernel.disk_cache import find
from pijit.core.kernel.llvm import codegen
from pijit.core.kernel.symbols import LIBM, LOOP, WORD, LinkSymbol
from pijit.core.named_tuples import NamedTuple
from pijit.guards.program import GuardProgram
from pijit.guards.source import Local, Source


class KernelRecord(NamedTuple):
    """A kernel function, as data.

    Attributes:
        key: the key of the machine code in the disk cache.
        symbols: the symbols that the machine code refers to.
        guards, fetch: the guard program.
        inputs, words, output_word, exits, returns, name: of the launcher.
    """

    key: str
    symbols: Tuple[LinkSymbol, ...]
    guards: Tuple[Any, ...]
    fetch: Tuple[Any, ...]
    inputs: Tuple[Any, ...]
    words: int
    output_word: int
    exits: Tuple[Any, ...]
    returns: Tuple[int, ...]
    name: str


def launcher_of(record: KernelRecord, kernel: Any, owner: Any) -> _launcher.Launcher:
    """The launcher of a kernel function; the guards are checked before it is called."""
    return _launcher.Launcher(None, {}, {}, record.inputs, record.words, record.output_word, kernel, record.exits,
                              max(map(len, record.exits)), record.name, owner, returns=record.returns)


def restored(record: KernelRecord, namespace: Tuple[Dict[str, Any], Dict[str, Any]], left: Any,
             other: Any) -> Optional[KernelFunction]:
    """The kernel function of a record, or None if its machine code, or a symbol, is not here.

    Args:
        record: the record.
        namespace: the globals and the builtins of the function.
        left, other: the classes of exceptions, as for `KernelFunction`.
    """
    code = find(record.key) if all(map(_is_here, record.symbols)) else None
    if code is None:
        return None
    kernel, owner = codegen.linked(code, record.name)
    program = GuardProgram(list(record.guards), list(record.fetch))
    return KernelFunction(program, launcher_of(record, kernel, owner), *namespace, left, other)


def is_restorable(record: KernelRecord) -> bool:
    """Whether another process can make the kernel function: its code is on disk, and guards look at arguments alone."""
    sources = list(record.fetch) + [source for guard in record.guards for source in guard.sources]
    return bool(record.key) and all(map(_is_nameable, record.symbols)) and all(
        issubclass(type(root), Local) for source in sources for root in _roots(source))


def _roots(source: Source) -> Iterator[Source]:
    """The sources that a source reads from in the end."""
    if not source.children:
        yield source
    for one in source.children:
        yield from _roots(one)


def _is_nameable(symbol: LinkSymbol) -> bool:
    """Whether another process can find what a symbol stands for."""
    return symbol.kind in _FINDERS


_WORDS: Dict[str, Any] = {"eval_breaker": _launcher.EVAL_BREAKER, "signals": _launcher.SIGNALS}
"""The addresses of the interpreter's words, or None."""


def _is_here(symbol: LinkSymbol) -> bool:
    """Tell LLVM the address of a symbol in this process; False if it has none."""
    return symbol.kind in _FINDERS and _FINDERS[symbol.kind](symbol) == symbol


def _libm(symbol: LinkSymbol) -> Optional[LinkSymbol]:
    return symbols.libm_symbol(symbol.function, _launcher.libm(symbol.function))


def _word(symbol: LinkSymbol) -> Optional[LinkSymbol]:
    address = _WORDS[symbol.function]
    return None if address is None else symbols.word_symbol(symbol.function, address)


def _loop(symbol: LinkSymbol) -> Optional[LinkSymbol]:
    found = getattr(symbols.HOMES.get(symbol.home), symbol.function, None)
    if found is None:
        return None
    words = _launcher.ufunc_loop(found, symbol.loop, symbols.is_numpys(found))
    return symbols.loop_symbol(found, symbol.loop, words)


_FINDERS: Dict[str, Callable[[LinkSymbol], Optional[LinkSymbol]]] = {LIBM: _libm, WORD: _word, LOOP: _loop}
"""For each kind that other processes have, too: the symbol in this process, or None."""
