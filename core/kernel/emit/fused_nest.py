"""Fused loop nests: one nest computes a group of elementwise operations.

graph/passes/fusion.py says what a group is and when it may write in place. The numba emitter calls `write_group` for
groups that make a new array or a scalar; inplace_store.py writes the others.

The floating-point flags are cleared before the nest and tested after it. Each element's operations are the IEEE
operations that NumPy does, so a flag is raised whenever NumPy would raise it. The group then leaves before its results
can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core import _launcher
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import COMPUTES_NO_ELEMENTS, PLACES_ELEMENTS
from pijit.core.graph.passes.fusion import COUNTS, converts, counts_true, operands
from pijit.core.graph.types import Array, Scalar
from pijit.core.kernel.emit.array_ops import broadcast, like_size, require_fit, reused, write_ufunc
from pijit.core.kernel.emit.array_values import type_number
from pijit.core.kernel.emit.expressions import Expression, listed
from pijit.core.kernel.emit.library_calls import LIBRARY_OPERATIONS
from pijit.core.kernel.emit.merged_operands import merge_operands
from pijit.core.kernel.emit.reductions import new_result
from pijit.core.kernel.emit.rolled_operands import rolled_operands
from pijit.core.kernel.emit.stack_arrays import made_array
from pijit.core.kernel.llvm.nest.description import UNIT, Nest, Step
from pijit.core.kernel.llvm.nest.description import ZERO as STRIDE_ZERO
from pijit.core.kernel.llvm.nest.pairwise_sum import PAIRWISE_RUN, runs_are_cut
from pijit.core.kernel.llvm.nest.row_ends import NO_ENDS, Ends
from pijit.core.kernel.plan.flag_plan import NO_FLAGS, FlagPlan
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.nests import (
    asks_for_temporaries,
    families,
    is_one_axis,
    last_strides,
    loop_dtypes,
    may_underflow,
    steps_of,
    tables_of,
)
from pijit.core.kernel.plan.operands import (
    NULL,
    ZERO,
    ArrayVariable,
    Literal,
    Name,
    Operand,
    array_type,
    dtype_of,
    integer,
    result_of,
    scalar_type,
)
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


class RowBlock(NamedTuple):
    """A block of rows: the first one, and their number."""

    first: Operand
    size: Operand


def _tables(emitter: KernelEmitter, group: List[Op]) -> List[ArrayVariable]:
    """The arrays in which a group finds elements by index."""
    return [emitter.arrays[value] for value in tables_of(group)]


def _steps(emitter: KernelEmitter, group: List[Op]) -> Tuple[Step, ...]:
    return steps_of(group, emitter.plan.left_out_steps)


def _require_elements(emitter: KernelEmitter, group: List[Op], shape: Sequence[Operand],
                      tables: List[ArrayVariable]) -> List[Operand]:
    """The words of the arrays in which elements are found. Leaves where such an array, or a broadcast of indices, is
    empty.

    No index is in range of an empty array, and an empty nest would not check indices.
    """
    sizes = dict.fromkeys(size for table in tables for size in table.shape)
    if any(emitter.arrays[value].shape != tuple(shape) for value in find_leaves(group)[0]):
        sizes.update(dict.fromkeys(shape))  # an operand with elements may broadcast to an empty shape
    for size in sizes if tables else ():
        emitter.guard(group[0], "%s < 1" % size)
    return [word for table in tables for word in (table.data,) + table.strides + table.shape]


def write_operands(emitter: KernelEmitter, group: List[Op]) -> Tuple[
        List[ArrayVariable], List[Expression], List[Operand]]:
    """Write the tests of a group's operands. Returns the arrays, the scalars, and the shape of the nest."""
    values, wanted = find_leaves(group)
    arrays = [emitter.arrays[value] for value in values]
    scalars = [emitter.converted(emitter.text[value], scalar_type(value), np.dtype(code), group[0])
               for value, code in wanted]
    require_shapes(emitter, group)
    return arrays, scalars, list(broadcast(emitter, group[0], [array.shape for array in arrays]))


def flags_of(emitter: KernelEmitter, group: List[Op]) -> FlagPlan:
    """The plan of a nest's flags. A choice that is written alone has none and raises no flags."""
    plans, last = emitter.plan.groups.flags, group[-1]
    return NO_FLAGS if last.name == "where" and last not in plans else plans[last]


def begin_flags(emitter: KernelEmitter, group: List[Op], plan: FlagPlan) -> None:
    """Clear the flags before a nest; leaves if the program hears of underflows that the nest hides."""
    if plan.hides_underflow:
        emitter.guard(group[0], "%s != 0" % emitter.underflow_listened(group))
    if plan.clears:
        emitter.clear_flags(own=True)


def write_group(emitter: KernelEmitter, group: List[Op]) -> None:
    """Write a whole group that makes a new array or a scalar; leaves by the first operation's exit."""
    first, last, made = group[0], group[-1], result_of(group[-1])
    arrays, scalars, shape = write_operands(emitter, group)
    if last.name == "reduce":
        sum_rows(emitter, group, shape, arrays, scalars)
        return
    if counts_true(last):
        count_true(emitter, group, shape, arrays, scalars)
        return
    plan = flags_of(emitter, group)
    if plan.watched:
        result = emitter.arrays[made] = allocate(emitter, group, shape)
        write_watched(emitter, group, lambda odd: compute(
            emitter, group, shape, arrays, scalars, NestResult(result, is_new=True), odd=odd))
        emitter.arrays[made] = result  # both paths leave it in the same variables
        return
    emitter.exponent_bounds.make(plan, group, shape, dict(zip(find_leaves(group)[1], scalars)))
    given = reused(emitter, group[-1], shape)
    result = given or emitter.blocking.prepared(made, shape) or allocate(emitter, group, shape)
    emitter.arrays[made] = result
    begin_flags(emitter, group, plan)
    compute(emitter, group, shape, arrays, scalars, NestResult(result, is_new=given is None))
    emitter.guard(first, emitter.flags_condition(plan.mask, own=True))


def require_shapes(emitter: KernelEmitter, group: List[Op]) -> None:
    """Leave where an operand does not fit the array that an operation replaces, or a mask does not have its array's
    shape."""
    if not any("fits" in op.attrs or op.name == "put_mask" for op in group):
        return

    def alike(own: Sequence[Operand], wanted: Sequence[Operand]) -> None:
        for size, other in zip(own, wanted):
            if size != other:
                emitter.guard_once(first, "%s != %s" % (size, other))

    first, shapes = group[0], {value: array.shape for value, array in emitter.arrays.items()}
    for op in group:
        if op.name == "pick":
            alike(shapes[op.args[0]], shapes[op.args[1]])
            shapes[result_of(op)] = shapes[op.args[1]]
        elif op.name not in COMPUTES_NO_ELEMENTS:
            own = [shapes.get(value, ()) for value in operands(op)]
            require_fit(emitter, first, op, own)
            shapes[result_of(op)] = tuple(broadcast(emitter, first, own))
        if op.name == "put_mask":
            alike(own[2], own[0])


def single(op: Op, group: List[Op]) -> Op:
    """An operation of a group that is written alone. It leaves by the group's exit, which needs no result of the
    group."""
    return Op(op.name, op.args, op.attrs, op.result, group[0].exit, op.lineno)


def write_watched(emitter: KernelEmitter, group: List[Op], write: Callable[[Name], None]) -> None:
    """Write a watched nest, and after it the single operations, which run once the nest has found a suspicious result.

    ``write`` writes the nest, with the variable for what it finds. While the variable is not 0 the nest is skipped.
    """
    last, odd, depth = group[-1], Name("odd_%d" % len(emitter.watches)), emitter.depth
    emitter.watches.append(odd)
    if any(map(may_underflow, group)) and not emitter.flavour.fast:
        listened = emitter.underflow_listened(group)
        emitter.indented("if %s == 0:" % odd, "%s = choose(%s == 0, 0, 1)" % (odd, listened))
    emitter.line("if %s == 0:" % odd)
    emitter.depth += 1
    write(odd)
    emitter.depth = depth
    emitter.line("if %s != 0:" % odd)
    emitter.depth += 1
    if last.result in emitter.arrays:
        emitter.release(emitter.arrays[result_of(last)])
    for op in group:
        _ONE_BY_ONE.get(op.name, write_ufunc)(emitter, single(op, group))
    for op in group[:-1]:
        emitter.release(emitter.arrays.pop(result_of(op)))
    emitter.depth = depth


def count_true(emitter: KernelEmitter, group: List[Op], shape: Sequence[Operand], arrays: List[ArrayVariable],
               scalars: Sequence[Expression]) -> None:
    """Count the true elements of what the group computes, along all axes, or test whether any or all are true."""
    first, last, dtype = group[0], group[-1], np.dtype(np.int64)
    plan = flags_of(emitter, group)
    shape, arrays = as_one_axis(emitter, group, shape, arrays)
    lasts, words, beside = nest_operands(emitter, shape, arrays)
    tables = _tables(emitter, group)
    at = emitter.layout.scratch(1)
    target = [emitter.let("address_of_word(frame, %d)" % at)] + [ZERO] * (len(shape) - 1)
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in arrays) + dtype.char, lasts + STRIDE_ZERO,
                "".join(code for _, code in find_leaves(group)[1]), _steps(emitter, group), True, _kinds(tables),
                emitter.flavour.least, watched=plan.watched, whole=True, beside=beside and beside + (-1,))

    def write(odd: Expression) -> None:
        run_nest(emitter, group, nest, shape, [*words, *target, *scalars], tables, odd)
        count = "ld_i8(frame, %d)" % (8 * at)
        emitter.define(result_of(last), {"sum": count, "any": "%s != 0" % count,
                                     "all": "%s == %s" % (count, _product(shape))}[COUNTS[last.attrs["function"]]])

    if plan.watched:
        write_watched(emitter, group, write)
        return
    begin_flags(emitter, group, plan)
    write("")
    emitter.guard(first, emitter.flags_condition(plan.mask, own=True))


class NestResult(NamedTuple):
    """The array that a nest writes.

    Attributes:
        array: the array.
        is_new: it is memory that no other array has.
        delays_stores: operands are nearby elements of it.
        ends: row ends that the nest writes.
    """

    array: ArrayVariable
    is_new: bool = False
    delays_stores: bool = False
    ends: Ends = NO_ENDS


def compute(emitter: KernelEmitter, group: List[Op], shape: Sequence[Operand], arrays: List[ArrayVariable],
            scalars: Sequence[Expression], written: NestResult, block: Optional[RowBlock] = None,
            odd: Expression = "") -> None:
    """Write the nest, for all rows or for a block of them.

    ``block`` are the rows; None: all. ``odd`` is the variable for what a watched nest finds.
    """
    result, new, delays_stores, ends = written
    same = next((k for k, array in enumerate(arrays) if array is result), -1)
    if block is None:
        shape, (*arrays, result) = as_one_axis(emitter, group, shape, arrays + [result])
    lasts, words, beside = nest_operands(emitter, shape, arrays + [result])
    sizes = list(shape)
    if block is not None:
        sizes[0] = block.size
        for first in [k * (1 + len(shape)) for k in range(len(arrays)) if not beside or beside[k] < 0]:
            words[first] = "iadd(%s, imul(%s, %s))" % (words[first], block.first, words[first + 1])
    tables = _tables(emitter, group)
    rolled, places = rolled_operands(arrays, len(shape))
    part = emitter.blocking.part_of(result_of(group[-1])) if new else []
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in arrays + [result]),
                UNIT * len(lasts) if delays_stores else lasts,
                "".join(code for _, code in find_leaves(group)[1]), _steps(emitter, group), False, _kinds(tables),
                0 if delays_stores else emitter.flavour.least, same,
                flags_of(emitter, group).watched if odd else (), beside=beside,
                families=families(group, emitter.facts) if new else (), delays_stores=delays_stores,
                rolled=rolled, ends=ends.kind, part=bool(part))
    run_nest(emitter, group, nest, sizes, [*words, *scalars], tables, odd or ends.written,
             [*places, *ends.words, *part])


def as_one_axis(emitter: KernelEmitter, group: List[Op], shape: Sequence[Operand],
                 arrays: List[ArrayVariable]) -> Tuple[List[Operand], List[ArrayVariable]]:
    """The shape and the arrays along one axis, if all can be gone through as vectors."""
    if tables_of(group) or not is_one_axis(shape, arrays):
        return list(shape), arrays
    size = [emitter.let(_product(shape))]
    return size, [ArrayVariable(Array(array.type.dtype, 1, "C"), array.data, array.object, size,
                                [integer(array.type.dtype.itemsize)]) for array in arrays]


def _product(shape: Sequence[Operand]) -> str:
    return "imul(" * (len(shape) - 1) + str(shape[0]) + "".join(", %s)" % size for size in shape[1:])


def _kinds(tables: List[ArrayVariable]) -> Tuple[Tuple[str, int], ...]:
    return tuple((table.type.dtype.char, len(table.shape)) for table in tables)


def run_nest(emitter: KernelEmitter, group: List[Op], nest: Nest, shape: Sequence[Operand],
             words: Sequence[Expression], tables: List[ArrayVariable], odd: Expression = "",
             places: Sequence[Expression] = ()) -> None:
    """Write the call of the nest; leaves where an index was out of range."""
    nest, words = merge_operands(nest, words)
    given = [*shape, *words, *_require_elements(emitter, group, shape, tables), *places]
    if nest.least:
        given.insert(0, emitter.runtime_address("parallel"))
    call = "%s(%s)" % (emitter.nest_name(nest), listed(given))
    if not tables:
        emitter.line("%s = %s" % (odd, call) if odd else call)
        return
    emitter.guard(group[0], "%s != 0" % emitter.let(call))


def nest_operands(emitter: KernelEmitter, shape: Sequence[Operand],
              arrays: Sequence[ArrayVariable]) -> Tuple[str, List[Expression], Tuple[int, ...]]:
    """(kinds of last strides, data and strides of each array, which array each is part of) for a nest over a shape."""
    lasts, beside = last_strides(shape, arrays)
    words: List[Expression] = []
    for number, array in enumerate(arrays):
        first = beside[number] if beside else -1
        words.append(array.data if first < 0 else integer(array.origin[1] - arrays[first].origin[1]))
        words += [ZERO] * (len(shape) - len(array.shape))
        words += [ZERO if size.value == 1 else emitter.broadcast_stride(array, axis, shape)
                  for axis, size in enumerate(array.shape)]
    return lasts, words, beside


def sum_rows(emitter: KernelEmitter, group: List[Op], shape: Sequence[Operand], arrays: List[ArrayVariable],
             scalars: Sequence[Expression]) -> None:
    """Write the sums, along the last axis, of what the group computes: a new array or a scalar."""
    first, last, made = group[0], group[-1], result_of(group[-1])
    dtype = dtype_of(last.args[0])
    is_scalar = isinstance(made.type, Scalar)
    if is_scalar:
        at = emitter.layout.scratch(1)
        target = [emitter.let("address_of_word(frame, %d)" % at)]
    else:
        emitter.arrays[made], sums = new_result(emitter, last, first, shape)
        target = [sums.data] + list(sums.strides)
    lasts, words, beside = nest_operands(emitter, shape, arrays)
    tables = _tables(emitter, group)
    pairwise: List[str] = []
    plan = flags_of(emitter, group)
    if plan.clears:
        pairwise = numpys_sum(emitter, first, dtype)
        emitter.clear_flags()
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in arrays) + dtype.char, lasts + STRIDE_ZERO,
                "".join(code for _, code in find_leaves(group)[1]), _steps(emitter, group), True, _kinds(tables),
                emitter.flavour.least, halves=bool(pairwise) and _launcher.sums_known(),
                beside=beside and beside + (-1,))
    run_nest(emitter, group, nest, shape, [*words, *target, *scalars, *pairwise], tables)
    emitter.guard(first, emitter.flags_condition(plan.mask, own=False))
    if is_scalar:
        emitter.define(result_of(last), emitter.element(dtype, ("frame", str(8 * at))))


def numpys_sum(emitter: KernelEmitter, first: Op, dtype: np.dtype[Any]) -> List[str]:
    """The arguments of a nest for NumPy's sums of floats: function and data of its inner loop, and a buffer."""
    table = emitter.let("%s()" % emitter.loop_table(np.add, np.add.types.index("{0}{0}->{0}".format(dtype.char))))
    buffered = not _launcher.sums_known() and runs_are_cut()
    if buffered:
        size = dtype.itemsize * PAIRWISE_RUN
        emitter.need_buffer(first, Literal(size, str(size)))
    return ["ld_i8(%s, 0)" % table, "ld_i8(%s, 8)" % table, "buffer_d" if buffered else "(0)"]


_ONE_BY_ONE: Dict[str, Callable[[KernelEmitter, Op], None]] = {"where": lambda emitter, op: write_group(emitter, [op]),
                                                     "invoke": LIBRARY_OPERATIONS["invoke"]}


# ---- the result's layout ----


class _Described(NamedTuple):
    """A descriptor's address, and the shape in it."""

    address: Operand
    shape: Sequence[Operand]


def allocate(emitter: KernelEmitter, group: List[Op], shape: List[Operand]) -> ArrayVariable:
    """The result array, with the strides that NumPy would compute for it step by step."""
    last, known = group[-1], {}  # type: Op, Dict[Value, _Described]
    result, kind = result_of(last), array_type(result_of(last))
    if len(shape) == 1 or converts(last):
        return made_array(emitter, group[0], result, shape, Array(kind.dtype, len(shape), "C"))
    if all(array_type(value).layout == "C" and emitter.arrays[value].shape == tuple(shape)
           for value in find_leaves(group)[0]) and not asks_for_temporaries(group, emitter.facts):
        return made_array(emitter, group[0], result, shape)
    for op in group:
        if op.name in PLACES_ELEMENTS:
            continue
        if op.name == "gather":
            known[result_of(op)] = _described(emitter, op.args[1], known)
            continue
        words, sizes = [], []  # type: List[Expression], List[Sequence[Operand]]
        for number, (value, dtype) in enumerate(zip(op.args, loop_dtypes(op.attrs["types"])[0])):
            described = _described(emitter, value, known)
            size = dtype.itemsize if dtype_of(value) == dtype else 0
            words += [str(len(described.shape)), described.address,
                      str(like_size(emitter, op, number, described.address, size))]
            if isinstance(value.type, Array):
                sizes.append(described.shape)
        own = broadcast(emitter, group[0], sizes)
        address = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(2 + 2 * len(own)),
                                                            listed([NULL, NULL, *own])))
        likes = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(len(words)),
                                                          listed(words)))
        if op is not last:
            emitter.guard(group[0], "%s != 0" % emitter.runtime(
                "layout_like", address, len(own), dtype_of(result_of(op)).itemsize, len(op.args), likes))
            known[result_of(op)] = _Described(address, own)
            continue
        number = type_number(kind.dtype, result in emitter.plan.memory.pooled)
        emitter.checked("alloc_like", "frame", address, number, len(own), len(op.args), likes, op=group[0])
        return emitter.describe_at(kind, "v%d" % result.id, address, own)
    raise AssertionError("an empty group")


def _described(emitter: KernelEmitter, value: Value, known: Dict[Value, _Described]) -> _Described:
    """The descriptor of an operand."""
    if isinstance(value.type, Scalar):
        return _Described(emitter.let("set_words(frame, %d, 0, 0)" % emitter.layout.scratch(2)), ())
    if value not in known:
        array = emitter.arrays[value]
        address = emitter.descriptor(array, emitter.layout.scratch(2 + 2 * len(array.shape)))
        known[value] = _Described(address, array.shape)
    return known[value]
