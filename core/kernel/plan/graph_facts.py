"""Facts about the values and groups of one graph, which all parts of a plan and the emitter read."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Set, cast

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.ops import MAKERS
from pijit.core.graph.passes.fusion import find_groups, roots
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
        groups: the operations of each group, by its last one.
        merged: the groups with several results, by their last operation; `groups` has them, too.
    """

    __slots__ = ("used", "roots", "inputs", "params", "made", "constants", "groups", "merged", "_group_of")

    def __init__(self, graph: Graph, fast: bool) -> None:
        self.used = set(graph.uses())
        self.roots = roots(graph)
        self.inputs = set(graph.inputs)
        self.params = {param for block in graph.blocks[1:] for param in block.params}
        ops = [op for block in graph.blocks for op in block.ops]
        self.made: Set[Value] = {cast(Value, op.result) for op in ops if op.name in MAKERS}
        self.constants: Dict[Value, Any] = {cast(Value, op.result): op.attrs["value"] for op in ops
                                            if op.name == "const"}
        self.groups = find_groups(graph, fast)
        self.merged: Dict[Op, MergedGroup] = {}
        self._group_of = {op: group for group in self.groups.values() for op in group}

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
