"""Control flow graph: basic blocks, reverse postorder, dominators and natural loops.

The linker, the analyses and the capturer use it. A graph never changes; `CFG.cut` makes a new one.
"""

from typing import Dict, FrozenSet, List, Optional, Tuple

from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.flow.control_flow import PROTECTING, Blocks, Flow, trace_flow


class BasicBlock:
    """A basic block: instructions that run one after the other, under one block stack.

    Attributes:
        index: position in `CFG.blocks`.
        start, end: its instructions; the end is exclusive.
        successors, predecessors: block indices, without exceptions.
        exception_successors: the block of the innermost handler, entered from any point of this one; or empty.
        exception_predecessors: blocks that the handler at the start of this one protects.
    """

    __slots__ = ("index", "start", "end", "successors", "predecessors", "exception_successors",
                 "exception_predecessors")

    def __init__(self, index: int, start: int, end: int) -> None:
        self.index = index
        self.start = start
        self.end = end
        self.successors: List[int] = []
        self.predecessors: List[int] = []
        self.exception_successors: List[int] = []
        self.exception_predecessors: List[int] = []

    def __repr__(self) -> str:
        return "<Block {}: {}..{} -> {}, on exception {}>".format(
            self.index, self.start, self.end - 1, self.successors, self.exception_successors)


class NaturalLoop:
    """A natural loop.

    Attributes:
        header: block that every iteration begins with.
        body: its blocks, the header and inner loops included.
        latches: blocks that jump back to the header.
        depth: 1 for an outermost loop.
        parent: the loop around it, or None.
    """

    __slots__ = ("header", "body", "latches", "depth", "parent")

    def __init__(self, header: int, body: FrozenSet[int], latches: Tuple[int, ...]) -> None:
        self.header = header
        self.body = body
        self.latches = latches
        self.depth = 1
        self.parent: Optional["NaturalLoop"] = None

    def __repr__(self) -> str:
        return "<Loop at block {}, body {}, depth {}>".format(self.header, sorted(self.body), self.depth)


class CFG:
    """The control flow graph of a function; it contains only reachable code.

    Attributes:
        function: the decoded function.
        blocks: in program order; block 0 is the entry.
        block_of: the block index of each instruction, or None for unreachable ones.
        rpo: block indices in reverse postorder, over normal and exceptional edges.
        idom: immediate dominator of each block over both kinds of edges; the entry's is itself. An exception
            may leave a block before its first instruction has run.
        loops: natural loops, outer ones before their inner ones.
        block_stack, stack_depth, successors: per instruction, see `flow.Flow`.
        flow: all facts per instruction.
        cuts: instructions where a block begins although only fall-through control reaches them.
    """

    __slots__ = ("function", "flow", "cuts", "blocks", "block_of", "rpo", "idom", "loops", "block_stack",
                 "stack_depth", "successors", "_rpo_position", "_loop_of")

    def __init__(self, function: Function, flow: Flow, cuts: FrozenSet[int] = frozenset()) -> None:
        self.function = function
        self.flow = flow
        self.cuts = cuts
        self.block_stack = flow.block_stack
        self.stack_depth = flow.stack_depth
        self.successors = flow.successors
        self.blocks, block_at = _split(flow, cuts)
        self.block_of = [block_at.get(i) for i in range(len(function.instructions))]
        _connect(self.blocks, block_at, flow)
        self.rpo = _reverse_postorder(self.blocks)
        self._rpo_position = {block: position for position, block in enumerate(self.rpo)}
        self.idom = self._immediate_dominators()
        self.loops = self._natural_loops()
        self._loop_of: Dict[int, NaturalLoop] = {block: loop for loop in self.loops for block in loop.body}

    def cut(self, index: int) -> "CFG":
        """The same graph, with an additional block start at an instruction."""
        return CFG(self.function, self.flow, self.cuts | {index})

    def dominates(self, above: int, below: int) -> bool:
        """Whether every path from the entry to block `below` passes block `above`."""
        position = self._rpo_position
        while position[below] > position[above]:
            below = self.idom[below]
        return above == below

    def loop_of(self, block: int) -> Optional[NaturalLoop]:
        """The innermost loop around a block, or None."""
        return self._loop_of.get(block)

    def unwinding_returns(self) -> FrozenSet[int]:
        """The returns that run finally bodies before the function ends; only CPython 3.7 has these."""
        return frozenset(instr.index for instr in self.function.instructions
                         if instr.opname == "RETURN_VALUE" and self.successors[instr.index])

    def decides_loop(self, instruction: int) -> bool:
        """Whether an instruction ends a block of a loop and one of its successors is outside that loop.

        From CPython 3.13 on the conversion to bool is an instruction before the jump."""
        instruction += self.function.instructions[instruction].opname == "TO_BOOL"
        index = self.block_of[instruction]
        loop = self.loop_of(index) if index is not None else None
        targets = self.successors[instruction] or ()
        return (loop is not None and len(targets) > 1
                and any(self.block_of[target] not in loop.body for target in targets))

    def _immediate_dominators(self) -> List[int]:
        """The algorithm of Cooper, Harvey and Kennedy: A Simple, Fast Dominance Algorithm."""
        position, blocks = self._rpo_position, self.blocks
        idom = {0: 0}
        changed = True
        while changed:
            changed = False
            for index in self.rpo[1:]:
                block = blocks[index]
                best: Optional[int] = None
                for other in block.predecessors + block.exception_predecessors:
                    if other not in idom:
                        continue
                    if best is None:
                        best = other
                        continue
                    while best != other:
                        if position[best] > position[other]:
                            best = idom[best]
                        else:
                            other = idom[other]
                # In reverse postorder at least one predecessor comes first.
                assert best is not None
                if idom.get(index) != best:
                    idom[index] = best
                    changed = True
        return [idom[index] for index in range(len(blocks))]

    def _natural_loops(self) -> List[NaturalLoop]:
        latches: Dict[int, List[int]] = {}
        for block in self.blocks:
            for successor in block.successors:
                if self.dominates(successor, block.index):
                    latches.setdefault(successor, []).append(block.index)
        loops = [NaturalLoop(header, self._loop_body(header, ends), tuple(ends)) for header, ends in latches.items()]
        # Two loops with different headers are nested or disjoint, so the larger body belongs to the outer loop.
        loops.sort(key=lambda loop: (-len(loop.body), loop.header))
        for number, loop in enumerate(loops):
            for outer in loops[:number]:
                if loop.header in outer.body:
                    loop.parent = outer
                    loop.depth = outer.depth + 1
        return loops

    def _loop_body(self, header: int, latches: List[int]) -> FrozenSet[int]:
        body = {header}
        work = list(latches)
        while work:
            index = work.pop()
            if index not in body:
                body.add(index)
                work.extend(self.blocks[index].predecessors + self.blocks[index].exception_predecessors)
        return frozenset(body)


def innermost_handler(blocks: Blocks) -> Optional[int]:
    """The instruction where an exception raised under this block stack is handled, or None."""
    for entry in reversed(blocks):
        if entry.kind in PROTECTING:
            return entry.handler
    return None


def _split(flow: Flow, cuts: FrozenSet[int]) -> Tuple[List[BasicBlock], Dict[int, int]]:
    """Blocks without edges, and the block of each instruction."""
    entered_from: Dict[int, int] = {}
    starts = {0} | cuts
    starts.update(flow.handlers)
    for i, successors in enumerate(flow.successors):
        for successor in successors or ():
            if successors != [i + 1] or successor in entered_from \
                    or flow.block_stack[i] != flow.block_stack[successor]:
                starts.add(successor)
            entered_from[successor] = i
    blocks: List[BasicBlock] = []
    block_at: Dict[int, int] = {}
    for i, successors in enumerate(flow.successors):
        if successors is None:
            continue
        if i in starts:
            blocks.append(BasicBlock(len(blocks), i, i))
        block_at[i] = len(blocks) - 1
        blocks[-1].end = i + 1
    return blocks, block_at


def _connect(blocks: List[BasicBlock], block_at: Dict[int, int], flow: Flow) -> None:
    for block in blocks:
        for successor in flow.successors[block.end - 1] or ():
            block.successors.append(block_at[successor])
            blocks[block_at[successor]].predecessors.append(block.index)
        handler = innermost_handler(flow.block_stack[block.start] or ())
        if handler is not None:
            block.exception_successors.append(block_at[handler])
            blocks[block_at[handler]].exception_predecessors.append(block.index)


def _reverse_postorder(blocks: List[BasicBlock]) -> List[int]:
    postorder: List[int] = []
    visited = {0}
    path = [(0, iter(blocks[0].successors + blocks[0].exception_successors))]
    while path:
        index, successors = path[-1]
        for successor in successors:
            if successor not in visited:
                visited.add(successor)
                block = blocks[successor]
                path.append((successor, iter(block.successors + block.exception_successors)))
                break
        else:
            postorder.append(index)
            path.pop()
    return postorder[::-1]


def build_cfg(function: Function) -> CFG:
    """The control flow graph of a function.

    Args:
        function: from `decode`.

    Returns:
        Blocks with normal and exceptional edges, order, dominators, loops; the block stack and the operand stack depth
        of each instruction.

    Raises:
        ValueError: paths meet with different stacks; CPython's compiler never makes such code.

    Example:
        [loop.depth for loop in build_cfg(decode(f.__code__)).loops]
    """
    return CFG(function, trace_flow(function))
