"""CPython's own tests pass with every function run through a shadow frame with re-encoded code."""

import importlib.util
import os

import pytest
from cpython_tests import MODULES, VERSION, expected_failures, run_module

KINDS = ("plain", "shadow")


@pytest.mark.parametrize("module", MODULES)
def test_module_passes_in_shadow_frames(module, tmp_path):
    if importlib.util.find_spec("test." + module) is None:
        pytest.skip("CPython %s has no test.%s" % (VERSION, module))
    expected = {name: kind for name, kind in expected_failures(module).items() if kind in KINDS}
    report = run_module("identity", module, str(tmp_path))
    assert report["faults"] == []
    assert report["failed"] == sorted(expected)
    assert report["tests"] > 0
    assert report["stats"]["shadow_frames"] > report["tests"]
    if expected:
        plain = run_module("plain", module, str(tmp_path))
        assert plain["failed"] == sorted(name for name, kind in expected.items() if kind == "plain")
        assert plain["tests"] == report["tests"]


def test_the_runner_reports_failures(tmp_path):
    # Of the comparison above, "no failures" would be worth nothing if the runner could not see one.
    (tmp_path / "sitecustomize.py").write_text(
        "import test.test_dictcomps as t\nt.DictComprehensionTest.test_extra = lambda self: self.fail()\n")
    environment = dict(os.environ, PYTHONPATH=str(tmp_path))
    report = run_module("identity", "test_dictcomps", str(tmp_path), environment)
    assert report["failed"] == ["test.test_dictcomps.DictComprehensionTest.test_extra"]
