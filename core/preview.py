"""Capture without a call: entries for given arguments, for reports or to compile before the first call.

`pijit.explain` calls `preview`, and `pijit.function` calls `prepare`. Neither runs the user's function.
"""

from __future__ import annotations

import builtins as builtins_module
import types
from typing import Any, Dict, List, Tuple

from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.capture.profile.type_feedback import ObservedKinds, Pending
from pijit.core.capture_records import Entry
from pijit.core.entries import make_entry
from pijit.core.errors import report_internal
from pijit.core.graph.passes import recorded
from pijit.core.graph_mode import one_graph
from pijit.core.hinting import TypeHintWarning
from pijit.core.internal_functions import bound_locals
from pijit.core.pipeline import State


def preview(known: State, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[List[Entry], List[str]]:
    """The entries that a call with these arguments would lead to, and pijit's failures.

    It uses the observations of earlier calls. Nothing is run, shown or remembered.
    """
    function = known.py_func
    state = State(function, function, known.config)
    state.met, state.hints = known.met, known.hints
    seen = known.entries[-1].seen if known.entries else ObservedKinds()
    roots = _roots(function, args, kwargs)
    try:
        with recorded():
            return [make_entry(state, function.__code__, roots, seen, None, "")], state.failures
    except TypeHintWarning:
        raise  # the user's warning filter asks for it
    except Exception as error:
        raise_asynchronous(error)
        state.fail("PJ901", error)
        return [], state.failures


def prepare(state: State, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
    """Compile a function for a call with these arguments.

    If no value has to be observed, such calls are hits from the first one on. Otherwise they find the kernels.
    """
    pending = Pending()
    try:
        entry = make_entry(state, state.function.__code__, _roots(state.function, args, kwargs), ObservedKinds(),
                           pending, "")
        if not entry.observers and not (entry.breaks and one_graph(state.config)):
            state.add(pending, entry)
    except TypeHintWarning:
        raise
    except Exception as error:
        raise_asynchronous(error)
        report_internal("PJ901", state.py_func.__qualname__, error)


def _roots(function: types.FunctionType, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Any, ...]:
    return bound_locals(function, args, kwargs), function.__globals__, vars(builtins_module)
