"""The bytecode layer on CPython 3.14, compiled to WebAssembly: no other CPython 3.14 is needed, only node.

The npm package `pyodide` 314.0 is that CPython with its standard library. It is looked for in the folder that the environment
variable PIJIT_PYODIDE names, else in `node_modules/pyodide` of this environment: `npm install --prefix ENVIRONMENT pyodide@~314.0`.
Tests run there as `wasm/program.py` says: with pytest, and with the library `bytecode`, of this environment.
"""

import glob
import importlib.util
import json
import os
import shutil
import subprocess
import sys

import pytest

import pijit.core

FOLDER = os.environ.get("PIJIT_PYODIDE") or os.path.join(sys.prefix, "node_modules", "pyodide")
NODE = shutil.which("node")
HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = os.path.join(os.path.dirname(HERE), "conformance")
NAMED_TUPLES = "test_named_tuple_classes.py"
PACKAGES = ("bytecode", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
#: Parts of CPython's own tests: those of Python 3.11 to 3.13 run on 3.14's library, and a few fail there for that reason.
OWN_TESTS = ("__init__.py", "support", "test_heapq.py", "test_textwrap.py", "test_string.py", "test_contextlib.py")

pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 11), reason="packages of this version do not run on CPython 3.14"),
    pytest.mark.skipif(NODE is None, reason="there is no node"),
    pytest.mark.skipif(not os.path.exists(os.path.join(FOLDER, "pyodide.mjs")), reason="there is no pyodide in " + FOLDER)]


def copy(source, target):
    """Copy a file, or the Python files of a folder."""
    if os.path.isdir(source):
        unwanted = shutil.ignore_patterns("__pycache__", "*.so", "*.c", "*.h")
        shutil.copytree(source, target, ignore=unwanted, dirs_exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)


def place_of(name):
    """The file or folder of a package, or None."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        return None
    return os.path.dirname(found.origin) if found.submodule_search_locations else found.origin


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What `wasm/program.py` expects around it."""
    folder = str(tmp_path_factory.mktemp("wasm"))
    copy(os.path.join(HERE, "wasm", "program.py"), os.path.join(folder, "program.py"))
    copy(list(pijit.__path__)[0], os.path.join(folder, "pijit"))
    copy(list(pijit.core.__path__)[0], os.path.join(folder, "pijit", "core"))
    copy(HERE, os.path.join(folder, "tests", "bytecode"))
    copy(os.path.join(CONFORMANCE, "nop_linked.py"), os.path.join(folder, "tests", "nop_linked.py"))
    copy(os.path.join(os.path.dirname(HERE), NAMED_TUPLES), os.path.join(folder, "tests", NAMED_TUPLES))
    for place in filter(None, map(place_of, PACKAGES)):
        copy(place, os.path.join(folder, "packages", os.path.basename(place)))
    if place_of("test"):
        for name in OWN_TESTS:
            copy(os.path.join(place_of("test"), name), os.path.join(folder, "packages", "test", name))
    return folder


def run(folder, *arguments):
    """What a program prints; it has to succeed."""
    done = subprocess.run([NODE, os.path.join(HERE, "wasm", "run.mjs"), FOLDER, folder, "program.py", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=280)
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def test_the_tests_of_this_folder_pass(folder):
    """Tables, encoder, normal form, linked code with launchers in Python."""
    found = [os.path.relpath(path, HERE) for path in glob.glob(os.path.join(HERE, "**", "test_*"), recursive=True)]
    names = sorted(name for name in found if name.endswith(("_311.py", "_314.py")))
    apart = ("test_identity_311.py", "test_nop_linker_311.py", "test_wasm_314.py")
    shown = run(folder, "pytest", *("/work/tests/bytecode/" + name for name in names if os.path.basename(name) not in apart))
    passed = next(line for line in shown.split("\n") if " passed" in line).split(" passed")[0].split()[-1]
    assert int(passed) > 400, shown[-3000:]


def test_classes_of_named_tuples_have_their_fields(folder):
    """CPython 3.14 evaluates annotations on demand (PEP 649)."""
    assert " passed" in run(folder, "pytest", "/work/tests/" + NAMED_TUPLES)


def test_decoding_and_encoding_change_no_code_object(folder):
    """All of the standard library."""
    lines = [line for line in run(folder, "tests/bytecode/test_identity_311.py").split("\n") if line.startswith("3.14")]
    counts = next(line for line in lines if " stdlib " in line)
    assert counts.endswith(" {}") and int(counts.split("'code objects': ")[1].split("}")[0]) > 15000, counts


def test_all_code_of_a_part_of_the_library_links(folder):
    report = json.loads(run(folder, "tests/nop_linked.py", "--files", "/lib/python3.14/asyncio").split("\n")[-2])
    assert report["faults"] == [] and report["linked"] > 500 and report["sites"] > 2000


@pytest.mark.skipif(importlib.util.find_spec("test") is None or importlib.util.find_spec("test.test_heapq") is None,
                    reason="this Python has no tests of its own")
def test_modules_pass_their_tests_with_launchers(folder):
    modules = ("test_textwrap", "test_string", "test_contextlib")
    plain, linked = (json.loads(run(folder, "tests/nop_linked.py", *options, *modules).split("\n")[-2])
                     for options in (["--plain"], ["--every", "--hit"]))
    assert linked["failed"] == plain["failed"] and linked["tests"] == plain["tests"] > 150 and linked["faults"] == []
    assert linked["sites"] > 10000 and linked["calls"] > 100000
