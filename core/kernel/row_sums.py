"""Loops in LLVM, and the sum of a row whose elements are computed on the way, with the bits of NumPy's
``add.reduce``."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from llvmlite import ir
from pijit.core.kernel.intrinsics import I8, I64

PAIRWISE_RUN = 8192
"""As many elements NumPy's iterator hands to the loop at once; reductions are native only where that is so."""

PAIRWISE_LEAST = 8
"""Fewer elements NumPy's loop adds up one after the other."""


def loop(builder: Any, size: Any, body: Callable[[Any], None]) -> None:
    """``for index in range(size): body(index)``."""
    before, zero = builder.basic_block, ir.Constant(I64, 0)
    start, end = builder.append_basic_block("nest"), builder.append_basic_block("nest.end")
    builder.cbranch(builder.icmp_signed("<", zero, size), start, end)
    builder.position_at_end(start)
    index = builder.phi(I64)
    index.add_incoming(zero, before)
    body(index)
    following = builder.add(index, ir.Constant(I64, 1))
    index.add_incoming(following, builder.basic_block)
    builder.cbranch(builder.icmp_signed("<", following, size), start, end)
    builder.position_at_end(end)


def write_sum(builder: Any, size: Any, kind: Any, pairwise: Sequence[Any], target: Any,
              value: Callable[[Any], Any]) -> None:
    """Store the sum of ``value(index)`` over ``range(size)`` at ``target``.

    ``pairwise`` are function, data and buffer for floats: NumPy adds 8 or more of them pairwise, in its own loop.
    """
    target = builder.bitcast(target, kind.as_pointer())
    if not pairwise:
        _add_up(builder, size, kind, target, value)
        return
    short = builder.icmp_signed("<", size, ir.Constant(I64, PAIRWISE_LEAST))
    with builder.if_else(short) as (then, other):
        with then:
            _add_up(builder, size, kind, target, value)
        with other:
            _add_pairwise(builder, size, kind, pairwise, target, value)


def local(builder: Any, kind: Any, count: int) -> Any:
    """Memory of the function's own, from its entry on."""
    with builder.goto_entry_block():
        return builder.alloca(kind, count)


def _add_up(builder: Any, size: Any, kind: Any, target: Any, value: Callable[[Any], Any]) -> None:
    total = local(builder, kind, 1)
    add = builder.add if isinstance(kind, ir.IntType) else builder.fadd
    builder.store(ir.Constant(kind, 0), total)
    loop(builder, size, lambda index: builder.store(add(builder.load(total), value(index)), total))
    builder.store(builder.load(total), target, align=1)


def _add_pairwise(builder: Any, size: Any, kind: Any, pairwise: Sequence[Any], target: Any,
                  value: Callable[[Any], Any]) -> None:
    """By runs of at most PAIRWISE_RUN elements, each computed into the buffer."""
    pointer = I8.as_pointer()
    signature = ir.FunctionType(ir.VoidType(), [pointer.as_pointer(), I64.as_pointer(), I64.as_pointer(), pointer])
    function = builder.inttoptr(pairwise[0], signature.as_pointer())
    data, buffer = builder.inttoptr(pairwise[1], pointer), builder.inttoptr(pairwise[2], kind.as_pointer())
    places, strides, count = local(builder, pointer, 3), local(builder, I64, 3), local(builder, I64, 1)
    step = ir.Constant(I64, 4 if isinstance(kind, ir.FloatType) else 8)
    run, zero = ir.Constant(I64, PAIRWISE_RUN), ir.Constant(I64, 0)
    builder.store(ir.Constant(kind, 0), target, align=1)
    for number, (place, stride) in enumerate(((target, zero), (buffer, step), (target, zero))):
        builder.store(builder.bitcast(place, pointer), builder.gep(places, [ir.Constant(I64, number)]))
        builder.store(stride, builder.gep(strides, [ir.Constant(I64, number)]))

    def add_run(number: Any) -> None:
        first = builder.mul(number, run)
        left = builder.sub(size, first)
        here = builder.select(builder.icmp_signed("<", left, run), left, run)
        loop(builder, here, lambda index: builder.store(value(builder.add(first, index)),
                                                        builder.gep(buffer, [index])))
        builder.store(here, count)
        builder.call(function, [places, count, strides, data])

    loop(builder, builder.sdiv(builder.add(size, ir.Constant(I64, PAIRWISE_RUN - 1)), run), add_run)
