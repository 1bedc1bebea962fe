"""Concatenation: arrays in C order joined along an axis, for ``np.concatenate``, related functions, and ``np.roll``.

The numba emitter calls these writers through ARRAY_OPERATIONS.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, List, Sequence

from pijit.core.graph.ir import Op
from pijit.core.kernel.emit.stack_arrays import made_array
from pijit.core.kernel.plan.operands import NULL, ArrayVariable, Operand, result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


def write_concatenate(emitter: KernelEmitter, op: Op) -> None:
    """Join arrays.

    Leaves if the result has no elements: its strides differ among versions of NumPy. Leaves if strides of an operand
    grow from an axis to the next one: the result is not in C order then.
    """
    axis, arrays = op.attrs["axis"], [emitter.arrays[value] for value in op.args]
    shape: List[Operand] = list(arrays[0].shape)
    for array in arrays[1:]:
        for other, (size, own) in enumerate(zip(shape, array.shape)):
            if other != axis and size != own:
                emitter.guard_once(op, "%s != %s" % (size, own))
        shape[axis] = emitter.pure("iadd(%s, %s)" % (shape[axis], array.shape[axis]))
    for size in dict.fromkeys(shape if len(shape) > 1 else ()):
        emitter.guard_once(op, "%s == 0" % size)
    for array in arrays:
        _require_order(emitter, op, array)
    _join(emitter, op, shape, axis, arrays)


def _require_order(emitter: KernelEmitter, op: Op, array: ArrayVariable) -> None:
    """Leave if a stride of an array is larger than that of an axis before it.

    As in NumPy, axes of length 1 do not count, and those of an empty array do, with the strides that NumPy shows.
    """
    if array.type.layout == "C" and array.shown == array.strides:
        return
    axes = [axis for axis in zip(array.shape, array.shown) if axis[0].value != 1]
    for (outer_size, outer), (inner_size, inner) in combinations(axes, 2):
        emitter.guard_once(op, "%s < %s and %s != 1 and %s != 1" % (
            _distance(emitter, outer), _distance(emitter, inner), outer_size, inner_size))


def _distance(emitter: KernelEmitter, stride: Operand) -> Operand:
    """The absolute value of a stride."""
    return emitter.pure("choose({0} < 0, isub(0, {0}), {0})".format(stride))


def write_roll(emitter: KernelEmitter, op: Op) -> None:
    """Join the two parts of an axis in the other order. Leaves if there are no elements, as `write_concatenate`."""
    source, places, axis = emitter.arrays[op.args[0]], emitter.text[op.args[1]], op.attrs["axis"]
    shape, size, stride = list(source.shape), source.shape[axis], source.strides[axis]
    for other in dict.fromkeys(shape if len(shape) > 1 else ()):
        emitter.guard_once(op, "%s == 0" % other)
    kept = emitter.pure("isub(%s, %s)" % (size, places))
    parts = []
    last = emitter.let("iadd(%s, imul(%s, %s))" % (source.data, kept, stride))
    for data, count in ((last, places), (source.data, kept)):
        own = shape[:axis] + [count] + shape[axis + 1:]
        parts.append(ArrayVariable(source.type, data, NULL, own, source.strides))
    _join(emitter, op, shape, axis, parts)


def _join(emitter: KernelEmitter, op: Op, shape: List[Operand], axis: int, arrays: Sequence[ArrayVariable]) -> None:
    """A new array of a shape, with the elements of arrays one after the other along an axis."""
    result = emitter.arrays[result_of(op)] = made_array(emitter, op, result_of(op), shape)
    data = result.data
    for array in arrays:
        part = ArrayVariable(result.type, data, NULL, array.shape, result.strides)
        addresses = [emitter.descriptor(one, emitter.layout.scratch(2 + 2 * len(shape))) for one in (part, array)]
        emitter.line(emitter.runtime("copy_apart", *addresses, len(shape), result.type.dtype.itemsize,
                                     emitter.flavour.least))
        data = emitter.let("iadd(%s, imul(%s, %s))" % (data, array.shape[axis], result.strides[axis]))
