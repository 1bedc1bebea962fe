"""What an installation needs and brings: requirements per Python, type information, a word about compilers."""

import configparser
import os
import subprocess
import sys

import bytecode
import numba
import numpy
import pytest

import pijit
from tests.harness import needs_pipeline

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARIES = {"numpy": numpy, "numba": numba, "bytecode": bytecode}


def required():
    """(requirement, versions) of what this Python needs, as setup.cfg says."""
    requirements = pytest.importorskip("packaging.requirements")
    config = configparser.ConfigParser()
    config.read(os.path.join(ROOT, "setup.cfg"))
    lines = config["options"]["install_requires"].strip().splitlines()
    found = [requirements.Requirement(line) for line in lines]
    return [(one.name, one.specifier) for one in found if one.marker is None or one.marker.evaluate()]


@needs_pipeline
def test_requirements_are_those_of_the_tests():
    assert sorted(name for name, _ in required()) == sorted(LIBRARIES)
    for name, versions in required():
        assert LIBRARIES[name].__version__ in versions


def test_type_information_is_installed():
    assert os.path.exists(os.path.join(os.path.dirname(pijit.__file__), "py.typed"))


@needs_pipeline
def test_a_machine_without_a_compiler_is_told(tmp_path):
    pytest.importorskip("setuptools.errors")
    command = [sys.executable, "setup.py", "-q", "build_ext", "--force", "--build-temp", str(tmp_path), "--build-lib",
               str(tmp_path)]
    environment = dict(os.environ, CC=str(tmp_path / "no-compiler"), PIJIT_ONLY="pijit.guards._evaluate")
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    assert done.returncode != 0 and "Traceback" not in done.stdout
    assert "pijit needs a C compiler" in done.stdout and "build-essential" in done.stdout
