"""Runs the tests of installed packages plain and with every function of the package jitted, and compares them.

    python -m tests.conformance.suites                        every suite, two minutes each
    python -m tests.conformance.suites numpy.ma --minutes 30 --backend python

Each suite runs in processes of its own: pytest collects it by name, `suite_run.py` runs it, and `suite_jit.py` jits the
functions. From CPython 3.11 on these are the functions that modules and classes have once all is imported. The jitted run has a time limit. The plain run does the same tests. Logs in a folder (--keep) hold the results:
a later command with the same folder runs the other tests. The exit code is 1 if a difference or an internal error was
found.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
RESTARTS = 12
"""How often a run begins again after a test that ended its process."""

PATIENCE = {"plain": 120.0, "jitted": 400.0}
"""Seconds after which a test is stopped."""


class Suite(NamedTuple):
    """``tests``: what pytest collects, by name. ``jitted``: packages and modules whose functions are jitted, without
    those of files whose path has ``but`` in it."""

    tests: Tuple[str, ...]
    jitted: Tuple[str, ...]
    but: str = ""


def _package(name: str) -> Suite:
    """The functions of tests run once and are long: to capture them takes most of the time and finds little."""
    return Suite((name,), (name,), os.sep + "tests" + os.sep)


def _cpython(name: str, *modules: str) -> Suite:
    return Suite(("test." + name,), ("test." + name,) + modules)


SUITES: Dict[str, Suite] = {
    "numpy.lib": _package("numpy.lib"),
    "numpy.ma": _package("numpy.ma"),
    "numpy.linalg": _package("numpy.linalg"),
    "numpy.polynomial": _package("numpy.polynomial"),
    "scipy.optimize": _package("scipy.optimize"),
    "scipy.signal": _package("scipy.signal"),
    "scipy.stats": _package("scipy.stats"),
    "scipy.interpolate": _package("scipy.interpolate"),
    "networkx.algorithms": _package("networkx.algorithms"),
    "test_dict": _cpython("test_dict", "test.mapping_tests", "collections"),
    "test_list": _cpython("test_list", "test.list_tests", "test.seq_tests"),
    "test_set": _cpython("test_set", "_collections_abc"),
    "test_itertools": _cpython("test_itertools"),
    "test_operator": _cpython("test_operator", "operator"),
    "test_math": _cpython("test_math"),
    "test_cmath": _cpython("test_cmath", "test.test_math"),
    "test_random": _cpython("test_random", "random"),
    "test_decimal": _cpython("test_decimal", "decimal", "_pydecimal"),
    "test_statistics": _cpython("test_statistics", "statistics", "fractions"),
    "test_fractions": _cpython("test_fractions", "fractions", "numbers"),
    "test_heapq": _cpython("test_heapq", "heapq"),
    "test_bisect": _cpython("test_bisect", "bisect"),
}

ALLOWED = {
    "test.test_statistics::TestPStdev::test_compare_to_variance": "it compares roundings of random numbers, and fails now and then",
    "test.test_list::ListTest::test_preallocation": "what sys.getsizeof says of a list: see docs/limits.md",
    "test.test_decimal::SignatureTest::test_inspect_types": "it fails plain, because only CPython's own runner prepares "
        "its contexts; it leaves out what inspect.isfunction denies, as jitted functions",
}
"""Tests whose results may differ, with the reason."""

COLUMNS = ("suite", "plain", "jitted", "differ", "errors", "functions", "entries", "kernels", "calls", "s plain",
           "s jitted")


def place_of(name: str) -> str:
    """The folder of a package or the file of a module; "" if there is none."""
    try:
        spec = importlib.util.find_spec(name)
    except ImportError:
        spec = None
    if spec is None or spec.origin is None:
        return ""
    return os.path.dirname(spec.origin) + os.sep if spec.submodule_search_locations else spec.origin


class Log:
    """The file with a line of JSON for each event of the runs of a suite in one mode."""

    def __init__(self, path: str) -> None:
        self.path = path

    def lines(self) -> List[Dict[str, Any]]:
        """All of it."""
        if not os.path.exists(self.path):
            return []
        with open(self.path) as lines:
            return [json.loads(line) for line in lines]

    def add(self, **line: Any) -> None:
        """One more line."""
        with open(self.path, "a") as log:
            log.write(json.dumps(line) + "\n")

    def results(self) -> Dict[str, Dict[str, Any]]:
        """The last result of each test."""
        return {line["test"]: line for line in self.lines() if "outcome" in line}

    def unfinished(self) -> Optional[Dict[str, Any]]:
        """The line of the test that was running when its process ended, or None."""
        running = None
        for line in self.lines():
            if "start" in line:
                running = line
            elif "outcome" in line:
                running = None
        return running

    def counts(self) -> Dict[str, int]:
        """The sums of the counts of all processes, each of which says its own now and then."""
        last: Dict[int, Dict[str, int]] = {line["process"]: line["counts"] for line in self.lines() if "counts" in line}
        total: Dict[str, int] = {}
        for counts in last.values():
            for name, count in counts.items():
                total[name] = total.get(name, 0) + count
        return total

    def faults(self) -> List[str]:
        """The internal errors."""
        return [fault for line in self.lines() for fault in line.get("faults", ())]


def run(name: str, mode: str, folder: str, seconds: float, options: Dict[str, Any],
        only: Optional[Set[str]] = None) -> Log:
    """Run a suite in one mode until the time is up; ``only`` names the tests."""
    suite, log = SUITES[name], Log(os.path.join(folder, "%s.%s.jsonl" % (name, mode)))
    deadline = time.monotonic() + seconds
    places = [place for place in map(place_of, suite.jitted) if place]
    for _ in range(RESTARTS):
        task = dict(options, mode=mode, tests=suite.tests, places=places, log=log.path, patience=PATIENCE[mode],
                    but="" if options["own"] else suite.but,
                    seconds=deadline - time.monotonic(), only=None if only is None else sorted(only))
        code = _run_process(task, folder, name, mode)
        died = log.unfinished()
        if died is not None:
            stopped = time.time() - died["at"] >= PATIENCE[mode]
            how = "was stopped after %d seconds" % PATIENCE[mode] if stopped else "ended the process (%d)" % code
            log.add(test=died["start"], outcome=how, seconds=0.0, text="")
        elif not log.lines() or "end" not in log.lines()[-1]:
            log.add(faults=["the process ended with %d: see its output" % code])
            break
        if died is None or time.monotonic() > deadline:
            break
    return log


def _run_process(task: Dict[str, Any], folder: str, name: str, mode: str) -> int:
    """Run one process to its end, which the suite's time limit and a test's bring about; returns its exit code."""
    path = os.path.join(folder, "%s.%s" % (name, mode))
    with open(path + ".json", "w") as file:
        json.dump(task, file)
    with tempfile.TemporaryDirectory() as place, open(path + ".txt", "ab") as output:
        process = subprocess.Popen([sys.executable, os.path.join(HERE, "suite_run.py"), path + ".json"], cwd=place,
                                   stdout=output, stderr=subprocess.STDOUT)
        try:
            return process.wait(task["seconds"] + task["patience"] + 120.0)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def differences(plain: Dict[str, Dict[str, Any]], jitted: Dict[str, Dict[str, Any]]) -> List[str]:
    """The tests that ended otherwise, with how; without those that may fail."""
    return ["%s: %s, jitted %s\n%s" % (test, plain[test]["outcome"], result["outcome"], result["text"])
            for test, result in sorted(jitted.items())
            if test in plain and test not in ALLOWED and result["outcome"] != plain[test]["outcome"]]


def compare(name: str, folder: str, seconds: float, options: Dict[str, Any]) -> Tuple[List[Any], List[str]]:
    """Run a suite in both modes; returns its row and what was found."""
    log = run(name, "jitted", folder, seconds, options)
    jitted = log.results()
    plain = run(name, "plain", folder, 2 * seconds, options, set(jitted)).results()
    both = [test for test in jitted if test in plain]
    found, faults, counts = differences(plain, jitted), log.faults(), log.counts()
    if not both:
        found.append("%s: no test ran" % name)
    row = [name] + [sum(results[test]["outcome"] == "passed" for test in both) for results in (plain, jitted)]
    row += [len(found), len(faults)] + [counts.get(key, 0) for key in ("functions", "entries", "kernels", "calls")]
    row += ["%.1f" % sum(results[test]["seconds"] for test in both) for results in (plain, jitted)]
    return row, found + faults


def table(rows: List[List[Any]]) -> str:
    """The rows below their titles, in columns."""
    texts = [[str(cell) for cell in row] for row in [list(COLUMNS)] + rows]
    widths = [max(map(len, column)) for column in zip(*texts)]
    lines = [[row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])] for row in texts]
    return "\n".join(map("  ".join, lines))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parsed = argparse.ArgumentParser(prog="python -m tests.conformance.suites", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parsed.add_argument("names", nargs="*", help="suites (all): " + ", ".join(SUITES))
    parsed.add_argument("--minutes", type=float, default=2.0, help="the time limit of each jitted run (2)")
    parsed.add_argument("--backend", choices=("numba", "python"), default="numba", help="what runs segments (numba)")
    parsed.add_argument("--force-breaks", choices=("every",), default=None, help="break wherever that is possible")
    parsed.add_argument("--rounds", type=int, default=2, help="how often each test runs (2)")
    parsed.add_argument("--own", action="store_true", help="jit the functions of packages' tests too")
    parsed.add_argument("--select", default="", help="only tests with this in their names")
    parsed.add_argument("--keep", default=None, help="a folder for logs, from which a later run goes on")
    return parsed


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the suites, print what was found and the table."""
    given = parser().parse_args(arguments)
    unknown = sorted(set(given.names) - set(SUITES))
    if unknown:
        parser().error("no suites: %s; there are %s" % (", ".join(unknown), ", ".join(SUITES)))
    folder = os.path.abspath(given.keep or tempfile.mkdtemp(prefix="pijit-suites-"))
    os.makedirs(folder, exist_ok=True)
    # Entries that are measured may be given up, and what is given up finds nothing.
    config = {"backend": given.backend, "force_breaks": given.force_breaks, "perf_statistics": False}
    options = {"config": config, "rounds": given.rounds, "select": given.select, "own": given.own}
    rows, found = [], []
    for name in given.names or SUITES:
        row, texts = compare(name, folder, 60.0 * given.minutes, options)
        rows.append(row)
        found += texts
        sys.stdout.write("".join(text + "\n" for text in texts) + table([row]) + "\n\n")
        sys.stdout.flush()
    sys.stdout.write(table(rows) + "\nlogs: %s\n" % folder)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
