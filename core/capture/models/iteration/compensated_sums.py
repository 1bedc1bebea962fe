"""Compensated summation: the steps of ``sum`` from CPython 3.12 on.

They are the operations of bytecode/rewrite/compensated_sum.py. `catalogue` imports it. The bits must be those of
``sum``.
"""

from __future__ import annotations

from typing import Any, List

from pijit.core.bytecode.rewrite.compensated_sum import add_item, with_lost
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models
from pijit.core.capture.values.describe import Arguments, describe
from pijit.core.capture.values.lattice import Abstract, Const, Number, Sequence, number_type
from pijit.core.errors import Break
from pijit.core.graph.types import BOOL, FLAG, FLOAT, INT


def _chosen(interpreter: Interpreter, flag: Any, first: Abstract, second: Abstract) -> Number:
    """The first float where a flag is set, else the second."""
    return Number(FLOAT, interpreter.emit("select", [flag, interpreter.number_value(first),
                                                     interpreter.number_value(second)], FLOAT))


def _compared(interpreter: Interpreter, operator: str, first: Abstract, second: Abstract) -> Any:
    return interpreter.emit("compare", [interpreter.number_value(first), interpreter.number_value(second)], FLAG,
                            {"operator": operator})


@models(add_item)
def call_add_item(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """The sum and its rounding error after an item.
    Break for an item that is neither float nor int: CPython then stops compensating."""
    total, lost, item = arguments
    added = interpreter.binary("+", total, item)
    kind = number_type(item)
    if number_type(total) != FLOAT or kind in (INT, BOOL):
        return Sequence([added, lost])
    if kind != FLOAT:
        raise Break("PJ203", operand=describe(item))
    is_larger = _compared(interpreter, ">=", interpreter.unary("abs", total), interpreter.unary("abs", item))
    losses = [interpreter.binary("+", interpreter.binary("-", one, added), other)
              for one, other in ((total, item), (item, total))]
    return Sequence([added, interpreter.binary("+", lost, _chosen(interpreter, is_larger, *losses))])


@models(with_lost)
def call_with_lost(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """The sum plus its rounding error, if that is finite and not zero."""
    total, lost = arguments
    if number_type(total) != FLOAT or number_type(lost) != FLOAT:
        return total
    size = interpreter.unary("abs", lost)
    finite = _chosen(interpreter, _compared(interpreter, "<", size, Const(float("inf"))),
                     interpreter.binary("+", total, lost), total)
    return _chosen(interpreter, _compared(interpreter, ">", size, Const(0.0)), finite, total)
