"""Casts for cells that compute in another float type than that of their parameters."""

from __future__ import annotations

from typing import Any, Callable, Dict

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


def call_with_casts(*args: Any, function: Callable[..., Any], owner: Any, kwargs: Dict[str, Any], dtype: Any) -> Any:
    """`function(*args, owner=owner, kwargs=kwargs)`, where the float tensors in `args` have another float type.

    A few arguments are passed without a list, whose items would have to be objects in captured code.
    """
    if len(args) == 1:
        return function(cast_all(args[0], dtype), owner=owner, kwargs=kwargs)
    if len(args) == 2:
        return function(cast_all(args[0], dtype), cast_all(args[1], dtype), owner=owner, kwargs=kwargs)
    if len(args) == 3:
        return function(cast_all(args[0], dtype), cast_all(args[1], dtype), cast_all(args[2], dtype), owner=owner,
                        kwargs=kwargs)
    return function(*[cast_all(one, dtype) for one in args], owner=owner, kwargs=kwargs)


def constructed(*args: Any, owner: Any, kwargs: Dict[str, Any]) -> Any:
    """The result of `construct` of a cell while its own weights have the type in which it computes.

    Two threads must not call the same cell at once, because the arrays of the parameters are replaced during the call.
    """
    own = owner._cast_parameters
    if not own:
        return owner.construct(*args, **kwargs)
    values = [one._array.astype(owner._cast) for one in own]
    return call_with_attribute(*args, objects=own, name="_array", values=values, function=plainly_constructed,
                               owner=owner, kwargs=kwargs)


def plainly_constructed(*args: Any, owner: Any, kwargs: Dict[str, Any]) -> Any:
    """The result of `construct` of a cell."""
    return owner.construct(*args, **kwargs)
