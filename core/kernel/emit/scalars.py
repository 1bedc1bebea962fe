"""Scalar operations as kernel source: one row per operation, family of rules and machine kind.

The machine kinds are letters:

    "i": every integer that fits int64, in an int64 variable
    "n": the same with fewer bits; the result must be checked against the dtype
    "u": uint64
    "f": float32 or float64
    "h": float16, in a float32 variable
    "b": a boolean
    "c": a pair of two floats of one size

The families are "py" (Python's numbers), "np" (NumPy's scalars) and "raw" (the compiler's own booleans, and integers
that wrap). A row under "*" is for all of them. Sources are templates over {a} {b} {r} {lo} {hi} {bits}.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from pijit.core.graph.types import Scalar, half_of
from pijit.core.kernel.llvm.float_intrinsics import float_bits
from pijit.core.kernel.plan.operands import ConstantOperand, Literal, integer
from pijit.core.named_tuples import NamedTuple

MINIMUM = -2 ** 63


class ScalarRow(NamedTuple):
    """One operation.

    Attributes:
        value: the source of the value.
        before: the condition to leave on before it.
        after: the condition to leave on after it.
        libm: the libm function that it calls; its name is a parameter of the template.
        is_same: whether the value is the first operand.
        underflows: the condition to leave on if the program hears of underflows.
    """

    value: str
    before: str = ""
    after: str = ""
    libm: str = ""
    is_same: bool = False
    underflows: str = ""


SAME = ScalarRow("{a}", is_same=True)
"""The row whose value is its operand."""

_RANGE = "outside({r}, {lo}, {hi})"


def _integer_rows() -> Dict[Tuple[str, str, str], ScalarRow]:
    rows: Dict[Tuple[str, str, str], ScalarRow] = {}
    for name in ("add", "sub", "mul"):
        plain = "i%s({a}, {b})" % name
        rows[name, "*", "i"] = ScalarRow(plain, "i%s_overflows({a}, {b})" % name)
        rows[name, "*", "n"] = ScalarRow(plain, "i%s_overflows({a}, {b})" % name, _RANGE)
        rows[name, "*", "u"] = ScalarRow("u%s({a}, {b})" % name, "u%s_overflows({a}, {b})" % name)
        rows[name, "raw", "i"] = ScalarRow(plain)
    for name, source in (("floordiv", "ifloordiv"), ("mod", "imod")):
        plain = "%s({a}, {b})" % source
        rows[name, "*", "i"] = ScalarRow(plain, "idivides_badly({a}, {b})")
        rows[name, "*", "n"] = ScalarRow(plain, "idivides_badly({a}, {b})", _RANGE)
        rows[name, "*", "u"] = ScalarRow("u%s({a}, {b})" % name, "{b} == uint64(0)")
        rows[name, "raw", "i"] = ScalarRow(plain)
    for name in ("and", "or", "xor"):
        rows[name, "*", "i"] = rows[name, "*", "n"] = ScalarRow("i%s({a}, {b})" % name)
        rows[name, "*", "u"] = ScalarRow("u%s({a}, {b})" % name)
    rows["shl", "*", "i"] = ScalarRow("ishl({a}, {b})", "ishl_loses({a}, {b})")
    rows["shl", "raw", "i"] = ScalarRow("ishl({a}, {b})")
    rows["shl", "np", "i"] = ScalarRow("choose(outside({b}, 0, 63), 0, ishl({a}, {b}))")
    rows["shl", "np", "n"] = ScalarRow("choose(outside({b}, 0, {bits} - 1), 0, wrap{sign}(ishl({a}, {b}), {bits}))")
    rows["shl", "np", "u"] = ScalarRow("choose_unsigned({b} > uint64(63), uint64(0), ushl({a}, {b}))")
    rows["shr", "*", "i"] = ScalarRow("ishr({a}, choose({b} > 63, 63, {b}))", "{b} < 0")
    rows["shr", "np", "i"] = rows["shr", "np", "n"] = ScalarRow("ishr({a}, choose(outside({b}, 0, 63), 63, {b}))")
    rows["shr", "np", "u"] = ScalarRow("choose_unsigned({b} > uint64(63), uint64(0), ushr({a}, {b}))")
    rows["neg", "*", "i"] = ScalarRow("isub(0, {a})", "{a} == (%d)" % MINIMUM)
    rows["neg", "*", "n"] = ScalarRow("isub(0, {a})", "", _RANGE)
    rows["neg", "*", "u"] = ScalarRow("usub(uint64(0), {a})", "{a} != uint64(0)")
    rows["invert", "*", "i"] = ScalarRow("ixor({a}, -1)")
    rows["invert", "*", "n"] = ScalarRow("choose({lo} < 0, ixor({a}, -1), isub({hi}, {a}))")
    rows["invert", "*", "u"] = ScalarRow("uxor({a}, uint64(18446744073709551615))")
    rows["abs", "*", "i"] = ScalarRow("choose({a} < 0, isub(0, {a}), {a})", "{a} == (%d)" % MINIMUM)
    rows["abs", "*", "n"] = ScalarRow("choose({a} < 0, isub(0, {a}), {a})", "", _RANGE)
    rows["abs", "*", "u"] = SAME
    return rows


def _float_rows() -> Dict[Tuple[str, str, str], ScalarRow]:
    rows: Dict[Tuple[str, str, str], ScalarRow] = {}
    for name in ("add", "sub", "mul"):
        rows[name, "py", "f"] = ScalarRow("f%s({a}, {b})" % name)
        rows[name, "np", "f"] = ScalarRow("f%s({a}, {b})" % name)
    rows["truediv", "py", "f"] = ScalarRow("fdiv({a}, {b})", "{b} == 0.0")
    rows["truediv", "np", "f"] = ScalarRow("fdiv({a}, {b})")
    for name in ("floordiv", "mod"):
        rows[name, "py", "f"] = ScalarRow("f%s({a}, {b})" % name, "{b} == 0.0")
        rows[name, "np", "f"] = ScalarRow("f%s({a}, {b})" % name, "fdivision_flags({a}, {b})")
    rows["neg", "*", "f"] = ScalarRow("fneg({a})")
    rows["abs", "*", "f"] = ScalarRow("fabs({a})")
    return rows


def _half_rows() -> Dict[Tuple[str, str, str], ScalarRow]:
    rows: Dict[Tuple[str, str, str], ScalarRow] = {}
    for name in ("add", "sub", "mul", "truediv"):
        value = "f%s({a}, {b})" % name.replace("true", "")
        rows[name, "np", "h"] = ScalarRow("half(%s)" % value, "", "half_special(%s, {a}, {b})" % value,
                                          underflows="half_underflows(%s)" % value)
    for name in ("floordiv", "mod"):  # NumPy rounds the quotient and the remainder, whichever is the result
        rows[name, "np", "h"] = ScalarRow(
            "half(f%s({a}, {b}))" % name, "fdivision_flags({a}, {b})",
            "either(half_special(ffloordiv({a}, {b}), {a}, {b}), half_special(fmod({a}, {b}), {a}, {b}))",
            underflows="either(half_underflows(ffloordiv({a}, {b})), half_underflows(fmod({a}, {b})))")
    for name in ("neg", "abs"):
        rows[name, "np", "h"] = ScalarRow("f%s({a})" % name)
    return rows


def _other_rows() -> Dict[Tuple[str, str, str], ScalarRow]:
    rows: Dict[Tuple[str, str, str], ScalarRow] = {}
    for name, source in (("and", "{a} and {b}"), ("or", "{a} or {b}"), ("xor", "{a} != {b}")):
        rows[name, "*", "b"] = ScalarRow(source)
    rows["add", "np", "b"] = rows["or", "*", "b"]
    rows["mul", "np", "b"] = rows["and", "*", "b"]
    rows["invert", "np", "b"] = rows["not", "*", "b"] = ScalarRow("not {a}")
    rows["abs", "np", "b"] = SAME
    rows["flag", "*", "b"] = SAME
    rows["select", "*", "b"] = ScalarRow("{b} if {a} else {c}")
    rows["truth", "*", "b"] = SAME
    rows["truth", "*", "i"] = rows["truth", "*", "n"] = ScalarRow("{a} != 0")
    rows["truth", "*", "u"] = ScalarRow("{a} != uint64(0)")
    rows["truth", "*", "f"] = rows["truth", "*", "h"] = ScalarRow("{a} != {zero}")
    return rows


def _complex_rows() -> Dict[Tuple[str, str, str], ScalarRow]:
    rows: Dict[Tuple[str, str, str], ScalarRow] = {}
    for name in ("add", "sub", "mul"):
        rows[name, "py", "c"] = ScalarRow("c%s({a}, {b})" % name)
        rows[name, "np", "c"] = ScalarRow("c%s({a}, {b})" % name)
    rows["truediv", "py", "c"] = ScalarRow("cdiv({a}, {b})", "cdivides_badly({b})")
    rows["truediv", "np", "c"] = ScalarRow("cscaled({a}, {b})")
    rows["neg", "*", "c"] = ScalarRow("cneg({a})")
    rows["real", "*", "c"] = ScalarRow("creal({a})")
    rows["imag", "*", "c"] = ScalarRow("cimag({a})")
    rows["complex", "*", "f"] = ScalarRow("cpair({a}, {b})")
    rows["abs", "py", "c"] = ScalarRow("{hypot}(creal({a}), cimag({a}))", "", "makes_odd({r}, creal({a}), cimag({a}))",
                               libm="hypot")
    rows["abs", "np", "c"] = ScalarRow("{hypot}(creal({a}), cimag({a}))", "", "odd_size({r}, creal({a}), cimag({a}))",
                               libm="hypot")
    rows["infinite", "*", "c"] = ScalarRow("cinfinite({a})")
    rows["truth", "*", "c"] = ScalarRow("ctrue({a})")
    return rows


ROWS: Dict[Tuple[str, str, str], ScalarRow] = {}
ROWS.update(_integer_rows())
ROWS.update(_float_rows())
ROWS.update(_half_rows())
ROWS.update(_other_rows())
ROWS.update(_complex_rows())

LIBM = {name: 1 for name in ("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log "
                             "log10 log2 log1p sqrt fabs").split()}
"""The libm functions that kernels call, with their numbers of arguments."""
LIBM.update({name: 2 for name in ("atan2", "pow", "fmod", "copysign")})


def machine_kind(kind: Scalar) -> str:
    """The letter of the variable that holds a scalar of this type; see the module docstring."""
    code = kind.dtype.kind
    if code == "u":
        return "u" if kind.dtype.itemsize == 8 else "n"
    if code == "i":
        return "i" if kind.dtype.itemsize == 8 else "n"
    return "h" if kind.dtype.char == "e" else code


def integer_range(dtype: np.dtype[Any]) -> Tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def find_row(name: str, kind: Scalar) -> Optional[ScalarRow]:
    """The row of an operation on operands of this type, or None."""
    letter = machine_kind(kind)
    return ROWS.get((name, kind.family, letter)) or ROWS.get((name, "*", letter))


def parameters(kind: Scalar) -> Dict[str, Any]:
    """The parameters of templates other than operands."""
    if kind.dtype.kind == "f":
        return {"zero": "0.0" if kind.dtype.itemsize == 8 else "float32(0.0)"}
    if kind.dtype.kind not in "iu":
        return {}
    low, high = integer_range(kind.dtype)
    return {"lo": low, "hi": high, "bits": 8 * kind.dtype.itemsize,
            "sign": "_signed" if kind.dtype.kind == "i" else "_unsigned"}


def constant(value: Any, kind: Scalar) -> ConstantOperand:
    """A scalar constant."""
    letter = machine_kind(kind)
    if letter == "b":
        return Literal(bool(value), str(bool(value)))
    if letter in "in":
        return integer(int(value))
    if letter == "u":
        return ConstantOperand(int(value), "uint64(%d)" % int(value))
    if letter == "c":
        parts = tuple(constant(part, half_of(kind)) for part in (value.real, value.imag))
        return ConstantOperand(complex(value), "cpair(%s, %s)" % parts)
    number = _double(float(value))
    return number if kind.dtype.itemsize == 8 else ConstantOperand(number.value, "narrow(%s)" % number)


def _double(value: float) -> ConstantOperand:
    number = ConstantOperand(value, "f8_bits(%d)" % float_bits(value))
    return Literal(value) if number.is_finite else number


def cast(kind: Scalar, to: Scalar, checked: bool) -> ScalarRow:
    """The row for a conversion of {a}; with ``checked`` it leaves when the value does not fit."""
    source, target = machine_kind(kind), machine_kind(to)
    if target == "b":
        return find_row("truth", kind) or SAME
    if target == "c":
        return _to_complex(kind, to, checked)
    if source == "b":
        return _from_integer(ScalarRow("choose({a}, 1, 0)"), target, to, False)
    if source in "in":
        return _from_integer(SAME, target, to, checked)
    if source == "u":
        return _from_unsigned(target, to, checked)
    if source in "fh":
        return _from_float(kind, target, to, checked)
    return SAME


def _to_complex(kind: Scalar, to: Scalar, checked: bool) -> ScalarRow:
    """A real number becomes the real part; the imaginary part is +0.0."""
    half = half_of(to)
    if kind.dtype.kind != "c":
        row = cast(kind, half, checked)
        return row._replace(value="cpair(%s, %s)" % (row.value, constant(0.0, half)), is_same=False)
    if kind.dtype.itemsize == to.dtype.itemsize:
        return SAME
    if half.dtype.itemsize == 8:
        return ScalarRow("cwiden({a})")
    return ScalarRow("cnarrow({a})", "either(narrow_flags(creal({a})), narrow_flags(cimag({a})))" if checked else "")


def _from_integer(number: ScalarRow, target: str, to: Scalar, checked: bool) -> ScalarRow:
    """The row for a conversion of an integer that another row computes."""
    a = number.value
    if target == "i":
        return number
    if target == "n":
        if checked:
            return number._replace(before="outside(%s, {lo}, {hi})" % a)
        return ScalarRow("wrap{sign}(%s, {bits})" % a)
    if target == "u":
        return ScalarRow("as_unsigned(%s)" % a, "%s < 0" % a if checked else "")
    if target == "h":
        return _half("i_to_f4(%s)" % a, checked)
    exact = 2 ** (np.finfo(to.dtype).nmant + 1)
    return ScalarRow("i_to_f%d(%s)" % (to.dtype.itemsize, a),
               "outside(%s, %d, %d)" % (a, -exact, exact) if checked else "")


def _half(number: str, checked: bool) -> ScalarRow:
    """The row for a float32 that becomes a float16. NumPy makes a float32 of integers, too."""
    return ScalarRow("half(%s)" % number, "half_overflows(%s)" % number if checked else "",
                     underflows="half_underflows(%s)" % number if checked else "")


def _from_unsigned(target: str, to: Scalar, checked: bool) -> ScalarRow:
    if target == "u":
        return SAME
    if target == "h":
        return _half("u_to_f4({a})", checked)
    if target == "f":
        exact = 2 ** (np.finfo(to.dtype).nmant + 1)
        return ScalarRow("u_to_f%d({a})" % to.dtype.itemsize, "{a} > uint64(%d)" % exact if checked else "")
    if checked:
        return ScalarRow("as_signed({a})", "{a} > uint64({hi})")
    return ScalarRow("as_signed({a})" if target == "i" else "wrap{sign}(as_signed({a}), {bits})")


def _from_float(kind: Scalar, target: str, to: Scalar, checked: bool) -> ScalarRow:
    double = "{a}" if kind.dtype.itemsize == 8 else "widen({a})"
    if target == "f":
        if to.dtype.itemsize == kind.dtype.itemsize:
            return SAME
        if to.dtype.itemsize == 8:
            return ScalarRow("widen({a})")
        if kind.dtype.itemsize == 2:
            return SAME
        return ScalarRow("narrow({a})", "narrow_flags({a})" if checked else "")
    if target == "h":
        if kind.dtype.itemsize == 2:
            return SAME
        row = _half("{a}", checked)
        return row if kind.dtype.itemsize == 4 else row._replace(value="half_of_double({a})")
    if target == "u":
        return ScalarRow("f8_to_u(%s)" % double, "not (%s > -1.0 and %s < 18446744073709551616.0)"
                   % (double, double)
                   if checked else "")
    whole = "f8_to_i(%s)" % double
    if target == "i":
        return ScalarRow(whole, "not (%s >= -9223372036854775808.0 and %s < 9223372036854775808.0)"
                   % (double, double)
                   if checked else "")
    if checked:
        return ScalarRow(whole, "not (%s > {lo} - 1.0 and %s < {hi} + 1.0)" % (double, double))
    return ScalarRow("wrap{sign}(%s, {bits})" % whole)
