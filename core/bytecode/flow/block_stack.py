"""The blocks of try and with statements around instructions, and the flow of control: what all versions answer alike."""

import sys
from typing import Dict, List, NamedTuple, Optional, Tuple


class BlockEntry(NamedTuple):
    """An active entry of the block stack.

    Attributes:
        kind: 'finally', 'except', 'with', 'loop' (3.7), 'handler' while a handler or a finally body runs, or 'restoring' in
            an inlined comprehension (3.12).
        handler: instruction where the handler begins; for a loop, where `break` leads.
        pusher: the instruction that set the block up; from 3.11 on, but for with
            statements, the first instruction in it.
        level: operand stack depth that unwinding to this entry restores.
    """

    kind: str
    handler: int
    pusher: int
    level: int


Blocks = Tuple[BlockEntry, ...]

#: Kinds of entries whose handler an exception enters.
PROTECTING = frozenset(("finally", "except", "with"))
HANDLER_ITEMS = 1 if sys.version_info >= (3, 11) else 6
"""Items that are on the operand stack above the level of the block where a handler begins."""
EXCEPTION_ITEMS = 1 if sys.version_info >= (3, 11) else 3
"""Items of the exception that was handled before, which the end of a handler takes off."""


class Flow:
    """What `trace_flow` finds, by instruction index; None where no path leads.

    Attributes:
        successors: instructions that may run next, the next one first; exceptions are not listed.
        block_stack: active entries, innermost last.
        stack_depth: items on the operand stack.
        handlers: for each instruction where a handler begins, its entry of kind 'handler'.
        max_depth: largest depth after any instruction.
    """

    __slots__ = ("successors", "block_stack", "stack_depth", "handlers", "max_depth")

    def __init__(self, successors: List[Optional[List[int]]], block_stack: List[Optional[Blocks]],
                 stack_depth: List[Optional[int]], handlers: Dict[int, BlockEntry]) -> None:
        self.successors = successors
        self.block_stack = block_stack
        self.stack_depth = stack_depth
        self.handlers = handlers
        self.max_depth = max(depth for depth in stack_depth if depth is not None)


def unwound_level(blocks: Blocks, opname: str, handled: bool = False) -> Optional[int]:
    """The operand stack depth to which 3.7's BREAK_LOOP or CONTINUE_LOOP unwinds; None if that does more.

    ``handled``: no exception was made that handlers on the way have.
    """
    level = None
    for entry in reversed(blocks):
        if entry.kind == "loop":
            return entry.level if opname == "BREAK_LOOP" else level
        if entry.kind != "except" and not (handled and entry.kind == "handler"):
            return None
        level = entry.level
    return None
