"""C files are formatted by clang-format, with the style of .clang-format."""

import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAJOR = "23."
"""The version whose style counts: others break lines in other places."""


def c_files():
    for folder in ("core", "guards"):
        for below, _, files in os.walk(os.path.join(ROOT, folder)):
            for name in files:
                if name.endswith((".c", ".h", ".inc")):
                    yield os.path.join(below, name)


@pytest.mark.unshared
def test_c_files_are_formatted():
    tool = shutil.which("clang-format")
    version = subprocess.check_output([tool, "--version"], universal_newlines=True) if tool else ""
    if " version " + MAJOR not in version:
        pytest.skip("no clang-format " + MAJOR)
    style = "--style=file:" + os.path.join(ROOT, ".clang-format")
    run = subprocess.run([tool, "--dry-run", "-Werror", style, *sorted(c_files())], stderr=subprocess.PIPE,
                         universal_newlines=True)
    assert run.returncode == 0, run.stderr[:2000]
