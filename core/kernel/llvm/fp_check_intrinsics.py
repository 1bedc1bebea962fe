"""Floating-point checks: a cheap test whether operations may have raised a flag, and an exact one.

`fp_checks.py` writes the calls. The exact test is a function that preserves integer registers. So a loop needs no
spilled registers around calls that are rarely made. The function counts suspicious results in memory of the kernel.
"""

from __future__ import annotations

import functools
import platform
from typing import Any, Callable, Dict, Iterator, List, Tuple

from llvmlite import ir

from pijit.core.kernel.llvm.complex_intrinsics import WRITTEN, Steps
from pijit.core.kernel.llvm.float_intrinsics import (
    SMALLEST,
    finite,
    float_call,
    new_special,
    product_flags,
    quotient_flags,
    real,
)
from pijit.core.kernel.llvm.fp_check_codes import CODES, DOUBTS, LAST, QUOTIENTS, SUMS, UNDERFLOW
from pijit.core.kernel.llvm.intrinsics import BOOL, I1, I64, Intrinsic, call, rare
from pijit.core.kernel.llvm.intrinsics import INT as WORD
from pijit.core.named_tuples import NamedTuple

_NAMES = {code: name for name, code in CODES.items()}
_CERTAIN: Dict[str, Callable[..., Any]] = {"sum": new_special, "product": product_flags, "quotient": quotient_flags}


class _CheckedOperation(NamedTuple):
    """A checked operation: its results that the cheap test looks at, and all its real operations."""

    shown: List[Any]
    done: List[Tuple[Callable[..., Any], Any, Any, Any]]
    compared: Any = None


def _checks(builder: Any, args: Any) -> Iterator[_CheckedOperation]:
    """The operations that the arguments name; each has a code, and the values of the result and the operands."""
    for at in range(0, len(args), 4):
        code, (result, a, b) = args[at][1].constant, [value for _, value in args[at + 1:at + 4]]
        name = _NAMES[code & ~LAST]
        if name in _CERTAIN:
            yield _CheckedOperation([result] if code & LAST else [], [(_CERTAIN[name], result, a, b)])
            continue
        parts = [[builder.extract_value(value, part) for part in (0, 1)] for value in (result, a, b)]
        shown = parts[0] if code & LAST else []
        if name in SUMS:
            yield _CheckedOperation(shown, [(new_special,) + step for step in zip(*parts)])
            continue
        steps = Steps(builder)
        WRITTEN[name](steps, parts[1], parts[2])
        tested = [step[1] for step in steps.done] if name in QUOTIENTS else shown
        yield _CheckedOperation(tested, steps.done, steps.compared)


def _float_suspect(builder: Any, args: Any) -> Any:
    """``float_suspect(underflow, *operations)``: whether one may have raised a floating-point flag; rarely true."""
    shown: List[Any] = []
    smallest = None
    for check in _checks(builder, args[1:]):
        shown += check.shown
        for flags, result, _, _ in check.done:
            if flags is not new_special:
                size = float_call(builder, "llvm.fabs", result)
                smallest = size if smallest is None else builder.select(
                    builder.fcmp_ordered("<", smallest, size), smallest, size)
    suspicious = ir.Constant(I1, 0)
    if smallest is not None:
        least = builder.load(_field(builder, _memory(builder, args), _LEAST))
        suspicious = builder.fcmp_unordered("<", smallest, least)
    for value in shown:
        suspicious = builder.or_(suspicious, builder.not_(finite(builder, value)))
    return rare(builder, suspicious)


_DOUBTS, _RAISED, _LEAST = range(3)
"""Fields of the kernel's memory for checks.

The number of suspicious results, the last answer, and the least magnitude that is not suspicious.
"""

_KEEPING = "preserve_mostcc" if platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64") else ""
"""The calling convention of functions that preserve nearly all integer registers.

It does not work for results, so they go through memory. LLVM 11 failed on some functions that preserve all registers.
"""


def _memory(builder: Any, args: Any) -> Any:
    """The kernel's memory for checks of a number type; checks that include underflow have another."""
    kind = _number(args)
    name = "memory_%s_%d" % (kind.intrinsic_name, args[0][1].constant)
    with builder.goto_entry_block():
        for instruction in builder.block.instructions:
            if instruction.name == name:
                return instruction
        memory = builder.alloca(ir.LiteralStructType([I64, I64, kind]), name=name)
        builder.store(ir.Constant(I64, 0), _field(builder, memory, _DOUBTS))
        builder.store(ir.Constant(kind, SMALLEST[kind]), _field(builder, memory, _LEAST))
        return memory


def _number(args: Any) -> Any:
    kind = args[2][1].type
    return kind.elements[0] if isinstance(kind, ir.LiteralStructType) else kind


def _field(builder: Any, memory: Any, number: int) -> Any:
    return builder.gep(memory, [ir.Constant(ir.IntType(32), 0), ir.Constant(ir.IntType(32), number)], inbounds=True)


def _float_raised(builder: Any, args: Any) -> Any:
    """``float_raised(underflow, listened, *operations)``: whether one raised a floating-point flag that NumPy reports.

    ``listened`` is the address of the function that asks NumPy.
    """
    (underflow, listened), operations = (args[0], args[1]), args[2:]
    memory = _memory(builder, [underflow] + operations)
    passed = list({id(value): value for _, value in operations if not isinstance(value, ir.Constant)}.values())
    inner, given = _apart(builder, "raised", [memory.type, I64] + [value.type for value in passed])
    inside = {id(value): argument for value, argument in zip(passed, given[2:])}
    inner_operations = [(kind, inside.get(id(value), value)) for kind, value in operations]
    counts = not underflow[1].constant and any(_NAMES[code.constant & ~LAST] not in SUMS for _, code in operations[::4])
    if counts:
        _count(inner, given[0], given[1])
    least = _field(inner, given[0], _LEAST)
    raised = _float_flags(inner, inner.load(least), inner_operations)
    if counts:
        listening = inner.fcmp_ordered(">", inner.load(least), real(inner.load(least), 0.0))
        with inner.if_then(inner.and_(raised, listening), likely=False):
            _ask(inner, given[0], given[1])
        raised = _float_flags(inner, inner.load(least), inner_operations)
    inner.store(inner.zext(raised, I64), _field(inner, given[0], _RAISED))
    inner.ret_void()
    builder.call(inner.function, [memory, listened[1]] + passed, cconv=_KEEPING)
    return builder.icmp_unsigned("!=", builder.load(_field(builder, memory, _RAISED)), ir.Constant(I64, 0))


def _apart(builder: Any, name: str, kinds: List[Any]) -> Tuple[Any, List[Any]]:
    """The builder and the arguments of a cold function; its first argument is memory of the caller."""
    module = builder.module
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), module.get_unique_name(name))
    function.linkage, function.calling_convention = "internal", _KEEPING
    function.attributes.add("noinline")
    function.attributes.add("cold")
    return ir.IRBuilder(function.append_basic_block("entry")), list(function.args)


def _count(builder: Any, memory: Any, listened: Any) -> None:
    """After DOUBTS suspicious results ask NumPy once whether underflow is reported."""
    place = _field(builder, memory, _DOUBTS)
    doubts = builder.add(builder.load(place), ir.Constant(I64, 1))
    builder.store(doubts, place)
    with builder.if_then(builder.icmp_unsigned("==", doubts, ir.Constant(I64, DOUBTS)), likely=False):
        _ask(builder, memory, listened)


def _ask(builder: Any, memory: Any, listened: Any) -> None:
    """Ask NumPy whether underflow is reported; if it is not, stop checking for it."""
    inner, given = _apart(builder, "ask", [memory.type, I64])
    least = _field(inner, given[0], _LEAST)
    answer = call(inner, [(WORD, given[1]), (WORD, ir.Constant(I64, UNDERFLOW))])
    wanted = inner.icmp_unsigned("!=", answer, ir.Constant(I64, 0))
    old = inner.load(least)
    inner.store(inner.select(wanted, old, real(old, -1.0)), least)
    inner.ret_void()
    builder.call(inner.function, [memory, listened], cconv=_KEEPING)


def _float_flags(builder: Any, least: Any, operations: Any) -> Any:
    listened = builder.fcmp_ordered(">", least, real(least, 0.0))
    answers = []
    for check in _checks(builder, operations):
        answers += [flags(builder, result, a, b, *[listened] * (flags is not new_special))
                    for flags, result, a, b in check.done]
        answers += [check.compared] * (check.compared is not None)
    return functools.reduce(builder.or_, answers)


CHECK_INTRINSICS: Dict[str, Intrinsic] = {
    "float_suspect": Intrinsic(BOOL, None, _float_suspect),
    "float_raised": Intrinsic(BOOL, None, _float_raised),
}
