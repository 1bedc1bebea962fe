"""What linked code calls that is written in C. It is looked up when code is linked: bytecode can be read without it."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, Tuple


def unbound() -> Any:
    """What stands for a variable without a value in what `arrive` gives (3.11)."""
    from pijit.core._hook import UNBOUND

    return UNBOUND


def mover(ask: Any, slot: int) -> Any:
    """What linked code asks at a loop's header; up to 3.10 with the local for the operand stack."""
    from pijit.core._hook import mover as make

    return make(ask) if sys.version_info >= (3, 11) else make(ask, slot)


def resume() -> Any:
    """The callable that makes the interpreter handle requests."""
    from pijit.core._launcher import resume as found

    return found


def reporter(ufunc: str) -> Any:
    """The callable that reports floating-point flags as a ufunc does."""
    from pijit.core._launcher import reporter as make

    return make(ufunc)


def rest(code: CodeType, slots: Tuple[int, ...]) -> Any:
    """The callable that runs code on a tuple of a function and one value for each slot.

    Up to 3.10 it puts the values into these slots. From 3.11 on the code asks for them, see `arrive`.
    """
    from pijit.core._hook import Rest

    return Rest(code, slots).callable


def arrive() -> Any:
    """The callable that gives code that begins in its middle the tuple of its values (3.11)."""
    from pijit.core._hook import arrive as found

    return found


def bind() -> Any:
    """The callable that makes a callable of a method and its owner, in a tuple with an empty item where there is no method (3.11)."""
    from pijit.core._hook import bind as found

    return found
