"""`python -m pijit compile` and `cache export`, `cache import`: kernels on the way to another machine."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
import numpy as np
from pijit import jit

@jit
def total(x):
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + x[i]
    return s

os.chdir("/")
print(total(np.ones(3)), "numba" in sys.modules)
"""


@pytest.fixture
def run(tmp_path):
    """Runs ``python -m pijit`` with a cache folder of the given name; returns (status, output, errors)."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(folder, *arguments):
        done = subprocess.run([sys.executable, *arguments], cwd=str(tmp_path),
                              env=dict(os.environ, PIJIT_CACHE_DIR=str(tmp_path / folder),
                                       PYTHONPATH=os.pathsep.join(path or os.getcwd() for path in sys.path)),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_program_is_compiled_for_another_machine(run, tmp_path):
    status, output, errors = run("one", "-m", "pijit", "compile", "--to", "kernels.tar", "program.py")
    assert (status, output, errors) == (0, "1.75 True\n", "wrote 1 kernel to %s\n" % (tmp_path / "kernels.tar"))
    status, output, errors = run("two", "-m", "pijit", "cache", "import", "kernels.tar")
    assert (status, output, errors) == (0, "added 1 kernel; 0 known before\n", "")
    assert run("two", "program.py") == (0, "1.75 False\n", "")


@pytest.mark.parametrize("given, got", [
    (["program.py", "one", "--to", "kernels.tar"], ["one"]), (["program.py", "--to=kernels.tar"], []),
    (["-m", "program", "--to", "kernels.tar"], []),
    (["--to", "kernels.tar", "program.py", "--to", "other.tar"], ["--to", "other.tar"]),
    (["program.py", "--to", "x", "one", "--to=kernels.tar"], ["--to", "x", "one"])])
def test_the_archive_is_named_before_the_script_or_at_the_end(run, tmp_path, given, got):
    (tmp_path / "program.py").write_text("import sys\nprint(sys.argv[1:])\n")
    status, output, errors = run("one", "-m", "pijit", "compile", *given)
    assert (status, output, errors) == (0, "%s\n" % got, "wrote 0 kernels to %s\n" % (tmp_path / "kernels.tar"))


def test_a_folder_is_exported(run, tmp_path):
    assert run("one", "program.py")[0] == 0
    assert run("one", "-m", "pijit", "cache", "export", "all.tar")[0::2] == (0, "wrote 1 kernel to all.tar\n")
    assert run("two", "-m", "pijit", "cache", "import", "all.tar")[1] == "added 1 kernel; 0 known before\n"
    assert run("two", "-m", "pijit", "cache", "import", "all.tar")[1] == "added 0 kernels; 1 known before\n"


@pytest.mark.parametrize("arguments, status, error", [
    (["cache", "import"], 2, "export and import need a file"), (["cache", "info", "x"], 2, "info takes no file"),
    (["cache", "import", "none.tar"], 1, "nothing was added from none.tar"),
    (["cache", "import", "program.py"], 1, "nothing was added from program.py: it is no complete archive"),
    (["cache", "export", "none/all.tar"], 1, "nothing was written to none/all.tar"),
    (["compile", "program.py"], 2, "--to FILE is missing"), (["compile", "program.py", "--to"], 2, "--to FILE is missing"),
    (["compile", "--to", "", "program.py"], 2, "--to FILE is missing")])
def test_errors_are_clear(run, arguments, status, error):
    code, _, errors = run("one", "-m", "pijit", *arguments)
    assert code == status and error in errors and "Traceback" not in errors


def test_shared_folders_are_shown(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PIJIT_SHARED_CACHE_DIRS", str(tmp_path / "shared"))
    assert "shared folder: %s\nkernels: 0\n" % (tmp_path / "shared") in run("one", "-m", "pijit", "cache")[1]
