"""C functions that linked code calls, looked up at link time.

Bytecode can be read without the extension modules, so no module of `core/bytecode` may import them at
its top.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, Tuple


def unbound() -> Any:
    """The value that `arrive` returns for a variable without a value (3.11)."""
    from pijit.core._hook import UNBOUND

    return UNBOUND


def osr_check(ask: Any, slot: int) -> Any:
    """The OSR check that linked code calls at a loop's header; up to 3.10 it gets the local for the operand stack."""
    from pijit.core._hook import osr_check as make

    if sys.version_info >= (3, 11):
        return make(ask)
    return make(ask, slot)


def resume() -> Any:
    """The callable that makes the interpreter handle requests."""
    from pijit.core._launcher import resume as found

    return found


def reporter(ufunc: str) -> Any:
    """The callable that reports floating-point flags as a ufunc does."""
    from pijit.core._launcher import reporter as make

    return make(ufunc)


def continuation(code: CodeType, slots: Tuple[int, ...]) -> Any:
    """The callable that runs code on a tuple of a function and one value for each slot.

    Up to 3.10 it puts the values into these slots. From 3.11 on the code asks for them, see `arrive`.
    """
    from pijit.core._hook import Continuation

    return Continuation(code, slots).callable


def arrive() -> Any:
    """The callable that returns the tuple of values to code that starts in the middle of a function (3.11)."""
    from pijit.core._hook import arrive as found  # type: ignore[attr-defined,unused-ignore]  # from 3.11 on

    return found


def bind() -> Any:
    """The callable that makes one callable of a tuple of a method and its owner (3.11).

    If the lookup found no method, one item of the tuple is an empty slot.
    """
    from pijit.core._hook import bind as found  # type: ignore[attr-defined,unused-ignore]  # from 3.11 on

    return found
