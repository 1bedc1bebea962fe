"""Run-time switches: `disable` (for a function or a block), `stance` (for the process), and `reset`.

`pijit` exports them. They must not capture or compile.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any, Callable, List, TypeVar

from pijit.core.pythons import why_not_python
from pijit.names import closest

STANCES = ("default", "python", "run_only", "error_on_recompile")

F = TypeVar("F", bound=Callable[..., Any])

_KINDS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, staticmethod, classmethod)
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_ACCEPTED = "a function, a method, or a staticmethod or classmethod object"


class _Switch:
    """A context manager that also wraps functions, so that their calls run inside it."""

    __slots__ = ()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exception: Any) -> None:
        raise NotImplementedError

    def __call__(self, fn: F) -> F:
        return _inside(self, fn, type(self).__name__.strip("_").lower())  # type: ignore[no-any-return]


def _inside(switch: _Switch, fn: Any, name: str) -> Any:
    """A wrapper whose calls run inside a switch."""
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(_inside(switch, fn.__func__, name))
    if not (isinstance(fn, _KINDS) or hasattr(fn, "py_func")):
        raise TypeError("{}: fn must be {}; not {!r}".format(name, _ACCEPTED, fn))
    code = getattr(fn, "__code__", None)
    if code is not None and code.co_flags & _SUSPENDED:
        raise TypeError("{}: fn must not be a generator or coroutine function, whose body runs after the call; "
                        "not {!r}".format(name, fn))

    @functools.wraps(fn)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with switch:
            return fn(*args, **kwargs)

    return inside


class _Disable(_Switch):
    __slots__ = ()

    def __enter__(self) -> None:
        if why_not_python() is None:
            from pijit.core import _hook

            _hook.disable()

    def __exit__(self, *exception: Any) -> None:
        if why_not_python() is None:
            from pijit.core import _hook

            _hook.enable()


def disable(fn: Any = None) -> Any:
    """Run a function or a block, and everything it calls, without pijit.

    As a decorator (`@pijit.disable` or `@pijit.disable()`): calls of the function run as plain Python. A call from a
    jitted function is a break. As a context manager (`with pijit.disable():`): the same for all calls that this thread
    makes inside the block. A call that is already running compiled code stays there.

    Args:
        fn: the function, jitted or not; also a method, a staticmethod or a classmethod object.

    Returns:
        The function to use in place of `fn`; without `fn` a reusable object for `with` and `@`.

    Raises:
        TypeError: `fn` is something else, or a generator or coroutine function.

    Example:
        >>> with pijit.disable():
        ...     f(x)                        # doctest: +SKIP
    """
    return _Disable() if fn is None else _Disable()(fn)


class Stance(_Switch):
    """Result of `pijit.stance`; in a `with` statement the stance applies until the end of the block.

    Attributes:
        name: the stance.
        previous: the stance before it.
    """

    __slots__ = ("name", "previous")

    def __init__(self, name: str) -> None:
        self.name = name
        self.previous = _take(name)

    def __enter__(self) -> "Stance":
        _take(self.name)
        return self

    def __exit__(self, *exception: Any) -> None:
        _take(self.previous)

    def __call__(self, fn: F) -> F:
        """Apply the stance only during calls of a function."""
        self.__exit__()
        return _inside(_Taken(self.name), fn, "stance")  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return "stance({!r})".format(self.name)


class _Taken(_Switch):
    """A stance that applies during a call; calls may nest."""

    __slots__ = ("_name", "_before")

    def __init__(self, name: str) -> None:
        self._name = name
        self._before: List[str] = []

    def __enter__(self) -> None:
        self._before.append(_take(self._name))

    def __exit__(self, *exception: Any) -> None:
        _take(self._before.pop())


def _take(name: str) -> str:
    """Set the stance; returns the previous one."""
    if why_not_python() is not None:
        return "default"
    from pijit.core import stance as process

    return process.take(name)


def stance(name: str) -> Stance:
    """Set what calls of jitted functions do, for all functions and threads.

    - `"default"`: capture, compile, run compiled code.
    - `"python"`: run as plain Python.
    - `"run_only"`: run existing compiled code, otherwise plain Python; nothing is compiled.
    - `"error_on_recompile"`: raise `RecompileError` if a failed guard would cause another capture.

    It applies from this call on; with `with`, until the end of the block; as a decorator, in calls of the function.

    Args:
        name: one of the above.

    Returns:
        An object for `with` and `@`, with `name` and `previous`.

    Raises:
        TypeError: `name` is not a string.
        ValueError: `name` is no stance; the message names the closest.

    Example:
        >>> with pijit.stance("python"):
        ...     f(x)                        # doctest: +SKIP
    """
    if not isinstance(name, str):
        raise TypeError("stance: name must be a str, one of {}; not {!r}".format(", ".join(map(repr, STANCES)), name))
    if name not in STANCES:
        raise ValueError("stance: name must be {}".format(closest(name, STANCES)))
    return Stance(name)


def reset() -> None:
    """Drop all compiled code and everything recorded about calls, for every function of the process.

    The next call of each function counts as its first. Options, the stance, the context and the logs are kept.

    Example:
        >>> reset()
    """
    function_state = sys.modules.get("pijit.core.function_state")  # not imported before something is jitted
    if function_state is not None:
        function_state.reset()
