"""Launchers that miss, or do nothing, change nothing: CPython's own tests pass with them in all functions (3.11 and later).

`tests/conformance/nop_linked.py` runs more test modules, and links whole folders.
"""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from tests import harness

if sys.version_info < (3, 11):
    pytest.skip("tests/conformance links CPython's tests on earlier versions", allow_module_level=True)

SCRIPT = os.path.join(os.path.dirname(harness.__file__), "conformance", "nop_linked.py")


def report_of(folder, *arguments):
    run = subprocess.run([sys.executable, SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         cwd=str(folder), timeout=250)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.strip().split("\n")[-1])


@pytest.mark.skipif(importlib.util.find_spec("test.test_heapq") is None, reason="this Python has no tests of its own")
@pytest.mark.parametrize("option", ["--verify", "--hit"])
def test_modules_pass_with_launchers(tmp_path, option):
    report = report_of(tmp_path, "--every", option, "test_textwrap", "test_string")
    assert report["failed"] == report["faults"] == [] and report["tests"] > 100
    assert report["linked"] > 100 and report["sites"] > 1000 and report["calls"] > 20000


def test_all_code_of_a_folder_links(tmp_path):
    report = report_of(tmp_path, "--files", os.path.join(os.path.dirname(os.__file__), "concurrent"))
    assert report["faults"] == [] and report["linked"] > 50 and report["sites"] > 500
