"""What generated numba source calls: memory words, exact integer arithmetic, calls through addresses.

Each name here is an ``@intrinsic``: a few LLVM instructions with fixed types, so that no promotion rule of
numba applies. Memory operands are ``int64`` addresses plus byte offsets. Functions and tables outside the
kernel are reached through LLVM symbols (symbols.py), never through embedded addresses, so machine code
can be cached.
"""

from __future__ import annotations

import struct
from typing import Any, Callable, Dict

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

I1, I8, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(64)
F4, F8 = ir.FloatType(), ir.DoubleType()
_INT, _UINT, _BOOL, _F4, _F8 = types.int64, types.uint64, types.boolean, types.float32, types.float64

Build = Callable[..., Any]

# ---- makers: fixed arity, because numba wants named parameters ----


def _unary(result: Any, operand: Any, build: Build) -> Any:
    @intrinsic
    def function(typingctx, a):
        return result(operand), lambda context, builder, signature, args: build(builder, *args)
    return function


def _binary(result: Any, left: Any, right: Any, build: Build) -> Any:
    @intrinsic
    def function(typingctx, a, b):
        return result(left, right), lambda context, builder, signature, args: build(builder, *args)
    return function


def _ternary(result: Any, first: Any, second: Any, third: Any, build: Build) -> Any:
    @intrinsic
    def function(typingctx, a, b, c):
        return result(first, second, third), lambda context, builder, signature, args: build(builder, *args)
    return function


def _float_binary(build: Build, result: Any = None) -> Any:
    """Both operands of one floating type, which is also the result's unless ``result`` says otherwise."""
    @intrinsic
    def function(typingctx, a, b):
        return (result or a)(a, a), lambda context, builder, signature, args: build(builder, *args)
    return function


# ---- memory ----


def _pointer(builder: Any, base: Any, offset: Any, kind: Any) -> Any:
    pointer = builder.gep(builder.inttoptr(base, I8.as_pointer()), [offset])
    return builder.bitcast(pointer, kind.as_pointer())


def _load(kind: Any, convert: Build) -> Build:
    return lambda builder, base, offset: convert(
        builder, builder.load(_pointer(builder, base, offset, kind), align=1))


def _store(kind: Any, convert: Build) -> Build:
    def build(builder: Any, base: Any, offset: Any, value: Any) -> Any:
        builder.store(convert(builder, value), _pointer(builder, base, offset, kind), align=1)
        return ir.Constant(I64, 0)
    return build


def _keep(builder: Any, value: Any) -> Any:
    return value


def _sign_extend(builder: Any, value: Any) -> Any:
    return value if value.type == I64 else builder.sext(value, I64)


def _zero_extend(builder: Any, value: Any) -> Any:
    return value if value.type == I64 else builder.zext(value, I64)


def _truncate(kind: Any) -> Build:
    return lambda builder, value: value if kind == I64 else builder.trunc(value, kind)


def _nonzero(builder: Any, value: Any) -> Any:
    return builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))


def _memory_rows() -> Dict[str, Any]:
    """``ld_<code>(base, offset)`` and ``st_<code>(base, offset, value)`` per dtype: i1..i8, u1..u8, f4, f8,
    b1."""
    rows: Dict[str, Any] = {}

    def add(code: str, memory: Any, value: Any, read: Build, write: Build) -> None:
        rows["ld_" + code] = _binary(value, _INT, _INT, _load(memory, read))
        rows["st_" + code] = _ternary(_INT, _INT, _INT, value, _store(memory, write))

    for size in (1, 2, 4, 8):
        kind = ir.IntType(8 * size)
        add("i%d" % size, kind, _INT, _sign_extend, _truncate(kind))
        add("u%d" % size, kind, _UINT if size == 8 else _INT, _zero_extend, _truncate(kind))
    add("b1", I8, _BOOL, _nonzero, lambda builder, value: builder.zext(value, I8))
    add("f4", F4, _F4, _keep, _keep)
    add("f8", F8, _F8, _keep, _keep)
    return rows


def _to_word(builder: Any, value: Any, kind: Any) -> Any:
    """A value as the 64 bits of a frame word."""
    if kind is _F4 or kind == _F4:
        value = builder.fpext(value, F8)
    if isinstance(value.type, (ir.FloatType, ir.DoubleType)):
        return builder.bitcast(value, I64)
    if value.type == I64:
        return value
    if value.type.width < 8 or isinstance(kind, types.Boolean):
        return builder.zext(value, I64)
    return builder.sext(value, I64)


@intrinsic
def leave(typingctx, frame, word, number, *values):
    """Store the values in consecutive words from ``word`` on (complex ones in two); the result is
    ``number``."""
    items = values[0] if len(values) == 1 and isinstance(values[0], types.BaseTuple) else types.Tuple(values)
    signature = _INT(_INT, _INT, _INT, items)

    def codegen(context, builder, signature, args):
        base = builder.inttoptr(args[0], I64.as_pointer())
        position = args[1]
        for index, kind in enumerate(signature.args[3]):
            value = builder.extract_value(args[3], index)
            parts = [value]
            if kind == types.complex128:
                parts = [builder.extract_value(value, part) for part in (0, 1)]
            for part in parts:
                builder.store(_to_word(builder, part, kind), builder.gep(base, [position]))
                position = builder.add(position, ir.Constant(I64, 1))
        return args[2]
    return signature, codegen


@intrinsic
def set_words(typingctx, frame, word, *values):
    """Store the values in consecutive words from ``word`` on; the result is the address of the first."""
    items = values[0] if len(values) == 1 and isinstance(values[0], types.BaseTuple) else types.Tuple(values)

    def codegen(context, builder, signature, args):
        base = builder.inttoptr(args[0], I64.as_pointer())
        first = builder.gep(base, [args[1]])
        for index, kind in enumerate(signature.args[2]):
            value = _to_word(builder, builder.extract_value(args[2], index), kind)
            builder.store(value, builder.gep(first, [ir.Constant(I64, index)]))
        return builder.ptrtoint(first, I64)
    return _INT(_INT, _INT, items), codegen


# ---- integers ----


def _overflow(name: str) -> Build:
    def build(builder: Any, a: Any, b: Any) -> Any:
        return builder.extract_value(getattr(builder, name)(a, b), 1)
    return build


def _constant(value: int) -> Any:
    return ir.Constant(I64, value)


def _is_minimum_by_minus_one(builder: Any, a: Any, b: Any) -> Any:
    return builder.and_(builder.icmp_signed("==", a, _constant(-2 ** 63)),
                        builder.icmp_signed("==", b, _constant(-1)))


def _bad_division(builder: Any, a: Any, b: Any) -> Any:
    return builder.or_(builder.icmp_signed("==", b, _constant(0)), _is_minimum_by_minus_one(builder, a, b))


def _floor_parts(builder: Any, a: Any, b: Any) -> Any:
    quotient, rest = builder.sdiv(a, b), builder.srem(a, b)
    differ = builder.icmp_signed("<", builder.xor(rest, b), _constant(0))
    return quotient, rest, builder.and_(builder.icmp_signed("!=", rest, _constant(0)), differ)


def _floor_division(builder: Any, a: Any, b: Any) -> Any:
    quotient, _, adjust = _floor_parts(builder, a, b)
    return builder.select(adjust, builder.sub(quotient, _constant(1)), quotient)


def _floor_remainder(builder: Any, a: Any, b: Any) -> Any:
    _, rest, adjust = _floor_parts(builder, a, b)
    return builder.select(adjust, builder.add(rest, b), rest)


def _shift(name: str, limit: int) -> Build:
    """A shift whose count is taken modulo 64, as no count outside 0..63 is undefined then."""
    def build(builder: Any, a: Any, b: Any) -> Any:
        return getattr(builder, name)(a, builder.and_(b, _constant(limit)))
    return build


def _shift_loses(builder: Any, a: Any, b: Any) -> Any:
    """Whether ``a << b`` leaves int64 or ``b`` is not in 0..62."""
    count = builder.and_(b, _constant(63))
    back = builder.ashr(builder.shl(a, count), count)
    return builder.or_(builder.icmp_unsigned(">", b, _constant(62)), builder.icmp_signed("!=", back, a))


def _outside(builder: Any, value: Any, low: Any, high: Any) -> Any:
    return builder.or_(builder.icmp_signed("<", value, low), builder.icmp_signed(">", value, high))


def _wrap(signed: bool) -> Build:
    """The low ``bits`` bits of a value, extended again."""
    def build(builder: Any, value: Any, bits: Any) -> Any:
        count = builder.sub(_constant(64), bits)
        up = builder.shl(value, count)
        return builder.ashr(up, count) if signed else builder.lshr(up, count)
    return build


def _llvm_binary(name: str) -> Build:
    return lambda builder, a, b: getattr(builder, name)(a, b)


def _integer_rows() -> Dict[str, Any]:
    rows: Dict[str, Any] = {}
    for prefix, kind, sign in (("i", _INT, "s"), ("u", _UINT, "u")):
        for name in ("add", "sub", "mul"):
            rows[prefix + name] = _binary(kind, kind, kind, _llvm_binary(name))
            rows[prefix + name + "_overflows"] = _binary(
                _BOOL, kind, kind, _overflow("%s%s_with_overflow" % (sign, name)))
        for name, build in (("and", "and_"), ("or", "or_"), ("xor", "xor")):
            rows[prefix + name] = _binary(kind, kind, kind, _llvm_binary(build))
    rows["idivides_badly"] = _binary(_BOOL, _INT, _INT, _bad_division)
    rows["ifloordiv"] = _binary(_INT, _INT, _INT, _floor_division)
    rows["imod"] = _binary(_INT, _INT, _INT, _floor_remainder)
    rows["ufloordiv"] = _binary(_UINT, _UINT, _UINT, _llvm_binary("udiv"))
    rows["umod"] = _binary(_UINT, _UINT, _UINT, _llvm_binary("urem"))
    rows["ishl"] = _binary(_INT, _INT, _INT, _shift("shl", 63))
    rows["ishl_loses"] = _binary(_BOOL, _INT, _INT, _shift_loses)
    rows["ishr"] = _binary(_INT, _INT, _INT, _shift("ashr", 63))
    rows["ushl"] = _binary(_UINT, _UINT, _UINT, _shift("shl", 63))
    rows["ushr"] = _binary(_UINT, _UINT, _UINT, _shift("lshr", 63))
    rows["outside"] = _ternary(_BOOL, _INT, _INT, _INT, _outside)
    rows["wrap_signed"] = _binary(_INT, _INT, _INT, _wrap(True))
    rows["wrap_unsigned"] = _binary(_INT, _INT, _INT, _wrap(False))
    rows["either"] = _binary(_BOOL, _BOOL, _BOOL, _llvm_binary("or_"))
    rows["as_unsigned"] = _unary(_UINT, _INT, _keep)
    rows["as_signed"] = _unary(_INT, _UINT, _keep)
    rows["choose"] = _ternary(_INT, _BOOL, _INT, _INT, lambda builder, a, b, c: builder.select(a, b, c))
    rows["choose_unsigned"] = _ternary(_UINT, _BOOL, _UINT, _UINT,
                                       lambda builder, a, b, c: builder.select(a, b, c))
    return rows


# ---- indices and shapes ----


def _select_less(builder: Any, a: Any, b: Any, then: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), then, other)


def _from_front(builder: Any, index: Any, size: Any) -> Any:
    return _select_less(builder, index, _constant(0), builder.add(index, size), index)


def _clip(below: int, above: int) -> Build:
    """An end of a slice from the front: ``below`` if before the front, ``size + above`` if behind the end."""
    def build(builder: Any, end: Any, size: Any) -> Any:
        place = _from_front(builder, end, size)
        high = builder.select(builder.icmp_signed(">=", place, size), builder.add(size, _constant(above)),
                              place)
        return _select_less(builder, place, _constant(0), _constant(below), high)
    return build


def _span(builder: Any, start: Any, stop: Any) -> Any:
    return _select_less(builder, start, stop, builder.sub(stop, start), _constant(0))


def _stepped(builder: Any, start: Any, stop: Any, step: Any) -> Any:
    """The length of a slice with any step but 0."""
    down = builder.icmp_signed("<", step, _constant(0))
    low, high = builder.select(down, stop, start), builder.select(down, start, stop)
    size = builder.select(down, builder.sub(_constant(0), step), step)
    whole = builder.add(builder.sdiv(builder.sub(builder.sub(high, low), _constant(1)), size), _constant(1))
    return _select_less(builder, low, high, whole, _constant(0))


def _is_one(builder: Any, a: Any) -> Any:
    return builder.icmp_signed("==", a, _constant(1))


def _stretch_fails(builder: Any, size: Any, wanted: Any) -> Any:
    return builder.not_(builder.or_(_is_one(builder, size), builder.icmp_signed("==", size, wanted)))


def _broadcast_fails(builder: Any, a: Any, b: Any) -> Any:
    return builder.and_(_stretch_fails(builder, a, b), builder.not_(_is_one(builder, b)))


def _word_address(builder: Any, frame: Any, word: Any) -> Any:
    return builder.add(frame, builder.mul(word, _constant(8)))


def _shape_rows() -> Dict[str, Any]:
    rows: Dict[str, Any] = {}
    for name, build in (("from_front", _from_front), ("clip_up", _clip(0, 0)), ("clip_down", _clip(-1, -1)),
                        ("span", _span), ("address_of_word", _word_address),
                        ("broadcast_size", lambda builder, a, b: builder.select(_is_one(builder, a), b, a))):
        rows[name] = _binary(_INT, _INT, _INT, build)
    for name, build in (("stretch_fails", _stretch_fails), ("broadcast_fails", _broadcast_fails),
                        ("beyond", lambda builder, a, b: builder.icmp_unsigned(">=", a, b))):
        rows[name] = _binary(_BOOL, _INT, _INT, build)
    rows["stepped"] = _ternary(_INT, _INT, _INT, _INT, _stepped)
    return rows


# ---- floating point ----

_LARGEST = {F4: float(np.finfo(np.float32).max), F8: float(np.finfo(np.float64).max)}
_SMALLEST = {F4: float(np.finfo(np.float32).tiny), F8: float(np.finfo(np.float64).tiny)}


def _real(like: Any, value: float) -> Any:
    return ir.Constant(like.type, value)


def _call(builder: Any, name: str, *args: Any) -> Any:
    kind = args[0].type
    function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind] * len(args)))
    return builder.call(function, args)


def _finite(builder: Any, value: Any) -> Any:
    return builder.fcmp_ordered("<=", _call(builder, "llvm.fabs", value), _real(value, _LARGEST[value.type]))


def _all_finite(builder: Any, a: Any, b: Any) -> Any:
    return builder.and_(_finite(builder, a), _finite(builder, b))


def _new_special(builder: Any, result: Any, a: Any, b: Any) -> Any:
    """NaN without a NaN operand, or infinity of finite operands."""
    invalid = builder.and_(builder.fcmp_unordered("uno", result, result), builder.fcmp_ordered("ord", a, b))
    overflow = builder.and_(builder.not_(_finite(builder, result)), _all_finite(builder, a, b))
    return builder.or_(invalid, overflow)


def _tiny(builder: Any, value: Any) -> Any:
    return builder.fcmp_ordered("<", _call(builder, "llvm.fabs", value), _real(value, _SMALLEST[value.type]))


def _is_not_zero(builder: Any, value: Any) -> Any:
    return builder.fcmp_unordered("!=", value, _real(value, 0.0))


def _product_flags(builder: Any, result: Any, a: Any, b: Any) -> Any:
    lost = builder.and_(_tiny(builder, result), builder.and_(_is_not_zero(builder, a),
                                                             _is_not_zero(builder, b)))
    return builder.or_(_new_special(builder, result, a, b), lost)


def _quotient_flags(builder: Any, result: Any, a: Any, b: Any) -> Any:
    lost = builder.and_(_tiny(builder, result), builder.and_(_is_not_zero(builder, a), _finite(builder, b)))
    by_zero = builder.fcmp_ordered("==", b, _real(b, 0.0))
    return builder.or_(by_zero, builder.or_(_new_special(builder, result, a, b), lost))


def _float_division(builder: Any, a: Any, b: Any) -> Any:
    """CPython's float_divmod, which NumPy's npy_divmod copies: (floor quotient, remainder, plain
    quotient)."""
    zero = _real(a, 0.0)
    rest = builder.frem(a, b)
    plain = builder.fdiv(builder.fsub(a, rest), b)
    inexact = builder.fcmp_unordered("!=", rest, zero)
    signs_differ = builder.xor(builder.fcmp_ordered("<", b, zero), builder.fcmp_ordered("<", rest, zero))
    adjust = builder.and_(inexact, signs_differ)
    exact_rest = builder.select(inexact, rest, _call(builder, "llvm.copysign", zero, b))
    remainder = builder.select(adjust, builder.fadd(rest, b), exact_rest)
    quotient = builder.select(adjust, builder.fsub(plain, _real(a, 1.0)), plain)
    floor = _call(builder, "llvm.floor", quotient)
    too_low = builder.fcmp_ordered(">", builder.fsub(quotient, floor), _real(a, 0.5))
    rounded = builder.select(too_low, builder.fadd(floor, _real(a, 1.0)), floor)
    signed_zero = _call(builder, "llvm.copysign", zero, builder.fdiv(a, b))
    result = builder.select(builder.fcmp_unordered("!=", quotient, zero), rounded, signed_zero)
    return result, remainder, plain


def _division_flags(builder: Any, a: Any, b: Any) -> Any:
    """Whether NumPy's ``//`` or ``%`` could raise a flag: b == 0, something not finite, or an underflow on
    the way."""
    quotient, remainder, plain = _float_division(builder, a, b)
    fine = builder.and_(_all_finite(builder, a, b), _all_finite(builder, quotient, remainder))
    rest = builder.frem(a, b)
    lost = builder.and_(_tiny(builder, plain), builder.fcmp_unordered("!=", a, rest))
    by_zero = builder.fcmp_ordered("==", b, _real(b, 0.0))
    return builder.or_(builder.or_(by_zero, lost), builder.not_(fine))


def _narrow_flags(builder: Any, value: Any) -> Any:
    """Whether the conversion to float32 overflows or underflows."""
    result = builder.fptrunc(value, F4)
    overflow = builder.and_(_finite(builder, value), builder.not_(_finite(builder, result)))
    return builder.or_(overflow, builder.and_(_tiny(builder, result), _is_not_zero(builder, value)))


@intrinsic
def float_flags_sum(typingctx, result, a, b):
    """Whether ``a + b`` or ``a - b`` raised a floating-point flag that NumPy reports."""
    return _BOOL(a, a, a), lambda context, builder, signature, args: _new_special(builder, *args)


@intrinsic
def float_flags_product(typingctx, result, a, b):
    """The same for ``a * b``."""
    return _BOOL(a, a, a), lambda context, builder, signature, args: _product_flags(builder, *args)


@intrinsic
def float_flags_quotient(typingctx, result, a, b):
    """The same for ``a / b``."""
    return _BOOL(a, a, a), lambda context, builder, signature, args: _quotient_flags(builder, *args)


@intrinsic
def fabs(typingctx, a):
    """``llvm.fabs``."""
    return a(a), lambda context, builder, signature, args: _call(builder, "llvm.fabs", *args)


def _float_rows() -> Dict[str, Any]:
    def special(builder: Any, value: Any) -> Any:
        return builder.not_(_finite(builder, value))

    rows: Dict[str, Any] = {
        name: _float_binary(_llvm_binary(name)) for name in ("fadd", "fsub", "fmul", "fdiv")}
    rows["ffloordiv"] = _float_binary(lambda builder, a, b: _float_division(builder, a, b)[0])
    rows["fmod"] = _float_binary(lambda builder, a, b: _float_division(builder, a, b)[1])
    rows["fdivision_flags"] = _float_binary(_division_flags, _BOOL)
    rows["special"] = _unary(_BOOL, _F8, special)
    rows["fsqrt"] = _unary(_F8, _F8, lambda builder, a: _call(builder, "llvm.sqrt", a))
    rows["narrow_flags"] = _unary(_BOOL, _F8, _narrow_flags)
    rows["narrow"] = _unary(_F4, _F8, lambda builder, a: builder.fptrunc(a, F4))
    rows["widen"] = _unary(_F8, _F4, lambda builder, a: builder.fpext(a, F8))
    rows["i_to_f8"] = _unary(_F8, _INT, lambda builder, a: builder.sitofp(a, F8))
    rows["i_to_f4"] = _unary(_F4, _INT, lambda builder, a: builder.sitofp(a, F4))
    rows["u_to_f8"] = _unary(_F8, _UINT, lambda builder, a: builder.uitofp(a, F8))
    rows["u_to_f4"] = _unary(_F4, _UINT, lambda builder, a: builder.uitofp(a, F4))
    rows["f8_to_i"] = _unary(_INT, _F8, lambda builder, a: builder.fptosi(a, I64))
    rows["f8_to_u"] = _unary(_UINT, _F8, lambda builder, a: builder.fptoui(a, I64))
    rows["f8_bits"] = _unary(_F8, _INT, lambda builder, a: builder.bitcast(a, F8))
    return rows


@intrinsic
def froot(typingctx, a):
    """The square root in the operand's own precision."""
    return a(a), lambda context, builder, signature, args: _call(builder, "llvm.sqrt", *args)


@intrinsic
def fneg(typingctx, a):
    """``-a``: the sign bit flipped."""
    def codegen(context, builder, signature, args):
        return builder.fneg(args[0])
    return a(a), codegen


def float_bits(value: float) -> int:
    """The bits of a double as a signed integer."""
    return struct.unpack("<q", struct.pack("<d", value))[0]


# ---- what is outside the kernel ----


def symbol_caller(name: str, arity: int) -> Any:
    """An intrinsic that calls the C function of doubles under a symbol."""
    def build(builder: Any, *args: Any) -> Any:
        kind = ir.FunctionType(F8, [F8] * arity)
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name=name)
        return builder.call(function, args)
    return _unary(_F8, _F8, build) if arity == 1 else _binary(_F8, _F8, _F8, build)


def symbol_address(name: str) -> Any:
    """An intrinsic without arguments: the address under a symbol."""
    @intrinsic
    def function(typingctx):
        def codegen(context, builder, signature, args):
            known = builder.module.globals.get(name) or ir.GlobalVariable(builder.module, I64, name)
            return builder.ptrtoint(known, I64)
        return _INT(), codegen
    return function


@intrinsic
def call(typingctx, address, *args):
    """Call the C function at ``address`` with int64 arguments and an int64 result."""
    items = args[0] if len(args) == 1 and isinstance(args[0], types.BaseTuple) else types.Tuple(args)
    count = len(items)

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(I64, [I64] * count)
        values = [builder.extract_value(args[1], index) for index in range(count)]
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), values)
    return _INT(_INT, items), codegen


@intrinsic
def clear_exception(typingctx):
    """Forget the Python exception that a runtime function has set."""
    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [])
        function = builder.module.globals.get("PyErr_Clear") or ir.Function(
            builder.module, kind, name="PyErr_Clear")
        builder.call(function, [])
        return ir.Constant(I64, 0)
    return _INT(), codegen


INTRINSICS: Dict[str, Any] = {
    "clear_exception": clear_exception,
    "leave": leave, "set_words": set_words, "call": call, "fneg": fneg, "froot": froot, "fabs": fabs,
    "float_flags_sum": float_flags_sum, "float_flags_product": float_flags_product,
    "float_flags_quotient": float_flags_quotient,
}
INTRINSICS.update(_memory_rows())
INTRINSICS.update(_integer_rows())
INTRINSICS.update(_shape_rows())
INTRINSICS.update(_float_rows())
