"""What README shows is true: its commands, its program, its example."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()


def blocks(language):
    """The code blocks of README in a language."""
    return re.findall(r"^```{}\n(.*?)^```".format(language), README, re.S | re.M)


def run(*arguments):
    """The output of this Python with these arguments, run elsewhere than in the source tree."""
    command = [sys.executable] + [str(one) for one in arguments]
    return subprocess.check_output(command, universal_newlines=True, cwd=str(ROOT / "examples"))


def test_program(tmp_path):
    program, _ = blocks("python")
    script = tmp_path / "program.py"
    script.write_text(program + "\nplain = np.zeros(10001)\nplain[5000] = 1.0\n"
                                "assert smooth.py_func(plain, 300).tobytes() == x.tobytes()\n"
                                "assert smooth.graphs\n")
    lines = run(script).splitlines()
    assert [line.split(" peak")[0] for line in lines[:3]] == ["round 0", "round 100", "round 200"]
    (shown,) = blocks("text")
    printed = "\n".join(line.replace(str(script), "example.py") for line in lines) + "\n"
    assert re.sub(r" at 0x[0-9a-f]+", "", printed).startswith(shown)


def test_gradient(tmp_path):
    script = tmp_path / "gradient.py"
    script.write_text(blocks("python")[1] + "x = np.array([0.0, 1.0, 4.0, 9.0])\n"
                      "f = lambda k, h: energy(x + h * (np.arange(4) == k))\n"
                      "d = np.array([(f(k, 1e-6) - f(k, -1e-6)) / 2e-6 for k in range(4)])\n"
                      "assert np.allclose(pijit.grad(energy)(x.copy()), d)\n")
    assert run(script).startswith("[")


def test_example():
    out = run(ROOT / "examples" / "quickstart.py")
    assert "same bits: True   same file: True" in out
    assert out.count("middle 100.0") >= 2
    assert re.search(r"^simulate .*: [1-9]\d* kernels?, [1-9]\d* breaks?", out, re.M)


def test_commands_name_what_exists():
    install, test = blocks("sh")
    assert "examples/quickstart.py" in install and (ROOT / "examples" / "quickstart.py").exists()
    assert test.rstrip().endswith(".venv/bin/tox") and (ROOT / "tox.ini").exists()


def test_links_and_variables_exist():
    for target in re.findall(r"\]\((docs/[^)]+)\)", README):
        assert (ROOT / target).exists(), target
    sources = "".join(path.read_text() for folder in ("pijit", "core") for path in (ROOT / folder).rglob("*.py"))
    for variable in re.findall(r"`(PIJIT_\w+)=", README):
        assert variable in sources, variable


@pytest.mark.parametrize("page", ["options", "reasons"])
def test_pages_are_printed_as_the_docs_have_them(page):
    assert run("-m", "pijit", page) == (ROOT / "docs" / (page + ".md")).read_text()
