"""Basic indexing of arrays: the items of an index, views, and scalars in the form in which elements hold them.

Models of arrays and `interpreter/subscripts.py` call these functions. Fancy indices are in `fancy_indexing`.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from pijit.core.bytecode.instructions.predicates import stores_back
from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.numpy import shapes
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.typing import axis_lengths
from pijit.core.capture.typing.result_types import SampleOperand
from pijit.core.capture.values.describe import constants_of, describe
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Slice,
    StackSlice,
    Tensor,
    class_of,
    number_type,
    ssa_value,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG, Array, numpy_scalar


def index_items(interpreter: Interpreter, index: Abstract) -> List[Abstract]:
    """The items of an index: those of a tuple, or the index itself."""
    return _tuple_items(interpreter, index) if class_of(index) is tuple else [index]


def _tuple_items(interpreter: Interpreter, index: Abstract) -> List[Abstract]:
    """The items of a tuple. How many there are decides the type of a subscript."""
    items = contents.items_of(interpreter, index)
    if items is None:
        interpreter.context.base.types.ranges.require_constants(interpreter.capture_point())
        raise Break("PJ205", index=describe(index))
    return items


def gathers(interpreter: Interpreter, index: Abstract) -> bool:
    """Whether an index selects elements one by one: it is an array or a list, or contains one."""
    if class_of(index) is list:
        return True
    items = index_items(interpreter, index)
    return any(isinstance(item, Tensor) or class_of(item) is list for item in items)


def updates_picked(interpreter: Interpreter) -> bool:
    """Whether this is the operator of ``x[:, i] += ...``.

    A slice is on the stack, so no exit could follow if the operator wrote into the array of the selected elements.
    """
    following = interpreter.function.instructions[interpreter.instr.index + 1:interpreter.instr.index + 4]
    if not stores_back(following) or len(interpreter.state.stack) < 2:
        return False
    owner, index = interpreter.state.stack[-2:]
    return isinstance(owner, Tensor) and class_of(index) is tuple and gathers(interpreter, index) and any(
        isinstance(item, Slice) for item in index_items(interpreter, index))


def require_elements_of(interpreter: Interpreter, owner: Tensor) -> None:
    """Side exit if the array is empty, because NumPy would warn about an index out of range instead of raising."""
    interpreter.emit("require", [interpreter.emit("truth", [shapes.size(interpreter, owner)], FLAG)], None, exits=True)


def view_of(interpreter: Interpreter, owner: Tensor, items: List[Abstract]) -> Tensor:
    """``owner[items]`` for a basic index."""
    items = _without_ellipsis(items, owner.type.ndim)
    codes: List[str] = []
    words: List[Value] = []
    for item in items:
        code, parts = _index_code(interpreter, item)
        codes.append(code)
        words += parts
    result = _view_type(owner.type, codes).expecting(
        axis_lengths.of_view(owner.type, codes, list(map(_known_slice, items))))
    exits = any(code == "i" or code[-1] == "v" for code in codes)
    value = interpreter.emit("view", [ssa_value(owner)] + words, result, {"index": tuple(codes)}, exits=exits)
    return Tensor(result, value)


def row(interpreter: Interpreter, owner: Tensor, index: Value) -> Tensor:
    """``owner[index]`` of an array with several axes, for an index that is known to be in range."""
    codes = ("i",) + ("e",) * (owner.type.ndim - 1)
    result = _view_type(owner.type, list(codes)).expecting(
        axis_lengths.of_view(owner.type, codes, [None] * len(codes)))
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


def _known_slice(item: Abstract) -> Optional[slice]:
    """An item of an index that is a slice of constants; else None."""
    parts = constants_of(item.parts) if isinstance(item, Slice) else None
    known = parts is not None and all(part is None or type(part) is int for part in parts)
    return slice(*parts) if parts is not None and known else None


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


def is_element(owner: Tensor, items: List[Abstract]) -> bool:
    """Whether there is one integer per axis: an element, not a view. Booleans are masks, not integers."""
    if len(items) != owner.type.ndim:
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
