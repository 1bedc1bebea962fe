"""Floating-point status register: machine code that reads, clears and restores it.

The runtime has the same in native/runtime/ufuncs/fp_status_inl.h. strip_intrinsics.py and reciprocal_division.py use
it around blocks of arithmetic. The runtime is called only if a flag is raised, or on processors other than x86-64.
Their register is not read here.
"""

from __future__ import annotations

import platform
from typing import Any, Dict

from llvmlite import ir

from pijit.core.kernel.llvm.builder import local
from pijit.core.kernel.llvm.float_intrinsics import rarely
from pijit.core.kernel.llvm.intrinsics import I8, I32, I64, INT, Intrinsic, call

_REPORTED = 1 | 4 | 8 | 16
"""Bits of x86's MXCSR register: invalid operation, division by zero, overflow and underflow."""

READS_STATUS = platform.machine().lower() in ("x86_64", "amd64")


def flags_are_raised(builder: Any) -> Any:
    """Whether arithmetic may have raised a flag; always true on processors other than x86-64."""
    if not READS_STATUS:
        return ir.Constant(ir.IntType(1), 1)
    place = local(builder, I32, 1)
    copy_status(builder, place)
    flags = builder.and_(builder.load(place), ir.Constant(I32, _REPORTED))
    return builder.icmp_unsigned("!=", flags, ir.Constant(I32, 0))


def copy_status(builder: Any, place: Any) -> None:
    """Copy x86's status register to memory, after a fence: arithmetic whose results are stored comes before it."""
    builder.fence("seq_cst", "singlethread")
    _with_status(builder, "llvm.x86.sse.stmxcsr", place)


def set_status(builder: Any, place: Any) -> None:
    """Load x86's status register from memory."""
    _with_status(builder, "llvm.x86.sse.ldmxcsr", place)
    builder.fence("seq_cst", "singlethread")


def clear_status(builder: Any) -> None:
    """Clear the flags of x86's status register."""
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
    """``clear_raised(function)``: call the function if a flag is raised."""
    with builder.if_then(flags_are_raised(builder), likely=False):
        call(builder, args)
    return ir.Constant(I64, 0)


def _flags(builder: Any, args: Any) -> Any:
    """``flags_raised(function, mask)``: the result of the function if a flag is raised, else 0."""
    return rarely(builder, flags_are_raised(builder), lambda: call(builder, args))


STATUS_INTRINSICS: Dict[str, Intrinsic] = {"clear_raised": Intrinsic(INT, None, _clear),
                                           "flags_raised": Intrinsic(INT, None, _flags)}
