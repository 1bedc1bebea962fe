"""``functools.partial`` objects with known parts, and ``functools.wraps`` of new functions.

`catalogue` imports it. It must not run the function.
"""

from __future__ import annotations

import functools
import types
from typing import Any, Dict, List, Optional, Tuple

from pijit.core.capture.models.containers import constructions
from pijit.core.capture.models.containers.constructions import shared
from pijit.core.capture.models.functions.callees import Callee, partial_parts
from pijit.core.capture.models.functions.function_values import FunctionValue, require_known
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models, models_code, models_instances
from pijit.core.capture.values.base import Composite, HeldMethod
from pijit.core.capture.values.describe import Arguments, describe
from pijit.core.capture.values.lattice import Abstract, Const, OpaqueObject
from pijit.core.capture.values.predicates import HasCode
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Object
from pijit.guards import guard as kinds
from pijit.guards.source import Attr, Item


class Partial(Composite):
    """A partial. Its parts are the callable and the arguments that it holds; ``names`` are those of the last ones."""

    __slots__ = ("names",)
    python = functools.partial

    def __init__(self, names: Tuple[str, ...], parts: Tuple[Abstract, ...], defined_at: int = -1, source: Any = None,
                 value: Optional[Value] = None) -> None:
        super().__init__(parts, defined_at, source, value)
        self.names = names

    def key(self) -> Any:
        return self.names, self.parts

    def like(self, parts: Tuple[Abstract, ...], source: Any = None, value: Optional[Value] = None) -> "Partial":
        return Partial(self.names, parts, self.defined_at, source, value)

    def guards(self, source: Any) -> List[Any]:
        held = (("args", self.count), ("keywords", len(self.names)))
        return [kinds.IsType(source, self.python)] + [kinds.LengthIs(Attr(source, part), n) for part, n in held]

    @property
    def count(self) -> int:
        """Number of positional arguments that it holds."""
        return len(self.parts) - len(self.names) - 1

    def paths(self, root: Any) -> List[Any]:
        return ([Attr(root, "func")] + [Item(Attr(root, "args"), k) for k in range(self.count)]
                + [Item(Attr(root, "keywords"), name) for name in self.names])

    def dict_path(self, root: Any) -> Any:
        return Attr(root, "keywords") if self.names else None

    def taken_apart(self) -> Tuple[Abstract, List[Abstract], Dict[str, Abstract]]:
        """The callable, the positional arguments and the keyword arguments."""
        split = 1 + self.count
        return self.parts[0], list(self.parts[1:split]), dict(zip(self.names, self.parts[split:]))


@models(functools.partial)
def call_partial(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``functools.partial(function, ...)``."""
    if not arguments:
        raise Break("PJ211", callee="partial")
    function, first, named = arguments[0], arguments[1:], dict(keywords)
    if isinstance(function, Partial):
        function, held, before = function.taken_apart()
        first, named = held + first, dict(before, **named)
    sample = function.object if isinstance(function, Const) else getattr(function, "sample", None)
    known = isinstance(function, (FunctionValue, HeldMethod))
    if not known and (not callable(sample) or type(sample) is functools.partial):
        stored_values.stored_value(interpreter, function)
        raise Break("PJ203", operand=describe(function))
    parts = shared(interpreter, [constructions.as_object(interpreter, part)
                                 for part in [function, *first, *named.values()]])
    for part in parts:
        require_known(part)
    operands = [interpreter.object_value(Const(functools.partial)), interpreter.object_value(Const(tuple(named)))]
    made = interpreter.emit("new_object", operands + [stored_values.stored_value(interpreter, part) for part in parts],
                            Object(functools.partial))
    return Partial(tuple(named), tuple(part.forgotten() for part in parts), interpreter.instr.index, None, made)


@models_code(functools.update_wrapper)
def call_update_wrapper(interpreter: Interpreter, callee: Callee, arguments: List[Abstract],
                        keywords: Arguments) -> Abstract:
    """``functools.update_wrapper``, as ``functools.wraps`` calls it,
    for a function that nothing else refers to yet."""
    named = dict(zip(("wrapper", "wrapped"), arguments), **keywords)
    function, wrapped = named.get("wrapper"), named.get("wrapped")
    usual = all(getattr(named.get(name), "sample", default) is default for name, default in USUAL)
    plain = (isinstance(wrapped, FunctionValue)
             or isinstance(wrapped, OpaqueObject) and type(wrapped.sample) is types.FunctionType)
    if (not isinstance(function, FunctionValue) or wrapped is None or not plain or not usual
            or _is_held(interpreter, function)):
        raise Break("PJ201", callee="update_wrapper")
    interpreter.rely(callee.paths, HasCode(callee.function.__code__))
    operands = [interpreter.object_value(Const(functools.update_wrapper)), interpreter.object_value(Const(()))]
    values = [stored_values.stored_value(interpreter, function),
              stored_values.stored_value(interpreter, interpreter.use(wrapped))]
    return function.like(function.parts, None,
                         interpreter.emit("new_object", operands + values, Object(types.FunctionType)))


def _is_held(interpreter: Interpreter, function: FunctionValue) -> bool:
    """Whether something else may refer to a function that is an argument of a call."""
    if function.context is not interpreter.context or function.root is not None:
        return True
    held = [*interpreter.state.locals.values(), *interpreter.state.stack]
    return any(isinstance(value, FunctionValue) and value.shape.code is function.shape.code for value in held)


USUAL = (("assigned", functools.WRAPPER_ASSIGNMENTS), ("updated", functools.WRAPPER_UPDATES))


@models_instances(functools.partial)
def call_held_partial(interpreter: Interpreter, callee: Abstract, arguments: List[Abstract],
                      keywords: Arguments) -> Optional[Abstract]:
    """A call of a ``functools.partial`` that a variable or an object holds."""
    parts = partial_parts(callee, interpreter)
    if parts is None:
        return None
    function, first, named = parts
    return interpreter.call(function, first + arguments, dict(named, **keywords))
