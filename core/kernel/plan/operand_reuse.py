"""In-place reuse: words that tell the runtime which operands a result may be computed into.

NumPy's operators reuse large temporaries, and kernels reuse dead arrays; native/runtime/arrays/elision.h decides at run
time. Called by emit/array_ops.py and emit/fused_nest.py.
"""

from __future__ import annotations

from typing import Any, List, Optional, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import ALWAYS, ELIDED_BYTES, NEVER, UNKNOWN
from pijit.core.graph.passes.fusion import is_exact
from pijit.core.graph.types import Array

_ASK_FOUND, _ASK_INPUT, _FREE, _AS_NUMPY, _INTO_SHIFT = 4, 5, 16, 32, 8


def as_numpy_orders(emitter: Any, op: Op, operands: List[Any], words: List[List[str]]) -> List[List[str]]:
    """The words of both operands of a product, in the order in which NumPy computes it.

    The right operand comes first if NumPy multiplies it in place: it is a large temporary, and the left one is not.
    The kernel leaves if it cannot tell whether an array is a temporary.
    """
    found = [_may_be_computed_into(emitter, op, number) for number in (0, 1)]
    left, right = operands
    if found[1] is False or found[0] is True or left.array is not None and left.ndim != right.ndim:
        return words
    count = "(%d)" % cast(Array, cast(Value, op.result).type).dtype.itemsize
    for size in right.array.shape:
        count = "imul(%s, %s)" % (count, size)
    tests = ["%s >= %d" % (emitter.let(count), ELIDED_BYTES)]
    if left.array is not None:
        tests += ["%s == %s" % pair for pair in zip(left.array.shape, right.array.shape)]
    swaps = emitter.let(" and ".join(tests))
    if None in found:
        emitter.guard(op, swaps)
        return words
    return [[one if one == other else emitter.let("choose(%s, %s, %s)" % (swaps, other, one))
             for one, other in zip(*pair)] for pair in (words, words[::-1])]


def _may_be_computed_into(emitter: Any, op: Op, number: int) -> Optional[bool]:
    """Whether NumPy computes the result into an operand if that is large enough; None if that is unknown."""
    into = _computes_into(emitter, op, number)
    return into == ALWAYS if into in (NEVER, ALWAYS) else None


def _computes_into(emitter: Any, op: Op, number: int) -> int:
    """The code of an operand for native/runtime/arrays/elision.h.

    It is ``into`` of the operation, or says that the object's reference count decides.
    """
    value = op.args[number]
    into: int = op.attrs["into"][number] if "into" in op.attrs and value not in emitter.facts.roots else NEVER
    if into != ALWAYS or value in emitter.facts.made:
        return into
    if value in emitter.facts.params:
        return UNKNOWN
    return _ASK_INPUT if value in emitter.facts.inputs else _ASK_FOUND


def like_size(emitter: Any, op: Op, number: int, address: str, itemsize: int) -> int:
    """The word for alloc_like: an operand's item size, and whether the result may be computed into it."""
    into, value = _computes_into(emitter, op, number), op.args[number]
    free = _freedom(emitter, op, value)
    if into in (_ASK_FOUND, _ASK_INPUT) or free:
        emitter.line("st_i8(%s, 8, %s)" % (address, emitter.arrays[value].object))
    return itemsize + (into + free << _INTO_SHIFT)


def _freedom(emitter: Any, op: Op, value: Value) -> int:
    """Whether the result may be computed into a dead operand, if that has the result's shape and strides at run time.

    Complex numbers only reuse operands where NumPy does, because their loops may then compute in another way.
    """
    same = op.name == "ufunc" and isinstance(value.type, Array) and value.type == cast(Value, op.result).type
    kind = cast(Array, value.type)  # if it is the same
    complex_rows = kind.dtype.kind == "c" and kind.layout == "C" if same else False
    if not same or op in emitter.fused or not (is_exact(op) or complex_rows) or value not in emitter.given_up(op):
        return 0
    if not emitter.buffers.hands_on(value, op.result):
        return 0
    return _FREE + _AS_NUMPY if complex_rows else _FREE
