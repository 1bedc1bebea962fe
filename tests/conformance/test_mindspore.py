"""A part of MindSpore's published tests/st/pi_jit, run unmodified against `pijit.ms`.

The folder is `shared/mindspore_tests` beside the project, or PIJIT_MINDSPORE_TESTS names it; without one the test is skipped.
It has a conftest.py that calls `pijit.ms.install()`. The file mindspore_failures.txt lists the tests that fail, with causes.
"""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
BESIDE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "shared", "mindspore_tests")
FOLDER = os.environ.get("PIJIT_MINDSPORE_TESTS", BESIDE)
PART = os.path.join("tests", "st", "pi_jit")
FOLDERS = ("builtin", "calculation", "container", "control_ms", "dynamic_shape", "gradient", "guard")

pytestmark = [pytest.mark.unshared,
              pytest.mark.skipif(not os.path.isdir(FOLDER), reason="MindSpore's tests are not there"),
              pytest.mark.skipif("PIJIT_TEST_FEW" in os.environ and sys.version_info[:2] != (3, 10),
                                 reason="one version runs all of them")]


def expected():
    """The tests that fail, as test IDs below the folder."""
    with open(os.path.join(HERE, "mindspore_failures.txt")) as lines:
        return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def outcomes(path):
    """"passed", "failed" or "skipped" of each test in a JUnit report; files that cannot be imported fail as a whole."""
    found = {}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        module = case.get("classname").replace(".", "/")
        name = re.sub(r"^tests/st/pi_jit/", "", module) + ".py::" + case.get("name") if module else case.get("name")
        kinds = {child.tag for child in case}
        found[name] = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_part_of_mindspores_tests(folder, tmp_path):
    report = str(tmp_path / "report.xml")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "cpu_linux", "--tb=line",
               "--continue-on-collection-errors", "--junitxml", report, "-o", "junit_family=xunit1", os.path.join(PART, folder)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIJIT_TEST")}
    environment.update(PYTHONDONTWRITEBYTECODE="1", PIJIT_CACHE_DIR=os.environ["PIJIT_CACHE_DIR"])
    with open(str(tmp_path / "output.txt"), "w") as output:
        subprocess.run(command, cwd=FOLDER, env=environment, stdout=output, stderr=subprocess.STDOUT, timeout=270)
    found = outcomes(report)
    failed = {name for name, outcome in found.items() if outcome == "failed"}
    passed = sum(outcome == "passed" for outcome in found.values())
    assert sorted(failed - expected()) == []
    assert passed > 0
