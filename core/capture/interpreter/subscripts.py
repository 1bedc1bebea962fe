"""Subscripts: basic indexing and slicing of arrays, items of containers, element and slice stores."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple, cast

import numpy as np

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.opcodes import PRESENT
from pijit.core.capture.models.containers.characters import is_text
from pijit.core.capture.models.containers.known_stores import store_into_known
from pijit.core.capture.models.containers.reads import KEYED
from pijit.core.capture.models.containers.slices import store_part
from pijit.core.capture.models.numpy.fancy_indexing import elements_at, elements_where, rows_at, store_elements
from pijit.core.capture.models.numpy.from_sequences import array_of
from pijit.core.capture.models.numpy.library_effects import held_by, set_items
from pijit.core.capture.models.objects.special_methods import ask_special, call_special
from pijit.core.capture.models.operators import describe, operand_of
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import SUBSCRIPT, entry_of
from pijit.core.capture.typing.result_types import SampleOperand
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    KnownContainer,
    Number,
    Sequence,
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
from pijit.core.graph.types import FLAG, Array, Scalar, numpy_scalar
from pijit.guards.facts import is_among

STORING_BACK = ["SWAP", "ROT_TWO", "STORE_SUBSCR"] if "SWAP" in PRESENT else ["ROT_THREE", "STORE_SUBSCR"]
"""The instructions after the operator of ``x[i] += ...``."""


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
    if pointer_class(owner) is list and isinstance(index, Slice):
        store_part(interpreter, owner, index, value)
        return
    if isinstance(owner, KnownContainer) and store_into_known(interpreter, owner, index, value):
        return
    if pointer_class(owner) is list:
        interpreter.store_item(owner, index, value)
        return
    if is_among(pointer_class(owner), KEYED):
        interpreter.store_key(owner, index, value)
        return
    if pointer_class(owner) is bytearray:
        interpreter.store_byte(owner, index, value)
        return
    if not isinstance(owner, Tensor):
        if ask_special(interpreter, "__setitem__", owner, index, value) is None:
            raise Break("PJ205", object=describe(owner))
        return
    if not owner.type.writeable:
        raise Break("PJ203", operand="read-only array")
    if not (isinstance(value, Tensor) and value.part is not None and _is_part(value.part, owner, index)):
        interpreter.store(owner, index, value)


def store(interpreter: Interpreter, owner: Tensor, index: Abstract, value: Abstract) -> None:
    """``owner[index] = value`` for a writeable array."""
    if _gathers(interpreter, index):
        _scatter(interpreter, owner, index, value)
    else:
        _store(interpreter, owner, _index_items(interpreter, index), value)


def store_complex_part(interpreter: Interpreter, owner: Tensor, name: str, value: Abstract) -> None:
    """``owner.real = value`` and ``owner.imag = value`` of a complex array."""
    if owner.type.dtype.kind != "c" or name not in ("real", "imag"):
        raise Break("PJ220", attribute=name, object="array", because="it is no part of complex elements")
    if not owner.type.writeable:
        raise Break("PJ203", operand="read-only array")
    part = cast(Tensor, interpreter.attribute(owner, name))
    if isinstance(value, Tensor) and value.part == (owner.value, name):
        return  # as after ``owner.real += ...``
    _store(interpreter, part, [Const(Ellipsis)], value)


def subscript(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Abstract:
    """``owner[index]``."""
    if isinstance(owner, Tensor) and _gathers(interpreter, index):
        items = _index_items(interpreter, index) if class_of(index) is not list else []
        found = elements_at(interpreter, owner, items) or elements_where(interpreter, owner, items) or rows_at(
            interpreter, owner, items)
        if found is not None:
            return found
        interpreter.require_elements_of(owner)
        return interpreter.invoke(FUNCTIONS["operator.getitem"], [owner, index], {})
    if isinstance(owner, Tensor):
        items = _index_items(interpreter, index)
        if _is_element(owner, items):
            result = numpy_scalar(owner.type.dtype)
            words = [interpreter.word(item) for item in items]
            return Number(result, interpreter.emit("load", [ssa_value(owner)] + words, result, exits=True))
        view = interpreter.view_of(owner, items)
        view.part = (owner.value, index)
        return view
    model = entry_of(SUBSCRIPT, owner.object) if isinstance(owner, Const) else None
    if model is not None:
        return cast(Abstract, model(interpreter, index))
    if is_text(owner):
        return interpreter.text_item(owner, index)
    found = call_special(interpreter, "__getitem__", owner, index)
    return found if found is not None else interpreter.container_item(owner, index)


def _index_items(interpreter: Interpreter, index: Abstract) -> List[Abstract]:
    """The items of an index: those of a tuple, or the index itself."""
    known = index.object if isinstance(index, Const) else getattr(index, "sample", None)
    if isinstance(index, Sequence) or type(known) is tuple:
        return interpreter.items_of(index) or []
    return [index]


def _gathers(interpreter: Interpreter, index: Abstract) -> bool:
    """Whether an index selects elements one by one: it is an array or a list, or contains one."""
    if class_of(index) is list:
        return True
    items = [index] if class_of(index) is not tuple else interpreter.items_of(index) or []
    return any(isinstance(item, Tensor) or class_of(item) is list for item in items)


def updates_picked(interpreter: Interpreter) -> bool:
    """Whether this is the operator of ``x[:, i] += ...``.

    A slice is on the stack, so no exit could follow if the operator wrote into the array of the selected elements.
    """
    following = interpreter.function.instructions[
        interpreter.instr.index + 1:interpreter.instr.index + 1 + len(STORING_BACK)]
    if [instr.opname for instr in following] != STORING_BACK or len(interpreter.state.stack) < 2:
        return False
    owner, index = interpreter.state.stack[-2:]
    return isinstance(owner, Tensor) and class_of(index) is tuple and _gathers(interpreter, index) and any(
        isinstance(item, Slice) for item in _index_items(interpreter, index))


def _scatter(interpreter: Interpreter, owner: Tensor, index: Abstract, value: Abstract) -> None:
    """``owner[mask] = value`` and ``owner[integers] = value`` for values that every element can hold."""
    value = held_by(interpreter, owner, value)
    items = _index_items(interpreter, index) if class_of(index) is not list else []
    if store_elements(interpreter, owner, items, value):
        return
    interpreter.require_elements_of(owner)
    set_items(interpreter, owner, index, value)


def require_elements_of(interpreter: Interpreter, owner: Tensor) -> None:
    """Side exit if the array is empty, because NumPy would warn about an index out of range instead of raising."""
    interpreter.emit("require", [interpreter.emit("truth", [interpreter.size(owner)], FLAG)], None, exits=True)


def view_of(interpreter: Interpreter, owner: Tensor, items: List[Abstract]) -> Tensor:
    """``owner[items]`` for a basic index."""
    items = _without_ellipsis(items, owner.type.ndim)
    codes: List[str] = []
    words: List[Value] = []
    for item in items:
        code, parts = _index_code(interpreter, item)
        codes.append(code)
        words += parts
    result = _view_type(owner.type, codes)
    exits = any(code == "i" or code[-1] == "v" for code in codes)
    value = interpreter.emit("view", [ssa_value(owner)] + words, result, {"index": tuple(codes)}, exits=exits)
    return Tensor(result, value)


def row(interpreter: Interpreter, owner: Tensor, index: Value) -> Tensor:
    """``owner[index]`` of an array with several axes, for an index that is known to be in range."""
    codes = ("i",) + ("e",) * (owner.type.ndim - 1)
    result = _view_type(owner.type, list(codes))
    return Tensor(result, interpreter.emit("view", [ssa_value(owner), index], result, {"index": codes, "inside": True}))


def _index_code(interpreter: Interpreter, item: Abstract) -> Tuple[str, List[Value]]:
    item = interpreter.use(item)
    if isinstance(item, Const) and item.object is None:
        return "n", []
    if isinstance(item, Slice):
        absent = [isinstance(part, Const) and part.object is None for part in item.parts]
        if all(absent):
            return "e", []
        return ("s" + "".join("-" if gone else "v" for gone in absent),
                [interpreter.word(part) for part, gone in zip(item.parts, absent) if not gone])
    if isinstance(item, Const) and type(item.object) is slice:
        raise Break("PJ205", index="slice constant")
    return "i", [interpreter.word(item)]


def _store(interpreter: Interpreter, owner: Tensor, items: List[Abstract], value: Abstract) -> None:
    value = array_of(interpreter, value, owner.type.dtype) or value
    question = operand_of(value)
    if _is_element(owner, items) and isinstance(question.type, Scalar):
        words = [interpreter.word(item) for item in items]
        stored = interpreter.stored_scalar(value, question, owner.type.dtype)
        interpreter.emit("store", [ssa_value(owner)] + words + [stored], None, exits=True)
        return
    target = interpreter.view_of(owner, items)
    if isinstance(question.type, Array):
        if not np.can_cast(question.type.dtype, target.type.dtype, "same_kind"):
            raise Break("PJ203", operand="%r stored into %r" % (question.type, target.type))
        if question.type.ndim > target.type.ndim:
            raise Break("PJ205", index="more dimensions than the target")
        interpreter.emit("assign", [ssa_value(target), interpreter.any_value(value)], None, exits=True)
        return
    stored = interpreter.stored_scalar(value, question, owner.type.dtype)
    interpreter.emit("assign", [ssa_value(target), stored], None, exits=True)


def stored_scalar(interpreter: Interpreter, value: Abstract, question: SampleOperand, dtype: np.dtype[Any]) -> Value:
    """A scalar converted as ``a[...] = scalar`` converts it, or Break."""
    want, have = numpy_scalar(dtype), question.type
    ssa = interpreter.number_value(value)
    if have == want:
        return ssa
    if have.dtype == dtype:
        return interpreter.emit("same", [ssa], want)
    kinds = have.dtype.kind + dtype.kind
    if kinds in ALWAYS_FIT + MAY_FIT:
        exits = kinds not in ALWAYS_FIT and not np.can_cast(have.dtype, dtype, "safe")
        if kinds == "if" and dtype == np.float64:
            exits = False
        return interpreter.emit("cast", [ssa], want, exits=exits)
    raise Break("PJ203", operand="%r stored into %s" % (have, dtype))


ALWAYS_FIT = ("bi", "bu", "bf", "bc", "ib", "ub", "fb")
MAY_FIT = ("if", "uf", "ff", "ii", "iu", "uu", "ui", "ic", "uc", "fc", "cc")
"""Kinds of a number and of the elements that hold it."""


def _is_part(part: Tuple[Optional[Value], Abstract], owner: Tensor, index: Abstract) -> bool:
    """Whether a view is ``owner[index]`` itself, as after ``owner[index] += ...``, so that storing it changes nothing.

    From 3.12 on the slice of such a statement is made twice, from the same parts.
    """
    own = part[1]
    same = own is index or isinstance(own, Slice) and isinstance(index, Slice) and own.parts == index.parts
    return part[0] is owner.value and same


def _is_element(owner: Tensor, items: List[Abstract]) -> bool:
    """Whether there is one integer per axis: an element, not a view. Booleans are masks, not integers."""
    if len(items) != owner.type.ndim or owner.type.ndim == 0:
        return False
    kinds = [number_type(item) for item in items]
    return all(kind is not None and kind.dtype.kind in "iu" for kind in kinds)


def _without_ellipsis(items: List[Abstract], ndim: int) -> List[Abstract]:
    """The index with ``...`` and missing axes written out as full slices."""
    full = StackSlice((Const(None), Const(None), Const(None)))
    dots = [k for k, item in enumerate(items) if isinstance(item, Const) and item.object is Ellipsis]
    taken = sum(1 for item in items
                if not (isinstance(item, Const) and (item.object is None or item.object is Ellipsis)))
    if len(dots) > 1 or taken > ndim:
        raise Break("PJ205", index="too many indices")
    for item in items:
        kind = number_type(item)
        if kind is not None and kind.dtype.kind not in "iu":
            raise Break("PJ205", index=describe(item))
    missing = [full] * (ndim - taken)
    if dots:
        return items[:dots[0]] + missing + items[dots[0] + 1:]
    return items + missing


def _view_type(owner: Array, codes: List[str]) -> Array:
    """The type of a view. The layout letter is given only where it is certain for all index values."""
    ndim = sum(code != "i" for code in codes)
    if ndim == 0:
        raise Break("PJ205", index="zero-dimensional view")
    layout = "A"
    if owner.layout == "C":
        remaining = [code for code in codes]
        while remaining and remaining[0] == "i":
            remaining = remaining[1:]
        if all(code in ("e", "n") for code in remaining):
            layout = "C"
        elif remaining and remaining[0] in ("sv--", "s-v-", "svv-") and all(code == "e" for code in remaining[1:]):
            layout = "C"
    return Array(owner.dtype, ndim, layout, owner.writeable, owner.transposed, owner.ordered)
