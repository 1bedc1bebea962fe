"""The loggers, one per subject, and the settings that make them visible.

By default nothing is shown. `set_logs`, the environment variable PIJIT_LOGS, and the options `log_graph_break` and
`log_recompile` show lines. So do handlers that a program adds to the logger `pijit` or one below it.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Iterable, List

from pijit.installed import is_installed
from pijit.names import closest

SUBJECTS = {
    "breaks": "a line per instruction that stays bytecode: file and line, function, reason, hint",
    "recompiles": "a line per function that is captured again: the guard that failed, what it expected and found",
    "guards": "what must hold for each entry, kernel and re-entry",
    "bytecode": "the bytecode before capture and after linking",
    "segments": "how each function was split, and the reason where a segment stays bytecode",
    "source": "the source that becomes machine code",
    "cache": "which kernels are not kept on disk or not read from there, and why",
    "exits": "when the program ends or a function is reset: how often kernels were left in the middle, and why",
    "time": "how long each capture took, phase by phase, and each kernel",
}
"""The subjects that PIJIT_LOGS and `set_logs` accept, and their content; the logger is `pijit.<subject>`."""

LIBRARIES = "libraries"
"""A word beside the subjects: also show their lines for functions of installed libraries."""

WORDS = dict(SUBJECTS, **{LIBRARIES: "beside others: functions of installed libraries too"})
"""The words that PIJIT_LOGS and `set_logs` accept, except "help", each with its line of help."""

logging.getLogger("pijit").addHandler(logging.NullHandler())


class _StderrHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to the current sys.stderr, so that a captured stderr captures logs, too."""

    def __init__(self, subject: str) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("pijit {}: %(message)s".format(subject)))

    @property
    def stream(self) -> object:
        return sys.stderr

    @stream.setter
    def stream(self, value: object) -> None:
        """Ignore the assignment that the base class makes once."""


def logger(subject: str) -> logging.Logger:
    """The logger of a subject."""
    return logging.getLogger("pijit." + subject)


def show(subject: str, level: int = logging.DEBUG) -> None:
    """Write the lines of a subject to stderr, from this level on.

    Args:
        subject: one of `SUBJECTS`.
        level: a level of the logging module; a further call can only lower it.
    """
    log = logger(subject)
    if log.level == logging.NOTSET or level < log.level:
        log.setLevel(level)
    if not any(isinstance(handler, _StderrHandler) for handler in log.handlers):
        log.addHandler(_StderrHandler(subject))


def set_logs(*subjects: str) -> None:
    """Show the lines of these subjects on stderr, and hide those of all others.

    Args:
        *subjects: names, or several in one string separated by commas, as in PIJIT_LOGS; "libraries" adds the lines
            for functions of installed libraries; "help" prints the accepted words. Without arguments, everything is
            hidden. Options such as `log_graph_break` apply again to functions that are jitted later.

    Raises:
        TypeError: a subject is not a string.
        ValueError: a subject is not known; the message names the closest. Nothing is changed then.

    Example:
        >>> set_logs("breaks", "recompiles")
        >>> set_logs()
    """
    global _libraries
    for subject in subjects:
        if not isinstance(subject, str):
            raise TypeError("set_logs: subjects must be strings, of {}; not {!r}".format(
                ", ".join(map(repr, WORDS)), subject))
    names = _names(",".join(subjects), "set_logs: each subject")
    _libraries = False
    for subject in SUBJECTS:
        _hide(subject)
    _show_all(names)


def read_environment() -> None:
    """Show the subjects that PIJIT_LOGS names (comma-separated); read again whenever the variable changes.

    Raises:
        ValueError: an unknown subject.
    """
    global _read
    text = os.environ.get("PIJIT_LOGS", "")
    if text != _read:
        _show_all(_names(text, "PIJIT_LOGS: each subject"))
        _read = text


def leaves_out(filename: str, log: logging.Logger, level: int) -> bool:
    """Whether lines for functions of a file are hidden; the first time, a log line says so.

    Args:
        filename: that of the function's code.
        log, level: the logger and the level of such a line.
    """
    global _told
    if _libraries or not is_installed(filename):
        return False
    if not _told:
        _told = True
        log.log(level, "functions of installed libraries are left out; the word %r shows them", LIBRARIES)
    return True


_read = ""
_libraries = _told = False


def _names(text: str, what: str) -> List[str]:
    names = [item.strip() for item in text.split(",") if item.strip()]
    for name in names:
        if name not in WORDS and name != "help":
            raise ValueError("{} must be {}".format(what, closest(name, [*WORDS, "help"])))
    return names


def _show_all(names: Iterable[str]) -> None:
    global _libraries
    for name in names:
        if name == "help":
            sys.stderr.write(help_text())
        elif name == LIBRARIES:
            _libraries = True
        else:
            show(name)


def _hide(subject: str) -> None:
    log = logger(subject)
    shown = [handler for handler in log.handlers if isinstance(handler, _StderrHandler)]
    if shown:
        log.setLevel(logging.NOTSET)
    for handler in shown:
        log.removeHandler(handler)


def help_text() -> str:
    """The words that PIJIT_LOGS accepts, one per line."""
    width = max(map(len, WORDS))
    lines = ["PIJIT_LOGS=a,b or pijit.set_logs(\"a\", \"b\") shows on stderr:"]
    lines += ["  {:{}}  {}".format(name, width, text) for name, text in WORDS.items()]
    return "\n".join(lines) + "\n"
