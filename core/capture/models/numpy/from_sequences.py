"""Arrays from lists and tuples of numbers: ``np.array([[c, -s], [s, c]])``, ``x * [1, 2]``.

The kernel stores the elements itself. It checks the exact type of each item, so no user code runs. Called by
operators, subscripts and the models of array functions.
"""

from __future__ import annotations

from typing import Any, Optional, cast

import numpy as np

from pijit.core.capture.models.containers import contents, reads
from pijit.core.capture.models.numpy import indexing, questions
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.typing.library_result_types import result_types
from pijit.core.capture.typing.result_types import SampleOperand
from pijit.core.capture.values.element_types import LOOKED_AT, list_like
from pijit.core.capture.values.lattice import Abstract, Instance, OpaqueObject, Tensor, class_of, number_type, ssa_value
from pijit.core.graph.ir import Value
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import FLAG, WORD, Array, Holding, ListOf, Scalar
from pijit.guards.facts import is_among

MOST_ELEMENTS = 64
"""Most elements that are stored one by one."""
FITTING = frozenset("bi bu bf bc ib ub fb if uf ff ii iu uu ui ic uc fc cc".split())
"""Pairs of dtype kinds: that of a number, and that of elements that can hold it."""


def array_of(interpreter: Interpreter, value: Abstract, dtype: Optional[np.dtype[Any]] = None) -> Optional[Tensor]:
    """The array that ``np.array(value, dtype)`` makes of a list or tuple of numbers, or of lists or tuples of
    numbers.

    None for other values.
    """
    if not is_among(class_of(value), (list, tuple)):
        return None
    if contents.is_short(interpreter, value):
        return _of_few(interpreter, value, dtype)
    expected = expected_list(value)
    return _of_many(interpreter, value, expected, dtype) if expected is not None else None


def as_array(interpreter: Interpreter, value: Abstract) -> Abstract:
    """An operand as NumPy takes it: a list or tuple of numbers becomes an array."""
    return array_of(interpreter, value) or value


def many_as_array(interpreter: Interpreter, value: Abstract) -> Abstract:
    """As `as_array`, but only for a list whose items are not known one by one."""
    is_long = class_of(value) is list and not contents.is_short(interpreter, value)
    return as_array(interpreter, value) if is_long else value


def expected_list(value: Abstract) -> Any:
    """The type of a list whose items are alike, or None."""
    if isinstance(value, OpaqueObject) and type(value.sample) is list:
        return list_like(value.sample[:LOOKED_AT])
    kind = value.type if isinstance(value, Instance) else None
    return kind if isinstance(kind, (ListOf, Holding)) and kind.python is list else None


def _of_few(interpreter: Interpreter, value: Abstract, dtype: Optional[np.dtype[Any]]) -> Optional[Tensor]:
    items = [interpreter.use(item) for item in contents.items_of(interpreter, value) or ()]
    rows = [items]
    if items and all(is_among(class_of(item), (list, tuple)) and contents.is_short(interpreter, item)
                     for item in items):
        rows = [[interpreter.use(part) for part in contents.items_of(interpreter, item) or ()] for item in items]
    kinds = [number_type(item) for row in rows for item in row]
    shape = (len(items),) if rows[0] is items else (len(rows), len(rows[0]))
    if not 0 < len(kinds) <= MOST_ELEMENTS or None in kinds or any(len(row) != shape[-1] for row in rows):
        return None
    natural = result_types("array", questions.questions_of(interpreter, FUNCTIONS["array"], [value], {}), ())
    chosen = _chosen(natural, len(shape), dtype)
    if chosen is None or not all(kind is not None and (kind.dtype == chosen or kind.dtype.kind + chosen.kind in FITTING)
                                 for kind in kinds):
        return None
    result = Array(chosen, len(shape), "C", lengths=shape)
    operands = [indexing.stored_scalar(interpreter, item, SampleOperand(cast(Scalar, number_type(item))), chosen)
                for row in rows for item in row]
    return Tensor(result, interpreter.emit("elements", operands, result, {"shape": shape}, exits=True))


def _chosen(natural: Any, ndim: int, dtype: Optional[np.dtype[Any]]) -> Optional[np.dtype[Any]]:
    """The dtype of an array of numbers with ``ndim`` axes; None if NumPy makes another array."""
    if not isinstance(natural, Array) or natural.ndim != ndim:
        return None
    return dtype if dtype is not None else natural.dtype


def _of_many(interpreter: Interpreter, value: Abstract, expected: Any,
             dtype: Optional[np.dtype[Any]]) -> Optional[Tensor]:
    part = expected.items
    rows = part.python if isinstance(part, (ListOf, Holding)) else None
    kinds = (part,) if rows is None else (part.items,) if rows is list else part.items
    natural = result_types("array", (questions.list_question(interpreter, expected),), ())
    chosen = _chosen(natural, 1 if rows is None else 2, dtype)
    if chosen is None or not all(isinstance(kind, Scalar) and _is_taken(kind.dtype, chosen) for kind in kinds):
        return None
    owner, width = interpreter.object_value(value), _word(interpreter, len(kinds))
    if rows is not None or dtype is None and chosen != np.float64:
        # NumPy makes another array of an empty list
        _require_more(interpreter, interpreter.emit("list_size", [owner], WORD))
    if rows is list:
        first = reads.item_of_list(interpreter, Instance(expected, owner), _word(interpreter, 0))
        width = interpreter.emit("list_size", [ssa_value(cast(Instance, first))], WORD)
        _require_more(interpreter, width)
    kinds = kinds if len(set(kinds)) > 1 else kinds[:1]
    result = Array(chosen, natural.ndim, "C")
    return Tensor(result,
                  interpreter.emit("listed", [owner, width], result, {"kinds": kinds, "rows": rows}, exits=True))


def _is_taken(item: np.dtype[Any], element: np.dtype[Any]) -> bool:
    """Whether the runtime stores numbers of one dtype as elements of the other."""
    widens = element == np.float64 and item.kind in "bif" or element == np.int64 and item.kind == "b"
    return item == element and item.kind != "c" or widens


def _require_more(interpreter: Interpreter, size: Value) -> None:
    """Exit where a size is 0."""
    flag = interpreter.emit("compare", [size, _word(interpreter, 0)], FLAG, {"operator": ">"})
    interpreter.emit("require", [flag], None, exits=True)


def _word(interpreter: Interpreter, number: int) -> Value:
    return interpreter.emit("const", [], WORD, {"value": number})
