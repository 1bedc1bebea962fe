"""Rows under a mask: blocks of the mask in which no element is selected are skipped.

Called by nest.py.
"""

from __future__ import annotations

from typing import Any, Callable

from llvmlite import ir

from pijit.core.kernel.llvm.builder import loop
from pijit.core.kernel.llvm.intrinsics import I64

MASK_BLOCK = 64
"""Elements of a mask that are tested at once."""


def mask_of(nest: Any, lasts: str, unit: str) -> int:
    """The number of the mask that selects the elements to change and compute, or -1; ``unit``: its last stride."""
    if not nest.steps:
        return -1
    last = nest.steps[-1]
    numbers = last.operands
    chooses = last.operation == "where" and numbers[2] == nest.same >= 0 and numbers[0] < len(nest.arrays) - 1
    picks = any(step.operation == "picked" for step in nest.steps)
    mask: int = numbers[0]
    return mask if chooses and picks and lasts[mask] == unit else -1


def write_row(builder: Any, size: Any, mask: Any, body: Callable[[Any], None]) -> None:
    """A row by blocks; a block from which nothing is picked costs one test of the mask."""
    wide, count = ir.IntType(8 * MASK_BLOCK), ir.Constant(I64, MASK_BLOCK)
    blocks = builder.sdiv(size, count)
    done = builder.mul(blocks, count)

    def block(number: Any) -> None:
        start = builder.mul(number, count)
        bits = builder.load(builder.bitcast(builder.gep(mask, [start]), wide.as_pointer()), align=1)
        with builder.if_then(builder.icmp_unsigned("!=", bits, ir.Constant(wide, 0))):
            loop(builder, count, lambda index: body(builder.add(start, index)))

    loop(builder, blocks, block)
    loop(builder, builder.sub(size, done), lambda index: body(builder.add(done, index)))
