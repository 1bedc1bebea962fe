"""Division by loop-invariant doubles: exactly rounded quotients from one reciprocal per row.

The reciprocal of ``d`` is kept in two parts, ``lower`` and ``rest``; ``y`` is the reciprocal rounded to nearest. Then
``q = fma(a, lower, a * rest)`` is one of the two floats around ``a / d``. ``q * d - a`` is a float, and
``fma(q * d - a, -y, q)`` is the quotient, rounded to nearest. In this order zeros keep their signs. Source:
P. Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", IBM J. Res. Dev. 34, 1990.

That holds while nothing overflows or underflows: for divisors and dividends of ordinary size, and for dividends that
are zero. Rows are done by blocks. From the first block that has another dividend on, the rest of the row is divided.
Called by nest.py; plan/forms/products.py asks `fuses_products`.
"""

from __future__ import annotations

import functools
import math
import platform
from typing import Any, Callable, Dict, List, Optional

import numpy as np
from llvmlite import ir

from pijit.core.kernel.llvm.builder import local, loop
from pijit.core.kernel.llvm.codegen import has_feature
from pijit.core.kernel.llvm.float_intrinsics import other_sign
from pijit.core.kernel.llvm.fp_status import copy_status, set_status
from pijit.core.kernel.llvm.intrinsics import F8, I8, I32, I64
from pijit.core.kernel.llvm.nest.elements import converted, memory_type

BLOCK = 512
"""Elements that are computed before the kernel tests whether all quotients are certain."""

FEW = 64
"""Elements of the shortest row for which a reciprocal is faster."""

_WORD = ir.IntType(64)
_DIVISORS = 400
_DIVIDENDS = 500
"""Exponents: divisors lie between 2 ** -400 and 2 ** 400, magnitudes of dividends above 2 ** -500.

The least intermediate product is that of the least dividend and the rest of the least reciprocal; it is normal. An
overflow shows in the result, which is not finite.
"""


def divisors(writer: Any, fixed: Dict[int, Any]) -> Dict[int, Any]:
    """The loop-invariant divisors of a row of a nest, by step; ``fixed`` are the loop-invariant values."""
    found = {}
    for number, step in enumerate(writer.nest.steps, writer.first_step):
        divisor = step.operands[-1]
        if step.operation == "truediv" and step.codes[0] == "d" and number not in fixed and divisor in fixed:
            value = converted(writer.builder, fixed[divisor], writer.kinds[divisor], np.dtype(step.codes[1]))
            if not _is_power_of_two(value):
                found[number] = value
    return found if found and fuses_products() else {}


def _is_power_of_two(value: Any) -> bool:
    """Whether a number is a constant power of two: LLVM multiplies by its reciprocal."""
    return isinstance(value, ir.Constant) and math.frexp(value.constant)[0] in (0.5, -0.5)


@functools.lru_cache(maxsize=None)
def fuses_products() -> bool:
    """Whether the processor has a fused multiply-add, and an instruction that reads its floating-point flags."""
    return platform.machine().lower() in ("x86_64", "amd64") and has_feature("fma")


def write_row(writer: Any, size: Any, rows: List[Any], lasts: str, fixed: Dict[int, Any],
              divided_by: Dict[int, Any]) -> None:
    """Write a row of a nest with quotients from reciprocals.

    ``divided_by`` has the divisors by step. If the nest may read what it writes, a block is buffered on the stack.
    """
    builder, dtype, quotients = writer.builder, writer.dtypes[-1], _Quotients(writer.builder, divided_by)
    held = None if writer.nest.families else local(builder, memory_type(dtype), BLOCK)

    def place_held(index: Any) -> Any:
        return builder.bitcast(builder.gep(held, [index]), I8.as_pointer())

    def put(index: Any, held_at: Any = None) -> None:
        places = writer.places(rows, index, lasts)
        writer.store(places[-1] if held_at is None else place_held(held_at), writer.value(places[:-1], fixed))

    def compute(first: Any, index: Any) -> None:
        writer.divided = quotients.divided
        put(builder.add(first, index), None if held is None else index)
        writer.divided = {}

    def keep(first: Any, index: Any) -> None:
        target = writer.places(rows, builder.add(first, index), lasts)[-1]
        writer.store(target, writer.load(place_held(index), dtype))

    done = quotients.write(size, compute, None if held is None else keep)
    loop(builder, builder.sub(size, done), lambda index: put(builder.add(done, index)))


class _Divisor:
    """A divisor of a row, with its reciprocal.

    That is rounded to nearest and negated, and rounded down (``lower``) with the rest that is lost. The rest is not
    negative, so zeros keep their sign.
    """

    def __init__(self, builder: Any, value: Any) -> None:
        one, word = ir.Constant(F8, 1.0), builder.bitcast(value, _WORD)
        self.fits = builder.and_(builder.icmp_signed("<=", _bits(-_DIVISORS), word),
                                 builder.icmp_signed("<=", word, _bits(_DIVISORS)))
        self.value = builder.select(self.fits, value, one)
        minus, reciprocal = builder.fneg(self.value), builder.fdiv(one, self.value)
        above = builder.fcmp_ordered("<", _fma(builder, minus, reciprocal, one), ir.Constant(F8, 0.0))
        bits = builder.sub(builder.bitcast(reciprocal, _WORD), builder.zext(above, _WORD))
        self.minus_reciprocal, self.lower = builder.fneg(reciprocal), builder.bitcast(bits, F8)
        self.rest = builder.fmul(_fma(builder, minus, self.lower, one), reciprocal)


class _Quotients:
    """Writes the rows of one nest that divide; ``divided`` has the functions that replace its divisions, by step."""

    def __init__(self, builder: Any, divided_by: Dict[int, Any]) -> None:
        self.builder = builder
        self.small, self.special = local(builder, _WORD, 1), local(builder, _WORD, 1)
        self.before = local(builder, I32, 1)
        known = {value: _Divisor(builder, value) for value in divided_by.values()}
        self.holds = functools.reduce(builder.and_, [divisor.fits for divisor in known.values()])
        self.divided = {step: functools.partial(self._quotient, known[value]) for step, value in divided_by.items()}

    def _quotient(self, divisor: _Divisor, dividend: Any) -> Any:
        """The replacement of a division; it records whether the result is certain to be the quotient."""
        builder = self.builder
        size = builder.and_(builder.bitcast(dividend, _WORD), ir.Constant(_WORD, 2 ** 63 - 1))
        below = builder.sub(size, _bits(-_DIVIDENDS))
        self._note(self.small, builder.and_(below, builder.neg(size)))  # negative for small sizes, except for zero
        near = _fma(builder, dividend, divisor.lower, builder.fmul(dividend, divisor.rest))
        # LLVM 11 would lose the sign of zero with fneg
        off = _fma(builder, near, divisor.value, other_sign(builder, dividend))
        quotient = _fma(builder, off, divisor.minus_reciprocal, near)
        self._note(self.special, builder.bitcast(builder.fsub(quotient, quotient), _WORD))
        return quotient

    def _note(self, place: Any, word: Any) -> None:
        self.builder.store(self.builder.or_(self.builder.load(place), word), place)

    def _certain(self) -> Any:
        builder, zero = self.builder, ir.Constant(_WORD, 0)
        return builder.and_(builder.icmp_signed(">=", builder.load(self.small), zero),
                            builder.icmp_signed("==", builder.load(self.special), zero))

    def write(self, size: Any, compute: Callable[[Any, Any], None],
              keep: Optional[Callable[[Any, Any], None]] = None) -> Any:
        """Write blocks of a row from its beginning; the result is how many elements are done.

        ``compute(first, index)`` writes the element ``first + index`` with `divided`. When the whole block is certain,
        ``keep(first, index)`` moves it to its place.
        """
        builder, done = self.builder, local(self.builder, I64, 1)
        builder.store(_number(0), done)
        worth = builder.icmp_signed("<=", _number(FEW), size)
        with builder.if_then(builder.and_(self.holds, worth)):
            start, end = builder.append_basic_block("quotients"), builder.append_basic_block("quotients.end")
            builder.branch(start)
            builder.position_at_end(start)
            first = builder.load(done)
            left = builder.sub(size, first)
            count = builder.select(builder.icmp_signed("<", left, _number(BLOCK)), left, _number(BLOCK))
            kept, given_up = builder.append_basic_block("quotients.kept"), builder.append_basic_block(
                "quotients.given_up")
            builder.cbranch(self._block(first, count, compute), kept, given_up)
            builder.position_at_end(given_up)
            set_status(builder, self.before)
            builder.branch(end)
            builder.position_at_end(kept)
            if keep is not None:
                loop(builder, count, functools.partial(keep, first))
            following = builder.add(first, count)
            builder.store(following, done)
            builder.cbranch(builder.icmp_signed("<", following, size), start, end)
            builder.position_at_end(end)
        return builder.load(done)

    def _block(self, first: Any, count: Any, compute: Callable[[Any, Any], None]) -> Any:
        """Compute a block; the result is whether all its quotients are certain."""
        builder = self.builder
        copy_status(builder, self.before)
        for place in (self.small, self.special):
            builder.store(ir.Constant(_WORD, 0), place)
        loop(builder, count, functools.partial(compute, first))
        return self._certain()


def _number(value: int) -> Any:
    return ir.Constant(I64, value)


def _bits(exponent: int) -> Any:
    """The bits of a power of two, as an integer."""
    return ir.Constant(_WORD, (1023 + exponent) << 52)


def _fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    signature = ir.FunctionType(a.type, [a.type] * 3)
    return builder.call(builder.module.declare_intrinsic("llvm.fma", [a.type], signature), [a, b, c])
