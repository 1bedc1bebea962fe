"""Subscripts: basic indexing and slicing of arrays, items of containers, element and slice stores."""

from __future__ import annotations

from typing import Callable, List, Optional, Tuple

import numpy as np

from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.instructions.opcodes import PRESENT
from pijit.core.capture.models.containers.characters import is_text
from pijit.core.capture.models.containers.known_stores import store_into_known
from pijit.core.capture.models.containers.reads import KEYED
from pijit.core.capture.models.containers.slices import INDEX_MAKERS, index_made, store_part
from pijit.core.capture.models.numpy.fancy_indexing import elements_at, elements_where, rows_at, store_elements
from pijit.core.capture.models.numpy.from_sequences import array_of
from pijit.core.capture.models.numpy.library_effects import held_by, set_items
from pijit.core.capture.models.objects.special_methods import ask_special, call_special
from pijit.core.capture.models.operators import describe, operand_of
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.typing.result_types import Operand
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    KnownContainer,
    Number,
    Sequence,
    Slice,
    SliceDisplay,
    Tensor,
    class_of,
    number_type,
    pointer_class,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import FLAG, Array, Scalar, numpy_scalar
from pijit.guards.facts import is_among

STORING_BACK = ["SWAP", "ROT_TWO", "STORE_SUBSCR"] if "SWAP" in PRESENT else ["ROT_THREE", "STORE_SUBSCR"]
"""The instructions after the operator of ``x[i] += ...``."""


class Subscripts:
    """Mixin of the interpreter: BINARY_SUBSCR, STORE_SUBSCR, BUILD_SLICE."""

    function: Function
    instr: Instr
    state: FrameState
    emit: Callable[..., Optional[Value]]
    pop: Callable[[], Abstract]
    pop_many: Callable[[int], List[Abstract]]
    push: Callable[[Abstract], None]
    word: Callable[[Abstract], Value]
    any_value: Callable[[Abstract], Value]
    number_value: Callable[[Abstract], Value]
    use: Callable[[Abstract], Abstract]
    store_item: Callable[[Abstract, Abstract, Abstract], None]
    store_key: Callable[[Abstract, Abstract, Abstract], None]
    items_of: Callable[[Abstract], Optional[List[Abstract]]]
    invoke: Callable[..., Abstract]
    stored_value: Callable[[Abstract], Value]
    attribute: Callable[[Abstract, str], Abstract]
    container_item: Callable[[Abstract, Abstract], Abstract]
    size: Callable[[Tensor], Value]
    text_item: Callable[[Abstract, Abstract], Abstract]
    store_byte: Callable[[Abstract, Abstract, Abstract], None]

    def op_BUILD_SLICE(self, instr: Instr) -> None:
        parts = self.pop_many(instr.arg or 2)
        for part in parts:
            if not (isinstance(part, Const) and part.object is None) and number_type(part) is None:
                raise Break("PJ205", index=describe(part))
        self.push(SliceDisplay(tuple(parts + [Const(None)] * (3 - len(parts)))))

    def op_BINARY_SUBSCR(self, instr: Instr) -> None:
        index, owner = self.pop(), self.pop()
        self.push(self.subscript(owner, index))

    def op_STORE_SUBSCR(self, instr: Instr) -> None:
        self.store_subscript(self.pop(), self.pop(), self.pop())

    def store_subscript(self, index: Abstract, owner: Abstract, value: Abstract) -> None:
        """``owner[index] = value``."""
        if pointer_class(owner) is list and isinstance(index, Slice):
            store_part(self, owner, index, value)
            return
        if isinstance(owner, KnownContainer) and store_into_known(self, owner, index, value):
            return
        if pointer_class(owner) is list:
            self.store_item(owner, index, value)
            return
        if is_among(pointer_class(owner), KEYED):
            self.store_key(owner, index, value)
            return
        if pointer_class(owner) is bytearray:
            self.store_byte(owner, index, value)
            return
        if not isinstance(owner, Tensor):
            if ask_special(self, "__setitem__", owner, index, value) is None:
                raise Break("PJ205", object=describe(owner))
            return
        if not owner.type.writeable:
            raise Break("PJ203", operand="read-only array")
        if not (isinstance(value, Tensor) and value.part is not None and _is_part(value.part, owner, index)):
            self.store(owner, index, value)

    def store(self, owner: Tensor, index: Abstract, value: Abstract) -> None:
        """``owner[index] = value`` for a writeable array."""
        if self._gathers(index):
            self._scatter(owner, index, value)
        else:
            self._store(owner, self._index_items(index), value)

    def store_part(self, owner: Tensor, name: str, value: Abstract) -> None:
        """``owner.real = value`` and ``owner.imag = value`` of a complex array."""
        if owner.type.dtype.kind != "c" or name not in ("real", "imag"):
            raise Break("PJ220", attribute=name, object="array", because="it is no part of complex elements")
        if not owner.type.writeable:
            raise Break("PJ203", operand="read-only array")
        part = self.attribute(owner, name)
        if isinstance(value, Tensor) and value.part == (owner.value, name):
            return  # as after ``owner.real += ...``
        self._store(part, [Const(Ellipsis)], value)

    def subscript(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]``."""
        if isinstance(owner, Tensor) and self._gathers(index):
            items = self._index_items(index) if class_of(index) is not list else []
            found = elements_at(self, owner, items) or elements_where(self, owner, items) or rows_at(
                self, owner, items)
            if found is not None:
                return found
            self.require_elements_of(owner)
            return self.invoke(FUNCTIONS["operator.getitem"], [owner, index], {})
        if isinstance(owner, Tensor):
            items = self._index_items(index)
            if _is_element(owner, items):
                result = numpy_scalar(owner.type.dtype)
                words = [self.word(item) for item in items]
                return Number(result, self.emit("load", [owner.value] + words, result, exits=True))
            view = self.view_of(owner, items)
            view.part = (owner.value, index)
            return view
        if isinstance(owner, Const) and any(owner.object is maker for maker in INDEX_MAKERS):
            return index_made(self, owner.object, index)
        row = INDEXERS.get(id(owner.object)) if isinstance(owner, Const) else None
        if row is not None:
            return self.invoke(FUNCTIONS[row], [index], {})
        if is_text(owner):
            return self.text_item(owner, index)
        found = call_special(self, "__getitem__", owner, index)
        return found if found is not None else self.container_item(owner, index)

    def _index_items(self, index: Abstract) -> List[Abstract]:
        """The items of an index: those of a tuple, or the index itself."""
        known = index.object if isinstance(index, Const) else getattr(index, "sample", None)
        if isinstance(index, Sequence) or type(known) is tuple:
            return self.items_of(index) or []
        return [index]

    def _gathers(self, index: Abstract) -> bool:
        """Whether an index selects elements one by one: it is an array or a list, or contains one."""
        if class_of(index) is list:
            return True
        items = [index] if class_of(index) is not tuple else self.items_of(index) or []
        return any(isinstance(item, Tensor) or class_of(item) is list for item in items)

    def updates_picked(self) -> bool:
        """Whether this is the operator of ``x[:, i] += ...``.

        A slice is on the stack, so no exit could follow if the operator wrote into the array of the selected elements.
        """
        behind = self.function.instructions[self.instr.index + 1:self.instr.index + 1 + len(STORING_BACK)]
        if [instr.opname for instr in behind] != STORING_BACK or len(self.state.stack) < 2:
            return False
        owner, index = self.state.stack[-2:]
        return isinstance(owner, Tensor) and class_of(index) is tuple and self._gathers(index) and any(
            isinstance(item, Slice) for item in self._index_items(index))

    def _scatter(self, owner: Tensor, index: Abstract, value: Abstract) -> None:
        """``owner[mask] = value`` and ``owner[integers] = value`` for values that every element can hold."""
        value = held_by(self, owner, value)
        items = self._index_items(index) if class_of(index) is not list else []
        if store_elements(self, owner, items, value):
            return
        self.require_elements_of(owner)
        set_items(self, owner, index, value)

    def require_elements_of(self, owner: Tensor) -> None:
        """Side exit if the array is empty, because NumPy would warn about an index out of range instead of raising."""
        self.emit("require", [self.emit("truth", [self.size(owner)], FLAG)], None, exits=True)

    def view_of(self, owner: Tensor, items: List[Abstract]) -> Tensor:
        """``owner[items]`` for a basic index."""
        items = _without_ellipsis(items, owner.type.ndim)
        codes: List[str] = []
        words: List[Value] = []
        for item in items:
            code, parts = self._index_code(item)
            codes.append(code)
            words += parts
        result = _view_type(owner.type, codes)
        exits = any(code == "i" or code[-1] == "v" for code in codes)
        value = self.emit("view", [owner.value] + words, result, {"index": tuple(codes)}, exits=exits)
        return Tensor(result, value)

    def row(self, owner: Tensor, index: Value) -> Tensor:
        """``owner[index]`` of an array with several axes, for an index that is known to be in range."""
        codes = ("i",) + ("e",) * (owner.type.ndim - 1)
        result = _view_type(owner.type, list(codes))
        return Tensor(result, self.emit("view", [owner.value, index], result, {"index": codes, "inside": True}))

    def _index_code(self, item: Abstract) -> Tuple[str, List[Value]]:
        item = self.use(item)
        if isinstance(item, Const) and item.object is None:
            return "n", []
        if isinstance(item, Slice):
            absent = [isinstance(part, Const) and part.object is None for part in item.parts]
            if all(absent):
                return "e", []
            return ("s" + "".join("-" if gone else "v" for gone in absent),
                    [self.word(part) for part, gone in zip(item.parts, absent) if not gone])
        if isinstance(item, Const) and type(item.object) is slice:
            raise Break("PJ205", index="slice constant")
        return "i", [self.word(item)]

    def _store(self, owner: Tensor, items: List[Abstract], value: Abstract) -> None:
        value = array_of(self, value, owner.type.dtype) or value
        question = operand_of(value)
        if _is_element(owner, items) and isinstance(question.type, Scalar):
            words = [self.word(item) for item in items]
            stored = self.stored_scalar(value, question, owner.type.dtype)
            self.emit("store", [owner.value] + words + [stored], None, exits=True)
            return
        target = self.view_of(owner, items)
        if isinstance(question.type, Array):
            if not np.can_cast(question.type.dtype, target.type.dtype, "same_kind"):
                raise Break("PJ203", operand="%r stored into %r" % (question.type, target.type))
            if question.type.ndim > target.type.ndim:
                raise Break("PJ205", index="more dimensions than the target")
            self.emit("assign", [target.value, self.any_value(value)], None, exits=True)
            return
        stored = self.stored_scalar(value, question, owner.type.dtype)
        self.emit("assign", [target.value, stored], None, exits=True)

    def stored_scalar(self, value: Abstract, question: Operand, dtype: np.dtype) -> Value:
        """A scalar converted as ``a[...] = scalar`` converts it, or Break."""
        want, have = numpy_scalar(dtype), question.type
        ssa = self.number_value(value)
        if have == want:
            return ssa
        if have.dtype == dtype:
            return self.emit("same", [ssa], want)  # type: ignore[return-value]
        kinds = have.dtype.kind + dtype.kind
        if kinds in ALWAYS_FIT + MAY_FIT:
            exits = kinds not in ALWAYS_FIT and not np.can_cast(have.dtype, dtype, "safe")
            if kinds == "if" and dtype == np.float64:
                exits = False
            return self.emit("cast", [ssa], want, exits=exits)  # type: ignore[return-value]
        raise Break("PJ203", operand="%r stored into %s" % (have, dtype))


INDEXERS = {id(getattr(np, name)): name + ".__getitem__" for name in ("r_", "c_", "mgrid", "ogrid")}
"""NumPy objects whose items are made from the index."""


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
    full = SliceDisplay((Const(None), Const(None), Const(None)))
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
        kept = [code for code in codes]
        while kept and kept[0] == "i":
            kept = kept[1:]
        if all(code in ("e", "n") for code in kept):
            layout = "C"
        elif kept and kept[0] in ("sv--", "s-v-", "svv-") and all(code == "e" for code in kept[1:]):
            layout = "C"
    return Array(owner.dtype, ndim, layout, owner.writeable, owner.turned)
