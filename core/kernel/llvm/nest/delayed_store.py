"""In-place row stencils: each vector of results stays in a register until the next one is computed.

Example: ``u[1:] -= c * (u[1:] - u[:-1])``. After the next vector is computed nothing reads the elements that the
waiting vector replaces. So memory sees only the row itself. nest.py calls `write_row`; the caller has checked REACH.
"""

from __future__ import annotations

from typing import Any, Dict, List

from llvmlite import ir

from pijit.core.kernel.llvm.intrinsics import I64
from pijit.core.kernel.llvm.nest.elements import memory_type
from pijit.core.kernel.llvm.nest.pairwise_sum import local, loop

REACH = 128
"""Bytes of a vector of results: the largest distance between an element and the elements that it is computed from."""


def write_row(writer: Any, size: Any, rows: List[Any], lasts: str, fixed: Dict[int, Any]) -> None:
    """Write a row of a nest whose arrays have unit strides."""
    builder, dtype = writer.builder, writer.dtypes[-1]
    kind = ir.VectorType(memory_type(dtype), REACH // dtype.itemsize)
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

    def step(number: Any) -> None:
        found = value(builder.mul(builder.add(number, one), count))
        put(number)
        builder.store(found, waiting)

    some = builder.icmp_signed("<", ir.Constant(I64, 0), whole)
    with builder.if_then(some):
        builder.store(value(ir.Constant(I64, 0)), waiting)
    loop(builder, builder.sub(whole, one), step)
    loop(builder, rest, lambda index: builder.store(element(builder.add(done, index)), builder.gep(tail, [index])))
    with builder.if_then(some):
        put(builder.sub(whole, one))
    loop(builder, rest, lambda index: builder.store(
        builder.load(builder.gep(tail, [index])), builder.gep(row, [builder.add(done, index)]), align=1))
