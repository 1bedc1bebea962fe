"""Calls: finds the model of a callee. A call without a model stays bytecode, with a reason."""

from __future__ import annotations

import enum
import types
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.interpreter.exceptions import thrown
from pijit.core.capture.models.containers.characters import CHARACTER_CALLS
from pijit.core.capture.models.containers.counters import COUNTER_CALLS
from pijit.core.capture.models.containers.heaps import HEAP_CALLS
from pijit.core.capture.models.containers.sorting import SORTING_CALLS
from pijit.core.capture.models.containers.strings import TEXT_CALLS
from pijit.core.capture.models.functions.callees import find_callee, partial_parts
from pijit.core.capture.models.functions.function_values import FunctionValue
from pijit.core.capture.models.functions.higher_order import GETTER_CALLS, call_held_getter
from pijit.core.capture.models.functions.partials import FUNCTIONS_BY_CODE, PARTIAL_CALLS, Partial
from pijit.core.capture.models.functions.star_arguments import starred_or_break
from pijit.core.capture.models.iteration.compensated_sums import SUM_STEPS
from pijit.core.capture.models.iteration.consumers import CONSUMING_CALLS
from pijit.core.capture.models.iteration.index_iterators import INDEX_CALLS
from pijit.core.capture.models.iteration.iterator_calls import ITERATION_CALLS
from pijit.core.capture.models.iteration.itertools_calls import ITERTOOL_CALLS
from pijit.core.capture.models.numpy.arrays import ARRAY_CALLS, METHODS
from pijit.core.capture.models.numpy.library import function_of, method_row
from pijit.core.capture.models.numpy.library_effects import call_into, split_output
from pijit.core.capture.models.numpy.random import draw_of, pythons_draw
from pijit.core.capture.models.numpy.views import FORM_CALLS
from pijit.core.capture.models.objects.instances import construct, makes_natively
from pijit.core.capture.models.objects.introspection import OBJECT_CALLS, method_of
from pijit.core.capture.models.objects.method_binding import BOUND_CALLS
from pijit.core.capture.models.objects.named_tuples import ROW_CALLS, ROW_METHODS
from pijit.core.capture.models.operators import describe
from pijit.core.capture.models.scalars.complex import COMPLEX_CALLS
from pijit.core.capture.models.scalars.math import SCALAR_CALLS
from pijit.core.capture.models.scalars.number_calls import NUMBER_CALLS
from pijit.core.capture.models.stdlib.context_managers import Manager
from pijit.core.capture.models.stdlib.environment import ENVIRONMENT_CALLS
from pijit.core.capture.models.stdlib.known_managers import MANAGER_CALLS, ready
from pijit.core.capture.profile.hints import HINT_CALLS, heed
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.base import HeldMethod
from pijit.core.capture.values.describe import Arguments, Handler
from pijit.core.capture.values.lattice import (
    Abstract,
    Bound,
    Const,
    Keywords,
    KnownContainer,
    Method,
    Null,
    OpaqueObject,
    Tensor,
    UnescapedFunction,
    class_of,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.library import LibraryFunction
from pijit.guards.facts import type_module, type_name

CALLS: Dict[int, Handler] = {
    id(target): handler
    for rows in (SCALAR_CALLS, ITERATION_CALLS, CONSUMING_CALLS, ARRAY_CALLS, OBJECT_CALLS, BOUND_CALLS,
                 NUMBER_CALLS, FORM_CALLS, COMPLEX_CALLS, TEXT_CALLS, CHARACTER_CALLS, HINT_CALLS, MANAGER_CALLS,
                 HEAP_CALLS, ROW_CALLS, GETTER_CALLS, SORTING_CALLS, PARTIAL_CALLS, ITERTOOL_CALLS,
                 INDEX_CALLS, COUNTER_CALLS, SUM_STEPS)
    for target, handler in rows}


MAX_KEYWORDS = 16
"""The maximum number of items that a dict from outside may pass as keywords, because each is guarded."""


class Calls:
    """Mixin of the interpreter: CALL_FUNCTION, CALL_FUNCTION_KW, CALL_FUNCTION_EX, CALL_METHOD, CALL_METHOD_KW."""

    emit: Callable[..., Optional[Value]]
    facts: Any
    state: FrameState
    items_of: Callable[..., Any]
    use: Callable[[Abstract], Abstract]
    pop: Callable[[], Abstract]
    pop_many: Callable[[int], List[Abstract]]
    push: Callable[[Abstract], None]
    word: Callable[[Abstract], Value]
    number_value: Callable[[Abstract], Value]
    unary: Callable[..., Abstract]
    convert: Callable[..., Value]
    ufunc_call: Callable[..., Abstract]
    binary: Callable[..., Abstract]
    invoke: Callable[..., Abstract]
    dimension: Callable[..., Value]
    size: Callable[..., Value]
    key_at: Callable[..., Any]
    length_of: Callable[..., Any]
    container_item: Callable[..., Abstract]
    transposed: Callable[..., Abstract]
    call_made: Callable[..., Abstract]
    call_closure: Callable[..., Abstract]
    as_object: Callable[[Abstract], Abstract]

    def op_CALL_FUNCTION(self, instr: Instr) -> None:
        if instr.arg == 2:
            heed(self.facts, *self.state.stack[-3:])
        arguments = self.pop_many(instr.arg or 0)
        self.push(self.call(self.pop(), arguments, {}))

    def op_CALL_FUNCTION_KW(self, instr: Instr) -> None:
        values, keywords = self._with_names(instr)
        self.push(self.call(self.pop(), values, keywords))

    def _with_names(self, instr: Instr) -> Tuple[List[Abstract], Arguments]:
        """The positional and keyword arguments of a call. The names are on the stack, or in the instruction (3.11,
        3.12)."""
        names = Const(instr.value) if type(instr.value) is tuple else self.pop()
        if not isinstance(names, Const) or type(names.object) is not tuple:
            raise Break("PJ211")
        values = self.pop_many(instr.arg or 0)
        split = len(values) - len(names.object)
        return values[:split], dict(zip(names.object, values[split:]))

    def op_CALL_FUNCTION_EX(self, instr: Instr) -> None:
        named = self._keywords(self.pop()) if (instr.arg or 0) & 1 else {}
        if named is None:
            raise Break("PJ211")
        value, callee = self.pop(), self.pop()
        self.push(self.call(callee, starred_or_break(self, callee, 0, value),
                            {name: self.use(value) for name, value in named.items()}))

    def op_DICT_MERGE(self, instr: Instr) -> None:
        """``f(**more)`` from CPython 3.9 on: merges into the dict of keywords ``instr.arg`` items down the stack."""
        more, owner = self._keywords(self.pop()), self.state.stack[-(instr.arg or 0)]
        into = self._keywords(self.use(owner))
        if more is None or into is None or set(more) & set(into):
            raise Break("PJ211")
        self.state.stack[-(instr.arg or 0)] = Keywords(dict(into, **more), owner.born)

    def op_BUILD_MAP_UNPACK_WITH_CALL(self, instr: Instr) -> None:
        """``f(a=1, **more)`` up to CPython 3.8."""
        merged: Arguments = {}
        for value in self.pop_many(instr.arg or 0):
            named = self._keywords(value)
            if named is None or set(named) & set(merged):
                raise Break("PJ211")
            merged.update(named)
        self.push(Keywords(merged, instr.index))

    def _keywords(self, value: Abstract) -> Optional[Arguments]:
        """The items of a dict of keywords, or of a short dict with string keys; else None."""
        if isinstance(value, Keywords):
            return value.items
        if isinstance(value, KnownContainer) and value.keys is not None and all(type(key) is str for key in value.keys):
            return dict(zip(value.keys, value.items))
        if not isinstance(value, OpaqueObject) or class_of(value) is not dict or len(value.sample) > MAX_KEYWORDS:
            return None
        keys = [self.use(self.key_at(value, position)) for position in range(self.length_of(value))]
        if any(type(key.object) is not str for key in keys):
            return None
        return {key.object: self.container_item(value, key) for key in keys}

    def op_CALL_METHOD(self, instr: Instr) -> None:
        self._call_method_with(self.pop_many(instr.arg or 0), {})

    def op_CALL_METHOD_KW(self, instr: Instr) -> None:
        self._call_method_with(*self._with_names(instr))

    def _call_method_with(self, arguments: List[Abstract], keywords: Arguments) -> None:
        """Call the method that LOAD_METHOD has pushed."""
        callee = self.pop()
        if not isinstance(self.pop(), Null):
            raise Break("PJ201", callee=describe(callee))
        self.push(self.call(callee, arguments, keywords))

    def call(self, callee: Abstract, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """The result of a call. Raises Break if it is not captured."""
        if isinstance(callee, Method):
            return self._call_method(callee, arguments, keywords)
        known = ready(callee) if isinstance(callee, Manager) else None
        if known is not None:
            known.leave(self, callee.owner)  # type: ignore[attr-defined]
            return Const(None)
        if isinstance(callee, Bound) and isinstance(callee.function, Const):
            return self.call(self.use(callee.function), [callee.owner] + arguments, keywords)
        if isinstance(callee, HeldMethod):
            return self._call_method(Method(callee.parts[0], callee.name), arguments, keywords)
        if isinstance(callee, FunctionValue):
            return self.call_closure(callee, *self._as_objects(arguments, keywords))
        if isinstance(callee, UnescapedFunction):
            return self.call_made(callee, *self._as_objects(arguments, keywords))
        parts = callee.taken_apart() if isinstance(callee, Partial) else partial_parts(callee, self)
        if parts is not None:
            function, first, named = parts
            return self.call(function, first + arguments, dict(named, **keywords))
        got = call_held_getter(self, callee, arguments, keywords)
        if got is not None:
            return got
        target = callee.object if isinstance(callee, Const) else None
        row = function_of(target) if isinstance(callee, Const) else None
        handler = CALLS.get(id(target)) if isinstance(callee, Const) else None
        if issubclass(type(target), np.ufunc) and target.signature is None:
            handler = _of_ufunc(target)
        handler = handler or draw_of(self, callee)
        if handler is not None or row is not None:
            return self._call_known(handler, row, arguments, keywords)
        arguments, keywords = self._as_objects(arguments, keywords)
        raised = thrown(self, callee) if issubclass(type(target), type) else None  # type: ignore[arg-type]
        if raised is not None:
            return raised
        inlines = self.facts.inliner is not None
        if inlines and makes_natively(target):
            return construct(self, callee, arguments, keywords)  # type: ignore[arg-type]
        found = find_callee(callee, arguments, keywords, self) if inlines else None
        if found is not None:
            code = id(found[0].function.__code__)
            special = FUNCTIONS_BY_CODE.get(code) or ENVIRONMENT_CALLS.get(code)
            if special is not None:
                return special(self, *found)
            method = ROW_METHODS.get(id(found[0].function.__code__))
            if method is not None:
                return method(self, found[0].function, *found[1:])
            return self.facts.inliner.call(self, *found)  # type: ignore[no-any-return]
        module, name = _origin(target)
        raise Break("PJ210" if module.split(".")[0] == "numpy" else "PJ201", callee=name or describe(callee))

    def _as_objects(self, arguments: List[Abstract], keywords: Arguments) -> Tuple[List[Abstract], Arguments]:
        """The arguments in the form in which variables of a callee hold them."""
        return list(map(self.as_object, arguments)), {name: self.as_object(value) for name, value in keywords.items()}

    def _call_known(self, handler: Optional[Handler], row: Optional[LibraryFunction], arguments: List[Abstract],
                    keywords: Arguments) -> Abstract:
        """Call a known function by its handler, or else by the library function itself."""
        if handler is not None:
            try:
                return handler(self, arguments, keywords)
            except Break:
                if row is None:
                    raise
        out, arguments, keywords = split_output(row, arguments, keywords)
        if out is None or out == Const(None):
            return self.invoke(row, arguments, keywords)
        return call_into(self, row, out, arguments, keywords,  # type: ignore[arg-type]
                         lambda: self._call_known(handler, row, arguments, keywords))

    def call_row(self, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """Call a library function itself, with an output if one is given."""
        return self._call_known(None, row, arguments, keywords)

    def call_ufunc(self, ufunc: np.ufunc, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        out = keywords.get("out")
        if set(keywords) - {"out"} or (out is not None and not isinstance(out, Tensor)):
            raise Break("PJ211", callee=ufunc.__name__)
        if len(arguments) == ufunc.nin + 1 and out is None and isinstance(arguments[-1], Tensor):
            arguments, out = arguments[:-1], arguments[-1]
        if len(arguments) != ufunc.nin:
            raise Break("PJ211", callee=ufunc.__name__)
        if out is not None and not out.type.writeable:  # type: ignore[attr-defined]
            raise Break("PJ203", operand="read-only array")
        return self.ufunc_call(ufunc, arguments, out=out)

    def _call_method(self, method: Method, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        of_array = isinstance(method.owner, Tensor)
        handler = METHODS.get(method.name) if of_array else (
            method_of(method.owner, method.name) or pythons_draw(class_of(method.owner), method.name))
        row = method_row(method.name) if of_array else None
        if handler is None and row is None:
            raise Break("PJ210", callee=method.name)
        return self._call_known(handler, row, [method.owner] + arguments, keywords)


def _of_ufunc(ufunc: np.ufunc) -> Handler:
    return lambda interpreter, arguments, keywords: interpreter.call_ufunc(ufunc, arguments, keywords)


def _origin(target: Any) -> Tuple[str, str]:
    """The module and the name of a callee; "" where reading them could run code of the user's."""
    if issubclass(type(target), type):
        return type_module(target), type_name(target)
    if issubclass(type(target), (enum.Enum, types.ModuleType)):
        return "", ""
    return getattr(target, "__module__", None) or "", getattr(target, "__name__", None) or ""
