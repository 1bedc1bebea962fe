"""`jit`: validates its arguments and decides which functions to wrap; `pijit.function` defines the wrapper.

`pijit` exports it. It must work on Pythons that the compiler does not support.
"""

from __future__ import annotations

import functools
import os
import sys
import types
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Type, TypeVar, Union, overload

from pijit import logs, options
from pijit.core.errors import users_level
from pijit.core.kernel.fork_safety import loading
from pijit.core.pythons import why_not_python
from pijit.names import closest

if TYPE_CHECKING:
    from pijit.typed.functions import Descriptor, JitDecorator, JittedFunction, P
    from pijit.typed.jit_config import JitConfig

    Config = Union[JitConfig, Mapping[str, Any], None]

T = TypeVar("T")

ACCEPTED = ("a Python function, a method, a staticmethod or classmethod object, a functools.partial of "
            "one of these, an object whose class defines __call__ in Python, or a class")

MODES = ("PIJit", "PSJit")
"""The modes that `jit` accepts."""

HEAP_TYPE = 1 << 9
"""CPython's flag of classes that a class statement creates (Py_TPFLAGS_HEAPTYPE)."""


class UnsupportedPythonWarning(UserWarning):
    """This Python is not supported, so `jit` returns its functions unchanged. Shown once per process."""


_warned = False


@overload
def jit(fn: None = ..., input_signature: Any = ..., hash_args: Any = ..., jit_config: Config = ...,
        mode: str = ...) -> JitDecorator: ...


@overload
def jit(  # type: ignore[overload-overlap]
        fn: Type[T], input_signature: Any = ..., hash_args: Any = ..., jit_config: Config = ...,
        mode: str = ...) -> Type[T]: ...


@overload
def jit(  # type: ignore[overload-overlap]
        fn: Descriptor, input_signature: Any = ..., hash_args: Any = ..., jit_config: Config = ...,
        mode: str = ...) -> Descriptor: ...


@overload
def jit(  # type: ignore[overload-overlap]
        fn: functools.partial[T], input_signature: Any = ..., hash_args: Any = ..., jit_config: Config = ...,
        mode: str = ...) -> functools.partial[T]: ...


@overload
def jit(fn: Callable[P, T], input_signature: Any = ..., hash_args: Any = ..., jit_config: Config = ...,
        mode: str = ...) -> JittedFunction[P, T]: ...


def jit(fn: Any = None, input_signature: Any = None, hash_args: Any = None, jit_config: Config = None,
        mode: str = "PIJit") -> Any:
    """Compile the numeric parts of a function when it is called; the rest stays Python.

    Works as `@jit`, as `@jit(...)` and as `jit(f, ...)`. The results are those of the undecorated function.

    Args:
        fn: the function; also a method, a staticmethod or classmethod object, a functools.partial, an object with a
            `__call__`, or a class. `__call__` and `construct` of a class are wrapped in place; a class that defines
            neither stays unchanged (PJ104).
        input_signature: descriptions of the arguments: `pijit.Tensor`, an example array, int, float, bool, complex,
            None (anything), lists and tuples of these; a list or tuple by position, a dict by name. Each call is
            checked. If nothing is left open, the function is compiled at once.
        hash_args: a value, or a list or tuple of values, on which the function depends. When the hash of one, the
            items of a container or the bytes of an array change, the next call captures again.
        jit_config: options, a dict or a `pijit.JitConfig`; see docs/options.md.
        mode: "PIJit": code that cannot be compiled stays Python. "PSJit": the function must be one graph; otherwise it
            is an error or falls back to Python, depending on the option `jit_syntax_level`.

    Returns:
        The jitted function with `py_func`, `explain`, `graphs`, `cache_info` and `cache_clear`. `fn` itself,
        unchanged, if PIJIT_DISABLE or NUMBA_DISABLE_JIT is set, or on a Python that is not supported.

    Raises:
        TypeError: `fn`, `input_signature` or `jit_config` is not accepted, or an option has a wrong type; in calls:
            an argument does not fit `input_signature` in type or dtype.
        ValueError: unknown `mode`, a wrong value of an option, or a signature of other arguments; in calls: an
            argument does not fit `input_signature` in shape.
        FullGraphError: the function must be one graph and cannot be captured; calls raise it if a part of the
            function is not captured.

    Example:
        >>> @jit
        ... def f(x):
        ...     return x * 2.0 + 1.0
    """
    config = options.parse(jit_config, stacklevel=users_level() + 1)
    arguments = _arguments(input_signature, hash_args, mode)
    if os.environ.get("PIJIT_CHECK", "0") not in ("", "0"):
        arguments["check"] = True
    if arguments:
        config = options.Options(dict(config.changed(), **arguments))
    if fn is None:
        return functools.partial(_decorate, config=config)
    return _decorate(fn, config)


@overload
def ms_function(fn: None = ..., input_signature: Any = ..., hash_args: Any = ...,
                jit_config: Config = ...) -> JitDecorator: ...


@overload
def ms_function(  # type: ignore[overload-overlap]
        fn: Type[T], input_signature: Any = ..., hash_args: Any = ..., jit_config: Config = ...) -> Type[T]: ...


@overload
def ms_function(  # type: ignore[overload-overlap]
        fn: Descriptor, input_signature: Any = ..., hash_args: Any = ...,
        jit_config: Config = ...) -> Descriptor: ...


@overload
def ms_function(  # type: ignore[overload-overlap]
        fn: functools.partial[T], input_signature: Any = ..., hash_args: Any = ...,
        jit_config: Config = ...) -> functools.partial[T]: ...


@overload
def ms_function(fn: Callable[P, T], input_signature: Any = ..., hash_args: Any = ...,
                jit_config: Config = ...) -> JittedFunction[P, T]: ...


def ms_function(fn: Any = None, input_signature: Any = None, hash_args: Any = None, jit_config: Config = None) -> Any:
    """The same as `jit(..., mode="PSJit")`: the function must be one graph.

    Args, returns and errors are those of `jit`.

    Example:
        >>> @ms_function(jit_config={"jit_syntax_level": "STRICT"})
        ... def f(x):
        ...     return x * 2.0 + 1.0
    """
    return jit(fn, input_signature, hash_args, jit_config, "PSJit")


def jit_class(cls: Type[T]) -> Type[T]:
    """Jit the methods that a class defines itself, in place: plain, static and class methods, and `__call__`.

    Other special methods, such as `__init__`, and properties are not jitted; a jitted method that calls one compiles
    it as a part of itself.

    Args:
        cls: the class.

    Returns:
        The class itself.

    Raises:
        TypeError: `cls` is not a class.

    Example:
        >>> @jit_class
        ... class Scale:
        ...     def apply(self, x):
        ...         return x * 2.0 + 1.0
    """
    if not isinstance(cls, type):
        raise TypeError("jit_class: cls must be a class, not {!r}".format(cls))
    for name, value in list(vars(cls).items()):
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        special = name.startswith("__") and name.endswith("__") and name != "__call__"
        if isinstance(function, types.FunctionType) and not special:
            setattr(cls, name, jit(value))
    return cls


def _arguments(input_signature: Any, hash_args: Any, mode: Any) -> Dict[str, Any]:
    """The arguments of `jit` as options; raises for wrong ones."""
    if not isinstance(mode, str):
        raise TypeError("jit: mode must be 'PIJit' or 'PSJit', not {!r}".format(mode))
    if mode not in MODES:
        raise ValueError("jit: mode must be {}".format(closest(mode, MODES)))
    found: Dict[str, Any] = {"mode": mode} if mode != "PIJit" else {}
    if input_signature is not None:
        from pijit.signature import Signature

        found["input_signature"] = Signature(input_signature)
    if hash_args is not None:
        from pijit.hashed import HashArgs

        found["hash_args"] = HashArgs(hash_args)
    return found


def is_disabled() -> bool:
    """Whether the environment switches pijit off, so that `jit` returns functions unchanged."""
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("PIJIT_DISABLE", "NUMBA_DISABLE_JIT"))


def _decorate(fn: Any, config: options.Options) -> Any:
    if not callable(fn) and not isinstance(fn, (staticmethod, classmethod)):
        raise TypeError("jit: fn must be {}; not {!r}".format(ACCEPTED, fn))
    _require_code(fn)
    if is_disabled():
        return fn
    logs.read_environment()
    if warn_if_unsupported():
        return fn
    return _wrap(fn, config)


def _require_code(fn: Any) -> None:
    """Raise TypeError unless the argument of `jit` leads to a Python function."""
    if isinstance(fn, types.FunctionType) or _is_jitted(fn):
        return
    if is_written(fn):
        for name in called_methods(fn):
            _require_code(vars(fn)[name])
        return
    for kind, attribute in _HOLDERS:
        if isinstance(fn, kind):
            return _require_code(getattr(fn, attribute))
    call = getattr(type(fn), "__call__", None)
    if isinstance(fn, type) or not (isinstance(call, types.FunctionType) or _is_jitted(call)):
        raise TypeError("jit: fn must be {}; {!r} has no Python code".format(ACCEPTED, fn))


_HOLDERS: Tuple[Tuple[Any, str], ...] = (
    (types.MethodType, "__func__"), ((staticmethod, classmethod), "__func__"), (functools.partial, "func"))
"""Wrappers of functions, and the attribute that holds the function."""


def _is_jitted(fn: Any) -> bool:
    hook = sys.modules.get("pijit.core._hook")  # not imported before something is jitted
    return hook is not None and isinstance(fn, hook.JitFunction)


def can_wait(config: Mapping[str, Any]) -> bool:
    """Whether functions with these options may run as plain Python at first: pijit is on and `check` is off."""
    checked = config.get("check") or os.environ.get("PIJIT_CHECK", "0") not in ("", "0")
    return not checked and not is_disabled() and why_not_python() is None


def warn_if_unsupported(script: Optional[str] = None) -> bool:
    """Whether this Python is not supported; warns once per process, at the code that called pijit.

    Args:
        script: the program's file; the warning then points at its first line.
    """
    global _warned
    refusal = why_not_python()
    if refusal is not None and not _warned:
        _warned = True
        message = "{} Functions stay as they are.".format(refusal)
        if script is None:
            warnings.warn(message, UnsupportedPythonWarning, stacklevel=users_level())
        else:
            warnings.warn_explicit(message, UnsupportedPythonWarning, script, 1)
    return refusal is not None


@functools.lru_cache(maxsize=None)
def _function_types() -> Tuple[Callable[[Any], Any], type]:
    """What tells jitted functions; imported late. Forks wait, because a child could not import these modules."""
    with loading():
        from pijit.cli.cold_functions import awake
        from pijit.function import Jitted
    return awake, Jitted


def _wrap(fn: Any, config: options.Options) -> Any:
    awake, jitted = _function_types()
    fn = awake(fn)
    if isinstance(fn, jitted):
        return _jit_again(fn, config)
    for kind, wrap in _WRAPS:
        if isinstance(fn, kind):
            return wrap(fn, config)
    return types.MethodType(_wrap(type(fn).__call__, config), fn)


def _wrap_function(fn: types.FunctionType, config: options.Options) -> Any:
    from pijit.function import jitted_class

    return jitted_class(config)(fn, config)


def _jit_again(fn: Any, config: options.Options) -> Any:
    """A jitted function; with new options, a new one for the same function with old and new options."""
    merged = dict(fn.config.changed(), **config.changed())
    if merged == fn.config.changed():
        return fn
    return _wrap_function(fn.py_func, options.Options(merged))


def is_written(cls: Any) -> bool:
    """Whether this is a class that a class statement created."""
    return isinstance(cls, type) and bool(cls.__flags__ & HEAP_TYPE)


def called_methods(cls: type) -> List[str]:
    """The names of the methods that `jit` wraps in a class."""
    return [name for name in ("__call__", "construct") if callable(vars(cls).get(name))]


def _wrap_class(fn: type, config: options.Options) -> type:
    for name in called_methods(fn):
        setattr(fn, name, _wrap(vars(fn)[name], config))
    return fn


def _wrap_partial(fn: Any, config: options.Options) -> Any:
    return type(fn)(_wrap(fn.func, config), *fn.args, **fn.keywords)


_WRAPS: Tuple[Tuple[Any, Callable[[Any, options.Options], Any]], ...] = (
    (types.FunctionType, _wrap_function),
    (types.MethodType, lambda fn, config: types.MethodType(_wrap(fn.__func__, config), fn.__self__)),
    ((staticmethod, classmethod), lambda fn, config: type(fn)(_wrap(fn.__func__, config))),
    (functools.partial, _wrap_partial),
    (type, _wrap_class),
)


def rebuild(py_func: types.FunctionType, config: Dict[str, Any]) -> Any:
    """Unpickle a jitted function that was pickled by value."""
    return _decorate(py_func, options.Options(config))
