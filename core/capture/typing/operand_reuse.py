"""Temporary elision: NumPy's operators compute into a large operand to which nothing else refers.

The result then has that operand's strides, and a product has that operand as its first factor. NumPy counts references
and searches the C stack for its caller. So an array counts as held here if bytecode would hold it: in a variable, on
the operand stack, or in a container on the stack.
"""

from __future__ import annotations

import operator
from typing import Any, Dict, Iterator, List, Sequence, Tuple

import numpy as np

from pijit.core.bytecode.rewrite.generator_to_loop import RESULT, variable
from pijit.core.capture.typing.result_types import WEAK_SCALARS, SampleOperand
from pijit.core.capture.values.lattice import Abstract, KnownContainer, Tensor
from pijit.core.capture.values.lattice import Sequence as Items
from pijit.core.graph.ops import ALWAYS, ELIDED_BYTES, LEAVES, NEVER, UNKNOWN
from pijit.core.graph.types import Array

TRIED: Dict[np.ufunc, Tuple[int, ...]] = {
    **dict.fromkeys([np.add, np.multiply, np.bitwise_and, np.bitwise_or, np.bitwise_xor], (0, 1)),
    **dict.fromkeys([np.subtract, np.true_divide, np.floor_divide, np.left_shift, np.right_shift], (0,)),
    **dict.fromkeys([np.negative, np.positive, np.invert, np.absolute, np.square, np.sqrt, np.reciprocal], (0,)),
}
"""The operands that NumPy's operators try to reuse, in this order."""


def _probed() -> int:
    """Whether operators reuse operands on this platform, and whether they do when functions of the interpreter call
    them."""
    size = 1 + int((ELIDED_BYTES // 8) ** 0.5)
    x = np.ones((size, size))
    found = {(x * (x.T + 1.0)).strides != x.strides, operator.mul(x, x.T + 1.0).strides != x.strides}
    return UNKNOWN if len(found) > 1 else ALWAYS if found.pop() else NEVER


ELIDES = _probed()


def computed_into(state: Any, ufunc: np.ufunc, operands: Sequence[Abstract], questions: Sequence[SampleOperand],
                  result: Any) -> Tuple[int, ...]:
    """For each operand of an operator, whether NumPy computes into it if it is large; () if never into any."""
    if ufunc not in TRIED or not isinstance(result, Array):
        return ()
    states = [NEVER] * len(operands)
    for number in TRIED[ufunc]:
        others = [question for k, question in enumerate(questions) if k != number]
        states[number] = _state(state, ufunc, operands[number], others, result)
    return tuple(states) if any(states) else ()


def _state(state: Any, ufunc: np.ufunc, value: Abstract, others: List[SampleOperand], result: Array) -> int:
    if not isinstance(value, Tensor) or ELIDES == NEVER or _is_held(state, value, True):
        return NEVER
    dtype = value.type.dtype
    if dtype != result.dtype and (dtype.kind != "b" or ufunc is np.true_divide):
        return NEVER
    casts = {can for other in others for can in _casts(other, dtype)}
    if casts == {False}:
        return NEVER
    if dtype != result.dtype:
        return LEAVES  # NumPy raises, because the result does not fit
    return UNKNOWN if False in casts or _is_held(state, value, False) else ELIDES


def is_temporary(state: Any, value: Tensor) -> bool:
    """Whether NumPy may compute into an array, because nothing else may refer to it."""
    return ELIDES != NEVER and not _is_held(state, value, True)


def _casts(operand: SampleOperand, dtype: np.dtype[Any]) -> List[bool]:
    """Whether NumPy may cast an operand to a dtype. There are several answers where that depends on the operand's
    value."""
    if isinstance(operand.type, Array):
        return [np.can_cast(operand.type.dtype, dtype, "safe")]
    numbers = [np.asarray(sample) for sample in operand.samples()]
    return [np.can_cast(number.dtype if WEAK_SCALARS else number, dtype, "safe") for number in numbers]


def _is_held(state: Any, value: Tensor, surely: bool) -> bool:
    """Whether an array is also referred to by something other than the operation that takes it.

    C code holds the running total of ``sum``. It does not count if the array must be held ``surely``.
    """
    if value.root is not None and getattr(value.root, "kind", "") != "stack":
        return True
    holders = [state.locals[name] for name in state.locals if not surely or name != variable(RESULT)] + state.stack
    return any(one is value or one.value is value.value and value.value is not None
               for holder in holders for one in _arrays_in(holder))


def _arrays_in(value: Abstract) -> Iterator[Tensor]:
    """The arrays among a value and its items."""
    if isinstance(value, Tensor):
        yield value
    for part in value.items if isinstance(value, (Items, KnownContainer)) else ():
        yield from _arrays_in(part)
