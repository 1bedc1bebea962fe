"""``heapq.heappush`` and ``heappop`` on lists of numbers, strings and tuples of these.

`catalogue` imports it. Elements that code of the user compares are never captured.
"""

from __future__ import annotations

import heapq
from typing import List

from pijit.core.capture.models.containers import container_effects, expectations
from pijit.core.capture.models.containers.deques import row_of, taken_tuple
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models
from pijit.core.capture.state.frame_state import loosen
from pijit.core.capture.values.describe import Arguments, describe, only
from pijit.core.capture.values.lattice import Abstract, Const, class_of, pointer_class
from pijit.core.errors import Break
from pijit.guards.facts import is_among


def _require_list(owner: Abstract) -> None:
    if pointer_class(owner) is not list:
        raise Break("PJ203", operand=describe(owner))


@models(heapq.heappush)
def call_heappush(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``heappush(heap, item)``."""
    only(arguments, keywords, "heappush", 2)
    owner, value = arguments
    _require_list(owner)
    loosen(interpreter.state, owner, value)
    container_effects.effect(interpreter, "heap_push", owner,
                             [interpreter.object_value(owner), stored_values.stored_value(interpreter, value)])
    return Const(None)


@models(heapq.heappop)
def call_heappop(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``heappop(heap)``: the top item is read first, as a value of the expected type."""
    only(arguments, keywords, "heappop", 1)
    owner, top = arguments[0], Const(0)
    _require_list(owner)
    item: Abstract = Const(None)
    if not expectations.is_dropped(interpreter):
        like = expectations.expected(interpreter, owner, 0)
        row = row_of(like)
        if row is None and is_among(class_of(like), (list, tuple, dict)):
            raise Break("PJ203", operand=describe(like))
        operands = [interpreter.object_value(owner), interpreter.word(top)]
        item = (expectations.found(interpreter, "load_item", operands, like) if row is None
                else taken_tuple(interpreter, "load_item", operands, row))
    container_effects.effect(interpreter, "heap_drop", owner, [interpreter.object_value(owner)])
    return item
