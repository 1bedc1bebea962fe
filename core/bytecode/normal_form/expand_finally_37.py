"""Finally bodies and ends of with blocks (3.7, 3.8), copied for each entry without an exception.

These versions have one body for all entries. It runs both as a handler and as a subroutine; items on the operand stack
tell how it was entered. From 3.9 on CPython's compiler copies the body. This module does the same: control without an
exception runs plain copies, and only exceptions enter the original body::

    3.8   BEGIN_FINALLY, CALL_FINALLY             ->  <the body>
    3.7   LOAD_CONST None before the body         ->  <the body>
          RETURN_VALUE, BREAK_LOOP, CONTINUE_LOOP ->  POP_BLOCK, <the body> for each block that is left; then the same
                                                      instruction, or a jump
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Dict, List, Optional

from pijit.core.bytecode.analysis.blocks import CFG, build_cfg
from pijit.core.bytecode.codec.decode import Function, Instr, decode
from pijit.core.bytecode.codec.encode import Assembler, CodeItem, Label, NewInstr
from pijit.core.bytecode.flow.control_flow import Blocks

COPIED_BY_COMPILER = "END_FINALLY" not in dis.opmap
LARGEST = 4000
"""Limit of the number of instructions after copying; each return in a finally body doubles the code before it."""
LEAVES = frozenset(["RETURN_VALUE", "BREAK_LOOP", "CONTINUE_LOOP"])
RESULT = "$result"


def plain_function(code: CodeType, returns: bool) -> Function:
    """The decoded code with finally bodies copied, or the code itself if there is no body to copy.

    Arguments:
        returns: whether to copy for RETURN_VALUE of 3.7, too, which needs one more local variable.
    """
    function = decode(code)
    while not COPIED_BY_COMPILER:
        copied = _FinallyCopier(build_cfg(function), returns).run()
        if copied is None or len(copied.code.co_code) > 2 * LARGEST:
            break
        function = copied
    return function


class _FinallyCopier:
    """Copies the bodies for all entries of the code as it is; the copies may contain more such entries."""

    def __init__(self, cfg: CFG, returns: bool) -> None:
        self.cfg = cfg
        self.returns = returns
        self.instructions = cfg.function.instructions
        self.assembler = Assembler(cfg.function)
        self.ends: Dict[int, int] = {}
        for instr in self.instructions:
            blocks = cfg.block_stack[instr.index]
            if instr.opname == "END_FINALLY" and blocks:
                self.ends[blocks[-1].handler] = instr.index

    def run(self) -> Optional[Function]:
        """The new function, or None if no body is entered without an exception."""
        found = False
        for instr in self.instructions:
            if self.cfg.successors[instr.index] is not None:
                items = self._instead(instr)
                if items is not None:
                    self.assembler.insert(instr.index, items)
                    found = True
        return self.assembler.assemble_function() if found else None

    def _instead(self, instr: Instr) -> Optional[List[CodeItem]]:
        """The code in place of an instruction that enters a body, or None for other instructions."""
        index, following = instr.index, instr.index + 1
        if instr.opname == "CALL_FINALLY":
            return self._body(self.cfg.successors[index][0], following)  # type: ignore[index]
        if instr.opname == "BEGIN_FINALLY":
            if following in self.cfg.flow.handlers:
                return self._body(following, None)
            on = self.assembler.original(index + 4)
            return self._cleanup(instr.lineno) + [NewInstr("JUMP_ABSOLUTE", on, instr.lineno)]
        if instr.opname == "LOAD_CONST" and self._falls_in(index):
            return self._body(following, None)
        return self._unwound(instr) if instr.opname in LEAVES else None

    def _falls_in(self, index: int) -> bool:
        """3.7: whether the instruction is the None with which control falls into a finally body."""
        return (self.cfg.successors[index] == [index + 1] and index + 1 in self.cfg.flow.handlers
                and "BEGIN_FINALLY" not in dis.opmap)

    def _body(self, handler: int, following: Optional[int]) -> Optional[List[CodeItem]]:
        """A copy of the body, and a jump to `following` or to where the body continues; None if it does not."""
        end = self.ends.get(handler)
        following = end + 1 if following is None and end is not None else following
        if end is None or following is None:
            return None
        line = self.instructions[end].lineno
        return self._copy(handler, end) + [NewInstr("JUMP_ABSOLUTE", self.assembler.inserted(following), line)]

    def _copy(self, start: int, end: int) -> List[CodeItem]:
        """The instructions; jumps to ``end`` lead to the end of the copy."""
        if self.instructions[start].opname == "WITH_CLEANUP_START":
            return self._cleanup(self.instructions[start].lineno)
        labels: Dict[Optional[int], Label] = {
            instr.target: Label("copy of %s" % instr.target) for instr in self.instructions[start:end]
            if instr.target is not None and start <= instr.target <= end}
        items: List[CodeItem] = []
        for instr in self.instructions[start:end]:
            if instr.index in labels:
                items.append(labels[instr.index])
            items.append(self._op(instr, labels))
        return items + ([labels[end], NewInstr("NOP", None, self.instructions[end].lineno)] if end in labels else [])

    def _op(self, instr: Instr, labels: Dict[Optional[int], Label]) -> NewInstr:
        if instr.opname == "POP_FINALLY":  # the copy has no items that tell how it was entered
            return NewInstr("NOP", None, instr.lineno)
        if instr.target is not None:
            label = labels.get(instr.target) or self.assembler.inserted(instr.target)
            return NewInstr(instr.opname, label, instr.lineno)
        return NewInstr(instr.opname, instr.raw if instr.opcode >= dis.HAVE_ARGUMENT else None, instr.lineno)

    def _cleanup(self, line: Optional[int]) -> List[CodeItem]:
        """Call the ``__exit__`` on the stack, as code of 3.9 and later does."""
        return [NewInstr("LOAD_CONST", self.assembler.const(None), line), NewInstr("DUP_TOP", None, line),
                NewInstr("DUP_TOP", None, line), NewInstr("CALL_FUNCTION", 3, line), NewInstr("POP_TOP", None, line)]

    def _unwound(self, instr: Instr) -> Optional[List[CodeItem]]:
        """3.7: leave the blocks one by one and run their bodies, instead of unwinding."""
        blocks, returning = self.cfg.block_stack[instr.index] or (), instr.opname == "RETURN_VALUE"
        unwound = _unwound(blocks, returning)
        if unwound is None or returning and not self.returns:
            return None
        line = instr.lineno
        items: List[CodeItem] = []
        result = self.assembler.local(RESULT) if returning else None
        if returning:
            items.append(NewInstr("STORE_FAST", result, line))
        for block in unwound:
            items.append(NewInstr("POP_BLOCK", None, line))
            if block.kind in ("finally", "with"):
                end = self.ends.get(block.handler)
                if end is None:
                    return None
                items += self._copy(block.handler, end)
        if returning:
            return items + [NewInstr("LOAD_FAST", result, line), NewInstr("DELETE_FAST", result, line),
                            NewInstr("RETURN_VALUE", None, line)]
        if instr.opname == "BREAK_LOOP":
            return items + [NewInstr("BREAK_LOOP", None, line)]
        return items + [NewInstr("JUMP_ABSOLUTE", self.assembler.inserted(instr.target or 0), line)]


def _unwound(blocks: Blocks, returning: bool) -> Optional[Blocks]:
    """The blocks that are left, innermost first; None if one of them is a handler, or if none has a body."""
    unwound = []
    for block in reversed(blocks):
        if block.kind == "loop" and not returning:
            break
        unwound.append(block)
    kinds = {block.kind for block in unwound}
    return tuple(unwound) if "handler" not in kinds and kinds & {"finally", "with"} else None
