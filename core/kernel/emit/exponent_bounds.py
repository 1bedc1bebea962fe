"""Exponent bounds: prove that a fused group cannot raise a floating-point flag.

NumPy computes the value of a statement, reports flags, and only then writes. So a nest that may raise a flag must
first compute into a buffer. But sums and products of small numbers cannot overflow, and without infinities no
operation is invalid. Therefore exponents of operands are scanned, which takes much less time than a second pass over a
buffer. Bounds of results are computed from them. The bound ``e`` says that all magnitudes are below ``2 ** e``. No
operand and no result may be infinite, even if later results are finite.

Bounds of the kernel's inputs are kept and change with each store, so that long loops scan only once in many
iterations. Arrays that the kernel computes for such a store get their bounds from their operands. Other arrays that it
makes are scanned once, those of zeros or ones never. Underflows may happen: NumPy ignores them unless it is told not
to, and the kernel asks whether it is.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from pijit.core.graph.element_ops import EXPONENT_RULES
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import UNDER_MASK
from pijit.core.graph.passes.fusion import operands, scalar_operation
from pijit.core.graph.types import Array
from pijit.core.kernel.emit.exponent_regions import UNKNOWN, BoundedRegion, extent, scan
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.plan.exponents import BoundedArrays, read_by_rows
from pijit.core.kernel.plan.flag_plan import FlagPlan
from pijit.core.kernel.plan.group_operands import EXPONENTS, float_arrays
from pijit.core.kernel.plan.operands import ArrayVariable, Literal, Name, Operand, dtype_of, integer, result_of
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

FEW = 64
"""Elements of a result for which a buffer costs less than a scan."""

SCAN_RATIO = 4
"""An array is not scanned if it has more than this many times the elements of the result."""


class Proof(NamedTuple):
    """The operands of a proof: ``flag_free`` is 1 if no flag can be raised, else 0; ``bound`` is the result's bound."""

    flag_free: Operand
    bound: Operand


class _RowBounds(NamedTuple):
    """The rows of an array that a group reads.

    Attributes:
        name: the variable of their bound.
        begin: the address of the first element.
        end: the address after the last element.
        elements: the number of elements between the addresses.
        large: 1 if the array is too large to be scanned, else 0.
        scanned: the variable that is 1 if all rows have just been scanned, else 0.
        are_few: the condition that the rows may be scanned.
    """

    name: Name
    begin: Operand
    end: Operand
    elements: Operand
    large: Operand
    scanned: Name
    are_few: str


class ExponentBounds:
    """The bounds of one kernel's arrays, each in a variable: `bounds` has its name.

    ``made`` and ``begun`` have the variables of the arrays of these names in `BoundedArrays`. The bounds of ``begun``
    are unknown until `begin` sets them. ``regions`` are those of the arrays that are read by rows.
    """

    __slots__ = ("emitter", "bounds", "made", "begun", "regions", "assumed")

    def __init__(self, emitter: KernelEmitter, bounded: BoundedArrays) -> None:
        self.emitter = emitter
        self.assumed: Optional[Operand] = None  # 1: no group can raise a flag, and the bounds of all results are noted
        self.made = _variables(bounded.made)
        self.begun = _variables(bounded.begun)
        self.bounds = {**_variables(bounded.inputs), **self.made, **self.begun}
        self.regions = {value: BoundedRegion(emitter, value) for value in bounded.regions}

    def head(self) -> List[str]:
        """The lines that the kernel begins with: all bounds are unknown."""
        lines = ["    %s = %d" % (name, UNKNOWN) for name in self.bounds.values()]
        return lines + [line for region in self.regions.values() for line in region.head()]

    def _all(self) -> List[Tuple[Value, Name]]:
        """The variables of all bounds, of arrays and of their regions."""
        return [*self.bounds.items(), *((value, region.bound) for value, region in self.regions.items())]

    @contextlib.contextmanager
    def _unless_assumed(self) -> Iterator[None]:
        """Code that is written inside this context is skipped if the variable ``assumed`` is 1."""
        emitter, depth = self.emitter, self.emitter.depth
        if self.assumed and self.bounds:
            emitter.line("if %s == 0:" % self.assumed)
            emitter.depth += 1
        yield
        emitter.depth = depth

    def forget(self, root: Optional[Value] = None) -> None:
        """Make bounds unknown after a store to an array, or all of them, because any array may have been written to."""
        lost = [name for value, name in self._all() if root is None or self._may_share(value, root)]
        if not lost:
            return
        with self._unless_assumed():
            for name in lost:
                self.emitter.line("%s = %d" % (name, UNKNOWN))

    def _may_share(self, value: Value, root: Value) -> bool:
        return value is root or not self.emitter.facts.is_apart(value, root)

    def begin(self, op: Op) -> None:
        """Set the first bound of an array that an operation has made."""
        if op.result in self.begun:
            self.emitter.line("%s = %d" % (self.begun[result_of(op)], UNKNOWN if op.attrs.get("fill") is None else 1))
        if op.result in self.regions:
            self.emitter.line("%s = %d" % (self.regions[result_of(op)].bound, UNKNOWN))

    def lose(self, root: Value) -> None:
        """Make the bound of an array unknown after a store to it; no other array shares its memory."""
        for value, name in self._all():
            if value is root:
                self.emitter.line("%s = %d" % (name, UNKNOWN))

    def note(self, root: Value, proof: Proof) -> None:
        """Set the bounds after a store: the array, and those that may share its memory, hold results with a bound.

        The bounds are unknown if the proof fails.
        """
        emitter = self.emitter
        touched = [(value, name) for value, name in self._all() if self._may_share(value, root)]
        if not touched:
            return
        with self._unless_assumed():
            for value, name in touched:
                larger: Operand = _number(UNKNOWN)
                if dtype_of(value) == dtype_of(root):
                    larger = emitter.let("choose(%s < %s, %s, %s)" % (name, proof.bound, proof.bound, name))
                emitter.line("%s = choose(%s == 1, %s, %d)" % (name, proof.flag_free, larger, UNKNOWN))

    def write(self, group: Sequence[Op], shape: Sequence[Operand],
              scalars: Dict[Tuple[Value, str], Expression],
              unless: Optional[Callable[[], str]] = None) -> Proof:
        """Write the scan and the propagation of bounds, for a group whose plan has bounds.

        The proof is that no operation can raise a flag that NumPy reports. ``shape`` is that of the result.
        ``scalars`` are the sources of the group's scalars, by value and dtype. ``unless`` writes a condition under
        which no array is scanned.
        """
        emitter, arrays = self.emitter, float_arrays(group) or []
        roots = list(dict.fromkeys(map(emitter.facts.root_of, arrays)))
        looked = [root for root in roots if root not in self.made]
        names = {root: self.bounds.get(root) or emitter.fresh() for root in roots}
        flag_free, result, tried, depth = emitter.fresh(), emitter.fresh(), emitter.fresh(), emitter.depth
        elements = count_elements(emitter, shape)
        counts = {root: count_elements(emitter, emitter.arrays[root].shape) for root in looked}
        rows = self._rows(group, elements, counts) if unless is None and not self.assumed else {}
        names.update((root, some.name) for root, some in rows.items())
        for root in looked:
            if root not in self.bounds:
                emitter.line("%s = %d" % (names[root], UNKNOWN))
        for variable, value in ((flag_free, 0), (result, UNKNOWN), (tried, 0)):
            emitter.line("%s = %d" % (variable, value))
        unknown = " and %s == 0" % self.assumed if self.assumed else ""
        emitter.indented("if %d < %s%s:" % (FEW, elements, unknown), "%s = 1" % flag_free)
        for root, some in rows.items():
            self._cover_unknown(root, some, flag_free)
        if rows and set(rows) == set(looked):
            emitter.line("%s = choose(%s, 1, 0)" % (tried, " and ".join(
                "%s == 1" % some.scanned for some in rows.values())))
        emitter.line("while %s == 1:" % flag_free)
        emitter.depth += 1
        worst = self.propagate(group, {value: names[emitter.facts.root_of(value)] for value in arrays},
                               scalars, result)
        emitter.indented("if %s <= 0:" % worst, "break")
        small = ["%s <= imul(%s, %d)" % (rows[root].elements if root in rows else count, elements, SCAN_RATIO)
                 for root, count in counts.items()]
        emitter.line("%s = choose(%s, %s, 0)" % (flag_free, " and ".join(["%s == 0" % tried] + small), flag_free))
        emitter.line("if %s == 1:" % flag_free)
        emitter.depth += 1
        if unless is not None:
            emitter.line("%s = choose(%s, 0, 1)" % (flag_free, unless()))
            emitter.line("if %s == 1:" % flag_free)
            emitter.depth += 1
        for root in looked:
            if root in rows:
                self._scan_again(root, rows[root], counts[root])
            else:
                emitter.line("%s = %s" % (names[root], look(emitter, emitter.arrays[root], counts[root])))
        emitter.line("%s = 1" % tried)
        emitter.depth = depth
        emitter.line("if %s == 1:" % flag_free)
        emitter.depth += 1
        emitter.line("%s = choose(%s == 0, 1, 0)" % (flag_free, emitter.underflow_listened(group)))
        emitter.depth = depth
        if self.assumed:
            emitter.indented("if %s == 1:" % self.assumed, "%s = 1" % flag_free)
        return Proof(flag_free, result)

    # ---- rows of large arrays ----

    def _rows(self, group: Sequence[Op], elements: Operand, counts: Mapping[Value, Operand]) -> Dict[Value, _RowBounds]:
        """The rows that a group reads, of arrays that have regions; their bounds are those of the arrays at first."""
        emitter, found = self.emitter, {}  # type: KernelEmitter, Dict[Value, _RowBounds]
        for root, values in read_by_rows(group, emitter.facts).items():
            if root not in self.regions:
                continue
            begin, end = extent(emitter, [emitter.arrays[value] for value in values])
            count = emitter.let("ifloordiv(isub(%s, %s), %d)" % (end, begin, dtype_of(root).itemsize))
            large = emitter.let("choose(imul(%s, %d) < %s, 1, 0)" % (elements, SCAN_RATIO, counts[root]))
            found[root] = _RowBounds(emitter.renamed(self.bounds[root]), begin, end, count, large, emitter.renamed("0"),
                                "%s <= imul(%s, %d)" % (count, elements, SCAN_RATIO))
        return found

    def _cover_unknown(self, root: Value, rows: _RowBounds, flag_free: Operand) -> None:
        """Scan those rows of a large array that its region does not cover, if there is no bound of the whole array."""
        emitter, depth = self.emitter, self.emitter.depth
        emitter.line("if %s == 1 and %d <= %s and %s == 1 and %s:" % (
            flag_free, UNKNOWN, rows.name, rows.large, rows.are_few))
        emitter.depth += 1
        self._cover(root, rows)
        emitter.depth = depth

    def _cover(self, root: Value, rows: _RowBounds) -> None:
        self.regions[root].cover(rows.begin, rows.end, rows.scanned)
        self.emitter.line("%s = %s" % (rows.name, self.regions[root].bound))

    def _scan_again(self, root: Value, rows: _RowBounds, count: Operand) -> None:
        """Scan rows whose bound is too large: those that are read, or the whole array if it is not large."""
        emitter, whole, depth = self.emitter, self.bounds[root], self.emitter.depth
        emitter.line("if %s == 1:" % rows.large)
        emitter.depth += 1
        emitter.line("%s = %s = %d" % (whole, self.regions[root].bound, UNKNOWN))
        self._cover(root, rows)
        emitter.depth = depth
        emitter.line("else:")
        emitter.depth += 1
        emitter.line("%s = %s" % (whole, look(emitter, emitter.arrays[root], count)))
        emitter.line("%s = %s" % (rows.name, whole))
        emitter.depth = depth

    def store(self, root: Value, target: ArrayVariable, proof: Proof) -> None:
        """After `note`: extend the region of an array by the elements of a view that were stored, all of them."""
        if root in self.regions and not self.assumed:
            self.regions[root].store(target, proof.flag_free, proof.bound)

    def known(self, group: Sequence[Op], scalars: Dict[Tuple[Value, str], Expression]) -> Optional[Proof]:
        """As `write`, without a scan, for a group that never leaves because of a flag."""
        arrays, root_of = float_arrays(group), self.emitter.facts.root_of
        if not arrays or any(root_of(value) not in self.bounds for value in arrays):
            return None
        result = self.emitter.fresh()
        worst = self.propagate(group, {value: self.bounds[root_of(value)] for value in arrays}, scalars, result)
        return Proof(self.emitter.let("choose(%s <= 0, 1, 0)" % worst), result)

    def make(self, plan: FlagPlan, group: Sequence[Op], shape: Sequence[Operand],
             scalars: Dict[Tuple[Value, str], Expression]) -> None:
        """Before a group computes a new array: write its bound, if a store reads the array."""
        name = self.made.get(result_of(group[-1]))
        if name is None:
            return
        proof = self.write(group, shape, scalars) if plan.has_bounds else None
        self.emitter.line("%s = %s" % (name, UNKNOWN if proof is None else "choose(%s == 1, %s, %d)" % (
            proof.flag_free, proof.bound, UNKNOWN)))

    def propagate(self, group: Sequence[Op], arrays: Mapping[Value, Operand],
                  scalars: Dict[Tuple[Value, str], Expression], result: Name) -> Operand:
        """Write the bounds of all results. Returns a variable that is above 0 if something may be infinite.

        That is an operand, a divisor's reciprocal, or a result.
        """
        emitter, bounds, last = self.emitter, dict(arrays), _number(UNKNOWN)
        limits = {name: EXPONENTS[dtype_of(value).char] for value, name in arrays.items()}

        def limit(bound: Operand, code: str) -> Operand:
            limits[bound] = min(limits.get(bound, UNKNOWN), EXPONENTS[code])
            return bound

        for op in group:
            if op.name == "assign":
                continue
            codes, divides = op.attrs["types"].partition("->")[0], scalar_operation(op) == "truediv"
            choice = int(op.name in UNDER_MASK)
            found = [bounds[value] if value in bounds else
                     limit(self._leaf(value, scalars.get((value, code), ""), divides and number == 1), code)
                     for number, (value, code) in enumerate(zip(operands(op)[choice:], codes[choice:]))]
            last = limit(emitter.let(_combined(scalar_operation(op), found)), codes[-1])
            if op.result is not None:
                bounds[op.result] = last
        worst = _number(-UNKNOWN)
        for bound in limits:
            if bound.value is not None:
                continue  # a literal, which is far from any limit
            over = emitter.let("isub(%s, %d)" % (bound, limits[bound]))
            worst = emitter.let("choose(%s < %s, %s, %s)" % (worst, over, over, worst))
        emitter.line("%s = %s" % (result, last))
        return worst

    def _leaf(self, value: Value, scalar: Expression, divides: bool) -> Operand:
        """The bound of an array of integers, of a scalar, or of a divisor's reciprocal."""
        if isinstance(value.type, Array):
            return _number(8 * value.type.dtype.itemsize)
        known = self.emitter.facts.constants.get(value)
        if known is None or not 2.0 ** -100 < abs(known) < 2.0 ** 100:
            bound = self.emitter.let("bound_of(%s)" % scalar)
            return self.emitter.let("isub(2, %s)" % bound) if divides else bound
        exponent = math.frexp(known)[1]
        return integer(2 - exponent if divides else exponent)


def _number(value: int) -> Operand:
    return Literal(value, str(value))


def _larger(one: Expression, other: Expression) -> str:
    return "choose(%s < %s, %s, %s)" % (one, other, other, one)


_COMBINED: Dict[str, Callable[[List[Operand]], Expression]] = {
    "": lambda bounds: bounds[0],
    "sum": lambda bounds: "iadd(%s, 1)" % _larger(*bounds),
    "product": lambda bounds: "iadd(%s, %s)" % (bounds[0], bounds[-1]),
    "choice": lambda bounds: _larger(bounds[0], bounds[1]),
    "choice of 1": lambda bounds: _larger(bounds[0], "1"),
}
"""The source of a result's bound from those of the operands, by the column ``exponent`` of element operations."""


def _combined(name: str, bounds: List[Operand]) -> Expression:
    return _COMBINED[EXPONENT_RULES.get(name, "")](bounds)


def _variables(values: Sequence[Value]) -> Dict[Value, Name]:
    return {value: Name("below_%d" % value.id) for value in values}


def count_elements(emitter: KernelEmitter, shape: Sequence[Operand]) -> Operand:
    """The number of elements of an array with a shape."""
    count = shape[0]
    for size in shape[1:]:
        count = emitter.pure("imul(%s, %s)" % (count, size))
    return count


def look(emitter: KernelEmitter, array: ArrayVariable, count: Operand) -> str:
    """The source that scans a contiguous array and gives the bound of all its elements."""
    return scan(emitter, array.type.dtype, count, array.data)
