"""Shows captures to the user: prints the parts that the options request, and logs breaks and recompiles.

The compiler does not import this file. It calls `options.on_capture(record)` once per capture. The record has the
function's `name`, its `filename`, one text per row of `PARTS`, and the break reports (`breaks`). `recompile` is the
reason for another capture, "" for the first one.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, Callable, Iterator, Optional, Tuple

from pijit import logs
from pijit.core.named_tuples import NamedTuple
from pijit.options import Options


class ReportPart(NamedTuple):
    """A part of a capture: the record's attribute, its heading, and the option and log subject that request it."""

    attribute: str
    heading: str
    key: Optional[str]
    subject: Optional[str]


PARTS = (
    ReportPart("bytecode", "Bytecode before capture", "print_bytecode", "bytecode"),
    ReportPart("blocks", "Basic blocks", "print_cfg", None),
    ReportPart("graph", "Captured graph", "print_graph", None),
    ReportPart("uses", "Use and definition", "print_graph", None),
    ReportPart("segments", "Segments and breaks", "print_graph", "segments"),
    ReportPart("passes", "Graph passes", None, None),
    ReportPart("plan", "Kernel plan", None, None),
    ReportPart("source", "Kernel source", "print_source", "source"),
    ReportPart("linked", "Bytecode after linking", "print_bytecode", "bytecode"),
    ReportPart("guards", "Guards", "print_guards", "guards"),
    ReportPart("times", "Times", None, "time"),
)


def asked_parts(options: Options) -> Tuple[ReportPart, ...]:
    """The parts that the options request to print."""
    return tuple(part for part in PARTS
                 if options.print_after_all or (part.key is not None and getattr(options, part.key)))


def section(part: ReportPart, record: Any) -> str:
    """A part of a record under its heading."""
    text = getattr(record, part.attribute).rstrip("\n") or "(none)"
    return "*** {}: {} ***\n{}\n".format(part.heading, record.name, text)


LogLine = Tuple[str, int, str]
"""Subject, level and text of a log line."""


def show(options: Options, record: Any, own_file: str = "") -> None:
    """Print and log the requested parts of one capture.

    Args:
        options: those of the jitted function.
        record: the capture of that function, or of one that it calls.
        own_file: the file of the jitted function. Its options request lines of this file even in a library.
    """
    for part in asked_parts(options) if sys.stdout is not None else ():
        sys.stdout.write(section(part, record) + "\n")
    for subject, level, text in _lines(options, record):
        asked = level > logging.DEBUG and record.filename == own_file
        if not asked and logs.leaves_out(record.filename, logs.logger(subject), level):
            return
        logs.logger(subject).log(level, text)


def _lines(options: Options, record: Any) -> Iterator[LogLine]:
    """The log lines of a capture, for the loggers that are enabled."""
    for part in PARTS:
        if part.subject is not None and logs.logger(part.subject).isEnabledFor(logging.DEBUG):
            yield part.subject, logging.DEBUG, section(part, record)
    level = _level(options.log_graph_break)
    if logs.logger("breaks").isEnabledFor(level):
        for report in record.breaks:
            yield "breaks", level, break_line(record.name, report)
    level = _level(options.log_recompile)
    if record.recompile and logs.logger("recompiles").isEnabledFor(level):
        yield "recompiles", level, "{}: {}".format(record.name, record.recompile)


def _level(asked: bool) -> int:
    """Lines that a function's options request have a higher level than those that PIJIT_LOGS requests."""
    return logging.INFO if asked else logging.DEBUG


def break_line(name: str, report: Any) -> str:
    """The line that the log shows for a break."""
    return "{}:{}: {}: {}. {}".format(report.filename, report.lineno, name, report.message, report.hint)


def shower(options: Options, own_file: str = "") -> Callable[[Any], None]:
    """The callback for `Options.on_capture`; enables the loggers that the options request.

    `own_file` is the file of the jitted function, see `show`.
    """
    if options.log_graph_break:
        logs.show("breaks", logging.INFO)
    if options.log_recompile:
        logs.show("recompiles", logging.INFO)

    def on_capture(record: Any) -> None:
        show(options, record, own_file)

    return on_capture
