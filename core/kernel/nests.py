"""Loop nests over arrays as one intrinsic each, which LLVM gets as loops it can vectorise.

A :class:`Nest` says what is computed per element. Its call is ``nest(sizes..., arrays..., scalars...)``,
where an array is its data address and one stride per axis, the last array being the one that is written.
Elements keep the width they have in memory, so integers wrap as NumPy's do. Where the last strides of some
arrays are known only at run time, the loops exist several times: for unit strides, for one operand that is a column,
and for any.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Tuple

import numpy as np
from llvmlite import ir
from pijit.core.kernel.intrinsics import F4, F8, I1, I8, I64, INT, Intrinsic
from pijit.core.kernel.parallel import units_of, write_shared
from pijit.core.kernel.row_sums import local, loop, write_sum

UNIT, ZERO, ANY = "u", "0", "?"


class Nest(NamedTuple):
    """What a nest computes.

    ``ndim`` axes; ``arrays`` and ``scalars`` are dtype letters, ``lasts`` tells each array's last stride
    (UNIT, ZERO or ANY). ``steps`` are (operation, dtype letters of its operands, operand numbers): operands
    count arrays read, then scalars, then steps. The last step's result goes to the last array.

    With ``least`` threads share a nest of at least so much work (parallel.py).

    With ``sums`` the last axis is added up as NumPy does it, and the last array has one axis less. Sums of floats
    take three more arguments: the function and the data of NumPy's inner loop, and the address of a buffer of
    PAIRWISE_RUN elements; without these they are added up in any order. With ``halves`` these are for NaN alone.

    With ``whole`` integers are added up along all axes, to the one element of the last array, whose strides are 0.

    ``same`` is the number of an array that is read and has the memory and strides of the last one, or -1: LLVM would
    find that the two overlap.

    ``tables`` are (dtype letter, number of axes) of arrays in which elements are found: step ``gather0`` has an index into
    each axis of the first one. They are the last arguments: data address, strides, shape. The nest's result is 1 where an
    index was out of range, else 0.

    ``watched`` are the numbers of steps whose results are looked at: the nest's result is also 1 where one of arithmetic was
    infinite or NaN, or operands of a minimum or maximum were NaN or zeros of two signs; of a clip, too, but for a NaN between
    bounds, which stays what it is; or a float did not fit into an integer.
    """

    ndim: int
    arrays: str
    lasts: str
    scalars: str
    steps: Tuple[Tuple[str, str, Tuple[int, ...]], ...]
    sums: bool = False
    tables: Tuple[Tuple[str, int], ...] = ()
    least: int = 0
    same: int = -1
    watched: Tuple[int, ...] = ()
    halves: bool = False
    whole: bool = False


def _memory_type(dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return F8 if dtype.itemsize == 8 else F4
    return ir.IntType(8 * dtype.itemsize)


def _value_type(dtype: np.dtype) -> Any:
    return I1 if dtype.kind == "b" else _memory_type(dtype)


def can_convert(source: np.dtype, target: np.dtype) -> bool:
    """Whether elements of ``source`` become ``target`` by one conversion that raises no flag and wraps
    nothing."""
    if "c" in (source.kind, target.kind):
        return False
    return (source == target or np.can_cast(source, target, "safe")
            or target.kind == "f" and source.kind in "iub")


def _converted(builder: Any, value: Any, source: np.dtype, target: np.dtype) -> Any:
    kind = _value_type(target)
    if source == target or value.type == kind and source.kind != "b":
        return value
    if target.kind == "f":
        if source.kind == "f":
            return builder.fpext(value, kind)
        return (builder.sitofp if source.kind == "i" else builder.uitofp)(value, kind)
    return (builder.sext if source.kind == "i" else builder.zext)(value, kind)


# ---- operations ----


def _llvm(name: str) -> Callable[..., Any]:
    return lambda builder, dtype, *args: getattr(builder, name)(*args)


def _function(name: str) -> Callable[..., Any]:
    def build(builder: Any, dtype: np.dtype, value: Any) -> Any:
        kind = ir.FunctionType(value.type, [value.type])
        return builder.call(builder.module.declare_intrinsic(name, [value.type], kind), [value])
    return build


def _compare(symbol: str) -> Callable[..., Any]:
    def build(builder: Any, dtype: np.dtype, left: Any, right: Any) -> Any:
        if dtype.kind == "f":
            return (builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered)(symbol, left, right)
        return (builder.icmp_signed if dtype.kind == "i" else builder.icmp_unsigned)(symbol, left, right)
    return build


def _pick(symbol: str) -> Callable[..., Any]:
    def build(builder: Any, dtype: np.dtype, left: Any, right: Any) -> Any:
        return builder.select(_compare(symbol)(builder, dtype, left, right), left, right)
    return build


def _clip(builder: Any, dtype: np.dtype, value: Any, low: Any, high: Any) -> Any:
    value = builder.select(_compare("<")(builder, dtype, value, low), low, value)
    return builder.select(_compare(">")(builder, dtype, value, high), high, value)


def _sign(builder: Any, dtype: np.dtype, value: Any) -> Any:
    """0.0 of zeros of both signs; NaN stays what it is."""
    zero = ir.Constant(value.type, 0.0)
    result = builder.select(builder.fcmp_ordered("==", value, zero), zero, value)
    for symbol, sign in ((">", 1.0), ("<", -1.0)):
        result = builder.select(builder.fcmp_ordered(symbol, value, zero), ir.Constant(value.type, sign), result)
    return result


def _infinity(value: Any) -> Any:
    return ir.Constant(value.type, float("inf"))


def fits(builder: Any, value: Any, target: np.dtype) -> Any:
    """Whether a float is certain to have a place among the integers of a dtype once its fraction is gone."""
    bits = 8 * target.itemsize
    low, high = (-2.0 ** (bits - 1), 2.0 ** (bits - 1)) if target.kind == "i" else (-1.0, 2.0 ** bits)
    above = builder.fcmp_ordered(">=" if target.kind == "i" else ">", value, ir.Constant(value.type, low))
    return builder.and_(above, builder.fcmp_ordered("<", value, ir.Constant(value.type, high)))


def _to(target: np.dtype) -> Callable[..., Any]:
    def build(builder: Any, dtype: np.dtype, value: Any) -> Any:
        value = builder.select(fits(builder, value, target), value, ir.Constant(value.type, 0.0))
        if target.itemsize < 4:
            return builder.trunc(builder.fptosi(value, ir.IntType(32)), _memory_type(target))
        return (builder.fptosi if target.kind == "i" else builder.fptoui)(value, _memory_type(target))
    return build


def _negative(builder: Any, dtype: np.dtype, value: Any) -> Any:
    return builder.fneg(value) if dtype.kind == "f" else builder.neg(value)


def _absolute(builder: Any, dtype: np.dtype, value: Any) -> Any:
    if dtype.kind == "f":
        return _function("llvm.fabs")(builder, dtype, value)
    if dtype.kind == "u":
        return value
    below = builder.icmp_signed("<", value, ir.Constant(value.type, 0))
    return builder.select(below, builder.neg(value), value)


def _reciprocal(builder: Any, dtype: np.dtype, value: Any) -> Any:
    return builder.fdiv(ir.Constant(value.type, 1.0), value)


def _by_kind(floating: str, integer: str) -> Callable[..., Any]:
    return lambda builder, dtype, *args: getattr(builder, floating if dtype.kind == "f" else integer)(*args)


_OPERATIONS: Dict[str, Callable[..., Any]] = {
    "add": _by_kind("fadd", "add"), "sub": _by_kind("fsub", "sub"), "mul": _by_kind("fmul", "mul"),
    "truediv": _llvm("fdiv"), "neg": _negative, "abs": _absolute, "sqrt": _function("llvm.sqrt"),
    "square": lambda builder, dtype, a: _OPERATIONS["mul"](builder, dtype, a, a),
    "reciprocal": _reciprocal, "and": _llvm("and_"), "or": _llvm("or_"), "xor": _llvm("xor"),
    "where": lambda builder, dtype, condition, a, b: builder.select(condition, a, b),
    "invert": lambda builder, dtype, a: builder.not_(a), "minimum": _pick("<"), "maximum": _pick(">"),
    "clip": _clip, "sign": _sign,
}
PREDICATES = {
    "isnan": lambda builder, dtype, a: builder.fcmp_unordered("uno", a, a),
    "isinf": lambda builder, dtype, a: builder.fcmp_ordered("==", _absolute(builder, dtype, a), _infinity(a)),
    "isfinite": lambda builder, dtype, a: builder.fcmp_ordered("<", _absolute(builder, dtype, a), _infinity(a)),
}
_OPERATIONS.update(PREDICATES)
_OPERATIONS.update(("to_" + code, _to(np.dtype(code))) for code in "bBhHiIlLqQ")
COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==",
               "not_equal": "!="}
_OPERATIONS.update((name, _compare(symbol)) for name, symbol in COMPARISONS.items())


def result_dtype(operation: str, dtype: np.dtype) -> np.dtype:
    """The dtype of an operation's result, but for elements that are found."""
    if operation.startswith("to_"):
        return np.dtype(operation[3:])
    return np.dtype(bool) if operation in COMPARISONS or operation in PREDICATES else dtype


# ---- loops ----

MOST_BROADCAST = 3
"""So many operands of unknown last stride have loops of their own for the case that one is a column."""


def _versions(nest: Nest) -> List[str]:
    """The kinds of last strides that loops are written for: units, one operand broadcast along the last axis, any."""
    unknown = [k for k, last in enumerate(nest.lasts) if last == ANY]
    if not unknown:
        return [nest.lasts]
    units = nest.lasts.replace(ANY, UNIT)
    read = [k for k in unknown if k < len(nest.lasts) - 1]
    columns = read if nest.ndim > 1 and len(read) <= MOST_BROADCAST else []
    return [units] + [units[:k] + ZERO + units[k + 1:] for k in columns] + [nest.lasts]



class _Writer:
    """Writes one nest's instructions."""

    def __init__(self, builder: Any, nest: Nest, args: List[Any]) -> None:
        self.builder = builder
        self.nest = nest
        self.dtypes = [np.dtype(code) for code in nest.arrays]
        self.sizes, rest = args[:nest.ndim], args[nest.ndim:]
        self.data: List[Any] = []
        self.strides: List[List[Any]] = []
        for k in range(len(self.dtypes)):
            axes = nest.ndim - (nest.sums and k == len(self.dtypes) - 1)
            self.data.append(rest[0])
            self.strides.append(rest[1:1 + axes])
            rest = rest[1 + axes:]
        if nest.same >= 0:
            self.data[-1], self.strides[-1] = self.data[nest.same], self.strides[nest.same]
        count = sum(1 + 2 * axes for _, axes in nest.tables)
        self.tables, rest = rest[len(rest) - count:], rest[:len(rest) - count]
        self.scalars, self.pairwise = rest[:len(nest.scalars)], rest[len(nest.scalars):]
        self.kinds = self.dtypes[:-1] + [np.dtype(code) for code in nest.scalars]
        self.kinds += [self._step_dtype(name, codes) for name, codes, _ in nest.steps]
        self.outside = local(builder, I8, 1) if nest.tables else None
        self.first_step = len(self.dtypes) - 1 + len(nest.scalars)
        widths = sorted({8 * np.dtype(nest.steps[number][1][-1]).itemsize for number in nest.watched})
        self.odd = {width: local(builder, ir.IntType(width), 1) for width in widths}

    def _step_dtype(self, name: str, codes: str) -> np.dtype:
        if name.startswith("gather"):
            return np.dtype(self.nest.tables[int(name[6:])][0])
        return result_dtype(name, np.dtype(codes[-1]))

    def write(self) -> Any:
        """The result is 1 where an index was out of range, or something odd was seen, else 0."""
        noted = ([self.outside] if self.outside is not None else []) + list(self.odd.values())
        for place in noted:
            self.builder.store(ir.Constant(place.type.pointee, 0), place)
        if self.nest.whole:
            self._store(self.builder.inttoptr(self.data[-1], I8.as_pointer()), self._nothing())
        self._write_versions(_versions(self.nest))
        answer = ir.Constant(I64, 0)
        for place in noted:
            seen = self.builder.icmp_unsigned("!=", self.builder.load(place), ir.Constant(place.type.pointee, 0))
            answer = self.builder.or_(answer, self.builder.zext(seen, I64))
        return answer

    def _write_versions(self, versions: List[str]) -> None:
        """Loops for the first version whose last strides are those of the arrays; the last one serves all."""
        builder = self.builder
        if len(versions) == 1:
            self._axis(0, self.data, versions[0])
            return
        holds = ir.Constant(I1, 1)
        for k, (known, last) in enumerate(zip(self.nest.lasts, versions[0])):
            if known == ANY:
                wanted = self._size(k) if last == UNIT else ir.Constant(I64, 0)
                holds = builder.and_(holds, builder.icmp_signed("==", self.strides[k][-1], wanted))
        with builder.if_else(holds) as (then, other):
            with then:
                self._axis(0, self.data, versions[0])
            with other:
                self._write_versions(versions[1:])

    def _size(self, array: int) -> Any:
        return ir.Constant(I64, self.dtypes[array].itemsize)

    def _axis(self, axis: int, rows: List[Any], lasts: str) -> None:
        builder = self.builder
        if axis < self.nest.ndim - 1:
            loop(builder, self.sizes[axis], lambda index: self._axis(
                axis + 1, [builder.add(row, builder.mul(index, strides[axis]))
                           for row, strides in zip(rows, self.strides)], lasts))
            return
        # LLVM follows pointers that differ from one base, not integers that become pointers
        rows = [builder.inttoptr(row, I8.as_pointer()) for row in rows]
        with builder.if_else(builder.icmp_signed("<", ir.Constant(I64, 0), self.sizes[axis])) as (then, empty):
            with then:
                self._row(self.sizes[axis], rows, lasts)
            with empty:
                if self.nest.sums and not self.nest.whole:
                    self._store(rows[-1], self._nothing())

    def _nothing(self) -> Any:
        return ir.Constant(_memory_type(self.dtypes[-1]), 0)

    def _row(self, size: Any, rows: List[Any], lasts: str) -> None:
        """The last axis; what is the same for all its elements is computed before."""
        fixed = dict(enumerate(self.scalars, len(self.dtypes) - 1))
        fixed.update({k: self._load(rows[k], self.dtypes[k]) for k, last in enumerate(lasts[:-1]) if last == ZERO})
        fixed = self._with_steps(fixed)
        if self.nest.sums:
            start = self._load(rows[-1], self.dtypes[-1]) if self.nest.whole else self._nothing()
            write_sum(self.builder, size, start, self.pairwise, self.nest.halves, rows[-1],
                      lambda index: self.value(self._places(rows[:-1], index, lasts), fixed))
            return

        def body(index: Any) -> None:
            places = self._places(rows, index, lasts)
            self._store(places[-1], self.value(places[:-1], fixed))

        loop(self.builder, size, body)

    def _places(self, rows: List[Any], index: Any, lasts: str) -> List[Any]:
        """Where the elements of rows are, whose last strides are as ``lasts`` says."""
        places = []
        for k, (row, last) in enumerate(zip(rows, lasts)):
            stride = self._size(k) if last == UNIT else ir.Constant(I64, 0) if last == ZERO else self.strides[k][-1]
            places.append(self.builder.gep(row, [self.builder.mul(index, stride)]))
        return places

    def value(self, places: List[Any], fixed: Dict[int, Any]) -> Any:
        """What the steps make of the elements at places, as the last array holds it."""
        values = {k: self._load(place, dtype) for k, (place, dtype) in enumerate(zip(places, self.dtypes))
                  if k not in fixed}
        values.update(fixed)
        last = len(self.kinds) - 1
        return _converted(self.builder, self._with_steps(values)[last], self.kinds[last], self.dtypes[-1])

    def _with_steps(self, values: Dict[int, Any]) -> Dict[int, Any]:
        """Values by operand number, and those of the steps whose operands all have one."""
        values = dict(values)
        for number, (name, codes, numbers) in enumerate(self.nest.steps, self.first_step):
            if number not in values and all(k in values for k in numbers):
                operands = [_converted(self.builder, values[k], self.kinds[k], np.dtype(code))
                            for k, code in zip(numbers, codes)]
                if name.startswith("gather"):
                    values[number] = self._found(int(name[6:]), codes, operands)
                else:
                    values[number] = _OPERATIONS[name](self.builder, np.dtype(codes[-1]), *operands)
                if number - self.first_step in self.nest.watched:
                    self._watch(name, values[number], operands)
        return values

    def _watch(self, name: str, result: Any, operands: List[Any]) -> None:
        """Note what is odd about a step: its result, or for an extreme its operands."""
        builder, width = self.builder, 64 if isinstance(operands[0].type, ir.DoubleType) else 32
        kind = ir.IntType(width)
        if name in ("minimum", "maximum"):
            odd = self._unlike(builder.fcmp_unordered("==", *operands), *operands)
        elif name.startswith("to_"):
            odd = builder.zext(builder.not_(fits(builder, operands[0], np.dtype(name[3:]))), kind)
        elif name == "clip":
            value, low, high = operands
            above = builder.select(builder.fcmp_ordered("<", value, low), low, value)
            odd = builder.zext(builder.fcmp_unordered("uno", low, high), kind)
            odd = builder.or_(odd, self._unlike(builder.fcmp_ordered("==", value, low), value, low))
            odd = builder.or_(odd, self._unlike(builder.fcmp_ordered("==", above, high), above, high))
        else:
            odd = builder.bitcast(builder.fsub(result, result), kind)  # 0.0 but for infinity and NaN
        builder.store(builder.or_(builder.load(self.odd[width]), odd), self.odd[width])

    def _unlike(self, equal: Any, one: Any, other: Any) -> Any:
        """The bits in which two floats differ where they are equal, else 0."""
        kind = ir.IntType(64 if isinstance(one.type, ir.DoubleType) else 32)
        bits = self.builder.xor(self.builder.bitcast(one, kind), self.builder.bitcast(other, kind))
        return self.builder.select(equal, bits, ir.Constant(kind, 0))

    def _found(self, number: int, codes: str, indices: List[Any]) -> Any:
        """The element of a table at an index for each axis, the first element where one is out of range."""
        builder, zero = self.builder, ir.Constant(I64, 0)
        code, axes = self.nest.tables[number]
        first = sum(1 + 2 * before for _, before in self.nest.tables[:number])
        strides, sizes = self.tables[first + 1:first + 1 + axes], self.tables[first + 1 + axes:first + 1 + 2 * axes]
        offset, outside = zero, ir.Constant(I1, 0)
        for index, letter, stride, size in zip(indices, codes, strides, sizes):
            index = _converted(builder, index, np.dtype(letter), np.dtype(np.int64))
            index = builder.select(builder.icmp_signed("<", index, zero), builder.add(index, size), index)
            beyond = builder.icmp_unsigned(">=", index, size)
            outside = builder.or_(outside, beyond)
            offset = builder.add(offset, builder.mul(builder.select(beyond, zero, index), stride))
        builder.store(builder.or_(builder.load(self.outside), builder.zext(outside, I8)), self.outside)
        table = builder.inttoptr(self.tables[first], I8.as_pointer())
        return self._load(builder.gep(table, [offset]), np.dtype(code))

    def _load(self, place: Any, dtype: np.dtype) -> Any:
        pointer = self.builder.bitcast(place, _memory_type(dtype).as_pointer())
        value = self.builder.load(pointer, align=1)
        return self.builder.icmp_unsigned("!=", value, ir.Constant(I8, 0)) if dtype.kind == "b" else value

    def _store(self, place: Any, value: Any) -> None:
        if value.type == I1:
            value = self.builder.zext(value, I8)
        self.builder.store(value, self.builder.bitcast(place, value.type.as_pointer()), align=1)


def _narrowed(builder: Any, value: Any, code: str) -> Any:
    """A scalar variable at the width that its dtype has."""
    kind = _value_type(np.dtype(code))
    if isinstance(kind, ir.IntType) and value.type.width > kind.width:
        return builder.trunc(value, kind)
    return value


def can_share(nest: Nest) -> bool:
    """Whether parts of the first axis can be computed at once: its results are apart."""
    return nest.ndim > nest.sums and not nest.whole


def _moving(nest: Nest) -> List[Tuple[int, int]]:
    """The positions of each array's address and of its stride along the first axis, among the nest's arguments."""
    first = nest.ndim
    found = []
    for _ in nest.arrays:
        found.append((first, first + 1))
        first += 1 + nest.ndim
    return found


def nest_intrinsic(nest: Nest) -> Intrinsic:
    """The intrinsic of a nest; see the module's first lines for its arguments.

    One that threads may share has the address of the runtime's ``parallel`` before these.
    """
    def build(builder: Any, args: Any) -> Any:
        values = [value for _, value in args]
        runtime = values.pop(0) if nest.least else None
        first = nest.ndim + sum(1 + nest.ndim for _ in nest.arrays) - nest.sums
        scalars = slice(first, first + len(nest.scalars))
        values[scalars] = [_narrowed(builder, value, code) for value, code in zip(values[scalars], nest.scalars)]
        if not nest.least or not can_share(nest) or isinstance(values[0], ir.Constant):
            return _Writer(builder, nest, values).write()
        units = units_of(len(nest.arrays), [name for name, _, _ in nest.steps], nest.sums)
        rest = len(values) - scalars.stop - sum(1 + 2 * axes for _, axes in nest.tables)
        buffer = scalars.stop + 2 if rest else -1
        answer = write_shared(builder, runtime, values, _moving(nest), nest.ndim, units, nest.least, buffer,
                              lambda inner, own: _Writer(inner, nest, own).write())
        return answer if nest.tables or nest.watched else ir.Constant(I64, 0)
    return Intrinsic(INT, None, build)
