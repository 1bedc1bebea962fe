"""Runs of operations along the rows of the same arrays, which may be computed for some rows after the others.

Nothing that others see is done meanwhile, so any operation of a run may leave to where the first of them does.
Elements and sums of rows do not depend on how many rows are computed at once.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Set, Tuple

from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.passes.fusion import count_effects, effect_between, watched
from pijit.core.graph.types import Array, Scalar
from pijit.core.kernel.options import is_alone
from pijit.core.kernel.plan.group_operands import find_leaves

_ELEMENTWISE = frozenset(("ufunc", "where"))
AHEAD = frozenset("const same cast dim compare require add sub mul truediv neg abs and or not".split())
"""Operations on scalars that may be done before a run which they are part of: they tell nothing but their results."""


class Run(NamedTuple):
    """Operations that go block by block.

    Attributes:
        ops: those that are written in blocks; the last one of a group stands for all of it.
        ahead: those that are written before: of scalars, and views of what is there.
        first: the one that leaves to where all of them do.
        rows: the arrays from outside whose first axis is that of the blocks.
        made: what the operations make.
        lasting: what of that is needed behind them.
        order: where all operations of the block are.
    """

    ops: List[Op]
    ahead: List[Op]
    first: Op
    rows: List[Value]
    made: Set[Value]
    lasting: Set[Value]
    order: Dict[Op, int]


def find_runs(emitter: Any, graph: Graph, taken: Set[Op]) -> Dict[Op, Run]:
    """The runs of a graph, by their first operation, without operations that are ``taken``."""
    if not is_alone(emitter.flavour.least):
        return {}  # threads share whole arrays
    users, escaping = find_users(graph)
    found: Dict[Op, Run] = {}
    for block in graph.blocks:
        search = _Search(emitter, block)
        for op in block.ops:
            if op in taken:
                search.end(users, escaping, found)
            elif op is emitter.group_of(op)[-1] and not search.takes(op):
                search.end(users, escaping, found)
                search.takes(op)
        search.end(users, escaping, found)
    return found


def find_users(graph: Graph) -> Tuple[Dict[Value, Set[Op]], Set[Value]]:
    """The operations that need each value, for exits, too, and the values that leave blocks."""
    users: Dict[Value, Set[Op]] = {}
    escaping: Set[Value] = set()
    for block in graph.blocks:
        escaping.update(block.terminator.values())
        for jump in block.terminator.targets():
            escaping.update(jump.args)
        for op in block.ops:
            for value in list(op.args) + list(op.exit.values() if op.exit is not None else ()):
                users.setdefault(value, set()).add(op)
    return users, escaping


class _Search:
    """Collects the runs of one block."""

    def __init__(self, emitter: Any, block: Block) -> None:
        self.emitter = emitter
        self.position = {op: number for number, op in enumerate(block.ops)}
        self.effects = count_effects(block)
        self._start()

    def _start(self) -> None:
        self.ops: List[Op] = []
        self.ahead: List[Op] = []
        self.members: List[Op] = []
        self.rows: List[Value] = []
        self.made: Set[Value] = set()
        self.repeated: Set[Value] = set()  # arrays that are the same for all rows

    def end(self, users: Dict[Value, Set[Op]], escaping: Set[Value], found: Dict[Op, Run]) -> None:
        """Note the run, if it is one."""
        while self.ops and self.ops[-1].name == "view":
            self.made.discard(self.ops.pop().result)
        ops = self.ops
        ahead = [op for op in self.ahead if self.position[op] < self.position[ops[-1]]]
        inside = set(self.members).union(ops, ahead)
        lasting = {value for value in self.made if value in escaping or not inside.issuperset(users.get(value, ()))}
        views = {op.result for op in ops if op.name == "view"}
        if len(ops) - len(views) > 1 and not views & lasting:
            first = min(self.members, key=self.position.__getitem__)
            found[ops[0]] = Run(ops, ahead, first, self.rows, self.made, lasting, self.position)
        self._start()

    def takes(self, op: Op) -> bool:
        """Whether an operation goes on with the run, or begins one."""
        if makes_elements(op):
            return self._takes_group(op)
        if not self.ops:
            return False
        if op.name == "view" and op.args[0] in self.made:
            return self._takes_view(op)
        scalars = op.name in AHEAD and all(isinstance(value.type, Scalar) for value in op.args)
        if not scalars and op.name not in ("view", "dim"):
            return False
        self.ahead.append(op)
        return True

    def _takes_view(self, op: Op) -> bool:
        index = op.attrs["index"]
        if index[:1] != ("e",) or not set(index) <= {"e", "n"}:
            return False
        self.ops.append(op)
        self.made.add(op.result)
        return True

    def _takes_group(self, op: Op) -> bool:
        group = self.emitter.group_of(op)
        ndim = _axes(op)
        if ndim == 0 or not all(self._can_go(member, ndim) for member in group) or watched(group):
            return False
        rows: List[Value] = []
        goes_on = not self.ops or self.rows[0].type.ndim == ndim
        repeated = set()
        for leaf in find_leaves(group)[0]:
            if leaf in self.made or leaf in self.rows:
                goes_on = True
                if leaf.type.ndim != ndim:
                    return False
            elif leaf.type.ndim == ndim:
                rows.append(leaf)
            else:
                repeated.add(leaf)
        start = min(map(self.position.__getitem__, self.members + group))
        if not goes_on or not (rows or self.ops) or effect_between(self.effects, start, self.position[op]) \
                or (self.repeated | repeated).intersection(rows + self.rows):
            return False
        self.rows += rows
        self.repeated |= repeated
        self.ops.append(op)
        self.members += group
        self.made.update(member.result for member in group)
        return True

    def _can_go(self, op: Op, ndim: int) -> bool:
        """Whether an operation computes rows of numbers from rows of others, in C order, however many there are."""
        kind = op.result.type if op.result is not None else None
        if not makes_elements(op) or op.exit is None or not isinstance(kind, Array) or kind.layout != "C":
            return False
        if kind.ndim == 0 or op.result in self.emitter.calm.bounds or op.attrs.get("ordered"):
            return False
        if not set(op.attrs["types"]) <= set("fdbBhHiIlLqQ?->"):
            return False
        if op.name == "reduce":
            return op.args[0].type.layout == "C"
        return op.name in _ELEMENTWISE and kind.ndim == ndim


def makes_elements(op: Op) -> bool:
    """Whether an operation computes arrays from others, row by row if it goes along rows at all."""
    return op.name in _ELEMENTWISE or op.name == "reduce"


def _axes(op: Op) -> int:
    """How many axes the rows have that an operation goes along, itself included; 0 for another operation."""
    if op.name in _ELEMENTWISE and isinstance(op.result.type, Array):
        return op.result.type.ndim
    if op.name == "reduce" and isinstance(op.result.type, Array):
        ndim = op.args[0].type.ndim
        return ndim if ndim > 1 and op.attrs["axis"] == ndim - 1 else 0
    return 0
