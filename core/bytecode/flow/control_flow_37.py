"""Control flow of single instructions on CPython 3.7 to 3.10, whose frames have a block stack.

CPython 3.7 and 3.8 run a finally body both as a handler and as a subroutine. Control falls into it, calls it by
CALL_FINALLY (3.8), or unwinds for break, continue and return (3.7). One to six items on the operand stack tell which.
Here such a body always has the state of the exceptional entry: a 'handler' entry and six items. CPython's own stack
accounting does the same. END_FINALLY then leads to the instruction at which each entry resumes.
"""

import dis
import sys
from typing import Callable, Dict, List, Optional, Tuple

from pijit.core.bytecode.flow.block_stack import HANDLER_ITEMS, BlockEntry, Blocks, Flow
from pijit.core.bytecode.instructions.instruction import Function, Instr
from pijit.core.bytecode.instructions.opcodes import BLOCK_PUSHES, TERMINATORS
from pijit.core.named_tuples import NamedTuple

_KIND_OF_SETUP = {"SETUP_EXCEPT": "except", "SETUP_FINALLY": "finally", "SETUP_WITH": "with",
                  "SETUP_ASYNC_WITH": "with", "SETUP_LOOP": "loop"}
# Items above the level of the block after the setup: the value that `with` binds, or awaits.
_ABOVE_LEVEL = {"SETUP_WITH": 1, "SETUP_ASYNC_WITH": 1}
# The kind of a block by the first opcode of its handler. A finally body never begins by popping or duplicating the
# exception. Linked code sets up the block of a with statement with SETUP_FINALLY.
_KIND_BY_BEGINNING = {"DUP_TOP": "except", "POP_TOP": "except", "WITH_CLEANUP_START": "with",
                      "WITH_EXCEPT_START": "with"}
_GENERATOR_FLAGS = 0x20 | 0x80 | 0x200
_UNWINDS = sys.version_info < (3, 8)


Effect = Callable[[int, Optional[int]], int]


def _effects_37(jump: bool) -> Effect:
    """`dis` of 3.7 cannot report the effect of one branch, only the larger one; it does not know NOP."""
    jumping = {"NOP": 0, "FOR_ITER": -1, "JUMP_IF_TRUE_OR_POP": 0, "JUMP_IF_FALSE_OR_POP": 0}
    falling = {"NOP": 0, "FOR_ITER": 1, "JUMP_IF_TRUE_OR_POP": -1, "JUMP_IF_FALSE_OR_POP": -1,
               "SETUP_EXCEPT": 0, "SETUP_FINALLY": 0, "SETUP_WITH": 1, "SETUP_ASYNC_WITH": 0}
    table = {dis.opmap[name]: effect for name, effect in (jumping if jump else falling).items()}

    def effect(opcode: int, arg: Optional[int]) -> int:
        known = table.get(opcode)
        return dis.stack_effect(opcode, arg) if known is None else known

    return effect


def _effects_38(jump: bool) -> Effect:
    stack_effect = dis.stack_effect
    return lambda opcode, arg: stack_effect(opcode, arg, jump=jump)


#: Change of the operand stack depth when an instruction falls through, or jumps: (opcode, arg) -> int.
fall_effect = (_effects_37 if _UNWINDS else _effects_38)(False)
jump_effect = (_effects_37 if _UNWINDS else _effects_38)(True)


class _Resumption(NamedTuple):
    """The action of END_FINALLY after one entry into the finally body without an exception.

    `kind` is 'fall' (continue after it), 'call' (return to `to` in the given state), or the reason to unwind: 'break',
    'continue' (to `to`) or 'return'.
    """

    kind: str
    to: int = 0
    blocks: Blocks = ()
    depth: int = 0


_FALL = _Resumption("fall")


class _FlowTracer:
    """One traversal of the instructions. Each is visited once, because its state does not depend on the path."""

    def __init__(self, function: Function) -> None:
        self.instructions = function.instructions
        self.state: Dict[int, Tuple[Blocks, int]] = {}
        self.successors: Dict[int, List[int]] = {}
        self.work: List[int] = []
        self.handlers: Dict[int, BlockEntry] = {}
        self.handler_state: Dict[int, Tuple[Blocks, int]] = {}
        self.resumptions: Dict[int, List[_Resumption]] = {}
        self.ends: Dict[int, List[int]] = {}

    def run(self, entry_depth: int) -> Flow:
        self._visit(0, (), entry_depth)
        special = _SPECIAL
        while self.work:
            i = self.work.pop()
            instr = self.instructions[i]
            blocks, depth = self.state[i]
            self.successors[i] = []
            handle = special.get(instr.opname)
            if handle is not None:
                handle(self, instr, blocks, depth)
                continue
            if instr.opname not in TERMINATORS:
                self._edge(i, i + 1, blocks, depth + fall_effect(instr.opcode, instr.arg))
            if instr.target is not None:
                self._edge(i, instr.target, blocks, depth + jump_effect(instr.opcode, instr.arg))
        unreached = (None, None)
        states = [self.state.get(i, unreached) for i in range(len(self.instructions))]
        return Flow([self.successors.get(i) for i in range(len(self.instructions))],
                    [blocks for blocks, _ in states], [depth for _, depth in states], self.handlers)

    def _visit(self, i: int, blocks: Blocks, depth: int) -> None:
        known = self.state.get(i)
        if known is None:
            self.state[i] = blocks, depth
            self.work.append(i)
        elif known[1] != depth or not self._agree(known[0], blocks):
            raise ValueError("paths meet at {!r} with different stacks: {} and {}".format(
                self.instructions[i], known, (blocks, depth)))

    def _agree(self, left: Blocks, right: Blocks) -> bool:
        """Whether two block stacks are equivalent: linked code may set up one block at several instructions."""
        return len(left) == len(right) and all(
            a == b or (a.kind == b.kind and a.level == b.level and self._leads(a.handler) == self._leads(b.handler))
            for a, b in zip(left, right))

    def _leads(self, index: int) -> int:
        """The final target of `break`, or of an exception; linked code may have jumps on the way."""
        visited = set()
        while self.instructions[index].opname == "JUMP_ABSOLUTE" and index not in visited:
            visited.add(index)
            index = _target(self.instructions[index])
        return index

    def _edge(self, i: int, j: int, blocks: Blocks, depth: int) -> None:
        if j in self.handler_state:
            self._enter_body(i, j, _FALL)
            return
        successors = self.successors[i]
        if j not in successors:
            successors.append(j)
        self._visit(j, blocks, depth)

    def _enter_body(self, i: int, handler: int, resumption: _Resumption) -> None:
        """Add an edge into a finally body without an exception; END_FINALLY will act on `resumption`."""
        if handler not in self.successors[i]:
            self.successors[i].append(handler)
        self._visit(handler, *self.handler_state[handler])
        self._add_resumption(handler, resumption)

    def _add_resumption(self, handler: int, resumption: _Resumption) -> None:
        known = self.resumptions.setdefault(handler, [])
        if resumption not in known:
            known.append(resumption)
            for end in self.ends.get(handler, ()):
                self._resume(end, resumption)

    def _resume(self, end: int, resumption: _Resumption) -> None:
        blocks, depth = self.state[end]
        blocks, level = blocks[:-1], depth - HANDLER_ITEMS
        if resumption.kind == "fall":
            self._edge(end, end + 1, blocks, level)
        elif resumption.kind == "call":
            self._edge(end, resumption.to, resumption.blocks, resumption.depth)
        else:
            self._unwind(end, blocks, level, resumption)

    def _unwind(self, i: int, blocks: Blocks, level: int, why: _Resumption) -> None:
        """3.7: break, continue and return run the finally bodies of the blocks that they leave."""
        while blocks:
            entry, blocks = blocks[-1], blocks[:-1]
            if entry.kind in ("finally", "with"):
                self._enter_body(i, entry.handler, why)
                return
            if entry.kind == "loop" and why.kind == "break":
                self._edge(i, entry.handler, blocks, entry.level)
                return
            if entry.kind == "loop" and why.kind == "continue":
                self._edge(i, why.to, blocks + (entry,), level)
                return
            level = entry.level

    # One method for each kind of instruction that changes the block stack.

    def _setup(self, instr: Instr, blocks: Blocks, depth: int) -> None:
        after = depth + fall_effect(instr.opcode, instr.arg)
        handler = _target(instr)
        kind = _KIND_OF_SETUP[instr.opname]
        if kind != "loop":
            handler = self._leads(handler)
        if kind == "finally":
            kind = _KIND_BY_BEGINNING.get(self.instructions[handler].opname, kind)
        entry = BlockEntry(kind, handler, instr.index, after - _ABOVE_LEVEL.get(instr.opname, 0))
        if kind != "loop":
            running = BlockEntry("handler", handler, instr.index, entry.level)
            self.handlers[handler] = running
            self.handler_state[handler] = blocks + (running,), entry.level + HANDLER_ITEMS
            self._visit(handler, *self.handler_state[handler])
            if kind == "with":
                # __exit__ may swallow the exception.
                self._add_resumption(handler, _FALL)
        self._edge(instr.index, instr.index + 1, blocks + (entry,), after)

    def _pop_block(self, instr: Instr, blocks: Blocks, depth: int) -> None:
        self._edge(instr.index, instr.index + 1, blocks[:-1], depth + fall_effect(instr.opcode, instr.arg))

    def _begin_finally(self, instr: Instr, blocks: Blocks, depth: int) -> None:
        i = instr.index
        entry = BlockEntry("handler", i + 1, i, depth)
        self._edge(i, i + 1, blocks + (entry,), depth + HANDLER_ITEMS)

    def _call_finally(self, instr: Instr, blocks: Blocks, depth: int) -> None:
        self._enter_body(instr.index, _target(instr), _Resumption("call", instr.index + 1, blocks, depth))

    def _end_finally(self, instr: Instr, blocks: Blocks, depth: int) -> None:
        handler = blocks[-1].handler
        self.ends.setdefault(handler, []).append(instr.index)
        for resumption in list(self.resumptions.get(handler, ())):
            self._resume(instr.index, resumption)

    def _break_loop(self, instr: Instr, blocks: Blocks, depth: int) -> None:
        self._unwind(instr.index, blocks, depth, _Resumption("break"))

    def _continue_loop(self, instr: Instr, blocks: Blocks, depth: int) -> None:
        self._unwind(instr.index, blocks, depth, _Resumption("continue", _target(instr)))

    def _return_value(self, instr: Instr, blocks: Blocks, depth: int) -> None:
        if _UNWINDS:
            self._unwind(instr.index, blocks, depth, _Resumption("return"))


def _target(instr: Instr) -> int:
    assert instr.target is not None, instr
    return instr.target


_SPECIAL: Dict[str, Callable[[_FlowTracer, Instr, Blocks, int], None]] = {
    "POP_BLOCK": _FlowTracer._pop_block,
    "POP_EXCEPT": _FlowTracer._pop_block,
    "POP_FINALLY": _FlowTracer._pop_block,
    "END_ASYNC_FOR": _FlowTracer._pop_block,
    "BEGIN_FINALLY": _FlowTracer._begin_finally,
    "CALL_FINALLY": _FlowTracer._call_finally,
    "END_FINALLY": _FlowTracer._end_finally,
    "BREAK_LOOP": _FlowTracer._break_loop,
    "CONTINUE_LOOP": _FlowTracer._continue_loop,
    "RETURN_VALUE": _FlowTracer._return_value,
}
_SPECIAL.update((name, _FlowTracer._setup) for name in BLOCK_PUSHES)


def trace_flow(function: Function) -> Flow:
    """Follow every path through a function.

    Args:
        function: from `decode`.

    Returns:
        Successors, block stack and operand stack depth of each reachable instruction.

    Raises:
        ValueError: two paths meet with different stacks; CPython's compiler never makes such code.

    Example:
        trace_flow(decode(f.__code__)).stack_depth[0] == 0
    """
    code = function.code
    # From 3.10 on a generator starts with the sent value on its stack.
    starts_with_item = sys.version_info >= (3, 10) and code.co_flags & _GENERATOR_FLAGS
    return _FlowTracer(function).run(1 if starts_with_item else 0)
