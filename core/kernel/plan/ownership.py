"""Reference counts: where a kernel takes and releases references to arrays and objects.

Without releases a loop over arrays would grow memory. In loops the frame owns one reference to each array or object
that an operation makes. It also owns one to each view that becomes an object, and to each block parameter. It releases
the reference after the value's last use, or on the edge where the value dies. A jump that passes an array to a
parameter passes its reference, or takes another one.

Outside loops only arrays that no other block needs are released after their last use. Then the next array gets their
memory, which is still in the cache; the launcher releases the rest. A view keeps its array alive. A container that
was read from another container is borrowed from it. Called by the kernel emitter.
"""

from __future__ import annotations

from typing import Dict, Iterable, Iterator, List, Set, Tuple, cast

from pijit.core.graph.ir import Block, Jump, Op, Value
from pijit.core.graph.ops import DROPS_ITEMS, DROPS_REFERENCES, FOUND, FREES_OPERANDS, MAKERS, REUSABLE, VIEWS
from pijit.core.graph.types import Array, Object, SampledClass
from pijit.core.kernel.plan.control_tree import GraphFlow
from pijit.core.named_tuples import NamedTuple

COUNTED = (Array, Object)

TEMPORARIES = MAKERS | {"invoke"}
"""Operations whose result may be an array that only the kernel knows."""


class Edge(NamedTuple):
    """What is done before a jump assigns its parameters.

    Attributes:
        retained: the values to take one more reference to.
        released: the values whose reference is released.
    """

    retained: List[Value]
    released: List[Value]


NO_EDGE = Edge([], [])
"""A jump that takes and releases no references."""


class Ownership:
    """The release points of one graph; ``used`` are the values that an operation or a jump names.

    ``groups`` maps the last operation of a group (see graph/passes/fusion.py) to all of its operations: they run
    together at the last one's position. ``owners`` are the values to which the frame owns references. ``reusable`` are
    the results of which only elements are ever read.
    """

    def __init__(self, flow: GraphFlow, used: Set[Value], groups: Dict[Op, List[Op]]) -> None:
        self._groups = groups
        self._dropping = {op.name for block in flow.order for op in block.ops if op.name in DROPS_REFERENCES}
        self._looping: Set[Block] = set().union(*flow.loops.values()) if flow.loops else set()
        self._root: Dict[Value, Value] = {}
        for block in flow.order:
            for op in block.ops:
                if op.name in VIEWS or self._is_borrowed(op):
                    self._root[cast(Value, op.result)] = self._root.get(op.args[0], op.args[0])
        self.owners = self._find_owners(used)
        self._live_in: Dict[Block, Set[Value]] = {}
        self._after: Dict[Op, List[Value]] = {}
        self._edges: Dict[Jump, Edge] = {}
        self.reusable = _find_reusable(flow)
        if not self.owners and not any(map(_made_in, flow.order)):
            return
        self._live_in = self._liveness(flow)
        for block in flow.order:
            if block not in self._looping:
                self.owners |= self._temporaries(block)
            self._place_in(block)
        for block in flow.order:
            for jump in block.terminator.targets():
                self._edges[jump] = self._find_edge(block, jump)

    def holds(self, op: Op) -> bool:
        """Whether the frame owns an object that was read: a string, or any object that an effect may free.

        No effect frees a container, except for a key. Effects on attributes and dicts free no items of lists.
        """
        kind = cast(Value, op.result).type
        if op.name == "entry_key" and isinstance(kind, Object) and kind.python is tuple:
            return not self._dropping.isdisjoint(DROPS_ITEMS)
        if not isinstance(kind, SampledClass):
            return isinstance(kind, Object) and kind.python is str
        return not self._dropping.isdisjoint(DROPS_ITEMS if op.name == "load_item" else DROPS_REFERENCES)

    def _is_borrowed(self, op: Op) -> bool:
        return op.name in FOUND and isinstance(cast(Value, op.result).type, Object) and not self.holds(op)

    def after(self, op: Op) -> List[Value]:
        """The values whose reference is released after ``op``."""
        return self._after.get(op, [])

    def given_up(self, op: Op, group: List[Op]) -> List[Value]:
        """Operands that an operation of a group may overwrite: results of ufuncs that nothing else can name.

        Their memory is free once the operation has read it.
        """
        ending = set(self.after(op)).union(self.after(group[-1]))
        rest = group[group.index(op):]
        return [value for value in dict.fromkeys(op.args) if value in ending and value in self.reusable
                and not any(value in later.args for later in rest[1:])
                and not any(later.exit is not None and value in later.exit.values() for later in rest)]

    def edge(self, jump: Jump) -> Edge:
        """What is done before a jump assigns its parameters."""
        return self._edges.get(jump, NO_EDGE)

    def releases(self) -> Iterator[Tuple[Op, List[Value]]]:
        """The operations after which references are released, with the values."""
        return ((op, values) for op, values in self._after.items() if values)

    def edges(self) -> Iterator[Tuple[Jump, Edge]]:
        """The jumps before which references are taken or released."""
        return ((jump, edge) for jump, edge in self._edges.items() if any(edge))

    def _find_edge(self, source: Block, jump: Jump) -> Edge:
        target = jump.block
        passed = [value for param, value in zip(target.params, jump.args) if param in self.owners]
        if source not in self._looping or target not in self._looping:
            return Edge(passed, [])
        dying = self._live_out(source) - self._live_in[target]
        retain, release = list(passed), []
        for value in sorted(dying & self.owners, key=lambda value: value.id):
            if value in retain:
                retain.remove(value)
            else:
                release.append(value)
        return Edge(retain, release)

    def _find_owners(self, used: Set[Value]) -> Set[Value]:
        owners: Set[Value] = set()
        for block in self._looping:
            owners.update(param for param in block.params if isinstance(param.type, COUNTED) and param in used)
            made = [op for op in block.ops if op.result is not None and isinstance(op.result.type, COUNTED)]
            owners.update(cast(Value, op.result) for op in made if not self._is_borrowed(op))
        return owners

    def _temporaries(self, block: Block) -> Set[Value]:
        """The arrays that a block outside loops makes and that are dead at its end."""
        return _made_in(block) - self._live_out(block)

    def _counted(self, values: Iterable[Value]) -> Set[Value]:
        found = {value for value in values if isinstance(value.type, COUNTED)}
        return found | {self._root[value] for value in found if value in self._root}

    def _op_uses(self, op: Op) -> Set[Value]:
        uses: Set[Value] = set()
        for member in self._groups.get(op, [op]):
            uses |= self._counted(member.args)
            if member.exit is not None:
                uses |= self._counted(member.exit.values())
        return uses

    def _terminator_uses(self, block: Block) -> Set[Value]:
        uses = self._counted(block.terminator.values())
        for jump in block.terminator.targets():
            uses |= self._counted(jump.args)
        return uses

    def _live_out(self, block: Block) -> Set[Value]:
        """The values that are live before the block's terminator."""
        live = self._terminator_uses(block)
        for jump in block.terminator.targets():
            live |= self._live_in[jump.block]
        return live

    def _liveness(self, flow: GraphFlow) -> Dict[Block, Set[Value]]:
        self._live_in = {block: set() for block in flow.order}
        changed = True
        while changed:
            changed = False
            for block in reversed(flow.order):
                live = self._live_out(block)
                for op in reversed(block.ops):
                    live.discard(op.result)
                    live |= self._op_uses(op)
                live -= set(block.params)
                if live != self._live_in[block]:
                    self._live_in[block], changed = live, True
        return self._live_in

    def _place_in(self, block: Block) -> None:
        live = self._live_out(block)
        for op in reversed(block.ops):
            ending = (self._op_uses(op) | ({op.result} if op.result is not None else set())) - live
            self._after[op] = sorted(ending & self.owners, key=lambda value: value.id)
            live.discard(op.result)
            live |= self._op_uses(op)


def _made_in(block: Block) -> Set[Value]:
    """The arrays that a block makes."""
    made = (cast(Value, op.result) for op in block.ops if op.name in TEMPORARIES)
    return {value for value in made if isinstance(value.type, Array)}


def _find_reusable(flow: GraphFlow) -> Set[Value]:
    """The results of ufuncs and reductions of which only elements are ever read."""
    made = {cast(Value, op.result) for block in flow.order for op in block.ops if op.name in REUSABLE}
    return made.difference(*[op.args for block in flow.order for op in block.ops if op.name not in FREES_OPERANDS])
