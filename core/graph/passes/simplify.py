"""Dead code elimination: remove block parameters with one value, unused values and unused inputs.

Before::

    b1(%4: py.int64, %5: py.float64):        b1(%4: py.int64):
        %6 = add %4, %1                          %6 = add %4, %1
        jump b1(%6, %5)                          jump b1(%6)

An operation that may leave the graph is never removed, because it stands for an exception or a warning. The first pass.
"""

from __future__ import annotations

from typing import Any, Dict, List, Set

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Leave, Op, Output, SideExit, Value
from pijit.core.graph.ops import EFFECTS
from pijit.core.graph.passes.fold_identity_tests import decide_identities


def simplify(graph: Graph) -> List[int]:
    """Simplify in place; returns the numbers of the inputs that were kept, in order."""
    _drop_unreachable(graph)
    _merge_parameters(graph)
    if decide_identities(graph):
        _drop_unreachable(graph)
        _merge_parameters(graph)
    _drop_dead(graph)
    return _drop_inputs(graph)


def rename(graph: Graph, names: Dict[Value, Value]) -> None:
    """Replace every use of a key of ``names``."""
    def new(value: Value) -> Value:
        return _now(value, names)

    def leave(exit: SideExit) -> SideExit:
        return SideExit(exit.exit, [output.map(new) for output in exit.outputs])

    def arm(target: Any) -> Any:
        return leave(target) if isinstance(target, SideExit) else Jump(target.block, [new(v) for v in target.args])

    for block in graph.blocks:
        for op in block.ops:
            op.args = tuple(new(value) for value in op.args)
            op.exit = leave(op.exit) if op.exit is not None else None
        last = block.terminator
        if isinstance(last, Leave):
            block.terminator = Leave(leave(last.exit))
        elif isinstance(last, Branch):
            block.terminator = Branch(new(last.condition), arm(last.then), arm(last.other))
        else:
            block.terminator = arm(last)


def _now(value: Value, names: Dict[Value, Value]) -> Value:
    """The name of a value after all renaming."""
    while value in names:
        value = names[value]
    return value


def _drop_unreachable(graph: Graph) -> None:
    visited: List[Block] = []
    todo = [graph.blocks[0]]
    while todo:
        block = todo.pop()
        if block not in visited:
            visited.append(block)
            todo += [jump.block for jump in block.terminator.targets()]
    graph.blocks = [block for block in graph.blocks if block in visited]
    for number, block in enumerate(graph.blocks):
        block.index = number


def _merge_parameters(graph: Graph) -> None:
    """Drop parameters that always get one value, or themselves."""
    incoming: Dict[Block, List[Jump]] = {}
    for block in graph.blocks:
        for jump in block.terminator.targets():
            incoming.setdefault(jump.block, []).append(jump)
    names: Dict[Value, Value] = {}
    before = -1
    while before < len(names):
        before = len(names)
        for block, jumps in incoming.items():
            for position in reversed(range(len(block.params))):
                parameter = block.params[position]
                given = {_now(jump.args[position], names) for jump in jumps} - {parameter}
                if len(given) == 1 and next(iter(given)).type == parameter.type:
                    names[parameter] = given.pop()
                    del block.params[position]
                    for jump in jumps:
                        jump.args = jump.args[:position] + jump.args[position + 1:]
    if names:
        rename(graph, names)


def _used(graph: Graph) -> Set[Value]:
    """Values that effects, exits and terminators need, directly or through other operations."""
    made: Dict[Value, Op] = {op.result: op for block in graph.blocks for op in block.ops if op.result is not None}
    parameters: Dict[Value, List[Value]] = {}
    todo: List[Value] = []
    for block in graph.blocks:
        for op in block.ops:
            if op.exit is not None or op.name in EFFECTS:
                todo += op.args
                todo += op.exit.values() if op.exit is not None else []
        last = block.terminator
        if isinstance(last, Branch):
            todo.append(last.condition)
        for arm in ([last.exit] if isinstance(last, Leave) else
                    [last.then, last.other] if isinstance(last, Branch) else [last]):
            if isinstance(arm, SideExit):
                todo += arm.values()
            else:
                for parameter, value in zip(arm.block.params, arm.args):
                    parameters.setdefault(parameter, []).append(value)
    used: Set[Value] = set()
    while todo:
        value = todo.pop()
        if value in used:
            continue
        used.add(value)
        todo += parameters.get(value, ())
        if value in made:
            todo += made[value].args
    return used


def _drop_dead(graph: Graph) -> None:
    used = _used(graph)
    positions: Dict[Block, List[int]] = {}
    for block in graph.blocks:
        block.ops = [op for op in block.ops if op.exit is not None or op.name in EFFECTS or op.result in used]
        if block is not graph.blocks[0]:
            positions[block] = [k for k, parameter in enumerate(block.params) if parameter in used]
    for block in graph.blocks:
        for jump in block.terminator.targets():
            jump.args = tuple(jump.args[k] for k in positions[jump.block])
    for block, kept in positions.items():
        block.params = [block.params[k] for k in kept]


def _drop_inputs(graph: Graph) -> List[int]:
    """Inputs that leave unchanged are returned by identity; unused inputs are dropped."""
    number = {value: k for k, value in enumerate(graph.inputs)}

    def identity(output: Output) -> Output:
        if output.kind == "value" and output.value in number:
            return Output("input", number[output.value])
        return output.with_parts([identity(part) for part in output.parts]) if output.parts else output

    _map_outputs(graph, identity)
    needed = {number[v] for v in _used(graph) if v in number}
    for output in _outputs(graph):
        needed |= set(_input_numbers(output))
    kept = sorted(needed)
    position = {old: new for new, old in enumerate(kept)}
    _map_outputs(graph, lambda output: _renumber(output, position))
    graph.inputs[:] = [graph.inputs[k] for k in kept]
    return kept


def _input_numbers(output: Output) -> List[int]:
    own = [output.value] if output.kind in ("input", "advance") else []
    return own + [number for part in output.parts for number in _input_numbers(part)]


def _renumber(output: Output, position: Dict[int, int]) -> Output:
    if output.kind in ("input", "advance"):
        return Output(output.kind, position[output.value], (), output.words)
    return output.with_parts([_renumber(part, position) for part in output.parts]) if output.parts else output


def side_exits(graph: Graph) -> List[SideExit]:
    found = [op.exit for block in graph.blocks for op in block.ops if op.exit is not None]
    for block in graph.blocks:
        last = block.terminator
        arms = [last.exit] if isinstance(last, Leave) else [last.then, last.other] if isinstance(last, Branch) else []
        found += [arm for arm in arms if isinstance(arm, SideExit)]
    return found


def _outputs(graph: Graph) -> List[Output]:
    return [output for exit in side_exits(graph) for output in exit.outputs]


def _map_outputs(graph: Graph, change: Any) -> None:
    for exit in side_exits(graph):
        exit.outputs = tuple(change(output) for output in exit.outputs)
