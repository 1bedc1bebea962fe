"""Python that is started in a checkout imports the pijit that is installed."""

import os
import shutil
import subprocess
import sys

import pytest

import pijit
from pijit._checkout import installed


@pytest.fixture
def checkout(tmp_path):
    """A folder with the package as a checkout has it: without core and guards, which are beside it there."""
    folder = tmp_path / "checkout" / "pijit"
    folder.mkdir(parents=True)
    for name in ("__init__.py", "_checkout.py"):
        shutil.copy(os.path.join(os.path.dirname(pijit.__file__), name), str(folder))
    return folder.parent


def test_programs_run_there(checkout):
    program = "import pijit; f = pijit.jit(lambda x: x + 1); print(f(2), type(f).__name__)"
    for command in (["-c", program], ["-m", "pijit", "doctor"]):
        done = subprocess.run([sys.executable] + command, cwd=str(checkout), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)
        assert done.returncode == 0, done.stdout
        assert done.stdout == "3 Jitted\n" or "ok   pijit" in done.stdout


def test_what_is_installed_is_found(checkout, tmp_path, monkeypatch):
    place = tmp_path / "site" / "pijit"
    (place / "core").mkdir(parents=True)
    (place / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(checkout), "", str(tmp_path / "site")])
    monkeypatch.chdir(checkout)
    assert installed(str(checkout / "pijit")) == str(place)
    monkeypatch.setattr(sys, "path", ["", str(checkout)])
    with pytest.raises(ModuleNotFoundError, match="pijit is not installed, and .*checkout has only its source"):
        installed(str(checkout / "pijit"))
