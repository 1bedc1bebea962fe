"""Base class of both emitters: indented lines, the walk over the control tree, and parallel moves.

The numba emitter and the Python emitter derive from `Emitter`. It writes control flow; they write operations. It must
not know an operation.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence, Set, Tuple

from pijit.core.graph.ir import Graph, Jump, Op, SideExit, Value
from pijit.core.kernel.abi import FrameLayout
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.exit_causes import Causes
from pijit.core.kernel.plan import control_tree
from pijit.core.kernel.plan.operands import Name

FLAG_NAME = "_jump"


def sequential(pairs: Sequence[Tuple[Expression, Expression]],
               fresh: Callable[[], Expression]) -> List[Tuple[Expression, Expression]]:
    """Order assignments so that they have the effect of one simultaneous assignment.

    ``pairs`` are (target variable, source). Sources that are variables are compared by name; others are constants.
    ``fresh()`` names a new variable, which breaks a cycle.
    """
    waiting = [(target, source) for target, source in pairs if target != source]
    ordered: List[Tuple[Expression, Expression]] = []
    while waiting:
        sources = {source for _, source in waiting}
        ready = [pair for pair in waiting if pair[0] not in sources]
        if ready:
            ordered += ready
            waiting = [pair for pair in waiting if pair[0] in sources]
            continue
        saved, name = waiting[0][0], fresh()
        ordered.append((name, saved))
        waiting = [(target, name if source == saved else source) for target, source in waiting]
    return ordered


class Emitter:
    """Writes the body of one function from a graph.

    A back end implements ``operation``, ``condition``, ``moves`` and ``take``. ``used`` are the values that an
    operation or a jump names. ``leaving`` are the operations that may cause the next exit. ``together`` are the
    operations that are written at once.
    """

    def __init__(self, graph: Graph, layout: FrameLayout, used: Set[Value]) -> None:
        self.graph = graph
        self.layout = layout
        self.used = used
        self.lines: List[str] = []
        self.depth = 1
        self.leaving: Sequence[Op] = ()
        self.together: Sequence[Op] = ()
        self.causes = Causes()
        self._fresh = 0

    # ---- for back ends ----

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self) -> Name:
        """A variable that nothing else uses."""
        self._fresh += 1
        return Name("t%d" % self._fresh)

    def operation(self, op: Op) -> None:
        raise NotImplementedError

    def condition(self, value: Value) -> Expression:
        raise NotImplementedError

    def moves(self, jump: Jump) -> Sequence[Tuple[Expression, Expression]]:
        """(variable, source) for each parameter of the target that something uses."""
        raise NotImplementedError

    def take(self, exit: SideExit) -> None:
        """Write the statements that leave the function through an exit."""
        raise NotImplementedError

    def take_because(self, ops: Sequence[Op], exit: SideExit) -> None:
        """Leave through an exit because of one of these operations."""
        before, self.leaving = self.leaving, self.together if ops[0] in self.together else ops
        self.take(exit)
        self.leaving = before

    def answer(self, number: int) -> int:
        """The value that the function returns at a kernel exit: the exit's number and that of the cause."""
        return self.causes.answer(number, self.leaving)

    def before_jump(self, jump: Jump) -> None:
        """Write the code that must run before the parameters of the jump's target change."""

    # ---- the walk ----

    def body(self) -> None:
        self.nodes(control_tree.structure(self.graph))

    def nodes(self, nodes: List[Any]) -> None:
        for node in nodes:
            self._WRITERS[type(node)](self, node)

    def start_block(self) -> None:
        """Called before a block's operations are written."""

    def operations(self, ops: List[Op]) -> None:
        for op in ops:
            self.operation(op)

    def _run(self, node: control_tree.StraightLine) -> None:
        self.start_block()
        self.operations(node.block.ops)

    def _move(self, node: control_tree.Move) -> None:
        self.before_jump(node.jump)
        for target, source in sequential(self.moves(node.jump), self.fresh):
            self.line("%s = %s" % (target, source))

    def _take(self, node: control_tree.Take) -> None:
        self.take(node.exit)

    def _if(self, node: control_tree.If) -> None:
        negated, then, other = control_tree.arms(node)
        condition = self.condition(node.condition)
        self._indented("if not %s:" % condition if negated else "if %s:" % condition, then)
        if not control_tree.completes(then):
            self.nodes(other)
        elif other:
            self._indented("else:", other)

    def loop(self, node: control_tree.LoopNode) -> None:
        """Write a loop; a back end may write it in another way."""
        self.write_loop(node)

    def write_loop(self, node: control_tree.LoopNode) -> None:
        self._indented("while True:", node.body)

    def _if_flag(self, node: control_tree.IfFlag) -> None:
        self._indented("if %s == %d:" % (FLAG_NAME, node.number), node.body)

    def _indented(self, head: str, nodes: List[Any]) -> None:
        self.line(head)
        start = len(self.lines)
        self.depth += 1
        self.nodes(nodes)
        if len(self.lines) == start:
            self.line("pass")
        self.depth -= 1

    _WRITERS: Dict[type, Any] = {
        control_tree.StraightLine: _run, control_tree.Move: _move, control_tree.Take: _take, control_tree.If: _if,
        control_tree.LoopNode: lambda self, node: self.loop(node), control_tree.IfFlag: _if_flag,
        control_tree.BreakNode: lambda self, node: self.line("break"),
        control_tree.ContinueNode: lambda self, node: self.line("continue"),
        control_tree.SetFlag: lambda self, node: self.line("%s = %d" % (FLAG_NAME, node.number)),
    }
