"""Functions and methods that equal an attribute, a subscript or an operation on views of arrays.

`catalogue` imports it. A view must keep the array's memory; where NumPy copies, so must the kernel.
"""

from __future__ import annotations

from typing import FrozenSet, List, Optional, Sequence, Tuple, cast

import numpy as np

from pijit.core.capture.models import operators
from pijit.core.capture.models.containers import constructions, contents
from pijit.core.capture.models.numpy import element_stores, indexing, library, questions, shapes
from pijit.core.capture.models.numpy.arrays import call_array
from pijit.core.capture.models.numpy.fancy_indexing import FULL, add_at, elements_at, require_apart
from pijit.core.capture.models.numpy.library_effects import held_by, perform
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.typing import axis_lengths, result_types
from pijit.core.capture.typing.result_types import operand_of
from pijit.core.capture.values.describe import Arguments, Handler, describe, only
from pijit.core.capture.values.lattice import Abstract, Const, Number, Slice, Tensor, class_of, ssa_value
from pijit.core.errors import Break
from pijit.core.graph import library_helpers
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import INT, SEVERAL, WORD, Array, Scalar
from pijit.guards.facts import is_among


def _array(value: Abstract, writes: bool = False) -> Tensor:
    """The array that a value is; Break for anything else, and for a read-only array that is to be written."""
    if not isinstance(value, Tensor):
        raise Break("PJ203", operand=describe(value))
    if writes and not value.type.writeable:
        raise Break("PJ203", operand="read-only array")
    return value


MOST_SECTIONS = 16
"""Most views that ``np.split`` makes one by one."""
OF_NUMBERS = {"ndim": 0, "shape": (), "size": 1}
"""What functions that tell the dimensions of arrays return for numbers."""


@model_factory
def _attribute(name: str) -> Handler:
    """``np.shape(x)``, ``np.size(x)`` and ``np.ndim(x)`` of arrays and numbers."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        if name in OF_NUMBERS and isinstance(operand_of(arguments[0]).type, Scalar):
            return Const(OF_NUMBERS[name])
        return interpreter.attribute(_array(arguments[0]), name)
    return call


@model_factory
def _tells_complex(answer: bool) -> Handler:
    """``np.iscomplexobj(x)`` and ``np.isrealobj(x)`` of arrays and numbers, which their types tell."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, "iscomplexobj", 1)
        return Const((operand_of(arguments[0]).type.dtype.kind == "c") is answer)
    return call


@models((np.asarray, np.asanyarray))
def call_asarray(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.asarray(x)`` and ``np.asanyarray(x)`` of an array: the array itself. Of a list or tuple: a new array."""
    if len(arguments) == 1 and not keywords and isinstance(arguments[0], Tensor):
        return arguments[0]
    return call_array(interpreter, arguments, keywords)


@models(np.swapaxes)
@models(np.ndarray, "swapaxes")
def call_swapaxes(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.swapaxes(x, i, j)`` and ``x.swapaxes(i, j)`` of known axes: a view."""
    only(arguments, keywords, "swapaxes", 3)
    array = _array(arguments[0])
    axes = list(range(array.type.ndim))
    one, other = (_known_axis(interpreter, axis, array.type.ndim) for axis in arguments[1:])
    axes[one], axes[other] = other, one
    return _permuted(interpreter, array, axes)


@models(np.transpose)
def call_transpose(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.transpose(x)``, also with known axes: a view."""
    named = dict(zip(("a", "axes"), arguments), **keywords)
    if len(arguments) > 2 or len(named) != len(arguments) + len(keywords) or set(named) - {"a", "axes"}:
        raise Break("PJ211", callee="transpose")
    return _transposed(interpreter, named.get("a", Const(None)),
                       questions.known(interpreter, named.get("axes", Const(None))))


@models(np.ndarray, "transpose")
def call_transpose_method(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.transpose()``, also with known axes as numbers or as one tuple: a view."""
    only(arguments, keywords, "transpose", len(arguments))
    given = [questions.known(interpreter, axis) for axis in arguments[1:]]
    return _transposed(interpreter, arguments[0], tuple(given) if len(given) > 1 else given[0] if given else None)


def _transposed(interpreter: Interpreter, value: Abstract, given: object) -> Abstract:
    """The view with the axes in an order, or reversed if there is none."""
    array = _array(value)
    axes = list(reversed(range(array.type.ndim)))
    if type(given) is tuple:
        axes = [_known_axis(interpreter, Const(axis), array.type.ndim) for axis in given]
    elif given is not None:
        raise Break("PJ211", callee="transpose")
    if sorted(axes) != list(range(array.type.ndim)):
        raise Break("PJ211", callee="transpose")
    return _permuted(interpreter, array, axes)


def _known_axis(interpreter: Interpreter, value: Abstract, ndim: int) -> int:
    """The number of an axis, counted from the first one."""
    axis = questions.known(interpreter, value)
    if type(axis) is not int or not -ndim <= axis < ndim:
        raise Break("PJ203", operand=describe(value))
    return axis % ndim


def _permuted(interpreter: Interpreter, array: Tensor, axes: Sequence[int]) -> Abstract:
    """The view with the axes of an array in another order."""
    kind, order = array.type, list(axes)
    layout = kind.layout if order == sorted(order) else \
        "C" if kind.layout == "F" and order == sorted(order, reverse=True) else "A"
    result = Array(kind.dtype, kind.ndim, layout, kind.writeable, lengths=axis_lengths.of_transpose(kind, order))
    return Tensor(result, interpreter.emit("transpose", [ssa_value(array)], result, {"axes": tuple(order)}))


@models(np.squeeze)
@models(np.ndarray, "squeeze")
def call_squeeze(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.squeeze(x)`` and ``x.squeeze()``: a view for the axes that have length 1, or the array itself."""
    named = dict(zip(("a", "axis"), arguments), **keywords)
    if not 1 <= len(arguments) <= 2 or len(named) != len(arguments) + len(keywords) or set(named) - {"a", "axis"}:
        raise Break("PJ211", callee="squeeze")
    if named.get("axis", Const(None)) != Const(None):
        raise Break("PJ211", callee="squeeze")
    array = _array(arguments[0])
    gone = shapes.unit_axes(interpreter, array) if array.type.ndim else frozenset()
    return _without(interpreter, array, gone) if gone else array


def _without(interpreter: Interpreter, array: Tensor, gone: FrozenSet[int]) -> Tensor:
    """The view without axes that have length 1."""
    kind, left = array.type, [axis for axis in range(array.type.ndim) if axis not in gone]
    ndim = len(left)
    layout = "C" if not ndim or ndim == 1 and kind.layout == "F" else kind.layout
    lengths = axis_lengths.of_transpose(kind, left) or (SEVERAL,) * ndim
    result = Array(kind.dtype, ndim, layout, kind.writeable, kind.transposed, kind.ordered, lengths=lengths)
    if not ndim:
        attrs = {"function": "squeeze", "keywords": ()}
        return Tensor(result, interpreter.emit("invoke", [ssa_value(array)], result, attrs, exits=True))
    codes = tuple("i" if axis in gone else "e" for axis in range(kind.ndim))
    first = interpreter.emit("const", [], WORD, {"value": 0})
    return Tensor(result, interpreter.emit("view", [ssa_value(array)] + [first] * len(gone), result,
                                           {"index": codes, "inside": True}))


@models(np.copyto)
def call_copyto(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.copyto(x, y)``: ``x[...] = y`` where NumPy's rule for casting allows it; NumPy handles ``where``."""
    only(arguments, {name: value for name, value in keywords.items() if name != "where"}, "copyto", 2)
    target, kind = _array(arguments[0], writes=True), operand_of(arguments[1]).type
    if not np.can_cast(kind.dtype, target.type.dtype, "same_kind"):
        raise Break("PJ203", operand="%r stored into %r" % (kind, target.type))
    if keywords:
        return perform(interpreter, "copyto", [target, held_by(interpreter, target, arguments[1])], keywords)
    element_stores.store(interpreter, target, Const(Ellipsis), arguments[1])
    return Const(None)


@models(np.put)
@models(np.ndarray, "put")
def call_put(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.put(x, indices, number)`` on one axis:
    ``x[indices] = number``, while the store cannot change the indices."""
    if len(arguments) < 3:
        raise Break("PJ211", callee="put")
    target, index, value = _array(arguments[0], writes=True), arguments[1], arguments[2]
    picks = class_of(index) is list or isinstance(index, Tensor) and index.type.dtype.kind == "i"
    if keywords or len(arguments) > 3 or target.type.ndim != 1 or not picks or isinstance(value, Tensor):
        value = held_by(interpreter, target, value)
        return perform(interpreter, "helpers.put", [target, index, value] + arguments[3:], keywords)
    if isinstance(index, Tensor):
        require_apart(interpreter, target, index)
    element_stores.store(interpreter, target, index, value)
    return Const(None)


@models(np.putmask)
def call_putmask(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.putmask(x, mask, number)``: ``x[mask] = number``. From an array of values NumPy takes those at the mask."""
    only(arguments, keywords, "putmask", 3)
    target, mask = _array(arguments[0], writes=True), _array(arguments[1])
    if mask.type.dtype.kind != "b" or mask.type.ndim != target.type.ndim or isinstance(arguments[2], Tensor):
        return perform(interpreter, "putmask", [target, mask, held_by(interpreter, target, arguments[2])], {})
    element_stores.store(interpreter, target, mask, arguments[2])
    return Const(None)


@model_factory
def _writing(path: str, position: int) -> Handler:
    """A function that writes its first argument; the argument at ``position`` becomes its elements."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        more = arguments[position + 1:] + list(keywords.values())
        if len(arguments) <= position or Const(None) in more:  # a flattened array is written until one element fails
            raise Break("PJ211", callee=path)
        target = _array(arguments[0], writes=True)
        value = held_by(interpreter, target, arguments[position])
        return perform(interpreter, path, arguments[:position] + [value] + arguments[position + 1:], keywords)
    return call


@model_factory
def _in_place(path: str) -> Handler:
    """``x.sort()`` and ``x.partition(k)``: the result of the function, stored into x."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        target = _array(arguments[0], writes=True)
        if Const(None) in arguments or keywords.get("axis") == Const(None):  # the function flattens, the method raises
            raise Break("PJ211", callee=path)
        element_stores.store(interpreter, target, Const(Ellipsis),
                             library.invoke(interpreter, FUNCTIONS[path], arguments, keywords))
        return Const(None)
    return call


def _outer(interpreter: Interpreter, ufunc: np.ufunc, left: Tensor, right: Tensor) -> Abstract:
    """``ufunc.outer(left, right)``: left gets one more axis for each axis of right."""
    items: List[Abstract] = [Const(Ellipsis)]
    wide = indexing.view_of(interpreter, left, items + [Const(None)] * right.type.ndim)
    return operators.ufunc_call(interpreter, ufunc, [wide, right])


@models(np.outer)
def call_outer(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.outer(x, y)`` of arrays with one axis."""
    only(arguments, keywords, "outer", 2)
    left, right = map(_array, arguments)
    if left.type.ndim != 1 or right.type.ndim != 1:
        raise Break("PJ210", callee="outer")
    return _outer(interpreter, np.multiply, left, right)


@models(np.ufunc, "outer")
def call_ufunc_outer(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.subtract.outer(x, y)`` and similar methods."""
    only(arguments, keywords, "outer", 3)
    return _outer(interpreter, cast(Const, arguments[0]).object, _array(arguments[1]), _array(arguments[2]))


@model_factory
def _of_ufunc(method: str) -> Handler:
    """``np.add.reduce(x)`` and similar methods, which kernels call unchanged."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        ufunc = cast(np.ufunc, cast(Const, arguments[0]).object)
        row = FUNCTIONS.get("%s.%s" % (ufunc.__name__, method))
        if row is None or getattr(np, ufunc.__name__, None) is not ufunc:
            raise Break("PJ210", callee="%s.%s" % (ufunc.__name__, method))
        return interpreter.call_row(row, arguments[1:], keywords)
    return call


@models(np.ufunc, "at")
def call_at(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.add.at(x, indices, value)`` and similar methods."""
    only(arguments, keywords, "at", 3, 4)
    ufunc = cast(np.ufunc, cast(Const, arguments[0]).object)
    target, rest = _array(arguments[1], writes=True), arguments[2:]
    if ufunc is np.add and len(rest) == 2 and add_at(interpreter, target, *rest):
        return Const(None)
    if "helpers.at." + ufunc.__name__ not in FUNCTIONS or getattr(np, ufunc.__name__, None) is not ufunc:
        raise Break("PJ210", callee="%s.at" % ufunc.__name__)
    indexing.require_elements_of(interpreter, target)
    return perform(interpreter, "helpers.at." + ufunc.__name__, [target] + rest, {})


@models(np.where)
def call_where(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.where(mask, x, y)`` of numbers and of arrays in C order that have the result's dtype."""
    only(arguments, keywords, "where", 3)
    arrays = [_array(arguments[0])] + [arm for arm in arguments[1:] if isinstance(arm, Tensor)]
    if arrays[0].type.dtype.kind != "b" or any(array.type.layout != "C" or array.type.ndim == 0 for array in arrays):
        raise Break("PJ210", callee="where")
    result = result_types.where_result(tuple(map(operand_of, arguments)))
    if result.dtype.kind not in "fiub" or any(array.type.dtype != result.dtype for array in arrays[1:]):
        raise Break("PJ210", callee="where of %s" % result.dtype)
    result = Array(result.dtype, result.ndim, "C",
                   lengths=axis_lengths.of_broadcast([operand_of(each).type for each in arguments], result.ndim))
    types = "?{0}{0}->{0}".format(result.dtype.char)
    value = interpreter.emit("where", [conversions.any_value(interpreter, each) for each in arguments], result,
                             {"types": types}, exits=True)
    return Tensor(result, value)


@models(np.take)
@models(np.ndarray, "take")
def call_take(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.take(x, indices)`` and ``x.take(indices)``: ``x[indices]`` for one axis and a vector of integers."""
    array, found = arguments[0] if arguments else None, None
    if len(arguments) == 2 and not keywords and isinstance(array, Tensor) and array.type.ndim == 1:
        found = elements_at(interpreter, array, arguments[1:])
    if found is not None:
        return found
    return library.invoke(interpreter, FUNCTIONS["take"], arguments, keywords)


@models(np.linalg.norm)
def call_norm(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.linalg.norm(x)``: for a contiguous vector of floats, the root of its product with itself."""
    kind = arguments[0].type if len(arguments) == 1 and isinstance(arguments[0], Tensor) else None
    if keywords or kind is None or kind.ndim != 1 or kind.layout != "C" or kind.dtype.char not in "fd":
        return library.invoke(interpreter, FUNCTIONS["linalg.norm"], arguments, keywords)
    square = library.invoke(interpreter, FUNCTIONS["dot"], arguments * 2, {})
    return operators.ufunc_call(interpreter, np.sqrt, [square])


@models(np.diff)
def call_diff(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.diff(x)``: the difference of two views."""
    array, absent = arguments[0] if len(arguments) == 1 and not keywords else None, Const(None)
    if not isinstance(array, Tensor) or array.type.ndim == 0:
        return library.invoke(interpreter, FUNCTIONS["diff"], arguments, keywords)
    later, earlier = [indexing.view_of(interpreter, array, [Const(Ellipsis), Slice((start, stop, absent))])
                      for start, stop in ((Const(1), absent), (absent, Const(-1)))]
    ufunc = np.not_equal if array.type.dtype.kind == "b" else np.subtract
    return operators.ufunc_call(interpreter, ufunc, [later, earlier])


@models(np.split)
def call_split(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.split(x, sections, axis)`` with a known number of sections, or at known positions: a list of views."""
    named = dict(zip(("ary", "indices_or_sections", "axis"), arguments), **keywords)
    array, given = named.get("ary"), named.get("indices_or_sections", Const(None))
    whole = len(named) == len(arguments) + len(keywords) == len(set(named) & {"ary", "indices_or_sections", "axis"})
    cuts = _cuts(interpreter, given)
    if not whole or cuts is None or not isinstance(array, Tensor) or not array.type.ndim:
        return library.invoke(interpreter, FUNCTIONS["split"], arguments, keywords)
    axis = _known_axis(interpreter, named.get("axis", Const(0)), array.type.ndim)
    if isinstance(given, Const):
        cuts = _equal_cuts(interpreter, shapes.length(interpreter, array, axis), given.object)
    before: List[Abstract] = [FULL] * axis
    ends = [Const(0)] + cuts + [Const(None)]
    return constructions.new_list(interpreter, [
        indexing.view_of(interpreter, array, before + [Slice((first, last, Const(None)))])
        for first, last in zip(ends, ends[1:])])


def _cuts(interpreter: Interpreter, given: Abstract) -> Optional[List[Abstract]]:
    """The ints at which an array is cut, or nothing for a number of sections; None for other values."""
    if isinstance(given, Const) and type(given.object) is int:
        return [] if 0 < given.object <= MOST_SECTIONS else None
    items = contents.items_of(interpreter, given) if is_among(class_of(given), (list, tuple)) else None
    if items is None or len(items) >= MOST_SECTIONS or any(class_of(item) is not int for item in items):
        return None
    return [interpreter.use(item) for item in items]


def _equal_cuts(interpreter: Interpreter, length: Number, sections: int) -> List[Abstract]:
    """The positions between equal sections. Exits where the length is no multiple of their number."""
    rest = interpreter.binary("%", length, Const(sections))
    equal = conversions.truth(interpreter, interpreter.compare("==", rest, Const(0)))
    interpreter.emit("require", [equal], None, exits=True)
    part = interpreter.binary("//", length, Const(sections))
    return [interpreter.binary("*", part, Const(k)) for k in range(1, sections)]


@models(np.roll)
def call_roll(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.roll(x, shift, axis)`` of an array in C order: along each axis its two parts change places."""
    named = dict(zip(("a", "shift", "axis"), arguments), **keywords)
    steps = _roll_steps(interpreter, named) if len(named) == len(arguments) + len(keywords) <= 3 else None
    if steps is None:
        return library.invoke(interpreter, FUNCTIONS["roll"], arguments, keywords)
    array = cast(Tensor, named["a"])
    for axis, shift in steps:
        length = Number(INT, shapes.dimension(interpreter, array, axis))
        places = interpreter.word(interpreter.binary("%", shift, length))
        kind = Array(array.type.dtype, array.type.ndim, "C", lengths=array.type.lengths)
        array = Tensor(kind, interpreter.emit("roll", [ssa_value(array), places], kind, {"axis": axis}, exits=True))
    # without an axis NumPy rolls a flat array and reshapes the result, which is a view
    whole = questions.known(interpreter, named.get("axis", Const(None))) is None
    return indexing.view_of(interpreter, array, [Const(Ellipsis)]) if whole else array


def _roll_steps(interpreter: Interpreter, named: Arguments) -> Optional[List[Tuple[int, Abstract]]]:
    """The axes along which an array is rolled, and how far; None where NumPy's function has to be called."""
    array = named.get("a")
    if not isinstance(array, Tensor) or array.type.ndim == 0 or array.type.layout != "C" and array.type.ndim > 1:
        return None
    axes = questions.known(interpreter, named.get("axis", Const(None)))
    axes = (0,) if axes is None and array.type.ndim == 1 else axes if type(axes) is tuple else (axes,)
    shift = named.get("shift", Const(None))
    shifts = contents.items_of(interpreter, shift) if class_of(shift) is tuple else [shift]
    shifts = [interpreter.use(each) for each in shifts or ()]
    if not axes or len(shifts) not in (1, len(axes)) or not all(
            type(axis) is int and -array.type.ndim <= axis < array.type.ndim for axis in axes) or not all(
            class_of(each) is int for each in shifts):
        return None
    return list(zip([axis % array.type.ndim for axis in axes], shifts * (len(axes) // len(shifts))))


@model_factory
def _limits(kind: type) -> Handler:
    """``np.finfo(dtype)`` and ``np.iinfo(dtype)``: constants if the dtype is known."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, kind.__name__, 1)
        known = arguments[0].object if isinstance(arguments[0], Const) else None
        if not issubclass(type(known), np.dtype) and not (type(known) is type and (
                issubclass(known, np.generic) or is_among(known, (int, float)))):
            raise Break("PJ203", operand=describe(arguments[0]))
        try:
            return Const(kind(known))
        except ValueError:
            raise Break("PJ203", operand=describe(arguments[0]))
    return call


@model_factory
def _as(path: str) -> Handler:
    """Functions that pass over NaN: kernels call a function that does the same where no warning is due."""
    return lambda interpreter, arguments, keywords: library.invoke(interpreter, FUNCTIONS[path], arguments, keywords)


for _name in ("shape", "size", "ndim"):
    models(getattr(np, _name))(_attribute(_name))
for _name, _answer in (("iscomplexobj", True), ("isrealobj", False)):
    models(getattr(np, _name))(_tells_complex(_answer))
for _name, _position in (("fill_diagonal", 1), ("put_along_axis", 2)):
    models(getattr(np, _name))(_writing(_name, _position))
for _name in ("sort", "partition"):
    models(np.ndarray, _name)(_in_place(_name))
for _name in ("reduce", "accumulate", "reduceat"):
    models(np.ufunc, _name)(_of_ufunc(_name))
for _kind in (np.finfo, np.iinfo):
    models(_kind)(_limits(_kind))
for _name in library_helpers.PASS_OVER_NAN:
    models(getattr(np, _name))(_as("helpers.nan." + _name))
