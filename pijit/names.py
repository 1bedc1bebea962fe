"""Text for messages: suggestions for unknown names, and counts with their nouns.

Commands, options and reports use it. It must import nothing of the compiler.
"""

from __future__ import annotations

import difflib
from typing import Any, Iterable


def nearest(name: Any, known: Iterable[str]) -> str:
    """The known name that is most similar to a name."""
    lowered = {one.lower(): one for one in known}
    return lowered[difflib.get_close_matches(str(name).lower(), list(lowered), n=1, cutoff=0.0)[0]]


def closest(name: Any, known: Iterable[str]) -> str:
    """Message part for an unknown name: the known names, and the closest of them."""
    known = list(known)
    return "one of {}; not {!r} (the closest is {!r})".format(", ".join(map(repr, known)), name, nearest(name, known))


def count_of(number: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`."""
    return "{} {}{}".format(number, noun, "" if number == 1 else "s")
