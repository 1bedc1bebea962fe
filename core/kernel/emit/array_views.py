"""Array operations that compute no elements: sizes, views, and single elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List, Optional, Sequence, Tuple, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.kernel.emit.array_values import memory_code
from pijit.core.kernel.emit.array_variables import contiguous_last
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.plan.operands import (
    ONE,
    ZERO,
    ArrayVariable,
    Name,
    Operand,
    array_type,
    dtype_of,
    integer,
    result_of,
)

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

_LARGE = 2 ** 31


def write_dim(emitter: KernelEmitter, op: Op) -> None:
    emitter.text[result_of(op)] = emitter.arrays[op.args[0]].shape[op.attrs["axis"]]


def write_transpose(emitter: KernelEmitter, op: Op) -> None:
    array, axes = emitter.arrays[op.args[0]], op.attrs["axes"]
    _define_view(emitter, op, array, array.data, [array.shape[axis] for axis in axes],
                 [array.strides[axis] for axis in axes], [array.shown[axis] for axis in axes])


def write_reshape(emitter: KernelEmitter, op: Op) -> None:
    """Reshape in C order. NumPy keeps the strides where all sizes are given and equal to those of the array."""
    array, kind, unknown = emitter.arrays[op.args[0]], array_type(result_of(op)), op.attrs["unknown"]
    given, count = [emitter.text[value] for value in op.args[1:]], _count(emitter, array.shape)
    late = [] if unknown is not None else [axis for axis, value in enumerate(op.args[1:])
                                           if value not in emitter.facts.constants]
    for axis, (value, size) in enumerate(zip(op.args[1:], given)):
        if axis != unknown and emitter.facts.constants.get(value, -1) < 0:
            emitter.guard(op, "%s < %d" % (size, -1 if late else 0))
    shape = list(given)
    for axis in late:
        shape[axis] = emitter.pure("choose(%s == -1, 1, %s)" % (given[axis], given[axis]))
    wanted = _product(emitter, op, shape[:unknown] + shape[unknown + 1:] if unknown is not None else shape)
    if late:
        _resolve(emitter, op, given, shape, late, wanted, count)
    elif unknown is None:
        emitter.guard(op, "%s != %s" % (wanted, count))
    else:
        if len(shape) != 2 or emitter.facts.constants.get(op.args[1 + (unknown == 0)], 0) < 1:
            emitter.guard(op, "%s == 0" % wanted)
        shape[unknown] = emitter.pure("ifloordiv(%s, %s)" % (count, wanted)) if wanted.value != 1 else count
        if wanted.value != 1:
            emitter.guard(op, "imul(%s, %s) != %s" % (shape[unknown], wanted, count))
    strides: List[Operand] = [integer(kind.dtype.itemsize)]
    for size in reversed(shape[1:]):
        strides.insert(0, emitter.pure("imul(%s, choose(%s == 0, 1, %s))" % (strides[0], size, size)))
    shown = strides
    if unknown is None and len(shape) == len(array.shape):
        same = " and ".join("%s == %s" % pair for pair in zip(given, array.shape))
        shown = [emitter.pure("choose(%s, %s, %s)" % (same, one, other)) for one, other in zip(array.shown, strides)]
    _define_view(emitter, op, array, array.data, shape, strides, shown, array.origin)


def _count(emitter: KernelEmitter, sizes: Sequence[Operand]) -> Operand:
    """The product of sizes."""
    product: Operand = ONE
    for size in sizes:
        product = emitter.pure("imul(%s, %s)" % (product, size)) if product.value != 1 else size
    return product


def _product(emitter: KernelEmitter, op: Op, sizes: List[Operand]) -> Operand:
    """The product of sizes; leaves where it overflows."""
    product: Operand = ONE
    for size in sizes:
        if product.value != 1:
            emitter.guard(op, "imul_overflows(%s, %s)" % (product, size))
        product = emitter.pure("imul(%s, %s)" % (product, size)) if product.value != 1 else size
    return product


def _resolve(emitter: KernelEmitter, op: Op, given: List[Operand], shape: List[Operand], late: List[int],
             wanted: Operand, count: Operand) -> None:
    """Sizes that are known only at run time: one may be -1 and follows from the others; ``shape`` has 1 there."""
    missing: Operand = ZERO
    for axis in late:
        one = "choose(%s == -1, 1, 0)" % given[axis]
        missing = emitter.pure("iadd(%s, %s)" % (missing, one)) if missing.value != 0 else emitter.pure(one)
    if len(late) > 1:
        emitter.guard(op, "%s > 1" % missing)
    emitter.guard(op, "choose(%s == 0, 1, %s) == 0" % (missing, wanted))
    rest = emitter.pure("ifloordiv(%s, choose(%s == 0, 1, %s))" % (count, wanted, wanted))
    emitter.guard(op, "imul(%s, choose(%s == 0, 1, %s)) != %s" % (wanted, missing, rest, count))
    for axis in late:
        shape[axis] = emitter.pure("choose(%s == -1, %s, %s)" % (given[axis], rest, given[axis]))


def write_in_order(emitter: KernelEmitter, op: Op) -> None:
    """Leave unless the strides are those of C order. Those of axes of length 1 do not count."""
    array, kind = emitter.arrays[op.args[0]], array_type(result_of(op))
    wanted: Operand = integer(kind.dtype.itemsize)
    strides: List[Operand] = []
    for size, stride in zip(reversed(array.shape), reversed(array.strides)):
        emitter.guard(op, "%s != %s and %s != 1" % (stride, wanted, size))
        strides.insert(0, wanted)
        wanted = emitter.pure("imul(%s, %s)" % (wanted, size))
    _define_view(emitter, op, array, array.data, list(array.shape), strides, list(array.shown), array.origin)


def write_part(emitter: KernelEmitter, op: Op) -> None:
    array, half = emitter.arrays[op.args[0]], dtype_of(result_of(op)).itemsize
    data = array.data if op.attrs["which"] == "real" else emitter.let("iadd(%s, %d)" % (array.data, half))
    _define_view(emitter, op, array, data, list(array.shape), list(array.strides), list(array.shown))


def _define_view(emitter: KernelEmitter, op: Op, array: ArrayVariable, data: Operand, shape: List[Operand],
                 strides: List[Operand], shown: List[Operand], origin: Optional[Tuple[Operand, int]] = None) -> None:
    result, name = result_of(op), Name("v%d_o" % result_of(op).id)
    emitter.line("%s = 0" % name)
    emitter.arrays[result] = ArrayVariable(array_type(result), data, name, shape,
                                           contiguous_last(array_type(result), strides), array.base, shown, origin)


def write_identical(emitter: KernelEmitter, op: Op) -> None:
    emitter.define(result_of(op), "%s == %s" % tuple(emitter.with_object(value).object for value in op.args))


# ---- elements ----


def _positions(emitter: KernelEmitter, op: Op, array: ArrayVariable, indices: Sequence[Value]) -> List[Operand]:
    """The indices counted from the front; leaves when one is out of range.

    Most indices count from the front already. So an index is converted only if it is out of range as it is.
    """
    positions: List[Operand] = []
    conditions: List[str] = []
    counted: List[str] = []
    inside = "inside" in op.attrs or emitter.unchecked is not None and op in emitter.unchecked.inside
    checks = "-" * len(indices) if inside else op.attrs.get("checks", "w" * len(indices))
    for value, size, check in zip(indices, array.shape, checks):
        known = emitter.facts.constants.get(value)
        position = emitter.text[value]
        if check == "w" and (known is None or known < 0):
            front = "from_front(%s, %s)" % (position, size)
            if known is None and op.exit is not None:
                position = emitter.renamed(position)
                counted.append("%s = %s" % (position, front))
            else:
                position = emitter.let(front)
        positions.append(position)
        if check != "-":
            conditions.append("beyond(%s, %s)" % (position, size))
    outside = _any_of(conditions)
    if counted:
        emitter.indented("if rare(%s):" % outside, *counted)
        emitter.depth += 1
        emitter.guard(op, outside)
        emitter.depth -= 1
    else:
        emitter.guard(op, outside)
    return positions


def _any_of(conditions: List[str]) -> str:
    while len(conditions) > 1:
        conditions[:2] = ["either(%s, %s)" % tuple(conditions[:2])]
    return "".join(conditions)


def beyond(positions: Sequence[Operand], shape: Sequence[Operand]) -> str:
    """The condition that a position is out of range."""
    return _any_of(["beyond(%s, %s)" % pair for pair in zip(positions, shape)])


def offset(positions: Sequence[Expression], strides: Sequence[Operand]) -> str:
    terms = ["imul(%s, %s)" % pair for pair in zip(positions, strides)] or ["0"]
    while len(terms) > 1:
        terms[:2] = ["iadd(%s, %s)" % tuple(terms[:2])]
    return terms[0]


def write_load(emitter: KernelEmitter, op: Op) -> None:
    array = emitter.arrays[op.args[0]]
    positions = _positions(emitter, op, array, op.args[1:])
    emitter.define(result_of(op), emitter.element(array.type.dtype, (array.data, offset(positions, array.strides))))


def write_store(emitter: KernelEmitter, op: Op) -> None:
    array, value = emitter.arrays[op.args[0]], op.args[-1]
    positions = _positions(emitter, op, array, op.args[1:-1])
    emitter.line("st_%s(%s, %s, %s)" % (memory_code(array.type.dtype), array.data,
                                        offset(positions, array.strides), emitter.text[value]))


# ---- slices ----


def write_view(emitter: KernelEmitter, op: Op) -> None:
    array = emitter.arrays[op.args[0]]
    origin = _known_origin(emitter, op, array)
    values, axis = iter(op.args[1:]), 0
    offsets: List[str] = []
    shape: List[Operand] = []
    strides: List[Operand] = []
    shown: List[Operand] = []
    for item in op.attrs["index"]:
        if item == "n":
            shape.append(ONE)
            strides.append(ZERO)
            shown.append(ZERO)
            continue
        size, stride, extent = array.shape[axis], array.strides[axis], array.shown[axis]
        axis += 1
        if item == "e":
            shape.append(size)
            strides.append(stride)
            shown.append(extent)
        elif item == "i":
            one = ArrayVariable(array.type, array.data, array.object, [size], [stride])
            offsets.append("imul(%s, %s)" % (_positions(emitter, op, one, [next(values)])[0], stride))
        else:
            start, length, step, shown_step = _slice(emitter, op, item, values, size)
            if start.value != 0:
                offsets.append("imul(%s, %s)" % (start, stride))
            shape.append(length)
            strides.append(_scaled(emitter, stride, step))
            shown.append(_scaled(emitter, extent, shown_step))
    data: Expression = array.data
    for offset in offsets:
        data = "iadd(%s, %s)" % (data, offset)
    _define_view(emitter, op, array, emitter.pure(data), shape + list(array.shape[axis:]),
                 strides + list(array.strides[axis:]), shown + list(array.shown[axis:]), origin)


def _known_origin(emitter: KernelEmitter, op: Op, array: ArrayVariable) -> Optional[Tuple[Operand, int]]:
    """The origin of a view, if constants give the distance of its elements from those of the array; else None."""
    values, axis, (root, offset) = iter(op.args[1:]), 0, array.origin
    for item in op.attrs["index"]:
        if item == "n":
            continue
        given = "" if item == "e" else item[1:] or "v"
        parts = {part: next(values) for part, one in zip(("start", "stop", "step"), given) if one == "v"}
        first = emitter.facts.constants.get(parts["start"], -1) if "start" in parts else 0
        backwards = "step" in parts and emitter.facts.constants.get(parts["step"], -1) < 0
        stride = array.strides[axis].value
        if backwards or first < 0 or first and stride is None:
            return None
        offset += first * stride if first else 0
        axis += 1
    return root, offset


def _scaled(emitter: KernelEmitter, stride: Operand, step: Operand) -> Operand:
    """The stride after a slice with this step: a literal if both are."""
    if stride.value is not None and step.value is not None:
        return integer(stride.value * step.value)
    return stride if step.value == 1 else emitter.pure("imul(%s, %s)" % (stride, step))


def _slice(emitter: KernelEmitter, op: Op, item: str, values: Iterator[Value],
           size: Operand) -> Tuple[Operand, Operand, Operand, Operand]:
    """(start, length, step, shown step) of a slice, as NumPy's indexing has them.

    When nothing is selected, the start is 0 and the shown step 1.
    """
    start, stop, step = (next(values) if part == "v" else None for part in item[1:])
    known = 1 if step is None else emitter.facts.constants.get(step)
    if known == 1:
        cut = _constant_cut(emitter, start, stop)
        if cut is not None:
            length = emitter.pure("shorter(%s, %d)" % (size, sum(cut)))
            front = emitter.pure("choose(%s == 0, 0, %d)" % (length, cut[0])) if cut[0] else ZERO
            return front, length, ONE, ONE
        first = ZERO if start is None else emitter.pure("clip_up(%s, %s)" % (emitter.text[start], size))
        end = size if stop is None else emitter.pure("clip_up(%s, %s)" % (emitter.text[stop], size))
        if first.value == 0:
            return first, end, ONE, ONE
        length = emitter.pure("span(%s, %s)" % (first, end))
        return emitter.pure("choose(%s == 0, 0, %s)" % (length, first)), length, ONE, ONE
    stride = emitter.text[cast(Value, step)]
    if known is None or known in (0, -2 ** 63):
        emitter.guard(op, "either(%s == 0, %s == (%d))" % (stride, stride, -2 ** 63))
    down: Expression = "%s < 0" % stride
    if known is None:
        down = emitter.pure(down)
    first = emitter.pure(_end(emitter, start, down, size, "isub(%s, 1)" % size, "0"))
    end = emitter.pure(_end(emitter, stop, down, size, "-1", size))
    length = emitter.pure("stepped(%s, %s, %s)" % (first, end, stride))
    return (emitter.pure("choose(%s == 0, 0, %s)" % (length, first)), length, stride,
            emitter.pure("choose(%s == 0, 1, %s)" % (length, stride)))


def _constant_cut(emitter: KernelEmitter, start: Optional[Value],
                  stop: Optional[Value]) -> Optional[Tuple[int, int]]:
    """(elements that ``[start:stop]`` drops at the front, elements at the end), if constants tell for any length.

    Slices that drop equally many elements then have equal lengths, so their shapes need no check.
    """
    front = 0 if start is None else emitter.facts.constants.get(start)
    end = 0 if stop is None else emitter.facts.constants.get(stop)
    if front is None or end is None or not 0 <= front < _LARGE or not -_LARGE < end <= 0 or (
            stop is not None and end == 0):
        return None
    return int(front), -int(end)


def _end(emitter: KernelEmitter, value: Optional[Value], down: Expression, size: Operand, absent_down: Expression,
         absent_up: Expression) -> str:
    """One end of a slice, for both directions."""
    if value is None:
        return "choose(%s, %s, %s)" % (down, absent_down, absent_up)
    text = emitter.text[value]
    return "choose(%s, clip_down(%s, %s), clip_up(%s, %s))" % (down, text, size, text, size)
