"""Handlers of calls: their type, and the check of argument counts.

A handler takes the interpreter, the positional arguments and the keyword arguments; it returns the abstract result.
"""

from __future__ import annotations

from typing import Callable, Dict, List

from pijit.core.capture.values.lattice import Abstract
from pijit.core.errors import Break

Arguments = Dict[str, Abstract]
Handler = Callable[..., Abstract]


def only(arguments: List[Abstract], keywords: Arguments, name: str, *counts: int) -> None:
    """Break unless there are no keywords and the number of arguments is one of ``counts``."""
    if keywords or len(arguments) not in counts:
        raise Break("PJ211", callee=name)
