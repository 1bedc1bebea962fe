"""Parallel loop nests: several threads share the outermost axis.

The nest becomes a function. A nest that is large enough passes its operands to the runtime
(``native/runtime/thread_pool.h``), whose threads call that function for parts of the axis. Wherever the parts end, each
element must be computed by the same instructions from the same operands as in one thread. So rows of an axis stay
whole, and a single axis is cut at multiples of ALIGNMENT: LLVM has other code for elements after the last whole vector.
"""

from __future__ import annotations

from typing import Any, Callable, List, Sequence

from llvmlite import ir

from pijit.core.graph.element_ops import DIVIDING
from pijit.core.graph.ops import FINDS_ELEMENTS
from pijit.core.kernel.llvm.builder import local
from pijit.core.kernel.llvm.codegen import has_feature
from pijit.core.kernel.llvm.intrinsics import I64
from pijit.core.named_tuples import NamedTuple

_SLOW = DIVIDING | FINDS_ELEMENTS
_SLOW_WORK = 16
_SUM_WORK = 12

ALIGNMENT = 1024


def units_of(operands: int, operations: Sequence[str], sums: bool) -> int:
    """The work per element of a nest; an operand or a cheap operation counts 1."""
    return operands + sum(_SLOW_WORK if name in _SLOW else 1 for name in operations) + _SUM_WORK * sums


FEWEST = 3
"""Operations per element from which on arithmetic takes longer than loading the operands."""


def gains_by_width(operations: Sequence[str]) -> bool:
    """Whether full-width vectors are faster. LLVM's default is half that width, for processors that then slow down."""
    cheap = not any(name in _SLOW for name in operations)
    return cheap and len(operations) >= FEWEST and has_feature("avx512fp16")


_VOID = ir.VoidType()
_BODY = ir.FunctionType(_VOID, [I64, I64, I64, I64])
_RUN = ir.FunctionType(I64, [I64] * 6)


class SharedWork(NamedTuple):
    """The work of a nest that threads may share.

    Attributes:
        moving: (position of an address, position of its stride along the first axis) among the operands.
        sizes: how many operands are sizes; they come first.
        units: the work per element.
        least: the least work that threads share.
        buffer: the position of an address of which each thread has its own, or -1.
        wide: whether vectors are to be as wide as registers.
        changed: how many sizes may be others for one thread. They are passed even if they are constants.
    """

    moving: Sequence[Any]
    sizes: int
    units: int
    least: int
    buffer: int = -1
    wide: bool = False
    changed: int = 0


def write_shared(builder: Any, key: Any, runtime: Any, operands: List[Any], shared: SharedWork,
                 write: Callable[[Any, List[Any]], Any],
                 alone: Callable[[Any, List[Any]], List[Any]] = lambda builder, operands: operands) -> Any:
    """Write a nest that threads share if it is large; the result is the bitwise or of all parts' results.

    Arguments:
        key: identifies the code that `write` writes for operands of given types and constants. Nests of a kernel with
            the same key, types and constants share one function.
        runtime: the address of the runtime's ``parallel``.
        operands: the operands of the nest, sizes first.
        shared: the work, and how it is divided.
        write: writes the nest for operands, and returns its result.
        alone: the operands for one thread. It may change those that are passed.
    """
    sizes, least = shared.sizes, shared.least
    passed = [k for k, value in enumerate(operands) if k < shared.changed or not isinstance(value, ir.Constant)]
    written = vars(builder.module).setdefault("written_nests", {})
    given_kinds = tuple(str(value if isinstance(value, ir.Constant) else value.type) for value in operands)
    if (key, given_kinds) not in written:
        nest = _nest(builder, operands, passed, write)
        if shared.wide:
            set.add(nest.attributes, '"prefer-vector-width"="512"')  # llvmlite supports no string attributes
        written[key, given_kinds] = nest, _part(builder, nest, operands, passed, shared.moving, shared.buffer)
    nest, part = written[key, given_kinds]
    work = ir.Constant(I64, shared.units)
    for size in operands[:sizes]:
        work = builder.mul(work, size)
    given = [operands[k] for k in passed]
    words = local(builder, I64, len(given) + 1)
    answer = builder.gep(words, [ir.Constant(I64, len(given))])
    with builder.if_else(builder.icmp_signed("<", work, ir.Constant(I64, least))) as (small, large):
        with small:
            own = alone(builder, operands)
            builder.store(builder.call(nest, [own[k] for k in passed]), answer)
        with large:
            builder.store(ir.Constant(I64, 0), answer)
            for number, value in enumerate(given):
                builder.store(value, builder.bitcast(builder.gep(words, [ir.Constant(I64, number)]),
                                                     value.type.as_pointer()))
            run = builder.inttoptr(runtime, _RUN.as_pointer())
            builder.call(run, [builder.ptrtoint(part, I64), builder.ptrtoint(words, I64), operands[0],
                               ir.Constant(I64, ALIGNMENT if sizes == 1 else 1), work, ir.Constant(I64, least)])
    return builder.load(answer)


def _nest(builder: Any, operands: List[Any], passed: Sequence[int], write: Callable[[Any, List[Any]], Any]) -> Any:
    """The function of the nest."""
    nest = _function(builder, "nest", ir.FunctionType(I64, [operands[k].type for k in passed]))
    nest.attributes.add("noinline")
    inner = ir.IRBuilder(nest.append_basic_block("entry"))
    inner.ret(write(inner, _replaced(operands, passed, nest.args)))
    return nest


def _function(builder: Any, name: str, kind: Any) -> Any:
    function = ir.Function(builder.module, kind, builder.module.get_unique_name(name))
    function.linkage = "internal"
    return function


def _replaced(operands: List[Any], passed: Sequence[int], values: Sequence[Any]) -> List[Any]:
    replaced = list(operands)
    for k, value in zip(passed, values):
        replaced[k] = value
    return replaced


def _part(builder: Any, nest: Any, operands: List[Any], passed: Sequence[int], moving: Sequence[Any],
          buffer: int) -> Any:
    """The function that computes part of the first axis: a `PoolBody`."""
    part = _function(builder, "part", _BODY)
    begin, end, words, own = part.args
    inner = ir.IRBuilder(part.append_basic_block("entry"))
    words = inner.inttoptr(words, I64.as_pointer())
    loaded = _replaced(operands, passed, [
        inner.load(inner.bitcast(inner.gep(words, [ir.Constant(I64, number)]), operands[k].type.as_pointer()))
        for number, k in enumerate(passed)])
    loaded[0] = inner.sub(end, begin)
    for address, stride in moving:
        loaded[address] = inner.add(loaded[address], inner.mul(begin, loaded[stride]))
    if buffer >= 0:
        is_own = inner.icmp_unsigned("!=", own, ir.Constant(I64, 0))
        loaded[buffer] = inner.select(is_own, own, loaded[buffer])
    answer = inner.gep(words, [ir.Constant(I64, len(passed))])
    inner.atomic_rmw("or", answer, inner.call(nest, [loaded[k] for k in passed]), "monotonic")
    inner.ret_void()
    return part
