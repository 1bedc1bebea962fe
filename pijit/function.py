"""Jitted functions: the Python subclasses of the C type JitFunction, with the methods that users see.

The C type calls, binds and copies. `Jitted` defines no `__call__`, so that calls have no extra cost.
"""

from __future__ import annotations

import sys
import types
from typing import Any, List, Type

from pijit.checking import Checker
from pijit.compare import TOLERANCES
from pijit.core import function_state, preview
from pijit.core._hook import JitFunction
from pijit.core.named_tuples import NamedTuple
from pijit.differential import checked_call
from pijit.explain import explain
from pijit.hashed import watch_of
from pijit.options import Options
from pijit.plain_functions import plain_twin
from pijit.reporting import printing
from pijit.reporting.report import Report


class CacheInfo(NamedTuple):
    """Statistics of the entry cache of a function, with the names of `functools.lru_cache`."""

    hits: int
    misses: int
    maxsize: int
    currsize: int


_SUSPENDED = ("PJ101", "PJ102", "PJ103")
"""Skip reasons of generator and coroutine functions, which `inspect` must still recognise as such."""


class Jitted(JitFunction):
    """A jitted function. It looks, binds and pickles like the function; `py_func` is the function itself.

    Args:
        py_func: the function.
        options: its options.
    """

    def __init__(self, py_func: types.FunctionType, options: Options) -> None:
        shower = printing.shower(options, py_func.__code__.co_filename)
        state = function_state.attach(py_func, Options(options.changed(), shower))
        super().__init__(state.function, state)
        self.__dict__["__wrapped__"] = py_func

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """`types.FunctionType` for generator and coroutine functions, so that `inspect` and `asyncio` know them."""
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
        segments = [segment for entry in self.state.entries for segment in entry.reports.segments]
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
        """Pickle by name if the name leads to this object, otherwise by function and options.

        cloudpickle pickles objects of `__main__` by value, because another process has another `__main__`.
        """
        reduced = super().__reduce__()
        by_value = self.__module__ == "__main__" and _is_cloudpickle(sys._getframe(1))
        if isinstance(reduced, str) and not by_value:
            return reduced
        from pijit.decorator import rebuild

        return rebuild, (self.py_func, self.config.changed()), dict(self.__dict__)


def _is_cloudpickle(frame: types.FrameType) -> bool:
    """Whether cloudpickle's pickler runs in this frame; __reduce__ has no other way to detect it."""
    pickler = type(frame.f_locals.get("self"))
    return any(kind.__module__.split(".")[0] == "cloudpickle" for kind in pickler.__mro__)


class Watched(Jitted):
    """A jitted function with an `input_signature` that each call must match, or with `hash_args`."""

    __slots__ = ("_checker",)
    plain_inside = True
    """Compiled code that calls the function compiles it as if it were not decorated."""

    def __init__(self, py_func: types.FunctionType, options: Options) -> None:
        super().__init__(py_func, options)
        self._checker = None if options.input_signature is None else Checker(py_func, options.input_signature)
        before = None if options.hash_args is None else watch_of(options.hash_args, self.state.forget)
        self.watch(before, self._checker.accepted if self._checker is not None else None, self._checker)
        example = self._checker.example() if self._checker is not None else None
        if example is not None and self.state.skip is None:
            preview.prepare(self.state, *example)


class Checked(Jitted):
    """A jitted function whose calls are compared with plain ones (the option `check`)."""

    def __init__(self, py_func: types.FunctionType, options: Options) -> None:
        super().__init__(py_func, options)
        self._plain = plain_twin(py_func)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call both; see `pijit.differential.checked_call`."""
        tolerance = TOLERANCES[self.state.config.auto_mixed_precision]
        return checked_call(self.py_func, self._plain, super().__call__, args, kwargs,  # type: ignore[arg-type]
                            tolerance)


class CheckedWatched(Watched, Checked):
    """Both: each call is first checked against the signature, then compared."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Check, and then compare."""
        if self._checker is not None:
            self._checker(args, kwargs)
        return super().__call__(*args, **kwargs)


class _Doc:
    """Docstring descriptor: of the class for the class, of the function for instances.

    `help` asks `object.__getattribute__`.
    """

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
