"""Host calls: functions with effects outside of arrays, such as `print`, as operations of a graph.

Only captures for gradients have them (`CaptureOptions.host_functions`). Such a graph is not compiled: it becomes the
Python source of a joint function (`core/graph/reverse`), which makes the same calls.
"""

from __future__ import annotations

import io
from typing import Dict, List

from pijit.core.capture.models.containers import characters
from pijit.core.capture.models.containers.strings import require_plain
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.lattice import Abstract, Const, Tensor, class_of
from pijit.core.errors import Break
from pijit.core.graph.types import INT
from pijit.guards.facts import is_among

FILES = (io.TextIOWrapper, io.StringIO)
"""Classes in C whose instances a host call may write to."""


def is_host_call(interpreter: Interpreter, callee: Abstract) -> bool:
    """Whether a call is one of a host function."""
    functions = interpreter.context.options.host_functions
    return bool(functions) and isinstance(callee, Const) and is_among(callee.object, functions)


def host_call(interpreter: Interpreter, callee: Const, arguments: List[Abstract],
              keywords: Dict[str, Abstract]) -> Abstract:
    """Write the call. Break if an argument is no number, string, array or file."""
    values = [interpreter.use(value) for value in [*arguments, *keywords.values()]]
    for value in values:
        if not isinstance(value, Tensor) and not is_among(class_of(value), FILES):
            require_plain(interpreter, value)
    is_print = callee.object is print
    if not is_print and (len(values) != 2 or class_of(values[1]) is not str):
        raise Break("PJ211", callee=callee.object.__name__)
    result = (Const(None) if is_print  # before the effect
              else characters.made_text(interpreter, "builtins.len", values[1:], INT))
    interpreter.emit("host_call", [stored_values.stored_value(interpreter, value) for value in values], None,
                     {"function": callee.object, "names": tuple(keywords)}, exits=True)
    return result
