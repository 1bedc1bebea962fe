"""Array operations that compute elements: allocation, ufuncs through NumPy's inner loops, and assignment.

The numba emitter looks writers up in ARRAY_OPERATIONS, for operations that no loop nest of a group computes.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from pijit.core._launcher import ABI_NUMBERS
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import ELIDED_BYTES
from pijit.core.graph.passes.fusion import is_exact, scalar_operation
from pijit.core.graph.types import Array, Scalar, numpy_scalar
from pijit.core.kernel import symbols
from pijit.core.kernel.emit import array_views, concatenation, reductions, scalars
from pijit.core.kernel.emit.array_values import memory_code, type_number
from pijit.core.kernel.emit.expressions import Expression, Place, listed
from pijit.core.kernel.emit.stack_arrays import made_array, new_private, new_temporary, use_spare_slot
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.llvm.nest.description import UNIT, Nest
from pijit.core.kernel.plan.nests import loop_dtypes
from pijit.core.kernel.plan.operand_reuse import ASKS, computes_into, freedom, may_be_computed_into
from pijit.core.kernel.plan.operands import (
    NULL,
    ONE,
    ArrayVariable,
    Operand,
    array_type,
    dtype_of,
    integer,
    result_of,
    scalar_type,
)

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


def write_alloc(emitter: KernelEmitter, op: Op) -> None:
    result, shape = result_of(op), sizes_of(emitter, op, op.args)
    kind = array_type(result)
    if op.attrs["order"] == "F":
        array = emitter.new_array(op, kind, "v%d" % result.id, shape, 1)
    else:
        array = made_array(emitter, op, result, shape)
    emitter.arrays[result] = array
    fill = op.attrs["fill"]
    text = None if fill is None else _literal(kind.dtype, fill)
    if not emitter.fills.wait(op, text) and text is not None:
        _fill_new(emitter, array, text)


def sizes_of(emitter: KernelEmitter, op: Op, values: Sequence[Value]) -> List[Operand]:
    """The sizes of a new array; leaves by the operation's exit if one is negative."""
    shape: List[Operand] = [emitter.text[value] for value in values]
    for value, size in zip(values, shape):
        if emitter.facts.constants.get(value, -1) < 0:
            emitter.guard(op, "%s < 0" % size)
    return shape


def _fill_new(emitter: KernelEmitter, array: ArrayVariable, value: Operand) -> None:
    """Fill a new array, which is contiguous in C or Fortran order, with one number."""
    dtype = array.type.dtype
    one: Expression = ONE
    count = emitter.let(functools.reduce("imul({}, {})".format, array.shape, one))
    flat = ArrayVariable(Array(dtype, 1, "C"), array.data, array.object, [count], [integer(dtype.itemsize)])
    emitter.nest(flat.shape, [flat], lambda places: emitter.line(
        "st_%s(%s, %s, %s)" % ((memory_code(dtype),) + places[0] + (value,))))


def _literal(dtype: np.dtype[Any], value: int) -> Operand:
    return scalars.constant(value, numpy_scalar(dtype))


# ---- operands of inner loops ----


_Word = Union[int, Operand]
"""A word of a descriptor."""


class _LoopOperand:
    """An operand as NumPy's inner loop reads it.

    ``address`` is that of its descriptor. ``itemsize`` is 0 if the operand was cast. ``array`` is None for a scalar.
    ``like`` is the address of the descriptor before the cast, which decides the result's layout.
    """

    __slots__ = ("address", "ndim", "itemsize", "array", "like")

    def __init__(self, address: Operand, ndim: int, itemsize: int, array: Optional[ArrayVariable],
                 like: Operand) -> None:
        self.address = address
        self.ndim = ndim
        self.itemsize = itemsize
        self.array = array
        self.like = like


def _operand(emitter: KernelEmitter, op: Op, value: Value, dtype: np.dtype[Any]) -> _LoopOperand:
    if isinstance(value.type, Scalar):
        text = emitter.converted(emitter.text[value], scalar_type(value), dtype, op)
        at = emitter.layout.scratch(4)
        address = emitter.let("set_words(frame, %d, address_of_word(frame, %d))" % (at, at + 2))
        emitter.line("st_%s(frame, %d, %s)" % (memory_code(dtype), 8 * (at + 2), text))
        return _LoopOperand(address, 0, dtype.itemsize, None, address)
    array = emitter.arrays[value]
    like = emitter.descriptor(array, emitter.layout.scratch(2 + 2 * len(array.shape)))
    if array.type.dtype == dtype:
        return _LoopOperand(like, len(array.shape), dtype.itemsize, array, like)
    array = convert(emitter, op, array, dtype)
    address = emitter.descriptor(array, emitter.layout.scratch(2 + 2 * len(array.shape)))
    return _LoopOperand(address, len(array.shape), 0, array, like)


def convert(emitter: KernelEmitter, op: Op, array: ArrayVariable, dtype: np.dtype[Any]) -> ArrayVariable:
    """A new array with the elements converted to another dtype; leaves when an element does not fit."""
    kind = Array(dtype, len(array.shape), "C")
    copy = new_temporary(emitter, op, kind, array.shape)

    def body(places: List[Place]) -> None:
        source = array.type.dtype
        text = emitter.converted(emitter.element(source, places[0]), numpy_scalar(source), dtype, op,
                                 unchecked=source.kind != "f" and dtype != np.float16)
        emitter.line("st_%s(%s, %s, %s)" % ((memory_code(dtype),) + places[1] + (text,)))

    emitter.nest(array.shape, [array, copy], body)
    return copy


def broadcast(emitter: KernelEmitter, op: Op, shapes: Sequence[Sequence[Operand]]) -> List[Operand]:
    """The common shape of a broadcast; leaves when there is none."""
    ndim = max(len(shape) for shape in shapes)
    result: List[Operand] = []
    for axis in range(ndim):
        sizes = [shape[axis - ndim] for shape in shapes if axis - ndim + len(shape) >= 0]
        result.append(functools.reduce(functools.partial(emitter.common_size, op), sizes))
    return result


def fits_into(emitter: KernelEmitter, op: Op, shape: Sequence[Operand], target: Sequence[Operand], strip: bool) -> None:
    """Leave unless ``shape`` broadcasts to ``target``. With ``strip``, surplus leading axes of length 1 are allowed."""
    extra = len(shape) - len(target)
    if extra > 0 and not strip:
        raise CompileError("more axes than the output has")
    for size in shape[:max(extra, 0)]:
        if size.value != 1:
            emitter.guard_once(op, "%s != 1" % size)
    own = shape[max(extra, 0):]
    for size, wanted in zip(own, target[len(target) - len(own):]):
        if not emitter.fits(size, wanted):
            emitter.guard_once(op, "stretch_fails(%s, %s)" % (size, wanted))


def require_fit(emitter: KernelEmitter, leaving: Op, op: Op, shapes: Sequence[Sequence[Operand]]) -> None:
    """Leave unless the result has the shape of the operand that the attribute ``fits`` names, if there is one."""
    if "fits" in op.attrs:
        for shape in shapes:
            fits_into(emitter, leaving, shape, shapes[op.attrs["fits"]], False)


# ---- ufuncs ----

_FRESH, _EXACT, _PART = ABI_NUMBERS["UFUNC_FRESH"], ABI_NUMBERS["UFUNC_EXACT"], ABI_NUMBERS["UFUNC_PART"]
_LEAST = ABI_NUMBERS["UFUNC_LEAST"]


def _may_share(op: Op) -> bool:
    """Whether several threads may run the loop at once: it is NumPy's, and raises no Python exception."""
    operands, _, results = op.attrs["types"].partition("->")
    floats = set(operands + results) <= set("fdFD?")
    return symbols.is_numpys(op.attrs["ufunc"]) and (floats or bool(scalar_operation(op)))


def write_ufunc(emitter: KernelEmitter, op: Op) -> None:
    dtypes, result_dtype = loop_dtypes(op.attrs["types"])
    operands = [_operand(emitter, op, value, dtype) for value, dtype in zip(op.args, dtypes)]
    require_fit(emitter, op, op, [operand.array.shape if operand.array else () for operand in operands])
    shape = broadcast(emitter, op, [operand.array.shape if operand.array else () for operand in operands])
    if isinstance(result_of(op).type, Scalar):
        if shape:
            raise CompileError("a scalar result from operands with axes")
        at = emitter.layout.scratch(4)
        address = emitter.let("set_words(frame, %d, address_of_word(frame, %d))" % (at, at + 2))
        out = _LoopOperand(address, 0, result_dtype.itemsize, None, address)
        _run_loop(emitter, op, operands, out, shape, _FRESH)
        emitter.define(result_of(op), emitter.element(result_dtype, ("frame", str(8 * (at + 2)))))
    else:
        array = _computed_in_place(emitter, op, operands, shape)
        if array is None:
            result, memory = result_of(op), emitter.plan.memory
            array = _computed(emitter, op, operands, shape, array_type(result), "v%d" % result.id,
                              result in memory.pooled, result in memory.slots and len(shape) == 1)
        emitter.arrays[result_of(op)] = array
    _release_converted(emitter, operands)


def _computed_in_place(emitter: KernelEmitter, op: Op, operands: List[_LoopOperand],
                       shape: List[Operand]) -> Optional[ArrayVariable]:
    """The results in memory that is there already, or None.

    It is the memory of an operand that is dead afterwards, or in a tiled or skewed loop that for a block of rows.
    """
    array = reused(emitter, op, shape) or emitter.blocking.prepared(result_of(op), shape)
    if array is not None:
        address = emitter.descriptor(array, emitter.layout.scratch(2 + 2 * len(shape)))
        out = _LoopOperand(address, len(shape), array.type.dtype.itemsize, array, address)
        _run_loop(emitter, op, operands, out, shape, _FRESH)
    return array


def _computed(emitter: KernelEmitter, op: Op, operands: List[_LoopOperand], shape: List[Operand], kind: Array,
              name: str, pooled: bool, has_slot: bool) -> ArrayVariable:
    """A new array with the loop's results, whose memory comes from the buffer pool, a stack slot, or NumPy; leaves when
    a flag was raised."""
    at = emitter.layout.scratch(2 + 2 * len(shape))
    address = emitter.let("set_words(frame, %d, %s)" % (at, listed([NULL, NULL, *shape])))
    words = [str(item) for k, operand in enumerate(operands)
             for item in (operand.ndim, operand.like, like_size(emitter, op, k, operand.like, operand.itemsize))]
    likes = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(len(words)), listed(words)))
    number = type_number(kind.dtype, pooled)

    def like() -> ArrayVariable:
        emitter.checked("alloc_like", "frame", address, number, len(shape), len(operands), likes, op=op)
        return emitter.describe(kind, name, at, shape)

    array = new_private(emitter, op, kind, name, shape, True, like) if has_slot else like()
    if array.in_slot:
        address = emitter.descriptor(array, at)
    out = _LoopOperand(address, len(shape), kind.dtype.itemsize, array, address)
    _run_loop(emitter, op, operands, out, shape, _FRESH)
    return array


def _run_loop(emitter: KernelEmitter, op: Op, operands: List[_LoopOperand], out: _LoopOperand, shape: List[Operand],
              flags: int, undo: Optional[Tuple[ArrayVariable, ArrayVariable]] = None) -> None:
    """Call the runtime to run the loop; leaves when a flag was raised.

    ``undo`` is (a written array, a copy of its previous contents); the contents are put back before leaving.
    """
    ufunc, index = op.attrs["ufunc"], op.attrs["loop"]
    table = emitter.let("%s()" % emitter.loop_table(ufunc, index))
    flags |= (_EXACT if is_exact(op) else 0) + (_PART if emitter.writes_blocks() else 0)
    flags += _LEAST * (emitter.flavour.least if _may_share(op) else 0)
    dtypes, result = loop_dtypes(op.attrs["types"])
    described: List[List[_Word]] = [[operand.ndim, operand.address, operand.itemsize or -dtype.itemsize]
                                    for operand, dtype in zip(operands + [out], dtypes + [result])]
    if op.attrs.get("ordered"):
        described[:2] = _as_numpy_orders(emitter, op, operands, described[:2])
    words = ["ld_i8(%s, 0)" % table, "ld_i8(%s, 8)" % table, len(operands), 1, flags, *itertools.chain(*described)]
    spec = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(len(words)), listed(words)))
    sizes = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(max(len(shape), 1)),
                                                      listed(shape or [NULL])))
    if op.exit is not None:
        emitter.clear_flags()
    emitter.checked("ufunc", "frame", spec, sizes, len(shape), op=op)
    raised: Expression = emitter.raised_flags(op)
    if undo is not None and raised:
        raised = emitter.let(raised)
        emitter.line("if %s:" % raised)
        emitter.depth += 1
        copy_into(emitter, op, *undo)
        emitter.depth -= 1
    emitter.guard(op, raised)


def write_ufunc_into(emitter: KernelEmitter, op: Op) -> None:
    target = emitter.arrays[op.args[0]]
    emitter.reports_own = False
    dtypes, result_dtype = loop_dtypes(op.attrs["types"])
    operands = [_operand(emitter, op, value, dtype) for value, dtype in zip(op.args[1:], dtypes)]
    for operand in operands:
        fits_into(emitter, op, operand.array.shape if operand.array else (), target.shape, False)
    if is_exact(op):
        shape = broadcast(emitter, op, [operand.array.shape if operand.array else () for operand in operands])
        # The last element may raise a flag, and the target must be unchanged then. So the results are copied later.
        kind = Array(result_dtype, len(shape), "C" if len(shape) < 2 else "A")
        has_slot = len(shape) == 1 and use_spare_slot(emitter, kind)
        apart = _computed(emitter, op, operands, shape, kind, str(emitter.fresh()), True, has_slot)
        copy_into(emitter, op, target, apart)
    else:
        apart = _computed_there(emitter, op, operands, target, result_dtype)
    emitter.release(apart)
    _release_converted(emitter, operands)


def _computed_there(emitter: KernelEmitter, op: Op, operands: List[_LoopOperand], target: ArrayVariable,
                    dtype: np.dtype[Any]) -> ArrayVariable:
    """Run the loop with the target as output, because the bits depend on its strides. Returns a temporary array.

    When a flag was raised, the previous contents are put back before leaving. If the dtypes differ, the output is the
    temporary array, which is converted into the target.
    """
    apart = new_temporary(emitter, op, Array(dtype, len(target.shape), "C"), target.shape)
    converts = target.type.dtype != dtype
    if not converts:
        copy_into(emitter, op, apart, target)
    written = emitter.descriptor(apart if converts else target, emitter.layout.scratch(2 + 2 * len(target.shape)))
    out = _LoopOperand(written, len(target.shape), 0 if converts else dtype.itemsize, target, written)
    _run_loop(emitter, op, operands, out, list(target.shape), 0, None if converts else (target, apart))
    if converts:
        copy_into(emitter, op, target, apart)
    return apart


def _release_converted(emitter: KernelEmitter, operands: List[_LoopOperand]) -> None:
    for operand in operands:
        if operand.array is not None and operand.itemsize == 0:
            emitter.release(operand.array)


# ---- reuse of operands ----

_INTO_SHIFT = ABI_NUMBERS["INTO_SHIFT"]


def reused(emitter: KernelEmitter, op: Op, shape: Sequence[Operand]) -> Optional[ArrayVariable]:
    """The array whose memory the result takes: the first one of the plan that has its shape; else None."""
    for value in emitter.plan.memory.reused.get(op, ()):
        if emitter.arrays[value].shape == tuple(shape):
            emitter.inherited.add(value)
            return emitter.arrays[value]
    return None


def like_size(emitter: KernelEmitter, op: Op, number: int, address: Operand, itemsize: int) -> int:
    """The word for alloc_like: an operand's item size, and whether the result may be computed into it."""
    into, value = computes_into(emitter.facts, op, number), op.args[number]
    free = freedom(op, value) if value in emitter.plan.memory.offered.get(op, ()) else 0
    if into in ASKS or free:
        emitter.line("st_i8(%s, 8, %s)" % (address, emitter.arrays[value].object))
    return itemsize + (into + free << _INTO_SHIFT)


def _as_numpy_orders(emitter: KernelEmitter, op: Op, operands: List[_LoopOperand],
                     words: List[List[_Word]]) -> List[List[_Word]]:
    """The words of both operands of a product, in the order in which NumPy computes it.

    The right operand comes first if NumPy multiplies it in place: it is a large temporary, and the left one is not.
    The kernel leaves if it cannot tell whether an array is a temporary.
    """
    found = [may_be_computed_into(emitter.facts, op, number) for number in (0, 1)]
    left, right = operands
    if found[1] is False or found[0] is True or right.array is None or left.array is not None \
            and left.ndim != right.ndim:
        return words
    count: Expression = integer(dtype_of(result_of(op)).itemsize)
    for size in right.array.shape:
        count = "imul(%s, %s)" % (count, size)
    tests = ["%s >= %d" % (emitter.let(count), ELIDED_BYTES)]
    if left.array is not None:
        tests += ["%s == %s" % pair for pair in zip(left.array.shape, right.array.shape)]
    swaps: Expression = " and ".join(tests)
    if right.array.shape:
        swaps = emitter.let(swaps)
    if None in found:
        emitter.guard(op, swaps)
        return words
    return [[one if one == other else emitter.let("choose(%s, %s, %s)" % (swaps, other, one))
             for one, other in zip(*pair)] for pair in (words, words[::-1])]


# ---- assignment ----

FEW_BYTES = 1 << 14
"""Bytes of a vector that a nest copies: preparing a call takes as long as to copy a quarter of them."""


def copy_into(emitter: KernelEmitter, op: Op, target: ArrayVariable, source: ArrayVariable) -> None:
    """``target[...] = source`` for shapes that were checked; converts first when the dtypes differ."""
    converted = source
    if source.type.dtype != target.type.dtype:
        converted = convert(emitter, op, source, target.type.dtype)
    addresses = [emitter.descriptor(array, emitter.layout.scratch(2 + 2 * len(array.shape)))
                 for array in (target, converted)]
    emitter.checked("copy", "frame", addresses[0], len(target.shape), target.type.dtype.num, addresses[1],
                    len(converted.shape), op=op)
    if converted is not source:
        emitter.release(converted)


def _are_vectors(target: ArrayVariable, source: ArrayVariable) -> bool:
    """Whether a nest can copy an array: a vector of integers, or of floats that processors know."""
    dtype = target.type.dtype
    is_known = dtype.kind in "iu" or dtype.char in "fd"
    return is_known and dtype == source.type.dtype and target.is_adjacent and source.is_adjacent


def _copy_vector(emitter: KernelEmitter, op: Op, target: ArrayVariable, source: ArrayVariable) -> None:
    """`copy_into` for adjacent elements in different memory: by a nest if there are few of them."""
    dtype, depth = target.type.dtype, emitter.depth
    (size,), most = target.shape, FEW_BYTES // dtype.itemsize
    if size != source.shape[0]:
        size = emitter.let("choose(%s == %s, %s, %d)" % (size, source.shape[0], size, most + 1))
    nest = Nest(1, dtype.char * 2, UNIT * 2, "", ())
    words = [size, source.data, source.strides[0], target.data, target.strides[0]]
    emitter.line("if %s <= %d:" % (size, most))
    emitter.depth += 1
    emitter.line("%s(%s)" % (emitter.nest_name(nest), listed(words)))
    emitter.depth = depth
    emitter.line("else:")
    emitter.depth += 1
    copy_into(emitter, op, target, source)
    emitter.depth = depth


def write_assign(emitter: KernelEmitter, op: Op) -> None:
    target, value = emitter.arrays[op.args[0]], op.args[1]
    dtype = target.type.dtype
    if isinstance(value.type, Array):
        source = emitter.arrays[value]
        fits_into(emitter, op, source.shape, target.shape, True)
        if not emitter.fills.wait(op, source):
            roots = [emitter.facts.root_of(one) for one in op.args]
            (_copy_vector if emitter.facts.is_apart(*roots) and _are_vectors(target, source) else copy_into)(
                emitter, op, target, source)
        return
    text = emitter.converted(emitter.text[value], scalar_type(value), dtype, op)
    if emitter.fills.wait(op, text):
        return
    emitter.nest(target.shape, [target], lambda places: emitter.line(
        "st_%s(%s, %s, %s)" % ((memory_code(dtype),) + places[0] + (text,))))


ARRAY_OPERATIONS: Dict[str, Callable[[KernelEmitter, Op], None]] = {
    "dim": array_views.write_dim, "view": array_views.write_view, "transpose": array_views.write_transpose,
    "reshape": array_views.write_reshape, "in_order": array_views.write_in_order,
    "part": array_views.write_part, "identical": array_views.write_identical,
    "load": array_views.write_load, "store": array_views.write_store, "alloc": write_alloc,
    "ufunc": write_ufunc, "ufunc_into": write_ufunc_into, "assign": write_assign,
    "reduce": reductions.write_reduce, "concatenate": concatenation.write_concatenate,
    "roll": concatenation.write_roll,
}
