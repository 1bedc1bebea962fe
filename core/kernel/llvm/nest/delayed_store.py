"""In-place row stencils: each vector of results stays in a register until the next one is computed.

Example: ``u[1:] -= c * (u[1:] - u[:-1])``. After the next vector is computed nothing reads the elements that the
waiting vector replaces. So memory sees only the row itself. nest.py calls `write_row`; the caller has checked REACH.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

from llvmlite import ir

from pijit.core.kernel.llvm.builder import local, loop
from pijit.core.kernel.llvm.intrinsics import I64
from pijit.core.kernel.llvm.nest.elements import memory_type
from pijit.core.kernel.llvm.nest.shifted_loads import ShiftedLoads, find_shifted

REACH = 128
"""Bytes of a vector of results: the largest distance between an element and the elements that it is computed from."""


def write_row(writer: Any, size: Any, rows: List[Any], lasts: str, fixed: Dict[int, Any]) -> None:
    """Write a row of a nest whose arrays have unit strides."""
    builder, dtype = writer.builder, writer.dtypes[-1]
    kind = ir.VectorType(memory_type(dtype), REACH // dtype.itemsize)
    shifted = find_shifted(writer, rows[:-1], kind, writer.vectors(rows, lasts, fixed, kind.count))
    value = writer.lanes(rows, lasts, fixed, kind.count)
    count, one = ir.Constant(I64, kind.count), ir.Constant(I64, 1)
    whole = builder.sdiv(size, count)
    done = builder.mul(whole, count)
    rest = builder.sub(size, done)
    waiting, tail = local(builder, kind, 1), local(builder, kind.element, kind.count)
    row = builder.bitcast(rows[-1], kind.element.as_pointer())

    def element(index: Any) -> Any:
        return writer.value(writer.places(rows[:-1], index, lasts), fixed)

    def put(number: Any) -> None:
        place = builder.gep(row, [builder.mul(number, count)])
        builder.store(builder.load(waiting), builder.bitcast(place, kind.as_pointer()), align=1)

    def step(number: Any, loads: Optional[Callable[..., Dict[int, Any]]] = None) -> None:
        found = writer.lanes(rows, lasts, fixed, kind.count, loads)(builder.mul(builder.add(number, one), count))
        put(number)
        builder.store(found, waiting)

    some = builder.icmp_signed("<", ir.Constant(I64, 0), whole)
    with builder.if_then(some):
        builder.store(value(ir.Constant(I64, 0)), waiting)
    begun = _write_shifted(builder, shifted, whole, count, step) if shifted is not None else ir.Constant(I64, 0)
    loop(builder, builder.sub(builder.sub(whole, one), begun), lambda number: step(builder.add(begun, number)))
    loop(builder, rest, lambda index: builder.store(element(builder.add(done, index)), builder.gep(tail, [index])))
    with builder.if_then(some):
        put(builder.sub(whole, one))
    loop(builder, rest, lambda index: builder.store(
        builder.load(builder.gep(tail, [index])), builder.gep(row, [builder.add(done, index)]), align=1))


def _write_shifted(builder: Any, shifted: ShiftedLoads, whole: Any, count: Any,
                   step: Callable[[Any, Callable[..., Dict[int, Any]]], None]) -> Any:
    """Write the steps after the first vector that have another one after them; returns their number."""
    steps = builder.sub(whole, ir.Constant(I64, 2))
    zero = ir.Constant(I64, 0)
    steps = builder.select(builder.icmp_signed("<", zero, steps), steps, zero)
    with builder.if_then(builder.icmp_signed("<", zero, steps)):
        shifted.begin(count)
        loop(builder, steps, lambda number: step(number, shifted.step))
    return steps
