"""Numbers as operands: the SSA values of numbers and arrays, conversions, truth values and their negation.

`operators` and models of functions of numbers call these functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.core.capture.models.containers import expectations
from pijit.core.capture.models.numpy import shapes
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.typing import result_types
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, Const, Number, Tensor, ssa_value
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import BOOL, COMPLEX, FLAG, FLOAT, INT, Scalar

DOUBLES = (FLOAT.dtype, COMPLEX.dtype)


def truth(interpreter: Interpreter, value: Abstract) -> Value:
    """The FLAG of ``bool(value)``, of which `known_truth` does not know the answer."""
    if expectations.is_changing(interpreter, value) or expectations.decides_loop_by(interpreter, value):
        value = expectations.length_now(interpreter, value)
    if isinstance(value, Tensor):
        value = shapes.only_element(interpreter, value)
    if not isinstance(value, Number):
        raise Break("PJ203", operand=describe(value))
    return interpreter.emit("truth", [interpreter.number_value(value)], FLAG)


def any_value(interpreter: Interpreter, value: Abstract) -> Value:
    """The SSA value of an array or a number."""
    if isinstance(value, Tensor):
        return ssa_value(value)
    return interpreter.number_value(value)


def convert(interpreter: Interpreter, value: Abstract, have: Any, want: Scalar, exact: bool = False) -> Value:
    """``value`` converted to ``want``, the type of the operation's result; Break where the conversion could
    change the result.

    ``exact`` adds an exit for integers that a double cannot represent, because Python compares and divides
    exactly.
    """
    ssa = interpreter.number_value(value)
    if have == want:
        return ssa
    if have.dtype == want.dtype:
        return interpreter.emit("same", [ssa], want)
    source, target = have.dtype, want.dtype
    if exact and isinstance(value, Const) and source.itemsize == 8 and not -2 ** 53 <= value.object <= 2 ** 53:
        raise Break("PJ203", operand="%r as a float" % value.object)
    if isinstance(value, Const) and have.family == "py" and source.kind in "ib" and target in DOUBLES:
        return interpreter.emit("const", [], want, {"value": float(value.object)})
    if source.kind in "iub" and target in DOUBLES and (source.itemsize < 8 or have == INT
                                                       or exact and source == INT.dtype):
        return interpreter.emit("cast", [ssa], want, exits=exact and source.itemsize == 8)
    if source.kind + target.kind == "cc" and not result_types.WEAK_SCALARS:
        raise Break("PJ203", operand="%r with %r" % (have,
                                                     want))  # an array loop does this; it may fuse products
    if source.kind == "b" and target.kind in "iu" or np.can_cast(source, target, "safe"):
        return interpreter.emit("cast", [ssa], want)
    if have.family == "py" and source.kind + target.kind in ("ii", "iu", "ic", "fc", "cc"):
        return interpreter.emit("cast", [ssa], want, exits=True)
    if have.family == "py" and source.kind in "if" and target in (np.float32, np.float16):
        if source.kind == "i":  # through a double, as NumPy converts it
            ssa = interpreter.emit("cast", [ssa], FLOAT, exits=exact)
        return interpreter.emit("cast", [ssa], want, exits=True)
    raise Break("PJ203", operand="%r with %r" % (have, want))


def negated(interpreter: Interpreter, answer: Abstract) -> Abstract:
    """``not answer`` of a constant or a bool."""
    if isinstance(answer, Const):
        return Const(not answer.object)
    return Number(BOOL, interpreter.emit("flag", [interpreter.emit("not", [truth(interpreter, answer)], FLAG)], BOOL))
