"""Side exit hoisting: leave at an earlier resume point, so intermediate arrays need not exist.

Before, for ``d = x - y`` and ``r = (d ** 2).sum(axis=1) + 0.5``::

    %2: float64[2d,C] = ufunc %0, %1 {ufunc=subtract}  else exit0()
    %3: float64[2d,C] = ufunc %2 {ufunc=square}  else exit1(%2)
    %4: float64[1d,C] = reduce %3 {ufunc=add}  else exit1(%2)
    %6: float64[1d,C] = ufunc %4, %5 {ufunc=add}  else exit1(%2)

After, all leave by ``exit0()``. So %2 is an inner result of a group (fusion.py) and is never stored. If no operation
between two others has an effect, repeating the first statement as well gives the same result. Only exits that name an
array which becomes an inner result are hoisted. For other arrays, the operands would be kept alive without a gain.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Set

from pijit.core.graph.ir import Block, Graph, Op, SideExit, Value
from pijit.core.graph.ops import ELEMENTWISE
from pijit.core.graph.passes.fusion import (
    count_effects,
    effect_between,
    find_groups,
    looks_at_elements,
    scalar_operation,
)
from pijit.core.named_tuples import NamedTuple


class ExitHoisting(NamedTuple):
    """The operation that makes an array, the operations whose exits name it, and its users."""

    maker: Op
    leaving: List[Op]
    users: List[Op]


class Uses(NamedTuple):
    """The uses of values in a graph.

    Attributes:
        args: the operations with a value among their operands.
        exits: the operations with a value in their side exit.
        others: the values of terminators and jumps.
    """

    args: Dict[Value, List[Op]]
    exits: Dict[Value, List[Op]]
    others: Set[Value]


def uses_of(graph: Graph) -> Uses:
    """Find the uses of all values."""
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
    return Uses(args, exits, others)


def hoist_exits(graph: Graph) -> None:
    """Hoist the exits in place."""
    uses = uses_of(graph)
    chosen = [one for block in graph.blocks for one in candidates(block, uses)]
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


def candidates(block: Block, uses: Uses, alone: bool = False) -> List[ExitHoisting]:
    """The candidates of a block, in the order of operations; an earlier one may already have a hoisted exit.

    If ``alone``, also arrays that only their own statement uses.
    """
    makers = [op for op in block.ops if op.name in ELEMENTWISE and scalar_operation(op)]
    if not makers:
        return []
    found = []
    position, effects = {op: number for number, op in enumerate(block.ops)}, count_effects(block)
    for op in makers:
        leaving, users = uses.exits.get(op.result, []), uses.args.get(op.result, [])  # type: ignore[arg-type]
        if op.result not in uses.others and (leaving or alone) and all(map(looks_at_elements, users)) and all(
                _is_near(effects, position, op, one) for one in leaving + users):
            found.append(ExitHoisting(op, leaving, users))
    return found


def _is_near(effects: List[int], position: Dict[Op, int], op: Op, later: Op) -> bool:
    """Whether no operation between two others has an effect."""
    return later in position and not effect_between(effects, position[op], position[later])
