"""Partition graph: kernels and the bytecode between them as boxes, with edges for control and data.

`capture_report` offers it to the reports; it has no effect on the code.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, Sequence, Set, Tuple, cast

from pijit.core.bytecode.analysed_code import AnalysedCode
from pijit.core.bytecode.analysis.use_def import ARGUMENT, STORE
from pijit.core.bytecode.instructions import opcodes
from pijit.core.bytecode.instructions.predicates import is_return, loads_local
from pijit.core.capture.build.segment import Captured
from pijit.core.named_tuples import NamedTuple

GLUE = (opcodes.LOCAL_LOADS | opcodes.LOCAL_STORES | opcodes.CONSTANT_LOADS | opcodes.STACK_MOVES | opcodes.PLAIN_JUMPS
        | opcodes.LOOP_SETUPS | opcodes.BLOCK_ENDS | opcodes.NO_OPERATIONS | opcodes.RETURNS)
"""Instructions that are glue: a run of bytecode with only these gets no box."""

OPERANDS = "(operands)"
"""The name of values that pass from box to box on the operand stack."""

CONTROL, DATA = "control", "data"


class Box(NamedTuple):
    """A part of the partition: ``kind`` is "start", "kernel", "bytecode" or "end".

    ``takes`` are the locals that it reads, ``first`` and ``last`` its lines. ``number`` is the kernel's, or -1.
    """

    id: int
    kind: str
    number: int
    first: int
    last: int
    instructions: int
    takes: Tuple[str, ...]


class PartitionEdge(NamedTuple):
    """An edge: ``kind`` is "control", or "data" with the locals that one box writes and the other reads."""

    source: int
    target: int
    kind: str
    names: Tuple[str, ...] = ()


class PartitionGraph(NamedTuple):
    """The boxes in program order, from the start to the end, and the edges."""

    boxes: Tuple[Box, ...]
    edges: Tuple[PartitionEdge, ...]


class KernelPart(NamedTuple):
    """The data kept of a kernel: its start, its instructions, the locals it takes, and the targets of its exits.

    The value of a target says whether its exit leaves items on the operand stack.
    """

    number: int
    start: int
    indices: FrozenSet[int]
    targets: Dict[int, bool]
    takes: Tuple[str, ...]


def parts_of(made: Iterable[Captured]) -> Tuple[KernelPart, ...]:
    """The parts of the segments that became kernels. Side exits and polls have no targets: they repeat or interrupt."""
    return tuple(
        KernelPart(captured.number, captured.start, frozenset(captured.region.instructions()),
             {exit.target: exit.stack > 0 for exit in captured.graph.exits if not (exit.side or exit.poll)},
             tuple(sorted({root.name for root in map(_base, captured.inputs) if root.kind == "local"})))
        for captured in made)


def _base(path: Any) -> Any:
    while hasattr(path, "base"):
        path = path.base
    return path if hasattr(path, "kind") else _NOWHERE


class _Nowhere(NamedTuple):
    kind: str = ""
    name: str = ""


_NOWHERE = _Nowhere()


class _Splitter:
    """Builds the partition of one function."""

    def __init__(self, analysed: AnalysedCode, parts: Sequence[KernelPart]) -> None:
        self.cfg, self.usedef = analysed.cfg, analysed.use_def
        self.instructions = analysed.function.instructions
        self.parts = parts
        runs = [run for run in self._runs() if any(self.instructions[i].opname not in GLUE for i in run)]
        self.starts: Dict[int, List[int]] = {}
        self.run_at: Dict[int, int] = {}
        self.boxes = [Box(0, "start", -1, *self._lines([0]), 0, ())]
        pieces: List[Tuple[int, bool, Any]] = [(part.start, False, part) for part in parts]
        pieces += [(run[0], True, run) for run in runs]
        self.contents: Dict[int, Any] = {}
        for _, is_run, content in sorted(pieces, key=lambda one: one[:2]):
            number = len(self.boxes)
            self.contents[number] = content
            self.boxes.append(self._run_box(number, content) if is_run else self._kernel_box(number, content))
            if is_run:
                self.run_at.update((i, number) for i in content)
            else:
                self.starts.setdefault(content.start, []).append(number)
        self.end = len(self.boxes)
        self.boxes.append(Box(self.end, "end", -1, *self._lines([len(self.instructions) - 1]), 0, ()))

    def _runs(self) -> List[List[int]]:
        """Runs of consecutive instructions that are in no kernel."""
        inside = {i for part in self.parts for i in part.indices}
        runs: List[List[int]] = []
        for i, block in enumerate(self.cfg.block_of):
            if block is not None and i not in inside:
                if runs and runs[-1][-1] == i - 1:
                    runs[-1].append(i)
                else:
                    runs.append([i])
        return runs

    def _lines(self, indices: Iterable[int]) -> Tuple[int, int]:
        lines = [line for line in (self.instructions[i].lineno for i in indices) if line] or [0]
        return min(lines), max(lines)

    def _kernel_box(self, number: int, part: KernelPart) -> Box:
        return Box(number, "kernel", part.number, *self._lines(part.indices), len(part.indices), part.takes)

    def _run_box(self, number: int, run: List[int]) -> Box:
        return Box(number, "bytecode", -1, *self._lines(run), len(run), tuple(sorted(dict(self._reads(run)))))

    def _reads(self, run: Iterable[int]) -> Iterator[Tuple[str, int]]:
        """The locals that a run of bytecode reads, each with the instruction."""
        return ((self.instructions[i].value, i) for i in run if loads_local(self.instructions[i]))

    def _reached(self, targets: Iterable[int]) -> Set[int]:
        """The boxes that control reaches first from these instructions."""
        found: Set[int] = set()
        visited: Set[int] = set()
        todo = list(targets)
        while todo:
            i = todo.pop()
            if i in visited:
                continue
            visited.add(i)
            if i in self.starts:
                found.update(self.starts[i])
            elif i in self.run_at:
                found.add(self.run_at[i])
            elif is_return(self.instructions[i]):
                found.add(self.end)
            else:
                todo += cast("List[int]", self.cfg.successors[i])
        return found

    def edges(self) -> Iterator[PartitionEdge]:
        for target in sorted(self._reached([0])):
            yield PartitionEdge(0, target, CONTROL)
        for number, content in self.contents.items():
            targets = content.targets if isinstance(content, KernelPart) else self._leaving(content)
            for target in sorted(self._reached(targets) | ({self.end} if self._returns(content) else set())):
                yield PartitionEdge(number, target, CONTROL)
        for (source, target), names in sorted(self._data().items()):
            yield PartitionEdge(source, target, DATA, tuple(sorted(names)))

    def _leaving(self, run: List[int]) -> List[int]:
        return [target for i in run for target in cast("List[int]", self.cfg.successors[i]) if target not in run]

    def _returns(self, content: Any) -> bool:
        return not isinstance(content, KernelPart) and any(is_return(self.instructions[i]) for i in content)

    def _data(self) -> Dict[Tuple[int, int], Set[str]]:
        """The locals that pass from box to box; arguments come from the start box."""
        found: Dict[Tuple[int, int], Set[str]] = {}
        writers = [(number, set(content.indices if isinstance(content, KernelPart) else content))
                   for number, content in self.contents.items()]
        for number, content in self.contents.items():
            reads = ([(name, content.start) for name in content.takes] if isinstance(content, KernelPart)
                     else self._reads(content))
            for name, at in reads:
                for definition in self.usedef.reaching(at, name):
                    sources = [source for source, indices in writers
                               if definition.kind == STORE and definition.at in indices]
                    sources += [0] * (definition.kind == ARGUMENT)
                    for source in sources:
                        if source != number:
                            found.setdefault((source, number), set()).add(name)
            pushing = [i for i, pushes in content.targets.items() if pushes] if isinstance(content, KernelPart) else []
            for target in self._reached(pushing) - {number, self.end}:
                found.setdefault((number, target), set()).add(OPERANDS)
        return found


def split_of(analysed: AnalysedCode, parts: Sequence[KernelPart]) -> PartitionGraph:
    """The partition of a function with these kernels."""
    splitter = _Splitter(analysed, parts)
    return PartitionGraph(tuple(splitter.boxes), tuple(splitter.edges()))
