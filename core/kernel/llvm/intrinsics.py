"""Intrinsics of kernel source: memory words, exact integer arithmetic, calls through addresses.

Each name here is an :class:`Intrinsic`: a few LLVM instructions on values of fixed kinds. Memory operands are
``int64`` addresses plus byte offsets. lower.py calls the builders. They must reach functions and tables outside the
kernel through LLVM symbols (symbols.py), never through embedded addresses: machine code is kept on disk.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from llvmlite import ir

from pijit.core.kernel.llvm.half_precision import half_of, single_of
from pijit.core.named_tuples import NamedTuple

I1, I8, I16, I32, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)
F4, F8 = ir.FloatType(), ir.DoubleType()
INT, UINT, BOOL, F4_TYPE, F8_TYPE = "int64", "uint64", "bool", "float32", "float64"
C8_TYPE, C16_TYPE = "complex64", "complex128"
LLVM_TYPES: Dict[str, Any] = {INT: I64, UINT: I64, BOOL: I1, F4_TYPE: F4, F8_TYPE: F8,
                              C8_TYPE: ir.LiteralStructType([F4, F4]), C16_TYPE: ir.LiteralStructType([F8, F8])}
PAIRS = {F4_TYPE: C8_TYPE, F8_TYPE: C16_TYPE}
"""The kinds of complex numbers, by the kind of their parts."""

Build = Callable[..., Any]


class Intrinsic(NamedTuple):
    """A function of kernel source: the kinds of its result and its operands, and the builder of its instructions.

    ``generic``: all operands have the kind of the first one. The result has that kind, too, if ``result`` is "";
    a dict maps the operands' kind to the result's. ``operands`` None: any number of operands of any kind, and
    ``build`` gets a list of (kind, value).
    """

    result: Union[str, Dict[str, str]]
    operands: Optional[Tuple[str, ...]]
    build: Build
    generic: bool = False


# ---- constructors ----


def unary(result: str, operand: str, build: Build) -> Intrinsic:
    return Intrinsic(result, (operand,), build)


def _binary(result: str, left: str, right: str, build: Build) -> Intrinsic:
    return Intrinsic(result, (left, right), build)


def _ternary(result: str, first: str, second: str, third: str, build: Build) -> Intrinsic:
    return Intrinsic(result, (first, second, third), build)


def same_kind(arity: int, build: Build, result: Union[str, Dict[str, str]] = "") -> Intrinsic:
    """An intrinsic whose operands are of one floating or complex kind; so is its result unless ``result`` differs."""
    return Intrinsic(result, ("",) * arity, build, True)


# ---- memory ----


def field_pointer(builder: Any, base: Any, offset: Any, kind: Any) -> Any:
    pointer = builder.gep(builder.inttoptr(base, I8.as_pointer()), [offset])
    return builder.bitcast(pointer, kind.as_pointer())


def _load(kind: Any, convert: Build) -> Build:
    return lambda builder, base, offset: convert(
        builder, builder.load(field_pointer(builder, base, offset, kind), align=1))


def _store(kind: Any, convert: Build) -> Build:
    def build(builder: Any, base: Any, offset: Any, value: Any) -> Any:
        builder.store(convert(builder, value), field_pointer(builder, base, offset, kind), align=1)
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
    """``ld_<code>(base, offset)`` and ``st_<code>(base, offset, value)`` per dtype: i1..i8, u1..u8, f2..f8, b1."""
    rows: Dict[str, Any] = {}

    def add(code: str, memory: Any, value: Any, read: Build, write: Build) -> None:
        rows["ld_" + code] = _binary(value, INT, INT, _load(memory, read))
        rows["st_" + code] = _ternary(INT, INT, INT, value, _store(memory, write))

    for size in (1, 2, 4, 8):
        kind = ir.IntType(8 * size)
        add("i%d" % size, kind, INT, _sign_extend, _truncate(kind))
        add("u%d" % size, kind, UINT if size == 8 else INT, _zero_extend, _truncate(kind))
    add("b1", I8, BOOL, _nonzero, lambda builder, value: builder.zext(value, I8))
    add("f2", I16, F4_TYPE, single_of, half_of)
    add("f4", F4, F4_TYPE, _keep, _keep)
    add("f8", F8, F8_TYPE, _keep, _keep)
    return rows


def to_words(builder: Any, kind: str, value: Any) -> List[Any]:
    """A value as the 64 bits of one frame word, or of two for a complex number."""
    if kind in PAIRS.values():
        half = F8_TYPE if kind == C16_TYPE else F4_TYPE
        return [word for part in (0, 1) for word in to_words(builder, half, builder.extract_value(value, part))]
    if kind == F4_TYPE:
        return [builder.bitcast(builder.fpext(value, F8), I64)]
    if kind == F8_TYPE:
        return [builder.bitcast(value, I64)]
    return [builder.zext(value, I64) if kind == BOOL else value]


def _store_words(builder: Any, frame: Any, word: Any, values: Any) -> Any:
    """Store values in consecutive words; the result is the address of the first."""
    first = builder.gep(builder.inttoptr(frame, I64.as_pointer()), [word])
    words = [word for kind, value in values for word in to_words(builder, kind, value)]
    for index, value in enumerate(words):
        builder.store(value, builder.gep(first, [_constant(index)]))
    return first


def _leave(builder: Any, args: Any) -> Any:
    """``leave(frame, word, number, *values)`` stores the values from that word on; the result is ``number``."""
    _store_words(builder, args[0][1], args[1][1], args[3:])
    return args[2][1]


def _set_words(builder: Any, args: Any) -> Any:
    """``set_words(frame, word, *values)`` stores them likewise; the result is the address of the first word."""
    return builder.ptrtoint(_store_words(builder, args[0][1], args[1][1], args[2:]), I64)


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
    """A shift whose count is taken modulo 64: LLVM leaves other counts undefined."""
    def build(builder: Any, a: Any, b: Any) -> Any:
        return getattr(builder, name)(a, builder.and_(b, _constant(limit)))
    return build


def _shift_loses(builder: Any, a: Any, b: Any) -> Any:
    """Whether ``a << b`` does not fit into int64, or ``b`` is not in 0..62."""
    count = builder.and_(b, _constant(63))
    back = builder.ashr(builder.shl(a, count), count)
    return builder.or_(builder.icmp_unsigned(">", b, _constant(62)), builder.icmp_signed("!=", back, a))


def _outside(builder: Any, value: Any, low: Any, high: Any) -> Any:
    return builder.or_(builder.icmp_signed("<", value, low), builder.icmp_signed(">", value, high))


def _wrap(signed: bool) -> Build:
    """The low ``bits`` bits of a value, extended to 64 bits."""
    def build(builder: Any, value: Any, bits: Any) -> Any:
        count = builder.sub(_constant(64), bits)
        up = builder.shl(value, count)
        return builder.ashr(up, count) if signed else builder.lshr(up, count)
    return build


def llvm_binary(name: str) -> Build:
    return lambda builder, a, b: getattr(builder, name)(a, b)


def _integer_rows() -> Dict[str, Any]:
    rows: Dict[str, Any] = {}
    for prefix, kind, sign in (("i", INT, "s"), ("u", UINT, "u")):
        for name in ("add", "sub", "mul"):
            rows[prefix + name] = _binary(kind, kind, kind, llvm_binary(name))
            rows[prefix + name + "_overflows"] = _binary(
                BOOL, kind, kind, _overflow("%s%s_with_overflow" % (sign, name)))
        for name, build in (("and", "and_"), ("or", "or_"), ("xor", "xor")):
            rows[prefix + name] = _binary(kind, kind, kind, llvm_binary(build))
    rows["idivides_badly"] = _binary(BOOL, INT, INT, _bad_division)
    rows["ifloordiv"] = _binary(INT, INT, INT, _floor_division)
    rows["imod"] = _binary(INT, INT, INT, _floor_remainder)
    rows["ufloordiv"] = _binary(UINT, UINT, UINT, llvm_binary("udiv"))
    rows["umod"] = _binary(UINT, UINT, UINT, llvm_binary("urem"))
    rows["ishl"] = _binary(INT, INT, INT, _shift("shl", 63))
    rows["ishl_loses"] = _binary(BOOL, INT, INT, _shift_loses)
    rows["ishr"] = _binary(INT, INT, INT, _shift("ashr", 63))
    rows["ushl"] = _binary(UINT, UINT, UINT, _shift("shl", 63))
    rows["ushr"] = _binary(UINT, UINT, UINT, _shift("lshr", 63))
    rows["outside"] = _ternary(BOOL, INT, INT, INT, _outside)
    rows["wrap_signed"] = _binary(INT, INT, INT, _wrap(True))
    rows["wrap_unsigned"] = _binary(INT, INT, INT, _wrap(False))
    rows["either"] = _binary(BOOL, BOOL, BOOL, llvm_binary("or_"))
    rows["as_unsigned"] = unary(UINT, INT, _keep)
    rows["as_signed"] = unary(INT, UINT, _keep)
    rows["choose"] = _ternary(INT, BOOL, INT, INT, lambda builder, a, b, c: builder.select(a, b, c))
    rows["choose_unsigned"] = _ternary(UINT, BOOL, UINT, UINT,
                                       lambda builder, a, b, c: builder.select(a, b, c))
    return rows


# ---- indices and shapes ----


def _select_less(builder: Any, a: Any, b: Any, then: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), then, other)


def _from_front(builder: Any, index: Any, size: Any) -> Any:
    return _select_less(builder, index, _constant(0), builder.add(index, size), index)


def _clip(below: int, above: int) -> Build:
    """An end of a slice as a position: ``below`` if before the front, ``size + above`` if after the end."""
    def build(builder: Any, end: Any, size: Any) -> Any:
        place = _from_front(builder, end, size)
        high = builder.select(builder.icmp_signed(">=", place, size), builder.add(size, _constant(above)),
                              place)
        return _select_less(builder, place, _constant(0), _constant(below), high)
    return build


def _span(builder: Any, start: Any, stop: Any) -> Any:
    return _select_less(builder, start, stop, builder.sub(stop, start), _constant(0))


def _stepped(builder: Any, start: Any, stop: Any, step: Any) -> Any:
    """The length of a slice with any step except 0."""
    down = builder.icmp_signed("<", step, _constant(0))
    low, high = builder.select(down, stop, start), builder.select(down, start, stop)
    size = builder.select(down, builder.sub(_constant(0), step), step)
    whole = builder.add(builder.sdiv(builder.sub(builder.sub(high, low), _constant(1)), size), _constant(1))
    return _select_less(builder, low, high, whole, _constant(0))


def _shorter(builder: Any, size: Any, cut: Any) -> Any:
    return _span(builder, cut, size)


def _is_one(builder: Any, a: Any) -> Any:
    return builder.icmp_signed("==", a, _constant(1))


def _stretch_fails(builder: Any, size: Any, wanted: Any) -> Any:
    return builder.not_(builder.or_(_is_one(builder, size), builder.icmp_signed("==", size, wanted)))


def _broadcast_fails(builder: Any, a: Any, b: Any) -> Any:
    return builder.and_(_stretch_fails(builder, a, b), builder.not_(_is_one(builder, b)))


def rare(builder: Any, condition: Any) -> Any:
    """A condition that rarely holds, marked for LLVM's branch weights."""
    expect = builder.module.declare_intrinsic("llvm.expect", [I1], ir.FunctionType(I1, [I1, I1]))
    return builder.call(expect, [condition, ir.Constant(I1, 0)])


def _word_address(builder: Any, frame: Any, word: Any) -> Any:
    return builder.add(frame, builder.mul(word, _constant(8)))


def _shape_rows() -> Dict[str, Any]:
    rows: Dict[str, Any] = {}
    build: Build
    for name, build in (("from_front", _from_front), ("clip_up", _clip(0, 0)), ("clip_down", _clip(-1, -1)),
                        ("span", _span), ("shorter", _shorter), ("address_of_word", _word_address),
                        ("broadcast_size", lambda builder, a, b: builder.select(_is_one(builder, a), b, a))):
        rows[name] = _binary(INT, INT, INT, build)
    for name, build in (("stretch_fails", _stretch_fails), ("broadcast_fails", _broadcast_fails),
                        ("beyond", lambda builder, a, b: builder.icmp_unsigned(">=", a, b))):
        rows[name] = _binary(BOOL, INT, INT, build)
    rows["rare"] = unary(BOOL, BOOL, rare)
    rows["stepped"] = _ternary(INT, INT, INT, INT, _stepped)
    return rows


# ---- symbols outside the kernel ----


def symbol_caller(name: str, arity: int, single: bool = False) -> Intrinsic:
    """An intrinsic that calls the C function of doubles, or of ``single`` floats, under a symbol."""
    kind = F4_TYPE if single else F8_TYPE
    real = LLVM_TYPES[kind]

    def build(builder: Any, *args: Any) -> Any:
        return builder.call(_external(builder, name, ir.FunctionType(real, [real] * arity)), args)
    return Intrinsic(kind, (kind,) * arity, build)


def symbol_address(name: str) -> Intrinsic:
    """An intrinsic that gives the address under a symbol."""
    return Intrinsic(INT, (), lambda builder: builder.ptrtoint(_external(builder, name, I64), I64))


def symbol_reader(name: str) -> Intrinsic:
    """An intrinsic that reads the C int under a symbol, each time from memory: other threads may write it."""
    return Intrinsic(INT, (), lambda builder: builder.sext(
        builder.load_atomic(_external(builder, name, I32), "monotonic", 4), I64))


def _bits_set(builder: Any, address: Any, bits: Any) -> Any:
    """The given bits that are set in the word at an address, read from memory each time: other threads may write it."""
    return builder.and_(builder.load_atomic(builder.inttoptr(address, I64.as_pointer()), "monotonic", 8), bits)


def _external(builder: Any, name: str, kind: Any) -> Any:
    """The global of the module that declares an external symbol."""
    known = builder.module.globals.get(name)
    if known is None:
        make = ir.Function if isinstance(kind, ir.FunctionType) else ir.GlobalVariable
        known = make(builder.module, kind, name)
    return known


def call(builder: Any, args: Any) -> Any:
    """``call(address, *words)`` calls the C function at an address; its result is a word."""
    kind = ir.FunctionType(I64, [I64] * (len(args) - 1))
    words = [word for arg in args[1:] for word in to_words(builder, *arg)]
    return builder.call(builder.inttoptr(args[0][1], kind.as_pointer()), words)


WORD_INTRINSICS: Dict[str, Intrinsic] = {
    "leave": Intrinsic(INT, None, _leave), "set_words": Intrinsic(INT, None, _set_words),
    "call": Intrinsic(INT, None, call),
    "bits_set": _binary(INT, INT, INT, _bits_set),
    "uint64": unary(UINT, UINT, _keep),
}
WORD_INTRINSICS.update(_memory_rows())
WORD_INTRINSICS.update(_integer_rows())
WORD_INTRINSICS.update(_shape_rows())
