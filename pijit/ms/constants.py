"""Values that are constants for gradients."""

from __future__ import annotations

from typing import Any

from pijit.core.graph.library_helpers import constant_copy
from pijit.ms.tensor import Tensor, made


def stop_gradient(value: Any) -> Any:
    """A copy of a tensor, or of the tensors in lists, tuples and dicts, that is a constant for gradients.

    Example:
        >>> grad(lambda x: x * stop_gradient(x))(Tensor([3.0]))
        Tensor(shape=[1], dtype=Float32, value= [ 3.00000000e+00])
    """
    if isinstance(value, Tensor):
        return made(constant_copy(value._array))
    if isinstance(value, (list, tuple)):
        parts = [stop_gradient(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {name: stop_gradient(one) for name, one in value.items()}
    return value
