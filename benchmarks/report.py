"""Benchmark report: the table and its summary as text."""

from __future__ import annotations

import platform
from typing import Any, Callable, Iterable, List, Sequence

import numba
import numpy as np

import pijit
from benchmarks.measure import geometric_mean
from benchmarks.rows import COPY, LOOPS, Row

COLUMNS = {"pijit": "pijit", "njit": "numba.njit, same source", "tuned": "numba, loops by hand", "numexpr": "numexpr"}
LIMITS = {COPY: "", LOOPS: ", loops"}
"""The table's text for each computed bound; empty for memory's."""

SLOW = 0.95
"""Rows below this speed, relative to NumPy's, are listed."""


def title() -> str:
    """The title: the measured quantity, and the versions of Python and the libraries."""
    said = "How many times as fast as NumPy (median of rounds, quartiles). Python %s, NumPy %s, numba %s, pijit %s"
    return said % (
        platform.python_version(), np.__version__, numba.__version__, pijit.__version__)


def head() -> str:
    """The table's head."""
    names = ["kernel", "dtype", "size"] + list(COLUMNS.values())
    names += ["of the bound", "first call, s (pijit / njit)", "notes"]
    return "| %s |\n|%s\n" % (" | ".join(names), "---|" * len(names))


def line(row: Row) -> str:
    """The table's line for a row."""
    cells = [row.kernel, row.dtype, row.size] + [_ratio(row, name) for name in COLUMNS]
    cells.append(_share(row) + LIMITS.get(row.limit, ", " + row.limit) if row.bound and row.size == "memory" else "")
    cells.append(" / ".join("%.2f" % row.first[name] if name in row.first else "-" for name in ("pijit", "njit")))
    return "| %s |\n" % " | ".join(cells + [_notes(row)])


def _ratio(row: Row, name: str) -> str:
    if name in row.ratios:
        ratio = row.ratios[name]
        return "%.2fx (%.2f-%.2f)" % ratio
    return "refused" if name in row.refused else "wrong" if name in row.others_wrong else "-"


def _notes(row: Row) -> str:
    notes = ["%s%s" % (row.wrong, ": " + row.why_not if row.why_not else "")] if row.wrong else []
    if not row.kernels:
        notes.append("no kernel")
    return "; ".join(notes + sorted({reason for _, reason in row.breaks}))


def summary(rows: Sequence[Row]) -> str:
    """Geometric means, and lists of notable rows."""
    parts = ["Geometric means over NumPy:\n\n",
             "| family | %s |\n|%s\n" % (" | ".join(COLUMNS), "---|" * (1 + len(COLUMNS)))]
    families = list(dict.fromkeys(row.family for row in rows))
    for family in families + ["all"]:
        chosen = [row for row in rows if family in ("all", row.family)]
        parts.append("| %s | %s |\n" % (family, " | ".join(_mean(chosen, name) for name in COLUMNS)))
    parts.append("\nOver the rows that the other has too, pijit / other: %s\n" % ", ".join(
        "%s %.2fx" % (name, _against(rows, name)) for name in list(COLUMNS)[1:]
        if any(name in row.ratios for row in rows)))
    both = [row for row in first_calls(rows) if "pijit" in row.first and "njit" in row.first]
    parts.append("First call, pijit / njit, where njit compiles: %.2f\n"
                 % geometric_mean(row.first["pijit"] / row.first["njit"] for row in both))
    once = first_calls(rows)
    parts += [
        _bound("Bandwidth bound in memory", rows, lambda limit: limit == COPY),
        _bound("NumPy's own loops, which kernels call, take longer than memory", rows, lambda limit: limit == LOOPS),
        _bound("Limited otherwise, of the bandwidth bound", rows, lambda limit: limit not in LIMITS),
        _section("Below %.2fx NumPy" % SLOW, rows, lambda row: row.ratios["pijit"].median < SLOW,
                 lambda row: "%.2fx (%.2f-%.2f)" % row.ratios["pijit"], lambda row: row.ratios["pijit"].median),
        _section("Results that are not NumPy's", rows, lambda row: row.wrong,
                 lambda row: row.wrong + " " + row.why_not),
        _section("Competitors with other results", rows, lambda row: row.others_wrong, lambda row: row.others_wrong),
        _section("No kernel, or lines that stay bytecode", once, lambda row: row.breaks or not row.kernels,
                 lambda row: "%d kernels; %s" % (row.kernels, ", ".join("line %d %s" % one for one in row.breaks))),
        _section("Refused by numba.njit", once, lambda row: "njit" in row.refused, lambda row: row.refused["njit"]),
    ]
    return "".join(parts)


def _share(row: Row) -> str:
    twice = ", %.0f %% with what is read twice" % (100.0 * row.again) if row.again else ""
    return "%.0f %%%s" % (100.0 * row.bound["pijit"], twice)


def _bound(text: str, rows: Sequence[Row], wanted: Callable[[str], bool]) -> str:
    return _section(text + ", least share first", rows,
                    lambda row: row.size == "memory" and row.bound and wanted(row.limit), _share,
                    lambda row: row.bound["pijit"])


def first_calls(rows: Iterable[Row]) -> List[Row]:
    """One row of each kernel and dtype: the last, which saw most calls."""
    return list({(row.kernel, row.dtype): row for row in rows}.values())


def _mean(rows: Sequence[Row], name: str) -> str:
    values = [row.ratios[name].median for row in rows if name in row.ratios]
    return "%.2fx of %d" % (geometric_mean(values), len(values)) if values else "-"


def _against(rows: Sequence[Row], name: str) -> float:
    return geometric_mean(row.ratios["pijit"].median / row.ratios[name].median for row in rows if name in row.ratios)


def _section(text: str, rows: Sequence[Row], wanted: Callable[[Row], Any], said: Callable[[Row], Any],
             order: Callable[[Row], Any] = lambda row: 0) -> str:
    chosen = sorted((row for row in rows if wanted(row)), key=order)
    lines = ["- %s, %s, %s: %s\n" % (row.kernel, row.dtype, row.size, said(row)) for row in chosen]
    return "\n%s (%d of %d):\n\n%s" % (text, len(chosen), len(rows), "".join(lines))
