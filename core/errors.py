"""Exceptions of a capture: a break (expected), an internal error (a fault of pijit).

An internal error never reaches the user: the original function runs, and one log line reports the error. Under the
strict switch, which the test suite turns on, it is raised instead.
"""

from __future__ import annotations

import linecache
import logging
import sys
from typing import Any, Dict, List, Sequence, Set, Tuple

from pijit.core.named_tuples import NamedTuple
from pijit.core.reasons import REASONS

logger = logging.getLogger("pijit")

_strict = False
_logged: Set[Tuple[str, str]] = set()


class CauseStep(NamedTuple):
    """A line of a function that was not inlined because of a construct on that line, or in a function called there."""

    filename: str
    lineno: int
    name: str
    reason_id: str


def place(line: int, filename: str) -> str:
    """A line, with its file unless ``filename`` is ""."""
    return "%s:%d" % (filename, line) if filename else "line %d" % line


class Break(Exception):
    """An instruction that stays bytecode, with the id of the reason and the facts for its message.

    ``trail`` leads from a call that is not inlined to the construct that prevents it, outermost first. ``passing`` says
    that the first run may remove the break: an item is missing. ``leaves`` says that kernels may leave for it from
    inlined callees. ``raises`` says that the instruction certainly raises, so that no later one is reached.
    """

    passing = False
    leaves = False
    raises = False

    def __init__(self, reason_id: str, **facts: Any) -> None:
        super().__init__(reason_id, facts)
        self.reason_id = reason_id
        self.facts: Dict[str, Any] = facts
        self.trail: Tuple[CauseStep, ...] = ()

    def copy(self) -> "Break":
        """The same break, to be raised again."""
        again = Break(self.reason_id, **self.facts)
        again.trail, again.passing, again.raises = self.trail, self.passing, self.raises
        return again

    def without_frames(self) -> "Break":
        """The break itself, without references to the frames that raised it, since they hold the user's values."""
        self.__traceback__ = self.__context__ = None
        return self


class FullGraphError(RuntimeError):
    """A function that must be one graph has breaks, or is not captured at all.

    Attributes:
        name: the qualified name of the function.
        because: why it must be one graph: "fullgraph is set".
        breaks: a report per break, with reason_id, message, hint, filename, lineno, opname, trail. Breaks that follow
            from others are left out.
    """

    def __init__(self, name: str, breaks: Sequence[Any], because: str = "fullgraph is set") -> None:
        super().__init__(name, breaks, because)
        self.name = name
        self.because = because
        self.breaks = tuple([one for one in breaks if one.reason_id != "PJ218"] or breaks)

    def __str__(self) -> str:
        lines = ["%s, but not all of %s can be captured:" % (self.because, self.name)]
        for report in self.breaks:
            lines.append("  %s:%d: %s" % (report.filename, report.lineno, report.message))
            lines += _source_line(report.filename, report.lineno)
            for step in report.trail:
                lines.append("  %s:%d, in %s" % step[:3])
                lines += _source_line(step.filename, step.lineno)
            hint = REASONS[report.trail[-1].reason_id].hint if report.trail else report.hint
            lines.append("    hint: %s" % hint)
        return "\n".join(lines)


def _source_line(filename: str, lineno: int) -> List[str]:
    text = linecache.getline(filename, lineno).strip()
    return ["    " + text] if text else []


class RecompileError(RuntimeError):
    """A function would be captured again under the stance "error_on_recompile".

    Attributes:
        name: the qualified name of the function.
        reason: why, with the guard that failed.
        filename, lineno: the location of the function.
    """

    def __init__(self, name: str, reason: str, filename: str, lineno: int) -> None:
        super().__init__(name, reason, filename, lineno)
        self.name, self.reason, self.filename, self.lineno = name, reason, filename, lineno

    def __str__(self) -> str:
        return "%s (%s:%d) would be captured again: %s" % (self.name, self.filename, self.lineno, self.reason)


class LinkError(Exception):
    """The rewritten code object of a capture is wrong."""


class InternalError(Exception):
    """A fault of pijit itself; raised only under the strict switch."""


def set_strict(on: bool) -> bool:
    """Raise internal errors instead of logging them; returns the previous setting."""
    global _strict
    previous, _strict = _strict, on
    return previous


def is_strict() -> bool:
    """Whether internal errors are raised."""
    return _strict


def report_internal(reason_id: str, name: str, error: BaseException) -> None:
    """Log an internal error once per reason and function, or raise it when strict."""
    if _strict:
        raise InternalError("%s in %s: %r" % (reason_id, name, error)) from error
    if (reason_id, name) not in _logged:
        _logged.add((reason_id, name))
        logger.error("%s: %s: %s: %s; the original function runs", reason_id, name, type(error).__name__,
                     first_line(error))
        logger.debug("%s: %s", reason_id, name, exc_info=error)


def first_line(error: BaseException) -> str:
    """The first line of an exception's message, or its type's name."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def users_level() -> int:
    """The `stacklevel` with which the caller's warnings point at the code that called pijit."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).split(".")[0] == "pijit":
        frame, level = frame.f_back, level + 1
    return level
