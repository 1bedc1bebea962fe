"""`pijit.explain`: the user's source, annotated with what became a kernel, what stayed bytecode, and why."""

from __future__ import annotations

import inspect
import linecache
import sys
import types
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from pijit.core.reasons import REASONS
from pijit.decorator import why_not_python
from pijit.differential import plain_twin, unbound
from pijit.options import Options


class Report(NamedTuple):
    """What pijit makes of a function.

    `str(report)` is the source with, before each line, the kernels that it is part of
    (`k0`; `k0/py` if part of the line stays bytecode) and, below it, the breaks on it.

    Attributes:
        name: the qualified name of the function.
        filename: where its source is.
        source: (line number, text) of each source line; empty if the source is not available.
        segments: reports with id, kind ("kernel" or "bytecode"), start_line, end_line, instructions, exits,
            reason, lines.
        breaks: reports with reason_id, message, hint, filename, lineno, opname.
        skipped: the reason why the whole function runs as plain Python, or None.
        guards: what must hold for the compiled code to run, as text.
        recompiles: why the function was captured again, oldest first.
        failures: errors inside pijit, in spite of which the function ran; please report them.
        callees: reports on the functions that it calls and that are compiled on their own, as far as they were called.
        ways: the re-entries into loops that kernels leave when the interpreter has something to do.
        effects: stores and other effects on what the function did not make, with line, what and where ("k1", "bytecode").
        records: the texts of all entries, oldest first, as `pijit.dump` writes them.
    """

    name: str
    filename: str
    source: Tuple[Tuple[int, str], ...]
    segments: Tuple[Any, ...]
    breaks: Tuple[Any, ...]
    skipped: Optional[Any]
    guards: Tuple[str, ...]
    recompiles: Tuple[str, ...]
    failures: Tuple[str, ...] = ()
    callees: Tuple["Report", ...] = ()
    ways: Tuple[Any, ...] = ()
    effects: Tuple[Any, ...] = ()
    records: Tuple[Any, ...] = ()

    @property
    def kernels(self) -> Tuple[Any, ...]:
        """The segments that became kernels."""
        return tuple(segment for segment in self.segments if segment.kind == "kernel")

    def __str__(self) -> str:
        lines = [self._headline()]
        if self.skipped is not None:
            lines += ["runs as plain Python: {} {}".format(self.skipped.id, self.skipped.title),
                      self.skipped.why, "hint: " + self.skipped.hint]
        lines += ["", *self._annotated()]
        callees = [callee._headline() for callee in self.callees]
        for title, items in (("guards", self.guards), ("re-entries", self.ways), ("recompiles", self.recompiles),
                             ("internal errors", self.failures), ("callees compiled on their own", callees)):
            if items:
                lines += ["", title + ":"] + ["  {}".format(item) for item in items]
        return "\n".join(lines)

    def _headline(self) -> str:
        return "{} ({}): {}, {}, {}".format(
            self.name, self.filename, _count(len(self.kernels), "kernel"), _count(len(self.breaks), "break"),
            _count(len(self.guards), "guard"))

    def _annotated(self) -> Iterable[str]:
        """The source lines, each behind the kernels that it is part of and before what is to say of it."""
        marks = self._marks()
        width = max([len(mark) for mark in marks.values()] + [1])
        notes = self._notes(marks)
        for number, text in self.source:
            yield "{:<{}} {:5} | {}".format(marks.get(number, ""), width, number, text).rstrip()
            yield from (" " * (width + 7) + line for line in notes.pop(number, ()))
        for number in sorted(notes):
            yield "{}:{}".format(self.filename, number)
            yield from ("  " + line for line in notes[number])

    def _notes(self, marks: Dict[int, str]) -> Dict[int, List[str]]:
        """What is said below a line: its breaks, and why a segment is no kernel, if no kernel is there."""
        notes = {}  # type: Dict[int, List[str]]
        for report in self.breaks:
            hint = ["  hint: " + report.hint] if report.hint else []
            notes.setdefault(report.lineno, []).extend(["^ " + report.message] + hint)
        for segment in self.segments:
            if segment.kind != "kernel" and segment.lines and not set(segment.lines) & set(marks):
                notes.setdefault(segment.lines[-1], []).append("^ " + segment.reason)
        return notes

    def _marks(self) -> Dict[int, str]:
        """What stands before a line: `k0` in kernel 0; `k0/py` if part of the line stays bytecode."""
        marks = {}  # type: Dict[int, str]
        for segment in self.kernels:
            for number in segment.lines:
                label = "k{}".format(segment.id)
                marks[number] = "{},{}".format(marks[number], label) if number in marks else label
        for number in {report.lineno for report in self.breaks} & set(marks):
            marks[number] += "/py"
        return marks


def _count(number: int, noun: str) -> str:
    return "{} {}{}".format(number, noun, "" if number == 1 else "s")


def explain(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
    """Say what pijit makes of a function, and why not more.

    With arguments, captures the function for them without calling it and without changing what a later call
    does. Without, reports on the newest entry that calls have made; before the first call there is only the
    source, unless the function takes no arguments.

    Args:
        f: a function, jitted or not.
        *args, **kwargs: arguments as for a call.

    Returns:
        The report; print it.

    Raises:
        TypeError: `f` is not a Python function or a jitted one.

    Example:
        >>> print(pijit.explain(f, x))      # doctest: +SKIP
    """
    function, receiver = unbound(f)
    state = state_of(function)
    if state is None and not isinstance(function, types.FunctionType):
        raise TypeError("explain: f must be a Python function or a jitted one, not {!r}".format(f))
    refusal = why_not_python()
    if refusal is not None:
        return _report(function, REASONS["PJ105"], (), ())
    from pijit.core import pipeline
    from pijit.core.preview import preview

    if state is None:
        function = plain_twin(function)
        state = pipeline.attach(function, Options())
    py_func = state.py_func
    entries, failures = state.entries, state.failures
    asked = args or kwargs or (not entries and _callable_with(py_func, receiver))
    if state.skip is None and asked:
        entries, failures = preview(state, receiver + args, kwargs)
    callees = {id(callee): callee for entry in entries[-1:] for callee in entry.callees}
    reports = tuple(_report(callee.py_func, None, callee.entries, callee.recompiles, callee.failures)
                    for callee in callees.values())
    return _report(py_func, state.skip, entries, state.recompiles, failures)._replace(callees=reports)


def _callable_with(function: types.FunctionType, args: Tuple[Any, ...]) -> bool:
    try:
        inspect.signature(function).bind(*args)
    except TypeError:
        return False
    return True


def state_of(f: Any) -> Any:
    """What the compiler holds for a jitted function or method; None for any other object."""
    f, _ = unbound(f)
    function = sys.modules.get("pijit.function")  # not imported before something is jitted
    return f.state if function is not None and isinstance(f, function.Jitted) else None


def _report(function: types.FunctionType, skip: Any, entries: Sequence[Any],
            recompiles: Sequence[str], failures: Sequence[str] = ()) -> Report:
    records = tuple(entry.record for entry in entries)
    parts = {name: tuple(item for entry in entries[-1:] for item in getattr(entry, name))
             for name in ("segments", "breaks", "guards", "ways")}
    return Report(name=function.__qualname__, filename=function.__code__.co_filename,
                  source=_source(function), skipped=skip, recompiles=tuple(recompiles),
                  failures=tuple(failures), effects=records[-1].effects if records else (), records=records, **parts)


def _source(function: Any) -> Tuple[Tuple[int, str], ...]:
    """The numbered lines of a function's source; nothing when the file is not there."""
    linecache.checkcache(function.__code__.co_filename)
    try:
        lines, first = inspect.getsourcelines(function.__code__)
    except (OSError, TypeError):
        return ()
    return tuple((first + offset, line.rstrip("\n")) for offset, line in enumerate(lines))
