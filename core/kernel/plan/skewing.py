"""Loop skewing: find runs of statements that write existing arrays and may be done by blocks of rows.

An element of such a statement needs rows near its own: of arrays that earlier statements of the run have written, or
that later ones will write. So the run has phases; each phase lags one block of rows after the previous one. Slices with
constant starts tell which rows are needed. emit/stores/skewed_loops.py writes the runs.
"""

from __future__ import annotations

from typing import Collection, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union, cast

from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.ops import MOVABLE, MOVES_AHEAD, REPORTS_FLAGS, STORES_ALL, VIEWS
from pijit.core.graph.passes.fusion import count_effects, effect_between, watched
from pijit.core.graph.types import Array, Scalar
from pijit.core.kernel.options import is_alone
from pijit.core.kernel.plan.array_layouts import ArrayLayout, are_one
from pijit.core.kernel.plan.forms.block_size import BlockSize, skewed_size
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.group_operands import can_look, find_leaves, float_arrays
from pijit.core.kernel.plan.tiling import find_users
from pijit.core.named_tuples import NamedTuple

MOST_PHASES = 4
MOST_ROWS = 1024
"""The largest distance between a row and a row that it needs."""

Rows = Tuple[Value, Optional[int]]
"""An array that the run makes or that existed before, and the number of the first of its rows, if known."""


class SkewingRun(NamedTuple):
    """Operations that are done block by block.

    Attributes:
        phases: the operations in blocks, by phase: phase ``n`` lags ``n`` blocks after the first phase. The last
            operation of a group stands for the whole group.
        groups: the last operations of the groups among them.
        ahead: operations that are written before the blocks: on scalars, and views of existing arrays.
        first: the operation whose exit all of them take.
        made: the results of the groups, and the phase that makes each.
        slots: the number of blocks for which a result needs memory; 0: for all.
        roots: the existing arrays whose elements are read or written.
        block: the size of a block.
        order: the positions of all operations of the block.
    """

    phases: List[List[Op]]
    groups: List[Op]
    ahead: List[Op]
    first: Op
    made: Dict[Value, int]
    slots: Dict[Value, int]
    roots: List[Value]
    block: BlockSize
    order: Dict[Op, int]

    @property
    def stores(self) -> List[Op]:
        return [op for op in self.groups if stores(op)]

    @property
    def preheader(self) -> List[Op]:
        """The operations that are written before the loop over blocks, in order."""
        return sorted(self.ahead, key=self.order.__getitem__)

    def ops(self) -> List[Op]:
        """All operations that are written in blocks or before them, in order."""
        return sorted(sum(self.phases, self.ahead), key=self.order.__getitem__)


def stores(op: Op) -> bool:
    """Whether an operation writes to an existing array."""
    return op.name in STORES_ALL


def reads_other_parts(store: Op, leaves: Sequence[Value], arrays: Mapping[Value, ArrayLayout],
                      facts: GraphFacts) -> bool:
    """Whether a store may read other elements of its array than those that it writes."""
    target, root = arrays[store.args[0]], facts.root_of(store.args[0])
    return any(facts.root_of(value) is root and not are_one(arrays[value], target) for value in leaves)


def find_store_runs(graph: Graph, facts: GraphFacts, least: int, made: Collection[Value]) -> Dict[Op, SkewingRun]:
    """The runs of a graph, by the last operation of their first group.

    ``least`` is the least work for which threads share a loop nest. ``made`` are the arrays that groups compute and
    whose exponent bounds are known.
    """
    if not is_alone(least):
        return {}  # threads share whole arrays
    users, escaping = find_users(graph)
    makers = {op.result: op for block in graph.blocks for op in block.ops}
    found: Dict[Op, SkewingRun] = {}
    for block in graph.blocks:
        search = _SkewingSearch(facts, made, block, makers)
        for op in block.ops:
            if op is facts.group_of(op)[-1] and not search.takes(op):
                search.end(users, escaping, found)
                search.takes(op)
        search.end(users, escaping, found)
    return found


class _Accesses(NamedTuple):
    """The accesses of a group: its phase, and the rows of arrays that it reads and writes."""

    phase: int
    reads: List[Rows]
    writes: List[Rows]


class _SkewingSearch:
    """Collects the runs of one block."""

    def __init__(self, facts: GraphFacts, bounded: Collection[Value], block: Block,
                 makers: Dict[Optional[Value], Op]) -> None:
        self.facts = facts
        self.bounded = bounded
        self.makers = makers
        self.position = {op: number for number, op in enumerate(block.ops)}
        self.effects = count_effects(block)
        self._ndim: int  # of the run's arrays
        self._start()

    def _start(self) -> None:
        self.phases: List[List[Op]] = []
        self.groups: List[Op] = []
        self.ahead: List[Op] = []
        self.accesses: List[_Accesses] = []
        self.told: Set[Optional[Value]] = set()  # the results of flag tests after a store
        self.made: Dict[Value, int] = {}
        self.reach = 1

    # ---- one operation ----

    def takes(self, op: Op) -> bool:
        """Add an operation to the run, or start a run with it; False if neither is possible."""
        if self.facts.is_group(op) or op.name == "ufunc":
            return self._takes_group(op)
        if not self.groups:
            return False
        if op.name in REPORTS_FLAGS and (op.name == "raised" or self.told.intersection(op.args)):
            self.phases[-1].append(op)
            self.told.add(op.result)
            return True
        scalars = op.name in MOVABLE and all(isinstance(value.type, Scalar) for value in op.args)
        looks = op.name in MOVES_AHEAD and op.args[0] not in self.made
        if not scalars and not looks or self.told.intersection(op.args):
            return False
        self.ahead.append(op)
        return True

    def _takes_group(self, op: Op) -> bool:
        group = self.facts.group_of(op)
        value = op.args[0] if stores(op) else cast(Value, op.result)
        if not all(member.name == "ufunc" or member is op and stores(op) for member in group) \
                or float_arrays(group) is None or watched(group) or not isinstance(value.type, Array) \
                or value.type.ndim == 0 \
                or any(member.exit is None or member.attrs.get("ordered") for member in group):
            return False
        if not self.facts.is_group(op) and value.type.layout != "C" or self.groups and value.type.ndim != self._ndim:
            return False
        self._ndim = value.type.ndim
        accesses = self._stored(op, value) if stores(op) else _Accesses(0, [], [])
        if accesses is None:
            return False
        for leaf in find_leaves(group)[0]:
            rows = self._rows(leaf)
            if rows is None:
                return False
            accesses.reads.append(rows)
        accesses = self._in_phase(accesses)
        if accesses is None or self._reads_near(accesses):
            return False
        self._add(op, accesses)
        return True

    def _stored(self, op: Op, target: Value) -> Optional[_Accesses]:
        """The rows that a store writes; None if it cannot be done row by row."""
        root, first = self._rows(target) or (target, None)
        dtype = cast("Union[Scalar, Array]", op.args[1].type).dtype if op.name == "assign" else op.attrs["types"][-1]
        if first is None or root in self.made or cast(Array, root.type).layout != "C" or not can_look(root) \
                or cast(Array, target.type).dtype != dtype \
                or not (root in self.facts.inputs or root in self.facts.made):
            return None
        return _Accesses(0, [], [(root, first)])

    def _add(self, op: Op, accesses: _Accesses) -> None:
        while len(self.phases) <= accesses.phase:
            self.phases.append([])
        self.phases[-1].append(op)
        self.groups.append(op)
        self.accesses.append(accesses)
        if not stores(op):
            self.made[cast(Value, op.result)] = accesses.phase

    # ---- rows ----

    def _rows(self, value: Value) -> Optional[Rows]:
        """The rows of an operand; None if a run cannot go along them."""
        if value in self.made:
            return value, 0
        root = self.facts.root_of(value)
        if root in self.made:
            return None
        kind = cast(Array, value.type)
        known = kind.dtype.kind != "f" or root in self.bounded or can_look(root)
        return (root, self._first_row(value)) if known and kind.ndim <= self._ndim else None

    def _first_row(self, value: Value) -> Optional[int]:
        """The number of a view's first row in the array that it looks into; None if it is not certain."""
        op = self.makers.get(value)
        if cast(Array, value.type).ndim != self._ndim:
            return None
        if op is None or op.name not in VIEWS:
            return 0
        index = op.attrs.get("index", ()) if op.name == "view" else ()
        if not index or any(part[:1] not in ("s", "e") for part in index) \
                or cast(Array, op.args[0].type).ndim != self._ndim \
                or index[0] == "e" and len(index) > self._ndim or index[0][3:] not in ("-", ""):
            return None
        before = self._first_row(op.args[0])
        if index[0] == "e" or index[0][1] == "-":
            return before
        start = self.makers.get(op.args[1])
        known = before is not None and start is not None and start.name == "const" and start.attrs["value"] >= 0
        return before + start.attrs["value"] if known else None  # type: ignore[union-attr]  # it has a start

    def _in_phase(self, accesses: _Accesses) -> Optional[_Accesses]:
        """The accesses in the first phase that respects all dependences on earlier groups; None if there is none.

        In that phase the rows that it needs are there, and no earlier group still needs the rows that it writes.
        """
        phase = len(self.phases) - 1 if self.phases else 0
        for before in self.accesses:
            pairs = [(one, other) for one in before.writes for other in accesses.reads]
            pairs += [(one, other) for one in before.reads + before.writes for other in accesses.writes]
            for (root, one), (other, two) in pairs:
                if root is not other:
                    continue
                if one is None or two is None or abs(two - one) > MOST_ROWS:
                    return None
                ahead = two - one
                self.reach = max(self.reach, abs(ahead))
                phase = max(phase, before.phase + (ahead > 0))
        return accesses._replace(phase=phase) if phase < MOST_PHASES else None

    def _reads_near(self, accesses: _Accesses) -> bool:
        """Whether a store reads other rows of the array that it writes."""
        return any(root is other and one != two for root, one in accesses.writes for other, two in accesses.reads)

    # ---- a run ----

    def end(self, users: Dict[Value, Set[Op]], escaping: Set[Value], found: Dict[Op, SkewingRun]) -> None:
        """End the run, and record it if it is worthwhile and legal."""
        if any(map(stores, self.groups)) and self._shares():
            run = self._run(users, escaping)
            if not effect_between(self.effects, self.position[run.first], self.position[self.groups[0]]):
                found[self.groups[0]] = run
        self._start()

    def _shares(self) -> bool:
        """Whether several groups use the same array."""
        needed = [{root for root, _ in accesses.reads + accesses.writes}.union(
            () if stores(op) else (cast(Value, op.result),)) for op, accesses in zip(self.groups, self.accesses)]
        return len(set().union(*needed)) < sum(map(len, needed))

    def _run(self, users: Dict[Value, Set[Op]], escaping: Set[Value]) -> SkewingRun:
        members = [member for op in self.groups for member in self.facts.group_of(op)]
        last = max(self.position[op] for phase in self.phases for op in phase)
        ahead = [op for op in self.ahead if self.position[op] < last]
        inside = set(members).union(ahead, *self.phases)
        slots = {}
        for value, phase in self.made.items():
            lasts = value in escaping or not inside.issuperset(users.get(value, ()))
            needed = [one.phase for one in self.accesses if (value, 0) in one.reads]
            slots[value] = 0 if lasts else max(needed + [phase]) - phase + 1
        roots = dict.fromkeys(root for one in self.accesses for root, _ in one.writes + one.reads)
        first = min(members, key=self.position.__getitem__)
        written = next(op.args[0] for op in self.groups if stores(op))
        return SkewingRun(self.phases, self.groups, ahead, first, self.made, slots,
                          [root for root in roots if root not in self.made],
                          skewed_size(cast(Array, written.type), self.reach), self.position)
