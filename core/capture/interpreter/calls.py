"""Calls: finds the model of a callee. A call without a model stays bytecode, with a reason."""

from __future__ import annotations

import enum
import types
from typing import Any, Callable, List, Optional, Tuple, cast

import numpy as np

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.interpreter.exceptions import thrown
from pijit.core.capture.models import (
    catalogue,  # noqa: F401  # fills the registry
    operators,
)
from pijit.core.capture.models.containers import constructions, contents, item_reads
from pijit.core.capture.models.functions.callees import find_callee, sample_of
from pijit.core.capture.models.functions.function_values import FunctionValue
from pijit.core.capture.models.functions.host_calls import host_call, is_host_call
from pijit.core.capture.models.functions.partials import Partial
from pijit.core.capture.models.functions.star_arguments import starred_or_break
from pijit.core.capture.models.iteration import comprehensions
from pijit.core.capture.models.numpy import library, mapped_arrays
from pijit.core.capture.models.numpy.library_effects import call_into, split_output
from pijit.core.capture.models.numpy.random import pythons_draw
from pijit.core.capture.models.objects.instances import construct, makes_natively
from pijit.core.capture.models.objects.introspection import method_of
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import INSTANCE, Model, code_model, entry_of, model_of
from pijit.core.capture.models.stdlib.context_managers import Manager
from pijit.core.capture.models.stdlib.known_managers import ready
from pijit.core.capture.profile.hints import apply_hint
from pijit.core.capture.values.base import HeldMethod
from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.describe import Arguments, Handler, describe
from pijit.core.capture.values.lattice import (
    Abstract,
    BoundFunction,
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
from pijit.core.graph.library import LibraryFunction
from pijit.guards.facts import type_module, type_name

MAX_KEYWORDS = 16
"""The maximum number of items that a dict from outside may pass as keywords, because each is guarded."""


def op_CALL_FUNCTION(interpreter: Interpreter, instr: Instr) -> None:
    if instr.arg == 2:
        apply_hint(interpreter.context, *interpreter.state.stack[-3:])
    arguments = interpreter.pop_many(instr.arg or 0)
    interpreter.push(interpreter.call(interpreter.pop(), arguments, {}))


def op_CALL_FUNCTION_KW(interpreter: Interpreter, instr: Instr) -> None:
    values, keywords = _with_names(interpreter, instr)
    interpreter.push(interpreter.call(interpreter.pop(), values, keywords))


def _with_names(interpreter: Interpreter, instr: Instr) -> Tuple[List[Abstract], Arguments]:
    """The positional and keyword arguments of a call. The names are on the stack, or in the instruction (3.11,
    3.12)."""
    names = Const(instr.value) if type(instr.value) is tuple else interpreter.pop()
    if not isinstance(names, Const) or type(names.object) is not tuple:
        raise Break("PJ211")
    values = interpreter.pop_many(instr.arg or 0)
    split = len(values) - len(names.object)
    return values[:split], dict(zip(names.object, values[split:]))


def op_CALL_FUNCTION_EX(interpreter: Interpreter, instr: Instr) -> None:
    named = _keywords(interpreter, interpreter.pop()) if (instr.arg or 0) & 1 else {}
    if named is None:
        raise Break("PJ211")
    value, callee = interpreter.pop(), interpreter.pop()
    interpreter.push(interpreter.call(callee, starred_or_break(interpreter, callee, 0, value),
                                      {name: interpreter.use(value) for name, value in named.items()}))


def op_DICT_MERGE(interpreter: Interpreter, instr: Instr) -> None:
    """``f(**more)`` from CPython 3.9 on: merges into the dict of keywords ``instr.arg`` items down the stack."""
    more, owner = _keywords(interpreter, interpreter.pop()), interpreter.state.stack[-(instr.arg or 0)]
    into = _keywords(interpreter, interpreter.use(owner))
    if more is None or into is None or set(more) & set(into):
        raise Break("PJ211")
    interpreter.state.stack[-(instr.arg or 0)] = Keywords(dict(into, **more), owner.defined_at)


def op_BUILD_MAP_UNPACK_WITH_CALL(interpreter: Interpreter, instr: Instr) -> None:
    """``f(a=1, **more)`` up to CPython 3.8."""
    merged: Arguments = {}
    for value in interpreter.pop_many(instr.arg or 0):
        named = _keywords(interpreter, value)
        if named is None or set(named) & set(merged):
            raise Break("PJ211")
        merged.update(named)
    interpreter.push(Keywords(merged, instr.index))


def _keywords(interpreter: Interpreter, value: Abstract) -> Optional[Arguments]:
    """The items of a dict of keywords, or of a short dict with string keys; else None."""
    if isinstance(value, Keywords):
        return value.items
    if isinstance(value, KnownContainer) and value.keys is not None and all(type(key) is str for key in value.keys):
        return dict(zip(value.keys, value.items))
    if not isinstance(value, OpaqueObject) or class_of(value) is not dict or len(value.sample) > MAX_KEYWORDS:
        return None
    keys = [interpreter.use(contents.key_at(interpreter, value, position))
            for position in range(cast(int, contents.length_of(interpreter, value)))]
    if any(type(key.object) is not str for key in keys):
        return None
    return {key.object: item_reads.container_item(interpreter, value, key) for key in keys}


def op_CALL_METHOD(interpreter: Interpreter, instr: Instr) -> None:
    _call_method_with(interpreter, interpreter.pop_many(instr.arg or 0), {})


def op_CALL_METHOD_KW(interpreter: Interpreter, instr: Instr) -> None:
    _call_method_with(interpreter, *_with_names(interpreter, instr))


def _call_method_with(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> None:
    """Call the method that LOAD_METHOD has pushed."""
    callee = interpreter.pop()
    if not isinstance(interpreter.pop(), Null):
        raise Break("PJ201", callee=describe(callee))
    interpreter.push(interpreter.call(callee, arguments, keywords))


def call(interpreter: Interpreter, callee: Abstract, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """The result of a call. Raises Break if it is not captured."""
    return CALLS[type(callee)](interpreter, callee, arguments, keywords)


def _call_manager(interpreter: Interpreter, callee: Manager, arguments: List[Abstract],
                  keywords: Arguments) -> Abstract:
    known = ready(callee)
    if known is None:
        return _call_bound(interpreter, callee, arguments, keywords)
    known.leave(interpreter, callee.owner)
    return Const(None)


def _call_bound(interpreter: Interpreter, callee: BoundFunction, arguments: List[Abstract],
                keywords: Arguments) -> Abstract:
    if not isinstance(callee.function, Const):
        return _call_object(interpreter, callee, arguments, keywords)
    return interpreter.call(interpreter.use(callee.function), [callee.owner] + arguments, keywords)


def _call_held_method(interpreter: Interpreter, callee: HeldMethod, arguments: List[Abstract],
                      keywords: Arguments) -> Abstract:
    return _call_method(interpreter, Method(callee.parts[0], callee.name), arguments, keywords)


def _call_function_value(interpreter: Interpreter, callee: FunctionValue, arguments: List[Abstract],
                         keywords: Arguments) -> Abstract:
    return comprehensions.call_closure(interpreter, callee, *_as_objects(interpreter, arguments, keywords))


def _call_made(interpreter: Interpreter, callee: UnescapedFunction, arguments: List[Abstract],
               keywords: Arguments) -> Abstract:
    return comprehensions.call_made(interpreter, callee, *_as_objects(interpreter, arguments, keywords))


def _call_partial(interpreter: Interpreter, callee: Partial, arguments: List[Abstract],
                  keywords: Arguments) -> Abstract:
    function, first, named = callee.taken_apart()
    return interpreter.call(function, first + arguments, dict(named, **keywords))


def _call_object(interpreter: Interpreter, callee: Abstract, arguments: List[Abstract],
                 keywords: Arguments) -> Abstract:
    """A call of an object that the program holds, such as a function or class."""
    of_class = entry_of(INSTANCE, type(sample_of(callee))) if isinstance(callee, (Const, OpaqueObject)) else None
    made = of_class(interpreter, callee, arguments, keywords) if of_class is not None else None
    if made is not None:
        return cast(Abstract, made)
    model = _model_of(callee)
    if model is not None:
        return _call_known(interpreter, model, arguments, keywords)
    if is_host_call(interpreter, callee):
        return host_call(interpreter, cast(Const, callee), arguments, keywords)
    target: Any = callee.object if isinstance(callee, Const) else None
    arguments, keywords = _as_objects(interpreter, arguments, keywords)
    raised = thrown(interpreter, cast(Const, callee)) if issubclass(type(target), type) else None
    if raised is not None:
        return raised
    inlines = interpreter.context.inliner is not None
    if inlines and makes_natively(target):
        return construct(interpreter, cast(Const, callee), arguments, keywords)
    found = find_callee(callee, arguments, keywords, interpreter) if inlines else None
    if found is not None:
        special = code_model(found[0].function.__code__)
        if special is not None:
            return special(interpreter, *found)
        inlined: Abstract = interpreter.context.required_inliner.call(interpreter, *found)
        return inlined
    module, name = _origin(target)
    raise Break("PJ210" if module.split(".")[0] == "numpy" else "PJ201", callee=name or describe(callee))


def _as_objects(interpreter: Interpreter, arguments: List[Abstract],
                keywords: Arguments) -> Tuple[List[Abstract], Arguments]:
    """The arguments in the form in which variables of a callee hold them."""
    return ([constructions.as_object(interpreter, argument) for argument in arguments],
            {name: constructions.as_object(interpreter, value) for name, value in keywords.items()})


def _model_of(callee: Abstract) -> Optional[Model]:
    """The model of a callee that is known by identity; else None."""
    target: Any = callee.object if isinstance(callee, Const) else None
    model = model_of(target)
    if issubclass(type(target), np.ufunc) and target.signature is None:
        return Model(_of_ufunc(target), model.row if model is not None else None, target=target)
    return model


def _call_known(interpreter: Interpreter, model: Model, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """Call a known function by the handler of its model, or else by the library function itself."""
    if mapped_arrays.takes(model, arguments, keywords):
        return mapped_arrays.call(interpreter, model.target, arguments, keywords,
                                  lambda memories, named: _call_known(interpreter, model, memories, named))
    row = model.row
    if model.handler is not None:
        try:
            return model.handler(interpreter, arguments, keywords)
        except Break:
            if row is None:
                raise
    called = cast(LibraryFunction, row)
    out, arguments, keywords = split_output(called, arguments, keywords)
    if out is None or out == Const(None):
        return library.invoke(interpreter, called, arguments, keywords)
    return call_into(interpreter, called, out, arguments, keywords,
                     lambda: _call_known(interpreter, model, arguments, keywords))


def call_row(interpreter: Interpreter, row: LibraryFunction, arguments: List[Abstract],
             keywords: Arguments) -> Abstract:
    """Call a library function itself, with an output if one is given."""
    return _call_known(interpreter, Model(None, row), arguments, keywords)


def call_ufunc(interpreter: Interpreter, ufunc: np.ufunc, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    out = keywords.get("out")
    if set(keywords) - {"out"} or not (out is None or isinstance(out, Tensor)):
        raise Break("PJ211", callee=ufunc.__name__)
    if len(arguments) == ufunc.nin + 1 and out is None and isinstance(arguments[-1], Tensor):
        out, arguments = arguments[-1], arguments[:-1]
    if len(arguments) != ufunc.nin:
        raise Break("PJ211", callee=ufunc.__name__)
    if out is not None and not out.type.writeable:
        raise Break("PJ203", operand="read-only array")
    return operators.ufunc_call(interpreter, ufunc, arguments, out=out)


def _call_method(interpreter: Interpreter, method: Method, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    model = method_of(method.owner, method.name)
    if model is None:
        drawn = pythons_draw(class_of(method.owner), method.name)
        if drawn is None:
            raise Break("PJ210", callee=method.name)
        model = Model(drawn)
    return _call_known(interpreter, model, [method.owner] + arguments, keywords)


def _of_ufunc(ufunc: np.ufunc) -> Handler:
    return lambda interpreter, arguments, keywords: call_ufunc(interpreter, ufunc, arguments, keywords)


def _origin(target: Any) -> Tuple[str, str]:
    """The module and the name of a callee; "" where reading them could run code of the user's."""
    if issubclass(type(target), type):
        return type_module(target), type_name(target)
    if issubclass(type(target), (enum.Enum, types.ModuleType)):
        return "", ""
    return getattr(target, "__module__", None) or "", getattr(target, "__name__", None) or ""


CALLS: ClassTable[Callable[..., Abstract]] = ClassTable({
    Abstract: _call_object,
    BoundFunction: _call_bound,
    FunctionValue: _call_function_value,
    HeldMethod: _call_held_method,
    Manager: _call_manager,
    Method: _call_method,
    Partial: _call_partial,
    UnescapedFunction: _call_made,
})
"""The result of a call, by the class of the callee."""
