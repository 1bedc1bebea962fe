"""Lets operations leave where an earlier one would, so that arrays of an earlier statement need not be there for them.

Before, for ``d = x - y`` and ``r = (d ** 2).sum(axis=1) + 0.5``::

    %2: float64[2d,C] = ufunc %0, %1 {ufunc=subtract}  else exit0()
    %3: float64[2d,C] = ufunc %2 {ufunc=square}  else exit1(%2)
    %4: float64[1d,C] = reduce %3 {ufunc=add}  else exit1(%2)
    %6: float64[1d,C] = ufunc %4, %5 {ufunc=add}  else exit1(%2)

After, all leave by ``exit0()``: %2 is an inner result of a group (fusion.py), and is never made. Where nothing has an
effect between two operations, repeating the first statement as well is the same. That is done for those arrays alone
that become inner results by it: what another one was made of would be kept for nothing.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Set

from pijit.core.graph.ir import Block, Graph, Op, SideExit, Value
from pijit.core.graph.passes.fusion import (
    count_effects,
    effect_between,
    find_groups,
    looks_at_elements,
    scalar_operation,
)


class Retreat(NamedTuple):
    """The operation that makes an array, those that would hand it on where they leave, and those that need it."""

    maker: Op
    leaving: List[Op]
    users: List[Op]


def retreat(graph: Graph) -> None:
    """Change the exits; in place."""
    chosen = candidates(graph, graph.blocks)
    before: Dict[Op, Optional[SideExit]] = {op: op.exit for one in chosen for op in one.leaving}
    while chosen:
        for one in chosen:
            for op in one.leaving:
                op.exit = one.maker.exit
        groups = find_groups(graph)
        inner = {op for last, group in groups.items() for op in group if op is not last}
        kept = [one for one in chosen if one.maker in inner]
        if len(kept) == len(chosen):
            return
        for op, exit in before.items():
            op.exit = exit
        chosen = kept


def candidates(graph: Graph, blocks: List[Block], alone: bool = False) -> List[Retreat]:
    """Those of blocks, in the order of operations: an earlier one's exit may be that of a still earlier one.

    If ``alone``, also arrays that are only handed on in their own statement.
    """
    args: Dict[Value, List[Op]] = {}
    exits: Dict[Value, List[Op]] = {}
    others: Set[Value] = set()
    for block in graph.blocks:
        for op in block.ops:
            for value in set(op.args):
                args.setdefault(value, []).append(op)
            for value in set(op.exit.values()) if op.exit is not None else ():
                exits.setdefault(value, []).append(op)
        others.update(block.terminator.values())
        for jump in block.terminator.targets():
            others.update(jump.args)
    found = []
    for block in blocks:
        makers = [op for op in block.ops if scalar_operation(op) and op.name in ("ufunc", "where")]
        if not makers:
            continue
        position, effects = {op: number for number, op in enumerate(block.ops)}, count_effects(block)
        for op in makers:
            leaving, users = exits.get(op.result, []), args.get(op.result, [])  # type: ignore[arg-type]
            if op.result not in others and (leaving or alone) and all(map(looks_at_elements, users)) and all(
                    _is_near(effects, position, op, one) for one in leaving + users):
                found.append(Retreat(op, leaving, users))
    return found


def _is_near(effects: List[int], position: Dict[Op, int], op: Op, later: Op) -> bool:
    """Whether nothing between two operations has an effect."""
    return later in position and not effect_between(effects, position[op], position[later])
