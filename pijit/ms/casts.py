"""Casts for cells that compute in another float type than that of their parameters."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

from pijit.core.graph.substitution import call_with_attribute
from pijit.ms.tensor import Tensor, made


def cast_all(x: Any, dtype: Any) -> Any:
    """The float tensors of a value as tensors of another float type."""
    if isinstance(x, Tensor):
        a = x._array
        return made(a.astype(dtype)) if a.dtype.kind == "f" and a.dtype != dtype else x
    if type(x) is tuple:
        return tuple([cast_all(one, dtype) for one in x])
    return x


def call_with_casts(function: Callable[..., Any], owner: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any],
                    dtype: Any) -> Any:
    """`function(owner, kwargs, *args)`, where the float tensors in `args` have another float type.

    A few arguments are passed without a list, whose items would have to be objects in captured code.
    """
    if len(args) == 1:
        return function(owner, kwargs, cast_all(args[0], dtype))
    if len(args) == 2:
        return function(owner, kwargs, cast_all(args[0], dtype), cast_all(args[1], dtype))
    if len(args) == 3:
        return function(owner, kwargs, cast_all(args[0], dtype), cast_all(args[1], dtype), cast_all(args[2], dtype))
    return function(owner, kwargs, *[cast_all(one, dtype) for one in args])


def constructed(cell: Any, kwargs: Dict[str, Any], *args: Any) -> Any:
    """The result of `construct` while the cell's own trained parameters have the type in which it computes.

    Two threads must not call the same cell at once, because the arrays of the parameters are replaced during the call.
    """
    own = cell._cast_parameters
    if not own:
        return cell.construct(*args, **kwargs)
    values = [one._array.astype(cell._cast) for one in own]
    return call_with_attribute(own, "_array", values, _constructed, cell, args, kwargs)


def _constructed(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    return cell.construct(*args, **kwargs)
