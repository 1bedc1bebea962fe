"""The programs of docs/science.md run, and print what stands below them, with pijit and without."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

for _package in ("scipy", "sklearn", "pandas"):
    pytest.importorskip(_package)

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "science.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", PAGE, re.S | re.M)
NEEDS_PIJIT = ("pijit.info", "FullGraphError")
"""What shows that a program prints something of pijit's."""


def printed(program, folder, **environment):
    script = folder / "program.py"
    script.write_text(program)
    return subprocess.check_output([sys.executable, str(script)], universal_newlines=True, cwd=str(folder),
                                   stderr=subprocess.STDOUT, env=dict(os.environ, **environment))


def test_each_program_says_what_it_prints():
    assert len(PROGRAMS) == PAGE.count("```python") > 0


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_programs(number, tmp_path):
    program, wanted = PROGRAMS[number]
    assert printed(program, tmp_path) == wanted
    if not any(word in program for word in NEEDS_PIJIT):
        assert printed(program, tmp_path, PIJIT_DISABLE="1") == wanted


def test_the_table_is_that_of_the_benchmark():
    from benchmarks.science import rows

    names = re.findall(r"^\| ([^|]+) \| [\d.]+ \| [\d.]+ \| [\d.]* \|$", PAGE, re.M)
    assert names == [row.name for row in rows()]
