"""Names under which machine code reaches what is outside of it: libm functions, tables of ufunc loops.

A name is resolved when the code is linked, so code cached on disk finds the addresses of its own process.
"""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Sequence

import llvmlite.binding as llvm

_SYMBOLS: Dict[str, Any] = {}


def symbol(name: str, address: int, keep: Any = None) -> str:
    """Make ``address`` known to LLVM under ``name``, once per process, and keep ``keep`` alive. Returns the
    name."""
    if name not in _SYMBOLS:
        llvm.add_symbol(name, address)
        _SYMBOLS[name] = (address, keep)
    return name


def table_symbol(name: str, words: Sequence[int]) -> str:
    """A symbol for an immortal table of 64-bit words."""
    if name in _SYMBOLS:
        return name
    table = (ctypes.c_int64 * len(words))(*words)
    return symbol(name, ctypes.addressof(table), table)
