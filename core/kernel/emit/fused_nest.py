"""Fused loop nests: one nest computes a group of elementwise operations.

graph/passes/fusion.py says what a group is and when it may write in place. The numba emitter calls `write_group` for
groups that make a new array or a scalar; inplace_store.py writes the others.

The floating-point flags are cleared before the nest and tested after it. Each element's operations are the IEEE
operations that NumPy does, so a flag is raised whenever NumPy would raise it. The group then leaves before its results
can be seen.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core import _launcher
from pijit.core.graph.element_ops import DIVIDING, UNDERFLOWING
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import COMPUTES_NO_ELEMENTS, EFFECTS, NEVER, PLACES_ELEMENTS
from pijit.core.graph.passes.fusion import (
    COUNTS,
    converts,
    counts_true,
    may_leave,
    operands,
    picks_floats,
    raises_flags,
    scalar_operation,
    watched,
)
from pijit.core.graph.types import Array, Scalar
from pijit.core.kernel.emit.array_ops import broadcast, loop_dtypes, require_fit, write_ufunc
from pijit.core.kernel.emit.array_values import ArrayVariable, type_number
from pijit.core.kernel.emit.library_calls import LIBRARY_OPERATIONS
from pijit.core.kernel.emit.reductions import new_result
from pijit.core.kernel.emit.rolled_operands import place_rolled, rolled_operands
from pijit.core.kernel.emit.stack_arrays import made_array
from pijit.core.kernel.llvm.nest.elements import can_convert
from pijit.core.kernel.llvm.nest.nest import ANY, FAR, UNIT, ZERO, Nest, likely_kind
from pijit.core.kernel.llvm.nest.pairwise_sum import PAIRWISE_RUN, runs_are_cut
from pijit.core.kernel.llvm.nest.row_ends import NO_ENDS, Ends
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.operand_reuse import like_size
from pijit.core.kernel.plan.transposed_operands import turned_leaves


def can_fuse(emitter: Any, group: List[Op]) -> bool:
    """Whether a nest computes what NumPy computes, and faster: last strides are, or should be, the smallest ones."""
    place_rolled(emitter, group)
    arrays, scalars = find_leaves(group)
    last, turned = group[-1], turned_leaves(emitter, group, arrays)
    written = [] if last.name not in EFFECTS else [last.args[0]]
    if not arrays or any(not emitter.arrays[value].shape or not (emitter.goes_by_rows(value) or value in turned)
                         and (value.type.ndim > 1 or len(group) == 1) for value in arrays + written):
        return False
    if written and (max(value.type.ndim for value in arrays) > written[0].type.ndim or any(
            value.type.turned for value in arrays + written)):  # a buffer is in row order
        return False
    listens = not emitter.flavour.fast and any(map(raises_flags, group))
    if listens and any("f8_bits" in emitter.text[value] for value, _ in scalars):
        return False  # LLVM folds operations on a NaN constant, and would drop the others with their flags
    if any(not can_convert(array.type.dtype, array.type.dtype) for array in _tables(emitter, group)):
        return False
    return all(can_convert(source, target) for source, target in _conversions(group))


def _tables(emitter: Any, group: List[Op]) -> List[ArrayVariable]:
    """The arrays in which the group finds elements by index, one for each operation that does so."""
    return [emitter.arrays[op.args[0]] for op in group if op.name == "gather"]


def _require_elements(emitter: Any, group: List[Op], shape: Sequence[str], tables: List[ArrayVariable]) -> List[str]:
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


def _conversions(group: List[Op]) -> List[Tuple[np.dtype, np.dtype]]:
    found = []
    for op in group:
        if op.name == "assign":
            found.append((op.args[1].type.dtype, op.args[0].type.dtype))
        if op.name in COMPUTES_NO_ELEMENTS:
            continue
        dtypes, result = loop_dtypes(op.attrs["types"])
        found += [(value.type.dtype, dtype) for value, dtype in zip(operands(op), dtypes)
                  if isinstance(value.type, Array)]
        if op.name == "ufunc_into":
            found.append((result, op.args[0].type.dtype))
    return found


def write_group(emitter: Any, group: List[Op]) -> None:
    """Write a whole group that makes a new array or a scalar; leaves by the first operation's exit."""
    first, last = group[0], group[-1]
    values, wanted = find_leaves(group)
    arrays = [emitter.arrays[value] for value in values]
    scalars = [emitter.converted(emitter.text[value], value.type, np.dtype(code), first) for value, code in wanted]
    require_shapes(emitter, group)
    shape = broadcast(emitter, first, [array.shape for array in arrays])
    if last.name == "reduce":
        sum_rows(emitter, group, shape, arrays, scalars)
        return
    if counts_true(last):
        count_true(emitter, group, shape, arrays, scalars)
        return
    if _watched_steps(emitter, group):
        result = emitter.arrays[last.result] = allocate(emitter, group, shape)
        emitter.by_rows.add(last.result)
        write_watched(emitter, group, lambda odd: compute(
            emitter, group, shape, arrays, scalars, result, odd=odd, new=True))
        emitter.arrays[last.result] = result  # both paths leave it in the same variables
        return
    flags = any(map(finds if emitter.flavour.fast else may_leave, group)) and any(map(raises_flags, group))
    emitter.calm.make(group, shape, dict(zip(wanted, scalars)))
    given = _given_up(emitter, group, shape)
    ready = given or emitter.blocking.prepared(last.result, shape) or allocate(emitter, group, shape)
    result = emitter.arrays[last.result] = ready
    emitter.by_rows.add(last.result)
    if flags:
        emitter.clear_flags(own=True)
    compute(emitter, group, shape, arrays, scalars, result, new=given is None)
    if flags:
        emitter.guard(first, emitter.raised_flags(*group, own=True))


def require_shapes(emitter: Any, group: List[Op]) -> None:
    """Leave where an operand does not fit the array that an operation replaces, or a mask does not have its array's
    shape."""
    if not any("fits" in op.attrs or op.name == "put_mask" for op in group):
        return

    def alike(own: Sequence[str], wanted: Sequence[str]) -> None:
        for size, other in zip(own, wanted):
            if size != other:
                emitter.guard_once(first, "%s != %s" % (size, other))

    first, shapes = group[0], {value: array.shape for value, array in emitter.arrays.items()}
    for op in group:
        if op.name == "pick":
            alike(shapes[op.args[0]], shapes[op.args[1]])
            shapes[op.result] = shapes[op.args[1]]
        elif op.name not in COMPUTES_NO_ELEMENTS:
            own = [shapes.get(value, ()) for value in operands(op)]
            require_fit(emitter, first, op, own)
            shapes[op.result] = tuple(broadcast(emitter, first, own))
        if op.name == "put_mask":
            alike(own[0], own[2])


def write_watched(emitter: Any, group: List[Op], write: Callable[[str], None]) -> None:
    """Write a watched nest, and after it the single operations, which run once the nest has found a suspicious result.

    ``write`` writes the nest, with the variable for what it finds. While the variable is not 0 the nest is skipped.
    """
    first, last, odd, depth = group[0], group[-1], "odd_%d" % len(emitter.watches), emitter.depth
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
        emitter.release(emitter.arrays[last.result])
    for op in group:
        single = Op(op.name, op.args, op.attrs, op.result, first.exit, op.lineno)
        _ONE_BY_ONE.get(op.name, write_ufunc)(emitter, single)
    for op in group[:-1]:
        emitter.release(emitter.arrays.pop(op.result))
    emitter.depth = depth


def count_true(emitter: Any, group: List[Op], shape: Sequence[str], arrays: List[ArrayVariable],
               scalars: List[str]) -> None:
    """Count the true elements of what the group computes, along all axes, or test whether any or all are true."""
    first, last, dtype = group[0], group[-1], np.dtype(np.int64)
    steps = _watched_steps(emitter, group)
    shape, arrays = _as_one_axis(emitter, group, shape, arrays)
    lasts, words, beside = _operands(emitter, shape, arrays)
    tables = _tables(emitter, group)
    at = emitter.layout.scratch(1)
    target = [emitter.let("address_of_word(frame, %d)" % at)] + ["(0)"] * (len(shape) - 1)
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in arrays) + dtype.char, lasts + ZERO,
                "".join(code for _, code in find_leaves(group)[1]), _steps(group), True, _kinds(tables),
                emitter.flavour.least, watched=steps, whole=True, beside=beside and beside + (-1,))

    def write(odd: str) -> None:
        _run_nest(emitter, group, nest, shape, words + target + scalars, tables, odd)
        count = "ld_i8(frame, %d)" % (8 * at)
        emitter.define(last.result, {"sum": count, "any": "%s != 0" % count,
                                     "all": "%s == %s" % (count, _product(shape))}[COUNTS[last.attrs["function"]]])

    if steps:
        write_watched(emitter, group, write)
        return
    flags = not emitter.flavour.fast and any(map(raises_flags, group))
    if flags:
        emitter.clear_flags(own=True)
    write("")
    if flags:
        emitter.guard(first, emitter.raised_flags(*group, own=True))


def may_underflow(op: Op) -> bool:
    return raises_flags(op) and scalar_operation(op) in UNDERFLOWING


def finds(op: Op) -> bool:
    return op.name == "gather"


def asked(group: List[Op]) -> List[Op]:
    """The operations whose flags must be known at the end of the nest.

    If the last one has the attribute ``reports``, another operation asks for its flags.
    """
    return group[:-1] if group[-1].attrs.get("reports") else group


def compute(emitter: Any, group: List[Op], shape: Sequence[str], arrays: List[ArrayVariable],
            scalars: List[str], result: ArrayVariable, block: Tuple[str, ...] = (), odd: str = "",
            new: bool = False, slides: bool = False, ends: Ends = NO_ENDS) -> None:
    """Write the nest, for all rows or for a block of them.

    ``block`` is (the first row, the number of rows). ``odd`` is the variable for what a watched nest finds. ``new``:
    the result is memory that no other array has. ``slides``: operands are elements of the result near by, so stores
    are delayed. ``ends`` are row ends that the nest writes.
    """
    same = next((k for k, array in enumerate(arrays) if array is result), -1)
    if not block:
        shape, (*arrays, result) = _as_one_axis(emitter, group, shape, arrays + [result])
    lasts, words, beside = _operands(emitter, shape, arrays + [result])
    sizes = list(shape)
    if block:
        sizes[0] = block[1]
        for first in [k * (1 + len(shape)) for k in range(len(arrays)) if not beside or beside[k] < 0]:
            words[first] = "iadd(%s, imul(%s, %s))" % (words[first], block[0], words[first + 1])
    tables = _tables(emitter, group)
    rolled, places = rolled_operands(arrays, len(shape))
    part = emitter.blocking.part_of(group[-1].result) if new else []
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in arrays + [result]),
                UNIT * len(lasts) if slides else lasts,
                "".join(code for _, code in find_leaves(group)[1]), _steps(group), False, _kinds(tables),
                0 if slides else emitter.flavour.least, same,
                _watched_steps(emitter, group) if odd else (), beside=beside,
                families=_families(emitter, group) if new else (), slides=slides, rolled=rolled, ends=ends.kind,
                part=bool(part))
    _run_nest(emitter, group, nest, sizes, words + scalars, tables, odd or ends.written, places + ends.words + part)


def _families(emitter: Any, group: List[Op]) -> Tuple[int, ...]:
    """For each operand, the number of the first operand that is part of the same array."""
    found = [emitter.facts.root_of(value) for value in find_leaves(group)[0]]
    return tuple(map(found.index, found))


def _as_one_axis(emitter: Any, group: List[Op], shape: Sequence[str],
                 arrays: List[ArrayVariable]) -> Tuple[List[str], List[ArrayVariable]]:
    """The shape and the arrays along one axis, if all are certain to be in C order and have that shape.

    With short rows, too many elements would be left after the last whole vector of each row.
    """
    if len(shape) < 2 or _tables(emitter, group) or any(
            array.rolled or array.type.layout != "C" or tuple(array.shape) != tuple(shape) for array in arrays):
        return list(shape), arrays
    size = [emitter.let(_product(shape))]
    return size, [ArrayVariable(Array(array.type.dtype, 1, "C"), array.data, array.object, size,
                                ["(%d)" % array.type.dtype.itemsize]) for array in arrays]


def _product(shape: Sequence[str]) -> str:
    return "imul(" * (len(shape) - 1) + shape[0] + "".join(", %s)" % size for size in shape[1:])


def _kinds(tables: List[ArrayVariable]) -> Tuple[Tuple[str, int], ...]:
    return tuple((table.type.dtype.char, len(table.shape)) for table in tables)


def _run_nest(emitter: Any, group: List[Op], nest: Nest, shape: Sequence[str], words: List[str],
              tables: List[ArrayVariable], odd: str = "", places: Sequence[str] = ()) -> None:
    """Write the call of the nest; leaves where an index was out of range."""
    words = list(shape) + words + _require_elements(emitter, group, shape, tables) + list(places)
    if nest.least:
        words.insert(0, emitter.runtime_address("parallel"))
    call = "%s(%s)" % (emitter.nest_name(nest), ", ".join(words))
    if not tables:
        emitter.line("%s = %s" % (odd, call) if odd else call)
        return
    emitter.guard(group[0], "%s != 0" % emitter.let(call))


def _operands(emitter: Any, shape: Sequence[str],
              arrays: Sequence[ArrayVariable]) -> Tuple[str, List[str], Tuple[int, ...]]:
    """(kinds of last strides, data and strides of each array, which array each is part of) for a nest over a shape."""
    lasts, words, beside = "", [], []  # type: str, List[str], List[int]
    alike = [array.strides[-1] for array in arrays if array.last_stride == ANY]  # parts of one array have equal ones
    for array in arrays:
        strides = ["(0)"] * (len(shape) - len(array.shape))
        strides += ["(0)" if size == "(1)" else emitter.broadcast_stride(array, axis, shape)
                    for axis, size in enumerate(array.shape)]
        kind = FAR if array.goes_by_columns else array.last_stride
        if kind not in (ZERO, FAR) and array.shape[-1] != shape[-1]:
            kind = ANY
        elif kind == ANY:
            kind = likely_kind(alike.count(array.strides[-1]))
        first = -1 if kind in (ZERO, UNIT) else _part_of(array, arrays[:len(lasts)])
        data = array.data if first < 0 else "(%d)" % (array.origin[1] - arrays[first].origin[1])
        lasts += kind
        words += [data] + strides
        beside.append(first)
    return lasts, words, tuple(beside) if max(beside) >= 0 else ()


def _part_of(array: ArrayVariable, others: Sequence[ArrayVariable]) -> int:
    """The number of the first array with equal strides at a known distance from this one, or -1."""
    def facts(one: ArrayVariable) -> Tuple[Any, ...]:
        return one.origin[0], one.strides, one.shape, one.type.dtype, one.rolled

    return next((k for k, other in enumerate(others) if facts(other) == facts(array) and array.rolled is None), -1)


def sum_rows(emitter: Any, group: List[Op], shape: Sequence[str], arrays: List[ArrayVariable],
             scalars: List[str]) -> None:
    """Write the sums, along the last axis, of what the group computes: a new array or a scalar."""
    first, last = group[0], group[-1]
    dtype = last.args[0].type.dtype
    is_scalar = isinstance(last.result.type, Scalar)
    if is_scalar:
        at = emitter.layout.scratch(1)
        target = [emitter.let("address_of_word(frame, %d)" % at)]
    else:
        emitter.arrays[last.result], sums = new_result(emitter, last, first, shape)
        target = [sums.data] + list(sums.strides)
    lasts, words, beside = _operands(emitter, shape, arrays)
    tables = _tables(emitter, group)
    pairwise: List[str] = []
    if dtype.kind == "f" and not emitter.flavour.fast:
        table = emitter.let("%s()" % emitter.loop_table(np.add, np.add.types.index("{0}{0}->{0}".format(dtype.char))))
        buffered = not _launcher.sums_known() and runs_are_cut()
        if buffered:
            emitter.need_buffer(first, str(dtype.itemsize * PAIRWISE_RUN))
        pairwise = ["ld_i8(%s, 0)" % table, "ld_i8(%s, 8)" % table, "buffer_d" if buffered else "(0)"]
        emitter.clear_flags()
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in arrays) + dtype.char, lasts + ZERO,
                "".join(code for _, code in find_leaves(group)[1]), _steps(group), True, _kinds(tables),
                emitter.flavour.least, halves=bool(pairwise) and _launcher.sums_known(),
                beside=beside and beside + (-1,))
    _run_nest(emitter, group, nest, shape, words + target + scalars + pairwise, tables)
    if pairwise:
        emitter.guard(first, emitter.raised_flags(*group))
    if is_scalar:
        emitter.define(last.result, emitter.element(dtype, ("frame", str(8 * at))))


def _watched_steps(emitter: Any, group: List[Op]) -> Tuple[int, ...]:
    """The numbers of the watched steps. If flags are not checked, these are only extremes and conversions."""
    wanted = watched(group)
    return tuple(number for number, op in enumerate(group)
                 if op in wanted and (picks_floats(op) or converts(op) or not emitter.flavour.fast))


def _steps(group: List[Op]) -> Tuple[Tuple[str, str, Tuple[int, ...]], ...]:
    arrays, scalars = find_leaves(group)
    number: Dict[Any, int] = {item: k for k, item in enumerate(list(arrays) + list(scalars))}
    steps: List[Tuple[str, str, Tuple[int, ...]]] = []
    tables = 0
    picked = {op.result for op in group if op.name == "pick"}
    for op in group:
        if converts(op):
            steps.append(("to_" + op.result.type.dtype.char, op.args[0].type.dtype.char, (number[op.args[0]],)))
        if op.name in COMPUTES_NO_ELEMENTS:
            continue
        codes = op.attrs["types"].partition("->")[0]
        numbers = tuple(number[(value, code) if isinstance(value.type, Scalar) else value]
                        for value, code in zip(operands(op), codes))
        name = scalar_operation(op)
        if picked and name in DIVIDING and op.args[-1] not in picked and isinstance(op.args[-1].type, Array):
            # operands that are not picked could raise a flag, so 1 takes their place
            steps.append(("picked", "?" + codes[-1], (number[group[-1].args[1]], numbers[-1])))
            numbers = numbers[:-1] + (len(arrays) + len(scalars) + len(steps) - 1,)
        number[op.result] = len(arrays) + len(scalars) + len(steps)
        if name == "gather":
            name, tables = "gather%d" % tables, tables + 1
        steps.append((name, codes, numbers))
    return tuple(steps)


_ONE_BY_ONE: Dict[str, Callable[[Any, Op], None]] = {"where": lambda emitter, op: write_group(emitter, [op]),
                                                     "invoke": LIBRARY_OPERATIONS["invoke"]}


# ---- the result's layout ----


def _given_up(emitter: Any, group: List[Op], shape: List[str]) -> Optional[ArrayVariable]:
    """A dead operand whose memory the result may take, if one has the result's type and shape; else None.

    Each element is read before it is written.
    """
    last = group[-1]
    kind = last.result.type
    if any(finds(op) or op.name in PLACES_ELEMENTS for op in group) or kind.layout != "C" or turned_leaves(
            emitter, group, find_leaves(group)[0]) or _asks_for_temporaries(emitter, group):
        return None
    for value in [value for op in group for value in emitter.given_up(op)]:
        array = emitter.arrays.get(value)
        if array is not None and value.type == kind and array.shape == tuple(shape) \
                and emitter.buffers.hands_on(value, last.result):
            emitter.inherited.add(value)
            return array
    return None


def allocate(emitter: Any, group: List[Op], shape: List[str]) -> ArrayVariable:
    """The result array, with the strides that NumPy would compute for it step by step."""
    last, known = group[-1], {}  # type: Op, Dict[Value, Tuple[str, int]]
    if len(shape) == 1 or converts(last):
        return made_array(emitter, group[0], last.result, shape, Array(last.result.type.dtype, len(shape), "C"))
    if all(value.type.layout == "C" and emitter.arrays[value].shape == tuple(shape)
           for value in find_leaves(group)[0]) and not _asks_for_temporaries(emitter, group):
        return made_array(emitter, group[0], last.result, shape)
    for op in group:
        if op.name in PLACES_ELEMENTS:
            continue
        if op.name == "gather":
            _described(emitter, op.args[1], known)
            known[op.result] = known[op.args[1]]
            continue
        words, sizes = [], []
        for number, (value, dtype) in enumerate(zip(op.args, loop_dtypes(op.attrs["types"])[0])):
            address, ndim = _described(emitter, value, known)
            size = dtype.itemsize if value.type.dtype == dtype else 0
            words += [str(ndim), address, str(like_size(emitter, op, number, address, size))]
            if isinstance(value.type, Array):
                sizes.append(known[value][2])
        own = broadcast(emitter, group[0], sizes)
        address = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(2 + 2 * len(own)),
                                                            ", ".join(["0", "0"] + own)))
        likes = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(len(words)),
                                                          ", ".join(words)))
        if op is not last:
            emitter.guard(group[0], "%s != 0" % emitter.runtime(
                "layout_like", address, len(own), op.result.type.dtype.itemsize, len(op.args), likes))
            known[op.result] = (address, len(own), own)
            continue
        number = type_number(last.result.type.dtype, emitter.buffers.borrows(last.result))
        emitter.checked("alloc_like", "frame", address, number, len(own), len(op.args), likes, op=group[0])
        return emitter.describe_at(last.result.type, "v%d" % last.result.id, address, own)
    raise AssertionError("an empty group")


def _asks_for_temporaries(emitter: Any, group: List[Op]) -> bool:
    """Whether an operator of the group may compute into an array that the kernel has not made, of any strides."""
    return any(into != NEVER and value in emitter.arrays and value not in emitter.facts.made
               for op in group for value, into in zip(op.args, op.attrs.get("into", ())))


def _described(emitter: Any, value: Value, known: Dict[Value, Any]) -> Tuple[str, int]:
    """The descriptor address and the number of axes of an operand."""
    if isinstance(value.type, Scalar):
        at = emitter.layout.scratch(2)
        return emitter.let("set_words(frame, %d, 0, 0)" % at), 0
    if value not in known:
        array = emitter.arrays[value]
        at = emitter.layout.scratch(2 + 2 * len(array.shape))
        known[value] = (emitter.descriptor(array, at), len(array.shape), array.shape)
    return known[value][0], known[value][1]
