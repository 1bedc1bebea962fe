"""Profiles: the counts and times of calls and kernels while profiling is on, by function and kernel.

The extension modules count. `pijit/reporting/profile.py` calls `begin`, `end` and `profiles_since`. While profiling
is on, `function_state` tells about each new entry. Several profiles may be on at a time. Counts only grow, and each
profile takes the differences to its start. Threads begin, read and end profiles one at a time: `fork_safety.counting`.
"""

from __future__ import annotations

from typing import Any, ContextManager, Dict, List, Tuple

from pijit.core import _hook, _launcher
from pijit.core.entries.entry import Entry
from pijit.core.exit_counts import Counted, exit_counts
from pijit.core.function_state import State, all_states
from pijit.core.kernel import fork_safety
from pijit.core.named_tuples import NamedTuple
from pijit.core.profiling.records import FunctionPlace, FunctionProfile, KernelProfile
from pijit.core.profiling.watcher import Watcher, set_watcher

_NS = 1e-9
NO_TIMES = (0, 0, 0, 0, 0)
"""Runs, timed runs, nanoseconds, bytes in and bytes out of a launcher that has not run."""
NO_CALLS = (0, 0)
"""Calls and nanoseconds of a function that was not called."""


class LauncherCounts(NamedTuple):
    """The counts of a launcher at one moment, or since one; `exit_counts` reads them in place of the launcher."""

    calls: int
    misses: int
    exit_counts: Tuple[int, ...]
    cause_counts: Tuple[int, ...]
    program: Any
    wait: int


class ProfiledKernel(NamedTuple):
    """A launcher of an entry: its counters, its function, and its first and last line."""

    counted: Counted
    place: FunctionPlace
    first: int
    last: int


class ProfileStart(NamedTuple):
    """The counts at the start of a profile: by launcher the times and the counts, by function calls and time."""

    times: Dict[int, Tuple[int, ...]]
    counts: Dict[int, LauncherCounts]
    calls: Dict[int, Tuple[int, int]]
    compiling: Dict[FunctionPlace, int]


class _Profiling:
    """What is known while profiling is on.

    Attributes:
        count: the number of profiles that are on.
        kernels: the kernels of all entries, by the identity of their launcher.
        compiling: the nanoseconds in which functions were compiled.
    """

    count = 0
    kernels: Dict[int, ProfiledKernel] = {}
    compiling: Dict[FunctionPlace, int] = {}


class _ProfileWatcher(Watcher):
    """Learns about entries, and takes the time of compilations."""

    def entry_made(self, state: State, entry: Entry) -> None:
        with fork_safety.counting:
            if _Profiling.count:
                _note(state, entry)

    def compiling(self, state: State) -> ContextManager[Any]:
        return _Compiling(place_of(state.py_func))


class _Compiling:
    """Context manager for a compilation: its time counts for a function."""

    def __init__(self, place: FunctionPlace) -> None:
        self._place = place

    def __enter__(self) -> None:
        self._span = _launcher.begin_span()

    def __exit__(self, *exception: Any) -> None:
        ns = _launcher.end_span(self._span)
        with fork_safety.counting:
            _Profiling.compiling[self._place] = _Profiling.compiling.get(self._place, 0) + ns * bool(_Profiling.count)


def begin() -> ProfileStart:
    """Switch profiling on for one more profile."""
    with fork_safety.counting:
        _Profiling.count += 1
        if _Profiling.count == 1:
            _switch_on()
        times = _times()
        counts = {number: _counts(one) for number, one in list(_Profiling.kernels.items())}
        return ProfileStart(times, counts, _calls(), dict(_Profiling.compiling))


def _switch_on() -> None:
    for state in all_states():
        for entry in state.entries:
            _note(state, entry)
    set_watcher(_ProfileWatcher())
    _launcher.set_profiling(True)
    _hook.set_profiling(True)


def end() -> None:
    """Switch profiling off for one profile."""
    with fork_safety.counting:
        _Profiling.count -= 1
        if not _Profiling.count:
            _hook.set_profiling(False)
            _launcher.set_profiling(False)
            set_watcher(None)
            _Profiling.kernels.clear()
            _Profiling.compiling.clear()


def profiles_since(start: ProfileStart) -> List[FunctionProfile]:
    """The functions that were called and the kernels that ran since a profile's start, the hottest first."""
    found: Dict[FunctionPlace, FunctionProfile] = {}
    for function, calls, ns in _hook.call_times():
        before = start.calls.get(id(function), NO_CALLS)
        if calls > before[0]:
            place = _place_of(function)
            one = found.get(place) or FunctionProfile(*place)
            found[place] = one._replace(calls=one.calls + calls - before[0],
                                        bytecode=one.bytecode + (ns - before[1]) * _NS)
    for place, ns in list(_Profiling.compiling.items()):
        one = found.get(place) or FunctionProfile(*place)
        found[place] = one._replace(compiling=(ns - start.compiling.get(place, 0)) * _NS)
    kernels, counters = _kernels_since(start)
    for place in kernels:
        one = found.get(place) or FunctionProfile(*place)
        found[place] = one._replace(kernels=tuple(sorted(kernels[place].values(), key=lambda each: each[1:3])),
                                    exits=exit_counts(counters.get(place, ())))
    ran = [one for one in found.values() if one.calls or one.kernels or one.compiling]
    return sorted(ran, key=lambda one: -one.seconds)


KernelsByFunction = Dict[FunctionPlace, Dict[Any, KernelProfile]]


def _kernels_since(start: ProfileStart) -> Tuple[KernelsByFunction, Dict[FunctionPlace, List[Counted]]]:
    """By function: the kernels that ran, by name and lines; and the counters of its launchers, as differences."""
    kernels: KernelsByFunction = {}
    counters: Dict[FunctionPlace, List[Counted]] = {}
    for launcher, *times in _launcher.kernel_times():
        known = _Profiling.kernels.get(id(launcher))
        place = known.place if known is not None else FunctionPlace(launcher.name, "", 0)
        name, first, last = (known.counted.name, known.first, known.last) if known is not None else ("kernel", 0, 0)
        more = [now - then for now, then in zip(times, start.times.get(id(launcher), NO_TIMES))]
        if not any(more):
            continue
        of_place = kernels.setdefault(place, {})
        one = of_place.get((name, first, last)) or KernelProfile(name, first, last, 0, 0, 0.0, 0, 0)
        of_place[name, first, last] = KernelProfile(
            name, first, last, one.runs + more[0], one.timed + more[1], one.seconds + more[2] * _NS,
            one.bytes_in + more[3], one.bytes_out + more[4])
        if known is not None:
            counters.setdefault(place, []).append(_difference(known.counted, start.counts.get(id(launcher))))
    return kernels, counters


def _difference(counted: Counted, before: Any) -> Counted:
    """The counters of a launcher with the counts since an earlier moment, or since it was made."""
    now = _counts(ProfiledKernel(counted, FunctionPlace("", "", 0), 0, 0))
    if before is None:
        return counted._replace(launcher=now)
    causes = before.cause_counts + (0,) * (len(now.cause_counts) - len(before.cause_counts))
    return counted._replace(launcher=now._replace(
        calls=now.calls - before.calls, misses=now.misses - before.misses,
        exit_counts=tuple(one - then for one, then in zip(now.exit_counts, before.exit_counts)),
        cause_counts=tuple(one - then for one, then in zip(now.cause_counts, causes))))


def _counts(kernel: ProfiledKernel) -> LauncherCounts:
    launcher = kernel.counted.launcher
    return LauncherCounts(launcher.calls, launcher.misses, launcher.exit_counts, launcher.cause_counts,
                          launcher.program, launcher.wait)


def _times() -> Dict[int, Tuple[int, ...]]:
    return {id(launcher): tuple(times) for launcher, *times in _launcher.kernel_times()}


def _calls() -> Dict[int, Tuple[int, int]]:
    return {id(function): (calls, ns) for function, calls, ns in _hook.call_times()}


def _note(state: State, entry: Entry) -> None:
    """Know the kernels of an entry."""
    place = place_of(state.py_func)
    lines = {one.id: one.lines for one in entry.reports.segments if one.kind == "kernel" and one.lines}
    ends = {one.line: one.end_line for one in entry.reports.reentries}
    for one in entry.counters:
        found = lines.get(one.number, (one.start, ends.get(one.start, one.start)))
        _Profiling.kernels[id(one.launcher)] = ProfiledKernel(one, place, min(found), max(found))


def place_of(function: Any) -> FunctionPlace:
    """The definition of a Python function."""
    code = function.__code__
    return FunctionPlace(function.__qualname__, code.co_filename, code.co_firstlineno)


def _place_of(function: Any) -> FunctionPlace:
    """The definition of a jitted function or of a gradient function."""
    inner = getattr(function, "py_func", None) or function.__wrapped__
    place = place_of(getattr(inner, "py_func", inner))
    return place if hasattr(function, "py_func") else place._replace(name="gradient of " + place.name)
