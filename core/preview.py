"""What a call would lead to, without making it."""

from __future__ import annotations

import builtins as builtins_module
from typing import Any, Dict, List, Tuple

from pijit.core.capture.feedback import Seen
from pijit.core.functions import bound_locals
from pijit.core.graph.passes import recorded
from pijit.core.pipeline import State, make_entry
from pijit.core.records import Entry


def preview(known: State, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[List[Entry], List[str]]:
    """The entries that a call with these arguments would lead to, after what calls have shown, and our failures;
    nothing is run, shown or remembered."""
    function = known.py_func
    state = State(function, function, known.config)
    state.met = known.met
    seen = known.entries[-1].seen if known.entries else Seen()
    roots = (bound_locals(function, args, kwargs), function.__globals__, vars(builtins_module))
    try:
        with recorded():
            return [make_entry(state, function.__code__, roots, seen, None, "")], state.failures
    except Exception as error:
        state.fail("PJ901", error)
        return [], state.failures
