"""`Report`, the result of `pijit.explain`: available as text, HTML and picture.

`pijit.explain` makes it. It must not capture: it reads records.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from pijit.core.capture_records import ExitCounts
from pijit.core.errors import place
from pijit.core.named_tuples import NamedTuple
from pijit.names import count_of

PLAIN = "py"
"""Mark of a line that stays bytecode."""


class Line(NamedTuple):
    """A line of the source: number, mark of its kernels, text, notes, and the time of the kernels that begin there."""

    number: int
    mark: str
    text: str
    notes: Tuple[str, ...]
    time: str = ""

    @property
    def before(self) -> str:
        """What reports show before the line's number: the mark, and the time if there is one."""
        return "{} {}".format(self.mark, self.time).strip() if self.time else self.mark


class Report(NamedTuple):
    """How pijit compiled a function.

    `str(report)` is the annotated source. Before each line are the kernels that it is part of: `k1`; `k1/py` if a part
    of the line stays bytecode; `py` if all of it does. Below it are the breaks on it; each hint is given once.

    Attributes:
        name: the qualified name of the function.
        filename: the file with its source.
        source: (line number, text) of each source line; empty if the source is not available.
        segments: reports with id, kind ("kernel" or "bytecode"), start_line, end_line, instructions, exits,
            reason, lines. The id is the kernel's number, from 1; 0 if no kernel was to be made.
        breaks: reports with reason_id, message, hint, filename, lineno, opname, trail. The trail has the lines
            (filename, lineno, name, reason_id) from a call that is not inlined to the cause, outermost first.
        skipped: the reason why the whole function runs as plain Python, or None.
        guards: the conditions under which the compiled code runs, as text.
        recompiles: why the function was captured again, oldest first.
        failures: errors inside pijit; the function ran despite them; please report them.
        callees: reports on functions that it calls and that are compiled separately, if they were called.
        reentry_reports: the re-entries into loops whose kernels were left early.
        effects: stores and other effects on objects that the function did not create: line, what, where ("k1",
            "bytecode"), and file if it is not the function's.
        inlined: the functions that are part of its kernels: name, filename, line; and their calls: caller, call_file,
            call_line, where ("k1").
        exits: how often kernels were left early since the entry was made, and re-entered: `exits.exits` has line,
            kernels, operation, why, count, runs, reason_id; `exits.reentries` line, runs, waits; `exits.polls` is how
            often they left for the interpreter, `exits.misses` has line, kernel, count, asked, guard.
        inlined_at: in reports on programs, the functions that it is a part of, and the lines of the calls.
        records: the texts of all entries, oldest first, as `pijit.dump` writes them.
        retired: why compiled code is not used although it exists: a measurement showed that it is slower.
        profile: the times and counts of `pijit.profile` for the function, or None.
        line: the first line of the function.
        slow: the kernels that are slower than they could be: line, kernel, reason_id, message, hint.
    """

    name: str
    filename: str
    source: Tuple[Tuple[int, str], ...]
    segments: Tuple[Any, ...]
    breaks: Tuple[Any, ...]
    skipped: Optional[Any]
    guards: Tuple[str, ...]
    recompiles: Tuple[str, ...]
    failures: Tuple[str, ...] = ()
    callees: Tuple["Report", ...] = ()
    reentry_reports: Tuple[Any, ...] = ()
    effects: Tuple[Any, ...] = ()
    records: Tuple[Any, ...] = ()
    retired: Tuple[str, ...] = ()
    inlined: Tuple[Any, ...] = ()
    inlined_at: Tuple[str, ...] = ()
    exits: ExitCounts = ExitCounts()
    profile: Optional[Any] = None
    line: int = 0
    slow: Tuple[Any, ...] = ()

    @property
    def kernels(self) -> Tuple[Any, ...]:
        """The segments that became kernels."""
        return tuple(segment for segment in self.segments if segment.kind == "kernel")

    @property
    def split(self) -> Optional[Any]:
        """The newest entry as boxes (`kind`, `number`, `first`, `last`, `takes`) and edges (`source`, `target`,
        `kind`, `names`); None without an entry."""
        return self.records[-1].split if self.records else None

    @property
    def unseen(self) -> str:
        """Why the report is empty although the function is not skipped; "" if it is not empty."""
        if self.skipped is not None or self.records or self.segments or self.failures:
            return ""
        return "inlined into its callers" if self.inlined_at else "not captured yet: call it, or tell explain with what"

    @property
    def counts(self) -> str:
        """The numbers of kernels, breaks and guards, in words."""
        return ", ".join(count_of(len(items), noun) for items, noun in (
            (self.kernels, "kernel"), (self.breaks, "break"), (self.guards, "guard")))

    @property
    def lists(self) -> List[Tuple[str, List[Any]]]:
        """The nonempty lists below the source: titles and items."""
        callees = ["{} ({}): {}".format(callee.name, callee.filename, callee.counts) for callee in self.callees]
        found = (("guards", self.guards), ("re-entries", self.reentry_reports), *self.exits.lists,
                 ("recompiles", self.recompiles), ("retired", self.retired), ("internal errors", self.failures),
                 ("callees compiled on their own", callees), ("inlined", self._inlined()),
                 ("inlined into", self.inlined_at))
        return [(title, list(items)) for title, items in found if items]

    def _place(self, line: int, filename: str) -> str:
        return place(line, "" if filename == self.filename else filename)

    @property
    def profile_lines(self) -> List[str]:
        """The table of the profile, line by line."""
        from pijit.reporting.profile_table import function_lines

        return function_lines(self.profile) if self.profile is not None else []

    def _times(self) -> Dict[int, str]:
        """By line: the time of the kernels that begin there."""
        from pijit.reporting.profile_table import time_text

        seconds: Dict[int, float] = {}
        for kernel in self.profile.kernels if self.profile is not None else ():
            seconds[kernel.first] = seconds.get(kernel.first, 0.0) + kernel.seconds
        return {line: time_text(time) for line, time in seconds.items()}

    def _inlined(self) -> List[str]:
        """Each function that was inlined, with the lines that call it."""
        calls: Dict[str, Dict[str, None]] = {}
        for one in self.inlined:
            where = self._place(one.call_line, one.call_file)
            calls.setdefault("{} ({}:{})".format(one.name, one.filename, one.line), {})[where] = None
        return ["{}, called at {}".format(name, ", ".join(lines)) for name, lines in calls.items()]

    @property
    def annotated(self) -> List[Line]:
        """The source lines, each with the kernels that it is part of and its notes."""
        marks = self._marks()
        notes, times = self._notes(marks), self._times()
        return [Line(number, marks.get(number, ""), text, tuple(notes.get(number, ())), times.get(number, ""))
                for number, text in self.source]

    def __str__(self) -> str:
        lines = ["{} ({}): {}".format(self.name, self.filename, self.counts)]
        if self.skipped is not None:
            lines += ["runs as plain Python: {} {}".format(self.skipped.id, self.skipped.title),
                      self.skipped.why, "hint: " + self.skipped.hint]
        lines += [self.unseen] * bool(self.unseen) + ["", *self._annotated_text()]
        profile = [("profile", self.profile_lines)] if self.profile is not None else []
        for title, items in profile + self.lists:
            lines += ["", title + ":"] + ["  {}".format(item).rstrip() for item in items]
        return "\n".join(lines)

    def to_svg(self) -> str:
        """Picture of the split: kernels and bytecode as boxes, control and data as lines.

        Returns:
            An SVG document that follows the light or dark scheme of its viewer.

        Example:
            >>> open("split.svg", "w").write(pijit.explain(f, x).to_svg())      # doctest: +SKIP
        """
        from pijit.reporting.picture import svg_of

        return svg_of(self)

    def to_html(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Write the report as a page: the picture, the annotated source, guards, recompiles and the rest.

        Args:
            path: the file; it is overwritten.

        Returns:
            The path.

        Raises:
            TypeError: `path` is not a path.
            OSError: the file cannot be written.

        Example:
            >>> pijit.explain(f, x).to_html("report.html")                      # doctest: +SKIP
        """
        from pijit.reporting.html_page import write_page

        return write_page(path, [self], self.name)

    def _repr_html_(self) -> str:
        """HTML that notebooks show."""
        from pijit.reporting.html_page import fragment_of

        return fragment_of(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Text that IPython shows in a terminal."""
        printer.text(str(self))

    def _annotated_text(self) -> Iterator[str]:
        lines = self.annotated
        width = max([len(line.before) for line in lines] + [1])
        for line in lines:
            yield "{:<{}} {:5} | {}".format(line.before, width, line.number, line.text).rstrip()
            yield from (" " * (width + 7) + note for note in line.notes)
        shown = {line.number for line in lines}
        for number, notes in sorted(self._notes(self._marks()).items()):
            if number not in shown:
                yield "{}:{}".format(self.filename, number)
                yield from ("  " + note for note in notes)

    def _notes(self, marks: Dict[int, str]) -> Dict[int, List[str]]:
        """The notes below each line: its breaks, or else why a segment on it is not a kernel."""
        notes: Dict[int, List[str]] = {}
        hinted = {""}
        breaks = dict.fromkeys((one.lineno, one.message, self._by_way_of(one), one.hint) for one in self.breaks)
        for lineno, message, by_way_of, hint in sorted(breaks, key=lambda one: one[0]):
            notes.setdefault(lineno, []).extend(
                ["^ " + message] + ["  " + by_way_of] * bool(by_way_of) + ["  hint: " + hint] * (hint not in hinted))
            hinted.add(hint)
        for one in (*(left for left in self.exits.exits if left.reason_id), *self.slow):
            notes.setdefault(one.line, []).extend(
                ["^ " + one.message] + ["  hint: " + one.hint] * (one.hint not in hinted))
            hinted.add(one.hint)
        for segment in self.segments:
            alone = [line for line in segment.lines if marks.get(line, PLAIN) == PLAIN]
            if segment.kind != "kernel" and alone and not any(line in notes for line in alone):
                notes.setdefault(alone[-1], []).append("^ " + segment.reason)
        return notes

    def _by_way_of(self, one: Any) -> str:
        """The functions between a call that is not inlined and the one that contains the cause."""
        steps = ["{} ({})".format(step.name, self._place(step.lineno, step.filename)) for step in one.trail[:-1]]
        return "by way of " + ", ".join(steps) if steps else ""

    def _marks(self) -> Dict[int, str]:
        """The mark before each line: `k1` in kernel 1, `k1/py` if a part stays bytecode, `py` if all of it does."""
        labels: Dict[int, Dict[str, None]] = {}
        for segment in self.kernels:
            for number in segment.lines:
                labels.setdefault(number, {})["k{}".format(segment.id)] = None
        marks = {number: ",".join(found) for number, found in labels.items()}
        often = {left.line for left in self.exits.exits if left.reason_id}
        for number in ({report.lineno for report in self.breaks} | often) & set(marks):
            marks[number] += "/" + PLAIN
        plain = self.records[-1].bytecode_lines if self.records else ()
        return {**dict.fromkeys(plain, PLAIN), **marks}
