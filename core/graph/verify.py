"""IR verifier: executable invariants of graphs, and dominators.

It runs after building and after each pass in strict mode, and always in tests. It never changes a graph.
"""

from __future__ import annotations

from typing import Any, Dict, List, Set

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Leave, SideExit, Value
from pijit.core.graph.ops import OPS
from pijit.core.graph.printer import format_graph, format_op
from pijit.core.graph.types import FLAG, Array, IteratorType, Object, Scalar, Type


class InvalidGraph(Exception):
    """A graph breaks an invariant; the message has the invariant and the graph's text."""


def why_invalid(graph: Graph) -> Any:
    """The first broken invariant as a sentence, or None."""
    if not graph.blocks or graph.blocks[0].params != graph.inputs:
        return "the entry block's parameters are not the graph's inputs"
    defined_in = _definitions(graph)
    if isinstance(defined_in, str):
        return defined_in
    over = dominators(graph)
    for block in graph.blocks:
        if block not in over:
            return "block b%d is unreachable" % block.index
        reason = _why_block_invalid(graph, block, defined_in, over)
        if reason:
            return "b%d: %s" % (block.index, reason)
    return None


def verify(graph: Graph) -> Graph:
    """Return ``graph``; raise :class:`InvalidGraph` if it breaks an invariant."""
    reason = why_invalid(graph)
    if reason:
        raise InvalidGraph("%s\n%s" % (reason, format_graph(graph)))
    return graph


def _definitions(graph: Graph) -> Any:
    where: Dict[Value, Block] = {}
    for block in graph.blocks:
        for value in block.params + [op.result for op in block.ops if op.result is not None]:
            if value in where:
                return "%r is defined twice" % value
            where[value] = block
    return where


def dominators(graph: Graph) -> Dict[Block, Set[Block]]:
    """The dominators of each block that is reachable."""
    entry = graph.blocks[0]
    predecessors: Dict[Block, List[Block]] = {}
    order, todo = [], [entry]
    while todo:
        block = todo.pop()
        if block in order:
            continue
        order.append(block)
        for jump in block.terminator.targets() if block.terminator else []:
            predecessors.setdefault(jump.block, []).append(block)
            todo.append(jump.block)
    over = {block: set(order) for block in order}
    over[entry] = {entry}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            new = set.intersection(*(over[p] for p in predecessors[block])) | {block}
            if new != over[block]:
                over[block], changed = new, True
    return over


def _why_block_invalid(graph: Graph, block: Block, defined_in: Dict[Value, Block],
                       dominators: Dict[Block, Set[Block]]) -> Any:
    defined = set(block.params)

    def visible(value: Value) -> bool:
        where = defined_in.get(value)
        return value in defined or (where is not None and where is not block and where in dominators[block])

    for op in block.ops:
        reason = _why_op_invalid(graph, op, visible)
        if reason:
            return "%s: %s" % (format_op(op), reason)
        if op.result is not None:
            defined.add(op.result)
    return _why_terminator_invalid(graph, block.terminator, visible)


def _why_op_invalid(graph: Graph, op: Any, visible: Any) -> Any:
    info = OPS.get(op.name)
    if info is None:
        return "no such operation"
    for value in op.args:
        if not visible(value):
            return "%r is used where it is not defined" % value
    missing = [name for name in info.attrs if name not in op.attrs]
    if missing:
        return "attribute %s is missing" % missing[0]
    if info.operands.startswith("a") and not (op.args and isinstance(op.args[0].type, Array)):
        return "the first operand must be an array"
    if info.operands.startswith("o") and not (op.args and isinstance(op.args[0].type, Object)):
        return "the first operand must be an object"
    if info.operands.startswith("i") and not (op.args and isinstance(op.args[0].type, IteratorType)):
        return "the first operand must be an iterator"
    if info.operands in ("ss", "s") and not all(isinstance(v.type, Scalar) for v in op.args):
        return "operands must be scalars"
    if info.operands == "ss" and op.args[0].type != op.args[1].type:
        return "operands differ in type: %r, %r" % (op.args[0].type, op.args[1].type)
    return _why_exit_invalid(graph, op.exit, visible) if op.exit is not None else None


def _why_exit_invalid(graph: Graph, exit: SideExit, visible: Any) -> Any:
    if not 0 <= exit.exit < len(graph.exits):
        return "exit %d does not exist" % exit.exit
    if len(exit.outputs) != graph.exits[exit.exit].slots:
        return "exit %d needs %d values, got %d" % (exit.exit, graph.exits[exit.exit].slots, len(exit.outputs))
    for value in exit.values():
        if not visible(value):
            return "%r leaves where it is not defined" % value
    return None


def _why_terminator_invalid(graph: Graph, terminator: Any, visible: Any) -> Any:
    if terminator is None:
        return "no terminator"
    if isinstance(terminator, Branch) and terminator.condition.type != FLAG:
        return "the condition is not a FLAG"
    arms = [terminator.exit] if isinstance(terminator, Leave) else (
        [terminator.then, terminator.other] if isinstance(terminator, Branch) else [terminator])
    for value in terminator.values():
        if not visible(value):
            return "%r is used where it is not defined" % value
    for arm in arms:
        if isinstance(arm, SideExit):
            reason = _why_exit_invalid(graph, arm, visible)
            if reason:
                return reason
        elif isinstance(arm, Jump):
            if arm.block is graph.blocks[0]:
                return "a jump to the entry block"
            if len(arm.args) != len(arm.block.params) or not all(
                    _fits(given.type, wanted.type) for given, wanted in zip(arm.args, arm.block.params)):
                return "arguments of the jump to b%d do not fit its parameters" % arm.block.index
    return None


def _fits(given: Type, wanted: Type) -> bool:
    """Whether the types are the same, or the wanted array type covers the given one."""
    if isinstance(given, Array) and isinstance(wanted, Array):
        return wanted.join(given) == wanted
    return given == wanted
