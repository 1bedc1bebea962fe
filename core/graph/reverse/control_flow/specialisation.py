"""Specialisation: branches on sizes and arguments that decide which loops run become requirements.

Calls that do not fulfil them use the tape. Parameters of blocks with one predecessor are inlined.
"""

from __future__ import annotations

from typing import Collection, Dict, List, Set

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Op, Value
from pijit.core.graph.ops import KEEPS_TRUTH, MOVABLE
from pijit.core.graph.passes.simplify import rename
from pijit.core.graph.reverse.control_flow.reachability import reachable
from pijit.core.graph.reverse.control_flow.returns import types_returned


def specialise(graph: Graph, returning: Collection[int], headers: Collection[Block]) -> bool:
    """Replace branches on sizes and arguments by requirements; returns whether there were any.

    A branch is replaced if only one arm has loops, or if the arms return values of other types. The kept arm is the one
    that does more.

    Args:
        graph: the graph.
        returning: the exits that leave the function's result.
        headers: the headers of loops.
    """
    made = {op.result: op for block in graph.blocks for op in block.ops}
    inputs = set(graph.inputs)

    def is_known(value: Value) -> bool:
        op = made.get(value)
        known = op is not None and (op.name in MOVABLE or op.name in KEEPS_TRUTH or op.name == "dim")
        return value in inputs or known and all(map(is_known, op.args))  # type: ignore[union-attr]

    count = 0
    for block in graph.blocks:
        end = block.terminator
        if not isinstance(end, Branch) or not is_known(end.condition):
            continue
        if isinstance(end.then, Jump) and isinstance(end.other, Jump):
            then, other = (_without(arm.block, block) for arm in (end.then, end.other))
            one, rest = then - other, other - then
            if _has_loop(one, headers) == _has_loop(rest, headers) and len(types_returned(then | other, returning)) < 2:
                continue
            holds = len(one) >= len(rest)
            condition = end.condition
            if not holds:
                condition = graph.new_value(condition.type)
                block.ops.append(Op("not", [end.condition], {}, condition))
            block.ops.append(Op("require", [condition]))
            block.terminator = end.then if holds else end.other
            count += 1
    reached = reachable(graph.blocks[0])
    graph.blocks = [block for block in graph.blocks if block in reached]
    return count > 0


def _without(block: Block, other: Block) -> Set[Block]:
    """The blocks that a block leads to, without going through another one."""
    return reachable(block, other) - {other}


def _has_loop(blocks: Set[Block], headers: Collection[Block]) -> bool:
    return not blocks.isdisjoint(headers)


def inline_parameters(graph: Graph, headers: Set[Block]) -> None:
    """Replace the parameters of blocks by what the predecessors pass, if that is one value."""
    jumps: Dict[Block, List[Jump]] = {}
    for block in graph.blocks:
        for jump in block.terminator.targets():
            jumps.setdefault(jump.block, []).append(jump)
    names: Dict[Value, Value] = {}
    for block, found in jumps.items():
        if block not in headers:
            kept = []
            for place, param in enumerate(block.params):
                if len({jump.args[place] for jump in found}) == 1:
                    names[param] = found[0].args[place]
                else:
                    kept.append(place)
            block.params = [block.params[place] for place in kept]
            for jump in found:
                jump.args = tuple(jump.args[place] for place in kept)
    rename(graph, names)
