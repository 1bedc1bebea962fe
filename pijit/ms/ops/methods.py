"""Methods of tensors that differ from the function of the same name."""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np

from pijit.ms import dtype as types
from pijit.ms.dtype import as_numpy
from pijit.ms.ops import movement, reductions
from pijit.ms.tensor import Tensor, array_of, made


def astype(tensor: Tensor, dtype: Any, copy: bool = True) -> Tensor:
    """The tensor converted to another element type."""
    return made(tensor._array.astype(as_numpy(dtype, "astype")))


def to(tensor: Tensor, dtype: Any, *args: Any) -> Tensor:
    """The tensor converted to another element type; the device name "CPU" is accepted without effect."""
    return tensor if dtype == "CPU" else astype(tensor, dtype)


def type_as(tensor: Tensor, other: Tensor) -> Tensor:
    """The tensor converted to the element type of another one."""
    return made(tensor._array.astype(other._array.dtype))


def _conversion(kind: Any, name: str) -> Callable[[Tensor], Tensor]:
    def convert(tensor: Tensor) -> Tensor:
        return made(tensor._array.astype(kind.nptype))
    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = "The tensor as {}.".format(kind)
    return convert


def copy(tensor: Tensor) -> Tensor:
    """A copy."""
    return made(np.array(tensor._array))


def view(tensor: Tensor, *shape: Any) -> Tensor:
    """The elements in another shape."""
    return movement.reshape(tensor, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)


def reshape(tensor: Tensor, *shape: Any) -> Tensor:
    """The elements in another shape."""
    return movement.reshape(tensor, shape[0] if len(shape) == 1 else shape)


def transpose(tensor: Tensor, *axes: Any) -> Tensor:
    """Permuted dimensions; reversed without arguments."""
    if not axes:
        return tensor.T
    return movement.transpose(tensor, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


def sum(tensor: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None, *,
        dim: Any = None, keepdim: bool = False) -> Tensor:
    """Sums along axes, given as `axis` and `keepdims` or as `dim` and `keepdim`; a second bool is `keepdim`."""
    if isinstance(dtype, bool):
        dtype, keepdim = None, dtype
    total = reductions.sum(tensor, dim if axis is None else axis, keepdims or keepdim, dtype=dtype)
    return total if initial is None else total + initial


def max(tensor: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = True,
        return_indices: bool = False) -> Any:
    """The greatest values; with `return_indices` also their positions."""
    if return_indices:
        return reductions.max(tensor, axis, keepdims)
    return made(np.max(tensor._array, axis=reductions.axes(axis), keepdims=keepdims))


def min(tensor: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = True,
        return_indices: bool = False) -> Any:
    """The smallest values; with `return_indices` also their positions."""
    if return_indices:
        return reductions.min(tensor, axis, keepdims)
    return made(np.min(tensor._array, axis=reductions.axes(axis), keepdims=keepdims))


def argmax(tensor: Tensor, axis: Any = None, keepdims: bool = False, *, dim: Any = None,
           keepdim: bool = False) -> Tensor:
    """The positions of the greatest values."""
    return reductions.argmax(tensor, dim if axis is None else axis, keepdims or keepdim)


def argmin(tensor: Tensor, axis: Any = None, keepdims: bool = False, *, dim: Any = None,
           keepdim: bool = False) -> Tensor:
    """The positions of the smallest values."""
    return reductions.argmin(tensor, dim if axis is None else axis, keepdims or keepdim)


def expand_as(tensor: Tensor, other: Tensor) -> Tensor:
    """The tensor broadcast to the shape of another one."""
    return movement.broadcast_to(tensor, other.shape)


def broadcast_to(tensor: Tensor, *shape: Any) -> Tensor:
    """The tensor broadcast to a shape."""
    return movement.broadcast_to(tensor, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)


def new_zeros(tensor: Tensor, size: Any, dtype: Any = None) -> Tensor:
    """Zeros of the same element type."""
    return made(np.zeros(size, tensor._array.dtype if dtype is None else as_numpy(dtype, "new_zeros")))


def new_ones(tensor: Tensor, size: Any, dtype: Any = None) -> Tensor:
    """Ones of the same element type."""
    return made(np.ones(size, tensor._array.dtype if dtype is None else as_numpy(dtype, "new_ones")))


def dim(tensor: Tensor) -> int:
    """The number of dimensions."""
    return tensor._array.ndim


def numel(tensor: Tensor) -> int:
    """The number of elements."""
    return tensor._array.size


def value(tensor: Tensor) -> Tensor:
    """The tensor."""
    return tensor


def init_data(tensor: Tensor, *args: Any) -> Tensor:
    """The tensor; its initial values are computed at creation."""
    return tensor


def contiguous(tensor: Tensor) -> Tensor:
    """The tensor; its elements are contiguous."""
    return tensor


def is_contiguous(tensor: Tensor) -> bool:
    """Whether the elements are contiguous."""
    return bool(tensor._array.flags.c_contiguous)


def add_(tensor: Tensor, other: Any) -> Tensor:
    """Add in place."""
    tensor._array[...] = (tensor + other)._array
    return tensor


def sub_(tensor: Tensor, other: Any) -> Tensor:
    """Subtract in place."""
    tensor._array[...] = (tensor - other)._array
    return tensor


def mul_(tensor: Tensor, other: Any) -> Tensor:
    """Multiply in place."""
    tensor._array[...] = (tensor * other)._array
    return tensor


def div_(tensor: Tensor, other: Any) -> Tensor:
    """Divide in place."""
    tensor._array[...] = (tensor / other)._array
    return tensor


def itemset(tensor: Tensor, *args: Any) -> Tensor:
    """Store a number; the preceding arguments are its index."""
    tensor._array[args[0] if len(args) == 2 and isinstance(args[0], tuple) else args[:-1] or ...] = array_of(args[-1])
    return tensor


OWN: Dict[str, Callable[..., Any]] = {one.__name__: one for one in (
    astype, to, type_as, copy, view, reshape, transpose, sum, max, min, argmax, argmin, expand_as, broadcast_to,
    new_zeros, new_ones, dim, numel, value, init_data, contiguous, is_contiguous, add_, sub_, mul_, div_, itemset)}
OWN.update({name: _conversion(kind, name) for name, kind in (
    ("float", types.float32), ("half", types.float16), ("double", types.float64), ("int", types.int32),
    ("long", types.int64), ("short", types.int16), ("bool", types.bool_), ("byte", types.uint8),
    ("char", types.int8))})
OWN.update(permute=transpose, clone=copy, ndimension=dim, nelement=numel)
"""Methods of tensors, by name."""
