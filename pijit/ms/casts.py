"""Casts for cells that compute in another float type than that of their parameters."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from pijit.ms.tensor import Tensor, made


def cast_all(x: Any, dtype: Any) -> Any:
    """The float tensors of a value as tensors of another float type."""
    if isinstance(x, Tensor):
        a = x._array
        return made(a.astype(dtype)) if a.dtype.kind == "f" and a.dtype != dtype else x
    if type(x) is tuple:
        return tuple([cast_all(one, dtype) for one in x])
    return x


def constructed(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """The result of `construct` while the cell's own trained parameters have the type in which it computes.

    Two threads must not call the same cell at once, because the arrays of the parameters are replaced during the call.
    """
    own = cell._cast_parameters
    kept = [one._array for one in own]
    for one in own:
        one._array = one._array.astype(cell._cast)
    try:
        out = cell.construct(*args, **kwargs)  # CPython 3.7: a return in here is not captured
    finally:
        for place, one in enumerate(own):
            one._array = kept[place]
    return out
