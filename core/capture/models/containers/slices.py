"""Slices that select no array elements: indices made by NumPy, and parts of lists.

Called by the interpreter's subscripts and by `updates`.
"""

from __future__ import annotations

import numpy as np

from pijit.core.capture.models.containers import constructions, container_effects
from pijit.core.capture.models.iteration.list_safety import sees_no_list
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models_subscripts
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, Const, Lazy, LoopIterator, Slice, class_of
from pijit.core.errors import Break
from pijit.guards.facts import is_among

ITERATED = (np.ndarray, range, str, bytes, dict)


@models_subscripts(np.s_)
def index_itself(interpreter: Interpreter, index: Abstract) -> Abstract:
    """``np.s_[index]``."""
    return index


@models_subscripts(np.index_exp)
def index_as_tuple(interpreter: Interpreter, index: Abstract) -> Abstract:
    """``np.index_exp[index]``."""
    return index if class_of(index) is tuple else constructions.new_tuple(interpreter, [index])


def listed(interpreter: Interpreter, more: Abstract) -> Abstract:
    """All items of an iterable as a list or tuple; Break if iterating it may run code of the program."""
    if is_among(class_of(more), (list, tuple)):
        return more
    made_here = isinstance(more, (Lazy, LoopIterator)) and sees_no_list(more, interpreter.context.globals)
    if not is_among(class_of(more), ITERATED) and not made_here:
        raise Break("PJ203", operand=describe(more))
    return interpreter.call(Const(list), [more], {})


def store_part(interpreter: Interpreter, owner: Abstract, part: Slice, value: Abstract) -> None:
    """``owner[part] = value`` of a list."""
    items = interpreter.object_value(constructions.as_object(interpreter, listed(interpreter, value)))
    container_effects.effect(interpreter, "store_slice", owner,
                             [interpreter.object_value(owner), interpreter.object_value(part), items])


def delete_part(interpreter: Interpreter, owner: Abstract, part: Slice) -> None:
    """``del owner[part]`` of a list."""
    container_effects.effect(interpreter, "delete_slice", owner,
                             [interpreter.object_value(owner), interpreter.object_value(part)])
