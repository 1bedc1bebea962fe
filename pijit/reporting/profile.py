"""`pijit.profile`: where the time of jitted functions goes.

Nothing is measured while no profile is on. `pijit.explain` shows the newest profile beside the lines of a function.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Callable, Optional, Tuple

from pijit.core.kernel import fork_safety
from pijit.core.profiling.records import FunctionProfile
from pijit.core.pythons import why_not_python
from pijit.names import count_of
from pijit.plain_functions import unbound

if TYPE_CHECKING:
    from pijit.core.profiling.collection import ProfileStart


class Profile:
    """Result of `pijit.profile`: times and counts of calls and kernels; `str()` shows them as a table.

    It collects between `start` and `stop`, or inside a `with` statement, on all threads. It can be read meanwhile.
    A second `start` begins a new measurement.

    Attributes:
        functions: profiles of the functions that were called, the hottest first, with name, filename, line, calls,
            bytecode and compiling (seconds), kernels, in_kernels, seconds, exits. A kernel has name, first, last
            (lines), runs, timed (runs that were timed), seconds, bytes_in, bytes_out. The exits are those of
            `pijit.info`.
        seconds: the time of all calls, over all threads: `in_kernels`, `in_bytecode` and `in_compiler`.
    """

    __slots__ = ("_only", "_start", "_taken")

    def __init__(self, only: Tuple[Any, ...] = ()) -> None:
        self._only = only
        self._start: Optional[ProfileStart] = None
        self._taken: Tuple[FunctionProfile, ...] = ()

    @property
    def is_on(self) -> bool:
        """Whether it collects now."""
        return self._start is not None

    def start(self) -> None:
        """Begin to collect. Raises RuntimeError if it does already."""
        with fork_safety.counting:
            if self.is_on:
                raise RuntimeError("profile: it is on already")
            _Newest.profile = self
            self._taken = ()
            if why_not_python() is None:
                from pijit.core.profiling.collection import begin

                self._start = begin()

    def stop(self) -> None:
        """Collect no more; nothing happens if it does not collect."""
        with fork_safety.counting:
            if self._start is not None:
                from pijit.core.profiling.collection import end

                self._taken, self._start = self.functions, None
                end()

    def __enter__(self) -> "Profile":
        self.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.stop()

    @property
    def functions(self) -> Tuple[FunctionProfile, ...]:
        """The profiles of functions so far."""
        with fork_safety.counting:
            if self._start is None:
                return self._taken
            from pijit.core.profiling.collection import profiles_since

            return tuple(one for one in profiles_since(self._start) if not self._only or one[:3] in self._only)

    @property
    def in_kernels(self) -> float:
        """Seconds in kernels."""
        return sum(one.in_kernels for one in self.functions)

    @property
    def in_bytecode(self) -> float:
        """Seconds in bytecode, and in the functions that it calls."""
        return sum(one.bytecode for one in self.functions)

    @property
    def in_compiler(self) -> float:
        """Seconds in which calls were captured and compiled."""
        return sum(one.compiling for one in self.functions)

    @property
    def seconds(self) -> float:
        """Seconds in calls."""
        return sum(one.seconds for one in self.functions)

    def of(self, name: str, filename: str, line: int) -> FunctionProfile:
        """The profile of the functions with this definition; without calls if there were none."""
        return next((one for one in self.functions if one[:3] == (name, filename, line)),
                    FunctionProfile(name, filename, line))

    def __str__(self) -> str:
        from pijit.reporting.profile_table import profile_text

        refusal = why_not_python()
        return profile_text(self) if refusal is None else "profile: nothing was measured: {}".format(refusal)

    def __repr__(self) -> str:
        return "<profile of {}, {}>".format(count_of(len(self.functions), "function"), "on" if self.is_on else "off")


class _Newest:
    """The profile that was started last."""

    profile: Optional[Profile] = None


def newest() -> Profile:
    """The profile that was started last. Raises ValueError if there is none."""
    if _Newest.profile is None:
        raise ValueError("explain: profile=True shows a profile, and there is none; run the calls in "
                         "`with pijit.profile():` first")
    return _Newest.profile


def profile(*functions: Callable[..., Any]) -> Profile:
    """Measure where the time of jitted functions goes: how long in which kernels, and how long in bytecode.

    In a `with` statement it measures all calls of the block, on all threads. `start()` and `stop()` do the same without
    a block. `pijit.explain(f, profile=True)` then shows the newest profile beside the lines of `f`.

    Args:
        functions: the functions to show, jitted or not; without arguments all that are called.

    Returns:
        The profile; print it, or read its attributes.

    Raises:
        TypeError: one of `functions` is not a Python function or a jitted one.

    Example:
        >>> with pijit.profile() as profile:
        ...     f(x)                        # doctest: +SKIP
        >>> print(profile)                  # doctest: +SKIP
    """
    places = []
    for position, one in enumerate(functions):
        function = unbound(one)[0]
        function = getattr(function, "py_func", function)
        if not isinstance(function, types.FunctionType):
            raise TypeError("profile: functions[{}] must be a Python function or a jitted one, not {!r}".format(
                position, one))
        code = function.__code__
        places.append((function.__qualname__, code.co_filename, code.co_firstlineno))
    return Profile(tuple(places))
