"""In-place stores: groups that compute into an existing array, directly, through a buffer, or by blocks.

A nest writes in place if its operands share no memory with the target or are the same elements. In addition, it must
raise no flag, because NumPy reports flags before it writes. exponent_bounds.py finds out whether operands can raise
one.

Operands may be views of the target with its strides (``u[1:-1] = u[:-2] + u[2:]``). An element may then be written
once the later elements that need its old value are computed. So blocks of the first axis are computed into two halves
of a small buffer, in turn. A block is copied when the next one is computed. There is only one block if the views are
too far apart, if flags may be raised, or if many threads share the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, Sequence

import numpy as np

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.passes.fusion import scalar_operation
from pijit.core.kernel.emit.array_ops import fits_into
from pijit.core.kernel.emit.array_values import BUFFER
from pijit.core.kernel.emit.exponent_bounds import Proof, count_elements
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.emit.fused_nest import NestResult, RowBlock, begin_flags, compute, require_shapes
from pijit.core.kernel.llvm.nest import delayed_store
from pijit.core.kernel.llvm.nest.row_ends import NO_ENDS, Ends
from pijit.core.kernel.llvm.threads import units_of
from pijit.core.kernel.options import gains_little
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.nests import finds
from pijit.core.kernel.plan.operands import NULL, ArrayVariable, Condition, Name, Operand, integer, scalar_type
from pijit.core.kernel.plan.store_plan import NEW, StorePlan, Strategy, find_shared

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

BLOCK = 1 << 13
"""Bytes of a block: two blocks fit into the first-level cache."""

MOST = 1 << 16
"""Bytes of the largest block, for operands far from the target: two blocks fit into the second-level cache."""


class _Store:
    """A group that writes to ``target``, its plan, and the conditions under which it may.

    ``flags`` is the condition under which the nest leaves at its end because of a flag, or "". ``raising`` says
    whether it may leave because of a flag or an index while others may see the array. ``flag_free`` is a variable that
    is 1 if no flag can be raised, or None. ``proof`` has the bound of the results, if there is one.
    """

    def __init__(self, emitter: KernelEmitter, group: List[Op], plan: StorePlan, sparse: Optional[Sparse]) -> None:
        self.emitter = emitter
        self.group = group
        first, last = group[0], group[-1]
        self.values, wanted = find_leaves(group)
        self.scalars = [emitter.converted(emitter.text[value], scalar_type(value), np.dtype(code), first)
                        for value, code in wanted]
        self.value: Value = last.args[0]
        self.target: ArrayVariable = emitter.arrays[self.value]
        self.arrays = [self.target if value in plan.same else emitter.arrays[value] for value in self.values]
        require_shapes(emitter, group)
        for array in self.arrays:
            fits_into(emitter, first, array.shape, self.target.shape, False)
        flags = emitter.plan.groups.flags[last]
        self.flags = emitter.flags_condition(flags.mask, own=True)
        self.raising = flags.raising
        self.flag_free: Optional[Operand] = None
        self.proof: Optional[Proof] = None
        self._shared: Optional[Condition] = None
        self.plan = plan
        sources = dict(zip(wanted, self.scalars))
        if not self.raising:
            self.proof = emitter.exponent_bounds.known(group, sources)
        elif plan is not NEW and flags.has_bounds:
            self.proof = emitter.exponent_bounds.write(group, self.target.shape, sources,
                                                       sparse.ask if sparse is not None else None)
            self.flag_free = self.proof.flag_free
        begin_flags(emitter, group, flags)
        if flags.clears:
            emitter.reports_own = True

    def compute(self, result: ArrayVariable, block: Optional[RowBlock] = None, new: bool = False,
                delays_stores: bool = False, ends: Ends = NO_ENDS) -> None:
        """Write the nest, for all rows or for a block; leaves where a flag was raised."""
        emitter = self.emitter
        compute(emitter, self.group, self.target.shape, self.arrays, self.scalars,
                NestResult(result, new, delays_stores, ends), block)
        if not self.flags:
            return
        if self.flag_free:
            emitter.line("if %s == 0:" % self.flag_free)
            emitter.depth += 1
        emitter.guard(self.group[0], self.flags)
        emitter.depth -= bool(self.flag_free)

    @property
    def root(self) -> Value:
        return self.emitter.facts.root_of(self.value)

    def own(self) -> List[ArrayVariable]:
        """The operands that are other parts of the array that is written."""
        return [self.emitter.arrays[value] for value in self.plan.own]

    def shared(self) -> Condition:
        """The condition that the target shares memory with other arrays; its test is written once."""
        if self._shared is None:
            self._shared = write_shared(self.emitter, self.value, self.plan.tested)
        return self._shared


class Sparse:
    """Another way to do a group's work, which costs less where most of the nest's work would be wasted."""

    def ask(self) -> str:
        """Write the test whether to use this way; returns the condition."""
        raise NotImplementedError

    def write(self, buffered: Condition) -> None:
        """Write this way, and the head of the branch for the nest, which needs a buffer if ``buffered`` holds."""
        raise NotImplementedError


def write_store(emitter: KernelEmitter, group: List[Op], sparse: Optional[Sparse] = None) -> None:
    """Write a whole group that stores into an array; leaves by the first operation's exit."""
    last = group[-1]
    plan = emitter.plan.groups.stores[last]
    if plan is not NEW:
        emitter.fills.settle(last)
    store = _Store(emitter, group, plan, sparse)
    if plan is NEW:
        ends = emitter.fills.ends(last, store.target) if _has_rows(store) else NO_ENDS
        store.compute(store.target, new=True, ends=ends)
        emitter.fills.finish(last, store.target, ends)
        emitter.exponent_bounds.lose(store.root)
        return
    overlap, depth = _overlap(store), emitter.depth
    if sparse is not None and overlap is not False:
        sparse.write(overlap)
    if store.plan.strategy is Strategy.APART:
        _compute_apart(store, overlap)
    elif store.plan.strategy is Strategy.DELAYED:
        _compute_near(store)
    else:
        _compute_blocks(store)
    if store.proof is not None:
        emitter.exponent_bounds.note(store.root, store.proof)
        if store.flag_free is not None and sparse is None:
            emitter.exponent_bounds.store(store.root, store.target, store.proof)
    else:
        emitter.exponent_bounds.forget(store.root)
    emitter.depth = depth


def _has_rows(store: _Store) -> bool:
    """Whether the nest of a store writes row after row, possibly by vectors."""
    return store.target.type.dtype.char in "fd" and len(store.target.shape) > 1 and not any(
        map(finds, store.group)) and not any(array.rolled or array.has_transposed_order for array in store.arrays)


def _overlap(store: _Store) -> Condition:
    """The condition under which the nest must not write in place."""
    if store.plan.buffered is not None:
        return store.plan.buffered
    shared = store.shared()
    if not store.raising:
        return shared
    rough = "%s == 0" % store.flag_free
    return store.emitter.let(rough if shared is False else "either(%s, %s)" % (shared, rough))


def shares_with(emitter: KernelEmitter, target: Value, values: Sequence[Value]) -> Condition:
    """The condition that an array may share memory with others."""
    tested = find_shared(emitter.facts, target, values)
    return True if tested is None else write_shared(emitter, target, tested)


def write_shared(emitter: KernelEmitter, target: Value, tested: Sequence[Value]) -> Condition:
    """Write the test whether an array shares memory with others; returns its condition, False if there are none."""
    tests = [_shares_memory(emitter, target, other) for other in tested]
    while len(tests) > 1:
        tests[:2] = [emitter.let("either(%s, %s)" % tuple(tests[:2]))]
    return tests[0] if tests else False


def _shares_memory(emitter: KernelEmitter, target: Value, other: Value) -> Operand:
    """A variable: whether the memory extents of two arrays have a byte in common."""
    pair = emitter.arrays[target], emitter.arrays[other]
    words: List[Expression] = []
    if pair[0].is_adjacent and pair[1].is_adjacent:
        return _intervals_meet(emitter, *pair)
    for array in pair:
        address = emitter.descriptor(array, emitter.layout.scratch(2 + 2 * len(array.shape)))
        words += [address, str(len(array.shape)), str(array.type.dtype.itemsize)]
    return emitter.let("%s != 0" % emitter.runtime("overlap", *words))


def _intervals_meet(emitter: KernelEmitter, one: ArrayVariable, other: ArrayVariable) -> Operand:
    """A variable: whether two vectors of adjacent elements have a byte in common; empty ones have none."""
    ends = [emitter.let("iadd(%s, imul(%s, %d))" % (array.data, array.shape[0], array.type.dtype.itemsize))
            for array in (one, other)]
    low = emitter.let("choose(%s < %s, %s, %s)" % (one.data, other.data, other.data, one.data))
    high = emitter.let("choose(%s < %s, %s, %s)" % (ends[0], ends[1], ends[0], ends[1]))
    return emitter.let("%s < %s" % (low, high))


# ---- through a buffer ----


def _compute_apart(store: _Store, overlap: Condition) -> None:
    """Write the nest, through the kernel's buffer if the condition ``overlap`` holds.

    If that is a variable and the target is an operand, too, the operand is read from the result's memory. So one nest
    serves both cases.
    """
    result = _destination(store, overlap)
    if not isinstance(overlap, bool) and store.target in store.arrays:
        _copy_if(store, overlap, store.target, result)
        store.arrays = [result if array is store.target else array for array in store.arrays]
    store.compute(result)
    _copy_if(store, overlap, result, store.target)


def _copy_if(store: _Store, condition: Condition, source: ArrayVariable, target: ArrayVariable) -> None:
    if condition is False:
        return
    emitter, depth = store.emitter, store.emitter.depth
    if condition is not True:
        emitter.line("if %s:" % condition)
        emitter.depth += 1
    _copy(emitter, source, target)
    emitter.depth = depth


def _destination(store: _Store, overlap: Condition) -> ArrayVariable:
    """The array that the nest writes to: the target, or the kernel's buffer if the condition ``overlap`` holds."""
    emitter, target = store.emitter, store.target
    if overlap is False:
        return target
    strides = _packed(emitter, target)
    needed = emitter.let("imul(%s, %s)" % (strides[0], target.shape[0]))
    emitter.need_buffer(store.group[0], needed if overlap is True else "choose(%s, %s, 0)" % (overlap, needed))
    if overlap is True:
        return ArrayVariable(target.type, BUFFER, NULL, target.shape, strides)
    data = emitter.let("choose(%s, buffer_d, %s)" % (overlap, target.data))
    strides = [own if own == there else emitter.let("choose(%s, %s, %s)" % (overlap, own, there))
               for own, there in zip(strides, target.strides)]
    return ArrayVariable(target.type, data, NULL, target.shape, strides)


def _packed(emitter: KernelEmitter, target: ArrayVariable) -> List[Operand]:
    """The strides of a contiguous array of the target's shape."""
    strides: List[Operand] = [integer(target.type.dtype.itemsize)]
    for size in reversed(target.shape[1:]):
        strides.insert(0, emitter.pure("imul(%s, %s)" % (strides[0], size)))
    return strides


def _copy(emitter: KernelEmitter, source: ArrayVariable, target: ArrayVariable) -> None:
    """Copy all elements of an array to another one of the same dtype and shape that shares no memory with it."""
    addresses = [emitter.descriptor(array, emitter.layout.scratch(2 + 2 * len(array.shape)))
                 for array in (target, source)]
    emitter.line(emitter.runtime("copy_apart", *(addresses + [len(target.shape), target.type.dtype.itemsize,
                                                              emitter.flavour.least])))


# ---- by delayed stores ----


def _compute_near(store: _Store) -> None:
    """Write rows with delayed stores, whose results wait in registers, or blocks where operands are far away."""
    store.shared()  # both branches need the condition
    emitter, depth, near = store.emitter, store.emitter.depth, store.emitter.fresh()
    emitter.line("%s = 0" % near)
    for condition in _near_by(store):
        emitter.line("if %s:" % condition)
        emitter.depth += 1
    emitter.line("%s = 1" % near)
    emitter.depth = depth
    emitter.line("if %s == 1:" % near)
    emitter.depth += 1
    store.compute(store.target, delays_stores=True)
    emitter.depth = depth
    emitter.line("else:")
    emitter.depth += 1
    _compute_blocks(store)
    emitter.depth = depth


def _near_by(store: _Store) -> List[str]:
    """The conditions that rows are in order and apart, and that operands are near the element computed from them.

    They may be no farther from it than a vector of results reaches.
    """
    emitter, target = store.emitter, store.target
    itemsize = integer(target.type.dtype.itemsize)
    conditions = ["%s == 1" % store.flag_free] if store.raising else []
    for array in store.arrays:
        conditions += ["%s == %s" % pair for pair in zip(array.shape, target.shape) if pair[0] != pair[1]]
    lasts = dict.fromkeys(array.strides[-1] for array in [target, *store.arrays])
    conditions += ["%s == %s" % (stride, itemsize) for stride in lasts if stride != itemsize]
    conditions += _to_be_done_alone(store)
    extent = emitter.let("imul(%s, %s)" % (target.shape[-1], itemsize))
    for data in dict.fromkeys(array.data for array in store.own()):
        for sides in ((target.data, data), (data, target.data)):
            distance = emitter.let("isub(%s, %s)" % sides)
            conditions.append("%s <= %d" % (distance, delayed_store.REACH))
            conditions += ["iadd(%s, %s) <= %s" % (extent, distance, stride) for stride in target.strides[:-1]]
    return conditions


def _to_be_done_alone(store: _Store) -> List[str]:
    """The conditions that other arrays share no memory with the target, and that one thread is to do the work."""
    emitter, shared = store.emitter, store.shared()
    conditions = ["not %s" % shared] if not isinstance(shared, bool) else []
    if emitter.flavour.least and not gains_little(emitter.flavour.least):
        work = units_of(len(store.arrays) + 1, [scalar_operation(op) for op in store.group], False)
        elements = count_elements(emitter, store.target.shape)
        conditions.append("imul(%s, %d) < %d" % (elements, work, emitter.flavour.least))
    return conditions


# ---- by blocks ----


def _compute_blocks(store: _Store) -> None:
    """Write blocks of the first axis, each of which is copied when the next one is computed."""
    emitter, target = store.emitter, store.target
    strides = _packed(emitter, target)
    rows = _rows_of_block(store, strides[0])
    size, half = target.shape[0], emitter.let("imul(%s, %s)" % (rows, strides[0]))
    emitter.need_buffer(store.group[0], "choose(%s < %s, imul(2, %s), %s)" % (rows, size, half, half))
    begin, some, odd = (emitter.fresh() for _ in range(3))
    for variable in (begin, some, odd):
        emitter.line("%s = 0" % variable)
    emitter.line("while %s < %s:" % (begin, size))
    emitter.depth += 1
    left = emitter.let("isub(%s, %s)" % (size, begin))
    emitter.line("%s = choose(%s < %s, %s, %s)" % (some, left, rows, left, rows))
    result = ArrayVariable(target.type, emitter.let("iadd(buffer_d, imul(%s, %s))" % (odd, half)), NULL,
                           target.shape, strides)
    store.compute(result, RowBlock(begin, some))
    emitter.line("%s = isub(1, %s)" % (odd, odd))
    emitter.line("if 0 < %s:" % begin)
    emitter.depth += 1
    _copy_block(store, "isub(%s, %s)" % (begin, rows), rows, odd, half, strides)
    emitter.depth -= 1
    emitter.line("%s = iadd(%s, %s)" % (begin, begin, some))
    emitter.depth -= 1
    _copy_block(store, "isub(%s, %s)" % (size, some), some, "isub(1, %s)" % odd, half, strides)


def _copy_block(store: _Store, begin: Expression, rows: Operand, odd: Expression, half: Operand,
                strides: List[Operand]) -> None:
    emitter, target = store.emitter, store.target
    shape = (rows, *target.shape[1:])
    there = emitter.let("iadd(%s, imul(%s, %s))" % (target.data, begin, target.strides[0]))
    source = emitter.let("iadd(buffer_d, imul(%s, %s))" % (odd, half))
    _copy(emitter, ArrayVariable(target.type, source, NULL, shape, strides),
          ArrayVariable(target.type, there, NULL, shape, target.strides))


def _rows_of_block(store: _Store, packed: Operand) -> Name:
    """A variable: the number of rows of a block, which is all rows where blocks would read what was already written."""
    emitter, target = store.emitter, store.target
    size, depth, rows = target.shape[0], emitter.depth, emitter.fresh()
    emitter.line("%s = %s" % (rows, size))
    own = store.own()
    if store.plan.is_whole:
        return rows
    conditions = ["%s == 1" % store.flag_free] if store.raising else []
    conditions += ["0 < %s" % packed] + ["0 < %s" % stride for stride in target.strides[1:]
                                         if stride.value is None or stride.value < 0]
    conditions += ["%s == %s" % pair for array in own for pair in zip(array.shape, target.shape)
                   if pair[0] != pair[1]]
    conditions += _to_be_done_alone(store)
    for condition in conditions:
        emitter.line("if %s:" % condition)
        emitter.depth += 1
    extent: Operand = integer(target.type.dtype.itemsize)
    for count, stride in zip(target.shape[1:], target.strides[1:]):
        extent = emitter.let("iadd(%s, imul(isub(%s, 1), %s))" % (extent, count, stride))
    emitter.line("if %s <= %s:" % (extent, target.strides[0]))
    emitter.depth += 1
    block, most = (_at_least(emitter, "2", "ifloordiv(%d, %s)" % (limit, packed)) for limit in (BLOCK, MOST))
    for data in dict.fromkeys(array.data for array in own):
        needed = "ifloordiv(iadd(isub(%s, %s), isub(%s, 1)), %s)" % (target.data, data, *[target.strides[0]] * 2)
        block = _at_least(emitter, block, needed)
    for condition in ("%s <= %s" % (block, most), "%s < %s" % (block, size)):
        emitter.line("if %s:" % condition)
        emitter.depth += 1
    emitter.line("%s = %s" % (rows, block))
    emitter.depth = depth
    return rows


def _at_least(emitter: KernelEmitter, one: Expression, other: Expression) -> Operand:
    least = emitter.let(other)
    return emitter.let("choose(%s < %s, %s, %s)" % (one, least, least, one))
