"""The class Counter: guards on its methods, which the program may replace on the class or on the object.

The models of Counters, their items and their methods ask here. It must not call a method of the class.
"""

from __future__ import annotations

import weakref
from collections import Counter

from pijit.core.capture.context import AccessPaths
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.lattice import Abstract, Const, class_of
from pijit.core.capture.values.predicates import Holds
from pijit.core.errors import Break
from pijit.core.graph.types import FLAG
from pijit.guards.reading import class_value
from pijit.guards.source import Constant, Inner

PATHS = AccessPaths(*[Inner(Constant(weakref.ref(Counter)), "referent")] * 2)
OWN = {name: class_value(Counter, name) for name in (
    "__init__", "__new__", "__getattribute__", "__getitem__", "__missing__", "__setitem__", "__delitem__",
    "__contains__", "__len__", "__bool__", "__iter__", "get", "keys", "values", "items", "most_common", "update",
    "copy", "popitem", "__class__")}
"""Attributes of the original class under these names."""


def rely_on_counter(interpreter: Interpreter, *names: str) -> None:
    """Guard that the class has its original methods under these names."""
    for name in names:
        if class_value(Counter, name) is not OWN[name]:
            raise Break("PJ204", attribute=name, object="Counter")
        interpreter.rely(PATHS, Holds(name, OWN[name]))


def rely_if_counter(interpreter: Interpreter, owner: Abstract, *names: str) -> None:
    """The same if ``owner`` is a Counter."""
    if class_of(owner) is Counter:
        rely_on_counter(interpreter, *names)


def rely_on_method(interpreter: Interpreter, owner: Abstract, name: str) -> None:
    """Guard that ``owner.name`` of a Counter is the class's method,
    and that the object has no attribute of that name."""
    rely_on_counter(interpreter, "__getattribute__", name)
    flag = interpreter.emit("lacks_own", [interpreter.object_value(owner), interpreter.object_value(Const(name))], FLAG)
    interpreter.emit("require", [flag], None, exits=True)
