"""One process of `suites.py`: run the tests of a suite under pytest, plain or jitted, and log each.

    python suite_run.py task.json
"""

from __future__ import annotations

import faulthandler
import hashlib
import json
import os
import signal
import sys
import time
from typing import Any, Dict, List, Optional

import pytest
from _pytest.runner import runtestprotocol

SHOWN = 1200  # characters of a failure
ALL_AGAIN = frozenset(["test_main"])  # functions that run the other tests of their module
OFTEN = 20  # tests between two lines of counts


def _name(item: Any) -> str:
    """The name of a test, wherever its file is."""
    module = getattr(item, "module", None)
    return "%s::%s" % (getattr(module, "__name__", ""), item.nodeid.partition("::")[2])


def _group(item: Any) -> str:
    """What runs together: the cases of a function, the functions of a class."""
    return _name(item).partition("[")[0].rpartition("::")[0]


class Plugin:
    """Runs tests in a fixed random order, and writes a line for each to the log."""

    def __init__(self, task: Dict[str, Any], jitting: Optional[Any]) -> None:
        self.task = task
        self.jitting = jitting
        self.until = time.monotonic() + task["seconds"]
        self.number = 0
        self.told = 0
        self.shown_at = os.dup(2)  # tests have another one

    def log(self, **line: Any) -> None:
        """Add a line, at once: the process may end any time."""
        with open(self.task["log"], "a") as log:
            log.write(json.dumps(line) + "\n")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: List[Any]) -> None:
        """Leave out what is done, and mix the rest."""
        done = set()
        if os.path.exists(self.task["log"]):
            with open(self.task["log"]) as log:
                done = {line["test"] for line in map(json.loads, log) if "outcome" in line}
        only = None if self.task["only"] is None else set(self.task["only"])
        items[:] = [item for item in items if _name(item) not in done and (only is None or _name(item) in only)
                    and self.task["select"] in _name(item) and item.name not in ALL_AGAIN]
        items.sort(key=lambda item: hashlib.md5(_group(item).encode()).digest())

    def pytest_collection_finish(self) -> None:
        """Begin to jit: the imports are done."""
        if self.jitting is not None:
            self.jitting.start()

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool:
        """Run a test some times; the first result that is no success counts. One that is marked as an expected failure
        may fail or pass: libraries mark flaky tests so."""
        if time.monotonic() > self.until:
            item.session.shouldstop = "the time is up"
            return True
        self.log(start=_name(item), at=time.time())
        faulthandler.dump_traceback_later(self.task["patience"], exit=True, file=self.shown_at)
        start, outcome, text = time.process_time(), "passed", ""
        for number in range(self.task["rounds"]):
            for report in runtestprotocol(item, log=number == self.task["rounds"] - 1, nextitem=nextitem):
                if hasattr(report, "wasxfail"):
                    outcome = "expected to fail"
                elif not report.passed and outcome == "passed":
                    outcome, text = report.outcome, str(report.longrepr)[-SHOWN:]
        faulthandler.cancel_dump_traceback_later()
        self.log(test=_name(item), outcome=outcome, seconds=time.process_time() - start,
                 text=text if outcome == "failed" else "")
        self._tell()
        return True

    def _tell(self, last: bool = False) -> None:
        self.number += 1
        if self.jitting is None:
            return
        if len(self.jitting.faults) > self.told:
            self.log(faults=self.jitting.faults[self.told:])
            self.told = len(self.jitting.faults)
        if last or self.number % OFTEN == 0:
            self.log(process=os.getpid(), counts=self.jitting.counts())

    def pytest_sessionfinish(self) -> None:
        """Say what the whole run came to."""
        self._tell(last=True)
        self.log(end=time.monotonic() > self.until)


def main(path: str) -> int:
    """Run the task in a file."""
    with open(path) as file:
        task = json.load(file)
    jitting = None
    if task["mode"] == "jitted":
        from suite_jit import Jitting

        jitting = Jitting(task["places"], task["config"], task["but"])
    faulthandler.enable(os.dup(2))
    plugins = ["-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:xdist", "-p", "no:logging"]
    options = ["-q", "--assert=plain", "--continue-on-collection-errors", "--tb=short", "-c", os.devnull,
               "--rootdir", os.getcwd()]
    return int(pytest.main(options + plugins + ["--pyargs"] + task["tests"], plugins=[Plugin(task, jitting)]))


if __name__ == "__main__":
    # A shell that starts jobs in the background lets them ignore interrupts, which some tests raise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(sys.argv[1]))
