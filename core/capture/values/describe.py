"""What handlers of calls share: checks of their arguments.

A handler takes the interpreter, the positional arguments and the keyword arguments, and answers with the result.
"""

from __future__ import annotations

from typing import Callable, Dict, List

from pijit.core.capture.values.lattice import Abstract
from pijit.core.errors import Break

Arguments = Dict[str, Abstract]
Handler = Callable[..., Abstract]


def only(arguments: List[Abstract], keywords: Arguments, name: str, *counts: int) -> None:
    """Break unless there are no keywords and one of these numbers of arguments."""
    if keywords or len(arguments) not in counts:
        raise Break("PJ211", callee=name)
