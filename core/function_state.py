"""The state of a jitted function: its entries, when a call gets a new one, and what becomes of them.

`pijit.function` attaches a `State` to each jitted function. C code calls `State.on_miss` when no entry serves a call.
`pipeline.make_entry` makes the new entry. It then serves calls:

    first run:   the entry's linked code observes what fallback calls return
    next call:   captured again with the observed types; the entry joins the cache, and C serves the hits
    long first:  a call that is still in a loop is captured again there, and moves to the newer code
    later:       an entry whose segments no longer fit the calls' results is retired, and a run is observed again
"""

from __future__ import annotations

import atexit
import collections
import logging
import time
import types
import weakref
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple, cast

from pijit.core import _hook, stance
from pijit.core._launcher import buffers_clear
from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.bytecode.analysed_code import AnalysedCode, analysed_code
from pijit.core.bytecode.assembler.emit import to_go_on
from pijit.core.bytecode.codec.encode import replace_code
from pijit.core.bytecode.function_twins import twin_with
from pijit.core.capture.inline.inlined_code import InlinedCode
from pijit.core.capture.profile.hints import Hints
from pijit.core.capture.profile.type_feedback import MAX_OBSERVATIONS, Pending
from pijit.core.capture.state.entry_state import why_not_captured
from pijit.core.capture.state.osr_arguments import slots_at_entry
from pijit.core.capture.values.value_specialisation import Specialisation
from pijit.core.capture_records import break_report
from pijit.core.entries.entry import Entry
from pijit.core.entry_timing import timing_of
from pijit.core.errors import Break, FullGraphError, LinkError, RecompileError, first_line, report_internal
from pijit.core.exit_counts import exit_counts
from pijit.core.graph_mode import one_graph
from pijit.core.guard_churn import BUDGETED, Churn
from pijit.core.hinting import TypeHintWarning
from pijit.core.internal_functions import stand_in
from pijit.core.kernel.compile import Kernel
from pijit.core.kernel.compile_permission import TooEarly
from pijit.core.kernel.fork_safety import Turn
from pijit.core.kernel.shared import kernels_of
from pijit.core.pipeline import Start, make_entry
from pijit.core.profiling.watcher import compiling, entry_made
from pijit.core.reasons import REASONS, Reason, reason
from pijit.guards.cache import CacheLimitWarning, EntryCache, warn_limit
from pijit.guards.program import NO_GUARD

MAX_FAILURES = 3
RECOMPILES_KEPT = 100
recompiles = logging.getLogger("pijit.recompiles")

_exits = logging.getLogger("pijit.exits")

_states: "weakref.WeakValueDictionary[int, State]" = weakref.WeakValueDictionary()
_callees: "weakref.WeakValueDictionary[Any, State]" = weakref.WeakValueDictionary()


class State:
    """The state of one jitted function; the mark of its code object refers to it weakly.

    Attributes:
        py_func: the function as the user gave it.
        function: the function that runs. It is ``py_func``, or a twin with a code object of its own if another jitted
            function has the code object of ``py_func``. Closures of one factory share it.
        skip: why the function is not captured at all, or None.
        cache, entries, pending: the entries that serve, all entries, and those whose values are being observed.
        recompiles: the last reasons why there was more than one capture.
        specialisation: the value specialisation: the numbers that a capture may know by value.
        churn: statistics about objects that were used in one call only.
        hints: the program's descriptions of values that bytecode makes.
        ignored_flags, constant_globals: what the function runs without, see `CaptureOptions`.
        callees: the states of functions that its linked code calls and that are compiled alone, by code object.
        met: the callees of calls about which the capture knew nothing, by instruction.
        callee: for such a callee, the object from which call sites of linked code are made; else None.
        callers: the states of functions that call it in this way.
        budget, not_before, on_too_early: for functions of whole programs, the compile budget, the time before which
            nothing is captured, and the callback for a capture that is too early.
        failures: pijit's own errors; the function ran all the same.
        dropped: why all entries were dropped, until the next capture; else "".
        uncounted: hits and misses before the last reset.
        inlined: the analysed code of the functions that the captures of an entry inline.
    """

    def __init__(self, py_func: types.FunctionType, function: types.FunctionType, config: Any,
                 budget: Any = None) -> None:
        self.py_func = py_func
        self.function = function
        self.config = config
        self.skip: Optional[Reason] = None
        self.cache = EntryCache(config.cache_limit)
        self.entries: List[Entry] = []
        self.pending: List[Pending] = []
        self.recompiles: Deque[str] = collections.deque(maxlen=RECOMPILES_KEPT)
        self.failures: List[str] = []
        self.dropped = ""
        self.uncounted = 0, 0
        self.kernels: Dict[Any, Tuple[Kernel, Any]] = {}
        self.shared_kernels = kernels_of(py_func.__code__)
        self.slow: Dict[Kernel, Break] = {}
        self.specialisation = Specialisation(config.specialize_scalar)
        self.churn = Churn()
        self.hints = Hints()
        self.ignored_flags = 0
        self.constant_globals = False
        self.callees: Dict[int, State] = {}
        self.met: Dict[int, List[State]] = {}
        self.callee: Optional[_hook.Callee] = None
        self.callers: "weakref.WeakSet[State]" = weakref.WeakSet()
        self._turn = Turn()
        self.budget: Any = budget
        self.not_before = 0.0
        self.on_too_early: Optional[Callable[[float], None]] = None
        self._analysed: Optional[AnalysedCode] = None
        self.inlined = InlinedCode()

    def __del__(self) -> None:
        self.cache.clear()  # the code object holds the cache and may live longer

    def analysed(self, code: types.CodeType) -> AnalysedCode:
        """The analysed code of the function; it is decoded once for all captures."""
        if self._analysed is None or self._analysed.code is not code:
            self._analysed = analysed_code(code)
        return self._analysed

    def show_exits(self) -> None:
        """Log the exit counts, if the logger is enabled."""
        if not _exits.isEnabledFor(logging.DEBUG):
            return
        for entry in self.entries:
            for title, reports in exit_counts(entry.counters).lists:
                for report in reports:
                    _exits.debug("%s: %s: %s", self.py_func.__qualname__, title, report)

    def forget(self, because: str = "") -> None:
        """Drop all entries; their kernels are kept for reuse. The next capture reports ``because``."""
        self.show_exits()
        self.dropped = reason("PJ307", because=because) if because and self.entries else ""
        self.cache.clear()
        del self.entries[:], self.pending[:], self.failures[:]
        self.callees.clear()
        self.met.clear()
        self.inlined.clear()

    def clear(self) -> None:
        """Drop all entries and kernels."""
        self.forget()
        self.slow.clear()
        self.kernels.clear()
        self.shared_kernels.clear()
        buffers_clear()

    def reset(self) -> None:
        """Drop everything that captures and calls have shown."""
        self.clear()
        self.recompiles.clear()
        self.uncounted = self.cache.hits, self.cache.misses
        self.cache.warned, self.hints = False, Hints()
        self.specialisation = Specialisation(self.config.specialize_scalar)
        self.churn = Churn()

    @property
    def counts(self) -> Tuple[int, int]:
        """Hits and misses since the last reset."""
        return self.cache.hits - self.uncounted[0], self.cache.misses - self.uncounted[1]

    def on_miss(self, code: types.CodeType, localsplus: List[Any], globals: Dict[str, Any],
                builtins: Dict[str, Any]) -> Optional[types.CodeType]:
        """The code for a call that no entry serves. One thread captures; meanwhile other threads run the original."""
        roots = localsplus, globals, builtins
        if stance.current() == "run_only":
            serving = (one.entry for one in self.pending if one.entry.program.check(*roots) is not None)
            return next((entry.code.linked for entry in serving), None)
        linked: Optional[types.CodeType] = self._alone(self._serve_miss, code, roots, busy=Ellipsis)
        return linked

    def on_visit(self, pending: Pending, header: int, code: types.CodeType, slots: List[Any], globals: Dict[str, Any],
                 builtins: Dict[str, Any]) -> Any:
        """The OSR check's callback in a loop of a long first call: None, or the code to continue in.

        Up to CPython 3.10 the code's local for the operand stack is returned, too.
        """
        roots = slots, globals, builtins
        return self._alone(self._move, pending, header, code, roots) if stance.current() != "run_only" else None

    def _alone(self, serve: Callable[..., Any], *args: Any, busy: Any = None) -> Any:
        """The result of ``serve``; None after too many failures, and ``busy`` while another thread captures."""
        if len(self.failures) >= MAX_FAILURES:
            return None
        if not self._turn.take():
            return busy
        try:
            with compiling(self):
                return serve(*args) if self.budget is None else self._within_budget(serve, *args)
        except (RecursionError, CacheLimitWarning, FullGraphError, RecompileError, TypeHintWarning):
            raise  # the hook handles RecursionError; the user has asked for the others
        except LinkError as error:
            self.fail("PJ903", error.__cause__ or error)
        except Exception as error:  # pijit's own faults must not reach the user
            raise_asynchronous(error)
            self.fail("PJ901", error)
        finally:
            self._turn.give_back()
        return None

    def _within_budget(self, serve: Callable[..., Any], *args: Any) -> Any:
        """Call serve for a function of a whole program; if it is too early to compile it, it stays or becomes cold."""
        if self.not_before > time.perf_counter():
            return None
        try:
            return self.budget.spend(serve, *args)
        except TooEarly as error:
            if self.on_too_early is not None:
                self.on_too_early(error.seconds)
            else:
                self.not_before = time.perf_counter() + error.seconds
            return None

    def warm_up(self) -> None:
        """Start to serve and to count the calls of a function that was cold."""
        self.cache.clear()
        self.not_before = 0.0
        self.uncounted = self.cache.hits, self.cache.misses

    def on_arrival(self, header: int, code: types.CodeType, roots: Tuple[Any, ...]) -> Optional[types.CodeType]:
        """The code in which a formerly cold call continues at a loop's header, or None."""
        return self._alone(self._begin_at, header, code, roots) if stance.current() != "run_only" else None

    def _begin_at(self, header: int, code: types.CodeType, roots: Tuple[Any, ...]) -> Optional[types.CodeType]:
        if code is not self.function.__code__ or self.analysed(code).rebound_arguments:
            return None  # the call began before the function got code of its own, or its arguments are not known
        roots = (slots_at_entry(self.analysed(code), roots[0], _hook.UNBOUND),) + roots[1:]
        return self._with_entry(Pending(_weakly(self.on_visit)), code, roots, start=Start(header, {}))

    def fail(self, reason_id: str, error: BaseException) -> None:
        """Record one of pijit's own errors; after MAX_FAILURES of them there are no more captures."""
        self.failures.append(reason(reason_id, error=first_line(error)))
        code = self.py_func.__code__
        place = "%s (%s:%d)" % (self.py_func.__qualname__, code.co_filename, code.co_firstlineno)
        report_internal(reason_id, place, error)

    def _serve_miss(self, code: types.CodeType, roots: Tuple[Any, Any, Any]) -> Optional[types.CodeType]:
        for pending in self.pending:
            if pending.entry.program.check(*roots) is not None:
                return pending.entry.code.linked if pending.runs_again() else self._observed(pending, code, roots)
        for entry in self.entries:
            if entry.program.retired and entry.program.explain_failure(*roots) is None:
                return self._observe_again(entry, code, roots)
        self.pending = [pending for pending in self.pending if not pending.entry.program.dead]
        if self.churn.is_waiting():
            return None
        if len(self.cache) + len(self.pending) >= self.cache.limit:
            warn_limit(self.cache, self.py_func.__qualname__, *roots, stacklevel=4)
            return None
        return self._served_meanwhile(roots) or self._serve_new(code, roots)

    def _serve_new(self, code: types.CodeType, roots: Tuple[Any, Any, Any]) -> Optional[types.CodeType]:
        """The code of a new entry; None if captures wait because objects are used in one call only."""
        why, self.dropped = stance.allow(self.py_func, self._why_again(roots)), ""
        self.specialisation = self.specialisation.after([entry.program.guards for entry in self.entries], *roots)
        why = self._why_less(roots) or why
        self.entries = [entry for entry in self.entries if not entry.program.dead]  # the cache has dropped them already
        if self.churn.begin_waiting():
            self._tell_wait(why)
            return None
        return self._with_entry(Pending(_weakly(self.on_visit)), code, roots, why)

    def _with_entry(self, pending: Pending, code: types.CodeType, roots: Tuple[Any, ...], why: str = "",
                    start: Optional[Start] = None, observes: bool = True) -> types.CodeType:
        """Make and add an entry for the values that ``pending`` has seen; with ``observes`` it sees more of them."""
        entry = make_entry(self, code, roots, pending.used, pending if observes else None, why, start)
        return self.add(pending, entry, start)

    def _why_less(self, roots: Tuple[Any, ...]) -> str:
        """Leave out of captures the locations of objects used in one call only; the reason, if there are new ones."""
        limit = self.cache.limit if self.budget is None else min(self.cache.limit, BUDGETED)
        found = self.churn.changing(self.entries, limit, *roots) - self.specialisation.left_out
        if not found:
            return ""
        self.specialisation = self.specialisation._replace(left_out=self.specialisation.left_out | found)
        return reason("PJ308", places=", ".join(sorted(map(str, found))))

    def _tell_wait(self, why: str) -> None:
        """Report that captures wait, and for how many misses."""
        self.recompiles.append(reason("PJ309", misses=self.churn.wait, last=why))
        recompiles.log(logging.INFO if self.config.log_recompile else logging.DEBUG, "%s: %s",
                       self.py_func.__qualname__, self.recompiles[-1])

    def _observe_again(self, entry: Entry, code: types.CodeType, roots: Tuple[Any, ...]) -> types.CodeType:
        """Replace an entry whose segments no longer fit by a capture that observes the calls' results again."""
        lines = ", ".join(map(str, sorted(set(entry.feedback.hinted.values()))))
        facts = {"line": lines, "guard": _guard_that_failed(entry)} if lines else _misfit(entry)
        why = stance.allow(self.py_func, reason("PJ306" if lines else "PJ305", **facts))
        self.hints.wrong.update(entry.feedback.hinted)
        self.entries = [other for other in self.entries if other is not entry]
        return self._with_entry(Pending(_weakly(self.on_visit), entry.feedback.observed), code, roots, why)

    def entry_for(self, roots: Tuple[Any, ...]) -> Optional[Entry]:
        """The entry that serves a call with these locals, globals and builtins, or None."""
        return next((entry for entry in self.entries
                     if not entry.program.retired and entry.program.explain_failure(*roots) is None), None)

    def _served_meanwhile(self, roots: Tuple[Any, ...]) -> Optional[types.CodeType]:
        """The code that another thread has captured for calls like this one since this one missed, or None."""
        entry = self.entry_for(roots)
        return entry.code.linked if entry is not None else None

    def _observed(self, pending: Pending, code: types.CodeType, roots: Tuple[Any, ...],
                  start: Optional[Start] = None) -> types.CodeType:
        """Capture again with the observed types, in the call after the observed run, or in a loop of that run."""
        self.pending = [other for other in self.pending if other is not pending]
        self.entries = [entry for entry in self.entries if entry is not pending.entry]
        news = pending.take()
        facts = pending.entry.record.by_line(news)
        why = reason("PJ302" if start is None else "PJ304", **facts) if news else ""
        return self._with_entry(pending, code, roots, why, start, bool(news) and pending.recaptures < MAX_OBSERVATIONS)

    def _move(self, pending: Pending, header: int, code: types.CodeType,
              roots: Tuple[Any, ...]) -> Optional[Tuple[types.CodeType, int]]:
        if pending not in self.pending:
            return None
        slots, globals, builtins = roots
        entry_roots = slots_at_entry(self.analysed(code), slots, _hook.UNBOUND), globals, builtins
        linked = self._observed(pending, code, entry_roots, Start(header, pending.arrived or {}))
        answer: Optional[Tuple[types.CodeType, int]] = to_go_on(linked)
        return answer

    def add(self, pending: Pending, entry: Entry, start: Optional[Start] = None) -> types.CodeType:
        """Add an entry that serves calls or observes first. Raises FullGraphError."""
        if self.config.on_capture is not None:
            self.config.on_capture(entry.record)
        if entry.reports.breaks and one_graph(self.config):
            raise FullGraphError(self.py_func.__qualname__, entry.reports.breaks, one_graph(self.config))
        self.entries.append(entry)
        entry_made(self, entry)
        if entry.reports.why:
            self.recompiles.append(entry.reports.why)
        if entry.feedback.observers:
            pending.serve(entry)
            self.pending.append(pending)
        else:
            self.inlined.clear()
            entry.timing = timing_of(entry, self.config, self.on_result)
            self.cache.add(entry.program, entry.payload, entry.rank)
        return entry.code.linked if start is None else cast(types.CodeType, entry.code.moved)

    def on_result(self, entry: Entry, lost: Optional[str]) -> None:
        """Act on the result of A/B timing; ``lost`` is the reason if the original function was faster, else None."""
        entry.retired = lost
        if lost is None:
            entry.timing = None
            self.cache.replace(entry.program, entry.payload)

    def on_slow_loop(self, kernels: List[Kernel], error: Break) -> None:
        """Act on a loop that lost its timing: the next call is linked without these kernels, which now always miss."""
        self.show_exits()
        self.slow.update(dict.fromkeys(kernels, error))
        owners = {id(kernel.owner) for kernel in kernels}
        self.entries = [entry for entry in self.entries if entry.feedback.observers
                        or owners.isdisjoint(id(launcher.owner) for launcher in entry.launchers)]
        self._fill_cache()

    def on_idle(self) -> None:
        """Compiling this function gained nothing: drop linked code of callers that gains nothing else, either."""
        for caller in list(self.callers):
            caller._fill_cache()

    def _fill_cache(self) -> None:
        self.cache.clear()
        for entry in self.entries:
            if not entry.feedback.observers:
                self.cache.add(entry.program, entry.payload, entry.rank)

    def callee_of(self, code: types.CodeType, name: str) -> Optional["State"]:
        """The state of a function that this one calls."""
        callee = self.callees.get(id(code)) or callee_state(code, name, self.config, self.budget)
        if callee is not None:
            self.callees[id(code)] = callee
            callee.callers.add(self)
        return callee

    def _why_again(self, roots: Tuple[Any, ...]) -> str:
        """The guard of the newest entry that fails for this call, as a sentence; "" for the first capture."""
        if not self.entries:
            return self.dropped
        entry = self.entries[-1]
        outcome = entry.program.evaluate_python(*roots)
        if outcome.failure is None:
            return ""
        guard = entry.program.guards[cast(int, outcome.failed)] if outcome.failed != NO_GUARD else None
        line = entry.reports.guard_lines.get(guard.sources[0]) if guard is not None else None
        return reason("PJ301", guard=outcome.failure, **({"line": line} if line else {}))


def all_states() -> List[State]:
    """The states of all functions."""
    return list(_states.values()) + list(_callees.values())


def reset() -> None:
    """Drop everything that captures and calls have shown, for all functions."""
    for state in all_states():
        state.reset()


@atexit.register
def show_exits() -> None:
    """Log the exit counts of all functions."""
    for state in all_states():
        state.show_exits()


def forget(because: str) -> None:
    """Drop the entries of all functions; kernels stay."""
    for state in all_states():
        state.forget(because)


def attach(py_func: types.FunctionType, config: Any) -> State:
    """Mark a function's code so that its calls are captured, or record why it is not.

    A mark belongs to a code object. So a function whose code is already marked for another function runs as a twin.
    """
    code = py_func.__code__
    function = py_func if id(code) not in _states else twin_with(py_func, replace_code(code))
    state = State(py_func, function, config)
    skip = why_not_captured(code)
    if skip is not None:
        state.skip = REASONS[skip]
        if one_graph(config):
            report = break_report(Break(skip), code.co_filename, code.co_firstlineno, "")
            raise FullGraphError(py_func.__qualname__, [report], one_graph(config))
        return state
    _hook.mark(function.__code__, state.cache, _weakly(state.on_miss))
    _states[id(function.__code__)] = state
    return state


def callee_state(code: types.CodeType, name: str, config: Any, budget: Any = None) -> Optional[State]:
    """The state of a function that linked code with these options calls; it lives as long as a caller's state.

    None for the code of a jitted function, which has a state already.
    """
    state = _callees.get((id(code), config))
    if state is None and id(code) not in _states:
        function = stand_in(code, name)
        state = State(function, function, config, budget)
        state.callee = _hook.Callee(code, state.cache, _weakly(state.on_miss), _weakly(state.on_idle))
        _callees[id(code), config] = state
    return state


def _weakly(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, without keeping its object alive; once the object is dead, it does nothing."""
    weak = weakref.WeakMethod(method)

    def call(*args: Any) -> Any:
        alive = weak()
        return alive(*args) if alive is not None else None

    return call


def _misfit(entry: Entry) -> Dict[str, str]:
    """The kernels for which an entry was retired, the line where they begin, and their guard that failed."""
    names = [launcher.name for launcher in entry.launchers if launcher.misses]
    numbers = {int(name.rpartition("_")[2]) for name in names}
    line = min([segment.start_line for segment in entry.reports.segments if segment.id in numbers] or [0])
    return {"kernel": " and ".join(names), "line": str(line), "guard": _guard_that_failed(entry)}


def _guard_that_failed(entry: Entry) -> str:
    """The guard of a segment for which the entry was retired."""
    failed = [launcher.program.last_failed for launcher in entry.launchers if launcher.misses]
    return "; ".join(str(guard) for guard in dict.fromkeys(failed) if guard is not None)
