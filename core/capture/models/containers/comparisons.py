"""Comparisons of containers by their items, and the operator ``in``.

`operators` and models of methods call these functions.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from typing import Any, List, Optional

from pijit.core.capture.models.containers import characters, contents, expectations, key_operands, reads
from pijit.core.capture.models.containers.contents import compare_plainly, is_plain
from pijit.core.capture.models.containers.expectations import ITEM_KEYS
from pijit.core.capture.models.containers.lexicographic_order import ORDERS, compare_in_order
from pijit.core.capture.models.containers.ranges import range_contains
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.objects.named_tuples import tuple_class
from pijit.core.capture.models.objects.special_methods import PLAIN, contains_special, truth_special
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.typing.result_types import PYTHON_OPERATORS
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.key_value_types import SETS
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    Number,
    Tensor,
    class_of,
    number_type,
    ssa_value,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import BOOL, FLAG, WORD
from pijit.guards.facts import is_among, is_exactly

UNORDERED = ("==", "!=")
ITEM_IS_LEFT = sys.version_info >= (3, 9)
"""Whether ``value in items`` evaluates ``item == value``; earlier versions evaluate ``value == item``."""


def contains(interpreter: Interpreter, owner: Abstract, value: Abstract) -> Abstract:
    """``value in owner`` of containers, strings, arrays and ranges."""
    found = contains_special(interpreter, owner, value)
    if found is not None:
        return found
    if class_of(owner) is str:
        return _string_contains(interpreter, owner, value)
    if isinstance(owner, Tensor) and owner.type.ndim:
        return _array_contains(interpreter, owner, value)
    if is_among(class_of(owner), (defaultdict, Counter)):
        return reads.has_key_now(interpreter, owner, value)
    if class_of(owner) is range:
        return range_contains(interpreter, owner, value)
    if class_of(owner) is dict or is_among(class_of(owner), SETS) and not isinstance(owner, Const):
        key = interpreter.constant(value)
        if (expectations.is_changing(interpreter, owner) or class_of(owner) is not dict
                or not is_exactly(key, ITEM_KEYS)):
            return reads.has_key_now(interpreter, owner, value)
        return Const(contents.holds_item(interpreter, owner, key))
    if isinstance(owner, Const) and type(owner.object) is frozenset:
        if number_type(value) is None and not is_among(class_of(value), (str, bytes, type(None))):
            raise Break("PJ203", operand=describe(value))  # it may not be hashable
        items: Optional[List[Abstract]] = [Const(item) for item in owner.object]
    else:
        items = contents.items_of(interpreter, owner) if contents.is_short(interpreter, owner) else None
    if items is None:
        return _is_found(interpreter, owner, value)
    return _any(interpreter, _answers(interpreter, [interpreter.use(item) for item in items], value))


def _answers(interpreter: Interpreter, items: List[Abstract], value: Abstract) -> List[Abstract]:
    """Whether each item is the value, or equal to it, up to the first one that is certain to be."""
    answers: List[Abstract] = []
    for item in items:
        plainly = contents.compares_plainly(item) and contents.compares_plainly(value)
        if not plainly and any(not isinstance(answer, Const) for answer in answers):
            raise Break("PJ203", operand=describe(value))  # the comparison may run code that an earlier answer saves
        compare = contents.same_or_equal if plainly else _same_or_equal
        answers.append(compare(interpreter, item, value))
        if isinstance(answers[-1], Const) and answers[-1].object:
            break
    return answers


def _same_or_equal(interpreter: Interpreter, item: Abstract, value: Abstract) -> Abstract:
    """``item is value or item == value`` of arrays and objects. An object is found by its identity first."""
    if _is_same(interpreter, item, value):
        return Const(True)
    one, other = (item, value) if ITEM_IS_LEFT else (value, item)
    equal = truth_special(interpreter, interpreter.compare("==", one, other))
    known = contents.known_truth(interpreter, equal)
    if known is not None:
        return Const(known)
    return Number(BOOL, interpreter.emit("flag", [conversions.truth(interpreter, equal)], BOOL))


def _is_same(interpreter: Interpreter, item: Abstract, value: Abstract) -> bool:
    """Whether two values are one object. Break where that is not certain."""
    if isinstance(item, Tensor) and isinstance(value, Tensor) and item.source is not None \
            and item.source == value.source:
        flag = interpreter.emit("identical", [ssa_value(item), ssa_value(value)], FLAG)
        interpreter.emit("require", [flag], None, exits=True)
        return True
    same = interpreter.compare("is", item, value)
    if not isinstance(same, Const):
        raise Break("PJ203", operand=describe(value))
    return bool(same.object)


def position_of(interpreter: Interpreter, owner: Abstract, value: Abstract, operation: str = "find_item") -> Value:
    """The first position of a value in a list or tuple as a WORD, -1 if it is absent.

    The operation ``count_items`` gives the number of its occurrences instead.
    """
    kind = number_type(value)
    if not is_among(class_of(owner), (list, tuple)) or kind is None and not isinstance(value, (Const, Instance)):
        raise Break("PJ203", operand=describe(owner))
    if value != Const(None):
        key_operands.require_key(interpreter, value)
    operands = [interpreter.object_value(owner), stored_values.stored_value(interpreter, value)]
    return interpreter.emit(operation, operands, WORD, exits=True)


def _is_found(interpreter: Interpreter, owner: Abstract, value: Abstract) -> Abstract:
    zero = interpreter.emit("const", [], WORD, {"value": 0})
    flag = interpreter.emit("compare", [position_of(interpreter, owner, value), zero], FLAG, {"operator": ">="})
    return Number(BOOL, interpreter.emit("flag", [flag], BOOL))


def _array_contains(interpreter: Interpreter, owner: Tensor, value: Abstract) -> Abstract:
    """``value in array``: whether it equals any element."""
    equal = interpreter.compare("==", owner, value)
    found = conversions.truth(interpreter, interpreter.call(interpreter.attribute(equal, "any"), [], {}))
    return Number(BOOL, interpreter.emit("flag", [found], BOOL))


def _string_contains(interpreter: Interpreter, owner: Abstract, value: Abstract) -> Abstract:
    if class_of(value) is not str:
        raise Break("PJ203", operand=describe(value))
    if isinstance(owner, Const) and isinstance(value, Const):
        return Const(value.object in owner.object)
    return characters.text_contains(interpreter, owner, value)


def compare_objects(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """A comparison of plain constants, or of tuples and lists by their items; None for other values."""
    if is_plain(left) and is_plain(right):
        return _fold_comparison(symbol, left.object, right.object)
    kinds = tuple_class(interpreter, left), tuple_class(interpreter, right)
    if symbol in UNORDERED and isinstance(left, Const) and isinstance(right, Const) and compare_plainly(kinds):
        return _fold_comparison(symbol, left.object, right.object)
    if symbol in ORDERS and kinds[0] is kinds[1] and is_among(kinds[0], (tuple, list)):
        return compare_in_order(interpreter, symbol, left, right)
    if symbol not in UNORDERED or not any(is_among(kind, (tuple, list)) for kind in kinds):
        return None
    if kinds[0] is not kinds[1] and all(is_among(kind, (tuple, list) + PLAIN) for kind in kinds):
        return Const(symbol == "!=")
    ones, others = contents.items_of(interpreter, left), contents.items_of(interpreter, right)
    if kinds[0] is not kinds[1] or not is_among(kinds[0], (tuple, list)) or ones is None or others is None:
        raise Break("PJ203", operand=describe(right))
    return _compare_items(interpreter, symbol, ones, others)


def _compare_items(interpreter: Interpreter, symbol: str, left: List[Abstract], right: List[Abstract]) -> Abstract:
    if len(left) != len(right):
        return Const(symbol == "!=")
    equal = [contents.same_or_equal(interpreter, interpreter.use(one), interpreter.use(other)) for one,
             other in zip(left, right)]
    if symbol == "!=":
        return _any(interpreter, [conversions.negated(interpreter, answer) for answer in equal])
    return conversions.negated(interpreter,
                               _any(interpreter, [conversions.negated(interpreter, answer) for answer in equal]))


def _any(interpreter: Interpreter, answers: List[Abstract]) -> Abstract:
    """Whether one of these answers is true."""
    if any(isinstance(answer, Const) and answer.object for answer in answers):
        return Const(True)
    flags = [conversions.truth(interpreter, answer) for answer in answers if not isinstance(answer, Const)]
    if not flags:
        return Const(False)
    found = flags[0]
    for flag in flags[1:]:
        found = interpreter.emit("or", [found, flag], FLAG)
    return Number(BOOL, interpreter.emit("flag", [found], BOOL))


def _fold_comparison(symbol: str, left: Any, right: Any) -> Abstract:
    try:
        return Const(bool(PYTHON_OPERATORS[symbol](left, right)))
    except TypeError:
        raise Break("PJ203", operand=describe(Const(right)))
