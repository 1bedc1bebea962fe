"""Loop tiling: find runs of operations along the same rows, which may be done by blocks of rows.

A run has no effect that other code sees. So any operation of a run may leave by the exit of the first one. Elements and
sums of rows do not depend on the number of rows that are computed at once. emit/stores/tiled_loops.py writes the runs;
skewing.py uses `find_users`.
"""

from __future__ import annotations

from typing import Collection, Dict, List, Mapping, Set, Tuple, cast

from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.ops import ELEMENTWISE, MOVABLE, MOVES_AHEAD
from pijit.core.graph.passes.fusion import count_effects, effect_between, scalar_operation, watched
from pijit.core.graph.types import Array, Scalar
from pijit.core.kernel.options import gains_little, is_alone
from pijit.core.kernel.plan.array_layouts import ArrayLayout
from pijit.core.kernel.plan.forms.block_size import BlockSize, tiled_size
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.operands import array_type
from pijit.core.named_tuples import NamedTuple

LEAST_SHARED = 4
"""The fewest nests that one thread does by blocks where two threads could share each of them."""


class TiledRows(NamedTuple):
    """Where a run is cut.

    Attributes:
        rows: the arrays from outside of the run that are cut into blocks: not those of one row, if there are others.
        block: the size of a block.
    """

    rows: List[Value]
    block: BlockSize


class TilingRun(NamedTuple):
    """Operations that are done block by block.

    Attributes:
        ops: the operations in blocks; the last operation of a group stands for the whole group.
        ahead: operations that are written before the blocks: on scalars, and views of existing arrays.
        first: the operation whose exit all of them take.
        rows: the arrays from outside whose first axis is that of the rows.
        made: the results of the operations.
        lasting: those results that are needed after the run.
        order: the positions of all operations of the block.
    """

    ops: List[Op]
    ahead: List[Op]
    first: Op
    rows: List[Value]
    made: Set[Value]
    lasting: Set[Value]
    order: Dict[Op, int]

    @property
    def preheader(self) -> List[Op]:
        """All operations, in the order in which they are written or described before the loop over blocks."""
        return sorted(self.ops + self.ahead, key=self.order.__getitem__)

    def all_ops(self, facts: GraphFacts) -> Set[Op]:
        """All operations of the run, with the whole groups."""
        return set(self.ahead).union(*(facts.group_of(op) for op in self.ops))


def find_runs(graph: Graph, facts: GraphFacts, least: int, bounded: Collection[Value],
              taken: Set[Op]) -> Dict[Op, TilingRun]:
    """The runs of a graph, by their first operation, except for operations in ``taken``.

    ``least`` is the least work for which threads share a loop nest. ``bounded`` are the arrays with exponent bounds.
    """
    if not is_alone(least) and not gains_little(least):
        return {}  # threads share whole arrays
    users, escaping = find_users(graph)
    found: Dict[Op, TilingRun] = {}
    for block in graph.blocks:
        search = _TilingSearch(facts, bounded, block, is_alone(least))
        for op in block.ops:
            if op in taken:
                search.end(users, escaping, found)
            elif op is facts.group_of(op)[-1] and not search.takes(op):
                search.end(users, escaping, found)
                search.takes(op)
        search.end(users, escaping, found)
    return found


def tiled_rows(run: TilingRun, arrays: Mapping[Value, ArrayLayout]) -> TiledRows:
    """Where a run is cut; ``arrays`` are the layouts of all arrays."""
    rows = [value for value in run.rows if arrays[value].shape[0] != 1] or run.rows
    longest = max((array_type(value) for value in rows), key=lambda kind: kind.ndim)
    return TiledRows(rows, tiled_size(longest))


def find_users(graph: Graph) -> Tuple[Dict[Value, Set[Op]], Set[Value]]:
    """The operations that use each value, also at exits, and the values that leave their blocks."""
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


class _TilingSearch:
    """Collects the runs of one block."""

    def __init__(self, facts: GraphFacts, bounded: Collection[Value], block: Block, alone: bool) -> None:
        self.facts = facts
        self.alone = alone  # whether one thread does all work in any case
        self.bounded = bounded
        self.position = {op: number for number, op in enumerate(block.ops)}
        self.effects = count_effects(block)
        self._start()

    def _start(self) -> None:
        self.ops: List[Op] = []
        self.ahead: List[Op] = []
        self.members: List[Op] = []
        self.rows: List[Value] = []
        self.made: Set[Value] = set()
        self.repeated: Set[Value] = set()  # arrays that each row reads as a whole

    def end(self, users: Dict[Value, Set[Op]], escaping: Set[Value], found: Dict[Op, TilingRun]) -> None:
        """End the run, and record it if it has several operations."""
        while self.ops and self.ops[-1].name == "view":
            self.made.discard(self.ops.pop().result)
        ops = self.ops
        ahead = [op for op in self.ahead if self.position[op] < self.position[ops[-1]]]
        inside = set(self.members).union(ops, ahead)
        lasting = {value for value in self.made if value in escaping or not inside.issuperset(users.get(value, ()))}
        views = {op.result for op in ops if op.name == "view"}
        if len(ops) - len(views) > 1 and not views & lasting and (self.alone or self._is_bound_by_memory()):
            first = min(self.members, key=self.position.__getitem__)
            found[ops[0]] = TilingRun(ops, ahead, first, self.rows, self.made, lasting, self.position)
        self._start()

    def _is_bound_by_memory(self) -> bool:
        """Whether many passes of cheap operations are faster by blocks of one thread than shared by two."""
        return len(self.ops) >= LEAST_SHARED and all(
            op.name == "reduce" or scalar_operation(op) for op in self.members)

    def takes(self, op: Op) -> bool:
        """Add an operation to the run, or start a run with it; False if neither is possible."""
        if makes_elements(op):
            return self._takes_group(op)
        if not self.ops:
            return False
        if op.name == "view" and op.args[0] in self.made:
            return self._takes_view(op)
        scalars = op.name in MOVABLE and all(isinstance(value.type, Scalar) for value in op.args)
        if not scalars and op.name not in MOVES_AHEAD:
            return False
        self.ahead.append(op)
        return True

    def _takes_view(self, op: Op) -> bool:
        index = op.attrs["index"]
        if index[:1] != ("e",) or not set(index) <= {"e", "n"}:
            return False
        self.ops.append(op)
        self.made.add(cast(Value, op.result))
        return True

    def _takes_group(self, op: Op) -> bool:
        group = self.facts.group_of(op)
        ndim = _axes(op)
        if ndim == 0 or not all(self._can_go(member, ndim) for member in group) or watched(group):
            return False
        rows: List[Value] = []
        goes_on = not self.ops or cast(Array, self.rows[0].type).ndim == ndim
        repeated = set()
        for leaf in find_leaves(group)[0]:
            kind = cast(Array, leaf.type)
            if leaf in self.made or leaf in self.rows:
                goes_on = True
                if kind.ndim != ndim:
                    return False
            elif kind.ndim == ndim:
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
        self.made.update(cast(Value, member.result) for member in group)
        return True

    def _can_go(self, op: Op, ndim: int) -> bool:
        """Whether an operation computes rows of numbers from rows in C order, for any number of rows."""
        kind = op.result.type if op.result is not None else None
        if not makes_elements(op) or op.exit is None or not isinstance(kind, Array) or kind.layout != "C":
            return False
        if kind.ndim == 0 or op.result in self.bounded or op.attrs.get("ordered"):
            return False
        if not set(op.attrs["types"]) <= set("fdbBhHiIlLqQ?->"):
            return False
        if op.name == "reduce":
            return cast(Array, op.args[0].type).layout == "C" and cast(Array, op.args[0].type).dtype == kind.dtype
        return op.name in ELEMENTWISE and kind.ndim == ndim


def makes_elements(op: Op) -> bool:
    """Whether an operation computes an array or sum from arrays, element by element or along an axis."""
    return op.name in ELEMENTWISE or op.name == "reduce"


def _axes(op: Op) -> int:
    """The number of axes of the arrays that an operation goes along, including rows; 0 for other operations."""
    result = cast(Value, op.result)
    if op.name in ELEMENTWISE and isinstance(result.type, Array):
        return result.type.ndim
    if op.name == "reduce" and isinstance(result.type, Array):
        ndim = cast(Array, op.args[0].type).ndim
        return ndim if ndim > 1 and op.attrs["axis"] == ndim - 1 else 0
    return 0
