"""Captured segments: the result of building a region: its graph, its inputs and the facts it relies on.

`graph_builder` makes them; the driver and `core/pipeline.py` read them. It must not decide anything.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Optional, Set, Tuple, Union

from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.instructions.predicates import is_return
from pijit.core.capture.analysis.regions import Region
from pijit.core.capture.values.budgets import CaptureBudget, size_of
from pijit.core.capture.values.lattice import Const
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.length_origins import LengthOrigins
from pijit.core.named_tuples import NamedTuple


class SegmentFact(NamedTuple):
    """A fact that a segment relies on: the path to the value from segment start and from function entry, and the value.

    ``source`` is None if there is no path from function entry. ``value`` is an Abstract or one of `predicates`.
    ``line`` is the first line of the program that relies on it.
    """

    root: Any
    source: Any
    value: Any
    line: str = ""


class InlinedCall(NamedTuple):
    """An inlined call: name, file and first line of the callee; name, file and line of the caller."""

    name: str
    filename: str
    line: int
    caller: str
    call_file: str
    call_line: int


class Access(NamedTuple):
    """An access to a location in an object: the object's path from function entry, and its identity at capture.

    ``relied``: the location's content is known under guards or as a variable, rather than only read at run time.
    """

    source: Any
    identity: Union[int, Tuple[str, int], None]
    changes: bool
    relied: bool


class AliasedPair(NamedTuple):
    """Two paths that must lead to one object, or to two: from segment start, and from function entry (or None)."""

    root: Any
    other: Any
    source: Any
    other_source: Any
    same: bool


class ReliedLength(NamedTuple):
    """An integer on which a segment relies, and the axes of arrays from which it follows.

    An axis is the path to its array from segment start, and its number. ``axes`` is None if they are not known.
    """

    length: int
    axes: Optional[Tuple[Tuple[Any, int], ...]]


class Captured:
    """A region with its graph and all that the linker, the guards and the reports need.

    Attributes:
        region, graph: the segment.
        depth: operand stack items below this depth are not touched.
        entry_depth: operand stack depth at the region's entry.
        inputs: the root of each graph input.
        facts, pairs: the facts to guard.
        unsure: locals that may be unbound at the start, so that linked code cannot load them.
        has_loop: whether it loops, inlined callees included.
        inlined: the number of instructions of callees in it.
        size: the size of the graph before passes.
        unwinding: the returns that run finally bodies first, as on CPython 3.7.
        classes: the classes of objects that it makes, by id.
        found: objects that captured code made before, by the path to them.
        starts: the virtual objects at the start, by the paths to them.
        relies_on_ownership: whether it delays or drops stores into these, or knows that no other code stores into them.
        unit_lengths: the lengths of computed arrays of which it expects whether they are 1.
        unit_arrays: the paths to the arrays from which they follow; None if these are not known.
        expected: the values that integers of the graph are expected to have because of lengths of arrays.
        relied_lengths: these values, with the axes from which they follow.
        confined: by the path to such an object, the number of references to it, which are all in the frame.
        number: the number of the kernel or re-entry in its function, from 1; 0: none.
        calls: the calls that were inlined.
    """

    def __init__(self, region: Region, graph: Graph, depth: int, entry_depth: int) -> None:
        self.region = region
        self.graph = graph
        self.depth = depth
        self.entry_depth = entry_depth
        self.inputs: List[Any] = []
        self.pairs: List[AliasedPair] = []
        self.facts: Dict[Tuple[Any, ...], SegmentFact] = {}
        self.unsure: FrozenSet[str] = frozenset()
        self.has_loop = region.has_loop
        self.inlined = 0
        self.size = 0
        self.unwinding: FrozenSet[int] = frozenset()
        self.classes: Dict[int, Const] = {}
        self.found: Dict[Any, VirtualObject] = {}
        self.starts: Dict[Any, VirtualObject] = {}
        self.relies_on_ownership = False
        self.unit_lengths: List[Value] = []
        self.unit_arrays: Optional[FrozenSet[Any]] = frozenset()
        self.expected: Dict[Value, int] = {}
        self.relied_lengths: List[ReliedLength] = []
        self.confined: Dict[Any, int] = {}
        self.number = 0
        self.calls: Dict[InlinedCall, None] = {}

    def grow(self, op: Op, inlined: bool, budget: CaptureBudget) -> None:
        """Note an operation of the graph. Raises Break or Exhausted beyond the size limit, see `check_size`."""
        self.size += size_of(op)
        budget.check_size(self.size, inlined)

    def find_relied_lengths(self) -> None:
        """Find the axes from which the expected integers follow; before passes replace values of the graph."""
        if not self.expected and not self.unit_lengths:
            return
        origins, paths = LengthOrigins(self.graph), dict(zip(self.graph.inputs, self.inputs))
        for word, length in self.expected.items():
            axes = origins.axes(word)
            self.relied_lengths.append(ReliedLength(
                length, tuple((paths[array], axis) for array, axis in axes) if axes is not None else None))
        found = [origins.axes(word) for word in self.unit_lengths]
        known = [axes for axes in found if axes is not None]
        if len(known) == len(found):
            self.unit_arrays = frozenset(paths[array] for axes in known for array, _ in axes)
        else:
            self.unit_arrays = None

    def renamed(self, name: str, number: int) -> Dict[str, str]:
        """Set the number and the graph's name; returns the new name by the old one."""
        before = self.graph.name
        self.number, self.graph.name = number, name
        return {before: name}

    @property
    def start(self) -> int:
        """The bytecode instruction at which the segment begins."""
        return self.region.entry.start

    def returning(self, function: Function) -> Set[int]:
        """The exits after which only a return is left, if the segment starts where the function does."""
        if self.start != 0:
            return set()
        return {number for number, exit in enumerate(self.graph.exits) if not (exit.side or exit.poll)
                and exit.stack == 1 and is_return(function.instructions[exit.target])
                and exit.target not in self.unwinding}


class Refusal(Break):
    """An instruction that analysis captured but that cannot be built. It stays bytecode."""

    def __init__(self, index: int, error: Break) -> None:
        super().__init__(error.reason_id, **error.facts)
        self.trail = error.trail
        self.index = index


class Unhandled(Refusal):
    """A kernel cannot jump to the handler of an instruction."""
