"""`pijit.info`: statistics of a jitted function.

`pijit` exports it. It must not capture or compile.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Dict, Optional, Tuple

from pijit.core.named_tuples import NamedTuple
from pijit.core.pythons import why_not_python
from pijit.core.reasons import REASONS
from pijit.explain import counts_of, state_of
from pijit.names import count_of
from pijit.plain_functions import unbound


class Info(NamedTuple):
    """Result of `pijit.info`; `str()` shows it line by line.

    Attributes:
        name: the qualified name of the function.
        filename, lineno: its location.
        options: those that differ from their defaults.
        skipped: the reason why the whole function runs as plain Python, with id, title, why, hint; or None.
        hits: number of calls that compiled code served.
        misses: number of calls that matched no compiled code.
        entries: number of compiled variants, and `limit`, their maximum.
        kernels: number of kernels in the newest entry.
        breaks: number of breaks in the newest entry: the instructions that stay bytecode.
        calls: by kernel of the newest entry, how often it ran.
        exits: how often kernels of the newest entry were left early, and re-entered: `exits.exits` has line, kernels,
            operation, why, count, runs, reason_id; `exits.reentries` line, runs, waits; `exits.polls` is how often
            they left for the interpreter, `exits.misses` has line, kernel, count, asked, guard.
        recompiles: why the function was captured again, oldest first.
        failures: errors inside pijit; the function ran despite them.
        callees: the names of the functions that it calls and that are compiled separately.
    """

    name: str
    filename: str
    lineno: int
    options: Dict[str, Any]
    skipped: Optional[Any]
    hits: int
    misses: int
    entries: int
    limit: int
    kernels: int
    breaks: int
    calls: Dict[str, int]
    recompiles: Tuple[str, ...]
    failures: Tuple[str, ...]
    callees: Tuple[str, ...]
    exits: Any

    def __str__(self) -> str:
        lines = ["{} ({}:{})".format(self.name, self.filename, self.lineno)]
        if self.skipped is not None:
            lines.append("runs as plain Python: {} {}".format(self.skipped.id, self.skipped.title))
        lines += ["options: {}".format(self.options or "defaults"),
                  "calls: {} served by compiled code, {} missed".format(self.hits, self.misses),
                  "entries: {} of at most {}".format(self.entries, self.limit),
                  "newest entry: {}, {}".format(count_of(self.kernels, "kernel"), count_of(self.breaks, "break"))]
        lines += ["  {} ran {}".format(name, count_of(count, "time")) for name, count in self.calls.items()]
        lines += ["  kernels left for the interpreter: {}".format(self.exits.polls)] * bool(self.exits.polls)
        for title, items in (*self.exits.lists,
                             ("recompiles", self.recompiles), ("internal errors", self.failures),
                             ("callees compiled on their own", self.callees)):
            lines += [title + ":"] * bool(items) + ["  " + str(item) for item in items]
        return "\n".join(lines)


def info(f: Callable[..., Any]) -> Info:
    """Statistics of a jitted function: calls, entries, kernels, breaks, recompiles.

    Args:
        f: a jitted function or method; on a Python that is not supported, any Python function or method.

    Returns:
        The numbers; print them, or read the attributes.

    Raises:
        TypeError: `f` is not jitted.

    Example:
        >>> info(jit(f)).hits               # doctest: +SKIP
        0
    """
    state = state_of(f)
    if state is None and why_not_python() is not None:
        function = unbound(f)[0]
        if isinstance(function, types.FunctionType):
            return _idle(function)
    if state is None:
        raise TypeError("info: f must be a jitted function or method, not {!r}".format(f))
    code, cache, newest = state.py_func.__code__, state.cache, state.entries[-1:]
    launchers = [launcher for entry in newest for launcher in entry.launchers]
    return Info(
        name=state.py_func.__qualname__, filename=code.co_filename, lineno=code.co_firstlineno,
        options=state.config.changed(), skipped=state.skip, hits=state.counts[0], misses=state.counts[1],
        entries=len(state.entries), limit=cache.limit, kernels=len(launchers),
        breaks=sum(len(entry.reports.breaks) for entry in newest),
        calls={launcher.name: launcher.calls for launcher in launchers}, recompiles=tuple(state.recompiles),
        failures=tuple(state.failures), callees=tuple(callee.py_func.__qualname__ for entry in newest
                                                      for callee in entry.callees), exits=counts_of(newest))


def _idle(function: types.FunctionType) -> Info:
    """The information on a function if this Python is not supported."""
    code = function.__code__
    return Info(name=function.__qualname__, filename=code.co_filename, lineno=code.co_firstlineno, options={},
                skipped=REASONS["PJ105"], hits=0, misses=0, entries=0, limit=0, kernels=0, breaks=0, calls={},
                recompiles=(), failures=(), callees=(), exits=counts_of(()))
