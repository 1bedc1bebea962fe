"""Method binding: methods, class methods, properties and ``super()``, as attribute reads find or run them.

Each attribute is found again through the class of the object, which is guarded like the object's type. So a method
that the class or the instance gets later is noticed. Called by the interpreter's attribute reads and stores.
"""

from __future__ import annotations

import builtins
import types
from typing import Any, List, Optional, Tuple

from pijit.core._hook import JitFunction
from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.context import AccessPaths
from pijit.core.capture.models.containers import constructions
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.objects.classes import class_object, paths_of
from pijit.core.capture.models.objects.special_methods import is_object
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models
from pijit.core.capture.values.describe import Arguments, describe, only
from pijit.core.capture.values.lattice import Abstract, BoundFunction, Const, Super, class_of
from pijit.core.capture.values.predicates import HasType, Holds
from pijit.core.errors import Break
from pijit.core.graph.draws import is_pythons_draw
from pijit.guards.facts import is_among
from pijit.guards.reading import class_value, mro_of, own_value
from pijit.guards.source import UNBOUND, Attr, ClassAttr, Inner, Item, read_class_attribute

FUNCTIONS = (types.FunctionType, JitFunction)
FOUND_BY_SUPER = (object.__init__, object.__setattr__)
"""Methods of object that ``super()`` may find."""


def bound_attribute(interpreter: Interpreter, owner: Abstract, sample: Any, name: str) -> Optional[Abstract]:
    """``owner.name`` where the class provides it by code that is inlined; None for anything else."""
    raw = read_class_attribute(sample, name)
    if raw is UNBOUND:
        return None
    locations.apart_from_stores(interpreter, name, owner)
    return bind_attribute(interpreter, raw, paths_of(owner).then(ClassAttr, name), owner,
                          None if issubclass(type(sample), type) else type(sample))


def bind_attribute(interpreter: Interpreter, raw: Any, paths: AccessPaths, owner: Abstract,
                   kind: Optional[type]) -> Optional[Abstract]:
    """The result of reading ``raw``, found on a class, from ``owner``:
    an object of class ``kind``, or a class if that is None."""
    if is_among(raw, interpreter.context.options.host_functions):  # the class cannot change; see `run_no_python`
        return BoundFunction(Const(raw), owner)
    if issubclass(type(raw), FUNCTIONS) or is_pythons_draw(raw):
        function = locations.known_object(interpreter, raw, *paths)
        return BoundFunction(function, owner) if kind is not None else function
    if type(raw) is classmethod and issubclass(type(raw.__func__), FUNCTIONS):
        interpreter.rely(paths, HasType(classmethod))
        cls = owner
        if kind is not None:
            cls = class_object(interpreter, owner)
        return BoundFunction(locations.known_object(interpreter, raw.__func__, *paths.then(Attr, "__func__")), cls)
    if type(raw) is staticmethod and issubclass(type(raw.__func__), FUNCTIONS):
        interpreter.rely(paths, HasType(staticmethod))
        return locations.known_object(interpreter, raw.__func__, *paths.then(Attr, "__func__"))
    if type(raw) is property and issubclass(type(raw.fget), FUNCTIONS) and kind is not None:
        interpreter.rely(paths, HasType(property))
        getter = locations.known_object(interpreter, raw.fget, *paths.then(Attr, "fget"))
        return interpreter.call(getter, [owner], {})
    return None


def set_by_property(interpreter: Interpreter, owner: Abstract, name: str, value: Abstract,
                    plainly: bool = False) -> bool:
    """Whether ``owner.name = value`` calls the setter of a property; if so, the call has been made.

    With ``plainly`` the store is a call of ``object.__setattr__``.
    """
    kind: Any = class_of(owner) if is_object(owner) else None
    raw = class_value(kind, name) if kind is not None else None
    if type(raw) is not property or not issubclass(type(raw.fset), FUNCTIONS) or (
            not plainly and class_value(kind, "__setattr__") is not object.__setattr__):
        return False
    cls = class_object(interpreter, owner)
    paths = paths_of(cls).then(ClassAttr, name)
    interpreter.rely(paths, HasType(property))
    if not plainly:
        interpreter.rely(cls, Holds("__setattr__", object.__setattr__))
    with interpreter.deriving():
        interpreter.call(locations.known_object(interpreter, raw.fset, *paths.then(Attr, "fset")),
                         [owner, constructions.as_object(interpreter, value)], {})
    return True


@models(object.__init__)
def call_plain_init(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``object.__init__(x)``, which ``super().__init__()`` may find: it does nothing."""
    only(arguments, keywords, "__init__", 1)
    return Const(None)


def super_attribute(interpreter: Interpreter, found: Super, name: str) -> Abstract:
    """``super().name``: what the classes after ``found.cls`` hold, for an object or for a class."""
    of_class = isinstance(found.owner, Const)
    cls = found.owner if isinstance(found.owner, Const) else class_object(interpreter, found.owner)
    mro = mro_of(cls.object)
    locations.apart_from_classes(interpreter, name, mro)
    position = next(k for k, one in enumerate(mro) if one is found.cls) + 1
    raw = next((held for held in (own_value(base, name) for base in mro[position:]) if held is not UNBOUND), UNBOUND)
    if raw is not read_class_attribute(mro[position], name):
        raise Break("PJ204", attribute=name, object="super")  # the next class finds another value by its own bases
    paths = paths_of(cls).then(Inner, "__mro__").then(Item, position).then(ClassAttr, name)
    kind = None if of_class else cls.object
    bound = bind_attribute(interpreter, raw, paths, found.owner, kind)
    if bound is None and raw is not UNBOUND and class_value(type(raw), "__get__") is UNBOUND:
        return locations.known_object(interpreter, raw, *paths)
    if bound is None and is_among(raw, FOUND_BY_SUPER) and not of_class:
        return BoundFunction(locations.known_object(interpreter, raw, *paths), found.owner)
    if bound is None:
        raise Break("PJ204", attribute=name, object="super")
    return bound


@models(builtins.super)
def call_super(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Super:
    """``super()`` in a method, a class method or ``__new__``, and ``super(cls, self)``."""
    only(arguments, keywords, "super", 0, 2)
    cls, owner = arguments if arguments else _class_and_first_argument(interpreter)
    known = cls.object if isinstance(cls, Const) else None
    kind: Any = None
    if is_object(owner):
        kind = class_of(owner)
    elif isinstance(owner, Const) and type(owner.object) is type:
        kind = owner.object
    if type(known) is not type or kind is None or not is_among(known, mro_of(kind)[:-1]):
        raise Break("PJ203", operand="super of %s" % describe(owner))
    return Super(known, owner)


def loaded_super(interpreter: Interpreter, instr: Instr) -> Abstract:
    """The attribute that an instruction reads from ``super()``, whose class and object are operands."""
    function, cls, owner = interpreter.pop_many(3)
    if not isinstance(function, Const) or function.object is not builtins.super:
        raise Break("PJ201", callee=describe(function))
    return super_attribute(interpreter, call_super(interpreter, [cls, owner], {}), instr.value)


def _class_and_first_argument(interpreter: Interpreter) -> Tuple[Abstract, Abstract]:
    """The class and the object that ``super()`` finds in the frame."""
    function = interpreter.function
    first = function.varnames[0] if function.argument_count else ""
    if "__class__" not in function.freevars or first in function.cellvars or first not in interpreter.state.locals:
        raise Break("PJ201", callee="super")
    number = len(function.cellvars) + function.freevars.index("__class__")
    sample, paths = interpreter.context.find_cell(number, interpreter, "__class__")
    cell = interpreter.use(locations.known_object(interpreter, sample, *paths))
    return cell, interpreter.use(interpreter.state.locals[first])
