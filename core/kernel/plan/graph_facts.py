"""Facts about the values and groups of one graph, which all parts of a plan and the emitter read.

`kernel_plan` makes them. They must not depend on other decisions, except for merged groups.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Set, Tuple, cast

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.ops import EFFECTS, MAKERS, STORES
from pijit.core.graph.passes.fusion import find_groups, roots
from pijit.core.graph.types import Scalar
from pijit.core.named_tuples import NamedTuple


class MergedGroup(NamedTuple):
    """Groups that one nest with several results computes; see multi_output_fusion.py.

    Attributes:
        parts: the groups, in the order of their last operations.
        ops: all operations, in order.
        outputs: the last operations of groups whose results others need, arrays or sums. The last one of ``ops`` is the
            last of them.
    """

    parts: List[List[Op]]
    ops: List[Op]
    outputs: List[Op]


class GraphFacts:
    """Where values come from, and which operations are written together.

    Attributes:
        used: the values that an operation or a jump names.
        roots: the array that a view looks into, for all views.
        inputs: the inputs of the kernel.
        params: the parameters of all blocks but the first.
        made: the arrays that the kernel makes.
        constants: the numbers of all constants.
        hidden: the arrays that the kernel makes, if no object that was there before may get one.
        groups: the operations of each group, by its last one.
        merged: the groups with several results, by their last operation; `groups` has them, too.
    """

    __slots__ = ("used", "roots", "inputs", "params", "made", "hidden", "constants", "groups", "merged",
                 "_group_of", "_views")

    def __init__(self, graph: Graph, fast: bool) -> None:
        self.used = set(graph.uses())
        self.roots = roots(graph)
        self.inputs = set(graph.inputs)
        self.params = {param for block in graph.blocks[1:] for param in block.params}
        ops = [op for block in graph.blocks for op in block.ops]
        self.made: Set[Value] = {cast(Value, op.result) for op in ops if op.name in MAKERS}
        self.hidden = self._find_hidden(ops)
        self.constants: Dict[Value, Any] = {cast(Value, op.result): op.attrs["value"] for op in ops
                                            if op.name == "const"}
        self.groups = find_groups(graph, fast)
        self.merged: Dict[Op, MergedGroup] = {}
        self._group_of = {op: group for group in self.groups.values() for op in group}
        self._views: Dict[Value, Op] = {cast(Value, op.result): op for op in ops if op.name == "view"}

    def _find_hidden(self, ops: List[Op]) -> Set[Value]:
        given = [value for op in ops if op.name in EFFECTS and op.name not in STORES for value in op.args]
        shows = any(not isinstance(value.type, Scalar) and value not in self.inputs for value in given)
        return set() if shows else self.made

    def is_unseen(self, array: Value, op: Op) -> bool:
        """Whether nothing sees an array any more once the kernel has left through the exit of an operation."""
        return op.exit is not None and not list(op.exit.values()) and self.root_of(array) in self.hidden

    def merge(self, found: Mapping[Op, MergedGroup]) -> None:
        """Replace groups by merged ones."""
        for last, merged in found.items():
            for part in merged.parts:
                self.groups.pop(part[-1], None)
            self.groups[last] = merged.ops
            self._group_of.update((op, merged.ops) for op in merged.ops)
        self.merged.update(found)

    def root_of(self, value: Value) -> Value:
        """The array that a view looks into; another value stands for itself."""
        return self.roots.get(value, value)

    def are_rows(self, one: Value, other: Value) -> bool:
        """Whether two values are parts of rows of one array, at indices that probably differ."""
        row, beside = self._row(one), self._row(other)
        return row is not None and beside is not None and row[0] is beside[0] and row[1] is not beside[1]

    def is_in_row(self, value: Value) -> bool:
        """Whether a value is a part of a row of an array."""
        return self._row(value) is not None

    def _row(self, value: Value) -> Optional[Tuple[Value, Value]]:
        """The array of whose rows a value is a part, and the index of the row."""
        while value in self._views:
            op = self._views[value]
            if op.args[0] not in self._views and op.attrs["index"][:1] == ("i",):
                return op.args[0], op.args[1]
            value = op.args[0]
        return None

    def is_group(self, op: Op) -> bool:
        """Whether an operation is the last one of a group that a nest may compute."""
        return op in self.groups

    def is_grouped(self, op: Op) -> bool:
        """Whether an operation is in a group that a nest may compute."""
        return op in self._group_of

    def group_of(self, op: Op) -> List[Op]:
        """The operations that are written together with an operation, when the last of them is reached."""
        return self._group_of.get(op, [op])

    def is_apart(self, one: Value, other: Value) -> bool:
        """Whether two roots never share memory: one was made here, and the other was made here or is an input.

        Anything else may be a view: a block parameter, an item that was read, the result of a library function.
        """
        known = all(value in self.made or value in self.inputs for value in (one, other))
        return one is not other and known and (one in self.made or other in self.made)
