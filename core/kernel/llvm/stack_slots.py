"""Intrinsic of stack arrays: a slot, which is memory on the kernel's stack. emit/stack_arrays.py writes the calls."""

from __future__ import annotations

from typing import Any, Dict

from pijit.core.kernel.llvm.intrinsics import I8, I64, INT, Intrinsic, field_pointer

SLOT_BYTES = 8192
"""Bytes of a slot."""
_ALIGNMENT = 64
_GAP = 64
"""Bytes between slots. NumPy before 2.0 takes arrays that lie side by side for overlapping, and may round otherwise."""


def _build_slot(builder: Any, args: Any) -> Any:
    """``slot(frame, offset)``: the address of memory on the kernel's stack.

    It is stored in a word of the frame. So LLVM must assume that called functions read what the kernel writes there.
    """
    (_, frame), (_, offset) = args
    with builder.goto_entry_block():
        place = builder.alloca(I8, SLOT_BYTES + _GAP)
        place.align = _ALIGNMENT
    address = builder.ptrtoint(place, I64)
    builder.store_atomic(address, field_pointer(builder, frame, offset, I64), "monotonic", 8)
    return address


SLOT_INTRINSICS: Dict[str, Intrinsic] = {"slot": Intrinsic(INT, None, _build_slot)}
