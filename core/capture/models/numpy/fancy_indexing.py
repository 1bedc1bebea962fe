"""Fancy indexing: subscripts by masks and by arrays of integers, in the kernel's own loops.

Called by the interpreter's subscripts and by `views`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, cast

from pijit.core.capture.models.numpy import indexing
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.values.lattice import Abstract, Const, Number, StackSlice, Tensor, number_type, ssa_value
from pijit.core.graph.passes.fusion import MEMORY_CODES
from pijit.core.graph.types import FLAG, Array

if TYPE_CHECKING:
    from typing import TypeGuard

FULL = StackSlice((Const(None), Const(None), Const(None)))


def is_index_vector(value: Abstract) -> TypeGuard[Tensor]:
    """Whether a value is an array of integers with one axis."""
    return isinstance(value, Tensor) and value.type.ndim == 1 and value.type.dtype.kind in "iu"


def is_integer(value: Abstract) -> bool:
    kind = number_type(value)
    return kind is not None and kind.dtype.kind in "iu"


def elements_at(interpreter: Interpreter, owner: Tensor, items: List[Abstract]) -> Optional[Abstract]:
    """``owner[i, j...]`` with an integer or a vector of integers for each axis; None for another index.

    The integers select the part of the owner that is indexed. Of several vectors none may be empty: NumPy would
    then warn of indices of the others that are out of range.
    """
    vectors = [item for item in items if is_index_vector(item)]
    if (len(items) != owner.type.ndim or owner.type.dtype.kind not in "iufc" or not vectors
            or not all(is_index_vector(item) or is_integer(item) for item in items)):
        return None
    for vector in vectors[1:] and vectors:
        indexing.require_elements_of(interpreter, vector)
    table = owner
    if len(vectors) < len(items):
        table = indexing.view_of(interpreter, owner, [FULL if is_index_vector(item) else item for item in items])
    types = "".join(vector.type.dtype.char for vector in vectors) + "->" + owner.type.dtype.char
    kind = Array(owner.type.dtype, 1, "C")
    operands = [ssa_value(table)] + list(map(ssa_value, vectors))
    return Tensor(kind, interpreter.emit("gather", operands, kind, {"types": types}, exits=True))


def rows_at(interpreter: Interpreter, owner: Tensor, items: List[Abstract]) -> Optional[Abstract]:
    """``owner[i]`` of a vector and an array in C order with two or more axes; None for another index."""
    kind = owner.type
    if len(items) != 1 or not is_index_vector(items[0]) or kind.ndim < 2 or kind.layout != "C":
        return None
    indexing.require_elements_of(interpreter, owner)
    made = Array(kind.dtype, kind.ndim, "C")
    return Tensor(made, interpreter.emit(
        "rows", [ssa_value(owner), ssa_value(items[0])], made, exits=True))


def is_mask_of(owner: Tensor, items: List[Abstract]) -> bool:
    """Whether an index is one mask for all elements, with both arrays in C order."""
    kind = items[0].type if len(items) == 1 and isinstance(items[0], Tensor) else None
    return (kind is not None and kind.dtype.kind == "b" and kind.ndim == owner.type.ndim > 0
            and kind.layout == owner.type.layout == "C")


def elements_where(interpreter: Interpreter, owner: Tensor, items: List[Abstract]) -> Optional[Abstract]:
    """``owner[mask]``; None for another index."""
    if not is_mask_of(owner, items):
        return None
    kind, code = Array(owner.type.dtype, 1, "C"), owner.type.dtype.char
    types = {"types": "?{0}->{0}".format(code)} if code in MEMORY_CODES else {}
    return Tensor(kind, interpreter.emit(
        "pick", [ssa_value(owner), ssa_value(cast(Tensor, items[0]))], kind, types, exits=True))


def is_stored_as_is(owner: Tensor, value: Abstract) -> bool:
    """Whether a value is a vector or a number of the owner's dtype."""
    return isinstance(value, Number) or (
        isinstance(value, Tensor) and value.type.ndim == 1 and value.type.dtype == owner.type.dtype)


def store_elements(interpreter: Interpreter, owner: Tensor, items: List[Abstract], value: Abstract) -> bool:
    """``owner[mask] = value``, or ``owner[i, 2...] = value`` with one vector and integers; False for another index.

    The vector must be contiguous: NumPy goes through another one backwards, if that is its memory order.
    """
    vectors = [item for item in items if is_index_vector(item)]
    if not is_stored_as_is(owner, value):
        return False
    if is_mask_of(owner, items):
        code = owner.type.dtype.char
        # elements that are not chosen keep their bits: bools may have other bits than 0 and 1
        known = code in MEMORY_CODES and code != "?"
        operands = [ssa_value(owner), ssa_value(cast(Tensor, items[0])), conversions.any_value(interpreter, value)]
        interpreter.emit("put_mask", operands, None, {"types": "?{0}{0}->{0}".format(code)} if known else {},
                         exits=True)
        return True
    if (len(items) != owner.type.ndim or len(vectors) != 1
            or vectors[0].type.layout != "C" or not all(item is vectors[0] or is_integer(item) for item in items)):
        return False
    target = owner
    if len(items) > 1:
        target = indexing.view_of(interpreter, owner, [FULL if item is vectors[0] else item for item in items])
    operands = [ssa_value(target), ssa_value(vectors[0]), conversions.any_value(interpreter, value)]
    interpreter.emit("scatter", operands, None, exits=True)
    return True


def require_apart(interpreter: Interpreter, *arrays: Tensor) -> None:
    """Exit where the first array may share memory with one of the others."""
    for other in arrays[1:]:
        shared = interpreter.emit("shares", [ssa_value(arrays[0]), ssa_value(other)], FLAG)
        interpreter.emit("require", [interpreter.emit("not", [shared], FLAG)], None, exits=True)


def add_at(interpreter: Interpreter, owner: Tensor, index: Abstract, value: Abstract) -> bool:
    """``np.add.at(owner, index, value)`` of vectors of one dtype; the value may be a number.
    False for other operands."""
    kind = value.type if isinstance(value, Tensor) else number_type(value)
    if (owner.type.ndim != 1 or not is_index_vector(index) or index.type.layout != "C"
            or owner.type.dtype.kind not in "iuf" or owner.type.dtype.char == "e"
            or kind is None or kind.dtype != owner.type.dtype
            or isinstance(value, Tensor) and value.type.ndim != 1):
        return False
    require_apart(interpreter, owner, *[each for each in (index, value) if isinstance(each, Tensor)])
    interpreter.emit("add_at", [ssa_value(owner), ssa_value(index), conversions.any_value(interpreter, value)], None,
                     exits=True)
    return True
