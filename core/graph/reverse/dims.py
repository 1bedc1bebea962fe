"""Symbolic sizes of arrays: which axes of an operand broadcasting repeats, so that its adjoint is summed over them.

The sizes of one call decide which axes have one element. The joint function requires the same of later calls: sizes
that meet in an operation are equal, or one of them is 1.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union, cast

import numpy as np

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import ELEMENTWISE
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.forward import PRODUCTS
from pijit.core.graph.reverse.library_calls import LibraryCall, any_call, equal_sizes
from pijit.core.graph.reverse.regions import Conditional, Item, Loop
from pijit.core.graph.types import Array
from pijit.core.named_tuples import NamedTuple


class Size(NamedTuple):
    """A size that is not known to be 1: the array and the axis that have it first."""

    array: Value
    axis: int


Dim = Union[int, Size]
"""The size of an axis: a number, or a symbol, which stands for any size that is not known to be 1."""


class Check(NamedTuple):
    """Two sizes that the joint function requires to be equal."""

    one: Size
    other: Dim


class Dims:
    """The symbolic sizes of all arrays of a graph.

    Args:
        shapes: the shapes of the inputs in the call that is captured.

    Attributes:
        of: the sizes of each array.
        checks: pairs of sizes that must be equal.
        numbers: the numbers that are sizes.
        cuts: sizes of slices: the size of the whole axis, and how many elements the slice lacks.
    """

    def __init__(self, shapes: Mapping[Value, Tuple[int, ...]]) -> None:
        self.of: Dict[Value, Tuple[Dim, ...]] = {}
        self.checks: List[Check] = []
        self.numbers: Dict[Value, Dim] = {}
        self.cuts: Dict[Size, Tuple[Dim, int]] = {}
        self._same: Dict[Size, Dim] = {}
        self._parts: Dict[Tuple[Dim, Tuple[object, ...]], Size] = {}
        for array, shape in shapes.items():
            self.of[array] = tuple(1 if size == 1 else Size(array, axis) for axis, size in enumerate(shape))
            self.checks += [Check(Size(array, axis), 1) for axis, size in enumerate(shape) if size == 1]

    def found(self, dim: Dim) -> Dim:
        """The representative of a size."""
        while isinstance(dim, Size) and dim in self._same:
            dim = self._same[dim]
        return dim

    def meet(self, one: Dim, other: Dim) -> Dim:
        """The size of an axis that two operands share by broadcasting."""
        one, other = self.found(one), self.found(other)
        if one == 1 or other == 1:
            return other if one == 1 else one
        self.unify(one, other)
        return self.found(one)

    def unify(self, one: Dim, other: Dim) -> None:
        """Require two sizes to be equal."""
        one, other = self.found(one), self.found(other)
        if one == other:
            return
        if not isinstance(one, Size):
            one, other = other, one
        if not isinstance(one, Size):
            raise Irreversible("sizes that never fit")
        if other == 1:
            raise Irreversible("an axis has one element in this call only")
        if one in self.cuts and other in self.cuts and self.cuts[one][1] == self.cuts[other][1]:
            self.unify(self.cuts[one][0], self.cuts[other][0])
        else:
            self.checks.append(Check(one, other))
        self._same[one] = other

    def part(self, dim: Dim, piece: Tuple[object, ...], new: Size) -> Size:
        """The size of a slice of an axis: the one that an equal slice has, or else ``new``."""
        found = self._parts.setdefault((dim, piece), new)
        if piece[0] == "cut":
            self.cuts[found] = dim, cast(int, piece[1])
        return found

    def broadcast(self, shapes: Sequence[Tuple[Dim, ...]]) -> Tuple[Dim, ...]:
        """The sizes of an elementwise result."""
        dims: List[Dim] = []
        for mine in map(list, shapes):
            longer, shorter = (dims, mine) if len(dims) >= len(mine) else (mine, dims)
            extra = len(longer) - len(shorter)
            dims = longer[:extra] + [self.meet(a, b) for a, b in zip(longer[extra:], shorter)]
        return tuple(dims)

    def are_full(self, shape: Tuple[Dim, ...], value: Value) -> bool:
        """Whether sizes are those of a value, not those of something that broadcasts to it."""
        return len(shape) == len(self.of.get(value, ())) and all(
            self.found(a) == self.found(b) for a, b in zip(shape, self.of.get(value, ())))

    def measure(self, items: Sequence[Item], constants: Mapping[Value, Any]) -> None:
        """Set the sizes of all results in a sequence; ``constants`` are the constants of the graph."""
        for item in items:
            if isinstance(item, Loop):
                self._measure_loop(item, constants)
            elif isinstance(item, Conditional):
                self._measure_conditional(item, constants)
            elif isinstance(item, Op) and item.name in MEASURES:
                MEASURES[item.name](self, item, constants)
            elif isinstance(item, Op) and item.result is not None and isinstance(item.result.type, Array):
                _measure_result(self, item, constants)

    def _measure_loop(self, loop: Loop, constants: Mapping[Value, Any]) -> None:
        """Loop-carried arrays have the same sizes in all iterations."""
        arrays = [number for number, param in enumerate(loop.params) if isinstance(param.type, Array)]
        for number in arrays:
            self.of[loop.params[number]] = self.of[loop.first[number]]
        self.measure(loop.items, constants)
        for number in arrays:
            for one, other in zip(self.of[loop.params[number]], self.of[loop.next[number]]):
                self.unify(one, other)

    def _measure_conditional(self, item: Conditional, constants: Mapping[Value, Any]) -> None:
        """Arrays have the same sizes after both sides."""
        self.measure(item.then.items, constants)
        self.measure(item.other.items, constants)
        for param, one, other in zip(item.params, item.then.args, item.other.args):
            if isinstance(param.type, Array):
                if len(self.of[one]) != len(self.of[other]):
                    raise Irreversible("sizes that never fit")
                for size, same in zip(self.of[one], self.of[other]):
                    self.unify(size, same)
                self.of[param] = tuple(map(self.found, self.of[one]))

    def summed(self, operand: Value, result: Value) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
        """The axes of a result over which the adjoint of an operand is summed: those that the operand lacks, and then
        those on which it has one element (without the lacking ones)."""
        mine, whole = self.of.get(operand, ()), self.of.get(result, ())
        extra = len(whole) - len(mine)
        ones = tuple(number for number, (a, b) in enumerate(zip(mine, whole[extra:])) if a == 1 and b != 1)
        return tuple(range(extra)), ones


def _new(result: Value) -> Tuple[Dim, ...]:
    """The sizes of an array of which nothing is known."""
    return tuple(Size(result, axis) for axis in range(cast(Array, result.type).ndim))


def _measure_result(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    """Set the sizes of a result: those that operands have, for elementwise operations and some library functions."""
    result, call = cast(Value, op.result), any_call(op)
    shape: Optional[Tuple[Dim, ...]] = None
    if call is not None and call.function in ALONG_AXIS:
        shape = ALONG_AXIS[call.function](dims, call, constants)
    elif call is not None or op.name in ELEMENTWISE:
        alike = list(equal_sizes(call)) if call is not None else op.args
        shape = dims.broadcast([dims.of.get(arg, ()) for arg in alike])
    dims.of[result] = shape if shape and len(shape) == cast(Array, result.type).ndim else _new(result)


def _known_axis(call: LibraryCall, position: int, ndim: int, constants: Mapping[Value, Any]) -> Optional[int]:
    """The argument ``axis`` of a call, from 0 on; None if it is not known."""
    value = dict(call.keywords).get("axis", call.args[position] if position < len(call.args) else None)
    axis = constants.get(value) if value is not None else None
    return axis % ndim if type(axis) is int and -ndim <= axis < ndim else None


def _with_axis(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    shape = dims.of.get(call.args[0], ())
    axis = _known_axis(call, 1, len(shape) + 1, constants)
    return None if axis is None else shape[:axis] + (1,) + shape[axis:]


def _without_axis(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    shape = dims.of.get(call.args[0], ())
    axis = _known_axis(call, 1, max(len(shape), 1), constants)
    return None if axis is None or shape[axis] != 1 else shape[:axis] + shape[axis + 1:]


def _along_axis(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    shape, index = dims.of.get(call.args[0], ()), dims.of.get(call.args[1], ())
    axis = _known_axis(call, 2, max(len(shape), 1), constants)
    if axis is None or len(shape) != len(index):
        return None
    return tuple(two if number == axis else dims.meet(one, two) for number, (one, two) in enumerate(zip(shape, index)))


def _reduced(dims: Dims, call: LibraryCall, constants: Mapping[Value, Any]) -> Optional[Tuple[Dim, ...]]:
    """A reduction over the axes of a tuple."""
    shape, given = dims.of.get(call.args[0], ()), dict(call.keywords)
    known = {name: constants.get(value) for name, value in given.items()}
    axes = known.get("axis", constants.get(call.args[1]) if len(call.args) == 2 else None)
    keepdims = known.get("keepdims", False)
    if type(axes) is not tuple or len(call.args) > 2 or type(keepdims) is not bool or set(given) - {"axis", "keepdims"}:
        return None
    gone = {axis % len(shape) for axis in axes}
    return tuple(1 if number in gone else dim for number, dim in enumerate(shape) if keepdims or number not in gone)


ALONG_AXIS: Dict[Any, Callable[[Dims, LibraryCall, Mapping[Value, Any]], Optional[Tuple[Dim, ...]]]] = {
    np.expand_dims: _with_axis, np.squeeze: _without_axis, np.take_along_axis: _along_axis, np.sum: _reduced,
    np.mean: _reduced, np.max: _reduced, np.min: _reduced}
"""The sizes of results of functions with an axis that is known; None where it is not."""


def _gather(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    """An index array takes the place of the first axis; a mask leaves an unknown number of elements."""
    array, index = (dims.of.get(arg, ()) for arg in op.args[:2])
    result = cast(Value, op.result)
    dims.of[result] = index + array[1:] if op.name == "gather" and len(op.args) == 2 else _new(result)


def _concatenate(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    result, axis = cast(Value, op.result), op.attrs["axis"]
    sizes = list(map(list, (dims.of[arg] for arg in op.args)))
    for other in sizes[1:]:
        for number, (a, b) in enumerate(zip(sizes[0], other)):
            if number != axis:
                dims.unify(a, b)
    dims.of[result] = tuple(Size(result, axis) if number == axis else dim for number, dim in enumerate(sizes[0]))


def _reshape(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    result, unknown = cast(Value, op.result), op.attrs["unknown"]
    sizes = list(op.args[1:])
    made = [cast(Dim, constants[arg]) if arg in constants else dims.numbers.get(arg, Size(result, axis))
            for axis, arg in enumerate(sizes)]
    if unknown is not None:
        made[unknown] = Size(result, unknown)
    dims.of[result] = tuple(made)


def _view(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    """A basic slice; equal slices of equal sizes have one size. Ends that are computed are told apart by the value."""
    source, result = list(dims.of[op.args[0]]), cast(Value, op.result)
    ends, made = [constants.get(value, value) for value in op.args[1:]], []
    for item in op.attrs["index"]:
        if item == "n":
            made.append(cast(Dim, 1))
            continue
        dim, used = dims.found(source.pop(0)), item.count("v") + (item == "i")
        values, ends = ends[:used], ends[used:]
        if item == "e":
            made.append(dim)
        elif item != "i":
            made.append(dims.part(dim, _piece(item, values), Size(result, len(made))))
    dims.of[result] = tuple(made + source)


def _piece(item: str, values: List[Any]) -> Tuple[object, ...]:
    """A key that slices of equal lengths share, such as ``[:-2]`` and ``[1:-1]``."""
    ends = list(values)
    start, stop = (ends.pop(0) if part == "v" else 0 for part in item[1:3])
    if item[3] == "-" and type(start) is type(stop) is int and start >= 0 and (stop < 0 or item[2] == "-"):
        return ("cut", start - stop)
    return (item, *values)


def _transpose(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    dims.of[cast(Value, op.result)] = tuple(dims.of[op.args[0]][axis] for axis in op.attrs["axes"])


def _elements(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    dims.of[cast(Value, op.result)] = tuple(op.attrs["shape"])


def _reduce(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    """A reduction over one axis, or over all (None)."""
    result, axis, operand = cast(Value, op.result), op.attrs["axis"], dims.of[op.args[0]]
    gone = set(range(len(operand))) if axis is None else {axis % len(operand)}
    if isinstance(result.type, Array):
        dims.of[result] = tuple(1 if number in gone else dim for number, dim in enumerate(operand)
                                if op.attrs["keepdims"] or number not in gone)


def _product(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    """A product of vectors and matrices."""
    if op.attrs.get("function") not in PRODUCTS:
        if isinstance(cast(Value, op.result).type, Array):
            _measure_result(dims, op, constants)
        return
    result, (left, right) = cast(Value, op.result), (dims.of[arg] for arg in op.args)
    if len(left) > 2 or len(right) > 2:
        raise Irreversible("a product of stacks of matrices")
    dims.unify(left[-1], right[0])
    if isinstance(result.type, Array):
        dims.of[result] = left[:-1] + right[1:]


def _dim(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    dims.numbers[cast(Value, op.result)] = dims.of[op.args[0]][op.attrs["axis"]]


def _number(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    """A number that stays the same; of arrays, a conversion."""
    result = cast(Value, op.result)
    if op.args[0] in dims.numbers:
        dims.numbers[result] = dims.numbers[op.args[0]]
    elif isinstance(result.type, Array):
        dims.of[result] = dims.of.get(op.args[0], ())


def _alloc(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    result = cast(Value, op.result)
    dims.of[result] = tuple(dims.numbers.get(arg, constants.get(arg, Size(result, axis)))
                            for axis, arg in enumerate(op.args))


def _assign(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    """A store of what broadcasts to its target."""
    target, source = dims.of[op.args[0]], dims.of.get(op.args[1], ())
    if len(source) > len(target):
        raise Irreversible("a store of an array with more axes than its target")
    for one, other in zip(reversed(target), reversed(source)):
        dims.meet(one, other)


def _ufunc_into(dims: Dims, op: Op, constants: Mapping[Value, Any]) -> None:
    """An operation that stores a result of its target's sizes."""
    shape = dims.broadcast([dims.of.get(arg, ()) for arg in op.args[1:]])
    for one, other in zip(reversed(dims.of[op.args[0]]), reversed(shape)):
        dims.meet(one, other)


MEASURES: Dict[str, Callable[[Dims, Op, Mapping[Value, Any]], None]] = {
    "dim": _dim, "same": _number, "cast": _number, "alloc": _alloc, "assign": _assign, "ufunc_into": _ufunc_into,
    "view": _view, "transpose": _transpose, "elements": _elements, "reduce": _reduce, "gufunc": _product,
    "product": _product, "dot": _product, "gather": _gather, "pick": _gather, "concatenate": _concatenate,
    "reshape": _reshape}
"""How the sizes of results follow from those of operands, for operations that do not broadcast."""
