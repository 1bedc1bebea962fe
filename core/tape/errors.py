"""Errors and warnings of gradients; each has a reason of the table in `pijit.core.reasons`.

The modules of `tape` and `pijit.gradients` raise them. A gradient must never be wrong instead.
"""

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
