"""Intrinsics of exponent bounds: the bound of a number, and the bound of all elements of an array.

The bound ``e`` of a number says that its magnitude is below ``2 ** e``. emit/exponent_bounds.py writes the calls.
`intrinsic_table` lists them. They must not give a bound below the true one.
"""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np
from llvmlite import ir

from pijit.core.kernel.llvm.builder import local, loop
from pijit.core.kernel.llvm.intrinsics import I8, I64, INT, Intrinsic
from pijit.core.kernel.llvm.threads import SharedWork, write_shared


def _bias(dtype: np.dtype[Any]) -> Tuple[int, int]:
    """(bits of the fraction, difference between the exponent's field and the bound) of floats."""
    return (52, 1022) if dtype.itemsize == 8 else (23, 126)


def _bound_of(builder: Any, args: Any) -> Any:
    """``bound_of(number)``: the bound of a number. That of infinity and NaN is above all limits."""
    (_, value), = args
    bits = 64 if isinstance(value.type, ir.DoubleType) else 32
    shift, bias = _bias(np.dtype("f%d" % (bits // 8)))
    word = builder.bitcast(value, ir.IntType(bits))
    word = word if bits == 64 else builder.zext(word, I64)
    field = builder.and_(builder.lshr(word, ir.Constant(I64, shift)), ir.Constant(I64, 2 ** (bits - 1 - shift) - 1))
    return builder.sub(field, ir.Constant(I64, bias))


def below_all(dtype: np.dtype[Any], least: int) -> Intrinsic:
    """``below_all(size, address, itemsize)``: the bound of all elements of an array.

    Threads may share the scan; then the address of ``parallel`` comes first. The answers of threads are joined by
    "or". So an answer is a word in which as many of the lowest bits are set as there are steps up to the bound. A step
    is a 64th of the range of positive exponents.
    """
    bits = 8 * dtype.itemsize
    kind, (shift, bias) = ir.IntType(bits), _bias(dtype)
    step = (2 ** (bits - 1 - shift) // 2) // 64

    def write(builder: Any, values: List[Any]) -> Any:
        first = builder.bitcast(builder.inttoptr(values[1], I8.as_pointer()), kind.as_pointer())
        largest, sizes = local(builder, kind, 1), ir.Constant(kind, 2 ** (bits - 1) - 1)
        builder.store(ir.Constant(kind, 0), largest)

        def body(index: Any) -> None:
            size = builder.and_(builder.load(builder.gep(first, [index]), align=1), sizes)
            known = builder.load(largest)
            builder.store(builder.select(builder.icmp_signed(">", size, known), size, known), largest)

        loop(builder, values[0], body)
        field = builder.lshr(builder.load(largest), ir.Constant(kind, shift))
        field = field if bits == 64 else builder.zext(field, I64)
        bound = builder.sub(field, ir.Constant(I64, bias - step + 1))
        steps = builder.sdiv(builder.select(builder.icmp_signed("<", bound, ir.Constant(I64, 0)),
                                            ir.Constant(I64, 0), bound), ir.Constant(I64, step))
        all_set = builder.icmp_signed(">", steps, ir.Constant(I64, 63))
        lowest = builder.sub(builder.shl(ir.Constant(I64, 1), builder.and_(steps, ir.Constant(I64, 63))),
                             ir.Constant(I64, 1))
        return builder.select(all_set, ir.Constant(I64, -1), lowest)

    def define(module: Any, name: str, arity: int) -> Any:
        function = ir.Function(module, ir.FunctionType(I64, [I64] * arity), name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        builder, values = ir.IRBuilder(function.append_basic_block("entry")), list(function.args)
        runtime = values.pop(0) if least else None
        answer = write_shared(builder, dtype, runtime, values, SharedWork([(1, 2)], 1, 1, least), write) if least \
            else write(builder, values)
        count = module.declare_intrinsic("llvm.ctpop", [I64], ir.FunctionType(I64, [I64]))
        builder.ret(builder.mul(builder.call(count, [answer]), ir.Constant(I64, step)))
        return function

    def build(builder: Any, args: Any) -> Any:
        name = "below_all_" + dtype.char
        function = builder.module.globals.get(name) or define(builder.module, name, len(args))
        return builder.call(function, [value for _, value in args])

    return Intrinsic(INT, None, build)


EXPONENT_INTRINSICS: Dict[str, Intrinsic] = {"bound_of": Intrinsic(INT, None, _bound_of)}
"""The intrinsics that mean the same in every kernel; `below_all` depends on the dtype and on threads."""
