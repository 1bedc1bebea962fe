"""Arrays behind each other, as ``np.concatenate`` and its kin make them of those in C order."""

from __future__ import annotations

from typing import Any, List

from pijit.core.graph.ir import Op
from pijit.core.kernel.arrays import ArrayVariable
from pijit.core.kernel.slots import made_array


def write_concatenate(emitter: Any, op: Op) -> None:
    """Leaves where there is no element: versions of NumPy have other strides then."""
    axis, arrays = op.attrs["axis"], [emitter.arrays[value] for value in op.args]
    shape: List[str] = list(arrays[0].shape)
    for array in arrays[1:]:
        for other, (size, own) in enumerate(zip(shape, array.shape)):
            if other != axis and size != own:
                emitter.guard_once(op, "%s != %s" % (size, own))
        shape[axis] = emitter.pure("iadd(%s, %s)" % (shape[axis], array.shape[axis]))
    for size in dict.fromkeys(shape if len(shape) > 1 else ()):
        emitter.guard_once(op, "%s == 0" % size)
    result = emitter.arrays[op.result] = made_array(emitter, op, op.result, shape)
    data = result.data
    for array in arrays:
        part = ArrayVariable(result.type, data, "0", array.shape, result.strides)
        addresses = [emitter.descriptor(one, emitter.layout.scratch(2 + 2 * len(shape))) for one in (part, array)]
        emitter.line(emitter.runtime("copy_apart", *addresses, len(shape), result.type.dtype.itemsize,
                                     emitter.flavour.least))
        data = emitter.let("iadd(%s, imul(%s, %s))" % (data, array.shape[axis], result.strides[axis]))
