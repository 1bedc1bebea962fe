"""Control flow on CPython 3.11 and later, from the exception table instead of a block stack.

Functions have to be in normal form. The table has one entry for an instruction: the innermost handler. The nesting of
blocks follows from the entries that cover the first instructions of handlers. `control_flow` selects it. Earlier
versions must not import it.
"""

from __future__ import annotations

from typing import Dict, List, Optional

from pijit.core.bytecode.flow.block_stack import PROTECTING, BlockEntry, Blocks, Flow
from pijit.core.bytecode.instructions.exception_table import ExceptionEntry
from pijit.core.bytecode.instructions.instruction import Function
from pijit.core.bytecode.instructions.operands_311 import ends_generator, is_cleanup, is_restoring, operands

#: Instructions of the expression after `except`.
_EXPRESSION = frozenset((
    "LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF", "LOAD_ATTR", "LOAD_METHOD", "LOAD_CONST",
    "BUILD_TUPLE", "CALL_FUNCTION", "CALL_METHOD", "BINARY_SUBSCR", "NOP", "LIST_TO_TUPLE"))


class _HandlerBlocks:
    """The block stack of each instruction, computed from the entries of the exception table."""

    def __init__(self, function: Function) -> None:
        assert function.operands is not None
        self.instructions = function.instructions
        self.operands = function.operands
        self.known: Dict[int, Blocks] = {id(None): ()}
        self.first: Dict[int, int] = {}
        for instr in self.instructions:
            if instr.entry is not None:
                self.first.setdefault(instr.entry.target, instr.index)

    def of(self, entry: Optional[ExceptionEntry]) -> Blocks:
        """The blocks around the instructions that an entry covers."""
        if id(entry) not in self.known:
            assert entry is not None
            self.known[id(entry)] = ()  # ends the recursion for a handler that its own entry covers
            if ends_generator(self.instructions, entry.target):
                return ()
            kind, begin = self._kind(entry.target), self.first[entry.target]
            block = BlockEntry(kind, entry.target, begin - (kind == "with"), self._level(entry))
            self.known[id(entry)] = self._around(entry.target) + (block,)
        return self.known[id(entry)]

    def _around(self, handler: int) -> Blocks:
        """The blocks around a try statement, found by its handler: while the handler runs there is one more block."""
        blocks = self.of(self.instructions[handler].entry)
        runs = self.instructions[handler].opname == "PUSH_EXC_INFO"
        return blocks[:-1] if runs and blocks and blocks[-1].kind == "handler" else blocks

    def _level(self, entry: ExceptionEntry) -> int:
        """The depth of the operand stack that unwinding restores, without empty slots."""
        return entry.depth - sum(null < entry.depth for null in self.operands.nulls[entry.start])

    def _kind(self, handler: int) -> str:
        """The kind of a block, recognised by the first instructions of its handler."""
        first, second = self.instructions[handler:handler + 2]
        if is_cleanup(self.instructions, handler):
            return "restoring" if is_restoring(self.instructions, handler) else "handler"
        if first.opname != "PUSH_EXC_INFO":
            return "finally"
        if second.opname == "WITH_EXCEPT_START":
            return "with"
        return "except" if second.opname == "POP_TOP" or self._matches(handler + 1) else "finally"

    def _matches(self, index: int) -> bool:
        """Whether an expression begins at `index` that the exception is compared with."""
        while self.instructions[index].opname in _EXPRESSION:
            index += 1
        return self.instructions[index].opname == "CHECK_EXC_MATCH"


def trace_flow(function: Function) -> Flow:
    """Follow every path through a function.

    Args:
        function: in normal form.

    Returns:
        Successors, block stack and operand stack depth of each reachable instruction; empty slots are not counted.
        The code that raises an exception again after a handler counts as unreachable.

    Raises:
        ValueError: two paths meet with different stacks; CPython's compiler never makes such code.
    """
    found = function.operands or operands(function)
    function.operands = found
    blocks = _HandlerBlocks(function)
    stacks: List[Optional[Blocks]] = [None if depth is None else blocks.of(instr.entry)
                                      for instr, depth in zip(function.instructions, found.depths)]
    depths = [None if depth is None else depth - len(nulls) for depth, nulls in zip(found.depths, found.nulls)]
    return Flow(list(found.successors), stacks, depths, _handlers(function, blocks))


def _handlers(function: Function, blocks: _HandlerBlocks) -> Dict[int, BlockEntry]:
    """The entry that is active while a handler runs, for each instruction where a handler begins.

    Handlers of outer blocks are included. If a try statement fills an outer one, only the clean-up code of the inner
    statement has an entry for the outer handler. That code counts as unreachable.
    """
    assert function.operands is not None
    handlers: Dict[int, BlockEntry] = {}
    for instr in function.instructions:
        if function.operands.depths[instr.index] is not None:
            for block in blocks.of(instr.entry):
                if block.kind in PROTECTING and block.handler not in handlers:
                    handlers[block.handler] = block._replace(kind="handler")
    return handlers
