"""Calls of cells that do more than `construct`."""

from __future__ import annotations

from typing import Any, Dict

from pijit.core.graph.substitution import call_compiled
from pijit.ms import special_calls
from pijit.ms.casts import call_with_casts, cast_all, constructed, plainly_constructed


def call(*args: Any, cell: Any, kwargs: Dict[str, Any]) -> Any:
    """The result of a cell in `GRAPH_MODE`, of one that `to_float` has prepared, or of another special call, which
    kernels do not contain.

    Each function passes the arguments on as `*args`. So each frame has a tuple of its own, which exits can make.
    """
    if cell.special is None:
        return call_compiled(*args, function=plainly_constructed, compiled=special_calls.constructed_as_graph,
                             owner=cell, kwargs=kwargs)
    if cell.special != "cast":
        return special_calls.call(cell, args, kwargs)
    out = call_with_casts(*args, function=constructed, owner=cell, kwargs=kwargs, dtype=cell._cast)
    return out if cell._result_cast is None else cast_all(out, cell._result_cast)
