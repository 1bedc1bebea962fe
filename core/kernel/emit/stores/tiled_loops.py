"""Cache blocking: the operations of a run (plan/tiling.py) are done for a block of rows, then for the next one.

The result of one operation is in the cache when the next one reads it. Arrays that only the run needs are never as
large as the others. Blocks of vectors begin where threads may divide a loop (threads.py).

The numba emitter calls `TiledLoops.write` at the first operation of a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Sequence, cast

from pijit.core.graph.ir import Op, SideExit, Value
from pijit.core.graph.types import Array
from pijit.core.kernel.emit.array_ops import broadcast
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.emit.fp_checks import write_checks_after
from pijit.core.kernel.emit.fused_nest import allocate
from pijit.core.kernel.emit.reductions import reduced_shape
from pijit.core.kernel.emit.stack_arrays import new_made
from pijit.core.kernel.plan.forms.block_size import BlockSize
from pijit.core.kernel.plan.operands import NULL, ZERO, ArrayVariable, Operand, array_type, integer, result_of
from pijit.core.kernel.plan.tiling import TilingRun, makes_elements

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


class TiledLoops:
    """Writes the tiled runs of one kernel."""

    __slots__ = ("emitter", "run", "_outer", "_whole", "_bases", "_prologue", "_begin", "_block", "_alike")

    def __init__(self, emitter: KernelEmitter) -> None:
        self.emitter = emitter
        self.run: Optional[TilingRun] = None
        self._outer: Dict[Value, ArrayVariable] = {}  # the arrays as they are outside of the run
        self._whole: Dict[Value, ArrayVariable] = {}  # the arrays that the run makes, as if for all rows
        self._bases: Dict[Value, ArrayVariable] = {}  # the memory that they have
        self._prologue = 0  # the line before the loop
        self._begin: Optional[Operand] = None  # the first row of a block, inside the loop
        self._block: Operand = ZERO  # the number of rows of a block
        self._alike: Optional[Expression] = None  # the condition that all arrays have the same number of rows

    # ---- called by the writers of operations ----

    def prepared(self, value: Value, shape: Sequence[Operand]) -> Optional[ArrayVariable]:
        """The memory for the current block of an array that the run makes; None where no blocks are written."""
        run = self.run
        if run is None:
            return self.emitter.skewing.prepared(value, shape)
        if self._begin is None or value not in run.made:
            return None
        if value not in self._bases:
            self._bases[value] = self._before(lambda: self._new(value))
        base = self._bases[value]
        data = self._moved(base) if value in run.lasting else base.data
        return ArrayVariable(base.type, data, base.object, shape, base.strides, None, base.shown)

    def part_of(self, value: Value) -> List[str]:
        """For a block of a lasting array: the bytes of all blocks, and the addresses that the next block will read."""
        run = self.run
        if run is None or self._begin is None or value not in run.lasting:
            return []
        whole = self._bases[value]
        following = self.emitter.let("iadd(%s, %s)" % (self._begin, self._block))
        return ["imul(%s, %s)" % (whole.strides[0], whole.shape[0])] + [
            "iadd(%s, imul(%s, %s))" % (array.data, following, array.strides[0])
            for array in (self._outer[one] for one in run.rows) if len(whole.shape) == len(array.shape) == 1]

    def leave(self) -> None:
        """Leave by the first operation's exit, with the arrays as they are outside of the run."""
        emitter, run, arrays = self.emitter, self.run, self.emitter.arrays
        assert run is not None
        self.run, emitter.arrays = None, self._outer
        emitter.take(cast(SideExit, run.first.exit))
        self.run, emitter.arrays = run, arrays

    # ---- a run ----

    def write(self, run: TilingRun) -> None:
        """Write the operations of a run as a loop over blocks."""
        emitter = self.emitter
        self.run, self._outer, self._bases, self._begin = run, emitter.arrays, {}, None
        emitter.arrays = dict(self._outer)
        self._write_ahead(run)
        rows, size = emitter.plan.groups.tiled[run.ops[0]]
        count = self._write_head(run, [self._outer[value] for value in rows], size)
        outside = emitter.enter_scope()
        here = emitter.let("isub(%s, %s)" % (count, self._begin))
        here = emitter.let("choose(%s < %s, %s, %s)" % (here, self._block, here, self._block))
        for value in rows:
            self._enter(value, here, count)
        for op in run.ops:
            emitter.layout.reuse_scratch()
            emitter.write_group_of(op)
        emitter.line("%s = iadd(%s, %s)" % (self._begin, self._begin, self._block))
        emitter.indented("if %s <= %s:" % (count, self._begin), "break")
        emitter.leave_scope(outside)
        self._finish(run)

    def _write_ahead(self, run: TilingRun) -> None:
        """Write scalars and views, and describe the results for all rows; leaves where shapes do not fit."""
        emitter = self.emitter
        for op in run.preheader:
            if makes_elements(op):
                self._imagine(run, emitter.facts.group_of(op))
            else:
                emitter.write_one(op)
                if op in run.ahead and op.result in emitter.arrays:
                    self._outer[op.result] = emitter.arrays[op.result]
            write_checks_after(emitter, op)
        self._whole = {value: emitter.arrays[value] for value in run.made}

    def _imagine(self, run: TilingRun, group: List[Op]) -> None:
        emitter = self.emitter
        for member in group:
            shapes = [emitter.arrays[value].shape for value in member.args if isinstance(value.type, Array)]
            reduces = member.name == "reduce"
            shape = reduced_shape(member, shapes[0]) if reduces else broadcast(emitter, run.first, shapes)
            kind, strides = array_type(result_of(member)), []  # type: Array, List[Operand]
            for axis in reversed(range(len(shape))):
                strides.insert(0, emitter.pure("imul(%s, %s)" % (strides[0], shape[axis + 1])) if strides
                               else integer(kind.dtype.itemsize))
            emitter.arrays[result_of(member)] = ArrayVariable(kind, NULL, NULL, shape, strides)

    def _write_head(self, run: TilingRun, rows: List[ArrayVariable], size: BlockSize) -> Operand:
        """Write the lasting arrays and the start of the loop; returns the number of rows.

        Arrays of different lengths are one block.
        """
        emitter, count = self.emitter, rows[0].shape[0]
        others = [other for other in dict.fromkeys(array.shape[0] for array in rows) if other != count]
        alike = " and ".join("%s == %s" % (count, other) for other in others)
        longest = max(rows, key=lambda array: len(array.shape))
        wanted = emitter.let(integer(size.rows) if size.rows else self._rows_of_a_block(longest, size))
        block = "choose(%s < %s, %s, %s)" % (wanted, count, wanted, count)
        self._alike = None
        if others:
            self._alike = alike if count.value is not None else emitter.let(alike)
            block = "choose(%s, %s, %s)" % (self._alike, block, count)
        self._block = emitter.renamed(block)
        for op in run.ops:
            if op.result in run.lasting:
                self._bases[op.result] = self._lasting(op)
        self._begin = emitter.renamed("0")
        self._prologue = len(emitter.lines)
        emitter.line("while True:")
        return count

    def _rows_of_a_block(self, array: ArrayVariable, size: BlockSize) -> Expression:
        emitter, length = self.emitter, array.shape[1]  # type: KernelEmitter, Expression
        for axis in array.shape[2:]:
            length = "imul(%s, %s)" % (length, axis)
        length = emitter.let(length)
        multiples = size.elements // size.multiple
        wanted = emitter.let("ifloordiv((%d), choose(%s < 1, 1, %s))" % (multiples, length, length))
        return "imul((%d), choose(%s < 1, 1, %s))" % (size.multiple, wanted, wanted)

    def _lasting(self, op: Op) -> ArrayVariable:
        """A new array that is used after the run."""
        emitter, run = self.emitter, cast(TilingRun, self.run)
        emitter.layout.reuse_scratch()
        shape = self._whole[result_of(op)].shape
        if op.name == "reduce" or emitter.plan.escape.is_private(result_of(op)):
            return new_made(emitter, run.first, result_of(op), shape)
        group = emitter.facts.group_of(op)
        return allocate(emitter, group if op in emitter.plan.groups.nests else [op], list(shape))

    def _new(self, value: Value) -> ArrayVariable:
        """A new array for a block; for all rows where arrays differ in length."""
        shape = list(self._whole[value].shape)
        rows = "choose(%s, %s, %s)" % (self._alike, self._block, shape[0]) if self._alike else self._block
        shape[0] = self.emitter.let(rows)
        return new_made(self.emitter, cast(TilingRun, self.run).first, value, shape)

    def _before(self, write: Callable[[], ArrayVariable]) -> ArrayVariable:
        """Write code before the loop."""
        emitter, inside, depth = self.emitter, self.emitter.lines, self.emitter.depth
        emitter.lines, emitter.depth = [], depth - 1
        answer = write()
        inside[self._prologue:self._prologue] = emitter.lines
        self._prologue += len(emitter.lines)
        emitter.lines, emitter.depth = inside, depth
        return answer

    def _enter(self, value: Value, here: Operand, count: Operand) -> None:
        """Make the emitter's array that of the current block, for an array from outside of the run."""
        array = self._outer[value]
        size = here if array.shape[0] == count else self.emitter.pure(
            "choose(%s, %s, %s)" % (self._alike, here, array.shape[0]))
        self.emitter.arrays[value] = ArrayVariable(
            array.type, self._moved(array), array.object, (size, *array.shape[1:]), array.strides, None, array.shown)

    def _moved(self, array: ArrayVariable) -> Operand:
        return self.emitter.let("iadd(%s, imul(%s, %s))" % (
            array.data, self._begin, array.strides[0]))

    def _finish(self, run: TilingRun) -> None:
        """After the loop only the lasting arrays exist."""
        emitter, bases = self.emitter, self._bases
        self.run, emitter.arrays = None, self._outer
        emitter.arrays.update({value: bases[value] for value in run.lasting})
        for value, base in bases.items():
            if value not in run.lasting:
                emitter.release(base)
        for op in run.ops + run.ahead:
            emitter.release_after(op, run.made)
