"""Calls of NumPy functions that kernels make unchanged; graph/library.py has a row for each function.

The type of the result is found as typing/library_result_types.py says. The kernel checks it and exits where it differs.
`catalogue` imports it, and other models call it. It must not call a function that has no row.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple, cast

import numpy as np

from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.containers.expectations import typed
from pijit.core.capture.models.numpy import indexing, questions, shapes
from pijit.core.capture.models.numpy.from_sequences import expected_list, many_as_array
from pijit.core.capture.models.numpy.questions import parameter_names
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models_subscripts, serves
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.typing.axis_lengths import of_sizes
from pijit.core.capture.typing.library_result_types import array_types, expected_lengths, result_types
from pijit.core.capture.values.describe import Arguments, describe
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    StackSlice,
    Tensor,
    class_of,
    number_type,
    ssa_value,
)
from pijit.core.capture.values.lattice import Sequence as Tuple_
from pijit.core.errors import Break
from pijit.core.graph.gufuncs import loop_of, multiplies
from pijit.core.graph.ir import Value
from pijit.core.graph.library import (
    CLOCKS,
    FUNCTIONS,
    MODULES,
    OF_HANDLERS,
    ON_COMPLEX,
    ON_INTEGERS,
    ON_NUMBERS,
    TAKEN_AS_ARRAYS,
    TAKEN_ONE_BY_ONE,
    WRITES,
    LibraryFunction,
)
from pijit.core.graph.types import FLAG, WORD, Array, ListOf, Object, Scalar
from pijit.guards.facts import is_among

RAGGED_WARNS = np.lib.NumpyVersion(np.__version__) < "1.24.0"
"""Whether NumPy warns when it converts rows of different lengths to an array; later versions raise ValueError."""
ARRAY_METHOD = "ndarray."
_EVERYTHING = StackSlice((Const(None), Const(None), Const(None)))
SAMPLED_ITEMS = 3
"""Number of items of the list that stands for a list which may become an array."""


def invoke(interpreter: Interpreter, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """The result of a call of a library function; Break if kernels cannot make the call."""
    names = parameter_names(row, len(arguments), keywords)
    arguments, kinds = _with_arrays(interpreter, row, names, arguments, keywords)
    values = arguments + list(keywords.values())
    if row.needs:
        named = {name.strip("*#"): value for name, value in zip(names, values)}
        NEEDS[row.needs](interpreter, named)
    make = OPERATIONS.get(row.operation)
    made = make(interpreter, row, arguments, keywords, kinds) if make is not None else None
    if made is not None:
        return made
    if RAGGED_WARNS and row.path.split(".")[0] not in MODULES:
        for name, value in zip(names, values):
            if name.strip("*#.") not in TAKEN_ONE_BY_ONE and is_among(class_of(value), (list, tuple)):
                _require_even_rows(interpreter, value)
    attrs = {"function": row.path, "keywords": tuple(keywords)}
    kind = _by_loop(interpreter, row, values, kinds, attrs) if not keywords else None
    if kind is not None:
        return kind
    operands = [stored_values.stored_value(interpreter, value) for value in values]
    if not isinstance(kinds, tuple):
        return typed(kinds, interpreter.emit("invoke", operands, kinds, attrs, exits=True))
    results = interpreter.emit("invoke", operands, Object(tuple), attrs, exits=True)
    items = [typed(kind, interpreter.emit("item", [results], kind, {"index": k}, exits=True))
             for k, kind in enumerate(kinds)]
    return Tuple_(items)


def _require_even_rows(interpreter: Interpreter, value: Abstract) -> None:
    """Side exit where rows of a list or tuple have different lengths: the call would warn, and bytecode repeat it."""
    if isinstance(value, Instance) and not isinstance(value, KnownContainer) and class_of(value) is list:
        if not isinstance(value.type, ListOf) or not isinstance(value.type.items, Scalar):
            interpreter.emit("even_rows", [interpreter.object_value(value)], None, exits=True)
        return
    items = [interpreter.use(item) for item in contents.items_of(interpreter, value) or ()]
    arrays = [item for item in items if isinstance(item, Tensor) and item.type.ndim]
    rows = [item for item in items if is_among(class_of(item), (list, tuple))]
    if arrays and len(arrays) == len(items) and len({array.type.ndim for array in arrays}) == 1:
        for other in arrays[1:]:
            shapes.require_shape(interpreter, arrays[0], other)
    elif arrays or rows and (len(rows) < len(items) or not _are_even(interpreter, rows)):
        raise Break("PJ210", callee="function of rows that may have different lengths")


def _are_even(interpreter: Interpreter, rows: List[Abstract]) -> bool:
    """Whether lists and tuples have one known length, and numbers as items."""
    items_of_rows = [contents.items_of(interpreter, row) for row in rows]
    return all(items is not None and len(items) == len(items_of_rows[0] or ()) for items in items_of_rows) and all(
        number_type(item) is not None for items in items_of_rows for item in items or ())


def _with_arrays(interpreter: Interpreter, row: LibraryFunction, names: List[str], arguments: List[Abstract],
                 keywords: Arguments) -> Tuple[List[Abstract], Any]:
    """The arguments, with long lists as arrays if that makes no difference, and the types of the result.

    A function that returns a list itself gives another type for an array, so it gets the list.
    """
    taken = arguments
    if row.path.split(".")[0] not in MODULES:
        taken = [many_as_array(interpreter, value) if name in TAKEN_AS_ARRAYS else value
                 for name, value in zip(names, arguments)]
    asked = questions.questions_of(interpreter, row, taken, keywords)
    kinds = _result_types(row, asked, keywords)
    listed = [k for k, (one, other) in enumerate(zip(arguments, taken)) if one is not other]
    if listed:
        shortened = list(asked)
        for k in listed:
            shortened[k] = (list, questions.list_question(interpreter,
                                                          expected_list(arguments[k]))[1][:1] * SAMPLED_ITEMS)
        if result_types(row.path, tuple(shortened), tuple(keywords)) != kinds:
            return arguments, _result_types(row, questions.questions_of(interpreter, row, arguments, keywords),
                                            keywords)
    return taken, kinds


def _result_types(row: LibraryFunction, asked: Tuple[Any, ...], keywords: Arguments) -> Any:
    """The types of the result. That of an array has the expected lengths of its axes."""
    kinds = result_types(row.path, asked, tuple(keywords))
    if not isinstance(kinds, Array):
        return kinds
    given = tuple(kind.lengths for kind in array_types(asked))
    lengths = expected_lengths(row.path, asked, tuple(keywords), given)
    # before NumPy 1.24, arrays of lists with different lengths have fewer axes
    return kinds.expecting(lengths if lengths is not None and len(lengths) == kinds.ndim else None)


def _by_loop(interpreter: Interpreter, row: LibraryFunction, values: List[Abstract], kind: Any,
             attrs: Dict[str, Any]) -> Optional[Abstract]:
    """The result of a call for arrays that an inner loop or NumPy's C interface computes; None for other calls."""
    kinds = [value.type for value in values if isinstance(value, Tensor)]
    loop = loop_of(row.path, kinds) if len(kinds) == len(values) else None
    if loop is None and (len(kinds) < len(values) or not multiplies(row.path, kinds)):
        return None
    name = "product" if loop is None else "dot" if loop.ufunc is np.matmul and row.path != "matmul" else "gufunc"
    if loop is not None:
        attrs = dict(attrs, ufunc=loop.ufunc, loop=loop.index, types=loop.types, errors=loop.errors)
        if isinstance(kind, Array):
            kind = Array(kind.dtype, kind.ndim, "C", lengths=kind.lengths)
    operands = [conversions.any_value(interpreter, value) for value in values]
    return typed(kind, interpreter.emit(name, operands, kind, attrs, exits=True))


def reshaped(interpreter: Interpreter, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments,
             kind: Any) -> Optional[Tensor]:
    """``x.reshape(...)`` of an array in C order, which is a view; None where NumPy's function has to be called."""
    array, sizes = arguments[0] if not keywords else None, arguments[1:]
    if not isinstance(array, Tensor) or not isinstance(kind, Array) or {array.type.layout, kind.layout} != {"C"}:
        return None
    if len(sizes) == 1 and is_among(class_of(sizes[0]), (tuple, list)):
        items = contents.items_of(interpreter, sizes[0])
        if items is None:
            return None
        sizes = [interpreter.use(item) for item in items]
    unknown = [axis for axis, size in enumerate(sizes) if isinstance(size, Const) and size.object == -1]
    if len(sizes) != kind.ndim or len(unknown) > 1 or not array.type.ndim or not sizes:
        return None
    words = [interpreter.word(size) for size in sizes]
    attrs = {"unknown": unknown[0] if unknown else None}
    kind = kind.expecting(of_sizes(sizes))
    return Tensor(kind, interpreter.emit("reshape", [ssa_value(array)] + words, kind, attrs, exits=True))


_NEW_AXES = {("vstack", 1): "n:", ("column_stack", 1): ":n", ("dstack", 1): "n:n", ("dstack", 2): "::n"}
"""By function and number of axes: the axes of the arrays that are joined, n for each new one."""


def joined(interpreter: Interpreter, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments,
           kind: Any) -> Optional[Tensor]:
    """The concatenation of arrays of one dtype in C order; None where NumPy's function has to be called."""
    axis: Any = row.axis
    if not isinstance(kind, Array) or kind.layout == "F" or set(keywords) - {"axis"} or not arguments:
        return None
    given = arguments[1:] + list(keywords.values())
    if given:
        axis = questions.known(interpreter, given[0])
    items = contents.items_of(interpreter, arguments[0]) if is_among(class_of(arguments[0]), (tuple, list)) else None
    arrays = [interpreter.use(item) for item in items or ()]
    if not arrays or len(given) > 1 or type(axis) is not int or not all(
            isinstance(array, Tensor) and array.type.dtype == kind.dtype and 0 < array.type.ndim
            and array.type.ndim == cast(Tensor, arrays[0]).type.ndim and (array.type.ordered or array.type.ndim == 1)
            for array in arrays):
        return None
    old = cast(Tensor, arrays[0]).type.ndim
    axis = 0 if row.path == "hstack" and old == 1 else axis
    if not -kind.ndim <= axis < kind.ndim:
        return None
    axis %= kind.ndim
    places = ":" * axis + "n" + ":" * (old - axis) if row.path == "stack" else _NEW_AXES.get((row.path, old), ":" * old)
    if len(places) != kind.ndim:
        return None
    if "n" in places:
        index: List[Abstract] = [Const(None) if place == "n" else _EVERYTHING for place in places]
        arrays = [indexing.view_of(interpreter, cast(Tensor, array), index) for array in arrays]
    result = Array(kind.dtype, kind.ndim, "C", lengths=kind.lengths)
    values = [conversions.any_value(interpreter, array) for array in arrays]
    return Tensor(result, interpreter.emit("concatenate", values, result, {"axis": axis}, exits=True))


OPERATIONS: Dict[str, Callable[..., Optional[Tensor]]] = {"reshape": reshaped, "concatenate": joined}
"""By operation of a row, the function that emits it; its answer is None where NumPy's function has to be called."""


def register_functions() -> None:
    """Enter the library functions that a program may call directly into the registry, and methods of arrays."""
    unlisted = (CLOCKS, OF_HANDLERS, ON_COMPLEX, ON_INTEGERS, ON_NUMBERS, WRITES)
    found = [(row, row.object) for row in FUNCTIONS.values() if all(row.path not in table for table in unlisted)]
    found = [(row, target) for row, target in found if row.object is target]  # not a bound method
    for row, target in {id(target): (row, target) for row, target in found}.values():  # of several names the last
        serves(target, row)
    for row, _ in found:
        if row.path.startswith(ARRAY_METHOD):
            serves(np.ndarray, row, row.path[len(ARRAY_METHOD):])


register_functions()


def _made_of_index(path: str) -> Callable[[Interpreter, Abstract], Abstract]:
    """``np.r_[index]`` and the like: arrays that NumPy makes from the index."""
    return lambda interpreter, index: invoke(interpreter, FUNCTIONS[path], [index], {})


for _name in ("r_", "c_", "mgrid", "ogrid"):
    models_subscripts(getattr(np, _name))(_made_of_index(_name + ".__getitem__"))


def _require_elements(interpreter: Interpreter, named: Dict[str, Abstract]) -> None:
    """Exit where the statistic would warn that there are too few elements. A number is one element."""
    if number_type(named.get("a", Const(None))) is not None and "ddof" not in named:
        return
    array = _array(named.get("a", named.get("self")))
    axis = questions.known(interpreter, named["axis"]) if "axis" in named else None
    ddof = questions.known(interpreter, named["ddof"]) if "ddof" in named else 0
    counts = [shapes.size(interpreter, array)] if axis is None else [
        _length(interpreter, array, one) for one in (axis if isinstance(axis, tuple) else (axis,))]
    for count in counts:
        _require(interpreter, count, ">", ddof)


def _require_several(interpreter: Interpreter, named: Dict[str, Abstract]) -> None:
    """Exit where a covariance would warn that there are too few observations."""
    array = _array(named.get("m", named.get("x")))
    rows = questions.known(interpreter, named["rowvar"]) if "rowvar" in named else True
    if array.type.ndim not in (1, 2) or "y" in named:
        raise Break("PJ203", operand=describe(array))
    _require(interpreter, _length(interpreter, array, -1 if rows else 0), ">", 1)
    if not rows:  # a single row is taken for one variable
        _require(interpreter, _length(interpreter, array, 0), "!=", 1)


def _require_three(interpreter: Interpreter, named: Dict[str, Abstract]) -> None:
    """Exit unless both operands are vectors of three elements: NumPy warns of others."""
    for name in ("a", "b"):
        array = _array(named[name])
        _require(interpreter, _length(interpreter, array, -1), "==", 3)


def _array(value: Optional[Abstract]) -> Tensor:
    if not isinstance(value, Tensor) or value.type.ndim == 0:
        raise Break("PJ203", operand=describe(value) if value is not None else "nothing")
    return value


def _length(interpreter: Interpreter, array: Tensor, axis: int) -> Value:
    return interpreter.emit("dim", [ssa_value(array)], WORD, {"axis": axis % array.type.ndim})


def _require(interpreter: Interpreter, count: Value, symbol: str, bound: Any) -> None:
    """Exit unless a length compares with a number as given."""
    words = [interpreter.emit("same", [count], WORD), interpreter.emit("const", [], WORD, {"value": bound})]
    interpreter.emit("require", [interpreter.emit("compare", words, FLAG, {"operator": symbol})], None, exits=True)


NEEDS: Dict[str, Callable[[Any, Dict[str, Abstract]], None]] = {
    "elements": _require_elements, "several": _require_several, "three": _require_three}
"""By requirement of a row, the check that keeps its function from warning."""
