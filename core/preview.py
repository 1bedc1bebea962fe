"""Capture without a call: entries for given arguments, for reports or to compile before the first call.

`pijit.explain` calls `preview`, and `pijit.function` calls `prepare`. Neither runs the user's function.
"""

from __future__ import annotations

import builtins as builtins_module
import math
import types
from typing import AbstractSet, Any, Dict, List, Optional, Tuple, Union

from pijit.core import _hook
from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.capture.build.guards import entry_program
from pijit.core.capture.context import CaptureOptions
from pijit.core.capture.driver import Capture, CaptureRequest, capture
from pijit.core.capture.profile.type_feedback import ObservedKinds, Pending
from pijit.core.entries.call_sites import inliner_of
from pijit.core.entries.entry import Entry
from pijit.core.errors import report_internal
from pijit.core.frameless_calls import entry_inputs
from pijit.core.function_state import State
from pijit.core.graph.ir import Graph
from pijit.core.graph.passes import recorded
from pijit.core.graph_mode import one_graph
from pijit.core.hinting import TypeHintWarning
from pijit.core.internal_functions import bound_locals
from pijit.core.named_tuples import NamedTuple
from pijit.core.pipeline import make_entry
from pijit.core.reasons import reason
from pijit.guards.program import GuardProgram
from pijit.guards.source import Local


def preview(known: State, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[List[Entry], List[str]]:
    """The entries that a call with these arguments would lead to, and pijit's failures.

    It uses the observations of earlier calls. Nothing is run, shown or remembered.
    """
    state = _like(known)
    observed = known.entries[-1].feedback.observed if known.entries else ObservedKinds()
    roots = _roots(known.py_func, args, kwargs)
    try:
        with recorded():
            return [make_entry(state, known.py_func.__code__, roots, observed, None, "")], state.failures
    except TypeHintWarning:
        raise  # the user's warning filter asks for it
    except Exception as error:
        raise_asynchronous(error)
        state.fail("PJ901", error)
        return [], state.failures


def _like(known: State) -> State:
    """A state for a capture that leaves no trace."""
    state = State(known.py_func, known.py_func, known.config)
    state.met, state.hints = known.met, known.hints
    state.ignored_flags, state.constant_globals = known.ignored_flags, known.constant_globals
    return state


class WholeGraph(NamedTuple):
    """A function that is one graph.

    Attributes:
        graph: the graph.
        program: the guards of the capture; they fetch the graph's inputs.
        arguments: the name of the argument that each input is, or None.
        returning: the exits that leave the function's result.
    """

    graph: Graph
    program: GuardProgram
    arguments: Tuple[Optional[str], ...]
    returning: AbstractSet[int]


def whole_graph(state: State, roots: Tuple[Any, ...], host_functions: Tuple[Any, ...] = (),
                abandons: bool = False, unrolling: int = 0, has_static_shapes: bool = False,
                any_lengths: bool = False) -> Union[WholeGraph, str]:
    """The graph of a whole function for one call, or the reason why it is not one graph. Nothing is compiled.

    Args:
        state: the state of the jitted function.
        roots: the locals and cells of the call, the globals and the builtins.
        host_functions: functions whose calls become operations of the graph.
        abandons: the graph is for a kernel that gives calls up at side exits; the passes improve it.
        unrolling: the most items of a loop over a container that is unrolled.
        has_static_shapes: the graph is for the shapes that arrays have in this call; guards compare them. Loops over
            short ranges are unrolled as well.
        any_lengths: the graph is for all lengths of arrays, except that of axes of length 1.
    """
    analysed = state.analysed(state.function.__code__)
    static_roots = roots if has_static_shapes else None
    options = CaptureOptions(
        specialisation=state.specialisation._replace(any_lengths=any_lengths), unrolling=unrolling, improved=abandons,
        ignored_flags=state.ignored_flags, constant_globals=state.constant_globals, host_functions=host_functions,
        handlers=False, abandons=abandons, static_roots=static_roots)
    result = capture(CaptureRequest(analysed, roots, _hook.UNBOUND, ObservedKinds().profiles[0], options,
                                    inliner_of(state), None, state.hints))
    try:
        return _whole(result, static_roots)
    finally:
        result.release()
        state.inlined.clear()


def _whole(result: Capture, static_roots: Optional[Tuple[Any, ...]]) -> Union[WholeGraph, str]:
    breaks = result.breaks()
    if breaks:
        return reason(breaks[0][1].reason_id, **breaks[0][1].facts)
    found = [one.captured for one in result.candidates if one.captured is not None]
    if len(found) != 1 or found[0].start != 0:
        return "it is not one segment"
    returning = found[0].returning(result.cfg.function)
    if not returning:
        return "it does not return a value"
    inputs = entry_inputs(found[0], result.cfg.function, math.inf)
    if inputs is None:
        return "its guards need its frame"
    names = result.cfg.function.varnames[:result.cfg.function.argument_count]
    program = entry_program(found, result.causes(), static_roots, inputs)
    return WholeGraph(found[0].graph, program, tuple(
        names[one.index] if type(one) is Local and one.index < len(names) else None for one in inputs), returning)


def breaks_of(state: State, roots: Tuple[Any, ...]) -> Tuple[Any, ...]:
    """Reports of the breaks of a function for calls with all lengths of arrays; for ``roots`` see `whole_graph`."""
    like = _like(state)
    like.specialisation = like.specialisation._replace(any_lengths=True)
    entry = make_entry(like, state.py_func.__code__, roots, ObservedKinds(), None, "")
    return tuple(entry.reports.breaks)


def prepare(state: State, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> int:
    """Compile a function for a call with these arguments. Returns the number of kernels.

    If no value has to be observed, such calls are hits from the first one on. Otherwise they find the kernels.

    Raises: TypeError if the arguments do not fit the parameters.
    """
    roots = _roots(state.function, args, kwargs)
    pending = Pending()
    try:
        known = state.entry_for(roots)
        entry = known or make_entry(state, state.function.__code__, roots, ObservedKinds(), pending, "")
        whole = not (entry.reports.breaks and one_graph(state.config))
        if known is None and whole and not entry.feedback.observers:
            state.add(pending, entry)
        return sum(segment.kind == "kernel" for segment in entry.reports.segments)
    except TypeHintWarning:
        raise
    except Exception as error:
        raise_asynchronous(error)
        report_internal("PJ901", state.py_func.__qualname__, error)
        return 0


def _roots(function: types.FunctionType, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Any, ...]:
    return bound_locals(function, args, kwargs), function.__globals__, vars(builtins_module)
