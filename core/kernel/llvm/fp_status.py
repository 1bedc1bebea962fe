"""Floating-point exception flags of the processor, read where machine code has computed: as in native/runtime/ufuncs/fp_status.h.

A call of the runtime is made where a flag is raised, or on processors that have no instruction for it here.
"""

from __future__ import annotations

import platform
from typing import Any, Dict

from llvmlite import ir

from pijit.core.kernel.llvm.float_intrinsics import rarely
from pijit.core.kernel.llvm.intrinsics import I8, I32, I64, INT, Intrinsic, call
from pijit.core.kernel.llvm.nest.pairwise_sum import local

_REPORTED = 1 | 4 | 8 | 16
"""Invalid operation, division by zero, overflow and underflow in x86's register of them."""

READS_STATUS = platform.machine().lower() in ("x86_64", "amd64")


def flags_are_raised(builder: Any) -> Any:
    """Whether arithmetic may have raised a flag."""
    if not READS_STATUS:
        return ir.Constant(ir.IntType(1), 1)
    place = local(builder, I32, 1)
    copy_status(builder, place)
    flags = builder.and_(builder.load(place), ir.Constant(I32, _REPORTED))
    return builder.icmp_unsigned("!=", flags, ir.Constant(I32, 0))


def copy_status(builder: Any, place: Any) -> None:
    """Copy x86's register to memory. The fence holds what arithmetic has stored, and so its flags, before."""
    builder.fence("seq_cst", "singlethread")
    _with_status(builder, "llvm.x86.sse.stmxcsr", place)


def set_status(builder: Any, place: Any) -> None:
    """Take x86's register from memory."""
    _with_status(builder, "llvm.x86.sse.ldmxcsr", place)
    builder.fence("seq_cst", "singlethread")


def clear_status(builder: Any) -> None:
    """Let no flag be raised in x86's register."""
    with builder.if_then(flags_are_raised(builder), likely=False):
        place = local(builder, I32, 1)
        copy_status(builder, place)
        builder.store(builder.and_(builder.load(place), ir.Constant(I32, ~_REPORTED)), place)
        set_status(builder, place)


def _with_status(builder: Any, name: str, place: Any) -> None:
    pointer = I8.as_pointer()
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(ir.VoidType(), [pointer]), name)
    builder.call(function, [builder.bitcast(place, pointer)])


def _clear(builder: Any, args: Any) -> Any:
    """``clear_raised(function)``: call it where a flag is raised."""
    with builder.if_then(flags_are_raised(builder), likely=False):
        call(builder, args)
    return ir.Constant(I64, 0)


def _flags(builder: Any, args: Any) -> Any:
    """``flags_raised(function, mask)``: what it answers where a flag is raised, else 0."""
    return rarely(builder, flags_are_raised(builder), lambda: call(builder, args))


STATUS: Dict[str, Intrinsic] = {"clear_raised": Intrinsic(INT, None, _clear),
                                "flags_raised": Intrinsic(INT, None, _flags)}
