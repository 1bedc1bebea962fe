"""Calls from rewritten bytecode.

Python callees are rewritten in turn. Functions with a derivative rule are recorded. Any other callee in C preserves
identities, is a cut (zero derivative), or is unknown.
"""

from __future__ import annotations

import collections
import functools
import operator
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

from pijit.core.graph.derivatives import CUTS, ELEMENTWISE, FUNCTIONS, METHODS
from pijit.core.tape import operations
from pijit.core.tape.array_protocols import converted, function_override, ufunc_override
from pijit.core.tape.attributes import attribute
from pijit.core.tape.callables import (
    CONTAINERS,
    HANDLERS,
    ITERATING,
    ITERATING_METHODS,
    KEEPS,
    NATIVE_FUNCTIONS,
    NATIVE_MODULES,
    OTHER_THREADS,
    OWN_MODULES,
    READING,
    WRITERS,
    keeps_identities,
)
from pijit.core.tape.errors import refusal
from pijit.core.tape.iteration import listed, mapping, streamed
from pijit.core.tape.operations import apply_elementwise, as_refusal, into, load, taint
from pijit.core.tape.records import elementwise_give, function_give, record_result, record_store
from pijit.core.tape.special_methods import in_class, python_method, real_number, stand_in
from pijit.core.tape.state import STATE, reached, watching

_MAKERS = tuple(kind.__new__ for kind in CONTAINERS)


def call(function: Any, args: Tuple[Any, ...] = (), kwargs: Any = None) -> Any:
    """`function(*args, **kwargs)`, recorded."""
    kwargs = kwargs or {}
    if not STATE.tapes or getattr(function, "tape_aware", False) is True:
        return function(*args, **kwargs)
    found = _KINDS.get(type(function))
    if found is not None:
        return found(function, args, kwargs)
    return _call_object(function, args, kwargs)


def call_keywords(function: Any, args: Tuple[Any, ...]) -> Any:
    """A call with keyword arguments; the last argument is the tuple of their names."""
    names = args[-1]
    values, named = args[:-1 - len(names)], args[-1 - len(names):-1]
    return call(function, values, dict(zip(names, named)))


def call_unpacked(function: Any, parts: Tuple[Any, ...]) -> Any:
    """`function(*args, **kwargs)`. `parts` holds the tuple and, if the call has one, the mapping."""
    return call(function, tuple(streamed(parts[0])), dict(mapping(parts[1])) if len(parts) > 1 else {})


def site(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Fills the slot beside a callable from CPython 3.11 on; CPython calls it with the callable as first argument."""
    return call(function, args, kwargs)


def call_pair(lower: Any, upper: Any) -> Any:
    """A call with two stack slots and no further arguments (CPython 3.11+): `upper()`, or `lower(upper)`."""
    return call(upper) if lower is site else call(lower, (upper,))


def call_unpacked_site(parts: Tuple[Any, Any, Tuple[Any, ...]]) -> Any:
    """Like `call_unpacked`; `site` lies below the callable."""
    return call_unpacked(parts[1], parts[2])


def instrumented(function: FunctionType) -> FunctionType:
    """The rewritten function."""
    from pijit.core.tape.instrument import instrumented as rewritten  # instrument needs this module

    return rewritten(function)


def remember(function: FunctionType) -> None:
    """Let the next calls of an instrumented function be made in C."""
    from pijit.core.tape.instrument import remember as remembered  # instrument needs this module

    remembered(function)


def _call_function(function: FunctionType, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    handler = _handler_of(function)
    if handler is not None:
        return handler(*args, **kwargs)
    if function in FUNCTIONS or function in CUTS:
        return _call_known(function, args, kwargs)
    package = (function.__module__ or "").partition(".")[0]
    if package in OTHER_THREADS and reached(args, kwargs):
        raise refusal("PJ502", what="{}.{}, which hands values to another thread".format(package, function.__name__))
    if package in NATIVE_MODULES or function.__module__ in OWN_MODULES or function in NATIVE_FUNCTIONS:
        return function(*args, **kwargs)
    if package == "numpy":
        if not (hides(function, args, kwargs) or reached(args, kwargs)):
            return function(*args, **kwargs)
        function = getattr(function, "__wrapped__", function)
        return instrumented(function)(*args, **kwargs)
    made = instrumented(function)
    if package not in OTHER_THREADS:
        remember(function)
    return made(*args, **kwargs)


def hides(function: FunctionType, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> bool:
    """Whether a call may reach active values that a search of its arguments cannot find."""
    return bool(function.__closure__) or function.__name__.startswith("<") or any(
        callable(one) and not issubclass(type(one), type) or hasattr(type(one), "__next__")
        for one in list(args) + list(kwargs.values()))


def _call_method(function: MethodType, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    return call(function.__func__, (function.__self__,) + args, kwargs)


def _call_type(cls: type, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    handler = _handler_of(cls)
    if handler is not None:
        return handler(*args, **kwargs)
    meta = python_method(cls, "__call__")
    if meta is not None:
        return call(meta, (cls,) + args, kwargs)
    return _call_other(cls, args, kwargs) if type(cls).__call__ is not type.__call__ else make_object(cls, args, kwargs)


def make_object(cls: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """Like `type.__call__`, with `__new__` and `__init__` in Python recorded."""
    make, prepare = cls.__new__, cls.__init__
    if issubclass(type(make), FunctionType):
        made = call(make, (cls,) + args, kwargs)
    elif issubclass(type(prepare), FunctionType) and make is object.__new__:
        made = object.__new__(cls)
    elif issubclass(type(prepare), FunctionType):
        made = make(cls, *args, **kwargs)
    elif cls not in KEEPS and issubclass(cls, CONTAINERS) and make in _MAKERS:
        return _call_iterating(cls, args, kwargs, issubclass(cls, dict))
    else:
        return _call_other(cls, args, kwargs)
    if issubclass(type(made), cls):
        if issubclass(type(prepare), FunctionType):
            call(prepare, (made,) + args, kwargs)
        elif prepare is not object.__init__:
            prepare(made, *args, **kwargs)
    return made


def _call_partial(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    return call(function.func, function.args + args, dict(function.keywords, **kwargs))


def _call_ufunc(ufunc: np.ufunc, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    handler = HANDLERS.get(ufunc)
    if handler is not None:
        return handler(*args, **kwargs)
    out: Any
    args, out = args[:ufunc.nin], kwargs.get("out", args[ufunc.nin:] or None)
    out = out[0] if issubclass(type(out), tuple) and len(out) == 1 else out
    named = {name: value for name, value in kwargs.items() if name != "out"}
    override = ufunc_override(ufunc, "__call__", args, kwargs)
    if override is not NotImplemented:
        return override
    args = tuple(map(converted, args))
    where = named.get("where", True)
    if issubclass(type(out), np.ndarray):
        return into(ufunc, out, args, lambda: ufunc(*args, out=out, **named), where)
    args = tuple(call(np.array, (one,)) if issubclass(type(one), (list, tuple)) and reached(one) else one
                 for one in args)
    r = ufunc(*args, **named) if out is None else ufunc(*args, out=out, **named)
    return apply_elementwise(ufunc, r, args, where)


def _call_builtin(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    self = getattr(function, "__self__", None)
    if issubclass(type(self), np.ndarray) or issubclass(type(self), np.generic):
        return _call_array_method(function, self, args, kwargs)
    if issubclass(type(self), np.ufunc):
        return HANDLERS[function.__name__](self, *args, **kwargs)
    if function.__name__ == "__reduce_ex__" and in_class(type(self), "__reduce_ex__") is object.__reduce_ex__:
        return call(object.__reduce_ex__, (self,) + args, kwargs)
    typed = HANDLERS.get("{}.{}".format(type(self).__name__, function.__name__))
    if typed is not None:
        return typed(function, *args, **kwargs)
    handler = _handler_of(function)
    if handler is not None:
        return handler(*args, **kwargs)
    return _call_other(function, args, kwargs)


def _call_array_method(function: Any, array: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    name = function.__name__
    handler = HANDLERS.get("ndarray." + name)
    if handler is not None:
        return handler(array, *args, **kwargs)
    if not reached(array, args, kwargs):
        return guarded(function, args, kwargs, extra=(array,))
    known = METHODS.get(name) or getattr(np, name, None)
    if known is np.reshape and len(args) > 1 or known is np.transpose and len(args) > 1:
        args = (args,)
    if known in FUNCTIONS or known in CUTS or known in ELEMENTWISE:
        return record(known, (array,) + args, kwargs, lambda: function(*args, **kwargs))
    if name in WRITERS:
        raise refusal("PJ502", what="ndarray." + name)
    r = function(*args, **kwargs)
    for tape in reached(array, args, kwargs):
        taint(tape, r, function)
    return r


def _call_known(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    override = function_override(function, args, kwargs)
    if override is not NotImplemented:
        return override
    prepared = stand_in if function in READING else converted
    args = tuple(prepared(_without_generator(one)) for one in args)
    return record(function, args, kwargs, lambda: function(*args, **kwargs))


def _without_generator(one: Any) -> Any:
    return list(one) if type(one).__name__ == "generator" else one


def record(known: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], run: Callable[[], Any]) -> Any:
    """Run a function that has a derivative rule, and record it."""
    out: Any = kwargs.get("out")
    stores = [(tape, tape.note_store(out, ...)) for tape in STATE.tapes] if issubclass(type(out), np.ndarray) else []
    tapes = reached(args, kwargs)
    gives = [] if known in CUTS else [(tape, _give_of(tape, known, args, kwargs)) for tape in tapes]
    r = run()
    if known in CUTS:
        for tape in tapes:
            tape.cut(known.__name__)
    if stores:
        found = dict((id(tape), give) for tape, give in gives)
        for tape, undo in stores:
            record_store(tape, out, ..., undo, found.get(id(tape), _nothing), id(tape) in found)
        return r
    for tape, give in gives:
        if not any(r is one for one in args):
            record_result(tape, r, give)
    return r


def _give_of(tape: Any, known: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    if known in ELEMENTWISE:
        return elementwise_give(tape, ELEMENTWISE[known], args)
    return function_give(tape, FUNCTIONS[known], args, kwargs, as_refusal(known))


def _nothing(run: Any, g: Any, r: Any) -> None:
    pass


def _call_object(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """A callable of another type: a class with its own metaclass, a jitted function, an object with `__call__`."""
    if type(function) is MethodWrapperType:  # a C special method bound to one object
        owner: Any = function.__self__
        if function.__name__ != "__call__" or not issubclass(type(owner), (type, np.ufunc)):
            slot = getattr(getattr(function, "__objclass__", None), function.__name__, None)
            return call(slot, (owner,) + args, kwargs) if type(slot) is WrapperDescriptorType else \
                _call_other(function, args, kwargs)
        return make_object(owner, args, kwargs) if issubclass(type(owner), type) else _call_ufunc(owner, args, kwargs)
    if type(function) is WrapperDescriptorType and issubclass(function.__objclass__, (np.ndarray, np.generic)):
        return _call_array_slot(function, args, kwargs)
    if issubclass(type(function), type):
        return _call_type(function, args, kwargs)
    inner = getattr(function, "py_func", None)
    if issubclass(type(inner), FunctionType):
        return call(inner, args, kwargs)
    if issubclass(type(function), np.ufunc):
        return _call_ufunc(function, args, kwargs)
    method = python_method(function, "__call__")
    if method is not None:
        return call(method, (function,) + args, kwargs)
    handler = _handler_of(function)
    if handler is not None:
        return handler(*args, **kwargs)
    return _call_other(function, args, kwargs)


def _call_array_slot(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """A special method of arrays or NumPy scalars that the program calls by its name."""
    name = function.__name__
    if name in ("__getitem__", "__setitem__") and issubclass(type(args[0]), np.ndarray):
        return (operations.load_elements if name == "__getitem__" else operations.store_elements)(*args)
    known = operations.UFUNCS.get(name.strip("_"))
    if name == "__neg__" or known is None or len(args) > 2:
        known = np.negative if name == "__neg__" else None
    if known is not None and name not in ("__and__", "__or__"):
        return apply_elementwise(known, function(*args, **kwargs), args)
    return _call_other(function, args, kwargs)


def _handler_of(function: Any) -> Any:
    """The recorded version of a callee, or None."""
    return HANDLERS.get(function) if _hashable(function) else None


def _hashable(function: Any) -> bool:
    """Whether a callee can be a dict key; up to CPython 3.7 a bound method of a list cannot."""
    try:
        hash(function)
    except TypeError:
        return False
    return True


def _call_other(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """A callee in C: it has a rule, preserves identities, is a cut, or is unknown."""
    owner: Any = getattr(function, "__objclass__", None)
    if issubclass(type(function), MethodDescriptorType) and issubclass(owner, (np.ndarray, np.generic)) and args:
        return _call_array_method(getattr(args[0], function.__name__), args[0], args[1:], kwargs)
    known = _hashable(function)
    if known and (function in FUNCTIONS or function in CUTS):
        return _call_known(function, args, kwargs)
    if known and function in ELEMENTWISE:
        args = tuple(map(real_number, args))
        return apply_elementwise(function, function(*args, **kwargs), args)
    if known and function in READING or getattr(function, "__self__", None).__class__ in (str, bytes):
        return function(*map(stand_in, args), **{name: stand_in(one) for name, one in kwargs.items()})
    if known and function in KEEPS or keeps_identities(function):
        if known and function in ITERATING or getattr(function, "__name__", "") in ITERATING_METHODS:
            fills = known and function in (dict, collections.OrderedDict) or issubclass(
                type(getattr(function, "__self__", None)), dict)
            return _call_iterating(function, args, kwargs, fills)
        return function(*args, **kwargs)
    owner = getattr(function, "__self__", None)
    tapes = reached(args, kwargs, None if issubclass(type(owner), ModuleType) else owner)
    wrapped = getattr(function, "__wrapped__", None)
    if tapes and issubclass(type(wrapped), FunctionType):
        return call(wrapped, args, kwargs)
    if not tapes:
        return guarded(function, args, kwargs)
    arrays = [one for one in _arrays(args, kwargs) if one.flags.writeable and watching(one)]
    if arrays:
        raise refusal("PJ502", what=getattr(function, "__name__", None) or repr(function))
    r = guarded(function, args, kwargs)
    for tape in tapes:
        taint(tape, r, function)
    return r


def _call_iterating(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], fills_dict: bool) -> Any:
    """A callee in C that iterates over its arguments, or calls a function for each item."""
    if function in (max, min) and len(args) > 1:  # the arguments are the items
        handed = args
    else:
        handed = tuple(_handed(mapping(one) if fills_dict else one) for one in args)
    return function(*handed, **{name: _handed(one) if name in ("key", "func", "iterable") else one
                                for name, one in kwargs.items()})


def _handed(one: Any) -> Any:
    """An argument for a callee that preserves identities: arrays become item streams, functions are rewritten."""
    if issubclass(type(one), FunctionType) and not (one.__module__ or "").startswith("pijit.core."):
        return instrumented(one)
    if issubclass(type(one), (BuiltinFunctionType, np.ufunc, MethodType, functools.partial)):
        return functools.partial(_call_packed, one)
    return listed(one)


def _call_packed(function: Any, *args: Any, **kwargs: Any) -> Any:
    return call(function, args, kwargs)


def _call_attrgetter(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    if len(args) != 1 or kwargs:
        return function(*args, **kwargs)
    found = tuple(functools.reduce(attribute, name.split("."), args[0]) for name in function.__reduce__()[1])
    return found if len(found) > 1 else found[0]


def _call_itemgetter(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    if len(args) != 1 or kwargs:
        return function(*args, **kwargs)
    found = tuple(load(args[0], index) for index in function.__reduce__()[1])
    return found if len(found) > 1 else found[0]


def _call_methodcaller(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    if len(args) != 1 or kwargs:
        return function(*args, **kwargs)
    made, named = function.__reduce__(), {}
    if issubclass(type(made[0]), functools.partial):  # with keyword arguments
        name, named, given = made[0].args[0], made[0].keywords, made[1]
    else:
        name, given = made[1][0], made[1][1:]
    return call(attribute(args[0], name), tuple(given), dict(named))


def _arrays(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> List[np.ndarray[Any, Any]]:
    return [one for one in list(args) + list(kwargs.values()) if issubclass(type(one), np.ndarray)]


def guarded(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], extra: Tuple[Any, ...] = ()) -> Any:
    """Run an unknown callee that may write arrays which a rule reads later; the sweep undoes its writes."""
    arrays = [one for one in _arrays(args, kwargs) + list(extra)
              if issubclass(type(one), np.ndarray) and one.flags.writeable]
    before = [(one, tape, tape.note_store(one, ...)) for one in arrays for tape in STATE.tapes]
    copies = [np.array(one) for one in arrays]
    r = function(*args, **kwargs)
    changed = {id(one) for one, old in zip(arrays, copies) if one.tobytes() != old.tobytes()}
    for one, tape, undo in before:
        if id(one) in changed:
            tape.record(undo)
    return r


_KINDS: Dict[type, Callable[[Any, Tuple[Any, ...], Dict[str, Any]], Any]] = {
    FunctionType: _call_function,
    MethodType: _call_method,
    type: _call_type,
    functools.partial: _call_partial,
    np.ufunc: _call_ufunc,
    BuiltinFunctionType: _call_builtin,
    operator.attrgetter: _call_attrgetter,
    operator.itemgetter: _call_itemgetter,
    operator.methodcaller: _call_methodcaller,
}

