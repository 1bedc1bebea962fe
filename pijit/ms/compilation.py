"""`jit` with MindSpore's arguments, and queries about jitted functions."""

from __future__ import annotations

import functools
import types
from typing import Any, Callable, Dict, Mapping, Optional

import pijit
from pijit import options
from pijit.code_extra import CodeExtra
from pijit.code_extra import get_code_extra as extra_of
from pijit.core.errors import FullGraphError
from pijit.ms import log
from pijit.names import closest

CAPTURE_MODES = {"bytecode": "PIJit", "ast": "PSJit", "trace": "PIJit"}
"""The mode of `pijit.jit` for each `capture_mode`."""

TWINS = "__pijit_ms__"
"""The attribute of a function that holds its `Twins`; they are garbage-collected with the function."""


class Twins:
    """The jitted versions of one function, by their options; jitting it twice returns the same object."""

    __slots__ = ("function", "jitted")

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.jitted: Dict[Any, Any] = {}


def twins_of(function: types.FunctionType) -> Dict[Any, Any]:
    """The jitted versions of a function; another function's `Twins` are ignored, since attributes can be copied."""
    found = function.__dict__.get(TWINS)
    if found is None or found.function is not function:
        found = function.__dict__[TWINS] = Twins(function)
    return found.jitted


Unsupported = FullGraphError
"""The error of MindSpore where a function that must be one graph has a break."""

RUNS_PLAIN = "_disable_pijit"
"""The option that chooses the calls of the undecorated function."""

_switch = {"on": True}


def jit(function: Any = None, mode: str = "PIJit", input_signature: Any = None, hash_args: Any = None,
        jit_config: Optional[Mapping[str, Any]] = None, compile_once: bool = False, *,
        capture_mode: Optional[str] = None, jit_level: str = "O0", dynamic: int = 0, fullgraph: bool = False,
        backend: str = "", fn: Any = None, **other: Any) -> Any:
    """Compile the numeric parts of a function over tensors, or of a cell's `construct`.

    Works as `@jit`, `@jit(...)` and `jit(f, ...)`. Results are those of the undecorated function.

    Args:
        function: a function, method, cell or class.
        mode: "PIJit" or "PSJit", as for `pijit.jit`.
        hash_args: values on which the function depends, as for `pijit.jit`.
        jit_config: options of `pijit.jit`, and `_disable_pijit`, a function of (args, kwargs) of a call: if it returns
            True, that call runs the undecorated function. Other keys of MindSpore are accepted without effect.
        capture_mode: "bytecode" (PIJit), "ast" (PSJit) or "trace".
        fullgraph: make a break an error.
        input_signature, jit_level, dynamic, backend, compile_once, **other: accepted without effect, because guards
            check shapes and types.

    Returns:
        The jitted function. A method gives a method; a cell gives the cell with its `construct` jitted.

    Raises:
        TypeError: `function` has no Python code, or `_disable_pijit` is not callable.
        ValueError: an unknown mode.

    Example:
        >>> @jit(capture_mode="bytecode")
        ... def f(x, y):
        ...     return x * y
    """
    if capture_mode is not None:
        if capture_mode not in CAPTURE_MODES:
            raise ValueError("jit: capture_mode must be {}".format(closest(capture_mode, CAPTURE_MODES)))
        mode = CAPTURE_MODES[capture_mode]
    _tell_what_has_no_effect(jit_config, dict(other, input_signature=input_signature, compile_once=compile_once or None,
                                              dynamic=dynamic or None, backend=backend or None))
    settings = known_options(jit_config)
    if fullgraph:
        settings["fullgraph"] = True
    runs_plain = _given_options(jit_config).get(RUNS_PLAIN)
    if runs_plain is not None and not callable(runs_plain):
        raise TypeError("jit: {} must be a function of (args, kwargs); not {!r}".format(RUNS_PLAIN, runs_plain))
    given = fn if function is None else function
    make = functools.partial(_jitted, hash_args=hash_args, settings=settings, mode=mode, runs_plain=runs_plain)
    return make if given is None else make(given)


def _tell_what_has_no_effect(jit_config: Optional[Mapping[str, Any]], given: Mapping[str, Any]) -> None:
    """Log the arguments and options of MindSpore that have no effect here."""
    named = set(_given_options(jit_config)) - set(known_options(jit_config)) - {RUNS_PLAIN}
    for name in sorted(named | {name for name, value in given.items() if value is not None}):
        log.info("jit: %s has no effect; guards ask for shapes and types", name)


def known_options(jit_config: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The options of `pijit.jit` in a MindSpore configuration."""
    given = _given_options(jit_config)
    return {name: value for name, value in given.items() if name in options.ALL and name not in ("mode", "backend")}


def _given_options(jit_config: Any) -> Mapping[str, Any]:
    """The options of a dict or a `JitConfig`; none for None."""
    return getattr(jit_config, "jit_config_dict", jit_config) or {}


def _jitted(function: Any, hash_args: Any, settings: Dict[str, Any], mode: str,
            runs_plain: Optional[Callable[[Any, Any], Any]] = None) -> Any:
    from pijit.ms.cell import Cell

    if not _switch["on"]:
        return function
    if isinstance(function, Cell):
        function.construct = _jitted(function.construct, hash_args, settings, mode, runs_plain)  # type: ignore
        return function
    if isinstance(function, types.MethodType):
        return types.MethodType(_jitted(function.__func__, hash_args, settings, mode, runs_plain), function.__self__)
    if not isinstance(function, types.FunctionType):
        return pijit.jit(function, None, hash_args, settings, mode)
    key = (mode, repr(sorted(settings.items())), id(hash_args))
    twins = twins_of(function)
    if key not in twins:
        twins[key] = pijit.jit(function, None, hash_args, settings, mode)
    return twins[key] if runs_plain is None else _with_plain_calls(function, twins[key], runs_plain)


def _with_plain_calls(function: types.FunctionType, jitted: Any, runs_plain: Callable[[Any, Any], Any]) -> Any:
    """A function that calls the plain function where ``runs_plain(args, kwargs)`` holds, else the jitted one."""
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (function if runs_plain(args, kwargs) else jitted)(*args, **kwargs)

    return call


def ms_function(fn: Any = None, input_signature: Any = None, hash_args: Any = None, jit_config: Any = None) -> Any:
    """The same as `jit(..., mode="PSJit")`: the function must be one graph.

    Example:
        >>> @ms_function
        ... def f(x, y):
        ...     return x + y
    """
    return jit(fn, "PSJit", input_signature, hash_args, jit_config)


def ms_class(cls: type) -> type:
    """Mark a class that jitted functions use; returns the class.

    Raises:
        TypeError: `cls` is not a class.
    """
    if not isinstance(cls, type):
        raise TypeError("ms_class: cls must be a class; not {!r}".format(cls))
    return cls


jit_class = ms_class


def ms_memory_recycle() -> None:
    """Accepted; Python frees the memory."""


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """The value; values that change between calls need no mark here.

    Raises:
        TypeError: `input_data` is not a number, tensor, list, tuple or dict.
    """
    from pijit.ms.tensor import Tensor

    if not isinstance(input_data, (int, float, Tensor, list, tuple, dict)):
        raise TypeError("mutable: input_data must be a number, Tensor, list, tuple or dict; not {!r}".format(
            input_data))
    return input_data


def constexpr(fn: Any = None, get_instance: bool = True, name: Any = None, reuse_result: bool = True,
              check: bool = True) -> Any:
    """The function; capture detects constants itself."""
    return (lambda function: function) if fn is None else fn


class JitConfig:
    """Options of `jit` as an object; unknown ones are stored without effect."""

    def __init__(self, jit_level: str = "", exc_mode: str = "auto", jit_syntax_level: str = "", **kwargs: Any) -> None:
        self.jit_config_dict = dict(kwargs, **({"jit_syntax_level": jit_syntax_level} if jit_syntax_level else {}))


def get_code_extra(f: Callable[..., Any]) -> Optional[CodeExtra]:
    """The compiler state of a function, see `pijit.get_code_extra`; for a plain function, that of a jitted version."""
    found = extra_of(f)
    function = getattr(f, "__func__", f)
    function = getattr(function, "__wrapped__", function)
    if found is not None or not isinstance(function, types.FunctionType):
        return found
    extras = [extra_of(one) for one in twins_of(function).values()]
    return next((one for one in extras if one is not None), None)


def jit_mode_pi_enable() -> None:
    """Make `jit` compile functions again."""
    _switch["on"] = True


def jit_mode_pi_disable() -> None:
    """Make `jit` return functions unchanged from now on."""
    _switch["on"] = False


def jit_mode_pi_compile(*args: Any, **kwargs: Any) -> bool:
    """Accepted; functions are compiled when they are called."""
    return True


def update_pijit_default_config(**kwargs: Any) -> None:
    """Accepted without effect; each `jit` has its own options."""


class PIJitCaptureContext:
    """Jits the functions that it decorates; as a context manager it has no effect.

    Args:
        fullgraph: make a break an error.
        jit_config: options, as for `jit`.

    Example:
        >>> @PIJitCaptureContext()
        ... def f(x):
        ...     return x * 2
    """

    def __init__(self, fullgraph: bool = False, jit_config: Any = None, input_signature: Any = None) -> None:
        self.fullgraph, self.jit_config, self.input_signature = fullgraph, jit_config, input_signature

    def __call__(self, fn: Any) -> Any:
        """The jitted function."""
        return jit(fn, "PIJit", self.input_signature, None, self.jit_config, fullgraph=self.fullgraph)

    def __enter__(self) -> "PIJitCaptureContext":
        return self

    def __exit__(self, *error: Any) -> None:
        return None
