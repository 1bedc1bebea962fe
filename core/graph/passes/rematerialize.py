"""Rematerialisation: recompute cheap arrays in each loop nest that needs them, instead of storing them.

Before, for ``d = x - m`` and ``d / np.sqrt((d * d).sum() / n)``::

    %2: float64[1d,C] = ufunc %0, %1 {ufunc=subtract}  else exit0()
    %3: float64[1d,C] = ufunc %2, %2 {ufunc=multiply}  else exit1(%2)
    %4: np.float64 = reduce %3 {ufunc=add}  else exit1(%2)
    ...
    %9: float64[1d,C] = ufunc %2, %8 {ufunc=divide}  else exit1(%2)

After, the last one has an operand of its own, and all leave by ``exit0()``::

    %2: float64[1d,C] = ufunc %0, %1 {ufunc=subtract}  else exit0()
    %10: float64[1d,C] = ufunc %0, %1 {ufunc=subtract}  else exit0()
    ...
    %9: float64[1d,C] = ufunc %10, %8 {ufunc=divide}  else exit0()

This is done if all copies become inner results of groups (fusion.py), and if their operands exist anyway. One more
subtraction costs less than an array that is written and read. No operation in between may change the operands.
"""

from __future__ import annotations

from typing import Dict, List, Optional

from pijit.core.graph.element_ops import CHEAP_ELEMENTS
from pijit.core.graph.ir import Block, Graph, Op
from pijit.core.graph.passes.fusion import find_groups, scalar_operation
from pijit.core.graph.passes.hoist_exits import ExitHoisting, Uses, candidates, uses_of
from pijit.core.graph.types import Array

Groups = Dict[Op, List[Op]]

_MOST_READ = 3
"""This many more arrays to read cost as much as one array that is written and read."""


def rematerialize(graph: Graph) -> None:
    """Add the copies in place."""
    groups: Optional[Groups] = None
    uses: Optional[Uses] = None
    for block in graph.blocks:
        if not any(_is_cheap(op) for op in block.ops):
            continue
        uses = uses_of(graph) if uses is None else uses
        for one in candidates(block, uses, alone=True):
            if _is_cheap(one.maker) and len(one.users) > 1:
                before = find_groups(graph) if groups is None else groups
                groups = _repeat(graph, block, one, before)
                uses = uses if groups is before else None


def _is_cheap(op: Op) -> bool:
    return op.name == "ufunc" and scalar_operation(op) in CHEAP_ELEMENTS and op.attrs["types"][0] in "fd"


def _repeat(graph: Graph, block: Block, one: ExitHoisting, groups: Groups) -> Groups:
    """Copy an operation for each further group that needs its result; the result is the groups afterwards."""
    maker = one.maker
    last_of = {op: last for last, group in groups.items() for op in group}
    users: Dict[Op, List[Op]] = {}
    for op in one.users:
        users.setdefault(last_of.get(op, op), []).append(op)
    arrays = [value for value in maker.args if isinstance(value.type, Array)]
    if len(users) < 2 or len(arrays) * (len(users) - 1) >= _MOST_READ \
            or any(op.result in arrays for op in groups.get(maker, ())):
        return groups
    before, copies = [(op, op.args, op.exit) for op in block.ops], []
    for needing in list(users.values())[1:]:
        value = graph.new_value(maker.result.type, maker.result.hint)  # type: ignore[union-attr]
        copies.append(Op(maker.name, maker.args, dict(maker.attrs), value, maker.exit, maker.lineno))
        for op in needing:
            op.args = tuple(value if arg is maker.result else arg for arg in op.args)
    for op in one.leaving:
        op.exit = maker.exit
    place = block.ops.index(maker) + 1
    block.ops[place:place] = copies
    found = find_groups(graph)
    inner = {op for last, group in found.items() for op in group if op is not last}
    if inner.issuperset([maker] + copies):
        return found
    block.ops[:] = [op for op, _, _ in before]
    for op, args, exit in before:
        op.args, op.exit = args, exit
    return groups
