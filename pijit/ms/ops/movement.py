"""Operations that move or select elements: shapes, joining, splitting, indexing, sorting, in-place stores."""

from __future__ import annotations

import builtins
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from pijit.ms.arrays import promoted
from pijit.ms.dtype import TYPES, Type
from pijit.ms.ops.reductions import axes
from pijit.ms.tensor import Tensor, array_of, as_shape, made


def shape(input_x: Any) -> Tuple[int, ...]:
    """The lengths of the dimensions."""
    return array_of(input_x).shape  # type: ignore[no-any-return]


def rank(input_x: Any) -> int:
    """The number of dimensions."""
    return array_of(input_x).ndim  # type: ignore[no-any-return]


def size(input_x: Any) -> int:
    """The number of elements."""
    return array_of(input_x).size  # type: ignore[no-any-return]


def dtype_of(t: Any) -> Type:
    """The element type."""
    return TYPES[array_of(t).dtype.char]


def reshape(input: Any, shape: Any) -> Tensor:
    """The elements in another shape; one length may be -1."""
    return made(np.array(np.reshape(array_of(input), as_shape(shape))))


def flatten(input: Any, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Joins the dimensions from `start_dim` to `end_dim` into one."""
    x = array_of(input)
    if x.ndim == 0:
        return made(np.reshape(x, 1))
    if start_dim == 1 and end_dim == -1 and order == "C":
        return rows_of(x)
    first, last = start_dim % x.ndim if x.ndim > 1 else 0, end_dim % x.ndim
    lengths = x.shape[:first] + (-1,) + x.shape[last + 1:]
    return made(np.array(np.reshape(x, lengths, order)))  # type: ignore[call-overload]


def rows_of(x: Any) -> Tensor:
    """An array with all dimensions after the first joined."""
    if x.ndim == 1:
        return made(np.array(x))
    return made(np.array(np.reshape(x, (x.shape[0], -1))))


def transpose(input: Any, input_perm: Any) -> Tensor:
    """Permuted dimensions."""
    return made(np.array(np.transpose(array_of(input), as_shape(input_perm)), order="C"))


def swapaxes(input: Any, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged."""
    return made(np.array(np.swapaxes(array_of(input), axis0, axis1), order="C"))


def expand_dims(input_x: Any, axis: int) -> Tensor:
    """The tensor with an additional dimension of length 1."""
    return made(np.array(np.expand_dims(array_of(input_x), axis)))


def unsqueeze(input: Any, dim: int) -> Tensor:
    """The tensor with an additional dimension of length 1."""
    return expand_dims(input, dim)


def squeeze(input: Any, axis: Any = None) -> Tensor:
    """The tensor without dimensions of length 1."""
    return made(np.array(np.squeeze(array_of(input), axis=axes(axis))))


def broadcast_to(input: Any, shape: Any) -> Tensor:
    """The elements repeated along dimensions of length 1; -1 keeps a length."""
    x, lengths = array_of(input), as_shape(shape)
    kept = [x.shape[k - len(lengths)] if length == -1 else length for k, length in enumerate(lengths)]
    return made(np.array(np.broadcast_to(x, kept)))


def tile(input: Any, dims: Any) -> Tensor:
    """The tensor repeated along dimensions."""
    return made(np.tile(array_of(input), as_shape(dims)))


def repeat_interleave(input: Any, repeats: Any, axis: Optional[int] = None) -> Tensor:
    """Each element repeated."""
    return made(np.repeat(array_of(input), array_of(repeats) if isinstance(repeats, Tensor) else repeats, axis=axis))


def _in_one_dtype(tensors: Sequence[Any]) -> List[Any]:
    arrays = [array_of(one) for one in tensors]
    dtype = arrays[0].dtype
    for one in arrays[1:]:
        dtype = promoted(dtype, one.dtype)
    return [one if one.dtype == dtype else one.astype(dtype) for one in arrays]


def concat(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors joined along an axis."""
    return made(np.concatenate(_in_one_dtype(tensors), axis=axis))


def cat(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors joined along an axis."""
    return concat(tensors, axis)


def stack(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors joined along a new axis."""
    return made(np.stack(_in_one_dtype(tensors), axis=axis))


def unstack(input_x: Any, axis: int = 0, num: Optional[int] = None) -> Tuple[Tensor, ...]:
    """The parts along an axis, each without this axis; `num` is accepted without effect."""
    x = array_of(input_x)
    before = (builtins.slice(None),) * (axis % x.ndim)
    return tuple([made(np.array(x[before + (k,)], order="C")) for k in range(x.shape[axis])])


unbind = unstack


def split(tensor: Any, split_size_or_sections: Any, axis: int = 0) -> Tuple[Tensor, ...]:
    """Parts along an axis: of equal length for an int, or of the given lengths."""
    x = array_of(tensor)
    if isinstance(split_size_or_sections, int):
        cuts = list(range(split_size_or_sections, x.shape[axis], split_size_or_sections))
    else:
        lengths = as_shape(split_size_or_sections)
        cuts = [sum(lengths[:k]) for k in range(1, len(lengths))]
    return tuple(made(np.array(one)) for one in np.split(x, cuts, axis=axis))


def chunk(input: Any, chunks: int, axis: int = 0) -> Tuple[Tensor, ...]:
    """`chunks` parts along an axis; the last may be shorter."""
    length = array_of(input).shape[axis]
    return split(input, -(-length // chunks), axis)


def equal_split(input_x: Any, axis: int = 0, output_num: int = 1) -> Tuple[Tensor, ...]:
    """`output_num` equal parts along an axis."""
    return tuple(made(np.array(one)) for one in np.split(array_of(input_x), output_num, axis=axis))


def slice(input_x: Any, begin: Any, size: Any) -> Tensor:
    """A block that starts at `begin` and has the lengths `size`; -1 means up to the end.

    Raises:
        ValueError: there are more or fewer numbers than dimensions, or the block ends beyond the tensor.
    """
    x = array_of(input_x)
    first, lengths = as_shape(begin), as_shape(size)
    if not len(first) == len(lengths) == x.ndim or x.ndim == 0:
        raise ValueError("slice: begin and size must have one number for each of the tensor's {} dimensions; not {!r} "
                         "and {!r}".format(x.ndim, begin, size))
    for start, length, whole in zip(first, lengths, x.shape):
        if start < 0 or length < -1 or start + max(length, 0) > whole:
            raise ValueError("slice: begin={!r} and size={!r} reach beyond the shape {}".format(begin, size, x.shape))
    key = tuple([_slice(start, whole if length == -1 else start + length)
                 for start, length, whole in zip(first, lengths, x.shape)])
    return made(np.array(x[key]))


def strided_slice(input_x: Any, begin: Any, end: Any, strides: Any) -> Tensor:
    """Elements from `begin` to `end` in steps of `strides`."""
    x = array_of(input_x)
    key = tuple([_slice(*one) for one in zip(as_shape(begin), as_shape(end), as_shape(strides))])
    return made(np.array(x[key]))


_slice = builtins.slice


def gather(input_params: Any, input_indices: Any, axis: int = 0, batch_dims: int = 0) -> Tensor:
    """The parts at the given positions along an axis. The first `batch_dims` axes of both tensors belong together.

    Raises:
        ValueError: the shapes differ in these axes, or there are fewer axes before `axis`.
    """
    x, places = array_of(input_params), array_of(input_indices)
    if not batch_dims:
        return made(np.take(x, places, axis=int(axis)))
    count, axis = batch_dims + (places.ndim if batch_dims < 0 else 0), int(axis) + (x.ndim if axis < 0 else 0)
    if not 0 <= count <= min(axis, places.ndim) or axis >= x.ndim or x.shape[:count] != places.shape[:count]:
        raise ValueError("gather: batch_dims={!r} and axis={!r} do not fit the shapes {} and {}".format(
            batch_dims, axis, x.shape, places.shape))
    batch = [np.reshape(np.arange(x.shape[k]), (-1,) + (1,) * (places.ndim - 1 - k)) for k in range(count)]
    key = (*batch, places)
    found, last = np.moveaxis(x, axis, count)[key], places.ndim + axis - count
    ends = ((0, count), (places.ndim, last), (count, places.ndim), (last, found.ndim))
    order = tuple([k for one in ends for k in range(*one)])
    return made(np.array(np.transpose(found, order), order="C"))


def gather_elements(input: Any, dim: int, index: Any) -> Tensor:
    """The elements at the positions `index` along an axis, one for each element of `index`."""
    return made(np.take_along_axis(array_of(input), array_of(index), axis=dim))


gather_d = gather_elements


def gather_nd(input_x: Any, indices: Any) -> Tensor:
    """The parts at the positions in the last axis of `indices`."""
    places = array_of(indices)
    key = tuple([places[..., k] for k in range(places.shape[-1])])
    return made(np.array(array_of(input_x)[key]))


def index_select(input: Any, axis: int, index: Any) -> Tensor:
    """The parts at the given positions along an axis."""
    return gather(input, index, axis)


def masked_fill(input_x: Any, mask: Any, value: Any) -> Tensor:
    """Elements replaced by a number if a mask is True."""
    x = array_of(input_x)
    number = value._array.astype(x.dtype) if isinstance(value, Tensor) else x.dtype.type(value)
    return made(np.where(array_of(mask), number, x))


def masked_select(input: Any, mask: Any) -> Tensor:
    """The elements for which a mask is True, in one dimension."""
    x = array_of(input)
    chosen = array_of(mask) & np.ones(x.shape, np.bool_)  # in the common shape
    return made(np.broadcast_to(x, chosen.shape)[chosen])


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The positions of nonzero elements, one per row; with `as_tuple` a tensor per dimension."""
    if as_tuple:
        return tuple(made(one) for one in np.nonzero(array_of(input)))
    return made(np.argwhere(array_of(input)))


def unique(input: Any) -> Tuple[Tensor, Tensor]:
    """The distinct values, and for each element its position among them."""
    values, places = np.unique(array_of(input), return_inverse=True)
    return made(values), made(np.reshape(places, np.shape(array_of(input))).astype(np.int32))


def sort(input_x: Any, axis: int = -1, descending: bool = False) -> Tuple[Tensor, Tensor]:
    """Sorted values along an axis, and their original positions."""
    x = array_of(input_x)
    reverse = np.negative if x.dtype.kind in "fc" else np.invert  # of the least integer there is no negative one
    places = np.argsort(reverse(x) if descending else x, axis=axis, kind="stable")
    return made(np.take_along_axis(x, places, axis=axis)), made(places.astype(np.int32))


def argsort(input: Any, axis: int = -1, descending: bool = False) -> Tensor:
    """The positions that sort the values."""
    return sort(input, axis, descending)[1]


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Tuple[Tensor, Tensor]:
    """The `k` greatest values along an axis, or the smallest if not `largest`, and their original positions."""
    values, places = sort(input, dim, largest)
    first = np.arange(k)
    return made(np.take(values._array, first, axis=dim)), made(np.take(places._array, first, axis=dim))


def flip(input: Any, dims: Any) -> Tensor:
    """Elements in reverse order along axes."""
    return made(np.array(np.flip(array_of(input), axes(dims))))


def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """Elements shifted cyclically along axes."""
    return made(np.roll(array_of(input), shifts, axes(dims)))


def tril(input: Any, diagonal: int = 0) -> Tensor:
    """Elements on and below a diagonal, 0 above."""
    return made(np.tril(array_of(input), diagonal))


def triu(input: Any, diagonal: int = 0) -> Tensor:
    """Elements on and above a diagonal, 0 below."""
    return made(np.triu(array_of(input), diagonal))


def diag(input: Any) -> Tensor:
    """The diagonal of a matrix, or a diagonal matrix from a vector."""
    return made(np.array(np.diag(array_of(input))))


def pad(input_x: Any, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """The tensor with padding; `padding` has (before, after) pairs, the last axis first."""
    x, lengths = array_of(input_x), as_shape(padding)
    widths = [(0, 0)] * (x.ndim - len(lengths) // 2) + [
        tuple(lengths[k:k + 2]) for k in range(len(lengths) - 2, -1, -2)]
    if mode == "constant":
        return made(np.pad(x, widths, constant_values=0 if value is None else value))
    known = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode not in known:
        raise ValueError("pad: mode must be 'constant' or one of {}; not {!r}".format(
            ", ".join(map(repr, known)), mode))
    return made(np.pad(x, widths, mode=known[mode]))  # type: ignore[call-overload]


def depend(value: Any, expr: Any) -> Any:
    """The value; `expr` was already evaluated."""
    return value


def tuple_to_array(input_x: Any) -> Tensor:
    """A tensor from a tuple of numbers."""
    return Tensor(list(input_x))


def assign(variable: Tensor, value: Any) -> Tensor:
    """Store values into a parameter; returns it."""
    variable._array[...] = array_of(value)
    return variable


def assign_add(variable: Tensor, value: Any) -> Tensor:
    """Add values to a parameter; returns it."""
    a = variable._array
    a[...] = a + array_of(value).astype(a.dtype)
    return variable


def assign_sub(variable: Tensor, value: Any) -> Tensor:
    """Subtract values from a parameter; returns it."""
    a = variable._array
    a[...] = a - array_of(value).astype(a.dtype)
    return variable
