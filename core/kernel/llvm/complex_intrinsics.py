"""Complex intrinsics: pairs of IEEE operations, ordered as in the C code of CPython and NumPy's scalars.

A complex number is a pair of two float64 or two float32. intrinsics.py defines an intrinsic. The emitter
(kernel_emitter.py) offers these names to kernel source. fp_check_intrinsics.py repeats the operations to find their
flags. `intrinsic_table` lists them. They must not reassociate operations.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

from llvmlite import ir

from pijit.core.kernel.llvm.float_intrinsics import (
    float_call,
    new_special,
    not_normal,
    other_sign,
    product_flags,
    quotient_flags,
    real,
)
from pijit.core.kernel.llvm.intrinsics import (
    BOOL,
    C8_TYPE,
    C16_TYPE,
    F4,
    F8,
    F8_TYPE,
    I64,
    INT,
    PAIRS,
    Intrinsic,
    field_pointer,
    same_kind,
)

PartPair = Tuple[Any, Any]
MARGIN = 2.0 ** -40
HALVES = {pair: half for half, pair in PAIRS.items()}


def _parts(builder: Any, value: Any) -> PartPair:
    return builder.extract_value(value, 0), builder.extract_value(value, 1)


def _pair(builder: Any, re: Any, im: Any) -> Any:
    value = ir.Constant(ir.LiteralStructType([re.type, re.type]), ir.Undefined)
    return builder.insert_value(builder.insert_value(value, re, 0), im, 1)


def _of_pair(build: Callable[..., Any], result: Any = "") -> Intrinsic:
    """An intrinsic of one complex number; ``build`` takes its parts."""
    return same_kind(1, lambda builder, a: build(builder, *_parts(builder, a)), result)


def _of_two(build: Callable[..., Any], result: str = "") -> Intrinsic:
    """An intrinsic of two complex numbers of one kind."""
    return same_kind(2, lambda builder, a, b: build(builder, _parts(builder, a), _parts(builder, b)), result)


# ---- arithmetic: each operation is recorded, for callers that need its floating-point flags ----


class Steps:
    """Floating-point operations in sequence.

    ``done`` has for each operation the function that tells whether it raised a flag, and that function's arguments.
    ``compared`` tells whether unordered numbers were compared.
    """

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.done: List[Tuple[Callable[..., Any], Any, Any, Any]] = []
        self.compared: Any = None

    def _do(self, name: str, flags: Callable[..., Any], a: Any, b: Any) -> Any:
        result = getattr(self.builder, name)(a, b)
        self.done.append((flags, result, a, b))
        return result

    def add(self, a: Any, b: Any) -> Any:
        return self._do("fadd", new_special, a, b)

    def sub(self, a: Any, b: Any) -> Any:
        return self._do("fsub", new_special, a, b)

    def mul(self, a: Any, b: Any) -> Any:
        return self._do("fmul", product_flags, a, b)

    def div(self, a: Any, b: Any) -> Any:
        return self._do("fdiv", quotient_flags, a, b)


def _sum(name: str) -> Callable[..., PartPair]:
    def build(steps: Steps, a: PartPair, b: PartPair) -> PartPair:
        return getattr(steps, name)(a[0], b[0]), getattr(steps, name)(a[1], b[1])
    return build


def _product(steps: Steps, a: PartPair, b: PartPair) -> PartPair:
    return (steps.sub(steps.mul(a[0], b[0]), steps.mul(a[1], b[1])),
            steps.add(steps.mul(a[0], b[1]), steps.mul(a[1], b[0])))


def _quotient(by_scale: bool) -> Callable[..., PartPair]:
    """Division by the larger part of the divisor first, then by the scaled rest.

    NumPy multiplies by the reciprocal of that rest; CPython divides by it.
    """
    def build(steps: Steps, a: PartPair, b: PartPair) -> PartPair:
        builder = steps.builder
        sizes = [float_call(builder, "llvm.fabs", part) for part in b]
        first = builder.fcmp_ordered(">=", *sizes)
        steps.compared = builder.fcmp_unordered("uno", *sizes)  # to compare a NaN is an invalid operation
        (large, small), (u, v) = [
            (builder.select(first, x, y), builder.select(first, y, x)) for x, y in ((b[0], b[1]), (a[0], a[1]))]
        ratio = steps.div(small, large)
        scale = steps.add(large, steps.mul(small, ratio))
        re, rotated = steps.add(u, steps.mul(v, ratio)), steps.mul(u, ratio)
        im = builder.select(first, steps.sub(v, rotated), steps.sub(rotated, v))
        if not by_scale:
            return steps.div(re, scale), steps.div(im, scale)
        factor = steps.div(real(re, 1.0), scale)
        return steps.mul(re, factor), steps.mul(im, factor)
    return build


def _arithmetic(build: Callable[..., PartPair]) -> Callable[..., Any]:
    return lambda builder, a, b: _pair(builder, *build(Steps(builder), a, b))


def _unordered_divisor(builder: Any, re: Any, im: Any) -> Any:
    """Whether CPython leaves the ordinary path of a division: the divisor is zero or partly NaN."""
    zero = builder.and_(builder.fcmp_ordered("==", re, real(re, 0.0)), builder.fcmp_ordered("==", im, real(im, 0.0)))
    return builder.or_(zero, builder.fcmp_unordered("uno", re, im))


def _infinite(builder: Any, re: Any, im: Any) -> Any:
    sizes = [float_call(builder, "llvm.fabs", part) for part in (re, im)]
    tests = [builder.fcmp_ordered("==", size, real(size, float("inf"))) for size in sizes]
    return builder.or_(*tests)


def _square(builder: Any, re: Any, im: Any) -> Any:
    return builder.fadd(builder.fmul(re, re), builder.fmul(im, im))


def _squares_tell(builder: Any, number: Any, bound: Any) -> Any:
    """Whether comparing squares is certain to give the result of comparing a magnitude with a bound.

    Both squares must be normal. They must differ by more than the roundings of the squares and of the magnitude.
    """
    square, limit = _square(builder, *_parts(builder, number)), builder.fmul(bound, bound)
    apart = [builder.fcmp_ordered("<", square, builder.fmul(limit, real(limit, 1 - MARGIN))),
             builder.fcmp_ordered(">", square, builder.fmul(limit, real(limit, 1 + MARGIN)))]
    usual = [builder.not_(not_normal(builder, part)) for part in (square, limit)]
    positive = builder.fcmp_ordered(">", bound, real(bound, 0.0))
    return builder.and_(builder.and_(positive, builder.or_(*apart)), builder.and_(*usual))


def _each(name: str, *more: Any) -> Callable[..., Any]:
    """Apply one LLVM operation to each part."""
    return lambda builder, *parts: _pair(builder, *[getattr(builder, name)(part, *more) for part in parts])


def _true(builder: Any, re: Any, im: Any) -> Any:
    return builder.or_(*[builder.fcmp_unordered("!=", part, real(part, 0.0)) for part in (re, im)])


# ---- memory ----


def _places(builder: Any, base: Any, offset: Any, half: Any) -> List[Any]:
    """The addresses of the two halves of an element."""
    imaginary = builder.add(offset, ir.Constant(I64, 4 if half is F4 else 8))
    return [field_pointer(builder, base, place, half) for place in (offset, imaginary)]


def _load(half: Any) -> Callable[..., Any]:
    def build(builder: Any, base: Any, offset: Any) -> Any:
        return _pair(builder, *[builder.load(place, align=1) for place in _places(builder, base, offset, half)])
    return build


def _store(half: Any) -> Callable[..., Any]:
    def build(builder: Any, base: Any, offset: Any, value: Any) -> Any:
        for place, part in zip(_places(builder, base, offset, half), _parts(builder, value)):
            builder.store(part, place, align=1)
        return ir.Constant(I64, 0)
    return build


WRITTEN: Dict[str, Callable[..., PartPair]] = {"complex product": _product, "complex quotient": _quotient(True)}
"""The arithmetic of NumPy, by the operation names of fp_checks.py."""


def _rows() -> Dict[str, Intrinsic]:
    rows: Dict[str, Intrinsic] = {"cpair": same_kind(2, _pair, PAIRS)}
    for name, build in (("cadd", _sum("add")), ("csub", _sum("sub")), ("cmul", _product), ("cdiv", _quotient(False)),
                        ("cscaled", _quotient(True))):
        rows[name] = _of_two(_arithmetic(build))
    rows["ctrue"] = _of_pair(_true, BOOL)
    rows["cdivides_badly"] = _of_pair(_unordered_divisor, BOOL)
    rows["cinfinite"] = _of_pair(_infinite, BOOL)
    rows["creal"] = _of_pair(lambda builder, re, im: re, HALVES)
    rows["cimag"] = _of_pair(lambda builder, re, im: im, HALVES)
    rows["csquare"] = _of_pair(_square, HALVES)
    rows["cneg"] = _of_pair(lambda builder, *parts: _pair(builder, *[other_sign(builder, part) for part in parts]))
    rows["cwiden"] = _of_pair(_each("fpext", F8), C16_TYPE)
    rows["cnarrow"] = _of_pair(_each("fptrunc", F4), C8_TYPE)
    rows["csquares_tell"] = Intrinsic(BOOL, (C16_TYPE, F8_TYPE), _squares_tell)
    for size, half, kind in ((8, F4, C8_TYPE), (16, F8, C16_TYPE)):
        rows["ld_c%d" % size] = Intrinsic(kind, (INT, INT), _load(half))
        rows["st_c%d" % size] = Intrinsic(INT, (INT, INT, kind), _store(half))
    return rows


COMPLEX_INTRINSICS: Dict[str, Intrinsic] = _rows()
