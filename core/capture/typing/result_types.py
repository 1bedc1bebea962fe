"""Result types of operators and ufuncs: NumPy itself runs the operation on tiny samples.

So value-based casting (NumPy 1.x) and NEP 50 are both right, and no promotion table is needed. When the result type
depends on the *value* of a scalar operand, capture breaks (PJ214).
"""

from __future__ import annotations

import operator
import warnings
from functools import lru_cache
from typing import Any, Callable, List, Optional, Sequence, Set, Tuple, Union, cast

import numpy as np

from pijit.core.capture.values.array_kinds import array_type
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, Const, Tensor, number_type, scalar_type
from pijit.core.errors import Break
from pijit.core.graph.types import Array, Scalar, Type

Typed = Union[Scalar, Array]
"""The types that have a dtype."""

INT_SAMPLES = (1, 0, -1, 2, 100, 127, 128, 255, 256, -129, 32767, 65535, 65536, 2 ** 31, -2 ** 31 - 1, 2 ** 32,
               2 ** 62, 2 ** 64 - 1)
FLOAT_SAMPLES = (1.0, 0.5, -1.0, 1e30, 1e300, -1e300, 1e-300, float("nan"), float("inf"))
COMPLEX_SAMPLES = tuple(complex(*parts) for parts in zip(FLOAT_SAMPLES, FLOAT_SAMPLES[1:] + (0.0,)))

WEAK_SCALARS = not np.lib.NumpyVersion(np.__version__) < "2.0.0"
"""Whether scalars affect the choice of loops by their types alone (NEP 50).

Before NumPy 2.0 their values mattered, and loops were searched in order.
"""

COMPLEX_WARNING: Any = getattr(np, "exceptions", np).ComplexWarning
"""NumPy's warning, at the caller's line, for dropped imaginary parts. Kernels never do that."""

BINARY_UFUNCS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide, "%": np.remainder,
    "**": np.power, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "<<": np.left_shift,
    ">>": np.right_shift,
}
COMPARE_UFUNCS = {
    "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal, ">": np.greater, ">=": np.greater_equal,
}


def _left_shift(left: Any, right: Any) -> Any:
    """``left << right``. Python integers are shifted by at most 8 bits, because a sample could fill the memory."""
    if isinstance(left, int) and isinstance(right, int):
        right = min(right, 8)
    return left << right


PYTHON_OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": _left_shift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le, "==": operator.eq,
    "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}


class SampleOperand:
    """An operand of a sampled operation: its type, and its value if that is a constant. Hashable, for the cache."""

    __slots__ = ("type", "constant", "has_constant")

    def __init__(self, type: Optional[Type], constant: Any = None, has_constant: bool = False) -> None:
        self.type = cast(Typed, type)
        self.constant = constant
        self.has_constant = has_constant

    def _key(self) -> Tuple[Any, ...]:
        return (self.type, self.has_constant, repr(self.constant), type(self.constant))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SampleOperand) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def samples(self) -> List[Any]:
        """Values that stand for the operand. There are several if its value may affect the result type."""
        if self.has_constant:
            return [self.constant]
        if isinstance(self.type, Array):
            return [np.ones((1,) * self.type.ndim, self.type.dtype)]
        kind = self.type.dtype.kind
        values: Sequence[Any] = (True, False)
        if kind in "iu":
            limits = np.iinfo(self.type.dtype)
            values = [v for v in INT_SAMPLES if limits.min <= v <= limits.max]
        elif kind == "f":
            values = FLOAT_SAMPLES
        elif kind == "c":
            values = COMPLEX_SAMPLES
        if self.type.family == "py":
            return list(values)
        with np.errstate(all="ignore"):
            return [self.type.dtype.type(v) for v in values]


def type_of_result(value: Any) -> Typed:
    """The type of a sample's result. Break (PJ215) when kernels have no such type."""
    kind: Optional[Typed] = array_type(value) if isinstance(value, np.ndarray) else scalar_type(value)
    if kind is None:
        raise Break("PJ215", type=_describe(value))
    return kind


def _describe(value: Any) -> str:
    return "array of %s" % value.dtype if isinstance(value, np.ndarray) else type(value).__name__


def _ask(function: Callable[..., Any], operands: Sequence[SampleOperand]) -> Typed:
    """The result type of ``function``, over all samples of one operand at a time."""
    lists = [operand.samples() for operand in operands]
    firsts = [samples[0] for samples in lists]
    answers: Set[Any] = set()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", COMPLEX_WARNING)
        for position, samples in enumerate(lists):
            for sample in samples:
                arguments = firsts[:position] + [sample] + firsts[position + 1:]
                answers.add(_answer(function, arguments))
    answers.discard(None)
    if len(answers) != 1:
        raise Break("PJ214" if answers else "PJ203", operands=_operand_names(operands))
    answer: Union[Typed, Exception] = answers.pop()
    if isinstance(answer, Exception):
        raise Break("PJ203", operands=_operand_names(operands))
    return answer


def _answer(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    try:
        return type_of_result(function(*arguments))
    except (ZeroDivisionError, ValueError, COMPLEX_WARNING):
        return None
    except OverflowError:
        return OVERFLOWS if any(isinstance(a, np.ndarray) for a in arguments) else None
    except TypeError:
        return REFUSES


class _Rejected(Exception):
    """NumPy or Python rejects the operation for these types."""


OVERFLOWS = _Rejected("a Python integer does not fit the array's dtype")
REFUSES = _Rejected("the types do not work together")


def _operand_names(operands: Sequence[SampleOperand]) -> str:
    return " and ".join(repr(operand.type) for operand in operands)


UNSUPPORTED = "gG"
"""Type codes of long doubles."""


@lru_cache(maxsize=4096)
def scalar_result(symbol: str, operands: Tuple[SampleOperand, ...]) -> Scalar:
    """The type of a Python operator's result on scalars."""
    answer = _ask(PYTHON_OPERATORS[symbol], operands)
    if not isinstance(answer, Scalar):
        raise Break("PJ203", operands=_operand_names(operands))
    return answer


@lru_cache(maxsize=4096)
def ufunc_result(ufunc: np.ufunc, operands: Tuple[SampleOperand, ...],
                 out: Optional[Array] = None) -> Tuple[Type, str, int]:
    """Result type (dtype and ndim; the layout is decided later), loop types ("dd->d") and loop index.

    With ``out`` the call is ``ufunc(*operands, out=out)`` and the result type is ``out``.
    """
    if ufunc.nout != 1 or ufunc.signature is not None or len(operands) != ufunc.nin:
        raise Break("PJ210", function=ufunc.__name__)
    if out is not None and out.ndim == 0:
        raise Break("PJ203", operands=_operand_names(operands))
    asked = ufunc if is_numpys(ufunc) else _without_elements(ufunc)
    result = _ask(asked, operands)  # with an output as well: the loop may depend on a scalar's value
    if out is not None:
        def call(*arguments: Any) -> Any:
            target = np.ones((1 if asked is ufunc else 0,) * out.ndim, out.dtype)
            return asked(*arguments, out=target)
        result = _ask(call, operands)
    types, index = _find_loop(ufunc, operands, result.dtype, out)
    missing = [code for code in types if code in UNSUPPORTED]
    if missing:  # NumPy 1.x compares uint8 with 0.5 as float16
        raise Break("PJ215", type=np.dtype(missing[0]))
    return result, types, index


def is_numpys(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is one of NumPy's own. These can be sampled with any operands."""
    return getattr(np, ufunc.__name__, None) is ufunc


def _without_elements(ufunc: np.ufunc) -> Callable[..., Any]:
    """The ufunc applied to empty arrays, because loops of other libraries may not terminate for some values."""
    def call(*arguments: Any, **named: Any) -> Any:
        arrays = [isinstance(one, np.ndarray) for one in arguments]
        weak = WEAK_SCALARS and any(isinstance(one, (np.ndarray, np.generic)) for one in arguments)
        emptied = [np.empty((0,) * max(np.ndim(one), 1), np.asarray(one).dtype)
                   if is_array or not any(arrays) and not (weak and not isinstance(one, np.generic)) else one
                   for one, is_array in zip(arguments, arrays)]
        result = ufunc(*emptied, **named)
        return result if any(arrays) else result.dtype.type(0)
    return call


@lru_cache(maxsize=4096)
def where_result(operands: Tuple[SampleOperand, ...]) -> Array:
    """The type of ``np.where(*operands)``; the layout is decided later."""
    result = _ask(np.where, operands)
    if not isinstance(result, Array):
        raise Break("PJ203", operands=_operand_names(operands))
    return result


def _find_loop(ufunc: np.ufunc, operands: Sequence[SampleOperand], result: np.dtype[Any],
               out: Optional[Array]) -> Tuple[str, int]:
    """The inner loop that NumPy runs: its types and its index in ``ufunc.types``."""
    if WEAK_SCALARS:
        asked = [_dtype_question(operand) for operand in operands] + [out.dtype if out is not None else None]
        if asked[:-1] == [int, int] and result == np.bool_:  # NumPy compares them as objects, which is as exact
            asked[:2] = [np.dtype(np.int64)] * 2
        try:
            resolved = ufunc.resolve_dtypes(tuple(asked), casting="same_kind")
        except (TypeError, ValueError) as error:
            raise Break("PJ210", function="%s (%s)" % (ufunc.__name__, error))
        wanted = "".join(d.char for d in resolved[:ufunc.nin]) + "->" + "".join(d.char for d in resolved[ufunc.nin:])
        for index, types in enumerate(ufunc.types):
            if _same_loop(types, wanted) and "O" not in types:
                return types, index
        raise Break("PJ210", function=ufunc.__name__)
    for index, types in enumerate(ufunc.types):
        inputs, output = types.split("->")
        if "O" in types or (out is None and np.dtype(output) != result):
            continue
        if all(_can_cast(operand, np.dtype(code)) for operand, code in zip(operands, inputs)):
            return types, index
    raise Break("PJ210", function=ufunc.__name__)


def _same_loop(types: str, wanted: str) -> bool:
    return len(types) == len(wanted) and all(
        a == b or (a not in "->" and b not in "->" and np.dtype(a) == np.dtype(b)) for a, b in zip(types, wanted))


def _dtype_question(operand: SampleOperand) -> Any:
    if isinstance(operand.type, Scalar) and operand.type.family == "py" and operand.type.dtype.kind != "b":
        return {"i": int, "f": float, "c": complex}[operand.type.dtype.kind]
    return operand.type.dtype


def _can_cast(operand: SampleOperand, dtype: np.dtype[Any]) -> bool:
    return all(np.can_cast(sample if isinstance(operand.type, Scalar) else sample.dtype, dtype, "safe")
               for sample in operand.samples())


def result_layout(operands: Sequence[Type], ndim: int) -> str:
    """The layout letter of a new elementwise result if it is certain; "A" if only the strides decide."""
    arrays = [o for o in operands if isinstance(o, Array)]
    if ndim <= 1 or all(a.layout == "C" for a in arrays):
        return "C"
    if all(a.layout == "F" and a.ndim == ndim for a in arrays) and (ndim == 2 or len(arrays) == 1):
        return "F"  # with more axes, one of length 1 may be stretched, and NumPy then chooses by all strides
    return "A"


def operand_of(value: Abstract) -> SampleOperand:
    """The operand that stands for a value when NumPy is asked for a result type;
    Break unless it is a number or an array."""
    if isinstance(value, Tensor):
        return SampleOperand(value.type)
    kind = number_type(value)
    if kind is None:
        raise Break("PJ218" if type(value).__name__ == "Unknown" else "PJ203", operand=describe(value))
    if isinstance(value, Const):
        return SampleOperand(kind, value.object, True)
    return SampleOperand(kind)
