"""CPython's own tests pass with every function run through a shadow frame with re-encoded code."""

import importlib.util
import json
import os
import subprocess
import sys
from typing import Any, Dict, Optional

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "%d.%d" % sys.version_info[:2]
MODULES = [
    "test_grammar", "test_scope", "test_generators", "test_with", "test_exceptions", "test_contextlib",
    "test_functools", "test_dictcomps", "test_unpack", "test_unpack_ex", "test_keywordonlyarg",
    "test_extcall", "test_raise", "test_sys_settrace", "test_gc", "test_weakref", "test_collections",
]


def run_module(mode: str, module: str, folder: str, environment: Optional[Dict[str, str]] = None) -> Dict[str, Any]:
    """What run_module.py prints, run in a folder of its own: some tests leave files behind."""
    command = [sys.executable, os.path.join(HERE, "run_module.py"), mode, module]
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=600)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    return json.loads(done.stdout.decode().splitlines()[-1])


def expected_failures(module: str) -> Dict[str, str]:
    """The kind ("plain" or "shadow") of each test of a module that is expected to fail on this version."""
    expected = {}
    with open(os.path.join(HERE, "expected_failures.txt")) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                version, kind, name, _reason = line.split(None, 3)
                if version == VERSION and name.startswith("test.%s." % module):
                    expected[name] = kind
    return expected


@pytest.mark.parametrize("module", MODULES)
def test_module_passes_in_shadow_frames(module, tmp_path):
    if importlib.util.find_spec("test." + module) is None:
        pytest.skip("CPython %s has no test.%s" % (VERSION, module))
    expected = expected_failures(module)
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
