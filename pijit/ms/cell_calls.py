"""Calls of cells that do more than `construct`."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from pijit.ms import special_calls
from pijit.ms.casts import call_with_casts, cast_all, constructed


def call(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """The result of a cell that `to_float` has prepared, or of another special call, which kernels do not contain."""
    if cell.special != "cast" or special_calls.graph_mode is not None:
        return special_calls.call(cell, args, kwargs)
    out = call_with_casts(constructed, cell, args, kwargs, cell._cast)
    return out if cell._result_cast is None else cast_all(out, cell._result_cast)
