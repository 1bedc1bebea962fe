"""LLVM's instruction builder: counted loops, and stack memory of a function.

All intrinsics and the loop nests use it. It must know no intrinsic and no nest.
"""

from __future__ import annotations

from typing import Any, Callable

from llvmlite import ir

_WORD = ir.IntType(64)


def loop(builder: Any, size: Any, body: Callable[[Any], None], unrolled: bool = True) -> None:
    """``for index in range(size): body(index)``; LLVM may unroll it if ``unrolled``."""
    before, zero = builder.basic_block, ir.Constant(_WORD, 0)
    start, end = builder.append_basic_block("nest"), builder.append_basic_block("nest.end")
    builder.cbranch(builder.icmp_signed("<", zero, size), start, end)
    builder.position_at_end(start)
    index = builder.phi(_WORD)
    index.add_incoming(zero, before)
    body(index)
    following = builder.add(index, ir.Constant(_WORD, 1))
    index.add_incoming(following, builder.basic_block)
    again = builder.cbranch(builder.icmp_signed("<", following, size), start, end)
    if not unrolled:
        name = builder.module.add_metadata([builder.module.add_metadata(["llvm.loop.unroll.disable"])])
        name.operands = (name, name.operands[-1])  # loop metadata starts with a reference to itself
        again.set_metadata("llvm.loop", name)
    builder.position_at_end(end)


def local(builder: Any, kind: Any, count: int) -> Any:
    """Stack memory of the function, allocated in its entry block."""
    with builder.goto_entry_block():
        return builder.alloca(kind, count)
