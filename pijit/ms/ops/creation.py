"""Creation of tensors: constant, sequential and random."""

from __future__ import annotations

import builtins
from typing import Any, Optional

import numpy as np

from pijit.ms.arrays import as_array
from pijit.ms.dtype import as_numpy, float32, int64
from pijit.ms.tensor import Tensor, array_of, as_shape, made


class _Random:
    """The random number generator of `pijit.ms`, and its seed."""

    def __init__(self) -> None:
        self.seed: Optional[int] = None
        self.generator = np.random.RandomState()


_random = _Random()


def set_seed(seed: int) -> None:
    """Set the seed of the random numbers of layers and operations.

    Raises:
        TypeError: `seed` is not an int.
        ValueError: `seed` is negative.
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError("set_seed: seed must be an int; not {!r}".format(seed))
    if seed < 0:
        raise ValueError("set_seed: seed must not be negative, as {!r} is".format(seed))
    _random.seed = seed
    _random.generator = np.random.RandomState(seed % 2 ** 32)
    np.random.seed(seed % 2 ** 32)


def get_seed() -> Optional[int]:
    """The last seed of `set_seed`, or None."""
    return _random.seed


def generator() -> np.random.RandomState:
    """The random number generator."""
    return _random.generator


def _dtype(dtype: Any, default: Any, caller: str) -> Any:
    return as_numpy(default if dtype is None else dtype, caller)


def zeros(size: Any, dtype: Any = None) -> Tensor:
    """Zeros, float32 by default."""
    return made(np.zeros(as_shape(size), _dtype(dtype, float32, "zeros")))


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Ones, float32 by default."""
    return made(np.ones(as_shape(shape), _dtype(dtype, float32, "ones")))


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor with one number in all elements."""
    number = as_array(fill_value) if not isinstance(fill_value, Tensor) else fill_value._array
    return made(np.full(as_shape(size), number, number.dtype if dtype is None else as_numpy(dtype, "full")))


def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """A tensor of an element type with one number in all elements."""
    number = value._array if isinstance(value, Tensor) else value
    return made(np.full(as_shape(shape), number, as_numpy(type, "fill")))


def zeros_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Zeros with a tensor's shape and type."""
    x = array_of(input)
    return made(np.zeros(x.shape, x.dtype if dtype is None else as_numpy(dtype, "zeros_like")))


def ones_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Ones with a tensor's shape and type."""
    x = array_of(input)
    return made(np.ones(x.shape, x.dtype if dtype is None else as_numpy(dtype, "ones_like")))


def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One number in all elements, with a tensor's shape."""
    x = array_of(input)
    return made(np.full(x.shape, fill_value, x.dtype if dtype is None else as_numpy(dtype, "full_like")))


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """Numbers from `start` to `end` in steps; int64 for integers, otherwise float32."""
    first, last = (0, start) if end is None else (start, end)
    bounds = [one.item() if isinstance(one, Tensor) else one for one in (first, last, step)]
    default = float32 if builtins.any(isinstance(one, float) for one in bounds) else int64
    return made(np.arange(*bounds, dtype=_dtype(dtype, default, "arange")))


def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """Numbers from `start` to `end` in steps.

    Raises:
        ValueError: there are more than `maxlen`.
    """
    made_range = arange(start, end, step)
    if made_range.size > maxlen:
        raise ValueError("range: maxlen must be at least the number of elements, {}; not {!r}".format(
            made_range.size, maxlen))
    return made_range


def linspace(start: Any, end: Any, steps: int) -> Tensor:
    """`steps` equally spaced numbers, as float32."""
    return made(np.linspace(float(start), float(end), int(steps)).astype(np.float32))


def eye(n: int, m: Optional[int] = None, dtype: Any = None) -> Tensor:
    """Ones on the diagonal, 0 elsewhere."""
    return made(np.eye(n, m, dtype=_dtype(dtype, float32, "eye")))


def one_hot(indices: Any, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """A new axis with `on_value` at the position of each index and `off_value` elsewhere."""
    on, off = [one._array if isinstance(one, Tensor) else one for one in (on_value, off_value)]
    dtype = getattr(on, "dtype", np.dtype(np.int64))
    places = np.expand_dims(array_of(indices), axis)
    lengths = [1] * places.ndim
    lengths[axis] = depth
    return made(np.where(places == np.arange(depth).reshape(lengths), on, off).astype(dtype))


def rand(*size: Any, dtype: Any = None, seed: Optional[int] = None) -> Tensor:
    """Random numbers from 0 to 1."""
    return made(_source(seed).random_sample(_size(size)).astype(_dtype(dtype, float32, "rand")))


def randn(*size: Any, dtype: Any = None, seed: Optional[int] = None) -> Tensor:
    """Normally distributed random numbers."""
    return made(np.asarray(_source(seed).standard_normal(_size(size))).astype(_dtype(dtype, float32, "randn")))


def randint(low: int, high: int, size: Any, seed: Optional[int] = None, *, dtype: Any = None) -> Tensor:
    """Random integers from `low` to below `high`."""
    return made(np.asarray(_source(seed).randint(low, high, as_shape(size))).astype(_dtype(dtype, int64, "randint")))


def standard_normal(shape: Any, seed: Optional[int] = None) -> Tensor:
    """Normally distributed random numbers."""
    return randn(as_shape(shape), seed=seed)


def uniform(shape: Any, minval: Any, maxval: Any, seed: Optional[int] = None, dtype: Any = None) -> Tensor:
    """Random numbers between two bounds."""
    low, high = [one.item() if isinstance(one, Tensor) else one for one in (minval, maxval)]
    return made(_source(seed).uniform(low, high, as_shape(shape)).astype(_dtype(dtype, float32, "uniform")))


def rrelu(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """Rectifier with random slopes: negative values times random numbers between two bounds.

    Raises:
        ValueError: the bounds are not within 0 <= `lower` <= `upper` <= 1.
    """
    if not 0 <= lower <= upper <= 1:
        raise ValueError("rrelu: 0 <= lower <= upper <= 1 must hold; not lower={!r}, upper={!r}".format(lower, upper))
    x = array_of(input)
    slopes = _random.generator.uniform(lower, upper, x.shape).astype(x.dtype)
    return made(np.where(x >= 0, x, x * slopes))


def _source(seed: Optional[int]) -> np.random.RandomState:
    return _random.generator if seed is None else np.random.RandomState(seed)


def _size(size: Any) -> Any:
    return as_shape(size[0]) if len(size) == 1 and not isinstance(size[0], int) else as_shape(size)
