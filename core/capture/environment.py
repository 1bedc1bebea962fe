"""``os.environ.get`` and ``os.getenv``: kernels ask the environment where control comes to it."""

from __future__ import annotations

import collections.abc
import os
from typing import Any, Callable, Dict, List

from pijit.core.capture.call_arguments import Arguments
from pijit.core.capture.callees import Callee
from pijit.core.capture.conditions import ClassHolds, HasCode
from pijit.core.capture.texts import TEXT
from pijit.core.capture.values import Abstract, Const, Instance, Opaque
from pijit.core.errors import Break
from pijit.core.graph.types import BOOL, FLAG
from pijit.guards.reading import class_value

PARAMETERS = ("self", "key", "default")
READ = class_value(type(os.environ), "__getitem__")


def call_get(self: Any, callee: Callee, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``os.environ.get(name, default)`` of a known name, which is there or not as it is now; the kernel leaves where
    that is otherwise."""
    owner = arguments[0] if arguments else Const(None)
    if not isinstance(owner, Opaque) or owner.sample is not os.environ:
        return self.facts.inliner.call(self, callee, arguments, keywords)  # type: ignore[no-any-return]
    named, count = dict(zip(PARAMETERS, arguments), **keywords), len(arguments)
    name = named.get("key")
    known = isinstance(name, Const) and type(name.object) is str
    plain = known and class_value(type(owner.sample), "__getitem__") is READ
    if not plain or count > len(PARAMETERS) or set(keywords) - set(PARAMETERS[count:]):
        raise Break("PJ201", callee="environ.get")
    try:
        found = name.object in os.environ  # type: ignore[union-attr]
    except UnicodeError:  # no name of a variable
        raise Break("PJ201", callee="environ.get")
    self.rely(callee.place, HasCode(callee.function.__code__))
    self.rely(owner, ClassHolds("__getitem__", READ))
    operands = [self.object_value(owner), self.object_value(name)]
    if found:
        attrs = {"function": "helpers.variable", "keywords": ()}
        return Instance(TEXT, self.emit("invoke", operands, TEXT, attrs, exits=True))
    attrs = {"function": "helpers.lacks_variable", "keywords": ()}
    absent = self.emit("invoke", operands, BOOL, attrs, exits=True)
    self.emit("require", [self.emit("truth", [absent], FLAG)], None, exits=True)
    return named.get("default", Const(None))


ENVIRONMENT_CALLS: Dict[int, Callable[..., Abstract]] = {
    id(collections.abc.Mapping.get.__code__): call_get}  # type: ignore[attr-defined]
