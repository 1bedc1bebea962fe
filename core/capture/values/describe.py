"""Handlers of calls: their type, the check of argument counts, and arguments that are constants.

A handler takes the interpreter, the positional arguments and the keyword arguments; it returns the abstract result.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

from pijit.core.capture.values.lattice import Abstract, Const
from pijit.core.errors import Break

Arguments = Dict[str, Abstract]
Handler = Callable[..., Abstract]


def only(arguments: List[Abstract], keywords: Arguments, name: str, *counts: int) -> None:
    """Break unless there are no keywords and the number of arguments is one of ``counts``."""
    if keywords or len(arguments) not in counts:
        raise Break("PJ211", callee=name)


def constants_of(values: Sequence[Abstract]) -> Optional[List[Any]]:
    """The objects that values are if all of them are constants, else None."""
    found = [value.object for value in values if isinstance(value, Const)]
    return found if len(found) == len(values) else None
