"""The programs of docs/guide.md run, print the same without pijit, and show what the page says."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "guide.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)
TITLES = ["start", "breaks", "options", "more", "logs", "profile", "off"]


def run(program, folder, **environment):
    """What a program prints, run as a file elsewhere than in the source tree."""
    script = folder / "program.py"
    script.write_text(program)
    return subprocess.check_output([sys.executable, str(script)], universal_newlines=True, cwd=str(folder),
                                   stderr=subprocess.STDOUT, env=dict(os.environ, **environment))


def test_each_program_has_a_test():
    assert len(PROGRAMS) == len(TITLES)


def test_start(tmp_path):
    out = run(PROGRAMS[0], tmp_path)
    rounds = [line for line in out.splitlines() if line.startswith("round ")]
    assert [line.split()[1] for line in rounds] == ["0", "50", "0", "50"] and rounds[:2] == rounds[2:]
    assert re.search(r"^relax .*: [1-9]\d* kernels?, [1-9]\d* breaks?", out, re.M)
    assert re.search(r"^k\d+(,k\d+)* +\d+ \|         x\[1:-1\] = y", out, re.M)
    assert re.search(r'^(k[k\d,]+/)?py +\d+ \|             print\("round"', out, re.M) and "^ PJ201" in out
    plain = run(PROGRAMS[0].split("print(pijit")[0], tmp_path, PIJIT_DISABLE="1")
    assert rounds == plain.splitlines()


def test_breaks(tmp_path):
    lines = run(PROGRAMS[1], tmp_path).splitlines()
    number = PROGRAMS[1].splitlines().index("        names |= {i}") + 1
    assert lines and {line.split()[0] for line in lines} == {str(number)}
    assert all(re.match(r"\d+ PJ2\d\d \w", line) for line in lines)
    assert "<svg" in (tmp_path / "norms.html").read_text() and (tmp_path / "dumps" / "norms" / "entry_0").is_dir()


def test_options(tmp_path):
    out = run(PROGRAMS[2], tmp_path)
    number = PROGRAMS[2].splitlines().index('    print("not compiled")') + 1
    assert out.startswith("fullgraph is set, but not all of strict can be captured:\n")
    assert "program.py:{}: PJ201".format(number) in out and "\n    hint: " in out


def test_more(tmp_path):
    assert run(PROGRAMS[3], tmp_path).splitlines() == [
        "1", "0", "weighted: argument weights has shape (5,), but dimension 0 must be 3, as that of rows, dimension 0"]


def test_logs(tmp_path):
    out = run(PROGRAMS[4], tmp_path).splitlines()
    assert "pijit recompiles: scaled: PJ301" in out[0] and "now has dtype float32" in out[0]
    assert out[1].startswith("scaled (") and "entries: 2 of at most 8" in out


def test_profile(tmp_path):
    out = run(PROGRAMS[5], tmp_path)
    assert re.match(r"profile: .* in 20 calls of jitted functions: ", out)
    assert re.search(r"^ *\d.* 100 % +20 .*  smooth \(.*program\.py:\d+\)$", out, re.M)
    assert re.search(r"^k[k\d,]* [\d.]+ [mu]?s +7 \|     for i in range\(steps\)", out, re.M), out
    assert out.splitlines()[-1] == "smooth 20 True"


def test_off(tmp_path):
    assert run(PROGRAMS[6], tmp_path) == "0\n0\n"


@pytest.mark.parametrize("target", re.findall(r"\]\(([a-z]+\.md)\)", PAGE))
def test_links(target):
    assert (ROOT / "docs" / target).exists()


def test_variables_and_ids_exist():
    from pijit.core.reasons import REASONS

    assert set(re.findall(r"PJ\d\d\d", PAGE)) <= set(REASONS)
    modules = [*(ROOT / "pijit").glob("*.py"), *(ROOT / "core" / "kernel").glob("*.py")]
    sources = "".join(path.read_text() for path in modules)
    assert all(name in sources for name in re.findall(r"`(PIJIT_\w+)=", PAGE))
