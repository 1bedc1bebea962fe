"""Deferred fill: the initial contents of a new array wait for the store that replaces most of them.

``new = u.copy(); new[1:-1] = f(u)`` writes the inner elements twice. In between, only a side exit lets others see the
array. So the initial contents are written after the store, around the stored elements, or before leaving. They are a
copy of an input, zeros, or one number everywhere.

NumPy checks floating-point flags before it stores. If one is raised, the initial contents are written over the nest's
results, and the exit repeats the statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Optional, Sequence, Union

from pijit.core.graph.ir import Op, Value
from pijit.core.kernel.emit.array_values import memory_code
from pijit.core.kernel.emit.exponent_bounds import count_elements
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.llvm.nest import nontemporal
from pijit.core.kernel.llvm.nest.row_ends import ANYTHING, COPY, LONGEST, NO_ENDS, NUMBER, SHORTEST, Ends
from pijit.core.kernel.plan.deferred_fills import FillPlan
from pijit.core.kernel.plan.operands import NULL, ZERO, ArrayVariable, Operand

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

InitialContents = Union[ArrayVariable, Expression, None]
"""Initial contents: an array of the same shape, the source of one number for all elements, or None for any contents."""


class DeferredFills:
    """The deferred fills of one kernel, and those that are pending where the emitter is."""

    __slots__ = ("emitter", "_plan", "_pending")

    def __init__(self, emitter: KernelEmitter, plan: FillPlan) -> None:
        self.emitter = emitter
        self._plan = plan
        self._pending: Dict[Value, InitialContents] = {}

    def wait(self, op: Op, contents: InitialContents) -> bool:
        """Defer what the operation writes to a new array, if possible; returns whether it is deferred."""
        root = self._plan.waiting.get(op)
        if root is None:
            return False
        self._pending[root] = contents
        return True

    def settle(self, last: Op) -> None:
        """Write pending contents before a store that must follow them."""
        root = self._plan.stores.get(last)
        if root is not None:
            self._write(root)
            self._pending.pop(root, None)

    def ends(self, last: Op, target: ArrayVariable) -> Ends:
        """The row ends that the nest of a store writes, if it uses non-temporal stores (row_ends.py)."""
        emitter, root = self.emitter, self._plan.stores[last]
        array, contents = emitter.arrays[root], self._pending[root]
        itemsize = array.type.dtype.itemsize
        if target.type.layout == "C" or target.shape[-1] == array.shape[-1]:
            return NO_ENDS
        if contents is not None and not isinstance(contents, ArrayVariable):
            contents = self._pending[root] = self._number(array, contents)
        source: Operand = ZERO
        if contents is None:
            kind = ANYTHING
        elif contents.strides and all(stride.value == 0 for stride in contents.strides):
            kind, source = NUMBER, contents.data
        elif contents.type.layout == "C":
            kind, source = COPY, emitter.let("isub(%s, %s)" % (contents.data, array.data))
        else:
            return NO_ENDS
        allowed, left, right, written = (emitter.fresh() for _ in range(4))
        for variable in (allowed, left, right):
            emitter.line("%s = 0" % variable)
        depth, size = emitter.depth, target.shape[-1]
        for condition in ("%d <= imul(%s, %d)" % (max(nontemporal.LEAST, 1), count_elements(emitter, target.shape),
                                                  itemsize),
                          "%d <= %s" % (SHORTEST // itemsize, size),
                          "isub(%s, %s) <= %d" % (array.shape[-1], size, LONGEST // itemsize)):
            emitter.line("if %s:" % condition)
            emitter.depth += 1
        emitter.line("%s = 1" % allowed)
        emitter.line("%s = ifloordiv(imod(isub(%s, %s), %s), %d)" % (
            left, target.data, array.data, array.strides[-2], itemsize))
        emitter.line("%s = isub(isub(%s, %s), %s)" % (right, array.shape[-1], left, size))
        emitter.depth = depth
        return Ends(kind, [str(word) for word in (allowed, left, right, source)], str(written))

    def finish(self, last: Op, target: ArrayVariable, ends: Ends = NO_ENDS) -> None:
        """Write pending contents around the stored elements, and around the row ends, if the nest has written those."""
        root = self._plan.stores[last]
        if ends.kind and self._pending[root] is not None:
            target = self._with_ends(target, ends)
        self._write(root, target)
        del self._pending[root]

    def _with_ends(self, target: ArrayVariable, ends: Ends) -> ArrayVariable:
        let, (_, *sides, _) = self.emitter.let, ends.words
        left, right = (let("choose(%s != 0, %s, 0)" % (ends.written, side)) for side in sides)
        data = let("isub(%s, imul(%s, %d))" % (target.data, left, target.type.dtype.itemsize))
        size = let("iadd(%s, iadd(%s, %s))" % (target.shape[-1], left, right))
        return ArrayVariable(target.type, data, NULL, [*target.shape[:-1], size], target.strides)

    def before_leaving(self, values: Sequence[Value]) -> None:
        """Write the pending contents of arrays that a side exit hands out."""
        for root in dict.fromkeys(map(self.emitter.facts.root_of, values)):
            self._write(root)

    def _write(self, root: Value, around: Optional[ArrayVariable] = None) -> None:
        emitter, contents = self.emitter, self._pending.get(root)
        if contents is None:
            return
        array = emitter.arrays[root]
        if not isinstance(contents, ArrayVariable):
            contents = self._number(array, contents)
        sides = [array, contents] + ([around] if around is not None else [])
        words = [emitter.descriptor(side, emitter.layout.scratch(2 + 2 * len(side.shape))) for side in sides]
        numbers = [len(array.shape), array.type.dtype.itemsize]
        if around is None:
            emitter.line(emitter.runtime("copy_apart", *words, *numbers, 0))
        else:
            emitter.line(emitter.runtime("copy_around", *words, *numbers))

    def _number(self, array: ArrayVariable, number: Expression) -> ArrayVariable:
        """An array that has one number everywhere: a single element, with strides of 0."""
        emitter = self.emitter
        place = emitter.let("address_of_word(frame, %d)" % emitter.layout.scratch(2))
        emitter.line("st_%s(%s, 0, %s)" % (memory_code(array.type.dtype), place, number))
        return ArrayVariable(array.type, place, NULL, array.shape, [ZERO] * len(array.shape))
