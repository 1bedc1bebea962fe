"""Stores into arrays: elements, views, and elements that masks and integer arrays select.

Models of NumPy's functions and `interpreter/subscripts.py` call these functions.
"""

from __future__ import annotations

from typing import List, cast

import numpy as np

from pijit.core.capture.models.numpy import indexing
from pijit.core.capture.models.numpy.fancy_indexing import store_elements
from pijit.core.capture.models.numpy.from_sequences import array_of
from pijit.core.capture.models.numpy.indexing import gathers, index_items, is_element
from pijit.core.capture.models.numpy.library_effects import held_by, set_items
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.typing.result_types import operand_of
from pijit.core.capture.values.lattice import Abstract, Const, Tensor, class_of, ssa_value
from pijit.core.errors import Break
from pijit.core.graph.types import Array, Scalar


def store(interpreter: Interpreter, owner: Tensor, index: Abstract, value: Abstract) -> None:
    """``owner[index] = value`` for a writeable array."""
    if gathers(interpreter, index):
        _scatter(interpreter, owner, index, value)
    else:
        store_basic(interpreter, owner, index_items(interpreter, index), value)


def _scatter(interpreter: Interpreter, owner: Tensor, index: Abstract, value: Abstract) -> None:
    """``owner[mask] = value`` and ``owner[integers] = value`` for values that every element can hold."""
    value = held_by(interpreter, owner, value)
    items = index_items(interpreter, index) if class_of(index) is not list else []
    if store_elements(interpreter, owner, items, value):
        return
    indexing.require_elements_of(interpreter, owner)
    set_items(interpreter, owner, index, value)


def store_basic(interpreter: Interpreter, owner: Tensor, items: List[Abstract], value: Abstract) -> None:
    value = array_of(interpreter, value, owner.type.dtype) or value
    question = operand_of(value)
    if owner.type.ndim == 0 and items == [Const(Ellipsis)]:
        items = []
    if is_element(owner, items) and isinstance(question.type, Scalar):
        words = [interpreter.word(item) for item in items]
        stored = indexing.stored_scalar(interpreter, value, question, owner.type.dtype)
        interpreter.emit("store", [ssa_value(owner)] + words + [stored], None, exits=True)
        return
    target = owner if owner.type.ndim == 0 and not items else indexing.view_of(interpreter, owner, items)
    if isinstance(question.type, Array):
        if not np.can_cast(question.type.dtype, target.type.dtype, "same_kind"):
            raise Break("PJ203", operand="%r stored into %r" % (question.type, target.type))
        if question.type.ndim > target.type.ndim:
            raise Break("PJ205", index="more dimensions than the target")
        interpreter.emit("assign", [ssa_value(target), conversions.any_value(interpreter, value)], None, exits=True)
        return
    stored = indexing.stored_scalar(interpreter, value, question, owner.type.dtype)
    interpreter.emit("assign", [ssa_value(target), stored], None, exits=True)


def store_complex_part(interpreter: Interpreter, owner: Tensor, name: str, value: Abstract) -> None:
    """``owner.real = value`` and ``owner.imag = value`` of a complex array."""
    if owner.type.dtype.kind != "c" or name not in ("real", "imag"):
        raise Break("PJ220", attribute=name, object="array", because="it is no part of complex elements")
    if not owner.type.writeable:
        raise Break("PJ203", operand="read-only array")
    part = cast(Tensor, interpreter.attribute(owner, name))
    if isinstance(value, Tensor) and value.part == (owner.value, name):
        return  # as after ``owner.real += ...``
    store_basic(interpreter, part, [Const(Ellipsis)], value)
