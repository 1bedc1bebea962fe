"""Scans in kernel source: running sums and products, one value after the other, as NumPy computes them.

`kernel_emitter` has its functions in a table. It must not change NumPy's order of additions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Dict, List, Sequence, Tuple

import numpy as np

from pijit.core._launcher import ABI_NUMBERS
from pijit.core.graph.ir import Op
from pijit.core.graph.types import Array, numpy_scalar
from pijit.core.kernel.emit.array_values import memory_code
from pijit.core.kernel.emit.expressions import Expression, Place
from pijit.core.kernel.emit.stack_arrays import made_array
from pijit.core.kernel.plan.operands import ZERO, ArrayVariable, dtype_of, result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

STEPS: Dict[Tuple[np.ufunc, str], str] = {
    (ufunc, kind): letter + name for ufunc, name in ((np.add, "add"), (np.multiply, "mul"))
    for kind, letter in (("i", "i"), ("u", "u"), ("f", "f"))}
"""The intrinsic that combines two values, by ufunc and kind of number. Integers wrap, as in NumPy's arrays."""

HALF_SCANS: Dict[np.ufunc, int] = {np.add: ABI_NUMBERS["HALF_SCAN_ADD"],
                                   np.multiply: ABI_NUMBERS["HALF_SCAN_MULTIPLY"]}
"""The number of the runtime's scan of float16, by ufunc."""


def write_scan(emitter: KernelEmitter, op: Op) -> None:
    """Write a scan along the last axis; leaves when a floating-point flag was raised."""
    source, dtype = emitter.arrays[op.args[0]], dtype_of(result_of(op))
    result = made_array(emitter, op, result_of(op), source.shape)
    if dtype.kind == "f":
        emitter.clear_flags(own=True)
    (_write_halves if dtype.char == "e" else _write_rows)(emitter, op, source, result)
    if dtype.kind == "f":
        emitter.guard(op, emitter.raised_flags(op, own=True))
    emitter.arrays[result_of(op)] = result


def _write_halves(emitter: KernelEmitter, op: Op, source: ArrayVariable, result: ArrayVariable) -> None:
    """Write calls of the runtime's scan of float16; leaves where NumPy must compute because of NaNs."""
    size, odd = source.shape[-1], emitter.fresh()
    emitter.line("%s = 0" % odd)

    def row(places: List[Place]) -> None:
        source_at, target = ("iadd(%s, %s)" % place for place in places)
        emitter.line("if %s > 0:" % size)
        emitter.depth += 1
        found = emitter.runtime("half_scan", HALF_SCANS[op.attrs["ufunc"]], target, source_at, source.strides[-1], size)
        emitter.line("%s = ior(%s, %s)" % (odd, odd, found))
        emitter.depth -= 1

    _rows(emitter, [source, result], row)
    emitter.guard(op, "%s != 0" % odd)


def _write_rows(emitter: KernelEmitter, op: Op, source: ArrayVariable, result: ArrayVariable) -> None:
    """Write the steps of a scan."""
    dtype, size = dtype_of(result_of(op)), source.shape[-1]
    step = STEPS[op.attrs["ufunc"], dtype.kind]

    def row(places: List[Place]) -> None:
        (base, first), target = places
        emitter.line("if %s > 0:" % size)
        emitter.depth += 1
        total = emitter.let(_element(emitter, op, source, (base, first)))
        emitter.line("st_%s(%s, %s, %s)" % ((memory_code(dtype),) + target + (total,)))
        index = emitter.fresh()
        emitter.line("%s = 1" % index)
        emitter.line("while %s < %s:" % (index, size))
        emitter.depth += 1
        here = emitter.let("iadd(%s, imul(%s, %s))" % (first, index, source.strides[-1]))
        found = _element(emitter, op, source, (base, here))
        emitter.line("%s = %s(%s, %s)" % (total, step, total, found))
        emitter.line("st_%s(%s, iadd(%s, imul(%s, (%d))), %s)" % (
            (memory_code(dtype),) + target + (index, dtype.itemsize, total)))
        emitter.line("%s = iadd(%s, 1)" % (index, index))
        emitter.depth -= 2

    _rows(emitter, [source, result], row)


def _element(emitter: KernelEmitter, op: Op, source: ArrayVariable, place: Place) -> Expression:
    kind = numpy_scalar(source.type.dtype)
    found = emitter.element(kind.dtype, place)
    return emitter.converted(found, kind, dtype_of(result_of(op)), op, unchecked=True)


def _rows(emitter: KernelEmitter, arrays: Sequence[ArrayVariable],
          body: Callable[[List[Place]], None]) -> None:
    """Run ``body`` with the (address, byte offset) of the first element of each row."""
    if len(arrays[0].shape) == 1:
        body([(array.data, ZERO) for array in arrays])
        return
    firsts = [ArrayVariable(Array(array.type.dtype, array.type.ndim - 1, "A"), array.data, array.object,
                            array.shape[:-1], array.strides[:-1]) for array in arrays]
    emitter.nest(firsts[0].shape, firsts, body)


SCAN_OPERATIONS: Dict[str, Callable[[KernelEmitter, Op], None]] = {"scan": write_scan}
