"""Run one CPython test module plainly, with every frame a shadow frame, or with every function jitted, and print
the outcome as JSON.

    python run_module.py plain|identity|decorated|numba|python|breaks test_grammar

With `identity`, each code object is decoded and encoded again with no change, functions get one more local,
so that their cells and free variables move, and the copy runs in a shadow frame. `numba`, `python` and `breaks`
capture every function of the test module, whatever it is nested in, before the module runs: with kernels of that
back end, or with a break at every instruction. They run the tests twice, so that what the first run observed counts.
From CPython 3.11 on all functions of the module are decorated for that. With `decorated` that is all: nothing is captured.
The last line of standard output is {"tests": n, "failed": [ids], "faults": [texts], "captured": n, "stats": {...}}.
"""

import doctest
import gc
import importlib.util
import json
import signal
import sys
import unittest
from inspect import CO_OPTIMIZED
from types import CodeType, ModuleType
from typing import Any, Dict, Iterator, List, Optional, Tuple

from decorating import Decorating, attached

from pijit.core import _hook, function_state
from pijit.core.bytecode.codec.encode import reencode, replace_code
from pijit.options import Options

# Some functions meet more types than fit, and tests that look for warnings would see the one about that.
JITTED = {
    "numba": {"backend": "numba", "cache_limit": 1000},
    "python": {"backend": "python", "cache_limit": 1000},
    "breaks": {"backend": "python", "cache_limit": 1000, "force_breaks": "every"},
}


# Tests that take seconds, not in functions of their module: in the standard library, in the interpreter, asleep.
SLOW = ("test_threaded_weak_", "test_trashcan", "test_memory_error_in_PyErr_PrintEx")


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


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code objects inside one, at any depth."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from nested(constant)


def import_decorated(name: str, options: Optional[Options]) -> List[function_state.State]:
    """Import a module with all of its functions decorated; returns their captures, to which more may come later."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None and spec.origin is not None
    decorating = Decorating(options)
    code = decorating.compiled(spec.loader.get_data(spec.origin), spec.origin)  # type: ignore[attr-defined]
    _execute(code, spec)
    return decorating.states


def import_hooked(name: str, options: Options) -> List[function_state.State]:
    """Import a module with captures for all of its functions, which are returned, and for those of its doctests
    from their second call on, which come to them later."""
    states: List[function_state.State] = []

    def attach_doctest(code: CodeType) -> None:
        if code.co_filename.startswith("<doctest"):
            states.append(attached(code, options))

    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None
    code = spec.loader.get_code(name)  # type: ignore[attr-defined]
    states += [attached(inner, options) for inner in nested(code)]
    _hook.set_code_filter(attach_doctest)
    _hook.hold()
    _execute(code, spec)
    return states


def _execute(code: CodeType, spec: Any) -> None:
    """Import the module of a spec with this code."""
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    exec(code, module.__dict__)
    setattr(sys.modules["test"], spec.name.rpartition(".")[2], module)


import_jitted = import_hooked if hasattr(_hook, "hold") else import_decorated


def without(names: Tuple[str, ...], suite: unittest.TestSuite) -> unittest.TestSuite:
    """A suite without the tests whose names start with one of these."""
    kept: List[Any] = []
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            kept.append(without(names, test))
        elif not (names and test.id().rpartition(".")[2].startswith(names)):
            kept.append(test)
    return unittest.TestSuite(kept)


def load(module: ModuleType) -> unittest.TestSuite:
    """The unit tests and doctests of a module."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    if hasattr(module, "__test__") or ">>>" in (module.__doc__ or ""):
        suite.addTest(doctest.DocTestSuite(module))
    return suite


def run(module: str, mode: str) -> Dict[str, Any]:
    """Run a module of the package `test` and return what the module docstring says."""
    faults: List[str] = []
    states: List[function_state.State] = []
    _hook.set_error_handler(lambda code, error: faults.append("%s: %r" % (code.co_name, error)))
    name = "test." + module
    if mode in JITTED:
        states = import_jitted(name, Options(JITTED[mode]))
    elif mode == "decorated":
        import_decorated(name, None)
    elif mode == "identity":
        _hook.set_code_filter(linked)
    importlib.import_module(name)
    gc.freeze()  # these tests collect garbage often, which takes long with all that numba has made
    failed = set()
    twice = mode in JITTED or mode == "decorated"
    for _ in range(2 if twice else 1):
        suite = without(SLOW if twice else (), load(sys.modules[name]))
        outcome = unittest.TextTestRunner(stream=sys.stderr, resultclass=Outcome).run(suite)
        assert isinstance(outcome, Outcome)
        failed.update(outcome.failed)
    if hasattr(_hook, "set_code_filter"):
        _hook.set_code_filter(None)
    faults += [failure for state in states for failure in state.failures]
    return {
        "tests": outcome.testsRun,
        "failed": sorted(failed),
        "faults": faults,
        "captured": sum(bool(state.entries) for state in states),
        "stats": _hook.stats(),
    }


if __name__ == "__main__":
    # A shell that starts jobs in the background lets them ignore interrupts, which some tests raise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    report = run(sys.argv[2], sys.argv[1])
    print()
    print(json.dumps(report), flush=True)
