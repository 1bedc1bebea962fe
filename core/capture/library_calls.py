"""Calls of NumPy functions that kernels make as they are; graph/library.py has a row for each.

The result's type is found by calling the function on tiny samples of several sizes, as sampling.py does for
operators. The kernel checks it and leaves where it is another one.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

import numpy as np
from pijit.core.capture.call_arguments import Arguments
from pijit.core.capture.operators import describe, operand_of
from pijit.core.capture.sampling import COMPLEX_WARNING, Operand, type_of_result
from pijit.core.capture.values import Abstract, Const, Instance, Number, Slice, Tensor, class_of, number_type
from pijit.core.capture.values import Sequence as Tuple_
from pijit.core.errors import Break
from pijit.core.graph.gufuncs import IGNORED, loop_of, multiplies
from pijit.core.graph.ir import Value
from pijit.core.graph.library import FUNCTIONS, OF_HANDLERS, ON_COMPLEX, ON_INTEGERS, ON_NUMBERS, Function
from pijit.core.graph.types import FLAG, WORD, Array, ListOf, Object, Scalar, Type
from pijit.guards.facts import is_among, is_exactly

EDGES = (2, 3, 1)
"""The lengths of the samples' axes."""

INTEGERS = (1, 0, 2, -1)
NUMBERS = (0.5, 1.0, 2.0, 0.25)
PLAIN = (str, type(None), type(Ellipsis))


class LibraryCalls:
    """Mixin of the interpreter: calls of the functions in the library's table."""

    emit: Callable[..., Optional[Value]]
    use: Callable[[Abstract], Abstract]
    constant: Callable[[Abstract], Any]
    items_of: Callable[[Abstract], Optional[List[Abstract]]]
    stored_value: Callable[[Abstract], Value]
    size: Callable[[Tensor], Value]

    def invoke(self, row: Function, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """The result of a call of a library function, or Break."""
        names = _names(row, len(arguments), keywords)
        values = arguments + list(keywords.values())
        questions = tuple(self._question(value, name[-1:]) for name, value in zip(names, values))
        kinds = result_types(row.path, questions, tuple(keywords))
        if row.needs:
            self._require_elements({name.strip("*#"): value for name, value in zip(names, values)})
        attrs = {"function": row.path, "keywords": tuple(keywords)}
        kind = self._by_loop(row, values, kinds, attrs) if not keywords else None
        if kind is not None:
            return kind
        operands = [self.stored_value(value) for value in values]
        if not isinstance(kinds, tuple):
            return _typed(kinds, self.emit("invoke", operands, kinds, attrs, exits=True))
        made = self.emit("invoke", operands, Object(tuple), attrs, exits=True)
        items = [_typed(kind, self.emit("item", [made], kind, {"index": k}, exits=True))  # type: ignore[list-item]
                 for k, kind in enumerate(kinds)]
        return Tuple_(items, value=made)

    def _by_loop(self, row: Function, values: List[Abstract], kind: Any, attrs: Dict[str, Any]) -> Optional[Abstract]:
        """The result of a call for arrays that an inner loop computes, or NumPy's C interface; None for others."""
        kinds = [value.type for value in values if isinstance(value, Tensor)]
        loop = loop_of(row.path, kinds) if len(kinds) == len(values) else None
        if loop is None and (len(kinds) < len(values) or not multiplies(row.path, kinds)):
            return None
        name = "product" if loop is None else "dot" if loop.errors == IGNORED else "gufunc"
        if loop is not None:
            attrs = dict(attrs, ufunc=loop.ufunc, loop=loop.index, types=loop.types, errors=loop.errors)
            if isinstance(kind, Array):
                kind = Array(kind.dtype, kind.ndim, "C")
        operands = [value.value for value in values]  # type: ignore[attr-defined]
        return _typed(kind, self.emit(name, operands, kind, attrs, exits=True))

    def _question(self, value: Abstract, mark: str) -> Any:
        """What stands for an argument in a sample call: an Operand, or (tuple or list, what stands for the items)."""
        if mark == "*":
            return Operand(None, self._known(value), True)  # type: ignore[arg-type]
        if isinstance(value, Slice):
            return (slice, tuple(self._question(part, "") for part in value.parts))
        kind = number_type(value)
        if kind is not None and mark == "#":
            return Operand(kind)
        if isinstance(value, Tensor) or kind is not None:
            return operand_of(value)
        if isinstance(value, Const) and _is_plain(value.object):
            return Operand(None, value.object, True)  # type: ignore[arg-type]
        if isinstance(value, Instance) and isinstance(value.type, ListOf):
            return (list, (Operand(value.type.items),) * 2)
        python, items = class_of(value), self.items_of(value)
        if not is_among(python, (tuple, list)) or items is None:
            raise Break("PJ203", operand=describe(value))
        return (python, tuple(self._question(self.use(item), mark) for item in items))

    def _known(self, value: Abstract) -> Any:
        """The object that a steering argument is: a constant, or a tuple of constants."""
        if isinstance(value, Const) and (_is_plain(value.object) or is_exactly(value.object, (bool, int, float))):
            return value.object
        if class_of(value) is tuple:
            return tuple(self._known(self.use(item)) for item in self.items_of(value) or ())
        known = self.constant(value) if isinstance(value, Number) else None
        if not is_exactly(known, (bool, int)):
            raise Break("PJ211", argument=describe(value))
        return known

    def require_index(self, owner: Tensor, index: Abstract) -> None:
        """Break unless NumPy takes an index of these types for an array."""
        questions = (operand_of(owner), self._question(index, "#"))
        result_types("operator.getitem", questions, ())

    def _require_elements(self, named: Dict[str, Abstract]) -> None:
        """Leave where the statistic would warn that there are too few elements."""
        array = named.get("a", named.get("self"))
        if not isinstance(array, Tensor) or array.type.ndim == 0:
            raise Break("PJ203", operand=describe(array) if array is not None else "nothing")
        axis = self._known(named["axis"]) if "axis" in named else None
        ddof = self._known(named["ddof"]) if "ddof" in named else 0
        counts = [self.size(array)] if axis is None else [
            self.emit("dim", [array.value], WORD, {"axis": one % array.type.ndim})
            for one in (axis if isinstance(axis, tuple) else (axis,))]
        for count in counts:
            word = self.emit("same", [count], WORD)
            least = self.emit("const", [], WORD, {"value": ddof})
            self.emit("require", [self.emit("compare", [word, least], FLAG, {"operator": ">"})], None, exits=True)


def function_of(target: Any) -> Optional[Function]:
    """The row of a function that a program names."""
    return _BY_IDENTITY.get(id(target))


def method_row(name: str) -> Optional[Function]:
    """The row of an array's method."""
    return FUNCTIONS.get("ndarray." + name)


_BY_IDENTITY = {id(row.object): row for row in FUNCTIONS.values()
                if all(row.path not in table for table in (OF_HANDLERS, ON_COMPLEX, ON_INTEGERS, ON_NUMBERS))}


def _names(row: Function, count: int, keywords: Arguments) -> List[str]:
    """The parameter of each argument, keywords last."""
    at = next((k for k, name in enumerate(row.parameters) if name.startswith("...")), len(row.parameters))
    names, more = list(row.parameters[:at]), row.parameters[at:at + 1]
    names += list(more) * max(count - len(names), 0)
    by_keyword = {name.strip("*#"): name for name in tuple(names[count:]) + row.parameters[at + 1:]}
    positional = names[:count]
    if count > len(names) or set(keywords) - set(by_keyword):
        raise Break("PJ211", callee=row.path)
    return positional + [by_keyword[name] for name in keywords]


def _is_plain(value: Any) -> bool:
    """Whether a value may be handed to a library function as it is."""
    return is_exactly(value, PLAIN) or issubclass(type(value), np.dtype) or is_among(value, (bool, int, float)) or (
        type(value) is type and issubclass(value, np.generic))


def _typed(kind: Type, value: Optional[Value]) -> Abstract:
    return Tensor(kind, value) if isinstance(kind, Array) else Number(kind, value)  # type: ignore[arg-type]


# ---- samples ----


@lru_cache(maxsize=1024)
def result_types(path: str, questions: Tuple[Any, ...], keywords: Tuple[str, ...]) -> Any:
    """The type of the call's result, or a tuple of types where that is a tuple."""
    function = FUNCTIONS[path].object
    split = len(questions) - len(keywords)
    answers: List[Tuple[int, Any]] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", COMPLEX_WARNING)
        for edge in EDGES:
            for number in range(len(INTEGERS)):
                values = [_sample(question, edge, number) for question in questions]
                answer = _answer(function, values[:split], dict(zip(keywords, values[split:])))
                if answer is not None:
                    answers.append((edge, answer))
    if not answers:
        raise Break("PJ203", operands=_described(questions))
    scattered = any(kind.layout == "A" and kind.ndim > 1 for kind in _arrays(questions))
    known = answers[0][1]
    if isinstance(known, tuple):
        if any(not isinstance(answer, tuple) or len(answer) != len(known) for _, answer in answers):
            raise Break("PJ214", operands=_described(questions))
        return tuple(_common([(edge, answer[k]) for edge, answer in answers], scattered, questions)
                     for k in range(len(known)))
    return _common(answers, scattered, questions)


def _common(answers: Sequence[Tuple[int, Type]], scattered: bool, questions: Any) -> Type:
    """The type of all answers; arrays with one element on each axis say nothing about the layout."""
    kinds = [kind for _, kind in answers]
    first = kinds[0]
    if isinstance(first, Array):
        telling = [kind for edge, kind in answers if edge > 1] or kinds
        layouts = {kind.layout for kind in telling if isinstance(kind, Array)}
        layout = "A" if len(layouts) > 1 or scattered and first.ndim > 1 else layouts.pop()
        same = all(isinstance(kind, Array) and (kind.dtype, kind.ndim, kind.writeable) ==
                   (first.dtype, first.ndim, first.writeable) for kind in kinds)
        if same:
            return Array(first.dtype, first.ndim, layout, first.writeable)
    elif all(kind == first for kind in kinds):
        return first
    raise Break("PJ214", operands=_described(questions))


def _answer(function: Any, arguments: List[Any], keywords: Dict[str, Any]) -> Any:
    """The type of a sample's result, or None where there is none."""
    try:
        result = function(*arguments, **keywords)
    except Exception:
        return None
    if type(result) is tuple:
        return tuple(type_of_result(item) for item in result)
    return type_of_result(result)


def _sample(question: Any, edge: int, number: int) -> Any:
    if isinstance(question, tuple):
        items = [_sample(item, edge, number) for item in question[1]]
        return slice(*items) if question[0] is slice else question[0](items)
    if question.has_constant:
        return question.constant
    kind = question.type
    if isinstance(kind, Array):
        return _array_sample(kind, edge)
    return kind.dtype.type(NUMBERS[number] if kind.dtype.kind in "fc" else abs(INTEGERS[number])
                           if kind.dtype.kind == "u"
                           else INTEGERS[number]) if kind.family == "np" else _python_sample(kind, number)


def _python_sample(kind: Scalar, number: int) -> Any:
    if kind.dtype.kind == "b":
        return number % 2 == 0
    if kind.dtype.kind == "c":
        return complex(NUMBERS[number], INTEGERS[number])
    return INTEGERS[number] if kind.dtype.kind == "i" else NUMBERS[number]


def _array_sample(kind: Array, edge: int) -> np.ndarray:
    """Ones in the order of a type; "A" gets steps between its elements."""
    if kind.layout == "A" and kind.ndim > 0:
        made = np.ones((2 * edge,) * kind.ndim, kind.dtype)[(slice(None, None, 2),) * kind.ndim]
    else:
        made = np.ones((edge,) * kind.ndim, kind.dtype, "F" if kind.layout == "F" else "C")
    made.flags.writeable = kind.writeable
    return made


def _arrays(questions: Any) -> Set[Array]:
    """The types of all arrays, those in tuples and lists too."""
    found: Set[Array] = set()
    for question in questions:
        if isinstance(question, tuple):
            found |= _arrays(question[1])
        elif isinstance(question.type, Array):
            found.add(question.type)
    return found


def _described(questions: Any) -> str:
    return ", ".join(_described(q[1]) if isinstance(q, tuple) else repr(q.constant) if q.type is None
                     else repr(q.type)
                     for q in questions)
