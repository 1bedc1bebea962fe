"""The loggers, one per subject, and what makes them visible.

Nothing is shown unless asked for: by the environment variable PIJIT_LOGS, by the options `log_graph_break`
    and `log_recompile`, or by handlers that a program adds itself to the logger `pijit` or one below it.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings

SUBJECTS = ("breaks", "recompiles", "guards", "bytecode", "segments", "source", "time")
"""What PIJIT_LOGS accepts; the logger of a subject is `pijit.<subject>`."""

logging.getLogger("pijit").addHandler(logging.NullHandler())


class _StderrHandler(logging.StreamHandler):
    """Writes to whatever sys.stderr is at that moment, so that a captured stderr captures logs too."""

    def __init__(self, subject: str) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("pijit {}: %(message)s".format(subject)))

    @property
    def stream(self) -> object:
        return sys.stderr

    @stream.setter
    def stream(self, value: object) -> None:
        """The base class sets it once; there is nothing to keep."""


def logger(subject: str) -> logging.Logger:
    """The logger of a subject."""
    return logging.getLogger("pijit." + subject)


def show(subject: str, level: int = logging.DEBUG) -> None:
    """Write the lines of a subject to stderr, from this level on.

    Args:
        subject: one of `SUBJECTS`.
        level: a level of the logging module; calling again can only lower it.
    """
    log = logger(subject)
    if log.level == logging.NOTSET or level < log.level:
        log.setLevel(level)
    if not any(isinstance(handler, _StderrHandler) for handler in log.handlers):
        log.addHandler(_StderrHandler(subject))


def read_environment() -> None:
    """Show the subjects that PIJIT_LOGS names (comma-separated); an unknown one warns."""
    for subject in filter(None, (item.strip() for item in os.environ.get("PIJIT_LOGS", "").split(","))):
        if subject in SUBJECTS:
            show(subject)
        else:
            message = "PIJIT_LOGS: unknown subject {!r}; known are {}".format(subject, ", ".join(SUBJECTS))
            warnings.warn(message, UserWarning, stacklevel=4)
