"""Sets: the type of their items as a list, and operators on two sets.

Called by `sequences`, `sorting` and the consumers of iterables.
"""

from __future__ import annotations

from itertools import islice
from typing import Optional

from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.element_types import LOOKED_AT, list_like, list_type
from pijit.core.capture.values.key_value_types import SETS
from pijit.core.capture.values.lattice import Abstract, OpaqueObject, class_of
from pijit.core.errors import Break
from pijit.core.graph.types import Object
from pijit.guards.facts import is_among

OPERATORS = {"|": "helpers.union", "&": "helpers.intersection", "-": "helpers.difference",
             "^": "helpers.symmetric_difference"}


def items_of_set(interpreter: Interpreter, value: Abstract) -> Optional[Object]:
    """The type of the list of a set's items, as far as it is known; None for other values.

    Raises:
        Break: no run has shown an item.
    """
    if not is_among(class_of(value), SETS):
        return None
    kind = list_like(list(islice(value.sample, LOOKED_AT))) if isinstance(value, OpaqueObject) else None
    if kind is not None:
        return kind
    made = interpreter.context.types.feedback.get(interpreter.instr.index)
    if made is None or class_of(made) is not list:
        raise Break("PJ218" if made is None else "PJ209", type=describe(value))
    return list_type(made)
