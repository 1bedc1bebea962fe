"""Loop skewing: the statements of a run (plan/skewing.py) go block by block, each phase one block later.

So each array goes through memory only once, and arrays that only the run needs never become as large as the others.
NumPy checks floating-point flags between the statements, before each store. Therefore skewing needs to know three
facts from the start. No flag can be raised (exponent_bounds.py), all shapes are alike, and written arrays share no
memory with others. Otherwise there is one block of all rows, at the end of which statements may leave as usual.

The numba emitter calls `SkewedLoops.write` at the first operation of a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Collection, Dict, List, Optional, Sequence, Tuple, cast

import numpy as np

from pijit.core.graph.ir import Op, SideExit, Value
from pijit.core.graph.passes.fusion import raises_flags
from pijit.core.kernel.emit.array_ops import broadcast
from pijit.core.kernel.emit.exponent_bounds import SCAN_RATIO, Proof, count_elements, look
from pijit.core.kernel.emit.exponent_regions import UNKNOWN
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.emit.fp_checks import write_checks_after
from pijit.core.kernel.emit.fused_nest import allocate
from pijit.core.kernel.emit.stores.inplace_store import shares_with
from pijit.core.kernel.plan.forms.block_size import BlockSize
from pijit.core.kernel.plan.group_operands import EXPONENTS, find_leaves
from pijit.core.kernel.plan.operands import (
    NULL,
    ZERO,
    ArrayVariable,
    Literal,
    Operand,
    array_type,
    dtype_of,
    integer,
    result_of,
    scalar_type,
)
from pijit.core.kernel.plan.skewing import SkewingRun, stores

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

LEAST_BLOCKS = 4
"""The fewest blocks: smaller arrays are in the caches anyway."""


class SkewedLoops:
    """Writes the skewed runs of one kernel."""

    __slots__ = ("emitter", "run", "_outer", "_bases", "_inside", "_blocks", "_size", "_count", "_number")

    def __init__(self, emitter: KernelEmitter) -> None:
        self.emitter = emitter
        self.run: Optional[SkewingRun] = None
        self._outer: Dict[Value, ArrayVariable] = {}  # the arrays as they are outside of the run
        self._bases: Dict[Value, ArrayVariable] = {}  # the memory of arrays that the run makes
        self._inside = False  # whether the emitter is inside the loop
        self._blocks: Operand = ZERO  # 1 if there are several blocks
        self._size: Operand = ZERO  # the number of rows of a block
        self._count: Operand = ZERO  # the number of rows
        self._number: Operand = ZERO  # the number of the current block; before the loop, of all blocks

    # ---- called by the writers of operations ----

    def prepared(self, value: Value, shape: Sequence[Operand]) -> Optional[ArrayVariable]:
        """The memory for the current block of an array that the run makes; None outside of a run."""
        if self.run is None or not self._inside or value not in self.run.made:
            return None
        return self._block_of(value, shape[0])

    def leave(self, exit: SideExit) -> None:
        """Leave with the arrays as they are outside of the run. Before the loop, take the first operation's exit."""
        emitter, run, arrays = self.emitter, self.run, self.emitter.arrays
        assert run is not None and run.first.exit is not None
        self.run, emitter.arrays = None, {**self._outer, **(self._bases if self._inside else {})}
        emitter.take(exit if self._inside else run.first.exit)
        self.run, emitter.arrays = run, arrays

    # ---- a run ----

    def write(self, run: SkewingRun) -> Collection[Op]:
        """Write the operations of a run; returns them."""
        emitter = self.emitter
        self.run, self._outer, self._bases, self._inside = run, emitter.arrays, {}, False
        emitter.arrays = dict(self._outer)
        for op in run.preheader:
            emitter.write_one(op)
            if op.result in emitter.arrays:
                self._outer[op.result] = emitter.arrays[op.result]
            write_checks_after(emitter, op)
        self._describe(run)
        for op in run.stores:
            emitter.fills.settle(op)
        self._write_head(run)
        self._write_loop(run)
        self._finish(run)
        return run.ops()

    def _describe(self, run: SkewingRun) -> None:
        """Describe the results of all groups, for all rows."""
        emitter = self.emitter
        for op in run.groups:
            if not stores(op):
                leaves = find_leaves(emitter.facts.group_of(op))[0]
                shape = broadcast(emitter, run.first, [emitter.arrays[value].shape for value in leaves])
                kind = array_type(result_of(op))
                strides = [ZERO] * (len(shape) - 1) + [integer(kind.dtype.itemsize)]
                emitter.arrays[result_of(op)] = ArrayVariable(kind, NULL, NULL, shape, strides)

    # ---- before the loop ----

    def _write_head(self, run: SkewingRun) -> None:
        """Write the test for blocks, the number of their rows, and the memory for arrays that the run makes."""
        emitter, depth = self.emitter, self.emitter.depth
        rows = emitter.arrays[run.stores[0].args[0]]
        self._count = rows.shape[0]
        size, enough = self._rows_of_a_block(run.block, rows)
        self._blocks = emitter.renamed("0")
        conditions = enough + ["imul(%s, %d) <= %s" % (size, LEAST_BLOCKS, self._count)]
        for condition in conditions + self._alike(run, rows):
            emitter.line("if %s:" % condition)
            emitter.depth += 1
        for condition in self._apart(run):
            emitter.line("if %s:" % condition)
            emitter.depth += 1
        self._ask(run, rows)
        emitter.depth = depth
        self._size = emitter.let("choose(%s == 1, %s, %s)" % (self._blocks, size, self._count))
        some = emitter.let("ifloordiv(iadd(%s, isub(%s, 1)), choose(%s < 1, 1, %s))" % (self._count, size, size, size))
        self._number = emitter.renamed("choose(%s == 1, %s, 1)" % (self._blocks, some))
        for op in run.groups:
            if op.result in run.made:
                emitter.layout.reuse_scratch()
                self._bases[result_of(op)] = self._new(op)

    def _rows_of_a_block(self, block: BlockSize, array: ArrayVariable) -> Tuple[Operand, List[str]]:
        """The number of rows of a block, and the conditions that a block is small enough."""
        emitter = self.emitter
        if block.rows:
            return integer(block.rows), []
        length = count_elements(emitter, array.shape[1:])
        some = emitter.let("ifloordiv((%d), choose(%s < 1, 1, %s))" % (block.elements, length, length))
        size = emitter.let("choose(%s < %d, %d, %s)" % (some, block.least, block.least, some))
        return size, ["imul(%s, %s) <= %d" % (size, length, block.most)]

    def _alike(self, run: SkewingRun, rows: ArrayVariable) -> List[str]:
        """The conditions that all arrays have the shape of one."""
        conditions: Dict[str, None] = {}
        for op in run.groups:
            leaves = find_leaves(self.emitter.facts.group_of(op))[0]
            for value in leaves + [op.args[0] if stores(op) else result_of(op)]:
                shape = self.emitter.arrays[value].shape
                conditions.update(("%s == %s" % pair, None) for pair in zip(reversed(shape), reversed(rows.shape))
                                  if pair[0] != pair[1])
        return list(conditions)

    def _apart(self, run: SkewingRun) -> List[str]:
        """The conditions that the arrays that are written share no memory with others."""
        emitter, conditions = self.emitter, []
        for root in dict.fromkeys(emitter.facts.root_of(op.args[0]) for op in run.stores):
            shared = shares_with(emitter, root, [other for other in run.roots if other is not root])
            if shared is not False:
                conditions.append("not %s" % shared)
        return conditions

    def _ask(self, run: SkewingRun, rows: ArrayVariable) -> None:
        """Set the variable for blocks if no operation can raise a flag; then note the bounds of written arrays."""
        emitter, bounds, depth = self.emitter, self.emitter.exponent_bounds, self.emitter.depth
        if not any(raises_flags(member) for op in run.groups for member in emitter.facts.group_of(op)):
            emitter.line("%s = 1" % self._blocks)
            for op in run.stores:
                bounds.lose(emitter.facts.root_of(op.args[0]))
            return
        looked = [root for root in run.roots if dtype_of(root).char in EXPONENTS and root not in bounds.made]
        names: Dict[Value, Operand] = {
            root: bounds.bounds.get(root) or emitter.renamed(str(UNKNOWN)) for root in run.roots}
        elements = count_elements(emitter, rows.shape)
        counts = {root: count_elements(emitter, emitter.arrays[root].shape) for root in looked}
        small = ["%s <= imul(%s, %d)" % (count, elements, SCAN_RATIO) for count in counts.values()]
        tried = emitter.renamed("0")
        emitter.line("while True:")
        emitter.depth += 1
        worst, noted = self._worst(run, dict(names))
        emitter.line("%s = choose(%s <= 0, 1, 0)" % (self._blocks, worst))
        again = " and ".join(["%s == 0" % tried, "%s == 0" % self._blocks] + small)
        emitter.indented("if not (%s):" % again, "break")
        emitter.line("%s = 1" % tried)
        for root in looked:
            emitter.line("%s = %s" % (names[root], look(emitter, emitter.arrays[root], counts[root])))
        emitter.depth = depth
        emitter.line("if %s == 1:" % self._blocks)
        emitter.depth += 1
        listened = emitter.underflow_listened([member for op in run.groups for member in emitter.facts.group_of(op)])
        emitter.line("%s = choose(%s == 0, 1, 0)" % (self._blocks, listened))
        emitter.depth = depth
        emitter.line("if %s == 1:" % self._blocks)
        emitter.depth += 1
        emitter.line("pass")
        for root, bound in noted:
            bounds.note(root, Proof(Literal(1, "1"), bound))
        emitter.depth = depth

    def _worst(self, run: SkewingRun, bounds: Dict[Value, Operand]) -> Tuple[Expression, List[Tuple[Value, Operand]]]:
        """A variable that is above 0 if something may be infinite, and the bounds of written arrays, in order."""
        emitter, worst = self.emitter, str(-UNKNOWN)  # type: KernelEmitter, Expression
        noted: List[Tuple[Value, Operand]] = []
        for op in run.groups:
            group = emitter.facts.group_of(op)
            leaves, wanted = find_leaves(group)
            scalars = {(value, code): emitter.converted(
                emitter.text[value], scalar_type(value), np.dtype(code), run.first) for value, code in wanted}
            arrays = {value: bounds[emitter.facts.root_of(value)]
                      for value in leaves if dtype_of(value).char in EXPONENTS}
            variable = emitter.fresh()
            own = emitter.exponent_bounds.propagate(group, arrays, scalars, variable)
            bound: Operand = variable
            worst = emitter.let("choose(%s < %s, %s, %s)" % (worst, own, own, worst))
            root = emitter.facts.root_of(op.args[0]) if stores(op) else result_of(op)
            if stores(op):
                noted.append((root, bound))
                bound = emitter.let("choose(%s < %s, %s, %s)" % (bound, bounds[root], bounds[root], bound))
            bounds[root] = bound
        return worst, noted

    def _new(self, op: Op) -> ArrayVariable:
        """Memory for the result of a group: for some blocks, or for all if the array is used after the run."""
        emitter, run, arrays = self.emitter, self.run, self.emitter.arrays
        assert run is not None
        group, whole = emitter.facts.group_of(op), arrays[result_of(op)]
        blocks = run.slots[result_of(op)]

        def rows(array: ArrayVariable) -> Tuple[Operand, ...]:
            if not blocks or len(array.shape) < len(whole.shape):
                return array.shape
            some = "choose(%s == 1, imul(%d, %s), %s)" % (self._blocks, blocks, self._size, array.shape[0])
            return (emitter.pure(some),) + array.shape[1:]

        shape = rows(whole)
        emitter.arrays = dict(arrays)
        for value in find_leaves(group)[0]:
            array = self._bases.get(value, arrays[value])
            emitter.arrays[value] = ArrayVariable(array.type, array.data, array.object, rows(arrays[value]),
                                                  array.strides, None, array.shown)
        made = allocate(emitter, group, list(shape))
        emitter.arrays = arrays
        return made

    # ---- the loop ----

    def _write_loop(self, run: SkewingRun) -> None:
        emitter, bounds = self.emitter, self.emitter.exponent_bounds
        step = emitter.renamed("0")
        emitter.line("while True:")
        outside = emitter.enter_scope()
        bounds.assumed, self._inside, number = self._blocks, True, self._number
        for phase, ops in enumerate(run.phases):
            self._number = step if phase == 0 else emitter.let("isub(%s, %d)" % (step, phase))
            emitter.line("if 0 <= %s and %s < %s:" % (self._number, self._number, number))
            within = emitter.enter_scope()
            self._enter(ops)
            for op in ops:
                emitter.layout.reuse_scratch()
                emitter.write_group_of(op)
            emitter.leave_scope(within)
        bounds.assumed, self._inside, self._number = None, False, number
        emitter.line("%s = iadd(%s, 1)" % (step, step))
        emitter.indented("if iadd(%s, %d) <= %s:" % (number, len(run.phases) - 1, step), "break")
        emitter.leave_scope(outside)

    def _enter(self, ops: List[Op]) -> None:
        """Make the emitter's arrays those of the current block, for all arrays that the operations need."""
        emitter, run = self.emitter, self.run
        assert run is not None
        ndim = len(self._outer_of(run.stores[0].args[0]).shape)
        begin = emitter.let("imul(%s, %s)" % (self._number, self._size))
        here = emitter.let("isub(%s, %s)" % (self._count, begin))
        here = emitter.let("choose(%s < %s, %s, %s)" % (here, self._size, here, self._size))
        for op in ops:
            values = find_leaves(emitter.facts.group_of(op))[0] if op in run.groups else []
            for value in values + ([op.args[0]] if stores(op) else []):
                array = self._outer_of(value)
                if len(array.shape) < ndim:
                    continue
                size = here if array.shape[0] == self._count else emitter.pure(
                    "choose(%s == 1, %s, %s)" % (self._blocks, here, array.shape[0]))
                emitter.arrays[value] = self._block_of(value, size)

    def _outer_of(self, value: Value) -> ArrayVariable:
        return self._bases[value] if value in self._bases else self._outer[value]

    def _block_of(self, value: Value, size: Operand) -> ArrayVariable:
        """The rows of the current block of an array."""
        emitter, array = self.emitter, self._outer_of(value)
        blocks = cast(SkewingRun, self.run).slots.get(value, 0)
        if blocks == 1:
            data = array.data
        else:
            number = self._number
            if blocks:
                number = emitter.pure("isub(%s, imul(%d, ifloordiv(%s, %d)))" % (number, blocks, number, blocks))
            begin = emitter.pure("imul(%s, %s)" % (number, self._size))
            data = emitter.let("iadd(%s, imul(%s, %s))" % (array.data, begin, array.strides[0]))
        return ArrayVariable(array.type, data, array.object, (size, *array.shape[1:]), array.strides, None,
                             array.shown)

    def _finish(self, run: SkewingRun) -> None:
        """After the loop only the arrays that are used later exist."""
        emitter = self.emitter
        self.run, emitter.arrays = None, self._outer
        lasting = {value for value, blocks in run.slots.items() if blocks == 0}
        emitter.arrays.update({value: base for value, base in self._bases.items() if value in lasting})
        for value, base in self._bases.items():
            if value not in lasting:
                emitter.release(base)
        for op in run.ops():
            emitter.release_after(op, run.made)
