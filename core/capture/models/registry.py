"""The registry of models: which function models a callable, a method of a class, or a function by its code.

It also has what is known of a target in other uses: its instances are called, it is subscripted, an attribute of its
instances is read, it is the class of a context manager, or it raises outside of a domain.

Modules of `models` register their functions with the decorators below when `catalogue` imports them. The interpreter
asks once for each call. Targets are found by identity, because comparing or hashing them could run code of the
program.
"""

from __future__ import annotations

import functools
from types import CodeType
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, TypeVar, cast

from pijit.core.capture.values.describe import Handler
from pijit.core.graph.library import LibraryFunction
from pijit.core.named_tuples import NamedTuple

FUNCTION, METHOD, CLASS_METHOD, CODE = "function", "method", "class method", "code"
"""Uses of a target: it is called; a method of its instances is called; a method is called on the class itself; a
Python function that has this code is called."""

INSTANCE, SUBSCRIPT, ATTRIBUTE, MANAGER, DOMAIN = "instance", "subscript", "attribute", "manager", "domain"
"""Other uses of a target: an instance of the class is called; the object is subscripted; an attribute of an instance is
read; an instance of the class is entered; a function of one number is called where an exception may be caught."""

ModelKey = Tuple[str, int, str]
"""Use, id of the target, and name of the method or attribute, or ""."""


class Model(NamedTuple):
    """How a call is captured.

    Attributes:
        handler: makes the result of the call; a Break means that it cannot. None if only the row serves the call.
        row: the library function that kernels call unchanged where the handler cannot make the result, or None.
        use, target, method: see `ModelKey`; the model keeps the target alive, so its id stays its own.
        name: how the page docs/models.md shows a model of code.
    """

    handler: Optional[Handler]
    row: Optional[LibraryFunction] = None
    use: str = FUNCTION
    target: Any = None
    method: str = ""
    name: str = ""


M = TypeVar("M", bound=Callable[..., Any])
MODELS: Dict[ModelKey, Model] = {}
"""All models, in the order of registration."""

OTHERS: Dict[ModelKey, Tuple[Any, Any]] = {}
"""What is known of targets in other uses than calls of them: the target, whose id stays its own, and the entry."""


def models(targets: Any, *methods: str, of_class: bool = False) -> Callable[[M], M]:
    """Register a function as the model of a callable, ``@models(np.cumsum)``, or of methods, ``@models(list, "pop")``.

    Args:
        targets: a callable or a class, or a tuple of several. None stands for one that this version of its library
            lacks, and is left out.
        methods: names of methods of the targets, which are classes then.
        of_class: whether the methods are called on the class itself.

    Raises:
        ValueError: at import, if a target has a model, or a class lacks the method.
    """
    def register(handler: M) -> M:
        for target in targets if type(targets) is tuple else (targets,):
            if target is None:
                continue
            for method in methods:
                if not callable(getattr(target, method, None)):
                    raise ValueError("{!r} has no method {!r}".format(target, method))
                _add(Model(handler, None, CLASS_METHOD if of_class else METHOD, target, method))
            if not methods:
                _add(Model(handler, None, FUNCTION, target))
        return handler
    return register


def models_code(function: Any, name: str = "") -> Callable[[M], M]:
    """Register a model of all Python functions that have the code of ``function``, in place of inlining them.

    Such a model has one more argument before the arguments of the call, the `Callee`. The page docs/models.md shows
    ``name``.
    """
    def register(handler: M) -> M:
        shown = name or "{}.{}".format(function.__module__, function.__qualname__)
        _add(Model(handler, None, CODE, function.__code__, "", shown))
        return handler
    return register


def register_entry(use: str, target: Any, entry: Any, name: str = "") -> None:
    """Register what is known of a target in another use than calls of it.

    Raises:
        ValueError: at import, if the target has an entry.
    """
    if OTHERS.setdefault((use, id(target), name), (target, entry))[1] is not entry:
        raise ValueError("{!r} {} has two entries".format(target, name))


def models_instances(*classes: type) -> Callable[[M], M]:
    """Register a model of calls of instances of exactly these classes, which the program or an object holds.

    Such a model has the callee before the arguments. Its answer is None for instances that it does not know.
    """
    return _registering(INSTANCE, classes)


def models_subscripts(*targets: Any) -> Callable[[M], M]:
    """Register a function of the interpreter and an index as the model of ``target[index]``."""
    return _registering(SUBSCRIPT, targets)


def models_attributes(kind: type, *names: str) -> Callable[[M], M]:
    """Register a function of the interpreter, an instance of a class and a name as the model of ``instance.name``."""
    return _registering(ATTRIBUTE, [kind], names)


def _registering(use: str, targets: Iterable[Any], names: Iterable[str] = ("",)) -> Callable[[M], M]:
    def add(model: M) -> M:
        for target in targets:
            for name in names:
                register_entry(use, target, model, name)
        return model
    return add


def entry_of(use: str, target: Any, name: str = "") -> Any:
    """What is known of this very object in another use than calls of it, or None."""
    found = OTHERS.get((use, id(target), name))
    return found[1] if found is not None else None


def serves(target: Any, row: LibraryFunction, method: str = "") -> None:
    """Register a library function that serves calls of a callable, or of a method, where no handler does."""
    _add(Model(None, row, METHOD if method else FUNCTION, target, method))


def model_factory(make: M) -> M:
    """Decorator of a function that makes models: each has its docstring, for the page docs/models.md."""
    @functools.wraps(make)
    def documented(*args: Any, **kwargs: Any) -> Handler:
        handler: Handler = make(*args, **kwargs)
        handler.__doc__ = make.__doc__
        return handler
    return cast(M, documented)


def _add(model: Model) -> None:
    """Enter a model; a handler and a row of the same target become one."""
    key = (model.use, id(model.target), model.method)
    known = MODELS.get(key)
    if known is not None:
        if known.handler and model.handler or known.row and model.row:
            raise ValueError("{!r} {} has two models".format(model.target, model.method))
        model = model._replace(handler=model.handler or known.handler, row=model.row or known.row)
    MODELS[key] = model


def model_of(target: Any) -> Optional[Model]:
    """The model of calls of this very object, or None."""
    return MODELS.get((FUNCTION, id(target), ""))


def method_model(kind: Optional[type], name: str) -> Optional[Model]:
    """The model of a method of instances of exactly this class, or None."""
    return MODELS.get((METHOD, id(kind), name))


def class_method_model(cls: type, name: str) -> Optional[Model]:
    """The model of a method that is called on the class, or None."""
    return MODELS.get((CLASS_METHOD, id(cls), name))


def code_model(code: CodeType) -> Optional[Handler]:
    """The model of functions that have this code, or None."""
    model = MODELS.get((CODE, id(code), ""))
    return model.handler if model is not None else None


def all_models() -> List[Model]:
    """All models, in the order of registration."""
    return list(MODELS.values())
