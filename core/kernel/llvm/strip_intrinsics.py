"""Intrinsics of speculative strips: flags around a strip, pins, and copies of the elements that stores replace.

The calls are written by emit/stores/speculative_strips.py, which says what they are for.
"""

from __future__ import annotations

from typing import Any, Dict

from llvmlite import ir

from pijit.core.graph.passes.strip_mining import STRIP
from pijit.core.kernel.llvm.builder import loop
from pijit.core.kernel.llvm.fp_status import clear_status, flags_are_raised
from pijit.core.kernel.llvm.intrinsics import I8, I64, INT, Intrinsic, same_kind, unary

LEAST = 6
"""The fewest iterations of a strip, because reading the processor's flags costs as much as a few checks."""

MOST = 4
"""The number of strips that one call of a kernel repeats before it tries no more."""


def _failures(builder: Any) -> Any:
    """The memory in which the kernel counts the strips that it has repeated."""
    with builder.goto_entry_block():
        for instruction in builder.block.instructions:
            if instruction.name == "repeated_strips":
                return instruction
        memory = builder.alloca(I64, name="repeated_strips")
        builder.store(ir.Constant(I64, 0), memory)
        return memory


def _watch(builder: Any, iterations: Any) -> Any:
    """``watch_flags(iterations)``: whether a strip is tried; if so, no flag is raised afterwards."""
    few = builder.icmp_signed("<", builder.load(_failures(builder)), ir.Constant(I64, MOST))
    beyond_least = builder.sub(iterations, ir.Constant(I64, LEAST))
    some = builder.icmp_unsigned("<=", beyond_least, ir.Constant(I64, STRIP - LEAST))
    tried = builder.and_(few, some)
    with builder.if_then(tried):
        clear_status(builder)
    return builder.zext(tried, I64)


def _stayed_quiet(builder: Any, quiet: Any) -> Any:
    """``stayed_quiet(quiet)``: 1 if ``quiet`` is still 1 and no flag is raised, else 0."""
    failed = builder.or_(builder.icmp_unsigned("==", quiet, ir.Constant(I64, 0)), flags_are_raised(builder))
    place = _failures(builder)
    builder.store(builder.add(builder.load(place), builder.zext(failed, I64)), place)
    return builder.zext(builder.not_(failed), I64)


def _pinned(builder: Any, value: Any) -> Any:
    """``pinned(number)``: the number in a register of its own, by an assembler statement without instructions."""
    if not isinstance(value.type, ir.LiteralStructType):
        return builder.asm(ir.FunctionType(value.type, [value.type]), "", "=x,0", [value], True)
    for part in (0, 1):
        value = builder.insert_value(value, _pinned(builder, builder.extract_value(value, part)), part)
    return value


def _run(giving_back: bool) -> Any:
    """``keep_run(number, itemsize, address, step, iterations)`` keeps elements on the stack.

    ``give_back``, with the same arguments, puts them back.
    """
    def build(builder: Any, number: Any, itemsize: Any, address: Any, step: Any, iterations: Any) -> Any:
        kind = ir.IntType(8 * itemsize.constant)
        first = builder.inttoptr(address, I8.as_pointer())
        room = _room(builder, "kept_%d_%d" % (number.constant, itemsize.constant), kind)

        def body(index: Any) -> None:
            place = builder.bitcast(builder.gep(first, [builder.mul(index, step)]), kind.as_pointer())
            kept = builder.gep(room, [index])
            if giving_back:
                builder.store(builder.load(kept), place, align=1)
            else:
                builder.store(builder.load(place, align=1), kept)

        loop(builder, iterations, body)
        return ir.Constant(I64, 0)
    return build


def _room(builder: Any, name: str, kind: Any) -> Any:
    """The kernel's stack memory for the elements of one strip."""
    with builder.goto_entry_block():
        for instruction in builder.block.instructions:
            if instruction.name == name:
                return instruction
        return builder.alloca(kind, STRIP, name=name)


STRIP_INTRINSICS: Dict[str, Intrinsic] = {
    "watch_flags": unary(INT, INT, _watch), "stayed_quiet": unary(INT, INT, _stayed_quiet),
    "pinned": same_kind(1, _pinned),
    "keep_run": Intrinsic(INT, (INT,) * 5, _run(False)), "give_back": Intrinsic(INT, (INT,) * 5, _run(True)),
}
