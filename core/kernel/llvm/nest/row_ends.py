"""Ends of rows: rows of a large new array are written together with the elements before and after them.

A store to ``new[1:-1]`` leaves these ends out; they keep the initial contents of the array
(emit/stores/deferred_fill.py). Rows are written by whole cache lines with non-temporal stores (nontemporal.py).
Neighbouring short rows share many lines. Both rows would load and store such a line, and the ends would do so again
after the nest. So a nest with ``ends`` writes the ends, and a buffer holds the elements of a shared line until the line
is complete. A line is only stored in part where rows do not follow each other in memory.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, List

from llvmlite import ir

from pijit.core.kernel.llvm.builder import local, loop
from pijit.core.kernel.llvm.intrinsics import I1, I8, I64
from pijit.core.kernel.llvm.nest.nontemporal import LINE, past
from pijit.core.named_tuples import NamedTuple

NUMBER, COPY, ANYTHING = "number", "copy", "anything"
"""Contents of the ends: one number, the elements of another array in C order, or undefined values."""

WORDS = 4
"""Arguments of a nest with ends.

They are: whether it may write them; the number of elements before, and after, each row; and the address of the number,
or the distance of the other array from the result. The nest's result is whether it has written the ends.
"""

SHORTEST = 128
"""Bytes of the shortest row with non-temporal stores: rows of 64 took longer, those of 128 half the time."""

LONGEST = 1024
"""The most bytes that both ends of a row may have."""

_LANES = ir.VectorType(I64, LINE // 8)


class Ends(NamedTuple):
    """The ends of a nest that is to be written; ``written`` is the variable that tells whether it has written them."""

    kind: str
    words: List[str]
    written: str


NO_ENDS = Ends("", [], "")


class RowEnds:
    """Writes the elements before, after and between the rows of one nest.

    The buffer has room before its first line. ``state`` has three words: the address of that line in the array; the
    number of bytes up to the end of the buffered elements; and the number of bytes at the line's beginning that are not
    to be stored.
    """

    def __init__(self, writer: Any, words: List[Any]) -> None:
        self.builder = builder = writer.builder
        self.kind, self.itemsize = writer.nest.ends, writer.dtypes[-1].itemsize
        allowed, self.left, self.right, self.source = words
        self.allowed = builder.icmp_unsigned("!=", allowed, _number(0))
        room, self.state = local(builder, I8, LONGEST + 3 * LINE), local(builder, I64, 3)
        room.align = LINE
        self.buffer = builder.gep(room, [_number(LINE)])
        self.written = local(builder, I64, 1)
        for place in (self._word(0), self._word(1), self._word(2), self.written):
            builder.store(_number(0), place)

    def before(self, row: Any) -> None:
        """Write the elements before a row."""
        self._put(row, self.builder.neg(self.left), self.left)

    def head(self, lanes: Any, count: Any) -> None:
        """Write the first elements of a row; ``count`` of them are before its first whole line."""
        builder, held = self.builder, self.builder.load(self._word(1))
        self._store(lanes, held)
        builder.store(builder.add(held, self._bytes(count)), self._word(1))
        _call(builder, "flush", _flush, self.buffer, self.state)

    def tail(self, lanes: Any, row: Any, size: Any, count: Any) -> None:
        """Write a row's last elements, ``count`` of them after its last whole line, and the elements after the row."""
        builder, held = self.builder, self._bytes(count)
        self._store(lanes, builder.sub(held, _number(LINE)))
        end = builder.add(builder.ptrtoint(row, I64), self._bytes(size))
        builder.store(builder.sub(end, held), self._word(0))
        builder.store(held, self._word(1))
        self._put(row, size, self.right)

    def finish(self) -> None:
        """Write the elements that are still buffered after the last row."""
        _call(self.builder, "seek", _seek, self.buffer, self.state, _number(0))
        self.builder.store(_number(1), self.written)

    def _put(self, row: Any, first: Any, count: Any) -> None:
        """Write ``count`` elements beside a row; ``first`` is the index of the first one, counted from the row's."""
        builder = self.builder
        place = builder.gep(row, [self._bytes(first)])
        source = builder.gep(place, [self.source]) if self.kind == COPY else builder.inttoptr(
            self.source, I8.as_pointer())
        _call(builder, "%s%d" % (self.kind, self.itemsize), functools.partial(_put, self.kind, self.itemsize),
              self.buffer, self.state, builder.ptrtoint(place, I64), source, count)

    def _store(self, lanes: Any, offset: Any) -> None:
        place = self.builder.gep(self.buffer, [offset])
        self.builder.store(lanes, self.builder.bitcast(place, lanes.type.as_pointer()), align=self.itemsize)

    def _bytes(self, count: Any) -> Any:
        return self.builder.mul(count, _number(self.itemsize))

    def _word(self, number: int) -> Any:
        return self.builder.gep(self.state, [_number(number)])


def _call(builder: Any, name: str, write: Callable[..., None], *given: Any) -> None:
    """Call a function of the module. LLVM must neither unroll it nor inline it at each call."""
    function = builder.module.globals.get("ends." + name)
    if function is None:
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in given])
        function = ir.Function(builder.module, kind, "ends." + name)
        function.linkage = "internal"
        for attribute in ("noinline", "optsize"):
            function.attributes.add(attribute)
        inner = ir.IRBuilder(function.append_basic_block("entry"))
        write(inner, *function.args)
        inner.ret_void()
    builder.call(function, given)


def _put(ends: str, itemsize: int, builder: Any, buffer: Any, state: Any, first: Any, source: Any, count: Any) -> None:
    """Buffer ``count`` elements, the first of which belongs at the address ``first``."""
    _call(builder, "seek", _seek, buffer, state, first)
    held, kind = builder.gep(state, [_number(1)]), ir.IntType(8 * itemsize).as_pointer()
    into = builder.gep(buffer, [builder.load(held)])

    def one(index: Any) -> None:
        offset = builder.mul(index, _number(itemsize))
        value = builder.load(builder.bitcast(builder.gep(source, [offset]) if ends == COPY else source, kind), align=1)
        builder.store(value, builder.bitcast(builder.gep(into, [offset]), kind), align=itemsize)

    if ends != ANYTHING:
        loop(builder, count, one)
    builder.store(builder.add(builder.load(held), builder.mul(count, _number(itemsize))), held)


def _seek(builder: Any, buffer: Any, state: Any, first: Any) -> None:
    """Continue at an address: store the buffered elements unless the address follows them."""
    words = [builder.gep(state, [_number(number)]) for number in range(3)]
    line, held, skipped = map(builder.load, words)
    with builder.if_then(builder.icmp_unsigned("!=", builder.add(line, held), first)):
        _copy(builder, buffer, line, skipped, held)
        offset = builder.and_(first, _number(LINE - 1))
        for word, value in zip(words, (builder.sub(first, offset), offset, offset)):
            builder.store(value, word)


def _flush(builder: Any, buffer: Any, state: Any) -> None:
    """Store the buffered lines, the last of which is complete."""
    words = [builder.gep(state, [_number(number)]) for number in range(3)]
    line, held, skipped = map(builder.load, words)
    shared = builder.icmp_signed("<", _number(0), skipped)
    with builder.if_then(shared):
        _copy(builder, buffer, line, skipped, _number(LINE))
    first = builder.zext(shared, I64)

    def store(number: Any) -> None:
        offset = builder.mul(builder.add(first, number), _number(LINE))
        source = builder.bitcast(builder.gep(buffer, [offset]), _LANES.as_pointer())
        target = builder.inttoptr(builder.add(line, offset), _LANES.as_pointer())
        past(builder, builder.store(builder.load(source, align=LINE), target, align=LINE))

    loop(builder, builder.sub(builder.udiv(held, _number(LINE)), first), store)
    for word in words[1:]:
        builder.store(_number(0), word)


def _copy(builder: Any, buffer: Any, line: Any, begin: Any, end: Any) -> None:
    """Store these bytes of the buffer; its first line belongs at the address ``line``."""
    place = I8.as_pointer()
    copy = builder.module.declare_intrinsic("llvm.memcpy", [place, place, I64])
    builder.call(copy, [builder.inttoptr(builder.add(line, begin), place), builder.gep(buffer, [begin]),
                        builder.sub(end, begin), ir.Constant(I1, 0)])


def _number(value: int) -> Any:
    return ir.Constant(I64, value)
