"""Block stacks of try and with statements, and the result of control-flow tracing; common to all versions.

`control_flow` and capture use it. It must not depend on the version of CPython.
"""

import sys
from typing import Dict, List, Optional, Tuple

from pijit.core.named_tuples import NamedTuple


class BlockEntry(NamedTuple):
    """An active entry of the block stack.

    Attributes:
        kind: 'finally', 'except', 'with' or 'loop' (3.7); 'handler' while a handler or a finally body runs; 'restoring'
            in an inlined comprehension (3.12).
        handler: instruction where the handler begins; for a loop, the target of `break`.
        pusher: the instruction that set the block up. From 3.11 on it is the first instruction in the block, except for
            with statements.
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
"""Number of operands above the block's level when a handler begins."""
EXCEPTION_ITEMS = 1 if sys.version_info >= (3, 11) else 3
"""Number of operands of the previously handled exception, which the end of a handler pops."""


class Flow:
    """The result of `trace_flow`, by instruction index; None for unreachable instructions.

    Attributes:
        successors: instructions that may run next, the following one first; exceptions are not listed.
        block_stack: active entries, innermost last.
        stack_depth: items on the operand stack.
        handlers: the entry of kind 'handler' of each instruction where a handler begins.
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
    """The operand stack depth to which BREAK_LOOP or CONTINUE_LOOP of 3.7 unwinds; None if unwinding runs more code.

    ``handled``: no exception object was created, so the handlers that are left have none to restore.
    """
    level = None
    for entry in reversed(blocks):
        if entry.kind == "loop":
            return entry.level if opname == "BREAK_LOOP" else level
        if entry.kind != "except" and not (handled and entry.kind == "handler"):
            return None
        level = entry.level
    return None
