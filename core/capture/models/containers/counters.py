"""``collections.Counter``: a dict whose missing keys count as zero, with methods written in Python.

The program may replace these methods on the class or on the object, so guards check them by name.
"""

from __future__ import annotations

from collections import Counter
from typing import List, Optional

from pijit.core.capture.models.containers.counter_class import rely_on_counter
from pijit.core.capture.models.containers.item_reads import made_by
from pijit.core.capture.models.iteration.consumers import call_list
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models
from pijit.core.capture.values.describe import Arguments, describe, only
from pijit.core.capture.values.element_types import list_of, list_type
from pijit.core.capture.values.key_value_types import expected_entries, kinds_of_entries, type_with_entries
from pijit.core.capture.values.lattice import Abstract, Const, Instance, Tensor, class_of, number_type
from pijit.core.errors import Break
from pijit.core.graph.types import INT, Holding, ListOf, Object, Type, numpy_scalar
from pijit.guards.facts import is_among


@models(Counter)
def call_counter(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``Counter(iterable)`` of numbers and strings, or of the elements of an array."""
    only(arguments, keywords, "Counter", 0, 1)
    rely_on_counter(interpreter, "__new__", "__init__", "update", "__getitem__", "__missing__", "__setitem__", "get")
    if not arguments:
        return made_by(interpreter, "helpers.counted", type_with_entries(Counter, ()),
                       [interpreter.object_value(Const(()))])
    value, helper = arguments[0], "helpers.counted"
    if is_among(class_of(value), (dict, Counter)):
        raise Break("PJ203", operand=describe(value))
    if not (isinstance(value, Tensor) and value.type.ndim == 1) and not is_among(class_of(value), (list, tuple, str)):
        value, helper = call_list(interpreter, [value], {}), "helpers.recounted"
        kind = list_type(value)
        if not isinstance(kind, ListOf) and kind.python is list and not _has_texts(kind):
            raise Break("PJ203", operand=describe(value))
    return made_by(interpreter, helper, type_with_entries(Counter, (_key_type(value), INT)),
                   [interpreter.object_value(value)])


def _has_texts(kind: Object) -> bool:
    return isinstance(kind, Holding) and kind.items == Object(str)


def _key_type(value: Abstract) -> Optional[Type]:
    """The expected type of the items of an iterable."""
    if isinstance(value, Tensor):
        return numpy_scalar(value.type.dtype)
    if class_of(value) is str:
        return Object(str)
    return getattr(list_type(value), "items", None) if class_of(value) is list else None


@models(Counter, "most_common")
def _most_common(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``c.most_common()`` and ``c.most_common(n)``."""
    only(arguments, keywords, "most_common", 1, 2)
    owner, count = arguments[0], arguments[1] if len(arguments) == 2 else Const(None)
    if count != Const(None) and number_type(count) != INT:
        raise Break("PJ203", operand=describe(count))
    rely_on_counter(interpreter, "items", "__len__", "__iter__")
    operands = [interpreter.object_value(owner), stored_values.stored_value(interpreter, count)]
    kinds = kinds_of_entries(Instance(expected_entries(owner)))
    row = Holding(tuple, kinds) if kinds and None not in kinds else None
    return made_by(interpreter, "helpers.most_common", list_of(row) or Object(list), operands)
