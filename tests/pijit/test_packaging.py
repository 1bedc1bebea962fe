"""What an installation needs and brings: requirements per Python, type information, a word about compilers."""

import ast
import configparser
import os
import shutil
import subprocess
import sys

import bytecode
import numba
import numpy
import pytest

import pijit
from pijit.core.pythons import SUPPORTED

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


def test_requirements_are_those_of_the_tests():
    assert sorted(name for name, _ in required()) == sorted(LIBRARIES)
    for name, versions in required():
        assert LIBRARIES[name].__version__ in versions


def test_type_information_is_installed():
    assert os.path.exists(os.path.join(os.path.dirname(pijit.__file__), "py.typed"))


def test_a_machine_without_a_compiler_is_told(tmp_path):
    pytest.importorskip("setuptools.errors")
    command = [sys.executable, "setup.py", "-q", "build_ext", "--force", "--build-temp", str(tmp_path), "--build-lib",
               str(tmp_path)]
    environment = dict(os.environ, CC=str(tmp_path / "no-compiler"), PIJIT_ONLY="pijit.guards._evaluate")
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    assert done.returncode != 0 and "Traceback" not in done.stdout
    assert "pijit needs a C compiler" in done.stdout and "build-essential" in done.stdout


def setup_tree():
    with open(os.path.join(ROOT, "setup.py")) as file:
        return ast.parse(file.read())


def test_the_build_has_the_versions_of_the_package():
    found = [ast.literal_eval(node.value) for node in ast.walk(setup_tree())
             if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "FAMILIES"]
    assert [sorted(one) for one in found] == [sorted(SUPPORTED)]


def test_a_python_that_is_too_old_parses_the_build_file():
    newer = (ast.AnnAssign, ast.AsyncFunctionDef, ast.JoinedStr)
    for node in ast.walk(setup_tree()):
        assert not isinstance(node, newer) and not getattr(node, "returns", None), ast.dump(node)
        assert not (isinstance(node, ast.arg) and node.annotation), ast.dump(node)


def old_pythons():
    folder = os.path.join(os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv")), "versions")
    installed = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name, "bin", "python") for name in installed if name.startswith(("2.7.", "3.6."))]
    return [path for path in paths + [shutil.which("python2.7"), shutil.which("python3.6")] if path]


def test_a_python_that_is_too_old_is_told():
    given = "import sys; sys.version_info = (3, 6, 15); exec(open('setup.py').read())"
    commands = [[path, "setup.py", "--version"] for path in old_pythons()] + [[sys.executable, "-c", given]]
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        if "pyenv:" not in done.stderr:  # a shim of a version that is not chosen
            assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
            assert done.stderr.startswith("pijit needs Python 3.7 or later")


def test_the_citation_has_the_version():
    with open(os.path.join(ROOT, "CITATION.cff"), encoding="utf-8") as file:
        assert "\nversion: %s\n" % pijit.__version__ in file.read()
