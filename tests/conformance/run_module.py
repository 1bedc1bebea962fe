"""Run one CPython test module, plainly or with every function in a shadow frame, and print the outcome as
JSON.

    python run_module.py plain|identity test_grammar

With `identity`, each code object is decoded and encoded again with no change, functions get one more local,
so that their cells and free variables move, and the copy runs in a shadow frame. The last line of standard
output is {"tests": n, "failed": [ids], "faults": [texts], "stats": {...}}.
"""

import doctest
import json
import signal
import sys
import unittest
from inspect import CO_OPTIMIZED
from types import CodeType
from typing import Any, Dict, List

from pijit.core import _hook
from pijit.core.bytecode.encode import reencode, replace_code


class Outcome(unittest.TextTestResult):
    """Remembers the ids of the tests that failed, also those that failed before or after their test
    method."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.failed: List[str] = []

    def addFailure(self, test: Any, err: Any) -> None:
        super().addFailure(test, err)
        self.failed.append(test.id())

    def addError(self, test: Any, err: Any) -> None:
        super().addError(test, err)
        self.failed.append(test.id())

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.failed.append(test.id())

    def addUnexpectedSuccess(self, test: Any) -> None:
        super().addUnexpectedSuccess(test)
        self.failed.append(test.id())


def linked(code: CodeType) -> CodeType:
    """What linking with no segments makes of a code object."""
    copy = reencode(code)
    if not copy.co_flags & CO_OPTIMIZED:
        return copy
    return replace_code(copy, co_varnames=copy.co_varnames + ("$pad",), co_nlocals=copy.co_nlocals + 1)


def load(module: str) -> unittest.TestSuite:
    """The unit tests and doctests of a module of the package `test`."""
    suite = unittest.defaultTestLoader.loadTestsFromName("test." + module)
    loaded = sys.modules["test." + module]
    if hasattr(loaded, "__test__") or ">>>" in (loaded.__doc__ or ""):
        suite.addTest(doctest.DocTestSuite(loaded))
    return suite


def run(module: str, identity: bool) -> Dict[str, Any]:
    """Run a module of the package `test` and return what the module docstring says."""
    faults: List[str] = []
    _hook.set_error_handler(lambda code, error: faults.append("%s: %r" % (code.co_name, error)))
    if identity:
        _hook.set_code_filter(linked)
    suite = load(module)
    outcome = unittest.TextTestRunner(stream=sys.stderr, resultclass=Outcome).run(suite)
    _hook.set_code_filter(None)
    assert isinstance(outcome, Outcome)
    return {
        "tests": outcome.testsRun,
        "failed": sorted(set(outcome.failed)),
        "faults": faults,
        "stats": _hook.stats(),
    }


if __name__ == "__main__":
    # A shell that starts jobs in the background lets them ignore interrupts, which some tests raise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    report = run(sys.argv[2], sys.argv[1] == "identity")
    print()
    print(json.dumps(report), flush=True)
