"""Less common arithmetic on tensors: combined elementwise operations, products and differences."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from pijit.ms.ops.elementwise import floating
from pijit.ms.ops.reductions import axes
from pijit.ms.tensor import Tensor, array_of, made, operands


def addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """`input + value * tensor1 * tensor2`."""
    return input + tensor1 * tensor2 * value  # type: ignore[no-any-return]


def addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Tensor:
    """`input + value * tensor1 / tensor2`."""
    return input + tensor1 / tensor2 * value  # type: ignore[no-any-return]


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)`."""
    return input * beta + (mat1 @ mat2) * alpha  # type: ignore[no-any-return]


baddbmm = addmm


def lerp(input: Any, end: Any, weight: Any) -> Tensor:
    """Linear interpolation between two tensors."""
    return input + (end - input) * weight  # type: ignore[no-any-return]


def frac(x: Any) -> Tensor:
    """Fractional parts of values."""
    a = array_of(x)
    return made(a - np.trunc(a))


def deg2rad(x: Any) -> Tensor:
    """Degrees converted to radians."""
    return made(np.deg2rad(floating(array_of(x))))


def rad2deg(x: Any) -> Tensor:
    """Radians converted to degrees."""
    return made(np.rad2deg(floating(array_of(x))))


def nan_to_num(input: Any, nan: Optional[float] = None, posinf: Optional[float] = None,
               neginf: Optional[float] = None) -> Tensor:
    """NaN and infinite values replaced by numbers."""
    return made(np.nan_to_num(array_of(input), nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf))


def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Elementwise: whether values are equal within tolerances."""
    a, b = operands(input, other)
    return made(np.isclose(a, b, rtol, atol, equal_nan))


def diff(x: Any, n: int = 1, axis: int = -1) -> Tensor:
    """Differences of neighbours along an axis."""
    return made(np.diff(array_of(x), n, axis))


def count_nonzero(x: Any, axis: Any = (), keep_dims: bool = False) -> Tensor:
    """The number of nonzero values along axes."""
    return made(np.sum(array_of(x) != 0, axis=axes(axis), keepdims=keep_dims, dtype=np.int32))


def trace(input: Any) -> Tensor:
    """The sum of the diagonal of a matrix."""
    return made(np.trace(array_of(input)))


def inner(input: Any, other: Any) -> Tensor:
    """Inner products along the last axes."""
    a, b = operands(input, other)
    return made(np.inner(a, b))


def mv(mat: Any, vec: Any) -> Tensor:
    """The product of a matrix and a vector."""
    a, b = operands(mat, vec)
    return made(np.matmul(a, b))


def kron(input: Any, other: Any) -> Tensor:
    """The Kronecker product."""
    a, b = operands(input, other)
    return made(np.kron(a, b))


def hstack(tensors: Any) -> Tensor:
    """Tensors joined horizontally, as by `numpy.hstack`."""
    return made(np.hstack([array_of(one) for one in tensors]))


def vstack(tensors: Any) -> Tensor:
    """Tensors joined vertically, as by `numpy.vstack`."""
    return made(np.vstack([array_of(one) for one in tensors]))


def movedim(x: Any, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other positions."""
    return made(np.array(np.moveaxis(array_of(x), source, destination), order="C"))


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The elements of a diagonal."""
    return made(np.array(np.diagonal(array_of(input), offset, dim1, dim2)))


def narrow(input: Any, axis: int, start: int, length: int) -> Tensor:
    """A range of positions along an axis."""
    return made(np.take(array_of(input), np.arange(start, start + length), axis=axis))


def ravel(input: Any) -> Tensor:
    """All elements in one dimension."""
    return made(np.array(np.reshape(array_of(input), -1)))


def meshgrid(*inputs: Any, indexing: str = "xy") -> Tuple[Tensor, ...]:
    """Coordinate arrays of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError("meshgrid: indexing must be 'xy' or 'ij'; not {!r}".format(indexing))
    arrays: Any = [array_of(one) for one in inputs]
    return tuple(made(np.array(one)) for one in np.meshgrid(*arrays, indexing=indexing))  # type: ignore[arg-type]


def l2_normalize(x: Any, axis: Any = 0, epsilon: float = 1e-4) -> Tensor:
    """Values divided by their norm along an axis."""
    a = floating(array_of(x))
    total = np.sum(np.square(a), axis=axes(axis), keepdims=True)
    return made(a / np.sqrt(np.maximum(total, a.dtype.type(epsilon))))
