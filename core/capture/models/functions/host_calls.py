"""Host calls: functions with effects outside of arrays, such as `print`, as operations of a graph.

Only captures for gradients have them (`CaptureContext.host_functions`). Such a graph is not compiled: it becomes the
Python source of a joint function (`core/graph/reverse`), which makes the same calls.
"""

from __future__ import annotations

from typing import Dict, List

from pijit.core.capture.models.containers.strings import require_plain
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.lattice import Abstract, Const, Tensor
from pijit.guards.facts import is_among


def is_host_call(interpreter: Interpreter, callee: Abstract) -> bool:
    """Whether a call is one of a host function."""
    functions = interpreter.facts.base.host_functions
    return bool(functions) and isinstance(callee, Const) and is_among(callee.object, functions)


def host_call(interpreter: Interpreter, callee: Const, arguments: List[Abstract],
              keywords: Dict[str, Abstract]) -> Abstract:
    """Write the call. Break if an argument is no number, string or array."""
    values = [interpreter.use(value) for value in [*arguments, *keywords.values()]]
    for value in values:
        if not isinstance(value, Tensor):
            require_plain(interpreter, value)
    interpreter.emit("host_call", [interpreter.stored_value(value) for value in values], None,
                     {"function": callee.object, "names": tuple(keywords)}, exits=True)
    return Const(None)
