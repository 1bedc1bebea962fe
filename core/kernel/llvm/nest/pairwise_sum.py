"""Pairwise summation of a row of computed elements, with the bits of NumPy's ``add.reduce``.

Also the loop builders of nests. NumPy halves a run until at most 128 elements are left, a leaf. A leaf has eight sums,
each of every eighth element. A leaf is computed and added up by vectors. If it cannot be, its elements are first stored
in a few cache lines. Machine code decides which of several NaNs a sum is. So a run whose sum is NaN is recomputed for
NumPy's own loop.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, cast

from llvmlite import ir

from pijit.core import _launcher
from pijit.core.kernel.llvm.intrinsics import I8, I64

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


def loop(builder: Any, size: Any, body: Callable[[Any], None], unrolled: bool = True) -> None:
    """``for index in range(size): body(index)``; LLVM may unroll it if ``unrolled``."""
    before, zero = builder.basic_block, ir.Constant(I64, 0)
    start, end = builder.append_basic_block("nest"), builder.append_basic_block("nest.end")
    builder.cbranch(builder.icmp_signed("<", zero, size), start, end)
    builder.position_at_end(start)
    index = builder.phi(I64)
    index.add_incoming(zero, before)
    body(index)
    following = builder.add(index, ir.Constant(I64, 1))
    index.add_incoming(following, builder.basic_block)
    again = builder.cbranch(builder.icmp_signed("<", following, size), start, end)
    if not unrolled:
        name = builder.module.add_metadata([builder.module.add_metadata(["llvm.loop.unroll.disable"])])
        name.operands = (name, name.operands[-1])  # loop metadata starts with a reference to itself
        again.set_metadata("llvm.loop", name)
    builder.position_at_end(end)


def write_sum(builder: Any, size: Any, start: Any, pairwise: Sequence[Any], halves: bool, target: Any,
              value: Callable[[Any], Any], lanes: Optional[Callable[[Any], Any]] = None) -> None:
    """Store the sum of ``value(index)`` over ``range(size)`` at ``target``, added to ``start``, which is 0 for floats.

    ``pairwise`` are function, data and buffer for floats: NumPy adds 8 or more of them pairwise, in its own loop.
    ``halves``: its order of additions is known. ``lanes(index)`` is a vector of PAIRWISE_LEAST values from an index on.
    """
    kind = start.type
    target = builder.bitcast(target, kind.as_pointer())
    if not pairwise:
        _add_up(builder, size, start, target, value)
        return
    short = builder.icmp_signed("<", size, ir.Constant(I64, PAIRWISE_LEAST))
    with builder.if_else(short) as (then, other):
        with then:
            _add_up(builder, size, start, target, value)
        with other:
            known = _Halves(builder, kind, lanes) if halves else None
            _add_pairwise(builder, size, kind, pairwise, known, target, value)


def local(builder: Any, kind: Any, count: int) -> Any:
    """Stack memory of the function, allocated in its entry block."""
    with builder.goto_entry_block():
        return builder.alloca(kind, count)


def _add_up(builder: Any, size: Any, start: Any, target: Any, value: Callable[[Any], Any]) -> None:
    total = local(builder, start.type, 1)
    add = builder.add if isinstance(start.type, ir.IntType) else builder.fadd
    builder.store(start, total)
    loop(builder, size, lambda index: builder.store(add(builder.load(total), value(index)), total))
    builder.store(builder.load(total), target, align=1)


def fetch_ahead(builder: Any, place: Any, ahead: int = _AHEAD) -> None:
    """Prefetch data ``ahead`` bytes after an address, for reading more than once; that address need not be mapped."""
    word, place = ir.IntType(32), builder.gep(place, [_number(ahead)])
    signature = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
    fetch = builder.module.declare_intrinsic("llvm.prefetch", (place.type,), signature)
    builder.call(fetch, [place, ir.Constant(word, 0), ir.Constant(word, 3), ir.Constant(word, 1)])


def _number(value: int) -> Any:
    return ir.Constant(I64, value)


def _add_pairwise(builder: Any, size: Any, kind: Any, pairwise: Sequence[Any], known: Optional[_Halves],
                  target: Any, value: Callable[[Any], Any]) -> None:
    """Add up in the runs that NumPy makes."""
    run, again = _number(PAIRWISE_RUN) if runs_are_cut() else size, _NumPysLoop(builder, kind, pairwise, target)
    builder.store(ir.Constant(kind, 0), target, align=1)

    def add_run(number: Any) -> None:
        first = builder.mul(number, run)
        left = builder.sub(size, first)
        here = builder.select(builder.icmp_signed("<", left, run), left, run)
        if known is None:
            again.write(first, here, value)
            return
        total = known.write(first, here, value)
        with builder.if_else(builder.fcmp_ordered("ord", total, total)) as (then, other):
            with then:
                builder.store(builder.fadd(builder.load(target, align=1), total), target, align=1)
            with other:
                again.write(first, here, value)

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
    """Writes the pairwise sum of a run, without recursion.

    For each depth, stack arrays hold the number of elements that still have to be added, and the finished sum.
    """

    def __init__(self, builder: Any, kind: Any, lanes: Optional[Callable[[Any], Any]]) -> None:
        self.builder = builder
        self.kind = kind
        self.lanes = lanes
        if lanes is None:
            self.leaf = local(builder, kind, _LEAF)
            self.leaf.align = _LINE
        self.done, self.open = local(builder, kind, _DEPTH), local(builder, I64, _DEPTH)
        self.depth, self.at, self.count = (local(builder, I64, 1) for _ in range(3))
        self.total = local(builder, kind, 1)

    def write(self, first: Any, count: Any, value: Callable[[Any], Any]) -> Any:
        """The sum of the values from ``first`` on."""
        if self.lanes is None:
            return self._write_halves(first, count, value)
        builder, total = self.builder, local(self.builder, self.kind, 1)
        whole = builder.icmp_signed("==", count, _number(PAIRWISE_RUN))
        with builder.if_else(whole) as (then, other):
            with then:
                builder.store(self._add_leaves(first), total)
            with other:
                builder.store(self._write_halves(first, count, value), total)
        return builder.load(total)

    def _add_leaves(self, first: Any) -> Any:
        """The sum of a whole run: its leaves in sequence, so that the processor can overlap them."""
        builder, leaves = self.builder, PAIRWISE_RUN // _LEAF
        totals = local(builder, self.kind, 2 * leaves - 1)  # the sums of leaves, then the sums of pairs

        def leaf(number: Any) -> None:
            start = builder.add(first, builder.mul(number, _number(_LEAF)))
            builder.store(self._add_lanes(start, _number(_LEAF), cast("Callable[[Any], Any]", self.lanes)),
                          builder.gep(totals, [number]))

        def fold(number: Any) -> None:
            even = builder.shl(number, _number(1))
            pair = [builder.load(builder.gep(totals, [place])) for place in (even, builder.or_(even, _number(1)))]
            builder.store(builder.fadd(*pair), builder.gep(totals, [builder.add(number, _number(leaves))]))

        loop(builder, _number(leaves), leaf)
        loop(builder, _number(leaves - 1), fold)
        return builder.load(builder.gep(totals, [_number(2 * leaves - 2)]))

    def _write_halves(self, first: Any, count: Any, value: Callable[[Any], Any]) -> Any:
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
        self._add_leaf(value)
        builder.branch(rise)
        builder.position_at_end(rise)
        depth = builder.sub(builder.load(self.depth), _number(1))
        above = builder.append_basic_block("sum.above")
        builder.cbranch(builder.icmp_signed("<", depth, _number(0)), end, above)
        builder.position_at_end(above)
        rest = builder.load(builder.gep(self.open, [depth]))
        builder.cbranch(builder.icmp_signed("==", rest, _number(0)), fold, close)
        builder.position_at_end(fold)
        done = builder.load(builder.gep(self.done, [depth]))
        builder.store(builder.fadd(done, builder.load(self.total)), self.total)
        builder.store(depth, self.depth)
        builder.branch(rise)
        builder.position_at_end(close)
        builder.store(builder.load(self.total), builder.gep(self.done, [depth]))
        builder.store(rest, self.count)
        builder.store(_number(0), builder.gep(self.open, [depth]))
        builder.branch(halve)
        builder.position_at_end(end)
        return builder.load(self.total)

    def _halve(self) -> None:
        """Continue with the first half, whose size is a multiple of eight."""
        builder, depth, count = self.builder, self.builder.load(self.depth), self.builder.load(self.count)
        first = builder.and_(builder.lshr(count, _number(1)), _number(-PAIRWISE_LEAST))
        builder.store(builder.sub(count, first), builder.gep(self.open, [depth]))
        builder.store(first, self.count)
        builder.store(builder.add(depth, _number(1)), self.depth)

    def _add_leaf(self, value: Callable[[Any], Any]) -> None:
        """Set the total to the sum of the next ``count`` values."""
        builder, lanes, one = self.builder, self.lanes, value
        at, count = builder.load(self.at), builder.load(self.count)
        if lanes is None:
            loop(builder, count, lambda index: builder.store(value(builder.add(at, index)),
                                                             builder.gep(self.leaf, [index])))
            lanes, one = self._lanes_of_leaf, self._value_of_leaf
        start = _number(0) if self.lanes is None else at
        builder.store(builder.add(at, count), self.at)
        builder.store(ir.Constant(self.kind, 0), self.total)
        whole = builder.and_(count, _number(-PAIRWISE_LEAST))
        with builder.if_then(builder.icmp_signed("<", _number(0), whole)):
            builder.store(self._add_lanes(start, whole, lanes), self.total)
        tail = builder.add(start, whole)
        loop(builder, builder.sub(count, whole), lambda index: builder.store(builder.fadd(builder.load(
            self.total), one(builder.add(tail, index))), self.total))

    def _value_of_leaf(self, index: Any) -> Any:
        return self.builder.load(self.builder.gep(self.leaf, [index]))

    def _lanes_of_leaf(self, index: Any) -> Any:
        builder, eight = self.builder, ir.VectorType(self.kind, PAIRWISE_LEAST).as_pointer()
        place = builder.bitcast(builder.gep(self.leaf, [index]), eight)
        return builder.load(place, align=4 if isinstance(self.kind, ir.FloatType) else 8)

    def _add_lanes(self, start: Any, whole: Any, lanes: Callable[[Any], Any]) -> Any:
        """The sum of a multiple of eight values."""
        builder = self.builder
        sums = local(builder, ir.VectorType(self.kind, PAIRWISE_LEAST), 1)
        builder.store(lanes(start), sums)
        following = builder.add(start, _number(PAIRWISE_LEAST))
        loop(builder, builder.sub(builder.lshr(whole, _number(3)), _number(1)), lambda index: builder.store(
            builder.fadd(builder.load(sums), lanes(builder.add(following, builder.shl(index, _number(3))))), sums))
        total = builder.load(sums)
        parts: List[Any] = [builder.extract_element(total, _number(lane)) for lane in range(PAIRWISE_LEAST)]
        while len(parts) > 1:
            parts = [builder.fadd(parts[k], parts[k + 1]) for k in range(0, len(parts), 2)]
        return parts[0]
