"""Errors and warnings of gradients; each has a reason of the table in `pijit.core.reasons`."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, Optional, Set, Tuple

from pijit.core.reasons import reason

INSTRUMENTED: Set[CodeType] = set()
"""Code objects that `instrument` has made; the innermost frame that runs one gives the user's line."""


class GradientError(TypeError):
    """A gradient that cannot be computed. `reason_id` is the id of the reason table, such as "PJ502"."""

    def __init__(self, message: str, reason_id: str) -> None:
        super().__init__(message)
        self.reason_id = reason_id


class GradientWarning(UserWarning):
    """Nothing flows from an argument to the result, so its gradient is zero everywhere."""


def user_place() -> Optional[Tuple[str, int]]:
    """File and line of the innermost frame of instrumented code, or None."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code in INSTRUMENTED:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def refusal(reason_id: str, **facts: Any) -> GradientError:
    """The error of a reason; its text names the user's line."""
    text, place = str(reason(reason_id, **facts)), user_place()
    if place is not None:
        text = "{} ({}:{})".format(text, place[0], place[1])
    return GradientError(text, reason_id)


def name_of(function: Any) -> str:
    """A function's name for messages, with its module if it has one."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    name = name or getattr(function, "__name__", None) or repr(function)
    return "{}.{}".format(module, name) if module and module != "builtins" else str(name)
