"""``python -m benchmarks``: speed relative to NumPy, per kernel, size and dtype, in one run."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Callable, Iterator, List, Optional, Sequence

from benchmarks.cases.families import FAMILIES, SIZE_NAMES
from benchmarks.competitors import start_compilers
from benchmarks.picture import picture
from benchmarks.report import head, line, summary, title
from benchmarks.rows import Row, rows_of


def main(argv: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES), metavar="NAME",
                        help="any of " + ", ".join(FAMILIES))
    parser.add_argument("--sizes", nargs="+", choices=SIZE_NAMES, default=SIZE_NAMES, metavar="NAME",
                        help="any of " + ", ".join(SIZE_NAMES))
    parser.add_argument("--dtypes", nargs="+", default=None, metavar="NAME", help="such as float32")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each row (default: 0.5)")
    parser.add_argument("--quick", action="store_true", help="only float64 in the caches, 0.1 seconds for each row")
    parser.add_argument("--json", default="benchmarks.json", help="where all figures go (default: benchmarks.json)")
    parser.add_argument("--picture", default="benchmarks.svg", help="where the bars go (default: benchmarks.svg)")
    parser.add_argument("--cpu", action="store_true",
                        help="count this process's processor time: for machines that others use, and one thread")
    parser.add_argument("--load", nargs="+", metavar="FILE", help="show what earlier runs wrote, and measure nothing")
    options = parser.parse_args(argv)
    clock = time.process_time if options.cpu else time.perf_counter
    if options.quick:
        options.sizes, options.seconds = ["L2/L3"], min(options.seconds, 0.1)
        options.dtypes = options.dtypes or ["float64", "int64"]
    sys.stdout.write(title() + "\n\n" + head())
    rows = []
    for row in _loaded(options.load) if options.load else _measured(options, clock):
        rows.append(row)
        sys.stdout.write(line(row))
        sys.stdout.flush()
    sys.stdout.write("\n" + summary(rows))
    with open(options.picture, "w") as file:
        file.write(picture(rows))
    return 1 if any(row.wrong and not row.why_not for row in rows) else 0


def _measured(options: argparse.Namespace, clock: Callable[[], float]) -> Iterator[Row]:
    """Measure the requested rows, and write them to the file after each kernel."""
    start_compilers()
    records = []
    for family in options.families:
        for case in FAMILIES[family]:
            if options.only not in case.name:
                continue
            for row in rows_of(family, case, options.sizes, options.dtypes, options.seconds, clock):
                records.append(row.record())
                yield row
            with open(options.json, "w") as file:
                json.dump({"title": title(), "rows": records}, file, indent=1)


def _loaded(paths: Sequence[str]) -> Iterator[Row]:
    for path in paths:
        with open(path) as file:
            for record in json.load(file)["rows"]:
                yield Row.of_record(record)


if __name__ == "__main__":
    sys.exit(main())
