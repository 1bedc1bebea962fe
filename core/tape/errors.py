"""Errors and warnings of gradients; each has a reason of the table in `pijit.core.reasons`."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from pijit.core.reasons import reason
from pijit.core.tape.native import user_place


class GradientError(TypeError):
    """A gradient that cannot be computed. `reason_id` is the id of the reason table, such as "PJ502"."""

    def __init__(self, message: str, reason_id: str) -> None:
        super().__init__(message)
        self.reason_id = reason_id


class GradientWarning(UserWarning):
    """Nothing flows from an argument to the result, so its gradient is zero everywhere."""


def refusal(reason_id: str, **facts: Any) -> GradientError:
    """The error of a reason; its text names the user's line."""
    return refusal_at(user_place(), reason_id, **facts)


def refusal_at(place: Optional[Tuple[str, int]], reason_id: str, **facts: Any) -> GradientError:
    """The error of a reason at a file and line, or None."""
    text = str(reason(reason_id, **facts))
    if place is not None:
        text = "{} ({}:{})".format(text, place[0], place[1])
    return GradientError(text, reason_id)


def name_of(function: Any) -> str:
    """A function's name for messages, with its module if it has one."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    name = name or getattr(function, "__name__", None) or repr(function)
    return "{}.{}".format(module, name) if module and module != "builtins" else str(name)
