"""Lexicographic comparison of tuples and lists.

Called by `comparisons` for ``<`` and the other orderings.
"""

from __future__ import annotations

from typing import Optional

from pijit.core.bytecode.instructions.predicates import tests_truth
from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.typing.result_types import PYTHON_OPERATORS
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, Const, Number, class_of
from pijit.core.errors import Break
from pijit.core.graph.types import BOOL, FLAG
from pijit.guards.facts import is_among

ORDERS = ("<", "<=", ">", ">=")
PLAIN_ANSWERS = (int, float, bool, str)
"""Classes whose comparison gives a bool."""


def compare_in_order(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """``left < right`` and the other orderings of two tuples or lists whose items are known; None for other values.

    The first two items that differ decide. Of NumPy items the result is a NumPy bool, which only a jump may receive
    here.
    """
    pair = [contents.items_of(interpreter, value) if contents.is_short(interpreter, value) else None
            for value in (left, right)]
    if None in pair:
        return None
    items = [[interpreter.use(item) for item in items or ()] for items in pair]
    plain = all(is_among(class_of(item), PLAIN_ANSWERS) for one in items for item in one)
    following = interpreter.function.instructions[interpreter.instr.index + 1]
    if not plain and not tests_truth(following):
        raise Break("PJ203", operand=describe(right))
    answer: Abstract = Const(PYTHON_OPERATORS[symbol](len(items[0]), len(items[1])))
    for one, other in reversed(list(zip(*items))):
        answer = _decided(interpreter, symbol[0], one, other, answer)
    return answer


def _decided(interpreter: Interpreter, strict: str, one: Abstract, other: Abstract, answer: Abstract) -> Abstract:
    """The ordering of two items if they differ, else the answer that is known for the items after them."""
    equal = contents.same_or_equal(interpreter, one, other)
    if isinstance(equal, Const):
        return answer if equal.object else interpreter.compare(strict, one, other)
    before = conversions.truth(interpreter, interpreter.compare(strict, one, other))
    if isinstance(answer, Const) and not answer.object:
        return Number(BOOL, interpreter.emit("flag", [before], BOOL))
    later = conversions.truth(interpreter, equal)
    if not isinstance(answer, Const):
        later = interpreter.emit("and", [later, conversions.truth(interpreter, answer)], FLAG)
    return Number(BOOL, interpreter.emit("flag", [interpreter.emit("or", [before, later], FLAG)], BOOL))
