"""Pairwise summation of rows of computed elements, with the bits of NumPy's ``add.reduce``.

Several rows of one size may be summed at once: each function here takes and returns lists with an item per sum. Also
the loop builders of nests. NumPy halves a run until at most 128 elements are left, a leaf. A leaf has eight sums,
each of every eighth element. A leaf is computed and added up by vectors. If it cannot be, its elements are first stored
in a few cache lines. Machine code decides which of several NaNs a sum is. So a run whose sum is NaN is recomputed for
NumPy's own loop.
"""

from __future__ import annotations

import itertools
from typing import Any, Callable, List, Optional, Sequence, cast

from llvmlite import ir

from pijit.core import _launcher
from pijit.core.kernel.llvm.builder import local, loop
from pijit.core.kernel.llvm.intrinsics import I8, I64
from pijit.core.named_tuples import NamedTuple

PAIRWISE_RUN = 8192
"""Elements that NumPy's iterator passes to the loop at once, up to NumPy 2.2; from 2.3 on it passes whole rows."""

PAIRWISE_LEAST = 8
"""NumPy's loop adds up fewer elements one after the other. This is also the number of sums of a leaf."""

_LEAF = 128
_LINE = 64
_DEPTH = 56
"""Stack entries; a run can be halved fewer times than this."""

_AHEAD = 2048
"""Prefetch distance in bytes: out-of-order execution of a chain of sums does not hide the latency of a shared cache."""


def runs_are_cut() -> bool:
    """Whether NumPy adds up rows in runs of PAIRWISE_RUN elements."""
    return _launcher.reduce_run() == PAIRWISE_RUN


def write_sum(builder: Any, size: Any, start: Any, pairwise: Sequence[Any], halves: bool, target: Any,
              value: Callable[[Any], Any], lanes: Optional[Callable[[Any], Any]] = None) -> None:
    """Store the sum of ``value(index)`` over ``range(size)`` at ``target``, added to ``start``, which is 0 for floats.

    ``pairwise`` are function, data and buffer for floats: NumPy adds 8 or more of them pairwise, in its own loop.
    ``halves``: its order of additions is known. ``lanes(index)`` is a vector of PAIRWISE_LEAST values from an index on.
    """
    target = builder.bitcast(target, start.type.as_pointer())
    if not pairwise:
        _add_up(builder, size, start, [target], lambda index: [value(index)])
        return
    summed = Summands(start.type, 1, lambda index: [value(index)], [value],
                      None if lanes is None else lambda index: [cast(Any, lanes)(index)])
    write_sums(builder, size, pairwise, halves, [target], summed)


class Summands(NamedTuple):
    """The elements of rows that are summed together.

    Attributes:
        kind: the type of an element.
        number: the number of rows.
        values: writes the elements of all rows at an index. It is called once for each index.
        alone: for each row, a function that writes the element at an index. It may be called more than once.
        lanes: writes PAIRWISE_LEAST elements of all rows from an index on, as vectors, instead of ``values``; or None.
    """

    kind: Any
    number: int
    values: Callable[[Any], List[Any]]
    alone: Sequence[Callable[[Any], Any]]
    lanes: Optional[Callable[[Any], List[Any]]]


def write_sums(builder: Any, size: Any, pairwise: Sequence[Any], halves: bool, targets: Sequence[Any],
               summed: Summands) -> None:
    """Store the sums of rows of floats at typed targets; see `write_sum`."""
    short = builder.icmp_signed("<", size, ir.Constant(I64, PAIRWISE_LEAST))
    with builder.if_else(short) as (then, other):
        with then:
            _add_up(builder, size, ir.Constant(summed.kind, 0), targets, summed.values)
        with other:
            known = _Halves(builder, summed) if halves else None
            _add_pairwise(builder, size, pairwise, known, targets, summed)


def _add_up(builder: Any, size: Any, start: Any, targets: Sequence[Any], values: Callable[[Any], List[Any]]) -> None:
    totals = [local(builder, start.type, 1) for _ in targets]
    add = builder.add if isinstance(start.type, ir.IntType) else builder.fadd

    def body(index: Any) -> None:
        for total, value in zip(totals, values(index)):
            builder.store(add(builder.load(total), value), total)

    for total in totals:
        builder.store(start, total)
    loop(builder, size, body)
    for total, target in zip(totals, targets):
        builder.store(builder.load(total), target, align=1)


def fetch_ahead(builder: Any, place: Any, ahead: int = _AHEAD) -> None:
    """Prefetch data ``ahead`` bytes after an address, for reading more than once; that address need not be mapped."""
    word, place = ir.IntType(32), builder.gep(place, [_number(ahead)])
    signature = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
    fetch = builder.module.declare_intrinsic("llvm.prefetch", (place.type,), signature)
    builder.call(fetch, [place, ir.Constant(word, 0), ir.Constant(word, 3), ir.Constant(word, 1)])


def _number(value: int) -> Any:
    return ir.Constant(I64, value)


def _add_pairwise(builder: Any, size: Any, pairwise: Sequence[Any], known: Optional[_Halves],
                  targets: Sequence[Any], summed: Summands) -> None:
    """Add up in the runs that NumPy makes."""
    run = _number(PAIRWISE_RUN) if runs_are_cut() else size
    again = [_NumPysLoop(builder, summed.kind, pairwise, target) for target in targets]
    for target in targets:
        builder.store(ir.Constant(summed.kind, 0), target, align=1)

    def add_run(number: Any) -> None:
        first = builder.mul(number, run)
        left = builder.sub(size, first)
        here = builder.select(builder.icmp_signed("<", left, run), left, run)
        totals = known.write(first, here) if known is not None else []
        for numpys, value, target, total in itertools.zip_longest(again, summed.alone, targets, totals):
            if total is None:
                numpys.write(first, here, value)
                continue
            with builder.if_else(builder.fcmp_ordered("ord", total, total)) as (then, other):
                with then:
                    builder.store(builder.fadd(builder.load(target, align=1), total), target, align=1)
                with other:
                    numpys.write(first, here, value)

    loop(builder, builder.sdiv(builder.add(size, builder.sub(run, _number(1))), run), add_run)


class _NumPysLoop:
    """Adds runs to the target by NumPy's loop, from the buffer; without a buffer, each run allocates one."""

    def __init__(self, builder: Any, kind: Any, pairwise: Sequence[Any], target: Any) -> None:
        pointer = I8.as_pointer()
        signature = ir.FunctionType(ir.VoidType(), [pointer.as_pointer(), I64.as_pointer(), I64.as_pointer(), pointer])
        self.builder = builder
        self.function = builder.inttoptr(pairwise[0], signature.as_pointer())
        self.data = builder.inttoptr(pairwise[1], pointer)
        self.kind = kind
        self.target = builder.bitcast(target, kind.as_pointer())
        has_buffer = not (isinstance(pairwise[2], ir.Constant) and pairwise[2].constant == 0)
        self.buffer = builder.inttoptr(pairwise[2], kind.as_pointer()) if has_buffer else None
        self.places, self.strides, self.count = local(builder, pointer, 3), local(builder, I64, 3), local(
            builder, I64, 1)
        step = 4 if isinstance(kind, ir.FloatType) else 8
        for number, stride in enumerate((0, step, 0)):
            builder.store(_number(stride), builder.gep(self.strides, [_number(number)]))

    def write(self, first: Any, count: Any, value: Callable[[Any], Any]) -> None:
        builder = self.builder
        if self.buffer is not None:
            self._run(self.buffer, first, count, value)
            return
        room = _number(PAIRWISE_RUN) if runs_are_cut() else count
        buffer = builder.call(_of_library(builder, "malloc", I8.as_pointer(), I64), [
            builder.mul(room, _number(4 if isinstance(self.kind, ir.FloatType) else 8))])
        with builder.if_else(builder.icmp_unsigned("!=", buffer, ir.Constant(buffer.type, None))) as (then, other):
            with then:
                self._run(builder.bitcast(buffer, self.kind.as_pointer()), first, count, value)
                builder.call(_of_library(builder, "free", ir.VoidType(), I8.as_pointer()), [buffer])
            with other:  # no memory: any NaN
                builder.store(ir.Constant(self.kind, float("nan")), self.target, align=1)

    def _run(self, buffer: Any, first: Any, count: Any, value: Callable[[Any], Any]) -> None:
        builder = self.builder
        loop(builder, count, lambda index: builder.store(
            value(builder.add(first, index)), builder.gep(buffer, [index])))
        for number, place in enumerate((self.target, buffer, self.target)):
            builder.store(builder.bitcast(place, I8.as_pointer()), builder.gep(self.places, [_number(number)]))
        builder.store(count, self.count)
        builder.call(self.function, [self.places, self.count, self.strides, self.data])


def _of_library(builder: Any, name: str, result: Any, argument: Any) -> Any:
    """A function of the C library."""
    function = builder.module.globals.get(name)
    return function or ir.Function(builder.module, ir.FunctionType(result, [argument]), name)


class _Halves:
    """Writes the pairwise sums of a run, without recursion.

    For each depth, stack arrays hold the number of elements that still have to be added, and the finished sums.
    """

    def __init__(self, builder: Any, summed: Summands) -> None:
        self.builder = builder
        self.summed = summed
        self.kind = summed.kind
        self.leaves: List[Any] = []
        if summed.lanes is None:
            self.leaves = self._locals(_LEAF)
            for leaf in self.leaves:
                leaf.align = _LINE
        self.done, self.open = self._locals(_DEPTH), local(builder, I64, _DEPTH)
        self.depth, self.at, self.count = (local(builder, I64, 1) for _ in range(3))
        self.totals = self._locals(1)

    def _locals(self, count: int) -> List[Any]:
        return [local(self.builder, self.kind, count) for _ in range(self.summed.number)]

    def write(self, first: Any, count: Any) -> List[Any]:
        """The sums of the elements from ``first`` on."""
        if self.summed.lanes is None:
            return self._write_halves(first, count)
        builder, totals = self.builder, self._locals(1)
        whole = builder.icmp_signed("==", count, _number(PAIRWISE_RUN))
        with builder.if_else(whole) as (then, other):
            with then:
                self._store(self._add_leaves(first), totals)
            with other:
                self._store(self._write_halves(first, count), totals)
        return self._load(totals)

    def _store(self, values: List[Any], places: List[Any]) -> None:
        for value, place in zip(values, places):
            self.builder.store(value, place)

    def _load(self, places: List[Any]) -> List[Any]:
        return [self.builder.load(place) for place in places]

    def _items(self, arrays: List[Any], index: Any) -> List[Any]:
        return [self.builder.gep(array, [index]) for array in arrays]

    def _add(self, some: List[Any], others: List[Any]) -> List[Any]:
        return [self.builder.fadd(one, other) for one, other in zip(some, others)]

    def _add_leaves(self, first: Any) -> List[Any]:
        """The sums of a whole run: its leaves in sequence, so that the processor can overlap them."""
        builder, leaves = self.builder, PAIRWISE_RUN // _LEAF
        totals = self._locals(2 * leaves - 1)  # the sums of leaves, then the sums of pairs

        def leaf(number: Any) -> None:
            start = builder.add(first, builder.mul(number, _number(_LEAF)))
            self._store(self._add_lanes(start, _number(_LEAF), cast(Any, self.summed.lanes)),
                        self._items(totals, number))

        def fold(number: Any) -> None:
            even = builder.shl(number, _number(1))
            odd = builder.or_(even, _number(1))
            pairs = self._add(self._load(self._items(totals, even)), self._load(self._items(totals, odd)))
            self._store(pairs, self._items(totals, builder.add(number, _number(leaves))))

        loop(builder, _number(leaves), leaf)
        loop(builder, _number(leaves - 1), fold)
        return self._load(self._items(totals, _number(2 * leaves - 2)))

    def _write_halves(self, first: Any, count: Any) -> List[Any]:
        builder = self.builder
        halve, half, leaf, rise, fold, close, end = (builder.append_basic_block("sum." + name) for name in (
            "halve", "half", "leaf", "rise", "fold", "close", "end"))
        for place, start in ((self.depth, _number(0)), (self.at, first), (self.count, count)):
            builder.store(start, place)
        builder.branch(halve)
        builder.position_at_end(halve)
        builder.cbranch(builder.icmp_signed("<", _number(_LEAF), builder.load(self.count)), half, leaf)
        builder.position_at_end(half)
        self._halve()
        builder.branch(halve)
        builder.position_at_end(leaf)
        self._add_leaf()
        builder.branch(rise)
        builder.position_at_end(rise)
        depth = builder.sub(builder.load(self.depth), _number(1))
        above = builder.append_basic_block("sum.above")
        builder.cbranch(builder.icmp_signed("<", depth, _number(0)), end, above)
        builder.position_at_end(above)
        rest = builder.load(builder.gep(self.open, [depth]))
        builder.cbranch(builder.icmp_signed("==", rest, _number(0)), fold, close)
        builder.position_at_end(fold)
        self._store(self._add(self._load(self._items(self.done, depth)), self._load(self.totals)), self.totals)
        builder.store(depth, self.depth)
        builder.branch(rise)
        builder.position_at_end(close)
        self._store(self._load(self.totals), self._items(self.done, depth))
        builder.store(rest, self.count)
        builder.store(_number(0), builder.gep(self.open, [depth]))
        builder.branch(halve)
        builder.position_at_end(end)
        return self._load(self.totals)

    def _halve(self) -> None:
        """Continue with the first half, whose size is a multiple of eight."""
        builder, depth, count = self.builder, self.builder.load(self.depth), self.builder.load(self.count)
        first = builder.and_(builder.lshr(count, _number(1)), _number(-PAIRWISE_LEAST))
        builder.store(builder.sub(count, first), builder.gep(self.open, [depth]))
        builder.store(first, self.count)
        builder.store(builder.add(depth, _number(1)), self.depth)

    def _add_leaf(self) -> None:
        """Set the totals to the sums of the next ``count`` elements."""
        builder, lanes, values = self.builder, self.summed.lanes, self.summed.values
        at, count = builder.load(self.at), builder.load(self.count)
        start = at
        if lanes is None:
            loop(builder, count, lambda index: self._store(
                self.summed.values(builder.add(at, index)), self._items(self.leaves, index)))
            lanes, start = self._lanes_of_leaves, _number(0)

            def values(index: Any) -> List[Any]:
                return self._load(self._items(self.leaves, index))

        builder.store(builder.add(at, count), self.at)
        self._store([ir.Constant(self.kind, 0)] * self.summed.number, self.totals)
        whole = builder.and_(count, _number(-PAIRWISE_LEAST))
        with builder.if_then(builder.icmp_signed("<", _number(0), whole)):
            self._store(self._add_lanes(start, whole, lanes), self.totals)
        tail = builder.add(start, whole)
        loop(builder, builder.sub(count, whole), lambda index: self._store(
            self._add(self._load(self.totals), values(builder.add(tail, index))), self.totals))

    def _lanes_of_leaves(self, index: Any) -> List[Any]:
        builder, eight = self.builder, ir.VectorType(self.kind, PAIRWISE_LEAST).as_pointer()
        align = 4 if isinstance(self.kind, ir.FloatType) else 8
        return [builder.load(builder.bitcast(place, eight), align=align) for place in self._items(self.leaves, index)]

    def _add_lanes(self, start: Any, whole: Any, lanes: Callable[[Any], List[Any]]) -> List[Any]:
        """The sums of a multiple of eight elements."""
        builder = self.builder
        sums = [local(builder, ir.VectorType(self.kind, PAIRWISE_LEAST), 1) for _ in range(self.summed.number)]
        self._store(lanes(start), sums)
        following = builder.add(start, _number(PAIRWISE_LEAST))
        loop(builder, builder.sub(builder.lshr(whole, _number(3)), _number(1)), lambda index: self._store(
            self._add(self._load(sums), lanes(builder.add(following, builder.shl(index, _number(3))))), sums))
        totals = self._load(sums)
        return self._folded(totals) if len(totals) > 1 else [self._fold(totals[0])]

    def _fold(self, total: Any) -> Any:
        """The sum of a vector's elements."""
        builder = self.builder
        parts: List[Any] = [builder.extract_element(total, _number(lane)) for lane in range(PAIRWISE_LEAST)]
        while len(parts) > 1:
            parts = [builder.fadd(parts[k], parts[k + 1]) for k in range(0, len(parts), 2)]
        return parts[0]

    def _folded(self, totals: List[Any]) -> List[Any]:
        """The same for several vectors: each addition adds neighbours of two of them."""
        builder, count, lane = self.builder, len(totals), ir.IntType(32)
        even, odd = (ir.Constant(ir.VectorType(lane, PAIRWISE_LEAST), [
            ir.Constant(lane, 2 * number + first) for number in range(PAIRWISE_LEAST)]) for first in (0, 1))
        for _ in range(PAIRWISE_LEAST.bit_length() - 1):
            pairs = [(totals[k], totals[min(k + 1, len(totals) - 1)]) for k in range(0, len(totals), 2)]
            totals = [builder.fadd(builder.shuffle_vector(*pair, even), builder.shuffle_vector(*pair, odd))
                      for pair in pairs]
        return [builder.extract_element(totals[number // PAIRWISE_LEAST], _number(number % PAIRWISE_LEAST))
                for number in range(count)]
