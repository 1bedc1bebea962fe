"""Complex numbers: their parts, conjugates and powers, and their construction from real numbers.

Arithmetic is in `operators`, as for other numbers. CPython and NumPy's scalars convert a real operand to a complex
one with the imaginary part 0.0, and then treat both alike. An operation is not captured if the machine code of
CPython or NumPy rounds it differently (:data:`ROUNDS_EACH`).
"""

from __future__ import annotations

import builtins
import cmath
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

import numpy as np

from pijit.core.capture.models.numpy import library
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.values.describe import Arguments, Handler, only
from pijit.core.capture.values.lattice import Abstract, Const, Number, number_type
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import COMPLEX, FLAG, FLOAT, Scalar, half_of, numpy_scalar

LARGEST_POWER = 100
"""Largest exponent for which CPython multiplies; beyond it CPython uses polar coordinates."""


def _rounds_each(kind: Any, x: float) -> bool:
    """Whether both products in the real part of a square are rounded; otherwise one is fused with the subtraction."""
    number = kind(complex(x, x))
    return bool((number * number).real == 0.0)


ROUNDS_EACH: Dict[np.dtype[Any], Dict[str, bool]] = {
    COMPLEX.dtype: {"py": _rounds_each(complex, 1 + 2.0 ** -30), "np": _rounds_each(np.complex128, 1 + 2.0 ** -30)},
    np.dtype(np.complex64): {"np": _rounds_each(np.complex64, 1 + 2.0 ** -14)},
}
"""Whether the C code of products and quotients was compiled without fused multiplications, by dtype and family."""


def _commutes(types: str) -> bool:
    """Whether a loop for products gives the same bits for swapped operands. With fused multiplications it does not."""
    parts = np.sin(np.arange(256.0)).reshape(4, 64)  # without np.random, whose import takes longer than all of this
    left, right = (re + 1j * im for re, im in (parts[:2], parts[2:]))
    one, other = (np.multiply(*pair, dtype=types[-1], casting="same_kind") for pair in ((left, right), (right, left)))
    same: bool = one.tobytes() == other.tobytes()
    return same


COMMUTING = frozenset([loop for loop in np.multiply.types if loop not in ("FF->F", "DD->D") or _commutes(loop)])
"""Loops of products whose result does not depend on the order of operands.
NumPy swaps operands to multiply into a large temporary array."""


def require_plain_products(kind: Scalar) -> None:
    """Break where kernels would round differently from the interpreter or NumPy."""
    if kind.dtype.kind == "c" and not ROUNDS_EACH[kind.dtype][kind.family]:
        raise Break("PJ203", operand="products of %r, which are fused here" % kind)


def _reports_too_much() -> bool:
    """Whether the ufunc reports overflows of products that do not overflow.

    NumPy 1.26 does where a Python complex does not fit the dtype of a small scalar beside it.
    """
    with np.errstate(all="raise"):
        try:
            complex(1e308, 1e308) * np.float32(0.5)
        except FloatingPointError:
            return True
    return False


_REPORTS_TOO_MUCH = _reports_too_much()


def require_quiet_products(kinds: Tuple[Scalar, Scalar]) -> None:
    """Break where NumPy computes a product of scalars by its ufunc,
    which reports overflows that kernels do not report."""
    if _REPORTS_TOO_MUCH and COMPLEX in kinds and any(
            kind.family == "np" and kind.dtype != COMPLEX.dtype for kind in kinds):
        raise Break("PJ203", operand="a product of a Python complex and a NumPy scalar, "
                                     "of which this NumPy reports overflows")


def is_complex(value: Abstract) -> bool:
    """Whether a value is a complex number."""
    kind = number_type(value)
    return kind is not None and kind.dtype.kind == "c"


def part_of(interpreter: Interpreter, owner: Abstract, name: str) -> Optional[Abstract]:
    """``x.real`` and ``x.imag`` of a number; None for other values and attributes."""
    kind = number_type(owner)
    if kind is None or kind.dtype.kind not in "iufc" or name not in ("real", "imag"):
        return None
    if kind.dtype.kind == "c":
        return Number(half_of(kind), interpreter.emit(name, [interpreter.number_value(owner)], half_of(kind)))
    return Number(kind, (interpreter.number_value(owner) if name == "real"
                         else interpreter.emit("const", [], kind, {"value": 0})))


def conjugated(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``x.conjugate()``; a real number is its own conjugate."""
    only(arguments, keywords, "conjugate", 1)
    kind, value = cast(Scalar, number_type(arguments[0])), interpreter.number_value(arguments[0])
    if kind.dtype.kind != "c":
        return Number(kind, value)
    half = half_of(kind)
    negative = interpreter.emit("neg", [interpreter.emit("imag", [value], half)], half)
    return Number(kind, interpreter.emit(
        "complex", [interpreter.emit("real", [value], half), negative], kind))


@models(builtins.complex)
def call_complex(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``complex(x)`` of a number and ``complex(x, y)`` of real numbers."""
    named = dict(zip(("real", "imag"), arguments))
    if len(arguments) > 2 or set(keywords) - {"real", "imag"} or set(keywords) & set(named):
        raise Break("PJ211", callee="complex")
    named.update(keywords)
    kinds = {name: number_type(value) for name, value in named.items()}
    if any(kind is None or kind.dtype.kind == "c" and len(named) > 1 for kind in kinds.values()):
        raise Break("PJ203", operand="an argument of complex")
    if list(kinds) == ["real"]:
        return Number(COMPLEX, conversions.convert(interpreter, named["real"], kinds["real"], COMPLEX))
    zero = Const(0.0)
    parts = [conversions.convert(interpreter, named.get(name, zero), kinds.get(name, FLOAT), FLOAT)
             for name in ("real", "imag")]
    return Number(COMPLEX, interpreter.emit("complex", parts, COMPLEX))


@model_factory
def _part_function(name: str) -> Handler:
    """``np.real`` and ``np.imag``, as the attribute."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        return interpreter.attribute(arguments[0], name)
    return call


# ---- functions of cmath that need little more than the C library ----

EXP_LIMIT = 708.0
"""Limit of the real part. From there on CPython computes differently,
because parts of the result may still be finite."""


def _libm(interpreter: Interpreter, function: str, *args: Value) -> Value:
    return interpreter.emit("libm", list(args), FLOAT,
                            {"function": function, "finite": True}, exits=True)


def _exp(interpreter: Interpreter, re: Value, im: Value, number: Value) -> Number:
    limit = interpreter.emit("const", [], FLOAT, {"value": EXP_LIMIT})
    interpreter.emit("require", [interpreter.emit("compare", [re, limit], FLAG, {"operator": "<"})], None, exits=True)
    size = _libm(interpreter, "exp", re)
    parts = [interpreter.emit("mul", [size, _libm(interpreter, name, im)], FLOAT) for name in ("cos", "sin")]
    return Number(COMPLEX, interpreter.emit("complex", parts, COMPLEX))


def _phase(interpreter: Interpreter, re: Value, im: Value, number: Value) -> Number:
    finite = interpreter.emit("not", [interpreter.emit("infinite", [number], FLAG)], FLAG)
    interpreter.emit("require", [finite], None, exits=True)
    return Number(FLOAT, _libm(interpreter, "atan2", im, re))


@model_factory
def _written_out(path: str, write: Callable[..., Number]) -> Handler:
    """A function that kernels compute themselves from Python numbers and doubles;
    for other numbers they call CPython's."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, path, 1)
        kind = number_type(arguments[0])
        if kind is None:
            raise Break("PJ203", operand="an argument of " + path)
        if kind.dtype not in (COMPLEX.dtype, FLOAT.dtype):
            return library.invoke(interpreter, FUNCTIONS[path], arguments, keywords)
        number = conversions.convert(interpreter, arguments[0], kind, COMPLEX)
        return write(interpreter, interpreter.emit("real", [number], FLOAT), interpreter.emit("imag", [number], FLOAT),
                     number)
    return call


# ---- powers ----


def power(interpreter: Interpreter, left: Abstract, kind: Scalar, right: Abstract) -> Abstract:
    """``z ** n`` for a small known integer, multiplied out as CPython and NumPy do."""
    exponent = interpreter.constant(right)
    whole = _whole(exponent)
    if whole is not None and cast(Scalar, number_type(right)).family == "py":
        if kind.family == "py" and abs(whole) <= LARGEST_POWER:
            require_plain_products(COMPLEX)
            return Number(COMPLEX, _python_power(interpreter, conversions.convert(interpreter, left, kind, COMPLEX),
                                                 whole))
        if kind == numpy_scalar(COMPLEX.dtype) and whole == 2:
            require_plain_products(kind)
            return Number(kind, _numpy_square(interpreter, interpreter.number_value(left), kind))
    raise Break("PJ203", operand="power of complex numbers")


def _whole(exponent: Any) -> Optional[int]:
    """The integer that equals an exponent, or None."""
    if type(exponent) not in (int, float, complex) or exponent != exponent or exponent.imag != 0.0:
        return None
    size = exponent.real
    return int(size) if abs(size) <= LARGEST_POWER and size == int(size) else None


def _python_power(interpreter: Interpreter, base: Value, exponent: int) -> Value:
    """CPython's c_powi: 1 times the squares that make up the exponent. An infinite result raises OverflowError."""
    one = result = interpreter.emit("const", [], COMPLEX, {"value": 1 + 0j})
    mask, size = 1, abs(exponent)
    while mask <= size:
        if size & mask:
            result = interpreter.emit("mul", [result, base], COMPLEX)
        mask <<= 1
        if mask <= size:
            base = interpreter.emit("mul", [base, base], COMPLEX)
    if exponent < 0:
        result = interpreter.emit("truediv", [one, result], COMPLEX, exits=True)
    fine = interpreter.emit("not", [interpreter.emit("infinite", [result], FLAG)], FLAG)
    interpreter.emit("require", [fine], None, exits=True)
    return result


def _numpy_square(interpreter: Interpreter, base: Value, kind: Scalar) -> Value:
    """NumPy's npy_cpow for exponent 2: the square, or positive zeros for any zero."""
    square = interpreter.emit("mul", [base, base], kind, exits=True)
    zero = interpreter.emit("const", [], kind, {"value": 0j})
    return interpreter.emit("select",
                            [interpreter.emit("truth", [base], FLAG), square, zero], kind)


WRITTEN_OUT: Dict[str, Handler] = {"cmath.exp": _written_out("cmath.exp", _exp),
                                   "cmath.phase": _written_out("cmath.phase", _phase)}
"""Functions of ``cmath`` that kernels compute by operations."""
for _path, _call in WRITTEN_OUT.items():
    models(getattr(cmath, _path[len("cmath."):]))(_call)
for _name in ("real", "imag"):
    models(getattr(np, _name))(_part_function(_name))
for _kind in (complex, np.complex64, np.complex128, float, np.float64, np.float32):
    models(_kind, *[_name for _name in ("conjugate", "conj") if hasattr(_kind, _name)])(conjugated)
