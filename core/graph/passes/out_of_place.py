"""In-place operators on unshared arrays become operations with a new result, so that they can be fused.

Before::

    %2: float64[1d,C] = ufunc %1, %0 {ufunc=multiply}  else exit0()
    ufunc_into %2, %2, %3 {reports=True, ufunc=add}  else exit1(%2)
    %4: py.int64 = raised
    %5: raw.bool = compare %4, 0 {operator='=='}
    require %5  else exit2(%2, tuple(%2, %4))

After::

    %6: float64[1d,C] = ufunc %1, %0 {ufunc=multiply}  else exit0()
    %2: float64[1d,C] = ufunc %6, %3 {fits=0, ufunc=add}  else exit1(%6)

So they are one group (fusion.py): one loop instead of three, and no test before the store whether a flag may be raised.
No operation between the two may have an effect, and only the second one may use the first result.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Set, cast

from pijit.core.graph.ir import Block, Graph, Op, SideExit, Value
from pijit.core.graph.ops import EFFECTS, ELEMENTWISE
from pijit.core.graph.passes.fusion import operands, scalar_operation
from pijit.core.graph.types import Array


def make_out_of_place(graph: Graph) -> None:
    """Replace the operators in place."""
    if not any(op.name == "ufunc_into" for block in graph.blocks for op in block.ops):
        return
    for block in graph.blocks:
        position = 0
        while position < len(block.ops):
            if block.ops[position].name == "ufunc_into":
                _renew(graph, block, position)
            position += 1


def _renew(graph: Graph, block: Block, position: int) -> None:
    """Replace one operator, if that is legal."""
    op, target = block.ops[position], block.ops[position].args[0]
    first = next((k for k in range(position) if block.ops[k].result is target), None)
    if first is None or not _can_be_made(op) or not _leads_to(block.ops[first:position + 1], target):
        return
    report = _report(graph, block, position)
    if report is None:
        return
    before = graph.new_value(target.type, target.hint)
    block.ops[first].result = before
    for one in block.ops[first + 1:position + 1]:
        one.args = tuple(before if value is target else value for value in one.args)
        if one.exit is not None:
            one.exit = SideExit(one.exit.exit, [output.map(lambda value: before if value is target else value)
                                                for output in one.exit.outputs])
    attrs = {key: value for key, value in op.attrs.items() if key != "reports"}
    attrs["fits"] = op.args[1:].index(before)
    made = Op("ufunc", op.args[1:], attrs, target, op.exit, op.lineno)
    block.ops[position:] = [made] + [one for one in block.ops[position + 1:] if one not in report]


def _can_be_made(op: Op) -> bool:
    """Whether the operator leaves what a new array in C order would hold: it also reads the array that it writes."""
    kind = cast(Array, op.args[0].type)
    if not scalar_operation(op) or op.args[0] not in operands(op) or op.attrs["types"][-1] != kind.dtype.char:
        return False
    arrays = [value.type for value in op.args if isinstance(value.type, Array)]
    return all(one.ndim <= kind.ndim and (one.layout == "C" or one.ndim == 1) for one in arrays)


def _leads_to(ops: List[Op], target: Value) -> bool:
    """Whether only the last operation uses the first result, also through other members of a group."""
    if not scalar_operation(ops[0]) or ops[0].name == "gather":
        return False
    inner: Set[Value] = {target}
    for op in ops[1:-1]:
        needs = inner.intersection(op.args)
        if op.name in EFFECTS or needs and (op.name not in ELEMENTWISE or not scalar_operation(op)):
            return False
        if op.exit is not None and not needs and inner.intersection(op.exit.values()) and not _feeds(op, ops):
            return False
        if needs:
            inner.add(op.result)  # type: ignore[arg-type]
    return True


def _feeds(op: Op, ops: List[Op]) -> bool:
    """Whether a later operation of the sequence reads the elements that an operation computes."""
    return bool(scalar_operation(op)) and any(op.result in later.args for later in ops[ops.index(op) + 1:])


def _report(graph: Graph, block: Block, position: int) -> Optional[Set[Op]]:
    """The operations after an operator that leave to report its flags; None if other operations need their results."""
    if not block.ops[position].attrs.get("reports"):
        return set()
    raised = block.ops[position + 1]
    users: Dict[Value, List[Op]] = {}
    for op in block.ops[position + 1:]:
        for value in list(op.args) + list(op.exit.values() if op.exit is not None else ()):
            users.setdefault(value, []).append(op)
    compare, require = (users.get(raised.result, []) + [raised, raised])[:2]  # type: ignore[arg-type]
    known = raised.name == "raised" and compare.name == "compare" and require.name == "require" \
        and users[raised.result] == [compare, require] and users[compare.result] == [require]  # type: ignore[index]
    uses = sum(value in (raised.result, compare.result) for value in graph.uses())
    return {raised, compare, require} if known and uses == 3 else None
