"""Loop nests over arrays as one intrinsic each, which LLVM gets as loops it can vectorise.

A `Nest` (description.py) describes the computation per element. Its call is ``nest(sizes..., arrays..., scalars...)``.
An array is its data address and one stride per axis; the last array is written. Elements keep their width in memory, so
integers wrap as NumPy's do. If last strides are known only at run time, the loops exist in several versions: for the
likely strides, for one operand that is a column, and for any strides. Called by emit/fused_nest.py and
emit/array_values.py.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Collection, Dict, List, Optional

import numpy as np
from llvmlite import ir

from pijit.core.graph.element_ops import RAISING, STREAMED, WIDE
from pijit.core.kernel.llvm.builder import local, loop
from pijit.core.kernel.llvm.float_intrinsics import repeated, unfolded, unknown_word
from pijit.core.kernel.llvm.intrinsics import I1, I8, I64, INT, Intrinsic
from pijit.core.kernel.llvm.nest import (
    delayed_store,
    masked_rows,
    nontemporal,
    outputs,
    reciprocal_division,
    several_sums,
)
from pijit.core.kernel.llvm.nest.axes import (
    can_collapse,
    moving,
    with_long_rows,
    with_rows_last,
    write_parts,
    write_tiles,
)
from pijit.core.kernel.llvm.nest.description import ANY, FAR, GATHER, LIKELY, STEPS, UNIT, ZERO, Nest, Step, can_share
from pijit.core.kernel.llvm.nest.elements import (
    computed,
    converted,
    memory_type,
    narrowed,
    oddness,
    own_sign,
    result_dtype,
)
from pijit.core.kernel.llvm.nest.pairwise_sum import PAIRWISE_LEAST, fetch_ahead, write_sum
from pijit.core.kernel.llvm.nest.row_ends import WORDS, RowEnds
from pijit.core.kernel.llvm.nest.short_rows import can_be_short, write_rows
from pijit.core.kernel.llvm.nest.stepped_loads import load_vector
from pijit.core.kernel.llvm.threads import SharedWork, gains_by_width, units_of, write_shared

Loads = Callable[[Any, Dict[int, Any]], Dict[int, Any]]
"""Makes vectors by operand number, from an index and the vectors of loop-invariant operands."""

MOST_BROADCAST = 3
"""At most this many operands of unknown last stride get loops of their own for the case that one is a column."""


def _versions(nest: Nest) -> List[str]:
    """The kinds of last strides that loops are written for: likely ones, one operand that is a column, any."""
    unknown = [k for k, last in enumerate(nest.lasts) if last in LIKELY]
    if not unknown:
        return [nest.lasts]
    likely = "".join(LIKELY.get(last, last) for last in nest.lasts)
    read = [k for k in unknown if k < nest.read]
    columns = read if nest.ndim > 1 and len(read) <= MOST_BROADCAST else []
    return [likely] + [likely[:k] + ZERO + likely[k + 1:] for k in columns if nest.lasts[k] == ANY] + [
        "".join(ANY if last in LIKELY else last for last in nest.lasts)]


class _NestWriter:
    """Writes one nest's instructions."""

    def __init__(self, builder: Any, nest: Nest, args: List[Any]) -> None:
        self.builder = builder
        self.nest = nest
        self.dtypes = [np.dtype(code) for code in nest.arrays]
        self.sizes, rest = args[:nest.ndim], args[nest.ndim:]
        self.data: List[Any] = []
        self.strides: List[List[Any]] = []
        for k in range(len(self.dtypes)):
            axes = nest.ndim - (nest.sums and k >= len(self.dtypes) - nest.targets)
            self.data.append(rest[0])
            self.strides.append(rest[1:1 + axes])
            rest = rest[1 + axes:]
        if nest.same >= 0:
            self.data[-1], self.strides[-1] = self.data[nest.same], self.strides[nest.same]
        self.rolled = dict(zip(nest.rolled, rest[len(rest) - len(nest.rolled):]))
        self.rolled_axes = {axis for _, axis in nest.rolled}
        rest = rest[:len(rest) - len(nest.rolled)]
        count = sum(1 + 2 * axes for _, axes in nest.tables)
        self.tables, rest = rest[len(rest) - count:], rest[:len(rest) - count]
        self.scalars, self.pairwise = rest[:len(nest.scalars)], rest[len(nest.scalars):]
        self.kinds = self.dtypes[:nest.read] + [np.dtype(code) for code in nest.scalars]
        self.kinds += [self._step_dtype(step) for step in nest.steps]
        self.outside = local(builder, I8, 1) if nest.tables else None
        self.first_step = nest.read + len(nest.scalars)
        widths = sorted({8 * np.dtype(nest.steps[number].codes[-1]).itemsize for number in nest.watched})
        self.streams = False
        self.scopes: Any = None  # of the results, while a row with several results is written
        self.ends = RowEnds(self, self.pairwise[-WORDS:]) if nest.ends else None
        self.divided: Dict[int, Callable[[Any], Any]] = {}
        self.odd = {ir.IntType(width): local(builder, ir.IntType(width), 1) for width in widths}
        for kind in list(self.odd) if nest.families else ():
            lanes = ir.VectorType(kind, 8 * nontemporal.LINE // kind.width)
            self.odd[lanes] = local(builder, lanes, 1)

    def _step_dtype(self, step: Step) -> np.dtype[Any]:
        return np.dtype(self.nest.tables[step.table][0]) if step.operation == GATHER else result_dtype(step)

    def write(self) -> Any:
        """Write the nest; the result is 1 if an index was out of range or a watched result was odd, else 0."""
        noted = ([self.outside] if self.outside is not None else []) + list(self.odd.values())
        for place in noted:
            self.builder.store(ir.Constant(place.type.pointee, None), place)
        if self.nest.whole:
            self.store(self.builder.inttoptr(self.data[-1], I8.as_pointer()), self.nothing())
        self._write_versions([lasts.replace(FAR, ANY) for lasts in _versions(self.nest)])
        answer = self.builder.load(self.ends.written) if self.ends else ir.Constant(I64, 0)
        for place in noted:
            found = self.builder.load(place)
            if isinstance(found.type, ir.VectorType):
                found = self.builder.bitcast(found, ir.IntType(8 * nontemporal.LINE))
            is_set = self.builder.icmp_unsigned("!=", found, ir.Constant(found.type, 0))
            answer = self.builder.or_(answer, self.builder.zext(is_set, I64))
        return answer

    def _write_versions(self, versions: List[str]) -> None:
        """Write loops for the first version if the arrays have its last strides; the last version fits all."""
        builder = self.builder
        if len(versions) == 1:
            self._whole(versions[0])
            return
        holds = ir.Constant(I1, 1)
        for k, (known, last) in enumerate(zip(self.nest.lasts, versions[0])):
            if known in LIKELY:
                holds = builder.and_(holds, builder.icmp_signed("==", self.strides[k][-1], self.stride(k, last)))
        with builder.if_else(holds) as (then, other):
            with then:
                self._whole(versions[0])
            with other:
                self._write_versions(versions[1:])

    def _whole(self, lasts: str) -> None:
        """All axes; with non-temporal stores if the result is new and large."""
        builder, itemsize = self.builder, self.dtypes[-1].itemsize
        if not self._can_stream(lasts):
            self._axis(0, self.data, lasts)
            return
        row = builder.mul(self.sizes[-1], ir.Constant(I64, itemsize))
        size = self.pairwise[0] if self.nest.part else functools.reduce(builder.mul, self.sizes[:-1], row)
        large = self.ends.allowed if self.ends else builder.and_(
            builder.icmp_signed(">=", size, ir.Constant(I64, nontemporal.LEAST)),
            builder.icmp_signed(">=", row, ir.Constant(I64, nontemporal.LEAST_ROW)))
        with builder.if_else(large, likely=False) as (then, other):
            with then:
                self.streams = True
                self._axis(0, self.data, lasts)
                self.streams = False
                if self.ends:
                    self.ends.finish()
                builder.fence("seq_cst")
            with other:
                self._axis(0, self.data, lasts)

    def _can_stream(self, lasts: str) -> bool:
        nest = self.nest
        if not nest.families or nest.tables or lasts[-1] != UNIT or nest.ndim - 1 in self.rolled_axes:
            return False
        return set(lasts) <= {UNIT, ZERO} and self.dtypes[-1].kind == "f" and self._can_be_wide(lasts, STREAMED)

    def stride(self, array: int, last: str) -> Any:
        """The last stride of an array, as a constant if its kind is known."""
        return self.strides[array][-1] if last == ANY else ir.Constant(I64, STEPS[last] * self.dtypes[array].itemsize)

    def _axis(self, axis: int, rows: List[Any], lasts: str) -> None:
        if axis in self.rolled_axes:
            write_parts(self, axis, rows, lambda size, own: self._along(axis, size, own, lasts))
        else:
            self._along(axis, self.sizes[axis], rows, lasts)

    def _along(self, axis: int, size: Any, rows: List[Any], lasts: str) -> None:
        """``size`` elements of an axis."""
        builder = self.builder
        if axis < self.nest.ndim - 1:
            def rest() -> None:
                loop(builder, size, lambda index: self._axis(
                    axis + 1, [builder.add(row, builder.mul(index, strides[axis]))
                               for row, strides in zip(rows, self.strides)], lasts))

            if axis == self.nest.ndim - 2 and FAR in self.nest.lasts and not self.rolled_axes:
                write_tiles(self, rows, lambda own, places: self._along(axis + 1, own, places, lasts), rest)
            elif axis == self.nest.ndim - 2 and ANY not in lasts and can_be_short(self):
                write_rows(self, rows, lasts, rest)
            else:
                rest()
            return
        # LLVM's alias analysis follows pointers that differ from one base, not integers that become pointers
        rows = self.pointers(rows)
        with builder.if_else(builder.icmp_signed("<", ir.Constant(I64, 0), size)) as (then, empty):
            with then:
                self._row(size, rows, lasts)
            with empty:
                if self.nest.sums and not self.nest.whole:
                    for row in rows[-self.nest.targets:]:
                        self.store(row, self.nothing())

    def pointers(self, rows: List[Any]) -> List[Any]:
        pointers: List[Any] = []
        for k, row in enumerate(rows):
            first = self._beside(k)
            pointers.append(self.builder.inttoptr(row, I8.as_pointer()) if first < 0 else
                            self.builder.gep(pointers[first], [self.data[k]]))
        return pointers

    def _beside(self, array: int) -> int:
        """The array that this one is part of, or -1."""
        if array == len(self.data) - 1 and self.nest.same >= 0:
            array = self.nest.same
        return self.nest.beside[array] if self.nest.beside else -1

    def nothing(self) -> Any:
        return ir.Constant(memory_type(self.dtypes[-1]), 0)

    def _row(self, size: Any, rows: List[Any], lasts: str) -> None:
        """The last axis; loop-invariant values are computed before."""
        fixed = self.known()
        fixed.update({k: self.load(rows[k], self.dtypes[k])
                      for k, last in enumerate(lasts[:self.nest.read]) if last == ZERO})
        fixed = self._with_steps(fixed)
        if self.nest.totals:
            several_sums.write_row(self, size, rows, lasts, fixed, self._can_be_wide(lasts))
            return

        if self.nest.sums:
            start = self.load(rows[-1], self.dtypes[-1]) if self.nest.whole else self.nothing()
            lanes = self.lanes(rows, lasts, fixed) if self.nest.halves and self._can_be_wide(lasts) else None
            write_sum(self.builder, size, start, self.pairwise, self.nest.halves, rows[-1],
                      lambda index: self.value(self.places(rows[:-1], index, lasts), fixed), lanes)
            return

        if self.streams:
            count = nontemporal.LINE // self.dtypes[-1].itemsize
            kind = ir.VectorType(memory_type(self.dtypes[-1]), count)
            nontemporal.stream_row(self.builder, size, kind, rows[-1], self.lanes(rows, lasts, fixed, count),
                                   self._leads(rows, lasts) + self._following(), self.ends)
            return

        if self.nest.delays_stores:
            delayed_store.write_row(self, size, rows, lasts, fixed)
            return

        if self.nest.outputs:
            outputs.write_row(self, size, rows, lasts, fixed)
            return

        def body(index: Any) -> None:
            places = self.places(rows, index, lasts)
            self.store(places[-1], self.value(places[:-1], fixed))

        mask = masked_rows.mask_of(self.nest, lasts, UNIT)
        divisors = reciprocal_division.divisors(self, fixed) if mask < 0 and ANY not in lasts else {}
        if divisors:
            reciprocal_division.write_row(self, size, rows, lasts, fixed, divisors)
        elif mask < 0:
            loop(self.builder, size, body)
        else:
            masked_rows.write_row(self.builder, size, rows[mask], body)

    def _following(self) -> List[Any]:
        """The addresses that the next part reads, as rows to prefetch from."""
        places = self.pairwise[1:] if self.nest.part else []
        return [self.builder.inttoptr(self.builder.sub(place, ir.Constant(I64, nontemporal.AHEAD)), I8.as_pointer())
                for place in places]

    def _leads(self, rows: List[Any], lasts: str) -> List[Any]:
        """For each family the row of its arrays that has the highest address."""
        builder, found = self.builder, {}  # type: Any, Dict[int, Any]
        for row, last, family in zip(rows, lasts, self.nest.families):
            if last != UNIT:
                continue
            before = found.get(family)
            found[family] = row if before is None else builder.select(
                builder.icmp_unsigned("<", before, row), row, before)
        return list(found.values())

    def known(self) -> Dict[int, Any]:
        """The scalars by operand number."""
        return dict(enumerate(self.scalars, self.nest.read))

    def _can_be_wide(self, lasts: str, known: Collection[str] = WIDE) -> bool:
        """Whether the elements of a row can be loaded and computed as vectors."""
        code = self.nest.arrays[-1]
        alike = set(self.nest.arrays + self.nest.scalars) == {code} != {"e"} and self.kinds[-1] == self.dtypes[-1]
        steps = ANY not in lasts and set(lasts[self.nest.read:]) <= {UNIT, ZERO}
        return alike and steps and all(
            step.operation in known and set(step.codes) <= {code, "?"} and all(
                map(self._is_of, step.operands, step.codes)) for step in self.nest.steps)

    def _is_of(self, number: int, code: str) -> bool:
        """Whether an operand needs no conversion."""
        return self.kinds[number] == np.dtype(code)

    def lanes(self, rows: List[Any], lasts: str, fixed: Dict[int, Any], count: int = PAIRWISE_LEAST,
              loads: Optional[Loads] = None) -> Callable[[Any], Any]:
        """A function that computes vectors of a row's elements from an index on."""
        values = self.vectors(rows, lasts, fixed, count, loads)
        return lambda index: values(index)[len(self.kinds) - 1]

    def vectors(self, rows: List[Any], lasts: str, fixed: Dict[int, Any], count: int,
                loads: Optional[Loads] = None) -> Callable[[Any], Dict[int, Any]]:
        """A function that computes all operands and steps of a row as vectors from an index on.

        ``loads`` loads the vectors of some arrays from an index on, and may compute steps. It gets the index and the
        vectors of loop-invariant operands.
        """
        kind = ir.VectorType(memory_type(self.dtypes[-1]), count)
        same = {k: repeated(self.builder, own_sign(self.builder, value), count) for k, value in fixed.items()}

        def vectors(index: Any) -> Dict[int, Any]:
            values = dict(same) if loads is None else {**loads(index, same), **same}
            for k, place in enumerate(self.places(rows[:self.nest.read], index, lasts)):
                if k not in values:
                    if not self.nest.steps:
                        fetch_ahead(self.builder, place)
                    values[k] = load_vector(self.builder, place, kind, self.dtypes[k].itemsize, STEPS[lasts[k]])
            return self._with_steps(values)
        return vectors

    def places(self, rows: List[Any], index: Any, lasts: str) -> List[Any]:
        """The addresses of the rows' elements at an index; ``lasts`` has the kinds of the rows' last strides."""
        return [self._place(k, row, index, last) for k, (row, last) in enumerate(zip(rows, lasts))]

    def _place(self, array: int, row: Any, index: Any, last: str) -> Any:
        """The address of an element of a row.

        LLVM 22 computes two costs of a loop, and ends the process where they differ. They differ for elements in
        reverse order, if an instruction multiplies the index by a negative constant. So the address counts elements
        there, and LLVM does not know other negative strides.
        """
        builder = self.builder
        if last in STEPS and STEPS[last] < 0:
            elements = builder.bitcast(row, ir.IntType(8 * self.dtypes[array].itemsize).as_pointer())
            return builder.bitcast(builder.gep(elements, [builder.mul(index, ir.Constant(I64, STEPS[last]))]), row.type)
        stride = self.stride(array, last)
        if isinstance(stride, ir.Constant) and stride.constant < 0:
            stride = unknown_word(builder, stride)
        return builder.gep(row, [builder.mul(index, stride)])

    def value(self, places: List[Any], fixed: Dict[int, Any]) -> Any:
        """The result of the steps for the elements at ``places``, in the last array's dtype."""
        last = len(self.kinds) - 1
        return converted(self.builder, self.values(places, fixed)[last], self.kinds[last], self.dtypes[-1])

    def values(self, places: List[Any], fixed: Dict[int, Any]) -> Dict[int, Any]:
        """The elements at ``places`` and the results of all steps, by operand number."""
        values = {k: self.load(place, dtype) for k, (place, dtype) in enumerate(zip(places, self.dtypes))
                  if k not in fixed}
        values.update(fixed)
        return self._with_steps(values)

    def _with_steps(self, values: Dict[int, Any]) -> Dict[int, Any]:
        """Values by operand number, with the results of all steps whose operands are among them."""
        values = dict(values)
        for number, step in enumerate(self.nest.steps, self.first_step):
            if number not in values and all(k in values for k in step.operands):
                values[number] = self.step(number, values)
        return values

    def step(self, number: int, values: Dict[int, Any]) -> Any:
        """The result of the step with an operand number; ``values`` has its operands."""
        step = self.nest.steps[number - self.first_step]
        operands = [self._operand(step, k, values[k], np.dtype(code)) for k, code in zip(step.operands, step.codes)]
        if number in self.divided:
            result = self.divided[number](operands[0])
        elif step.operation == GATHER:
            result = self._found(step.table, step.codes, operands)
        else:
            result = computed(self.builder, step, operands)
        if number - self.first_step in self.nest.watched:
            self._watch(step, result, operands)
        return result

    def _operand(self, step: Step, number: int, value: Any, dtype: np.dtype[Any]) -> Any:
        """An operand of a step, in the dtype of the step. A computed integer may be a constant to LLVM."""
        source = self.kinds[number]
        value = converted(self.builder, value, source, dtype)
        if number >= self.first_step and source.kind in "biu" and dtype.char in "fd" and step.operation in RAISING:
            return unfolded(self.builder, value)
        return value

    def _watch(self, step: Step, result: Any, operands: List[Any]) -> None:
        """Record whether the result of a step is odd."""
        odd = oddness(self.builder, step, result, operands)
        place = self.odd[odd.type]
        self.builder.store(self.builder.or_(self.builder.load(place), odd), place)

    def _found(self, number: int, codes: str, indices: List[Any]) -> Any:
        """The element of a table at an index for each axis; the first element where one is out of range."""
        builder, zero = self.builder, ir.Constant(I64, 0)
        code, axes = self.nest.tables[number]
        first = sum(1 + 2 * before for _, before in self.nest.tables[:number])
        strides, sizes = self.tables[first + 1:first + 1 + axes], self.tables[first + 1 + axes:first + 1 + 2 * axes]
        offset, outside = zero, ir.Constant(I1, 0)
        for index, letter, stride, size in zip(indices, codes, strides, sizes):
            index = converted(builder, index, np.dtype(letter), np.dtype(np.int64))
            index = builder.select(builder.icmp_signed("<", index, zero), builder.add(index, size), index)
            beyond = builder.icmp_unsigned(">=", index, size)
            outside = builder.or_(outside, beyond)
            offset = builder.add(offset, builder.mul(builder.select(beyond, zero, index), stride))
        builder.store(builder.or_(builder.load(self.outside), builder.zext(outside, I8)), self.outside)
        table = builder.inttoptr(self.tables[first], I8.as_pointer())
        return self.load(builder.gep(table, [offset]), np.dtype(code))

    def load(self, place: Any, dtype: np.dtype[Any]) -> Any:
        pointer = self.builder.bitcast(place, memory_type(dtype).as_pointer())
        value = self.builder.load(pointer, align=1)
        if self.scopes is not None:
            self.scopes.mark_load(value)
        return self.builder.icmp_unsigned("!=", value, ir.Constant(I8, 0)) if dtype.kind == "b" else value

    def store(self, place: Any, value: Any) -> Any:
        if value.type == I1:
            value = self.builder.zext(value, I8)
        return self.builder.store(value, self.builder.bitcast(place, value.type.as_pointer()), align=1)


def nest_intrinsic(nest: Nest) -> Intrinsic:
    """The intrinsic of a nest; `Nest` tells its arguments.

    If threads may share the nest, the address of the runtime's ``parallel`` comes before these.
    """
    def build(builder: Any, args: Any) -> Any:
        values = [value for _, value in args]
        runtime = values.pop(0) if nest.least else None
        first = nest.ndim + sum(1 + nest.ndim for _ in nest.arrays) - nest.sums * nest.targets
        scalars = slice(first, first + len(nest.scalars))
        values[scalars] = [narrowed(builder, value, code) for value, code in zip(values[scalars], nest.scalars)]
        fixed = isinstance(values[0], ir.Constant)
        values = with_rows_last(builder, nest, values) if set(nest.lasts) == {ANY} and not fixed else values
        if not nest.least or not can_share(nest) or fixed:
            return _NestWriter(builder, nest, with_long_rows(builder, nest, values)).write()
        units = units_of(len(nest.arrays), [step.operation for step in nest.steps], nest.sums)
        buffer = scalars.stop + 2 if nest.sums and len(values) > scalars.stop + sum(
            1 + 2 * axes for _, axes in nest.tables) + len(nest.rolled) else -1
        wide = not nest.sums and gains_by_width([step.operation for step in nest.steps])
        changed = nest.ndim if can_collapse(nest) else 0
        shared = SharedWork(moving(nest), nest.ndim, units, nest.least, buffer, wide, changed)
        answer = write_shared(builder, nest, runtime, values, shared,
                              lambda inner, own: _NestWriter(inner, nest, own).write(),
                              lambda inner, own: with_long_rows(inner, nest, own))
        return answer if nest.tables or nest.watched or nest.ends else ir.Constant(I64, 0)
    return Intrinsic(INT, None, build)
