"""What building a segment gives: its graph, what it starts from, and what it relies on."""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, NamedTuple, Optional, Set, Tuple

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.codec.decode import Function
from pijit.core.capture.analysis.regions import Region
from pijit.core.capture.values.budgets import check_size, size_of
from pijit.core.capture.values.lattice import Const
from pijit.core.capture.values.virtual_object import Record
from pijit.core.errors import Break
from pijit.core.graph.ir import Graph, Op


class Fact(NamedTuple):
    """Something relied on: where the value is when the segment starts, at function entry (or None), and what it is.

    ``value`` is an Abstract or one of `conditions`; ``line`` is the line of the program that relies on it first.
    """

    root: Any
    source: Any
    value: Any
    line: str = ""


class InlinedCall(NamedTuple):
    """A function that was inlined - its name, file and first line - and where: the caller's name, file and line."""

    name: str
    filename: str
    line: int
    caller: str
    call_file: str
    call_line: int


class Access(NamedTuple):
    """An object of which a place is read or changed: where it was at function entry, and which one it is.

    ``relied``: what the place holds is known under guards or as a variable, not only looked at when control comes
    there.
    """

    source: Any
    identity: Optional[int]
    changes: bool
    relied: bool


class Pair(NamedTuple):
    """Two paths that must lead to one object, or to two: at the segment's start, and at function entry (or None)."""

    root: Any
    other: Any
    source: Any
    other_source: Any
    same: bool


class Captured:
    """A region with its graph: what the linker, the guards and the reports need.

    Attributes:
        region, graph: the segment.
        depth: operand stack items below this one are left alone.
        head_depth: operand stack depth at the head.
        inputs: for each graph input its root.
        facts, pairs: what must be guarded.
        unsure: locals that may be unbound where it begins, so that linked code cannot load them.
        has_loop: whether it loops, inlined callees included.
        inlined: how many instructions of callees were built into it.
        size: how much code the graph is before passes.
        unwinding: the returns that run finally bodies first, as on CPython 3.7.
        classes: those of objects that it makes, by their ids.
        found: objects that captured code made before, by where it finds them.
        running: for the flow of callees with cell variables, that of their code as it runs.
        number: which kernel of its function this is to be, or which re-entry, from 1; 0: none.
        calls: the calls that were inlined.
    """

    def __init__(self, region: Region, graph: Graph, depth: int, head_depth: int) -> None:
        self.region = region
        self.graph = graph
        self.depth = depth
        self.head_depth = head_depth
        self.inputs: List[Any] = []
        self.pairs: List[Pair] = []
        self.facts: Dict[Tuple[Any, ...], Fact] = {}
        self.unsure: FrozenSet[str] = frozenset()
        self.has_loop = region.has_loop
        self.inlined = 0
        self.size = 0
        self.unwinding: FrozenSet[int] = frozenset()
        self.running: Dict[CFG, CFG] = {}
        self.classes: Dict[int, Const] = {}
        self.found: Dict[Any, Record] = {}
        self.number = 0
        self.calls: Dict[InlinedCall, None] = {}

    def grow(self, op: Op, inlined: bool) -> None:
        """Note an operation of the graph. Raises Break or Exhausted where these are too many, see `check_size`."""
        self.size += size_of(op)
        check_size(self.size, inlined)

    def renamed(self, name: str, number: int) -> Dict[str, str]:
        """Give it a number and its graph a name; the new name by the old one."""
        before = self.graph.name
        self.number, self.graph.name = number, name
        return {before: name}

    @property
    def start(self) -> int:
        """The bytecode instruction where the segment begins."""
        return self.region.head.start

    def returning(self, function: Function) -> Set[int]:
        """The exits after which only the return is left, of a segment that starts where the function does."""
        if self.start != 0:
            return set()
        return {number for number, exit in enumerate(self.graph.exits) if not (exit.side or exit.poll)
                and exit.stack == 1 and function.instructions[exit.target].opname == "RETURN_VALUE"
                and exit.target not in self.unwinding}


class Refusal(Break):
    """An instruction that analysis could do and that cannot be built: it stays bytecode after all."""

    def __init__(self, index: int, error: Break) -> None:
        super().__init__(error.reason_id, **error.facts)
        self.trail = error.trail
        self.index = index


class Unhandled(Refusal):
    """A kernel cannot jump to the handler of an instruction after all."""
