"""Structured control flow: a graph as a tree of ``if``/``else`` and ``while True`` loops.

The tree follows the dominator tree, as in Ramsey's "Beyond Relooper" (2022). A block with several forward edges is
placed after the tree of its immediate dominator; the targets of a loop's exits are placed after the loop. Python cannot
break out of two loops at once. So such a jump sets a small integer and breaks; a test after each loop continues it.
The emitters call `structure`; ownership.py uses `GraphFlow`. Irreducible control flow raises CompileError.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Set, Tuple, cast

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Leave, SideExit, Value
from pijit.core.kernel.errors import CompileError


class StraightLine:
    """The operations of one block."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.block = block


class Move:
    """Assign a jump's arguments to the parameters of its target."""

    __slots__ = ("jump",)

    def __init__(self, jump: Jump) -> None:
        self.jump = jump


class Goto:
    """Assign the parameters and go to a placed block; exists only before resolution."""

    __slots__ = ("jump",)

    def __init__(self, jump: Jump) -> None:
        self.jump = jump


class Take:
    """Leave the kernel by an exit."""

    __slots__ = ("exit",)

    def __init__(self, exit: SideExit) -> None:
        self.exit = exit


class If:
    """``if condition: then else: other``."""

    __slots__ = ("condition", "then", "other")

    def __init__(self, condition: Value, then: List[Any], other: List[Any]) -> None:
        self.condition = condition
        self.then = then
        self.other = other


class LoopNode:
    """``while True: body``. Before resolution ``label`` is the header block; None: runs once, for ``break``."""

    __slots__ = ("label", "body")

    def __init__(self, label: Optional[Block], body: List[Any]) -> None:
        self.label = label
        self.body = body


class TreeScope:
    """``body``, after which block ``label`` follows; jumps to it come here. Exists only before resolution."""

    __slots__ = ("label", "body")

    def __init__(self, label: Block, body: List[Any]) -> None:
        self.label = label
        self.body = body


class BreakNode:
    __slots__ = ()


class ContinueNode:
    __slots__ = ()


class SetFlag:
    """``flag = number``; 0 means that no jump is pending."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class IfFlag:
    """``if flag == number: body``."""

    __slots__ = ("number", "body")

    def __init__(self, number: int, body: List[Any]) -> None:
        self.number = number
        self.body = body


class GraphFlow:
    """Order, dominators and loops of a graph's blocks.

    ``order`` is a reverse postorder, ``position`` its inverse, ``idom`` the immediate dominators. ``loops`` maps each
    loop header to the blocks of its loop. ``joins`` counts the forward edges into each block.
    """

    def __init__(self, graph: Graph) -> None:
        self.order = _reverse_postorder(graph.blocks[0])
        self.position = {block: number for number, block in enumerate(self.order)}
        self.edges: Dict[Block, List[Block]] = {block: [] for block in self.order}
        for block in self.order:
            for jump in block.terminator.targets():
                self.edges[jump.block].append(block)
        self.idom = self._immediate_dominators()
        self.loops: Dict[Block, Set[Block]] = {}
        self.joins: Dict[Block, int] = {}
        for block in self.order:
            self._visit_edges_into(block)

    def dominates(self, over: Block, under: Block) -> bool:
        while self.position[under] > self.position[over]:
            under = self.idom[under]
        return under is over

    def loops_around(self, block: Block) -> List[Block]:
        """The headers of the loops that ``block`` is in, outermost first."""
        return [header for header in self.order if block in self.loops.get(header, ())]

    def _immediate_dominators(self) -> Dict[Block, Block]:
        position, entry = self.position, self.order[0]
        idom = {entry: entry}
        changed = True
        while changed:
            changed = False
            for block in self.order[1:]:
                new: Optional[Block] = None
                for before in self.edges[block]:
                    if before not in idom:
                        continue
                    other = before
                    while new is not None and new is not other:
                        if position[new] > position[other]:
                            new = idom[new]
                        else:
                            other = idom[other]
                    new = other
                if idom.get(block) is not new:
                    idom[block], changed = cast(Block, new), True
        return idom

    def _visit_edges_into(self, block: Block) -> None:
        self.joins[block] = 0
        for before in self.edges[block]:
            if self.position[before] < self.position[block]:
                self.joins[block] += 1
                continue
            if not self.dominates(block, before):
                raise CompileError("irreducible control flow: a jump into the loop at b%d passes its header"
                                   % block.index)
            body = self.loops.setdefault(block, {block})
            todo = [before]
            while todo:
                member = todo.pop()
                if member not in body:
                    body.add(member)
                    todo.extend(self.edges[member])


def _reverse_postorder(entry: Block) -> List[Block]:
    visited, order = {entry}, []
    stack = [(entry, iter(reversed(entry.terminator.targets())))]
    while stack:
        block, targets = stack[-1]
        for jump in targets:
            if jump.block not in visited:
                visited.add(jump.block)
                stack.append((jump.block, iter(reversed(jump.block.terminator.targets()))))
                break
        else:
            stack.pop()
            order.append(block)
    order.reverse()
    return order


class _Placer:
    """Builds the tree, with Scope and Goto nodes."""

    def __init__(self, flow: GraphFlow) -> None:
        self.flow = flow
        self.after: Dict[Block, List[Block]] = {}
        self.within: Dict[Block, List[Block]] = {}
        self.inline: Set[Block] = set()
        for block in flow.order[1:]:
            self._place(block)

    def _place(self, block: Block) -> None:
        flow, parent = self.flow, self.flow.idom[block]
        left = [header for header in flow.loops_around(parent) if block not in flow.loops[header]]
        single = flow.joins[block] < 2
        if left and not (single and isinstance(block.terminator, Leave)):
            self.after.setdefault(left[0], []).append(block)
        elif single:
            self.inline.add(block)
        else:
            self.within.setdefault(parent, []).append(block)

    def tree(self, block: Block) -> List[Any]:
        """The statements of the dominator subtree of ``block``."""
        nodes: List[Any] = []
        while True:
            if block in self.flow.loops:
                loop = [LoopNode(block, self._followed(self._body(block), self.within.get(block, ())))]
                return nodes + self._followed(loop, self.after.get(block, ()))
            followers = self.within.get(block, ())
            jump = block.terminator
            if not followers and isinstance(jump, Jump) and self._is_inline(block, jump.block):
                nodes += [StraightLine(block), Move(jump)]
                block = jump.block
                continue
            return nodes + self._followed(self._body(block), followers)

    def _followed(self, nodes: List[Any], followers: Any) -> List[Any]:
        for follower in followers:
            nodes = [TreeScope(follower, nodes)] + self.tree(follower)
        return nodes

    def _body(self, block: Block) -> List[Any]:
        terminator = block.terminator
        if isinstance(terminator, Branch):
            return [StraightLine(block), If(terminator.condition, self._arm(block, terminator.then),
                                            self._arm(block, terminator.other))]
        return [StraightLine(block)] + self._arm(block, terminator.exit if isinstance(terminator, Leave)
                                                 else terminator)

    def _is_inline(self, block: Block, target: Block) -> bool:
        """Whether this edge is the only forward edge into a block that no scope places."""
        return target in self.inline and self.flow.position[target] > self.flow.position[block]

    def _arm(self, block: Block, arm: Any) -> List[Any]:
        if isinstance(arm, SideExit):
            return [Take(arm)]
        if self._is_inline(block, arm.block):
            return [Move(arm)] + self.tree(arm.block)
        return [Goto(arm)]


class _NeedsLoop(Exception):
    """A forward jump to this block is not at the end of its scope. So the scope must be a loop to break from."""


class _Frame:
    """A Python loop around the current position: the targets of ``continue`` and ``break``, and jumps that leave more
    than this loop."""

    __slots__ = ("start", "end", "passing")

    def __init__(self, start: Optional[Block], end: Optional[Block]) -> None:
        self.start = start
        self.end = end
        self.passing: List[Block] = []


class _Resolver:
    """Replaces Scope and Goto by fall-through, break, continue and flags."""

    def __init__(self) -> None:
        self.wrapped: Set[Block] = set()

    def resolve(self, tree: List[Any]) -> List[Any]:
        while True:
            try:
                return self._nodes(tree, None, ())
            except _NeedsLoop as need:
                self.wrapped.add(need.args[0])

    def _nodes(self, nodes: List[Any], follow: Optional[Block], frames: Tuple[_Frame, ...]) -> List[Any]:
        out: List[Any] = []
        for node in nodes:
            if isinstance(node, Goto):
                out.append(Move(node.jump))
                out += self._goto(node.jump.block, follow, frames)
            elif isinstance(node, If):
                out.append(If(node.condition, self._nodes(node.then, follow, frames),
                              self._nodes(node.other, follow, frames)))
            elif isinstance(node, LoopNode):
                out += self._loop(node.body, _Frame(node.label, follow), follow, frames)
            elif isinstance(node, TreeScope) and node.label in self.wrapped:
                out += self._loop(node.body, _Frame(None, node.label), node.label, frames)
            elif isinstance(node, TreeScope):
                out += self._nodes(node.body, node.label, frames)
            else:
                out.append(node)
        return out

    def _loop(self, body: List[Any], frame: _Frame, follow: Optional[Block],
              frames: Tuple[_Frame, ...]) -> List[Any]:
        loop = LoopNode(frame.start, self._nodes(body, frame.start, frames + (frame,)))
        if not frame.passing:
            return [loop]
        out: List[Any] = [SetFlag(0), loop]
        for target in frame.passing:
            landing = self._goto(target, follow, frames)
            if landing:
                out.append(IfFlag(target.index, landing))
        return out

    def _goto(self, target: Block, follow: Optional[Block], frames: Tuple[_Frame, ...]) -> List[Any]:
        if target is follow:
            return []
        for depth in range(len(frames) - 1, -1, -1):
            frame = frames[depth]
            if target is not frame.start and target is not frame.end:
                continue
            inner = frames[depth + 1:]
            for passed in inner:
                if target not in passed.passing:
                    passed.passing.append(target)
            if inner:
                return [SetFlag(target.index), BreakNode()]
            return [ContinueNode() if target is frame.start else BreakNode()]
        raise _NeedsLoop(target)


def structure(graph: Graph) -> List[Any]:
    """The statements of ``graph`` as a tree of StraightLine, Move, Take, If, LoopNode, BreakNode, ContinueNode, SetFlag
    and IfFlag.

    Raises :class:`CompileError` when the control flow is irreducible.
    """
    return tree_of(GraphFlow(graph))


def tree_of(flow: GraphFlow) -> List[Any]:
    """As `structure`, for a graph whose order and dominators are known."""
    return _Resolver().resolve(_Placer(flow).tree(flow.order[0]))


def blocks_of(tree: List[Any]) -> Iterator[Block]:
    """The blocks of a resolved tree, in the order in which they are written; each follows those that dominate it."""
    for node in tree:
        if isinstance(node, StraightLine):
            yield node.block
        elif isinstance(node, If):
            for arm in arms(node)[1:]:
                yield from blocks_of(arm)
        elif isinstance(node, (LoopNode, IfFlag)):
            yield from blocks_of(node.body)


def arms(node: If) -> Tuple[bool, List[Any], List[Any]]:
    """(whether the condition is negated, the arm that is written first, the other one).

    The arm that never completes comes first, so that the other one needs no indentation.
    """
    then, other = node.then, node.other
    if completes(then) and (not completes(other) or not then):
        return True, other, then
    return False, then, other


def completes(nodes: List[Any]) -> bool:
    """Whether control can reach the end of these statements."""
    if not nodes:
        return True
    last = nodes[-1]
    if isinstance(last, If):
        return completes(last.then) or completes(last.other)
    if isinstance(last, LoopNode):
        return _breaks(last.body)
    return not isinstance(last, (Take, BreakNode, ContinueNode))


def _breaks(nodes: List[Any]) -> bool:
    """Whether these statements break out of the loop they are directly in."""
    for node in nodes:
        if isinstance(node, BreakNode):
            return True
        if isinstance(node, If) and (_breaks(node.then) or _breaks(node.other)):
            return True
        if isinstance(node, IfFlag) and _breaks(node.body):
            return True
    return False


def format_tree(nodes: List[Any], indent: str = "") -> str:
    """The statements as text, one line each, for tests and dumps."""
    return "\n".join(_lines(nodes, indent))


def _lines(nodes: List[Any], indent: str) -> List[str]:
    deeper, lines = indent + "    ", []
    for node in nodes:
        if isinstance(node, StraightLine):
            lines.append("%sb%d" % (indent, node.block.index))
        elif isinstance(node, Move):
            if node.jump.args:
                lines.append("%smove b%d(%s)" % (indent, node.jump.block.index,
                                                 ", ".join(map(repr, node.jump.args))))
        elif isinstance(node, Take):
            lines.append("%sleave exit%d" % (indent, node.exit.exit))
        elif isinstance(node, If):
            lines += ["%sif %r:" % (indent, node.condition)] + (_lines(node.then, deeper)
                                                                or [deeper + "pass"])
            if node.other:
                lines += ["%selse:" % indent] + (_lines(node.other, deeper) or [deeper + "pass"])
        elif isinstance(node, LoopNode):
            lines += ["%swhile True:" % indent] + _lines(node.body, deeper)
        elif isinstance(node, SetFlag):
            lines.append("%sflag = %d" % (indent, node.number))
        elif isinstance(node, IfFlag):
            lines += ["%sif flag == %d:" % (indent, node.number)] + _lines(node.body, deeper)
        else:
            lines.append(indent + ("break" if isinstance(node, BreakNode) else "continue"))
    return lines
