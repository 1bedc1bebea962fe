"""Result types of library functions, found by calling them on tiny samples of several sizes.

The models of library calls use it. Samples stand for all arguments except constants, which are passed as they are.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple, cast

import numpy as np

from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.capture.state.frame_state import list_of_kinds
from pijit.core.capture.typing.result_types import COMPLEX_WARNING, type_of_result
from pijit.core.errors import Break
from pijit.core.graph.library import FUNCTIONS, Trait
from pijit.core.graph.types import SEVERAL, Array, Holding, LengthHint, Scalar, Type
from pijit.guards.source import is_plain_tuple

EDGES = (2, 3, 1)
"""The axis lengths of the samples."""

LONG_EDGES = (17, 18)
"""The axis lengths of further samples, for constant indices that are out of range in the others."""

MOST_LONG_AXES = 3
"""Maximum number of axes of arrays for which there are long samples, because their size grows with each axis."""

INTEGERS = (1, 0, 2, -1)
NUMBERS = (0.5, 1.0, 2.0, 0.25)

LIKELY_NUMBER = 2
"""The index of the number that stands for sizes where samples tell the lengths of axes."""

LONGEST_SAMPLE = 16
"""The length of axes up to which samples have the expected lengths. Loops over longer axes are not unrolled."""

LARGEST_SAMPLE = 2 ** 16
"""Maximum number of elements of such a sample, because the function runs on it at capture."""

WARNED = (COMPLEX_WARNING, DeprecationWarning, FutureWarning, PendingDeprecationWarning, UserWarning)
"""Warnings that a call attributes to its caller's line. Calls that give one stay bytecode."""


WARNS = object()
"""The answer for a sample whose call gives such a warning."""


@lru_cache(maxsize=1024)
def result_types(path: str, questions: Tuple[Any, ...], keywords: Tuple[str, ...]) -> Any:
    """The type of the call's result, or a tuple of types if the result is a tuple.

    Raises:
        Break: all samples of one size warn, so arrays of that size would warn as well. Samples of one element do not
            count: indices are out of range there, which is an error only for longer axes.
    """
    row = FUNCTIONS[path]
    found = list(_answers(path, questions, keywords, _kind_of))
    if not found and max([kind.ndim for kind in array_types(questions)] or [0]) <= MOST_LONG_AXES:
        found = list(_answers(path, questions, keywords, _kind_of, LONG_EDGES))
    found = [(edge, kind) for edge, kind in found if edge >= row.least_edge]
    answers = [(edge, kind) for edge, kind in found if kind is not WARNS]
    if {edge for edge, _ in found if edge > 1} - {edge for edge, _ in answers} or not answers:
        raise Break("PJ203", operands=_described(questions))
    made = _together(answers, any(kind.layout == "A" and kind.ndim > 1 for kind in array_types(questions)), questions)
    if isinstance(made, Array) and row.traits & Trait.REPEATS:
        return Array(made.dtype, made.ndim, "A", made.writeable)
    if isinstance(made, Array) and _is_in_c_order(path, made, dict(zip(reversed(keywords), reversed(questions)))):
        return Array(made.dtype, made.ndim, "C", made.writeable)
    return made


@lru_cache(maxsize=1024)
def expected_lengths(path: str, questions: Tuple[Any, ...], keywords: Tuple[str, ...],
                     lengths: Tuple[LengthHint, ...]) -> LengthHint:
    """The expected lengths of the axes of a result, as samples of two sizes have them.

    Where samples of the lengths themselves do not fit, those that differ from 1 are SEVERAL.

    Args:
        path, questions, keywords: the call, as for `result_types`.
        lengths: those of each array among the arguments, in their order; see `array_types`.
    """
    if None in lengths:
        return None
    given = [[length if length <= LONGEST_SAMPLE else SEVERAL for length in each or ()] for each in lengths]
    is_large = any(np.prod([length or EDGES[1] for length in each]) > LARGEST_SAMPLE for each in given)
    found = [] if is_large or _has_number(questions) else _sampled_lengths(path, questions, keywords, given)
    if len(found) < 2:
        units = [[length if length == 1 else SEVERAL for length in each] for each in given]
        found = [tuple(length if length == 1 else SEVERAL for length in shape)
                 for shape in _sampled_lengths(path, questions, keywords, units)]
    if not found:
        return None
    return tuple(several[0] if len(set(several)) == 1 else SEVERAL for several in zip(*found))


def _sampled_lengths(path: str, questions: Tuple[Any, ...], keywords: Tuple[str, ...],
                     lengths: Sequence[Sequence[int]]) -> List[Tuple[int, ...]]:
    """The shapes of the results for samples of two sizes, where the function does not raise."""
    found: List[Tuple[int, ...]] = []
    function, split = FUNCTIONS[path].object, len(questions) - len(keywords)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for edge in EDGES[:2]:
            left = iter(lengths)
            values = [_sample(question, edge, LIKELY_NUMBER, left) for question in questions]
            if found:
                _vary(values)
            try:
                result = function(*values[:split], **dict(zip(keywords, values[split:])))
            except Exception as error:
                raise_asynchronous(error)
                continue
            found.append(np.shape(result))
    return found


def _vary(values: Sequence[Any]) -> None:
    """Store other elements into samples, so that lengths that depend on elements differ."""
    for value in values:
        if isinstance(value, (list, tuple)):
            _vary(value)
        elif isinstance(value, np.ndarray) and value.flags.writeable:
            value.flat[::2] = 0


def _has_number(questions: Tuple[Any, ...]) -> bool:
    """Whether a number among the arguments may be a size: a sample stands for its value."""
    return any(_has_number(question[1]) if isinstance(question, tuple) else
               not question.has_constant and isinstance(question.type, Scalar) for question in questions)


def _is_in_c_order(path: str, made: Array, given: Dict[str, Any]) -> bool:
    """Whether a result has C order whatever the strides of the arguments are.

    Stacks of matrices with more than one axis have the order of the operands.
    """
    order = getattr(given.get("order"), "constant", None)
    return path == "matmul" and made.ndim <= 3 or path == "array" and order == "C"


def _together(answers: Sequence[Tuple[int, Any]], scattered: bool, questions: Any) -> Any:
    """The common type of all answers, or a tuple of types."""
    known = answers[0][1]
    if any(type(answer) is not type(known) for _, answer in answers):
        raise Break("PJ214", operands=_described(questions))
    if isinstance(known, Holding) and known.python is not list:
        items = _together([(edge, answer.items) for edge, answer in answers], scattered, questions)
        return Holding(cast(type, known.python), items)
    if isinstance(known, Holding):
        return Holding(list, _common([(edge, answer.items) for edge, answer in answers], scattered, questions))
    if not isinstance(known, tuple):
        return _common(answers, scattered, questions)
    if any(len(answer) != len(known) for _, answer in answers):
        raise Break("PJ214", operands=_described(questions))
    return tuple(_common([(edge, answer[k]) for edge, answer in answers], scattered, questions)
                 for k in range(len(known)))


def _common(answers: Sequence[Tuple[int, Type]], scattered: bool, questions: Any) -> Type:
    """The common type of all answers. Arrays with one element on each axis do not determine the layout."""
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


@lru_cache(maxsize=1024)
def written_by(path: str, questions: Tuple[Any, ...], keywords: Tuple[str, ...]) -> None:
    """Break unless a function without a result accepts such arguments."""
    if not any(done is True for _, done in _answers(path, questions, keywords, lambda result: result is None)):
        raise Break("PJ203", operands=_described(questions))


def _answers(path: str, questions: Tuple[Any, ...], keywords: Tuple[str, ...],
             answer: Callable[[Any], Any], edges: Tuple[int, ...] = EDGES) -> Iterator[Tuple[int, Any]]:
    """(axis length, ``answer(result)``) for each sample for which the function does not raise."""
    function, split = FUNCTIONS[path].object, len(questions) - len(keywords)
    # Warnings are recorded, not raised, because some of NumPy's C code crashes when a warning becomes an exception.
    with warnings.catch_warnings(record=True) as warned, np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for category in WARNED:
            warnings.simplefilter("always", category)
        for edge in edges:
            for number in range(len(INTEGERS)):
                values = [_sample(question, edge, number) for question in questions]
                try:
                    result = function(*values[:split], **dict(zip(keywords, values[split:])))
                except Exception as error:
                    raise_asynchronous(error)
                    continue
                yield edge, WARNS if warned else answer(result)
                del warned[:]


def _kind_of(result: Any) -> Any:
    """The type of a sample's result, or the types of the items of a tuple."""
    if type(result) is tuple:
        return tuple(type_of_result(item) for item in result)
    if type(result) is list:
        return list_of_kinds({_kind_of(item) for item in result})
    if is_plain_tuple(result):
        return Holding(type(result), tuple(type_of_result(item) for item in result))
    return type_of_result(result)


def _sample(question: Any, edge: int, number: int, lengths: Iterator[Sequence[int]] = iter(())) -> Any:
    """The value that stands for an argument. The arrays in it take the lengths of their axes from ``lengths``."""
    if isinstance(question, tuple):
        items = [_sample(item, edge, number, lengths) for item in question[1]]
        return slice(*items) if question[0] is slice else question[0](items)
    if question.has_constant:
        return question.constant
    kind = question.type
    if isinstance(kind, Array):
        return _array_sample(kind, edge, next(lengths, ()))
    return kind.dtype.type(NUMBERS[number] if kind.dtype.kind in "fc" else abs(INTEGERS[number])
                           if kind.dtype.kind == "u"
                           else INTEGERS[number]) if kind.family == "np" else _python_sample(kind, number)


def _python_sample(kind: Scalar, number: int) -> Any:
    if kind.dtype.kind == "b":
        return number % 2 == 0
    if kind.dtype.kind == "c":
        return complex(NUMBERS[number], INTEGERS[number])
    return INTEGERS[number] if kind.dtype.kind == "i" else NUMBERS[number]


def _array_sample(kind: Array, edge: int, lengths: Sequence[int]) -> np.ndarray[Any, Any]:
    """An array of ones in the layout of the type; the elements of layout "A" are not adjacent."""
    lengths = tuple(length or edge for length in lengths or (SEVERAL,) * kind.ndim)
    if kind.layout == "A" and kind.ndim > 0:
        made = np.ones([2 * length for length in lengths], kind.dtype)[(slice(None, None, 2),) * kind.ndim]
    else:
        made = np.ones(lengths, kind.dtype, "F" if kind.layout == "F" else "C")
    made.flags.writeable = kind.writeable
    return made


def array_types(questions: Any) -> List[Array]:
    """The types of all arrays in their order, including those in tuples and lists."""
    found: List[Array] = []
    for question in questions:
        if isinstance(question, tuple):
            found += array_types(question[1])
        elif not question.has_constant and isinstance(question.type, Array):
            found.append(question.type)
    return found


def _described(questions: Any) -> str:
    return ", ".join(_described(q[1]) if isinstance(q, tuple) else repr(q.constant) if q.type is None
                     else repr(q.type)
                     for q in questions)
