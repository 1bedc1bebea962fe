"""Groups that one loop nest can compute together, each into a new array of its own.

For ``r = np.sqrt(x * x + y * y)`` and ``return x / r, y / r`` there are three groups (fuse.py); together they read ``x`` and
``y`` once, and ``r`` needs no memory.

**Order.** The groups run together where the last one would, and leave where the first one of their operations would.
Nothing that is between their ends has an effect, leaves, or needs a result of theirs, so that bytecode repeats all of them.

**What it is worth.** Results of such a nest do not go past the caches (kernel/streams.py), so a group is only joined to those
before it where two arrays or more need not be read again.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, NamedTuple, Optional, Set

from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.ops import VIEWS
from pijit.core.graph.passes.fuse import operands, raises_flags, scalar_operation, tells_of_floats, watched
from pijit.core.graph.types import Array

MOST_PARTS = 4

_LEAST_SHARED = 2
"""So many arrays that are not read again cost what it costs that two results go through the caches."""

_PASSED = VIEWS.union(("const", "same", "dim"))
"""Operations that may be between two parts: they do nothing that could be seen, and never fail."""


class Joint(NamedTuple):
    """The groups, in order, all of their operations, and the last operations whose results are made: those that others need,
    or nobody, as without them there would be no flags of theirs."""

    parts: List[List[Op]]
    group: List[Op]
    stored: List[Op]


def find_joints(graph: Graph, groups: Dict[Op, List[Op]]) -> Dict[Op, Joint]:
    """What can run together, by the last operation of all; ``groups`` are those of the graph, by their last ones."""
    found: Dict[Op, Joint] = {}
    inner = {op for last, group in groups.items() for op in group if op is not last}
    for block in graph.blocks:
        for parts in _runs_in(block, groups, inner):
            joint = _joined(graph, block, parts)
            if joint is not None:
                found[parts[-1][-1]] = joint
    return found


def _runs_in(block: Block, groups: Dict[Op, List[Op]], inner: Set[Op]) -> List[List[List[Op]]]:
    """The parts that may be joined, of each place with two of them or more."""
    runs: List[List[List[Op]]] = []
    run: List[List[Op]] = []
    for op in block.ops:
        if op in inner:
            continue  # it runs with the last one of its group
        part = _part(op, groups)
        if part and run and _goes_with(run, part):
            run.append(part)
        elif part:
            run = [part]
            runs.append(run)
        elif op.name not in _PASSED or op.exit is not None or {part[-1].result for part in run}.intersection(op.args):
            run = []
    return [run for run in runs if len(run) > 1]


def _part(op: Op, groups: Dict[Op, List[Op]]) -> List[Op]:
    """The group that an operation ends, or itself if it is arithmetic; none where it cannot be part of a joint nest."""
    group = groups.get(op) or ([op] if scalar_operation(op) and raises_flags(op) else [])
    simple = all(one.name in ("ufunc", "where") and one.exit is not None for one in group)
    kind = op.result.type if group and simple and op.result is not None else None
    return group if isinstance(kind, Array) and kind.ndim > 0 and kind.layout == "C" else []


def _goes_with(run: List[List[Op]], part: List[Op]) -> bool:
    """Whether another part can be joined to those before it, and that is worth it."""
    before = [op for one in run for op in one]
    both, results = before + part, {op.result for op in before}
    if len(run) == MOST_PARTS or before[-1].result.type.ndim != part[-1].result.type.ndim:  # type: ignore[union-attr]
        return False
    raising = [op for op in both if raises_flags(op)]
    if watched(both) or raising and any(map(tells_of_floats, both)):
        return False
    if len({(op.attrs.get("ignored"), op.attrs.get("heeded")) for op in raising}) > 1:
        return False  # another errstate
    reads = _reads(part)
    shared = reads.intersection(results) | reads.intersection(_reads(before))
    return len(shared) >= _LEAST_SHARED


def _reads(group: List[Op]) -> Set[Value]:
    made = {op.result for op in group}
    return {value for op in group for value in operands(op) if isinstance(value.type, Array) and value not in made}


def _joined(graph: Graph, block: Block, parts: List[List[Op]]) -> Optional[Joint]:
    position = {op: number for number, op in enumerate(block.ops)}
    group = sorted((op for part in parts for op in part), key=position.__getitem__)
    needed = set(_needed(graph, set(group)))
    read = {value for op in group for value in op.args}
    stored = [part[-1] for part in parts if part[-1].result in needed or part[-1].result not in read]
    return Joint(parts, group, stored) if stored[-1] is parts[-1][-1] else None


def _needed(graph: Graph, group: Set[Op]) -> Iterable[Value]:
    """What anything outside of a group needs."""
    for block in graph.blocks:
        for op in block.ops:
            if op not in group:
                yield from op.args
                yield from op.exit.values() if op.exit is not None else ()
        yield from block.terminator.values()
        for jump in block.terminator.targets():
            yield from jump.args
