"""What `jit` returns: the C type JitFunction, with the methods that users see.

The C type calls, binds and copies; this class adds no `__call__`, so that calling costs nothing more.
"""

from __future__ import annotations

import sys
import types
from typing import Any, List, NamedTuple, Type

from pijit.checking import Checker
from pijit.core import pipeline, preview
from pijit.core._hook import JitFunction
from pijit.differential import checked_call, plain_twin
from pijit.explain import explain
from pijit.hashed import watch_of
from pijit.options import Options
from pijit.reporting import printing
from pijit.reporting.report import Report


class CacheInfo(NamedTuple):
    """How the entry cache of a function has served, with the names of `functools.lru_cache`."""

    hits: int
    misses: int
    maxsize: int
    currsize: int


_SUSPENDED = ("PJ101", "PJ102", "PJ103")
"""Why functions are not captured that are no functions to those who call them, and have to look so."""


class Jitted(JitFunction):
    """A jitted function. It looks, binds and pickles like the function; `py_func` is the function itself.

    Args:
        py_func: the function.
        options: its options.
    """

    def __init__(self, py_func: types.FunctionType, options: Options) -> None:
        shower = printing.shower(options, py_func.__code__.co_filename)
        state = pipeline.attach(py_func, Options(options.changed(), shower))
        super().__init__(state.function, state)
        self.__dict__["__wrapped__"] = py_func

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """That of a function for a generator or coroutine function, as which `inspect` and `asyncio` then know it."""
        skip = self.state.skip
        return type(self) if skip is None or skip.id not in _SUSPENDED else types.FunctionType

    @property
    def py_func(self) -> types.FunctionType:
        """The function itself."""
        return self.state.py_func  # type: ignore[no-any-return]

    @property
    def config(self) -> Options:
        """The options."""
        return self.state.config  # type: ignore[no-any-return]

    @property
    def graphs(self) -> List[Any]:
        """The reports of the segments that became kernels, over all entries, oldest first."""
        segments = [segment for entry in self.state.entries for segment in entry.segments]
        return [segment for segment in segments if segment.kind == "kernel"]

    def __dir__(self) -> List[str]:
        """Its own attributes and those of the function."""
        return sorted({*super().__dir__(), *dir(self.state.function)})

    def cache_info(self) -> CacheInfo:
        """Hits and misses of the entry cache, the limit, and the number of entries."""
        cache, (hits, misses) = self.state.cache, self.state.counts
        return CacheInfo(hits, misses, cache.limit, len(cache))

    def cache_clear(self) -> None:
        """Forget every entry; the next call captures again."""
        self.state.clear()
        self.forget_linked()

    def explain(self, *args: Any, **kwargs: Any) -> Report:
        """The same as `pijit.explain(f, *args, **kwargs)`."""
        return explain(self, *args, **kwargs)

    def __reduce__(self) -> Any:
        """By name where that leads to this object, otherwise the function and the options.

        cloudpickle sends what is in `__main__` by value, because another process has another `__main__`.
        """
        reduced = super().__reduce__()
        by_value = self.__module__ == "__main__" and _is_cloudpickle(sys._getframe(1))
        if isinstance(reduced, str) and not by_value:
            return reduced
        from pijit.decorator import rebuild

        return rebuild, (self.py_func, self.config.changed()), dict(self.__dict__)


def _is_cloudpickle(frame: types.FrameType) -> bool:
    """Whether the pickler that runs in this frame is cloudpickle's: the only way to tell from __reduce__."""
    pickler = type(frame.f_locals.get("self"))
    return any(kind.__module__.split(".")[0] == "cloudpickle" for kind in pickler.__mro__)


class Watched(Jitted):
    """A jitted function with an `input_signature`, which each call has to fit, or with `hash_args`."""

    __slots__ = ("_checker",)
    plain_inside = True
    """Calls from compiled code are compiled as if the function were not decorated."""

    def __init__(self, py_func: types.FunctionType, options: Options) -> None:
        super().__init__(py_func, options)
        self._checker = None if options.input_signature is None else Checker(py_func, options.input_signature)
        before = None if options.hash_args is None else watch_of(options.hash_args, self.state.forget)
        self.watch(before, self._checker.accepted if self._checker is not None else None, self._checker)
        example = self._checker.example() if self._checker is not None else None
        if example is not None and self.state.skip is None:
            preview.prepare(self.state, *example)


class Checked(Jitted):
    """A jitted function each call of which is compared with a plain one (the option `check`)."""

    def __init__(self, py_func: types.FunctionType, options: Options) -> None:
        super().__init__(py_func, options)
        self._plain = plain_twin(py_func)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call both; see `pijit.differential.checked_call`."""
        return checked_call(self.py_func, self._plain, super().__call__, args, kwargs)  # type: ignore[arg-type]


class CheckedWatched(Watched, Checked):
    """Both: first the signature, then the comparison."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Check, and then compare."""
        if self._checker is not None:
            self._checker(args, kwargs)
        return super().__call__(*args, **kwargs)


class _Doc:
    """The docstring of a class, and that of the function for its instances: `help` asks `object.__getattribute__`."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def __get__(self, jitted: Any, owner: Any = None) -> Any:
        return self._own if jitted is None else jitted.state.function.__doc__

    def __set__(self, jitted: Any, value: Any) -> None:
        jitted.state.function.__doc__ = value


for _kind in (Jitted, Watched, Checked, CheckedWatched):
    _kind.__doc__ = _Doc(_kind.__doc__)  # type: ignore[assignment]


def jitted_class(options: Options) -> Type[Jitted]:
    """The class of jitted functions with these options."""
    watched = options.input_signature is not None or options.hash_args is not None
    return {(False, False): Jitted, (True, False): Watched, (False, True): Checked,
            (True, True): CheckedWatched}[watched, options.check]
