"""Guards from facts: guard programs of segments and entries, and the arguments of launchers.

`core/pipeline.py` and `core/entries/launch_sites.py` call it with the facts of `Captured` segments.
"""

from __future__ import annotations

import types
from typing import Any, Dict, Iterable, List, Set, Tuple
from typing import Sequence as SequenceType

import numpy as np

from pijit.core.capture.build.segment import Captured, SegmentFact
from pijit.core.capture.values.base import Slice
from pijit.core.capture.values.lattice import Const, Instance, Number, OpaqueObject, Tensor
from pijit.core.capture.values.predicates import HasUnitAxes
from pijit.core.capture.values.provenance import Root
from pijit.core.graph.types import SEVERAL
from pijit.guards import guard as kinds
from pijit.guards.axes import AxisLength
from pijit.guards.pairs import DistinctObject, SameObject
from pijit.guards.program import GuardProgram, failures_by_source
from pijit.guards.source import ClosureCell, Constant, Inner, Local, closure_of

NUMBERS = (bool, int, float, complex, np.generic)


def type_guards(source: Any, value: Any) -> List[Any]:
    """Guards on the type alone, or the code, of a value that kept code from becoming a kernel. Other types might not.

    Functions, classes and modules that are found by name are assumed to stay the same.
    """
    if isinstance(value, (Tensor, Number, Instance, Slice)):
        return value.guards(source)
    sample = value.object if isinstance(value, Const) else getattr(value, "sample", None)
    if type(sample) is np.ndarray and sample.dtype.isnative:
        return [kinds.IsArray(source, sample.dtype, sample.ndim, "A", None, None)]
    if isinstance(value, OpaqueObject) and type(sample) is types.FunctionType:
        is_local = isinstance(closure_of(source)[0], Local)
        return [kinds.FunctionCode(source, sample.__code__)] if is_local else []
    if isinstance(value, OpaqueObject) or isinstance(value, Const) and isinstance(closure_of(source)[0], Local):
        return [kinds.IsType(source, type(sample))]
    return []


def pair_guard(one: Any, other: Any, same: bool) -> Any:
    """The guard that two sources hold the same object, or different ones."""
    return (SameObject if same else DistinctObject)(one, other)


def roots_of(path: Any) -> List[Root]:
    """The local variables and stack items from which a path starts."""
    if isinstance(path, Root):
        return [path]
    return [root for base in path.children for root in roots_of(base)]


def launch_arguments(captured: Captured) -> List[Root]:
    """The arguments of the launcher, each once: first those that linked code passes, then locals that may be unbound.
    """
    paths = list(captured.inputs) + [fact.root for fact in captured.facts.values()]
    paths += [path for pair in captured.pairs for path in (pair.root, pair.other)] + list(captured.confined)
    roots = {root for path in paths for root in roots_of(path)}
    return sorted(roots, key=lambda root: (is_unsure(root, captured), root.kind, str(root.name)))


def is_unsure(root: Root, captured: Captured) -> bool:
    """Whether the launcher itself reads a local variable, because it may be unbound."""
    return root.kind == "local" and root.name in captured.unsure


def rebase(path: Any, position: Dict[Root, int], cells: SequenceType[str] = ()) -> Any:
    """A path with its root replaced by the launcher's argument. ``cells`` are the names of cells, if they are known."""
    if isinstance(path, Root):
        if path.kind == "cell":
            return ClosureCell(position[path], cells[path.name] if cells else str(path.name))
        return Local(position[path], str(path if path.kind in ("stack", "closure") else path.name))
    if not path.children:
        return path
    others = [getattr(path, name) for name in path.fields if name != "base"]
    return type(path)(rebase(path.base, position, cells), *others)


def segment_program(captured: Captured, arguments: SequenceType[Root]) -> GuardProgram:
    """The guard program of one segment; it also fetches the inputs of the graph."""
    position = {root: k for k, root in enumerate(arguments)}
    guards = [guard for fact in captured.facts.values()
              for guard in fact.value.guards(rebase(fact.root, position))]
    guards += [pair_guard(rebase(pair.root, position), rebase(pair.other, position), pair.same)
               for pair in captured.pairs]
    guards += [kinds.IsConfined(rebase(root, position), count) for root, count in captured.confined.items()]
    return GuardProgram(guards, [rebase(path, position) for path in captured.inputs])


def lines_of(segments: Iterable[Captured]) -> Dict[Any, str]:
    """By source at function entry, the first line of the program that relies on it."""
    facts = [fact for captured in segments for fact in captured.facts.values() if fact.source is not None]
    return {fact.source: fact.line for fact in reversed(facts)}


def entry_program(segments: Iterable[Captured], causes: Iterable[Tuple[Any, Any]] = (),
                  roots: Any = None, fetch: SequenceType[Any] = (),
                  before: Iterable[GuardProgram] = (), guesses_axes: bool = True) -> GuardProgram:
    """The guards of an entry: the facts of its segments that can be checked when the function is called.

    ``causes`` are (source, value) of values whose types kept code in bytecode: a call with other types must be captured
    again. With the ``roots`` of a call, the guards also require the shapes that arrays have there. ``fetch`` are the
    values that an entry lookup fetches. Guards that failed in the programs ``before`` are checked first. With
    ``guesses_axes`` there are guards for lengths on which segments rely even if it is unknown which axes decide.
    """
    guards: List[Any] = []
    segments = list(segments)
    for captured in segments:
        for fact in captured.facts.values():
            if fact.source is not None:
                guards += [g for g in fact.value.guards(fact.source) if g not in guards]
        for pair in captured.pairs:
            if pair.source is not None and pair.other_source is not None and pair.source != pair.other_source:
                guards.append(pair_guard(pair.source, pair.other_source, pair.same))
    guards += [g for g in _unit_axes_guards(segments) if g not in guards]
    guards += [g for g in _length_guards(segments, guesses_axes) if g not in guards]
    guarded = {source for guard in guards for source in guard.sources}
    for source, value in causes:
        if source not in guarded:
            guards += [g for g in type_guards(source, value) if g not in guards]
    arrays = [guard.source for guard in guards if isinstance(guard, kinds.IsArray)] if roots is not None else []
    guards += [kinds.Equals(Inner(source, "shape"), source.fetch(*roots).shape) for source in arrays]
    return GuardProgram(guards, fetch, failures_by_source(before))


def _unit_axes_guards(segments: SequenceType[Captured]) -> List[Any]:
    """Guards on the axes of length 1 of the arrays that decide which lengths of computed arrays are 1.

    Other lengths would leave the kernels in each call. The arrays may be unknown, or have no path from function entry.
    Then the guards are on all arrays that segments find.
    """
    every: List[Any] = []
    found: List[Any] = []
    are_known = True
    for captured in segments:
        arrays = {fact.root: HasUnitAxes(fact.value.type.unit_axes).guards(fact.source)
                  for fact in captured.facts.values() if fact.source is not None
                  and isinstance(fact.value, Tensor) and fact.value.type.unit_axes is not None}
        every += [guard for guards in arrays.values() for guard in guards]
        if captured.unit_arrays is None or not arrays.keys() >= captured.unit_arrays:
            are_known = False
        else:
            found += [guard for root, guards in arrays.items() if root in captured.unit_arrays for guard in guards]
    return _distinct(found if are_known else every)


def _length_guards(segments: SequenceType[Captured], guesses_axes: bool) -> List[Any]:
    """Guards on the axes that decide the lengths on which segments rely.

    Other lengths would leave the kernels in each call. The axes of a length may be unknown, or their arrays may have no
    path from function entry. Then the guards are on all axes of this length; if none has it, on all axes.
    """
    every: List[Any] = []
    found: List[Any] = []
    unknown: Set[int] = set()
    for captured in segments:
        axes = {fact.root: _axis_guards(fact) for fact in captured.facts.values()
                if fact.source is not None and isinstance(fact.value, Tensor)}
        every += [guard for guards in axes.values() for guard in guards.values()]
        for relied in captured.relied_lengths:
            if relied.axes is None or any(root not in axes for root, _ in relied.axes):
                unknown.update([relied.length] if guesses_axes else ())
            else:
                found += [axes[root][axis] for root, axis in relied.axes if axis in axes[root]]
    alike = [guard for guard in every if guard.least in unknown]
    return _distinct(found + (every if unknown - {guard.least for guard in alike} else alike))


def _axis_guards(fact: SegmentFact) -> Dict[int, AxisLength]:
    """By axes of an array, the guard that it has the length that is expected; none where no length is expected."""
    return {axis: AxisLength(fact.source, axis, length, length)
            for axis, length in enumerate(fact.value.type.lengths or ()) if length != SEVERAL}


def _distinct(guards: Iterable[Any]) -> List[Any]:
    """Guards in their order, each once."""
    found: List[Any] = []
    for guard in guards:
        if guard not in found:
            found.append(guard)
    return found


def may_wait(program: GuardProgram) -> bool:
    """Whether a loop of the segment may wait for another thread to change a value that the guards have read.

    That is a number, a length or a name outside of local variables.
    """
    changing = (kinds.Equals, kinds.IntRange, kinds.LengthIs, kinds.OwnCountIs, kinds.IsAbsent, kinds.IsUnbound)
    return any(isinstance(guard, changing)
               or isinstance(guard, kinds.IsType) and issubclass(guard.held.get() or object, NUMBERS)
               for guard in program.guards
               # the attributes of an object in a local variable are in no local variable
               if isinstance(guard, kinds.OwnCountIs)
               or any(not isinstance(source, (Local, Constant)) for source in guard.sources))
