"""`jit`: checks its arguments and decides what is wrapped; what it returns is in `pijit.function`."""

from __future__ import annotations

import functools
import os
import sys
import types
import warnings
from typing import Any, Callable, Dict, Mapping, Optional, TypeVar, overload

from pijit import options
from pijit.core.reasons import reason

F = TypeVar("F", bound=Callable[..., Any])

ACCEPTED = ("a Python function, a method, a staticmethod or classmethod object, a functools.partial of "
            "one of these, an object whose class defines __call__ in Python, or a class that defines "
            "__call__ or construct")

MODES = {"PIJit": None, "PSJit": "mode 'PSJit' is not available in this version; use 'PIJit'"}
"""Each mode that `jit` knows, and why it refuses it."""


class UnsupportedPythonWarning(UserWarning):
    """This Python is not supported, so `jit` returns its functions unchanged. Shown once per process."""


_warned = False


@overload
def jit(fn: F, input_signature: None = ..., hash_args: None = ...,
        jit_config: Optional[Mapping[str, Any]] = ..., mode: str = ...) -> F: ...


@overload
def jit(fn: None = ..., input_signature: None = ..., hash_args: None = ...,
        jit_config: Optional[Mapping[str, Any]] = ..., mode: str = ...) -> Callable[[F], F]: ...


def jit(fn: Any = None, input_signature: None = None, hash_args: None = None,
        jit_config: Optional[Mapping[str, Any]] = None, mode: str = "PIJit") -> Any:
    """Compile the numeric parts of a function when it is called; the rest stays Python.

    Works as `@jit`, as `@jit(...)` and as `jit(f, ...)`. The answers are those of the undecorated function.

    Args:
        fn: the function; also a method, a staticmethod or classmethod object, a functools.partial, an object
            with a `__call__`, or a class, whose `__call__` and `construct` are then wrapped in place.
        input_signature: None; signatures are not available in this version.
        hash_args: None; not available in this version.
        jit_config: options, see docs/options.md.
        mode: "PIJit".

    Returns:
        The jitted function with `py_func`, `explain`, `graphs`, `cache_info` and `cache_clear`. `fn` itself,
        unchanged, if PIJIT_DISABLE or NUMBA_DISABLE_JIT is set, or on a Python that is not supported.

    Raises:
        TypeError: `fn` or `jit_config` is not what is accepted, or an option has a wrong type.
        ValueError: unknown `mode`, an argument that is not available, or a wrong value of an option.
        FullGraphError: the option `fullgraph` is set, and the function is not captured at all; calls raise it
            if something in the function is not captured.

    Example:
        >>> @jit
        ... def f(x):
        ...     return x * 2.0 + 1.0
    """
    refusal = why_not_arguments(input_signature, hash_args, mode)
    if refusal is not None:
        raise ValueError(refusal)
    config = options.parse(jit_config, stacklevel=3)
    if os.environ.get("PIJIT_CHECK", "0") not in ("", "0"):
        config = options.Options(dict(config.changed(), check=True))
    if fn is None:
        return functools.partial(_decorate, config=config)
    return _decorate(fn, config, stacklevel=4)


def why_not_arguments(input_signature: Any, hash_args: Any, mode: Any) -> Optional[str]:
    """Why `jit` refuses these arguments, or None."""
    for name, value in (("input_signature", input_signature), ("hash_args", hash_args)):
        if value is not None:
            return "{} is not available in this version; it must be None, not {!r}".format(name, value)
    if not isinstance(mode, str) or mode not in MODES:
        return "unknown mode {!r}; accepted: 'PIJit'".format(mode)
    return MODES[mode]


def why_not_python() -> Optional[str]:
    """Why pijit cannot work on this Python, or None."""
    version = "{} {}.{}".format(sys.implementation.name, *sys.version_info[:2])
    if sys.implementation.name == "cpython" and (3, 7) <= sys.version_info[:2] <= (3, 10):
        return None
    return reason("PJ105", python=version)


def _disabled() -> bool:
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("PIJIT_DISABLE", "NUMBA_DISABLE_JIT"))


def _decorate(fn: Any, config: options.Options, stacklevel: int = 3) -> Any:
    if not callable(fn) and not isinstance(fn, (staticmethod, classmethod)):
        raise TypeError("jit: fn must be {}; not {!r}".format(ACCEPTED, fn))
    if _disabled():
        return fn
    refusal = why_not_python()
    if refusal is not None:
        _warn_once(refusal, stacklevel)
        return fn
    return _wrap(fn, config)


def _warn_once(refusal: str, stacklevel: int) -> None:
    global _warned
    if not _warned:
        _warned = True
        message = refusal + ": functions stay as they are"
        warnings.warn(message, UnsupportedPythonWarning, stacklevel=stacklevel)


def _wrap(fn: Any, config: options.Options) -> Any:
    for kind, wrap in _WRAPS:
        if isinstance(fn, kind):
            return wrap(fn, config)
    from pijit.function import Jitted

    if isinstance(fn, Jitted):
        return _jit_again(fn, config)
    call = getattr(type(fn), "__call__", None)
    if isinstance(call, (types.FunctionType, Jitted)):
        return types.MethodType(_wrap(call, config), fn)
    raise TypeError("jit: fn must be {}; {!r} has no Python code".format(ACCEPTED, fn))


def _wrap_function(fn: types.FunctionType, config: options.Options) -> Any:
    from pijit.function import Checked, Jitted

    return (Checked if config.check else Jitted)(fn, config)


def _jit_again(fn: Any, config: options.Options) -> Any:
    """A jitted function as it is, or, if there are new options, its function with old and new ones."""
    merged = dict(fn.config.changed(), **config.changed())
    if merged == fn.config.changed():
        return fn
    return _wrap_function(fn.py_func, options.Options(merged))


def _wrap_class(fn: type, config: options.Options) -> type:
    names = [name for name in ("__call__", "construct") if callable(vars(fn).get(name))]
    if not names:
        raise TypeError("jit: fn must be {}; {!r} defines neither".format(ACCEPTED, fn))
    for name in names:
        setattr(fn, name, _wrap(vars(fn)[name], config))
    return fn


def _wrap_partial(fn: Any, config: options.Options) -> Any:
    return type(fn)(_wrap(fn.func, config), *fn.args, **fn.keywords)


_WRAPS = (
    (types.FunctionType, _wrap_function),
    (types.MethodType, lambda fn, config: types.MethodType(_wrap(fn.__func__, config), fn.__self__)),
    ((staticmethod, classmethod), lambda fn, config: type(fn)(_wrap(fn.__func__, config))),
    (functools.partial, _wrap_partial),
    (type, _wrap_class),
)  # type: Tuple[Tuple[Any, Callable[[Any, options.Options], Any]], ...]


def rebuild(py_func: types.FunctionType, config: Dict[str, Any]) -> Any:
    """Unpickle a jitted function that was sent by value."""
    return jit(py_func, jit_config=config)
