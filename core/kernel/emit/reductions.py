"""Reductions through the runtime, which runs NumPy's inner loops on the same pieces of an array as NumPy.

The numba emitter calls `write_reduce` for reductions that are in no fused group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core import _launcher
from pijit.core.graph.ir import Op
from pijit.core.graph.types import Array, Scalar
from pijit.core.kernel.emit.expressions import Expression, listed
from pijit.core.kernel.emit.stack_arrays import made_array
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.llvm.float_intrinsics import float_bits
from pijit.core.kernel.plan.operands import ONE, ArrayVariable, Operand, array_type, dtype_of, result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

_BY_COLUMNS = {np.add: 1, np.minimum: 2, np.maximum: 3}
"""The reductions that the runtime computes by vectors, with their numbers in native/runtime/reductions/outer_axis.h."""


def why_not_reduce(attrs: Dict[str, Any], types: Sequence[Any]) -> Optional[str]:
    """Why a reduction of an array of this type has no machine code, or None."""
    ufunc, operand, code = attrs["ufunc"], types[0], attrs["types"][-1]
    if code != operand.dtype.char and not (ufunc is np.add and (operand.dtype.char, code) == ("e", "f")):
        return "%s.reduce of %s with another dtype is not supported" % (ufunc.__name__, operand.dtype)
    if operand.ndim == 0 or not _launcher.reduce_supported(ufunc, np.dtype(code).num):
        return "%s.reduce of %s is not supported" % (ufunc.__name__, operand.dtype)
    if operand.layout != "C" and operand.ndim > 1 and attrs["keepdims"]:
        return "keepdims of a strided array is not supported"
    several = isinstance(attrs["axis"], tuple)
    if several and ufunc is not np.add:
        return "%s.reduce along several axes is not supported" % ufunc.__name__
    if (several or attrs["axis"] is not None and operand.ndim > 2) and operand.layout != "C":
        # NumPy orders the result's axes as those of the operand, by rules that also consider the reduced axis.
        return "the reduction of a strided array along one axis of %d is not supported" % operand.ndim
    return None


def axes_of(axis: Any) -> Tuple[int, ...]:
    """One or several axes as a tuple."""
    return axis if isinstance(axis, tuple) else (axis,)


def write_reduce(emitter: KernelEmitter, op: Op) -> None:
    """Write a reduction. Leaves when a flag was raised, or an empty array has no value to start from."""
    reason = why_not_reduce(op.attrs, [op.args[0].type])
    if reason:
        raise CompileError(reason)
    array = emitter.arrays[op.args[0]]
    dtype, layout = dtype_of(result_of(op)), emitter.layout
    source = emitter.descriptor(array, layout.scratch(2 + 2 * len(array.shape)))
    if isinstance(result_of(op).type, Scalar):
        at = layout.scratch(4)
        out = emitter.let("set_words(frame, %d, address_of_word(frame, %d))" % (at, at + 2))
        _run(emitter, op, source, out)
        emitter.define(result_of(op), emitter.element(dtype, ("frame", str(8 * (at + 2)))))
        return
    if len(array.shape) > 2:
        for size in array.shape:  # NumPy would order the result's axes by the strides of an empty operand
            emitter.guard_once(op, "%s == 0" % size)
    emitter.arrays[result_of(op)], reduced = new_result(emitter, op, op, array.shape)
    _run(emitter, op, source, emitter.descriptor(reduced, layout.scratch(2 + 2 * len(reduced.shape))))


def _kept(op: Op, ndim: int) -> List[int]:
    axis = op.attrs["axis"]
    return [place for place in range(ndim) if axis is not None and place not in axes_of(axis)]


def reduced_shape(op: Op, shape: Sequence[Operand]) -> List[Operand]:
    """The shape of a reduction's result, for an array of a shape."""
    kept, keepdims = _kept(op, len(shape)), op.attrs["keepdims"]
    return [ONE if keepdims and place not in kept else size for place, size in enumerate(shape)
            if keepdims or place in kept]


def new_result(emitter: KernelEmitter, op: Op, leaving: Op,
               shape: Sequence[Operand]) -> Tuple[ArrayVariable, ArrayVariable]:
    """A new array for a reduction's result, and the same memory without the axes of length 1 that keepdims adds.

    Leaves by the exit of ``leaving`` when there is no memory.
    """
    result, kept = made_array(emitter, leaving, result_of(op), reduced_shape(op, shape)), _kept(op, len(shape))
    if not op.attrs["keepdims"]:
        return result, result
    return result, ArrayVariable(Array(dtype_of(result_of(op)), len(kept), "C"), result.data, result.object,
                                 [result.shape[place] for place in kept], [result.strides[place] for place in kept])


def _run(emitter: KernelEmitter, op: Op, source: Operand, out: Operand) -> None:
    ufunc, axis, kind, dtype = op.attrs["ufunc"], op.attrs["axis"], array_type(op.args[0]), dtype_of(result_of(op))
    loop = ufunc.types.index("{0}{0}->{0}".format(dtype.char))
    table = emitter.let("%s()" % emitter.loop_table(ufunc, loop))
    reduced = -1 if axis is None else sum(1 << place for place in axes_of(axis))
    words: List[Expression] = ["ld_i8(%s, 0)" % table, "ld_i8(%s, 8)" % table, str(dtype.num), str(kind.ndim),
                               source, str(reduced)]
    identity = ufunc.identity
    start = 0 if identity is None else identity
    words += [str(int(identity is not None)),
              str(float_bits(float(start)) if kind.dtype.kind in "fc" else int(start)), out,
              str(emitter.flavour.least if kind.dtype.kind in "fc" or ufunc is np.add else 0),
              str(_BY_COLUMNS.get(ufunc, 0)), str(kind.dtype.num)]
    spec = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(len(words)), listed(words)))
    emitter.clear_flags()
    emitter.checked("reduce", "frame", spec, op=op)
    emitter.guard(op, emitter.raised_flags(op))
