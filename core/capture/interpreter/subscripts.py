"""Subscripts: basic indexing and slicing of arrays, items of containers, element and slice stores.

The dispatch table of `interpreter` has its functions. The meaning of a subscript is in the models, not here.
"""

from __future__ import annotations

from typing import Optional, Tuple, cast

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.interpreter import stores
from pijit.core.capture.models.containers import characters, item_reads, updates
from pijit.core.capture.models.containers.characters import is_text
from pijit.core.capture.models.containers.expectations import KEYED
from pijit.core.capture.models.containers.known_stores import store_into_known
from pijit.core.capture.models.containers.slices import store_part
from pijit.core.capture.models.numpy import element_stores, indexing, library, mapped_arrays
from pijit.core.capture.models.numpy.fancy_indexing import elements_at, elements_where, rows_at
from pijit.core.capture.models.numpy.indexing import gathers, index_items, is_element
from pijit.core.capture.models.objects.special_methods import ask_special, call_special
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import SUBSCRIPT, entry_of
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    KnownContainer,
    Number,
    Slice,
    StackSlice,
    Tensor,
    class_of,
    number_type,
    pointer_class,
    ssa_value,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import numpy_scalar
from pijit.guards.facts import is_among


def op_BUILD_SLICE(interpreter: Interpreter, instr: Instr) -> None:
    parts = interpreter.pop_many(instr.arg or 2)
    for part in parts:
        if not (isinstance(part, Const) and part.object is None) and number_type(part) is None:
            raise Break("PJ205", index=describe(part))
    interpreter.push(StackSlice(tuple(parts + [Const(None)] * (3 - len(parts)))))


def op_BINARY_SUBSCR(interpreter: Interpreter, instr: Instr) -> None:
    index, owner = interpreter.pop(), interpreter.pop()
    interpreter.push(interpreter.subscript(owner, index))


def op_STORE_SUBSCR(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.store_subscript(interpreter.pop(), interpreter.pop(), interpreter.pop())


def store_subscript(interpreter: Interpreter, index: Abstract, owner: Abstract, value: Abstract) -> None:
    """``owner[index] = value``."""
    if mapped_arrays.involves(owner) or isinstance(owner, Tensor) and mapped_arrays.involves(index, value):
        index, owner, value = [mapped_arrays.memory_of(interpreter, one) for one in (index, owner, value)]
    if pointer_class(owner) is list and isinstance(index, Slice):
        store_part(interpreter, owner, index, value)
        return
    if isinstance(owner, KnownContainer) and store_into_known(interpreter, owner, index, value):
        return
    if pointer_class(owner) is list:
        stores.store_item(interpreter, owner, index, value)
        return
    if is_among(pointer_class(owner), KEYED):
        updates.store_key(interpreter, owner, index, value)
        return
    if pointer_class(owner) is bytearray:
        characters.store_byte(interpreter, owner, index, value)
        return
    if not isinstance(owner, Tensor):
        if ask_special(interpreter, "__setitem__", owner, index, value) is None:
            raise Break("PJ205", object=describe(owner))
        return
    if not owner.type.writeable:
        raise Break("PJ203", operand="read-only array")
    if not (isinstance(value, Tensor) and value.part is not None and _is_part(value.part, owner, index)):
        element_stores.store(interpreter, owner, index, value)


def subscript(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Abstract:
    """``owner[index]``."""
    if mapped_arrays.involves(owner) or isinstance(owner, Tensor) and mapped_arrays.involves(index):
        return mapped_arrays.item(interpreter, owner, index)
    if isinstance(owner, Tensor) and gathers(interpreter, index):
        items = index_items(interpreter, index) if class_of(index) is not list else []
        found = elements_at(interpreter, owner, items) or elements_where(interpreter, owner, items) or rows_at(
            interpreter, owner, items)
        if found is not None:
            return found
        indexing.require_elements_of(interpreter, owner)
        return library.invoke(interpreter, FUNCTIONS["operator.getitem"], [owner, index], {})
    if isinstance(owner, Tensor):
        items = index_items(interpreter, index)
        if is_element(owner, items):
            result = numpy_scalar(owner.type.dtype)
            words = [interpreter.word(item) for item in items]
            return Number(result, interpreter.emit("load", [ssa_value(owner)] + words, result, exits=bool(words)))
        view = indexing.view_of(interpreter, owner, items)
        view.part = (owner.value, index)
        return view
    model = entry_of(SUBSCRIPT, owner.object) if isinstance(owner, Const) else None
    if model is not None:
        return cast(Abstract, model(interpreter, index))
    if is_text(owner):
        return characters.text_item(interpreter, owner, index)
    found = call_special(interpreter, "__getitem__", owner, index)
    return found if found is not None else item_reads.container_item(interpreter, owner, index)


def _is_part(part: Tuple[Optional[Value], Abstract], owner: Tensor, index: Abstract) -> bool:
    """Whether a view is ``owner[index]`` itself, as after ``owner[index] += ...``, so that storing it changes nothing.

    From 3.12 on the slice of such a statement is made twice, from the same parts.
    """
    own = part[1]
    same = own is index or isinstance(own, Slice) and isinstance(index, Slice) and own.parts == index.parts
    return part[0] is owner.value and same
