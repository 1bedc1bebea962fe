"""Guard programs: guards and fetch sources compiled to one C object that walks their sources once.

`GuardProgram` is the C type `_evaluate.Program` with a compiler and a Python twin. The compiler numbers the sources,
each of which is fetched once, even if several guards and paths share it. It lists the steps in evaluation order. The
twin, `check_python`, evaluates by the Python methods of sources and guards. In mirror mode the twin repeats every
evaluation in C, and a disagreement is an AssertionError.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from pijit.core.named_tuples import NamedTuple
from pijit.guards import _evaluate
from pijit.guards.guard import Guard, GuardStep
from pijit.guards.source import (
    Attr,
    ClassAttr,
    ClosureCell,
    Constant,
    Global,
    Inner,
    Item,
    KeyAt,
    Local,
    Scope,
    Source,
    SourceError,
    TypeOf,
    closure_of,
)

__all__ = ["GuardProgram", "evaluation_order", "failures_by_source", "mirror_disagreements", "set_mirror"]

set_mirror = _evaluate.set_mirror
mirror_disagreements = _evaluate.mirror_disagreements

BORROWED = (Local, Constant)
FETCHES: Dict[type, Callable[[Any], GuardStep]] = {
    Local: lambda source: GuardStep("FETCH_LOCAL", number=source.index),
    Constant: lambda source: GuardStep("FETCH_CONSTANT", object=source.value),
    ClosureCell: lambda source: GuardStep("FETCH_CELL", number=source.index),
    Global: lambda source: GuardStep("FETCH_GLOBAL", object=source.name),
    Scope: lambda source: GuardStep("FETCH_SCOPE"),
    Attr: lambda source: GuardStep("FETCH_ATTR", object=source.name),
    Item: lambda source: GuardStep("FETCH_ITEM", number=source.position, object=source.key),
    KeyAt: lambda source: GuardStep("FETCH_KEY", number=source.position),
    TypeOf: lambda source: GuardStep("FETCH_TYPE"),
    ClassAttr: lambda source: GuardStep("FETCH_CLASS_ATTR", object=source.name),
    Inner: lambda source: GuardStep("FETCH_INNER", number=source.number),
}


def failures_by_source(programs: Iterable[GuardProgram]) -> Dict[Source, int]:
    """The number of guard failures, for each source of such a guard and each source on the path to it."""
    counts: Counter[Source] = Counter()
    for program in programs:
        for guard, count in zip(program.guards, program.failures):
            if count:
                counts.update(dict.fromkeys({part for source in guard.sources for part in closure_of(source)}, count))
    return dict(counts)


def evaluation_order(guards: Sequence[Guard], failures: Optional[Mapping[Source, int]] = None) -> List[Guard]:
    """The guards in evaluation order, each once.

    Guards on the sources that failed most often come first. Otherwise the given order is kept, except that of guards
    on the same sources cheaper ones come first.

    Example:
        >>> x, y = Local(0, "x"), Local(1, "y")
        >>> [str(guard) for guard in evaluation_order([Equals(x, 3), IsType(y, int), IsType(x, int)])]
        ["type(L['x']) is int", "type(L['y']) is int", "L['x'] == 3"]
    """
    distinct = list(dict.fromkeys(guards))
    groups: Dict[Tuple[Source, ...], List[Guard]] = {}
    for guard in distinct:
        groups.setdefault(guard.sources, []).append(guard)
    queues = {sources: iter(sorted(group, key=lambda guard: guard.cost)) for sources, group in groups.items()}
    ordered = [next(queues[guard.sources]) for guard in distinct]
    counts = failures or {}
    return sorted(ordered, key=lambda guard: -min(counts.get(source, 0) for source in guard.sources))


class _Compiler:
    """Numbers sources and lists steps. Borrowed registers come first, then the owned ones in the order of filling."""

    def __init__(self, guards: Sequence[Guard], fetch: Sequence[Source]) -> None:
        needed = [source for guard in guards for source in guard.reads] + list(fetch)
        everything = {part for source in needed for part in closure_of(source)}
        self.borrowed = sum(isinstance(source, BORROWED) for source in everything)
        self.filled = [0, self.borrowed]
        self.registers: Dict[Source, int] = {}
        self.steps: List[Tuple[Any, ...]] = []

    def emit(self, guard: int, step: GuardStep, out: int, reads: Sequence[int]) -> None:
        a, b = (list(reads) + [0, 0])[:2]
        self.steps.append((_evaluate.OPERATIONS[step.operation], guard, out, a, b, step.number, step.object,
                           step.mask, step.flags))

    def register_of(self, source: Source, guard: int) -> int:
        """The register of a source's value; the steps that fill it are charged to `guard`."""
        if source not in self.registers:
            bases = [self.register_of(child, guard) for child in source.children]
            run = 0 if isinstance(source, BORROWED) else 1
            self.emit(guard, FETCHES[type(source)](source), self.filled[run], bases)
            self.registers[source] = self.filled[run]
            self.filled[run] += 1
        return self.registers[source]

    def add_guard(self, guard: Guard, index: int) -> None:
        registers = [self.register_of(source, index) for source in guard.reads]
        self.emit(index, guard.step(), 0, registers)


class CheckResult(NamedTuple):
    """The result of the twin.

    Attributes:
        fetched: the values, if all guards held, else None.
        failed: the index of the failed guard; NO_GUARD if no guard failed but a fetch source was absent.
        failure: the failed guard and the cause, or the absent source; None if all guards held.
    """

    fetched: Optional[List[Any]]
    failed: Optional[int] = None
    failure: Optional[str] = None

    @property
    def reason(self) -> Optional[str]:
        """The failure as a sentence."""
        return self.failure if self.failed in (None, NO_GUARD) else f"guard {self.failure}"


NO_GUARD = -1


class GuardProgram(_evaluate.Program):
    """Guards on sources, and sources to fetch, compiled.

    Args:
        guards: the conditions.
        fetch: the sources whose values `check` returns, in this order.
        failures: the number of failures of other programs' guards on these sources, see failures_by_source.

    Attributes:
        guards, fetch: as given, as tuples.
        order: the guards in evaluation order, see evaluation_order.
        hits, misses: the number of evaluations in which all guards held, and of the others.
        failures: the number of failures of each guard, in the order of `guards`; an absent source fails the guard that
            first reads it.
        last_failed: the Guard that failed last, or None.
        dead: whether the guards never hold again: retire() was called, or an object that a guard compares with is gone.

    Example:
        >>> x = Local(0, "x")
        >>> GuardProgram([IsType(x, float)], [x]).check([1.5], {}, {})
        [1.5]
    """

    __slots__ = ("order",)
    order: Tuple[Guard, ...]

    def __new__(cls, guards: Sequence[Guard], fetch: Sequence[Source] = (),
                failures: Optional[Mapping[Source, int]] = None) -> GuardProgram:
        guards, fetch = tuple(guards), tuple(fetch)
        order = evaluation_order(guards, failures)
        index_of = {guard: index for index, guard in reversed(list(enumerate(guards)))}
        compiler = _Compiler(order, fetch)
        for guard in order:
            compiler.add_guard(guard, index_of[guard])
        results = tuple(compiler.register_of(source, NO_GUARD) for source in fetch)
        self = super().__new__(cls, guards, fetch, tuple(compiler.steps), results, compiler.borrowed,
                               len(compiler.registers))
        self.order = tuple(order)
        return self  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return "\n".join(map(str, self.order))

    def evaluate_python(self, values: Sequence[Any], globals: Dict[str, Any],
                        builtins: Dict[str, Any]) -> CheckResult:
        """One evaluation by the Python twin, which counts no hits or failures."""
        for guard in self.order:
            reason = guard.why_not_at(values, globals, builtins)
            if reason is not None:
                return CheckResult(None, self.guards.index(guard), f"`{guard}` failed: {reason}")
        try:
            return CheckResult([source.fetch(values, globals, builtins) for source in self.fetch])
        except SourceError as absence:
            return CheckResult(None, NO_GUARD, str(absence))

    def check_python(self, values: Sequence[Any], globals: Dict[str, Any],
                     builtins: Dict[str, Any]) -> Optional[List[Any]]:
        """As `check`, by the Python twin."""
        return self.evaluate_python(values, globals, builtins).fetched

    def explain_failure(self, values: Sequence[Any], globals: Dict[str, Any],
                        builtins: Dict[str, Any]) -> Optional[str]:
        """The reason why `check` fails on these roots: the guard, the expected and the found fact; None if it passes.

        Example:
            >>> GuardProgram([Equals(Local(0, "n"), 3)]).explain_failure([4], {}, {})
            "guard `L['n'] == 3` failed: L['n'] was 3 and is now 4"
        """
        return self.evaluate_python(values, globals, builtins).reason

    def compare_with_twin(self, values: List[Any], globals: Any, builtins: Any, passed: bool, failed: int,
                          fetched: Optional[List[Any]]) -> None:
        """Raise AssertionError if the twin disagrees with the result of C; called by C in mirror mode.

        Args:
            values, globals, builtins: the roots; None for a dict that C did not have.
            passed: whether all guards held.
            failed: the index of the guard that did not hold, or NO_GUARD.
            fetched: the values that C fetched, or None if it fetched none.
        """
        if failed >= 0 and not self.guards[failed].has_twin:
            return
        twin = self.evaluate_python(values, globals, builtins)
        same = (twin.fetched is not None) == passed
        if same and passed and fetched is not None:
            same = all(source.is_same(*pair) for source, *pair in zip(self.fetch, fetched, twin.fetched or ()))
        elif same and not passed:
            same = twin.failed == failed
        if not same:
            found = "all guards held" if passed else f"guard {failed} failed"
            raise AssertionError(f"guard evaluation in C and in Python differ: {found} in C; Python: "
                                 f"{twin.reason or 'all guards held'}")
