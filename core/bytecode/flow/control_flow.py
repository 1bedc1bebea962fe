"""Control flow of single instructions: successors, block stack and operand stack before each of them.

Attributes:
    trace_flow: traces the flow of a function on the running version.

The analyses, the assembler and capture use it. It selects the module of the running version and has no rules of its
own.
"""

import sys

from pijit.core.bytecode.flow.block_stack import (
    EXCEPTION_ITEMS,
    HANDLER_ITEMS,
    PROTECTING,
    BlockEntry,
    Blocks,
    Flow,
    unwound_level,
)

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.flow.control_flow_311 import trace_flow
else:
    from pijit.core.bytecode.flow.control_flow_37 import trace_flow

__all__ = [
    "EXCEPTION_ITEMS", "HANDLER_ITEMS", "PROTECTING", "BlockEntry", "Blocks", "Flow", "trace_flow", "unwound_level"]
