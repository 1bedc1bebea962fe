"""Multi-output fusion: groups that read the same arrays become one group with several results (as XLA calls it).

A group of graph/passes/fusion.py has one result. Its nest writes that array, and the nests that need it read it again.
Groups of one block whose results have the same shape are merged here. One nest then computes all of them. A value that
only the merged group needs is never written.

Groups that end in a sum of an array with one axis are merged, too: the array that is summed counts as the result. So
the derivatives of a loss with respect to several numbers are one nest.

Groups whose floating-point flags are ignored may follow groups whose flags are reported: the gradients of a loss follow
its value. If the nest raises a flag, a second nest with the reported groups alone finds out whether they raise it. The
results of the reported groups need all of their arithmetic, so LLVM keeps it, and its flags.

All groups are written at the place of the last one. So until then no other operation may need one of the results, also
not at an exit, and no operation may have an effect.
"""

from __future__ import annotations

from typing import Any, Collection, Dict, List, Optional, Set, cast

from pijit.core import _launcher
from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.ops import ELEMENTWISE, PLACES_ELEMENTS, RAISES_FLAGS
from pijit.core.graph.passes.fusion import (
    EVERY_FLAG,
    count_effects,
    effect_between,
    raises_flags,
    scalar_operation,
    sums_rows,
    watched,
)
from pijit.core.graph.types import Array
from pijit.core.kernel.options import CompileOptions, gains_little, is_alone
from pijit.core.kernel.plan.graph_facts import GraphFacts, MergedGroup
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.shape_classes import ShapeClass, ShapeClasses
from pijit.core.kernel.plan.tiling import TilingRun, find_users

MOST_RESULTS = 4
"""The most arrays that one nest writes, and the most sums that it computes."""
MOST_STEPS = 80
"""The most operations of one nest: beyond that, its values do not fit into registers."""


def find_merged(graph: Graph, facts: GraphFacts, excluded: Collection[Op], bounded: Collection[Value],
                options: CompileOptions) -> Dict[Op, MergedGroup]:
    """The merged groups of a graph, by their last operation.

    Args:
        graph: the graph.
        facts: its groups.
        excluded: operations that are written in another way.
        bounded: the arrays with exponent bounds, which nests of one result compute.
        options: the compile options. With `fast`, sums need not have NumPy's bits and are not merged.
    """
    search = _FusionSearch(graph, facts, set(excluded), bounded, options)
    for block in graph.blocks:
        search.block(block)
    return search.found


def adds_up(op: Op) -> bool:
    """Whether an operation adds up all elements of an array of floats with one axis."""
    return sums_rows(op) and cast(Array, op.args[0].type).ndim == 1 and op.attrs["types"][-1] in "fd"


def computed(op: Op) -> Value:
    """The array that the nest of a group computes element by element; the group ends with this operation."""
    return op.args[0] if op.name == "reduce" else cast(Value, op.result)


def is_elementwise(run: TilingRun, facts: GraphFacts) -> bool:
    """Whether a tiling run has only elementwise operations that nests compute: merging saves more than tiling."""
    return all(op.name == "view" or bool(scalar_operation(op)) for op in run.all_ops(facts) - set(run.ahead))


class _FusionSearch:
    """Collects the merged groups of a graph."""

    def __init__(self, graph: Graph, facts: GraphFacts, excluded: Set[Op], bounded: Collection[Value],
                 options: CompileOptions) -> None:
        self.found: Dict[Op, MergedGroup] = {}
        self._facts, self._excluded, self._bounded, self._options = facts, excluded, bounded, options
        self._users, self._escaping = find_users(graph)
        self._classes = ShapeClasses(graph)
        self._position: Dict[Op, int] = {}
        self._parts: List[List[Op]] = []
        self._shape: Optional[ShapeClass] = None

    def block(self, block: Block) -> None:
        """Find the merged groups of a block."""
        self._position = {op: number for number, op in enumerate(block.ops)}
        effects = count_effects(block)
        self._classes.enter(block)
        for op in block.ops:
            group = self._facts.group_of(op)
            if op is not group[-1]:
                continue
            if self._parts and effect_between(effects, self._start(), self._position[op]):
                self._end()
            shape = self._shape_of(group)  # may depend on the results so far
            fits = shape is not None and self._fits(group, shape)
            if not fits and shape is not None and self._leave_reported():
                fits = self._fits(group, shape)
            if self._parts and not fits and self._needs_results(group):
                self._end()
                shape = self._shape_of(group)
                fits = shape is not None
            if fits:
                self._parts.append(group)
                self._shape = shape
        self._end()

    def _start(self) -> int:
        return min(self._position[op] for group in self._parts for op in group)

    def _results(self) -> Set[Value]:
        return {cast(Value, group[-1].result) for group in self._parts}

    @property
    def _sums(self) -> Set[Value]:
        """The sums among the results: numbers, which are not known before the nest ends."""
        return {cast(Value, group[-1].result) for group in self._parts if adds_up(group[-1])}

    def _needs_results(self, group: List[Op]) -> bool:
        """Whether operations need a result of the merged group, to compute with or at an exit."""
        results = self._results()
        return any(not results.isdisjoint(op.args) or op.exit is not None and not results.isdisjoint(op.exit.values())
                   for op in group)

    def _shape_of(self, group: List[Op]) -> Optional[ShapeClass]:
        """The shape class of a group that can be merged; None for other operations."""
        last = group[-1]
        members = group[:-1] if adds_up(last) and self._is_sum(group) else group
        if not all(self._can_merge(op) for op in members) or last in self._excluded or last.result in self._bounded \
                or watched(group):
            return None
        whole = computed(last)
        kind = whole.type
        if not isinstance(kind, Array) or kind.ndim == 0 or kind.layout != "C" or kind.dtype.char not in "fd":
            return None
        leaves = find_leaves(group)[0]
        if not leaves or any(cast(Array, leaf.type).layout != "C" for leaf in leaves):
            return None
        return self._classes.of(whole)

    def _is_sum(self, group: List[Op]) -> bool:
        """Whether a group ends in a sum that one nest can compute beside others: of an array that the nest computes."""
        return (len(group) > 1 or group[-1].args[0] in self._results()) and not self._options.fast \
            and _launcher.sums_known()

    @staticmethod
    def _can_merge(op: Op) -> bool:
        return op.name in ELEMENTWISE and op.name not in PLACES_ELEMENTS and op.exit is not None \
            and bool(scalar_operation(op)) and not op.attrs.get("ordered")

    def _fits(self, group: List[Op], shape: ShapeClass) -> bool:
        """Whether a group can join the merged group: it has its shape, and they have values in common.

        A group that would end the merged group may join it without values in common. A group that needs a sum cannot.
        """
        if not self._parts:
            return True
        ops = [op for part in self._parts for op in part]
        if any(self._sums.intersection(op.args) for op in group):
            return False
        kind, first = computed(group[-1]).type, computed(ops[-1]).type
        if shape != self._shape or kind != first or len(self._expressions(ops + group, ops + group)) > MOST_STEPS:
            return False
        if not _flags_fit(ops, group):
            return False
        common = self._results().union(find_leaves(ops)[0])
        joins = not common.isdisjoint(find_leaves(group)[0]) or self._needs_results(group)
        return joins and not watched(reported_ops(self._parts + [group], ops + group))

    def _leave_reported(self) -> bool:
        """End the groups whose flags are reported, if others follow them: these may fit with a group alone."""
        others = [part for part in self._parts if _ignores_all(part)]
        if not others or len(others) == len(self._parts):
            return False
        shape = self._shape
        self._parts = [part for part in self._parts if not _ignores_all(part)]
        self._end()
        self._parts, self._shape = others, shape
        return True

    def _end(self) -> None:
        """Record the merged group, or several ones if it has too many results, and start another one."""
        parts, self._parts, self._shape = self._parts, [], None
        count = len(parts)
        while count > 1:
            ops = sorted((op for part in parts[:count] for op in part), key=self._position.__getitem__)
            outputs = [part[-1] for part in parts[:count] if self._is_output(part[-1], ops)]
            accepted = self._accepts(outputs, ops) and _is_complete(reported_ops(parts[:count], ops), outputs)
            if accepted:
                self.found[ops[-1]] = MergedGroup(parts[:count], ops, outputs)
            if accepted or count == 2:
                parts = parts[count if accepted else 1:]
                count = len(parts)
            else:
                count -= 1

    def _accepts(self, outputs: List[Op], ops: List[Op]) -> bool:
        """Whether a nest of these operations may have these results. It computes all arrays that it adds up.

        Threads share nests that store, but not those with sums. So with several threads, sums must compute at least
        half of what the arrays need.
        """
        sums, computed_here = [op for op in outputs if adds_up(op)], {op.result for op in ops}
        stored = [op for op in outputs if op not in sums]
        if max(len(sums), len(stored)) > MOST_RESULTS or any(op.args[0] not in computed_here for op in sums):
            return False
        if not sums or not stored or is_alone(self._options.least) or gains_little(self._options.least):
            return True
        arrays = self._expressions(stored, ops)
        return 2 * len(arrays & self._expressions(sums, ops)) >= len(arrays)

    def _expressions(self, outputs: List[Op], ops: List[Op]) -> Set[int]:
        """The expressions that operations compute for results, by their numbers (value numbering)."""
        makers = {op.result: op for op in ops}
        table: Dict[Any, int] = {}
        number: Dict[Value, int] = {}
        for op in sorted(ops, key=self._position.__getitem__):
            if op.name != "reduce":
                constants = self._facts.constants
                operands = tuple(repr(constants[arg]) if arg in constants else number.get(arg, arg) for arg in op.args)
                expression = op.name, op.attrs.get("ufunc"), operands
                number[cast(Value, op.result)] = table.setdefault(expression, len(table))
        found: Set[Value] = set()
        todo = [computed(op) for op in outputs]
        while todo:
            value = todo.pop()
            if value in makers and value not in found:
                found.add(value)
                todo += makers[value].args
        return {number[value] for value in found}

    def _is_output(self, op: Op, ops: List[Op]) -> bool:
        """Whether the result of a group is written: others need it, or nobody.

        LLVM would drop an operation without a use, and with it the flags that it raises.
        """
        result = cast(Value, op.result)
        users = self._users.get(result, set())
        inside = {one for one in ops if result in one.args}
        return not inside or result in self._escaping or not users <= set(ops)


def reported_ops(parts: List[List[Op]], ops: List[Op]) -> List[Op]:
    """The operations of those groups whose floating-point flags are not all ignored, in the order of ``ops``."""
    found = {op for part in parts if not _ignores_all(part) for op in part}
    return [op for op in ops if op in found]


def _is_complete(reported: List[Op], outputs: List[Op]) -> bool:
    """Whether the outputs among some operations need all of them, so that a nest of these alone computes all."""
    used = {arg for op in reported for arg in op.args}
    return all(op.result in used or op in outputs for op in reported)


def _ignored(ops: List[Op]) -> Set[object]:
    """The floating-point flags that operations ignore."""
    return {op.attrs.get("ignored") for op in ops if op.name in RAISES_FLAGS}


def _ignores_all(group: List[Op]) -> bool:
    """Whether all floating-point flags of a group are ignored."""
    return _ignored(group) == {EVERY_FLAG}


def _flags_fit(ops: List[Op], group: List[Op]) -> bool:
    """Whether a group may join operations: both report the same floating-point flags, or the group ignores all."""
    if _ignores_all(group):
        return True
    return any(map(raises_flags, ops)) == any(map(raises_flags, group)) and _ignored(ops) == _ignored(group)
