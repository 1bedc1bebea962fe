"""Scatters in kernel source: stores at indices and under masks, elements picked by masks, and arrays made of lists.

The runtime does most of the work: `indexing/integer_arrays.c`, `indexing/masks.c` and `arrays/from_lists.c` in
`native/runtime`. `kernel_emitter` has its functions in a table. It must not decide which code stores:
`plan/forms/scatters.py` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.types import Array
from pijit.core.kernel.emit.array_ops import convert, sizes_of, write_ufunc
from pijit.core.kernel.emit.array_values import memory_code
from pijit.core.kernel.emit.expressions import listed
from pijit.core.kernel.emit.fused_nest import require_shapes, single
from pijit.core.kernel.emit.library_calls import call_library
from pijit.core.kernel.emit.objects import SIZE_OFFSET, box_number
from pijit.core.kernel.emit.stack_arrays import made_array
from pijit.core.kernel.emit.stores.inplace_store import Sparse, shares_with, write_shared, write_store
from pijit.core.kernel.plan.forms.scatters import ScatterForm, ScatterPlan
from pijit.core.kernel.plan.operands import (
    NULL,
    ArrayVariable,
    Condition,
    Literal,
    Name,
    Operand,
    array_type,
    dtype_of,
    integer,
    result_of,
)

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

_WORD = np.dtype(np.int64)
ROWS = {None: 0, list: -6, tuple: -7}
"""The runtime's codes for the classes of rows."""


def _values(emitter: KernelEmitter, op: Op, value: Value, dtype: np.dtype[Any],
            count: Operand) -> Tuple[Operand, Operand]:
    """(address of the first value, bytes to the next one). Leaves unless there is one value, or one for each index."""
    if isinstance(value.type, Array):
        array = emitter.arrays[value]
        size, = array.shape
        emitter.guard(op, "stretch_fails(%s, %s)" % (size, count))
        return array.data, emitter.let("choose(%s == 1, 0, %s)" % (size, array.strides[0]))
    at = emitter.layout.scratch(2)
    emitter.line("st_%s(frame, %d, %s)" % (memory_code(dtype), 8 * at, emitter.text[value]))
    return emitter.let("address_of_word(frame, %d)" % at), NULL


def _write_planned(emitter: KernelEmitter, op: Op, plan: ScatterPlan, count: Optional[Operand] = None) -> None:
    """Write a store as planned. ``count`` is the number of elements that its mask picks, if it is known."""
    if not plan.tested:
        _FORMS[plan.form](emitter, op, count)
        return
    shared = write_shared(emitter, op.args[0], plan.tested)
    for head, form in (("if %s:" % shared, ScatterForm.LIBRARY), ("else:", plan.form)):
        emitter.line(head)
        emitter.depth += 1
        _FORMS[form](emitter, op, count)
        emitter.depth -= 1


# ---- vectors of integers ----


def _words(emitter: KernelEmitter, op: Op, index: ArrayVariable) -> ArrayVariable:
    """Indices as adjacent 64-bit words."""
    plain = index.type.dtype == _WORD and index.type.layout == "C"
    return index if plain else convert(emitter, op, index, _WORD)


FEW_STORES = 32
"""The number of stores at indices up to which they take less time than a call of the runtime."""


def _stored_here(emitter: KernelEmitter, target: ArrayVariable, words: ArrayVariable, count: Operand, first: Operand,
                 step: Operand) -> Name:
    """Write few elements inline, if all indices are in range. Returns a variable that is 0 where that is left to do."""
    done, beyond, at, kind = emitter.fresh(), emitter.fresh(), emitter.fresh(), target.type.dtype
    code, size, index = memory_code(kind), target.shape[0], "ld_i8(%s, imul(%s, 8))" % (words.data, at)
    position = "imul(from_front(%s, %s), %d)" % (index, size, kind.itemsize)
    more = "%s = iadd(%s, 1)" % (at, at)
    emitter.line("%s = 0" % done)
    emitter.line("if %s <= %d:" % (count, FEW_STORES))
    emitter.depth += 1
    for variable in (beyond, at):
        emitter.line("%s = 0" % variable)
    # The sign tells whether an index is out of range, as in indices_fit (native/runtime/indexing/integer_arrays.c).
    emitter.indented("while %s < %s:" % (at, count), "%s = ior(%s, ior(iadd(%s, %s), isub(isub(%s, 1), %s)))" % (
        beyond, beyond, index, size, size, index), more)
    emitter.line("if %s >= 0:" % beyond)
    emitter.depth += 1
    emitter.line("%s = 0" % at)
    emitter.indented("while %s < %s:" % (at, count), "st_%s(%s, %s, ld_%s(%s, imul(%s, %s)))" % (
        code, target.data, position, code, first, at, step), more)
    emitter.line("%s = 1" % done)
    emitter.depth -= 2
    return done


def _run(emitter: KernelEmitter, op: Op, name: str, *more: int, few: bool = False) -> None:
    """Call a runtime function with target, indices and values; leaves where an index is out of range.

    ``few``: a few elements are stored inline.
    """
    target, index, value = emitter.arrays[op.args[0]], emitter.arrays[op.args[1]], op.args[2]
    dtype = target.type.dtype
    words = _words(emitter, op, index)
    count, = index.shape
    first, step = _values(emitter, op, value, dtype, count)
    done = _stored_here(emitter, target, words, count, first, step) if few else None
    if done:
        emitter.line("if %s == 0:" % done)
    emitter.depth += bool(done)
    spec = [target.data, target.strides[0], target.shape[0], str(dtype.itemsize), words.data, count, first, step]
    address = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(len(spec)), listed(spec)))
    emitter.guard(op, "%s != 0" % emitter.runtime(name, address, *more))
    emitter.depth -= bool(done)
    if words is not index:
        emitter.release(words)


def write_scatter(emitter: KernelEmitter, op: Op) -> None:
    _write_planned(emitter, op, emitter.plan.groups.scatters[op])


def write_shares(emitter: KernelEmitter, op: Op) -> None:
    shared = shares_with(emitter, op.args[0], op.args[1:])
    emitter.define(result_of(op), {True: "0 < 1", False: "1 < 0"}[shared] if isinstance(shared, bool) else shared)


def write_add_at(emitter: KernelEmitter, op: Op) -> None:
    _run(emitter, op, "add_at", int(dtype_of(op.args[0]).kind == "f"))


def write_rows(emitter: KernelEmitter, op: Op) -> None:
    """Copy the rows at the indices, one after the other; leaves where an index is out of range."""
    array, index = emitter.arrays[op.args[0]], emitter.arrays[op.args[1]]
    words = _words(emitter, op, index)
    count, = index.shape
    size: Operand = Literal(array.type.dtype.itemsize, str(array.type.dtype.itemsize))
    for length in array.shape[1:]:
        size = emitter.let("imul(%s, %s)" % (size, length))
    result = made_array(emitter, op, result_of(op), (count,) + array.shape[1:])
    emitter.guard(op, "%s != 0" % emitter.runtime("rows", result.data, array.data, array.shape[0], size, words.data,
                                                  count))
    emitter.arrays[result_of(op)] = result
    if words is not index:
        emitter.release(words)


def write_elements(emitter: KernelEmitter, op: Op) -> None:
    """A new array of a few scalars."""
    kind = array_type(result_of(op))
    result = emitter.new_array(op, kind, "v%d" % result_of(op).id, [integer(size) for size in op.attrs["shape"]])
    code = memory_code(kind.dtype)
    for k, value in enumerate(op.args):
        emitter.line("st_%s(%s, %d, %s)" % (code, result.data, k * kind.dtype.itemsize, emitter.text[value]))
    emitter.arrays[result_of(op)] = result


def write_draw_array(emitter: KernelEmitter, op: Op) -> None:
    """A new array of random numbers. The runtime reads the method's arguments from words."""
    split = len(op.args) - op.attrs["ndim"]
    shape = sizes_of(emitter, op, op.args[split:])
    result = made_array(emitter, op, result_of(op), shape)
    count = shape[0]
    for size in shape[1:]:
        count = emitter.let("imul(%s, %s)" % (count, size))
    numbers = [emitter.text[value] for value in op.args[1:split]] or [NULL]
    words = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(2), listed(numbers)))
    emitter.checked("draw_array", emitter.text[op.args[0]], op.attrs["method"], words, result.data, count, op=op)
    emitter.arrays[result_of(op)] = result


def write_listed(emitter: KernelEmitter, op: Op) -> None:
    """A new array of the numbers in a list; leaves where one does not have the expected type."""
    items, kind, kinds = emitter.text[op.args[0]], array_type(result_of(op)), op.attrs["kinds"]
    count = emitter.let("ld_i8(%s, %d)" % (items, SIZE_OFFSET))
    shape = [count, emitter.text[op.args[1]]][:kind.ndim]
    result = emitter.new_array(op, kind, "v%d" % result_of(op).id, shape)
    spec: List[Any] = [items, ROWS[op.attrs["rows"]], count, shape[-1], result.data]
    spec += [kind.dtype.num, int(len(kinds) > 1)]
    spec += [box_number(one) for one in kinds]
    words = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(len(spec)), listed(spec)))
    emitter.guard(op, "%s != 0" % emitter.runtime("listed", words))
    emitter.arrays[result_of(op)] = result


# ---- masks ----


def _mask(emitter: KernelEmitter, op: Op, count: Optional[Operand] = None) -> Tuple[Operand, Operand]:
    """(number of elements, number of picked ones); leaves where array and mask differ in shape.

    ``count`` is the second number if it is known.
    """
    array, mask = emitter.arrays[op.args[0]], emitter.arrays[op.args[1]]
    one = Literal(1, "1")
    size: Operand = one
    for own, other in zip(array.shape, mask.shape):
        if own != other:
            emitter.guard_once(op, "%s != %s" % (own, other))
        size = emitter.let("imul(%s, %s)" % (size, own)) if size is not one else own
    return size, count or emitter.let(emitter.runtime("mask_count", mask.data, size))


FEW = 128
"""The elements of a mask, for each picked one, from which it costs less to compute with the picked ones only."""


class _OneByOne(Sparse):
    """The operations of a group under a mask one by one, where few elements are picked."""

    def __init__(self, emitter: KernelEmitter, group: List[Op]) -> None:
        self.emitter, self.group = emitter, group
        self.few, self.count = emitter.fresh(), emitter.fresh()
        emitter.line("%s = 0" % self.count)
        emitter.line("%s = 2" % self.few)  # the picked elements are not counted yet

    def ask(self) -> str:
        emitter = self.emitter
        size, count = _mask(emitter, single(self.group[-1], self.group))
        emitter.line("%s = %s" % (self.count, count))
        emitter.line("%s = choose(imul(%s, %d) < %s, 1, 0)" % (self.few, count, FEW, size))
        return "%s == 1" % self.few

    def write(self, buffered: Condition) -> None:
        emitter, group, depth = self.emitter, self.group, self.emitter.depth
        for condition in ([] if isinstance(buffered, bool) else [buffered]) + ["%s == 2" % self.few]:
            emitter.line("if %s:" % condition)
            emitter.depth += 1
        self.ask()
        emitter.depth = depth
        emitter.line("if %s == 1:" % self.few)
        emitter.depth += 1
        for op in group:
            alone = single(op, group)
            if op in emitter.plan.groups.scatters:
                _write_planned(emitter, alone, emitter.plan.groups.scatters[op], self.count)
            elif op.name == "pick":
                write_pick(emitter, alone, self.count)
            else:
                write_ufunc(emitter, alone)
        for op in group[:-1]:
            emitter.release(emitter.arrays.pop(result_of(op)))
        emitter.exponent_bounds.forget()
        emitter.depth = depth
        emitter.line("else:")
        emitter.depth += 1


def write_masked(emitter: KernelEmitter, group: List[Op]) -> None:
    """Write a group that computes elements under a mask, in place.

    If few elements are picked, and a nest would need a buffer or a scan of all elements, the operations are done one
    by one.
    """
    require_shapes(emitter, group)
    write_store(emitter, group, _OneByOne(emitter, group))


def write_pick(emitter: KernelEmitter, op: Op, count: Optional[Operand] = None) -> None:
    array, mask = emitter.arrays[op.args[0]], emitter.arrays[op.args[1]]
    size, count = _mask(emitter, op, count)
    result = made_array(emitter, op, result_of(op), [count])
    emitter.line(emitter.runtime("mask_pick", result.data, array.data, mask.data, size, array.type.dtype.itemsize,
                                 count))
    emitter.arrays[result_of(op)] = result


def _put(emitter: KernelEmitter, op: Op, count: Optional[Operand]) -> None:
    array, mask = emitter.arrays[op.args[0]], emitter.arrays[op.args[1]]
    size, count = _mask(emitter, op, count)
    first, step = _values(emitter, op, op.args[2], array.type.dtype, count)
    emitter.line(emitter.runtime("mask_put", array.data, mask.data, size, array.type.dtype.itemsize, count, first,
                                 step))


_FORMS: Dict[ScatterForm, Callable[[KernelEmitter, Op, Optional[Operand]], None]] = {
    ScatterForm.LIBRARY: lambda emitter, op, count: call_library(emitter, op, "operator.setitem"),
    ScatterForm.INDEXED: lambda emitter, op, count: _run(emitter, op, "scatter"),
    ScatterForm.FEW_INDEXED: lambda emitter, op, count: _run(emitter, op, "scatter", few=True),
    ScatterForm.MASKED: _put}
"""The writers of the forms of a store. They get the number of elements that a mask picks, if it is known."""


SCATTER_OPERATIONS: Dict[str, Callable[[KernelEmitter, Op], None]] = {
    "scatter": write_scatter, "shares": write_shares, "rows": write_rows, "add_at": write_add_at, "pick": write_pick,
    "listed": write_listed, "draw_array": write_draw_array, "elements": write_elements,
    "put_mask": write_scatter}
