"""CPython's own tests pass with every function of their module jitted, also those inside other functions.

From CPython 3.11 on functions are decorated for that. What does not pass with decorators alone, that capture nothing, may fail.
"""

import importlib.util
import os

import pytest
from cpython_tests import MODULES, VERSION, expected_failures, run_module

from pijit.core import _hook

# Cut at every instruction, a capture costs most; modules that count objects or watch frames say little then.
COSTLY = ("test_exceptions", "test_functools", "test_sys_settrace", "test_gc", "test_weakref", "test_collections",
          "test_generators", "test_grammar")
BREAKS = [module for module in MODULES if module not in COSTLY]
RUNS = [("numba", module) for module in MODULES] + [("breaks", module) for module in BREAKS]
WITHOUT_FUNCTIONS = ("test_unpack", "test_unpack_ex", "test_extcall")


def needs(module):
    """Skip where a module of CPython's tests is missing: some versions lack it, and some systems leave all out."""
    if importlib.util.find_spec("test." + module) is None:
        pytest.skip("this CPython %s has no test.%s" % (VERSION, module))


@pytest.mark.parametrize("mode, module", RUNS)
def test_module_passes_jitted(mode, module, tmp_path):
    needs(module)
    expected = expected_failures(module)
    either = {name for name, kind in expected.items() if kind == "either"}
    if not hasattr(_hook, "hold"):
        expected = dict.fromkeys(run_module("decorated", module, str(tmp_path))["failed"])
    report = run_module(mode, module, str(tmp_path))
    assert report["faults"] == []
    assert sorted(set(report["failed"]) - either) == sorted(set(expected) - either)
    assert report["tests"] > 0
    assert module in WITHOUT_FUNCTIONS or report["captured"] > report["tests"] // 4  # traced functions are not


def test_the_runner_runs_what_is_captured(tmp_path):
    """The comparison above would be worth nothing if the code of captures did not run, or nobody looked."""
    needs("test_dictcomps")
    (tmp_path / "sitecustomize.py").write_text(
        "from pijit.core.bytecode.codec.encode import replace_code\n"
        "from pijit.core.function_state import State\n"
        "def wrong(self, code, *roots):\n"
        "    return replace_code(code, co_consts=tuple(c + 1 if type(c) is int else c for c in code.co_consts))\n"
        "State.on_miss = wrong\n")
    environment = dict(os.environ, PYTHONPATH=str(tmp_path))
    assert run_module("numba", "test_dictcomps", str(tmp_path), environment)["failed"]
