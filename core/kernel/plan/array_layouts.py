"""Array layouts: what is certain about the address, shape and strides of each array before a line is written.

This is value numbering of the words that describe arrays: equal numbers mean equal words in every run. A word is an
integer if the graph gives it, otherwise a `Word` of a table. The emitter's variables for the same words are in
operands.py. `group_plans.py` asks; this module never writes kernel code and never looks at the emitter.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, FrozenSet, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.ops import ELEMENTWISE, KEEPS_VALUE, PLACES_ELEMENTS
from pijit.core.graph.types import Array
from pijit.core.kernel.llvm.nest import description as nests
from pijit.core.kernel.plan.operands import array_type, last_stride_kind, result_of
from pijit.core.named_tuples import NamedTuple


class Word:
    """A word that is known at run time only; ``fitting`` are sizes that are equal to it or 1."""

    __slots__ = ("fitting",)

    def __init__(self, fitting: FrozenSet[Any] = frozenset()) -> None:
        self.fitting = fitting


IntOrWord = Union[int, Word]


class ArrayLayout(NamedTuple):
    """The words of one array.

    Attributes:
        type: the type of the array.
        data: the address of the elements.
        shape: the sizes of the axes.
        strides: the distances of elements along each axis, in bytes.
        rolled: whether only a nest knows the places of the elements (`np.roll`).
    """

    type: Array
    data: Word
    shape: Tuple[IntOrWord, ...]
    strides: Tuple[IntOrWord, ...]
    rolled: bool = False

    @property
    def last_stride(self) -> str:
        """What is certain about the last stride, as one of the kinds that nests know."""
        return last_stride_kind(self.type, [_known(size) for size in self.shape[-1:]],
                                [_known(stride) for stride in self.strides[-1:]])

    @property
    def is_adjacent(self) -> bool:
        """Whether the array is certain to be a vector of adjacent elements."""
        return len(self.shape) == 1 and self.strides[0] == self.type.dtype.itemsize and not self.rolled

    @property
    def has_transposed_order(self) -> bool:
        """Whether the elements along an axis other than the last one are certain to be adjacent."""
        return not self.rolled and self.last_stride == nests.ANY and self.type.dtype.itemsize in self.strides


def are_one(one: ArrayLayout, other: ArrayLayout) -> bool:
    """Whether two arrays are certain to have the same elements."""
    return one is other or one.type.dtype == other.type.dtype and one[1:] == other[1:] and not one.rolled


def _known(number: IntOrWord) -> Optional[int]:
    return number if isinstance(number, int) else None


class ArrayLayouts:
    """The layouts of a graph's arrays, which `add` derives operation by operation, dominators first.

    Args:
        graph: the graph. Its inputs and parameters have layouts from the beginning.
        constants: the numbers of its constants.

    Attributes:
        of: the layouts.
        constants: the numbers of its constants and of their copies.
    """

    def __init__(self, graph: Graph, constants: Dict[Value, Any]) -> None:
        self.of: Dict[Value, ArrayLayout] = {}
        self.constants = dict(constants)
        self._words: Dict[Any, Word] = {}
        self._numbers: Dict[Value, IntOrWord] = {}
        params = [param for block in graph.blocks[1:] for param in block.params]
        for value in list(graph.inputs) + params:
            if isinstance(value.type, Array):
                self.of[value] = self.made(value)

    # ---- words ----

    def word(self, *key: Any, fitting: FrozenSet[Any] = frozenset()) -> Word:
        """The word with this key: a name of what computes it, and its operands."""
        found = self._words.get(key)
        if found is None:
            found = self._words[key] = Word(fitting)
        return found

    def number(self, value: Value) -> IntOrWord:
        """The word of an integer."""
        known = self.constants.get(value)
        if isinstance(known, int):
            return int(known)
        return self._numbers[value] if value in self._numbers else self.word("value", value)

    def product(self, one: IntOrWord, other: IntOrWord) -> IntOrWord:
        """The product of two words."""
        if isinstance(one, int) and isinstance(other, int):
            return one * other
        return one if other == 1 else self.word("product", one, other)

    def common(self, one: IntOrWord, other: IntOrWord) -> IntOrWord:
        """The size that two axes broadcast to."""
        if _fits(other, one):
            return one
        if _fits(one, other):
            return other
        fitting = frozenset([one, other]).union(*[size.fitting for size in (one, other) if isinstance(size, Word)])
        return self.word("common", one, other, fitting=fitting)

    def broadcast(self, shapes: Sequence[Sequence[IntOrWord]]) -> List[IntOrWord]:
        """The common shape of a broadcast."""
        found: List[IntOrWord] = []
        for axis in range(max(map(len, shapes), default=0)):
            sizes = [shape[-1 - axis] for shape in shapes if axis < len(shape)]
            size = sizes[0]
            for other in sizes[1:]:
                size = self.common(size, other)
            found.insert(0, size)
        return found

    # ---- arrays ----

    def made(self, value: Value, shape: Optional[Sequence[IntOrWord]] = None) -> ArrayLayout:
        """An array that is no view."""
        kind = array_type(value)
        sizes = [self.word("size", value, axis) for axis in range(kind.ndim)] if shape is None else shape
        strides = [self.word("stride", value, axis) for axis in range(kind.ndim)]
        return ArrayLayout(kind, self.word("data", value), tuple(sizes), _of_order(kind, strides))

    def view(self, op: Op, data: Word, shape: Sequence[IntOrWord], strides: Sequence[IntOrWord]) -> ArrayLayout:
        """A view of an array."""
        kind = array_type(result_of(op))
        return ArrayLayout(kind, data, tuple(shape), _of_order(kind, strides))

    def add(self, op: Op) -> None:
        """Derive the layout or the number of an operation's result."""
        result = op.result
        if result is None:
            return
        if not isinstance(result.type, Array):
            if op.name == "dim":
                self._numbers[result] = self.of[op.args[0]].shape[op.attrs["axis"]]
            elif op.name in KEEPS_VALUE and op.args[0] in self.constants:
                self.constants[result] = self.constants[op.args[0]]
            elif op.name == "same":
                self._numbers[result] = self.number(op.args[0])
            return
        derive = _elementwise if op.name in ELEMENTWISE else _DERIVED.get(op.name)
        self.of[result] = derive(self, op) if derive is not None else self.made(result)

    def placed(self, group: Sequence[Op]) -> Mapping[Value, ArrayLayout]:
        """The layouts for a nest, which finds the elements of rolled arrays and views where they are."""
        found = dict(self.of)
        for op in group:
            if op.name in PLACES_ELEMENTS:
                found[result_of(op)] = found[op.args[0]]._replace(rolled=op.name == "roll")
        return found


def _fits(size: IntOrWord, wanted: IntOrWord) -> bool:
    """Whether the size of an axis is known to be 1 or equal to another size."""
    return size is wanted or size == 1 or size == wanted or isinstance(wanted, Word) and size in wanted.fitting


def _of_order(kind: Array, strides: Sequence[IntOrWord]) -> Tuple[IntOrWord, ...]:
    """The strides, with the number of the one that the order determines."""
    found = list(strides)
    if found and kind.layout == "C":
        found[-1] = kind.dtype.itemsize
    if found and kind.layout == "F":
        found[0] = kind.dtype.itemsize
    return tuple(found)


# ---- views ----


def _slice(layouts: ArrayLayouts, item: str, bounds: Iterator[Value],
           size: IntOrWord) -> Tuple[IntOrWord, IntOrWord, IntOrWord]:
    """(first position, length, step) of a slice."""
    start, stop, step = (layouts.number(next(bounds)) if part == "v" else None for part in item[1:])
    step = 1 if step is None else step
    if step != 1:
        return layouts.word("first", size, start, stop, step), layouts.word("length", size, start, stop, step), step
    front, end = 0 if start is None else start, 0 if stop is None else stop
    if isinstance(front, int) and isinstance(end, int) and 0 <= front and (end < 0 or stop is None):
        length = size if front == end == 0 else layouts.word("cut", size, front - end)
        return layouts.word("front", length, front) if front else 0, length, 1
    if front == 0:
        return 0, layouts.word("end", size, stop), 1
    return layouts.word("first", size, start, stop, 1), layouts.word("length", size, start, stop, 1), 1


def _view(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    array, values, axis = layouts.of[op.args[0]], iter(op.args[1:]), 0
    data, shape, strides = array.data, [], []  # type: Word, List[IntOrWord], List[IntOrWord]
    for item in op.attrs["index"]:
        if item == "n":
            shape.append(1)
            strides.append(0)
            continue
        size, stride = array.shape[axis], array.strides[axis]
        axis += 1
        if item == "i":
            data = layouts.word("at", data, layouts.number(next(values)), size, stride)
            continue
        first, length, step = (0, size, 1) if item == "e" else _slice(layouts, item, values, size)
        data = data if first == 0 else layouts.word("at", data, first, size, stride)
        shape.append(length)
        strides.append(layouts.product(stride, step))
    return layouts.view(op, data, [*shape, *array.shape[axis:]], [*strides, *array.strides[axis:]])


def _transpose(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    array, axes = layouts.of[op.args[0]], op.attrs["axes"]
    return layouts.view(op, array.data, [array.shape[axis] for axis in axes], [array.strides[axis] for axis in axes])


def _reshape(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    array, unknown = layouts.of[op.args[0]], op.attrs["unknown"]
    shape = [layouts.number(value) for value in op.args[1:]]
    for axis, value in enumerate(op.args[1:]):
        if axis == unknown or unknown is None and value not in layouts.constants:
            shape[axis] = layouts.word("reshaped", op, axis)
    if unknown is not None and len(shape) == 1 and len(array.shape) == 1:
        shape = list(array.shape)
    strides: List[IntOrWord] = [array_type(result_of(op)).dtype.itemsize]
    for size in reversed(shape[1:]):
        strides.insert(0, layouts.word("product", strides[0], size))
    return layouts.view(op, array.data, shape, strides)


def _part(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    array = layouts.of[op.args[0]]
    data = array.data if op.attrs["which"] == "real" else layouts.word("imaginary", array.data)
    return layouts.view(op, data, array.shape, array.strides)


# ---- new arrays ----


def _shapes(layouts: ArrayLayouts, values: Sequence[Value]) -> List[Tuple[IntOrWord, ...]]:
    return [layouts.of[value].shape for value in values if isinstance(value.type, Array)]


def _elementwise(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    shape = layouts.broadcast(_shapes(layouts, op.args))
    result = result_of(op)
    return layouts.made(result, shape if len(shape) == array_type(result).ndim else None)


def _gather(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    return layouts.made(result_of(op), layouts.broadcast(_shapes(layouts, op.args[1:])))


def _alloc(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    return layouts.made(result_of(op), [layouts.number(value) for value in op.args])


def _reduce(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    axis, keepdims = op.attrs["axis"], op.attrs["keepdims"]
    shape = layouts.of[op.args[0]].shape
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return layouts.made(result_of(op), [1 if place in axes else size for place, size in enumerate(shape)
                                        if keepdims or place not in axes])


def _concatenate(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    axis, shapes = op.attrs["axis"], _shapes(layouts, op.args)
    shape = list(shapes[0])
    for other in shapes[1:]:
        shape[axis] = layouts.word("sum", shape[axis], other[axis])
    return layouts.made(result_of(op), shape)


def _roll(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    return layouts.made(result_of(op), layouts.of[op.args[0]].shape)


def _rows(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    return layouts.made(result_of(op), layouts.of[op.args[1]].shape[:1] + layouts.of[op.args[0]].shape[1:])


def _elements(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    return layouts.made(result_of(op), op.attrs["shape"])


def _in_order(layouts: ArrayLayouts, op: Op) -> ArrayLayout:
    array = layouts.of[op.args[0]]
    return array._replace(strides=_of_order(array_type(result_of(op)), array.strides))


_DERIVED: Dict[str, Callable[[ArrayLayouts, Op], ArrayLayout]] = {
    "view": _view, "transpose": _transpose, "reshape": _reshape, "part": _part, "gather": _gather, "alloc": _alloc,
    "reduce": _reduce, "concatenate": _concatenate, "roll": _roll, "rows": _rows, "elements": _elements,
    "in_order": _in_order}
"""How the layout of a result follows from those of the operands; other arrays are new and nothing is known of them."""
