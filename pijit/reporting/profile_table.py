"""Tables of profiles: functions with their kernels, bytecode and exits, as text.

`profile.py` and `report.py` call it.
"""

from __future__ import annotations

from typing import Any, Iterable, Iterator, List, Sequence, Tuple

from pijit.names import count_of

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_HEADINGS = ("time", "share", "runs", "each", "in", "out")
_ESTIMATED = "~ estimated: of the runs of a short kernel, one of sixteen is timed"

TableRow = Tuple[Tuple[str, ...], str]
"""The cells of a row, and what it is about."""


def time_text(seconds: float) -> str:
    """A time with three digits, such as `1.25 ms`; times below a nanosecond are 0."""
    for unit, name in _UNITS:
        if seconds >= unit:
            return "{:.{}f} {}".format(seconds / unit, _decimals(seconds / unit), name)
    return "0"


def size_text(size: int) -> str:
    """A number of bytes with three digits, such as `80.0 MB`."""
    for unit, name in _SIZES:
        if size >= unit:
            return "{:.{}f} {}".format(size / unit, _decimals(size / unit), name)
    return "{} B".format(size) if size else ""


def _decimals(number: float) -> int:
    """How many decimals show three digits of a number."""
    return max(3 - len(str(int(number))), 0)


def profile_text(profile: Any) -> str:
    """A profile: its totals, then its functions, the hottest first."""
    functions = profile.functions
    if not functions:
        return "profile: no jitted function was called"
    whole, inside = sum(one.seconds for one in functions), sum(one.in_kernels for one in functions)
    compiling = sum(one.compiling for one in functions)
    head = "profile: {} in {} of jitted functions: {} in kernels ({}), {} in bytecode{}".format(
        time_text(whole), count_of(sum(one.calls for one in functions), "call"), time_text(inside),
        _share(inside, whole), time_text(sum(one.bytecode for one in functions)),
        ", {} to compile them".format(time_text(compiling)) if compiling else "")
    rows = [row for one in functions for row in _rows(one, whole, True)]
    return "\n".join([head, "", *_table(rows), *_footer(functions)])


def function_lines(one: Any) -> List[str]:
    """The lines about one function, for its report."""
    if not one.seconds:
        return ["it was not called while profiling was on"]
    return [*_table(list(_rows(one, one.seconds, False))), *_footer([one])]


def _footer(functions: Sequence[Any]) -> List[str]:
    estimated = any(kernel.timed < kernel.runs for one in functions for kernel in one.kernels)
    return ["", _ESTIMATED] if estimated else []


def _rows(one: Any, whole: float, with_exits: bool) -> Iterator[TableRow]:
    """The row of a function, of its kernels and its bytecode, and with ``with_exits`` of its exits and re-entries."""
    place = "{} ({}:{})".format(one.name, one.filename, one.line) if one.filename else one.name
    yield _cells(one.seconds, whole, one.calls), place
    parts = [(kernel.seconds, _cells(kernel.seconds, whole, kernel.runs, kernel), _label(kernel))
             for kernel in one.kernels]
    parts += [(one.bytecode, _cells(one.bytecode, whole, one.calls), "bytecode")] * bool(one.calls)
    parts += [(one.compiling, _cells(one.compiling, whole, 0), "compiling")] * bool(one.compiling)
    for _, cells, label in sorted(parts, key=lambda part: -part[0]):
        yield cells, "  " + label
    for _, items in one.exits.lists if with_exits else ():
        for item in items:
            yield ("",) * len(_HEADINGS), "    {}".format(item)


def _label(kernel: Any) -> str:
    if not kernel.first:
        return str(kernel.name)
    lines = "line {}" if kernel.first == kernel.last else "lines {}-{}"
    return "{}, {}".format(kernel.name, lines.format(kernel.first, kernel.last))


def _cells(seconds: float, whole: float, runs: int, kernel: Any = None) -> Tuple[str, ...]:
    mark = "~" if kernel is not None and kernel.timed < kernel.runs else ""
    each = mark + time_text(seconds / runs) if runs else ""
    sizes = (size_text(kernel.bytes_in), size_text(kernel.bytes_out)) if kernel is not None else ("", "")
    return (mark + time_text(seconds), _share(seconds, whole), str(runs) if runs else "", each) + sizes


def _share(seconds: float, whole: float) -> str:
    return "{:.0f} %".format(100 * seconds / whole) if whole > 0 else ""


def _table(rows: Iterable[TableRow]) -> List[str]:
    rows = [(_HEADINGS, ""), *rows]
    widths = [max(len(cells[column]) for cells, _ in rows) for column in range(len(_HEADINGS))]
    return ["  ".join([*("{:>{}}".format(cell, width) for cell, width in zip(cells, widths)), text]).rstrip()
            for cells, text in rows]
