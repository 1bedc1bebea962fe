"""Runs programs by the batch, one seed each; a program that differs is shrunk and saved as a script."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.programs import programs
from tests.fuzz.reduction import reduced
from tests.fuzz.running import Counts, run, script

PHASES = (Phase.generate, Phase.shrink)
MAX_SHRINKS = 200  # programs that Hypothesis may run to shrink one; what is left to do, `reduced` does


class _Over(BaseException):
    """The time is up. Not an Exception: those are what Hypothesis shrinks."""


class Failure:
    """A program that behaves differently.

    Attributes:
        source: what runs and raises.
        error: what was raised; a TimeoutError if it did not end.
    """

    __slots__ = ("source", "error")

    def __init__(self, source: str, error: BaseException) -> None:
        self.source = source
        self.error = error

    def __str__(self) -> str:
        return "{}: {}\n\n{}".format(type(self.error).__name__, self.error, self.source)


class Campaign:
    """Runs under one configuration, until a point in time.

    Args:
        config: the `jit_config` of each program.
        seconds: how long it may take.
        patience: how many seconds one program may take.
        before: called with each program as a script, before it runs.
        groups: the groups of templates that each program has, besides those that it draws.

    Attributes:
        counts: what ran without a difference.
    """

    def __init__(self, config: Dict[str, Any], seconds: float, patience: float = 300.0,
                 before: Optional[Callable[[str], None]] = None, groups: Sequence[str] = ()) -> None:
        self.counts = Counts()
        self._config = config
        self._end = time.monotonic() + seconds
        self._patience = patience
        self._before = before
        self._groups = tuple(groups)
        self._failures: List[Failure] = []
        self._shrunk: Dict[str, Optional[Exception]] = {}

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self._end

    def batch(self, number: int, count: int) -> Optional[Failure]:
        """Run the `count` programs of a seed, as long as there is time.

        Returns:
            The first that differs, shrunk, as a script; or None.
        """
        del self._failures[:]
        self._shrunk.clear()

        @seed(number)
        @settings(max_examples=count, phases=PHASES, database=None, deadline=None, print_blob=False,
                  report_multiple_bugs=False, suppress_health_check=list(HealthCheck))
        @given(programs(self._groups))
        def each(source: str) -> None:
            self._each(source)

        try:
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                each()
        except _Over:
            pass
        except Exception:
            if not self._failures:
                raise
        return self._reduced(self._failures[-1]) if self._failures else None

    def _reduced(self, failure: Failure) -> Failure:
        """The same failure with fewer lines, as a script."""
        errors = {failure.source: failure.error}

        def fails(source: str) -> bool:
            error = self._error(source, Counts())
            if error is None or _sort(error) != _sort(failure.error):
                return False
            errors[source] = error
            return True

        source = reduced(failure.source, fails)
        return Failure(script(source, self._config), errors[source])

    def _each(self, source: str) -> None:
        if not self._failures:
            if self.over:
                raise _Over
            error = self._error(source, self.counts)
        elif source in self._shrunk:
            error = self._shrunk[source]
        elif len(self._shrunk) < MAX_SHRINKS:
            error = self._shrunk[source] = self._error(source, Counts())
        else:
            error = None
        if error is not None:
            self._failures.append(Failure(source, error))
            self._shrunk[source] = error
            raise error

    def _error(self, source: str, counts: Counts) -> Optional[Exception]:
        """What a program raises, or None."""
        if self._before is not None:
            self._before(script(source, self._config))
        try:
            with _at_most(self._patience), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run(source, self._config, counts)
        except Exception as error:
            return error
        return None


def _sort(error: BaseException) -> Any:
    """What two errors have in common that are one fault: their type, and the kinds of differences."""
    return type(error), [difference.kind for difference in getattr(error, "differences", ())[:1]]


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """A TimeoutError after so many seconds of Python code, and another after each further one: calls take them for what
    the program raises, and the next call may not end either."""
    def ring(number: int, frame: Any) -> None:
        raise TimeoutError("not done after {} seconds".format(seconds))

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
