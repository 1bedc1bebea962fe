"""`pijit.explain`: reports which code became kernels, which stayed bytecode, and why.

`pijit` exports it, and the command line calls it. It must not change a record.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import types
from typing import Any, Callable, Sequence, Tuple

from pijit.core.capture_records import ExitCounts
from pijit.core.pythons import why_not_python
from pijit.core.reasons import REASONS
from pijit.decorator import called_methods, is_written
from pijit.options import Options
from pijit.plain_functions import plain_twin, unbound
from pijit.reporting.report import Report


def explain(f: Callable[..., Any], *args: Any, profile: bool = False, **kwargs: Any) -> Report:
    """Report how pijit compiles a function, and why parts of it stay bytecode.

    With arguments, captures the function for them without calling it and without changing what a later call does.
    Without arguments, reports on the newest entry that calls have made. Before the first call there is only the
    source, unless the function takes no arguments.

    Args:
        f: a function, jitted or not; a class decorated with `jit` that defines nothing to compile; or the result of
            `grad`.
        args, kwargs: arguments as for a call.
        profile: show the times of the newest `pijit.profile` beside the lines. It does not run the function. Pass an
            argument of `f` that has this name by position.

    Returns:
        The report; print it.

    Raises:
        TypeError: `f` is not a Python function or a jitted one, or a class with methods that should be passed instead;
            or it is a gradient function, and there are no arguments; or `profile` is no bool, or is True for a class
            or a gradient function.
        ValueError: `profile` is True, and there is no profile.

    Example:
        >>> print(pijit.explain(f, x))      # doctest: +SKIP
    """
    if not isinstance(profile, bool):
        raise TypeError("explain: profile must be True or False, not {!r}; pass an argument of f that has this name by "
                        "position".format(profile))
    if profile:
        return _profiled(f, explain(f, *args, **kwargs))
    if is_written(f):
        return _class_report(f)  # type: ignore[arg-type]
    if hasattr(type(f), "gradient_report"):
        return f.gradient_report(*args, **kwargs)  # type: ignore[attr-defined, no-any-return]
    function, receiver = unbound(f)
    state = state_of(function)
    if state is None and not isinstance(function, types.FunctionType):
        raise TypeError("explain: f must be a Python function or a jitted one, not {!r}".format(f))
    refusal = why_not_python()
    if refusal is not None:
        return _report(function, REASONS["PJ105"], (), ())
    from pijit.core import function_state
    from pijit.core.preview import preview

    if state is None:
        function = plain_twin(function)
        state = function_state.attach(function, Options())
    py_func = state.py_func
    entries, failures = state.entries, state.failures
    asked = args or kwargs or (not entries and _callable_with(py_func, receiver))
    if state.skip is None and asked:
        entries, failures = preview(state, receiver + args, kwargs)
    callees = {id(callee): callee for entry in entries[-1:] for callee in entry.callees}
    reports = tuple(_report(callee.py_func, None, callee.entries, callee.recompiles, callee.failures)
                    for callee in callees.values())
    return _report(py_func, state.skip, entries, state.recompiles, failures,
                   counts_of(state.entries))._replace(callees=reports)


def _profiled(f: Any, report: Any) -> Report:
    """A report with the newest profile of its function and of its callees."""
    from pijit.reporting.profile import newest

    if is_written(f) or not isinstance(report, Report):
        raise TypeError("explain: profile must be False for {!r}, which is no function".format(f))
    found = newest()

    def profiled(one: Report) -> Report:
        return one._replace(profile=found.of(one.name, one.filename, one.line),
                            callees=tuple(map(profiled, one.callees)))

    return profiled(report)


def _callable_with(function: types.FunctionType, args: Tuple[Any, ...]) -> bool:
    try:
        inspect.signature(function).bind(*args)
    except TypeError:
        return False
    return True


def state_of(f: Any) -> Any:
    """The compiler state of a jitted function or method; None for any other object."""
    f, _ = unbound(f)
    function = sys.modules.get("pijit.function")  # not imported before something is jitted
    return f.state if function is not None and isinstance(f, function.Jitted) else None


def _class_report(cls: type) -> Report:
    """Report on a class that `jit` leaves unchanged, because it defines neither `__call__` nor `construct`."""
    methods = called_methods(cls)
    if methods:
        raise TypeError("explain: f must be a function, not {!r}: ask for its {}".format(cls, methods[0]))
    filename = getattr(sys.modules.get(cls.__module__), "__file__", None) or "<unknown>"
    return Report(name=cls.__qualname__, filename=filename, source=_source(cls), skipped=REASONS["PJ104"],
                  segments=(), breaks=(), guards=(), recompiles=())


def _report(function: types.FunctionType, skip: Any, entries: Sequence[Any],
            recompiles: Sequence[str], failures: Sequence[str] = (), exits: Any = None) -> Report:
    records = tuple(entry.record for entry in entries)
    newest = entries[-1:]
    guards = [guard for entry in newest for guard in entry.guards]
    return Report(name=function.__qualname__, filename=function.__code__.co_filename,
                  line=function.__code__.co_firstlineno, source=_source(function), skipped=skip,
                  recompiles=tuple(recompiles), failures=tuple(failures),
                  effects=records[-1].effects if records else (), records=records,
                  exits=exits if exits is not None else counts_of(entries), slow=_slow(entries),
                  inlined=records[-1].inlined if records else (),
                  retired=tuple(entry.retired for entry in entries if entry.retired),
                  segments=tuple(one for entry in newest for one in entry.reports.segments),
                  breaks=tuple(one for entry in newest for one in entry.reports.breaks),
                  reentry_reports=tuple(one for entry in newest for one in entry.reports.reentries),
                  guards=tuple(sorted(guards, key=lambda guard: "L['" not in guard)))


def cold_report(f: Any) -> Report:
    """The report on a function of a program that was called but is still too cold to be compiled."""
    return _report(f.py_func, REASONS["PJ407"], (), (), ())


def module_loop_report(filename: str, lines: Tuple[int, int]) -> Report:
    """The report on a loop at module level, by its first and its last line."""
    linecache.checkcache(filename)
    source = tuple((number, linecache.getline(filename, number).rstrip("\n")) for number in range(
        lines[0], lines[1] + 1))
    return Report(name="<module>", filename=filename, source=source, skipped=REASONS["PJ408"], segments=(), breaks=(),
                  guards=(), recompiles=())


def counts_of(entries: Sequence[Any]) -> Any:
    """The current counts of exits and re-entries of the newest entry's kernels."""
    if not entries:
        return ExitCounts()
    from pijit.core.exit_counts import exit_counts

    return exit_counts(entries[-1].counters)


def _slow(entries: Sequence[Any]) -> Tuple[Any, ...]:
    """The kernels of the newest entry that are slower than they could be."""
    if not entries:
        return ()
    from pijit.core.exit_counts import slow_kernels

    return slow_kernels(entries[-1].counters)


def _source(item: Any) -> Tuple[Tuple[int, str], ...]:
    """The numbered source lines of a function or a class; empty if the file is not available."""
    item = getattr(item, "__code__", item)
    linecache.checkcache(getattr(item, "co_filename", None))
    try:
        lines, first = inspect.getsourcelines(item)
    except (OSError, TypeError):
        return ()
    return tuple((first + offset, line.rstrip("\n")) for offset, line in enumerate(lines))
