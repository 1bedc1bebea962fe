"""Exponent bounds of regions: what is known about some rows of an array that is too large to be scanned.

A loop that keeps its states (``s[k + 1] = f(s[k])``) reads and writes a few rows of a large array in each step. So the
kernel keeps a region of such an array, two addresses and a bound: all elements between the addresses are below
``2 ** bound``. The array is contiguous, so they are elements of it. Before a group reads rows, the region is extended
to cover them, and only elements outside of it are scanned. After a group has stored a contiguous row, the region covers
it without a scan, because the bound of the results is known.

exponent_bounds.py calls this, and makes regions unknown after other stores as it does with bounds of whole arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Sequence, Tuple

import numpy as np

from pijit.core.graph.ir import Value
from pijit.core.kernel.emit.expressions import Expression, listed
from pijit.core.kernel.llvm.exponent_intrinsics import below_all
from pijit.core.kernel.plan.operands import ArrayVariable, Name, Operand, dtype_of, integer

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

UNKNOWN = 4096
"""Bound of an array whose exponents were not scanned."""

NEAR = 64
"""Bytes between a region and a stored row that are scanned to join the two: a cache line, as the ends of a row."""


class BoundedRegion:
    """The variables of one array's region: its first address, the address after it, and the bound of its elements."""

    __slots__ = ("emitter", "dtype", "begin", "end", "bound")

    def __init__(self, emitter: KernelEmitter, root: Value) -> None:
        self.emitter = emitter
        self.dtype = dtype_of(root)
        self.begin, self.end, self.bound = (Name("region_%d%s" % (root.id, part)) for part in ("_d", "_e", ""))

    def head(self) -> List[str]:
        """The lines that the kernel begins with: nothing is known."""
        return ["    %s = %s = 0" % (self.begin, self.end), "    %s = %d" % (self.bound, UNKNOWN)]

    def cover(self, begin: Operand, end: Operand, scanned: Operand) -> None:
        """Extend the region to cover other elements. Sets ``scanned`` to 1 if all of these had to be scanned."""
        emitter = self.emitter
        emitter.indented("if %d <= %s or %s < %s or %s < %s:" % (
            UNKNOWN, self.bound, end, self.begin, self.end, begin),
            "%s = %s" % (self.begin, begin), "%s = %s" % (self.end, begin), "%s = 0" % self.bound, "%s = 1" % scanned)
        for first, after, moved, place in ((begin, self.begin, self.begin, begin), (self.end, end, self.end, end)):
            emitter.line("if %s < %s:" % (first, after))
            emitter.depth += 1
            self._scan(first, after)
            emitter.line("%s = %s" % (moved, place))
            emitter.depth -= 1

    def store(self, target: ArrayVariable, flag_free: Operand, bound: Operand) -> None:
        """Cover the elements of a contiguous view that were stored, all of them below ``2 ** bound``.

        The caller has noted the bound for elements inside of the region. ``flag_free`` is 1 if the bound is proven.
        """
        emitter, depth = self.emitter, self.emitter.depth
        conditions = ["%s == 1" % flag_free, "%s < %d" % (self.bound, UNKNOWN)]
        size: Operand = integer(self.dtype.itemsize)
        for count, stride in reversed(list(zip(target.shape, target.strides))):
            if stride != size:
                conditions.append("%s == %s" % (stride, size))
            size = emitter.let("imul(%s, %s)" % (size, count))
        end = emitter.let("iadd(%s, %s)" % (target.data, size))
        emitter.line("if %s:" % " and ".join(conditions))
        emitter.depth += 1
        emitter.line("if %s <= %s and isub(%s, %s) <= %d:" % (self.begin, target.data, target.data, self.end, NEAR))
        emitter.depth += 1
        emitter.line("if %s < %s:" % (self.end, target.data))
        emitter.depth += 1
        self._scan(self.end, target.data)
        emitter.depth -= 1
        emitter.line("%s = choose(%s < %s, %s, %s)" % (self.end, self.end, end, end, self.end))
        emitter.depth -= 1
        emitter.indented("else:", "%s = %s" % (self.begin, target.data), "%s = %s" % (self.end, end),
                         "%s = %s" % (self.bound, bound))
        emitter.depth = depth

    def _scan(self, begin: Operand, end: Operand) -> None:
        """Raise the bound to that of the elements between two addresses."""
        emitter = self.emitter
        count = emitter.let("ifloordiv(isub(%s, %s), %d)" % (end, begin, self.dtype.itemsize))
        found = emitter.let(scan(emitter, self.dtype, count, begin))
        emitter.line("%s = choose(%s < %s, %s, %s)" % (self.bound, self.bound, found, found, self.bound))


def extent(emitter: KernelEmitter, arrays: Sequence[ArrayVariable]) -> Tuple[Operand, Operand]:
    """The addresses before the first and after the last element of some arrays of one dtype, which are not empty."""
    ends: List[Tuple[Operand, Operand]] = []
    for array in arrays:
        first, last = array.data, array.data  # type: Operand, Operand
        for size, stride in zip(array.shape, array.strides):
            if size.value == 1:
                continue
            far = emitter.let("imul(isub(%s, 1), %s)" % (size, stride))
            if stride.value is None or stride.value < 0:
                first = emitter.let("iadd(%s, choose(%s < 0, %s, 0))" % (first, far, far))
            if stride.value is None or stride.value > 0:
                last = emitter.let("iadd(%s, choose(%s < 0, 0, %s))" % (last, far, far))
        ends.append((first, last))
    begin, end = ends[0]
    for first, last in ends[1:]:
        begin = emitter.let("choose(%s < %s, %s, %s)" % (first, begin, first, begin))
        end = emitter.let("choose(%s < %s, %s, %s)" % (end, last, last, end))
    return begin, emitter.let("iadd(%s, %d)" % (end, arrays[0].type.dtype.itemsize))


def scan(emitter: KernelEmitter, dtype: np.dtype[Any], count: Operand, address: Operand) -> str:
    """The source that scans adjacent elements and gives a bound of them all."""
    code, least = dtype.char, emitter.flavour.least
    name = "below_all_%s" % code
    emitter.names[name] = below_all(dtype, least)
    emitter.symbols[name] = (name, least)
    words: List[Expression] = [emitter.runtime_address("parallel")] * bool(least)
    words += [count, address, "(%d)" % dtype.itemsize]
    return "%s(%s)" % (name, listed(words))
