"""Operators on abstract values: the IR operation that an operator becomes, with exact result types.

The result must be exactly CPython's and NumPy's. The operator raises `Break` where that is not certain.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, List, Optional, Tuple, cast

import numpy as np

from pijit.core.bytecode.linker.deferred_warning import FlagReport
from pijit.core.bytecode.rewrite.generator_to_loop import Nothing
from pijit.core.capture.models.containers import comparisons, literals, strings, updates
from pijit.core.capture.models.numpy import indexing, library, mapped_arrays, shapes
from pijit.core.capture.models.numpy.from_sequences import as_array
from pijit.core.capture.models.objects.special_methods import (
    binary_special,
    call_special,
    compare_special,
    inplace_special,
)
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.models.scalars.complex import (
    COMMUTING,
    is_complex,
    power,
    require_plain_products,
    require_quiet_products,
)
from pijit.core.capture.models.scalars.conversions import DOUBLES
from pijit.core.capture.typing import axis_lengths, result_types
from pijit.core.capture.typing.operand_reuse import computed_into
from pijit.core.capture.typing.result_types import BINARY_UFUNCS, COMPARE_UFUNCS, SampleOperand, operand_of
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.known_objects import SMALL
from pijit.core.capture.values.lattice import (
    BY_IDENTITY,
    Abstract,
    Const,
    ListElement,
    MappedArray,
    Number,
    OpaqueObject,
    Tensor,
    UnmadeArray,
    class_of,
    has_class,
    pointer_class,
    ssa_value,
)
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.element_ops import SCALAR_POWERS
from pijit.core.graph.ir import Value
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import BOOL, FLAG, FLOAT, INT, WORD, Array, Scalar, half_of, numpy_scalar
from pijit.guards.facts import is_among, is_exactly

if TYPE_CHECKING:
    from typing import TypeGuard

FOLDED = ("+", "-", "*", "//", "%")
"""Operators that are computed for two constant integers, see `_is_folded`."""
DIVISIONS, ZEROS = ("/", "//", "%"), (Const(0), Const(0.0))
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod",
              "&": "and", "|": "or", "^": "xor", "<<": "shl", ">>": "shr"}
TRUTHS = (bool, np.bool_)
SINGLES = (Nothing, type(None), bool, type(Ellipsis), type(NotImplemented))
LARGEST_PRODUCT = 62
"""Largest exponent of an integer power that is computed by multiplications. With a larger one, only bases such as
0, 1 and -1 have a power that fits a machine word."""
LENGTHENING = (list, tuple, range, str, bytes, dict)
"""Classes whose items ``list += value`` appends.
A class that defines an addition is not listed: CPython calls that addition before the list's."""
DICTS_JOIN = sys.version_info >= (3, 9)
UNARY_UFUNCS = {"neg": np.negative, "pos": np.positive, "invert": np.invert, "abs": np.absolute}


def binary(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Abstract:
    """``left <symbol> right`` as a new abstract value."""
    if mapped_arrays.involves(left, right):
        return _mapped_binary(interpreter, symbol, left, right)
    if symbol == "@" and isinstance(left, Tensor) and isinstance(right, Tensor):
        return library.invoke(interpreter, FUNCTIONS["matmul"], [left, right], {})
    found = binary_special(interpreter, symbol, left, right) if not isinstance(left, Tensor) else None
    if found is None and (isinstance(left, Tensor) or isinstance(right, Tensor)):
        return _array_binary(interpreter, symbol, left, right)
    if found is None:
        found = (strings.of_texts(interpreter, symbol, left, right)
                 or literals.of_sequences(interpreter, symbol, left, right))
    return found if found is not None else _scalar_binary(interpreter, symbol, left, right)


def _mapped_binary(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Abstract:
    """An operator of a memmap. NumPy computes into none of its operands, so this is a call of the ufunc."""
    ufunc = np.matmul if symbol == "@" else BINARY_UFUNCS.get(symbol)
    if ufunc is None or symbol == "**":
        raise Break("PJ202", operator=symbol)
    return mapped_arrays.elementwise(
        interpreter, ufunc, [left, right], lambda left, right: interpreter.binary(symbol, left, right)
        if symbol == "@" else ufunc_call(interpreter, ufunc, [left, right]))


def compare(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Abstract:
    """``left <symbol> right`` for the six rich comparisons, ``is``, ``in`` and their negations."""
    if symbol in COMPARE_UFUNCS and mapped_arrays.involves(left, right):
        return mapped_arrays.elementwise(interpreter, COMPARE_UFUNCS[symbol], [left, right], lambda left, right:
                                         ufunc_call(interpreter, COMPARE_UFUNCS[symbol], [left, right]))
    if isinstance(left, UnmadeArray) or isinstance(right, UnmadeArray):
        raise Break("PJ202", operator=symbol)
    if symbol in ("is", "is not"):
        return _identity(interpreter, symbol, left, right)
    if symbol in ("in", "not in"):
        return (conversions.negated(interpreter, comparisons.contains(interpreter, right, left)) if symbol == "not in"
                else comparisons.contains(interpreter, right, left))
    if symbol not in COMPARE_UFUNCS:
        raise Break("PJ202", operator=symbol)
    if is_plain(left) and is_plain(right) and (type(left.object) is str) == (type(right.object) is str):
        return Const(result_types.PYTHON_OPERATORS[symbol](left.object, right.object))
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return ufunc_call(interpreter, COMPARE_UFUNCS[symbol], [left, right])
    known = compare_special(interpreter, symbol, left, right)
    if known is None:
        known = (comparisons.compare_objects(interpreter, symbol, left, right)
                 or strings.of_texts(interpreter, symbol, left, right))
    return known if known is not None else _scalar_compare(interpreter, symbol, left, right)


def inplace(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract,
            written: Optional[Abstract] = None) -> Abstract:
    """``left <symbol>= right``; an array is written and stays the same object. ``written`` is the memmap whose memory
    ``left`` is, if it is one."""
    if mapped_arrays.involves(left) or isinstance(left, Tensor) and mapped_arrays.involves(right):
        if symbol in ("**", "@"):
            raise Break("PJ202", operator=symbol)
        owner = left if isinstance(left, MappedArray) else None
        return mapped_arrays.stored_into(interpreter, left, right, lambda array, value:
                                         inplace(interpreter, symbol, array, value, owner))
    if symbol == "+" and pointer_class(left) is list and is_among(class_of(right), LENGTHENING):
        return updates.lengthen(interpreter, left, right)
    if symbol == "*" and pointer_class(left) is list:
        return updates.multiply(interpreter, left, right)
    if symbol == "|" and pointer_class(left) is dict and DICTS_JOIN:
        return updates.add_entries(interpreter, left, right)
    if is_among(pointer_class(left), (list, set)):
        raise Break("PJ203", operand=describe(left))
    if not isinstance(left, Tensor):
        found = inplace_special(interpreter, symbol, left, right)
        return found if found is not None else interpreter.binary(symbol, left, right)
    ufunc, operands = _array_operation(interpreter, symbol, left, right)
    if not left.type.writeable:
        raise Break("PJ203", operand="read-only array")
    if indexing.updates_picked(interpreter):
        return _updated(interpreter, ufunc, operands, left)
    ufunc_call(interpreter, ufunc, operands, out=left, is_operator=True, written=written)
    return left


def _updated(interpreter: Interpreter, ufunc: np.ufunc, operands: List[Abstract], left: Tensor) -> Abstract:
    """Result of ``left <symbol>= right`` for an array that nothing else refers to: a new array replaces it."""
    made = ufunc_call(interpreter, ufunc, operands)
    if not isinstance(made, Tensor) or (made.type.dtype, made.type.ndim) != (left.type.dtype, left.type.ndim):
        raise Break("PJ203", operand="%r stored into %r" % (made, left.type))
    shapes.require_shape(interpreter, left, made)
    return made


def unary(interpreter: Interpreter, name: str, value: Abstract) -> Abstract:
    """``-x``, ``+x``, ``~x``, ``abs(x)``."""
    if mapped_arrays.involves(value):
        return mapped_arrays.elementwise(interpreter, UNARY_UFUNCS[name], [value], lambda array:
                                         ufunc_call(interpreter, UNARY_UFUNCS[name], [array]))
    if isinstance(value, Tensor):
        return ufunc_call(interpreter, UNARY_UFUNCS[name], [value], is_operator=True)
    found = call_special(interpreter, "__%s__" % name, value)
    if found is not None:
        return found
    kind = operand_of(value).type
    is_invert = name == "invert"
    if not isinstance(kind, Scalar) or kind.dtype.kind == "b" or is_invert and kind.dtype.kind not in "iu":
        raise Break("PJ203", operand=describe(value))
    if name == "neg" and kind.dtype.kind == "u":
        raise Break("PJ203", operand=describe(value))
    if name == "neg" and isinstance(value, Const) and type(value.object) is int and _is_folded(
            interpreter, -value.object):
        return Const(-value.object)
    if name == "pos":
        return Number(kind, interpreter.number_value(value))
    size = kind.dtype.kind == "c" and name == "abs"
    result = half_of(kind) if size else kind
    known = axis_lengths.expected_number(value)
    return Number(result, interpreter.emit(name, [interpreter.number_value(value)], result, exits=size
                                           or kind.dtype.kind in "iu"),
                  expected=-known if name == "neg" and known is not None and result == INT else None)


def _array_operation(interpreter: Interpreter, symbol: str, left: Abstract,
                     right: Abstract) -> Tuple[np.ufunc, List[Abstract]]:
    if symbol not in BINARY_UFUNCS:
        raise Break("PJ202", operator=symbol)
    if symbol == "**" and any(isinstance(value, Tensor) and not value.type.ndim for value in (left, right)):
        raise Break("PJ203", operand="power of an array without dimensions")
    if symbol == "**" and isinstance(left, Tensor) and not isinstance(right, Tensor):
        known = interpreter.constant(right)
        return _array_power(left, right if known is None else Const(known))
    return BINARY_UFUNCS[symbol], [left, right]


def _array_binary(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Abstract:
    return ufunc_call(interpreter, *_array_operation(interpreter, symbol, left, right), is_operator=True)


def _operand(interpreter: Interpreter, value: Abstract) -> Abstract:
    """An operand as a ufunc takes it: an array or a number. An array without dimensions is as good as its element."""
    if isinstance(value, Tensor) and not value.type.ndim:
        return shapes.only_element(interpreter, value)
    return as_array(interpreter, value)


def ufunc_call(interpreter: Interpreter, ufunc: np.ufunc, operands: List[Abstract], out: Optional[Tensor] = None,
               is_operator: bool = False, written: Optional[Abstract] = None) -> Abstract:
    """A call of a NumPy ufunc on arrays and numbers, with the semantics of a function or of an operator.

    ``written`` is the result that bytecode gets after an operator, if it is not ``out``.
    """
    operands = [_operand(interpreter, value) for value in operands]
    questions = tuple(operand_of(value) for value in operands)
    result, types, loop = result_types.ufunc_result(ufunc, questions, out.type if out is not None else None)
    attrs = {"ufunc": ufunc, "types": types, "loop": loop}
    if out is not None:
        reports = is_operator and interpreter.may_report() and types[-1] == out.type.dtype.char and types[-1] in "fd"
        if reports:
            attrs["reports"] = True
        interpreter.emit("ufunc_into", [ssa_value(out)] + [conversions.any_value(interpreter, v) for v in operands],
                         None, attrs, exits=True)
        if reports:
            interpreter.report(FlagReport(ufunc.__name__), out if written is None else written)
        return out
    into = computed_into(interpreter.state, ufunc, operands, questions, result) if is_operator else ()
    if into:
        attrs.update(into=into, ordered=ufunc is np.multiply and types not in COMMUTING)
    if isinstance(result, Array):
        kinds = [q.type for q in questions]
        result = Array(result.dtype, result.ndim, result_types.result_layout(kinds, result.ndim),
                       ordered=all(kind.ordered for kind in kinds if isinstance(kind, Array)), computed=True,
                       lengths=axis_lengths.of_broadcast(kinds, result.ndim))
    value = interpreter.emit("ufunc", [conversions.any_value(interpreter, v) for v in operands], result, attrs,
                             exits=True)
    return Tensor(result, value) if isinstance(result, Array) else Number(cast(Scalar, result), value)


def _scalar_binary(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Abstract:
    if symbol in FOLDED and is_plain(left) and is_plain(right) and type(left.object) is type(right.object) is int \
            and (symbol not in DIVISIONS or right not in ZEROS):
        known = result_types.PYTHON_OPERATORS[symbol](left.object, right.object)
        if _is_folded(interpreter, known):
            return Const(known)
    if symbol not in result_types.PYTHON_OPERATORS:
        raise Break("PJ202", operator=symbol)
    questions = (operand_of(left), operand_of(right))
    kinds = (cast(Scalar, questions[0].type), cast(Scalar, questions[1].type))
    if symbol in DIVISIONS and right in ZEROS and kinds[0].family == "py":
        questions = (questions[0], SampleOperand(questions[1].type))  # the division raises, so the kernel exits there
    if symbol == "**":
        return _scalar_power(interpreter, left, right, questions)
    result = result_types.scalar_result(symbol, questions)
    name = ARITHMETIC.get(symbol)
    if name is None or result.dtype.kind == "c" and symbol not in ("+", "-", "*", "/"):
        raise Break("PJ202", operator=symbol)
    if symbol in ("*", "/"):
        require_plain_products(result)
        require_quiet_products(kinds)
    exact = symbol == "/" and result == FLOAT
    args = [conversions.convert(interpreter, value, question.type, result, exact) for value,
            question in zip((left, right), questions)]
    exits = result.dtype.kind in "iu" or result.family == "np" or symbol in ("/", "//", "%")
    return Number(result, interpreter.emit(name, args, result, exits=exits),
                  expected=_expected(symbol, left, right) if result == INT else None)


def _expected(symbol: str, left: Abstract, right: Abstract) -> Optional[int]:
    """The expected result of an operator on integers; None if nothing is expected."""
    one, other = axis_lengths.expected_number(left), axis_lengths.expected_number(right)
    if one is None or other is None or symbol not in FOLDED or symbol in DIVISIONS and other == 0:
        return None
    return cast(int, result_types.PYTHON_OPERATORS[symbol](one, other))


def _is_folded(interpreter: Interpreter, number: int) -> bool:
    """Whether an integer that is computed from constants is a constant.

    Small ones are singletons in CPython, so a program cannot tell when one was computed. In captures with static shapes
    all are, because loops and branches depend on them.
    """
    return number in SMALL or interpreter.context.options.static_roots is not None and -2 ** 63 <= number < 2 ** 63


def _scalar_power(interpreter: Interpreter, left: Abstract, right: Abstract,
                  questions: Tuple[SampleOperand, SampleOperand]) -> Abstract:
    kind, other = (cast(Scalar, question.type) for question in questions)
    if is_complex(left) or is_complex(right):
        return power(interpreter, left, kind, right)
    if kind == other == INT:
        return _integer_power(interpreter, left, right)
    if all(question.type in (INT, FLOAT) for question in questions) and FLOAT in (kind, other):
        return _float_power(interpreter, left, right, questions)
    if "np" in (kind.family, other.family):
        return _numpy_power(interpreter, left, right, questions)
    raise Break("PJ203", operand="power of scalars")


def _integer_power(interpreter: Interpreter, left: Abstract, right: Abstract) -> Abstract:
    """``x ** n`` of Python ints: multiplications for a known ``n``, a float power for a negative one,
    else ``operator.pow``."""
    if not isinstance(right, Const):
        operands = [interpreter.number_value(value) for value in (left, right)]
        attrs = {"function": "operator.pow", "keywords": ()}
        return Number(INT, interpreter.emit("invoke", operands, INT, attrs, exits=True))
    exponent = right.object
    if exponent < 0:
        return _float_power(interpreter, left, Const(float(exponent)), (operand_of(left), SampleOperand(FLOAT)))
    if exponent > LARGEST_PRODUCT or isinstance(left, Const) and abs(left.object) ** exponent >= 2 ** 63:
        raise Break("PJ203", operand="a power beyond 64 bits")
    if exponent == 0:
        return Const(1)
    base = interpreter.number_value(left)
    result = interpreter.emit("same", [base], INT)
    for digit in bin(exponent)[3:]:
        result = interpreter.emit("mul", [result, result], INT, exits=True)
        if digit == "1":
            result = interpreter.emit("mul", [result, base], INT, exits=True)
    return Number(INT, result)


def _numpy_power(interpreter: Interpreter, left: Abstract, right: Abstract,
                 questions: Tuple[SampleOperand, SampleOperand]) -> Abstract:
    """``x ** y`` with a NumPy scalar: by the C library for doubles, by NumPy's operator for other types."""
    double = numpy_scalar(np.dtype(np.float64))
    kinds = [question.type for question in questions]
    if not all(kind in (INT, FLOAT, double) for kind in kinds):
        return library.invoke(interpreter, FUNCTIONS["operator.pow"], [left, right], {})
    power = _float_power(interpreter, left, right, questions)
    return Number(double, interpreter.emit("same", [ssa_value(power)], double))


def _float_power(interpreter: Interpreter, left: Abstract, right: Abstract,
                 questions: Tuple[SampleOperand, SampleOperand]) -> Number:
    """``x ** y`` by the C library; exits where Python or NumPy may raise or warn."""
    args = [conversions.convert(interpreter, value, question.type, FLOAT) for value,
            question in zip((left, right), questions)]
    by = "numpy" if any(cast(Scalar, question.type).family == "np" for question in questions) else "python"
    return Number(FLOAT, interpreter.emit("power", args, FLOAT, {"by": by}, exits=True))


def _scalar_compare(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Abstract:
    questions = (operand_of(left), operand_of(right))
    result = result_types.scalar_result(symbol, questions)
    kinds = [cast(Scalar, question.type) for question in questions]
    common = _comparison_type(kinds[0], kinds[1])
    if common.dtype.kind == "c" and symbol not in ("==", "!="):
        raise Break("PJ203", operand="the order of complex numbers")
    exact = any(k.dtype == INT.dtype for k in kinds) and common.dtype.kind in "fc"
    args = [conversions.convert(interpreter, value, kind, common, exact) for value, kind in zip((left, right), kinds)]
    flag = interpreter.emit("compare", args, FLAG, {"operator": symbol})
    return Number(result, interpreter.emit("flag", [flag], result))


def _identity(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Abstract:
    known = _identical(left, right)
    if known is None and isinstance(left, OpaqueObject) and isinstance(right, OpaqueObject):
        known = interpreter.same_object(left, right)
    if known is None:
        flag = _identical_now(interpreter, left, right)
        if flag is not None:
            flag = flag if symbol == "is" else interpreter.emit("not", [flag], FLAG)
            return Number(BOOL, interpreter.emit("flag", [flag], BOOL))
    if known is None:
        raise Break("PJ203", operand="identity of %s and %s" % (describe(left), describe(right)))
    return Const(known == (symbol == "is"))


def _identical_now(interpreter: Interpreter, left: Abstract, right: Abstract) -> Optional[Value]:
    """FLAG: two values are one object. Kernels can tell for arrays,
    objects in long lists and truth values; else None."""
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return interpreter.emit("identical", [ssa_value(left), ssa_value(right)], FLAG)
    if any(isinstance(value, ListElement) for value in (left, right)) and has_class(left) and has_class(right):
        origins = [interpreter.emit("origin", [interpreter.object_value(value)], WORD) for value in (left, right)]
        return interpreter.emit("compare", origins, FLAG, {"operator": "=="})
    if is_among(class_of(left), TRUTHS):
        values = [interpreter.number_value(value) for value in (left, right)]
        return interpreter.emit("compare", values, FLAG, {"operator": "=="})
    return None


def is_plain(value: Abstract) -> TypeGuard[Const]:
    """Whether a value is a constant whose comparison runs no user code and never fails."""
    return isinstance(value, Const) and is_exactly(value.object, (int, float, bool, str))


def _array_power(left: Tensor, right: Abstract) -> Tuple[np.ufunc, List[Abstract]]:
    """``array ** number``: NumPy tests the number and calls another ufunc for some exponents."""
    exponent = right.object if isinstance(right, Const) else None
    if not is_exactly(exponent, (int, float)):
        raise Break("PJ214", operands="the exponent of an array power")
    if left.type.dtype.kind in "fc":
        return (SCALAR_POWERS[exponent], [left]) if exponent in SCALAR_POWERS else (np.power, [left, right])
    if left.type.dtype.kind in "iu" and exponent == 2 and type(exponent) is int:
        return np.square, [left]
    if left.type.dtype.kind == "b" or exponent in SCALAR_POWERS or exponent == 0:
        raise Break("PJ214", operands="the exponent of an array power")
    return np.power, [left, right]


def _identical(left: Abstract, right: Abstract) -> Optional[bool]:
    """Whether two values are one object, if that is certain: one is known by identity, or their types differ."""
    if isinstance(left, VirtualObject) and isinstance(right, VirtualObject):
        return left.token == right.token
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const):
            kind = class_of(other)
            if kind is not None and kind is not type(one.object):
                return False
            if isinstance(other, Const) and issubclass(type(other.object), SINGLES + BY_IDENTITY):
                return one.object is other.object
    kinds = class_of(left), class_of(right)
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return None if left.type.dtype == right.type.dtype and left.type.ndim == right.type.ndim else False
    unlike = kinds[0] is not kinds[1] and not any(kind is None for kind in kinds)
    return False if unlike else None


def _comparison_type(left: Scalar, right: Scalar) -> Scalar:
    """The type in which Python and NumPy compare two scalars."""
    if left.dtype == right.dtype:
        return Scalar(left.dtype, "np" if "np" in (left.family, right.family) else left.family)
    doubles = DOUBLES + (np.dtype(np.int64), np.dtype(np.bool_))
    if left.dtype in doubles and right.dtype in doubles:
        kind = np.result_type(left.dtype, right.dtype)
        return Scalar(kind, "np" if "np" in (left.family, right.family) else "py")
    single = [k for k in (left, right) if k.dtype in (np.float32, np.float16)]
    if single and all(k.family == "py" and k.dtype in doubles or k in single for k in (left, right)):
        if not all(k in single for k in (left, right)):
            return single[0] if result_types.WEAK_SCALARS else numpy_scalar(np.dtype(np.float64))
        return numpy_scalar(np.dtype(np.float32))
    small = [k for k in (left, right) if k.dtype.itemsize < 8 and k.dtype.kind in "iub"]
    if small and all(k.dtype.kind in "iub" for k in (left, right)):
        return INT
    raise Break("PJ203", operand="comparison of %r with %r" % (left, right))
