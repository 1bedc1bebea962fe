"""Types for type checkers: jitted functions keep their signatures, and options are checked.

mypy, and pyright where it is installed, read a program whose comments say what they must reveal or report. Both bind
the class of a classmethod to plain functions alone: around a jitted function they miss an argument.
"""

import ast
import inspect
import os
import re
import site
import subprocess
import sys

import pytest

import pijit
from pijit import options
from pijit.typed import jit_config

pytestmark = pytest.mark.unshared  # one version has mypy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

PROGRAM = '''
import functools
from typing import List

import pijit
from pijit import JitConfig, jit, jit_class, ms_function


@jit
def plain(x: float, n: int = 1, *, scale: float = 2.0) -> List[float]:
    return [x * scale] * n


@jit(jit_config={"cache_limit": 2}, mode="PSJit")
def with_options(x: float) -> int:
    return int(x)


@jit(jit_config=JitConfig(cache_limit=2, backend="numba"))
def with_typed_options(x: float, y: str) -> str:
    return y * int(x)


@jit(input_signature=[pijit.Tensor([None], float)])
def with_signature(x: List[float]) -> float:
    return x[0]


@ms_function
def graph(x: int) -> float:
    return x * 1.0


def undecorated(x: bytes) -> bool:
    return bool(x)


class Layer:
    @jit
    def run(self, x: float, n: int) -> float:
        return x * n

    @staticmethod
    @jit
    def static(x: int) -> str:
        return str(x)

    @classmethod
    @jit
    def made(cls, x: int) -> int:
        return x


@jit
class Called:
    def __call__(self, x: int) -> int:
        return x


@jit_class
class Methods:
    def apply(self, x: int) -> str:
        return str(x)


reveal_type(plain(1.0, 2, scale=1.0))  # reveals: list[float]
reveal_type(with_options(1.0))  # reveals: int
reveal_type(with_typed_options(1.0, "a"))  # reveals: str
reveal_type(with_signature([1.0]))  # reveals: float
reveal_type(graph(1))  # reveals: float
reveal_type(jit(undecorated)(b""))  # reveals: bool
reveal_type(jit(undecorated, mode="PSJit")(b""))  # reveals: bool
reveal_type(jit(jit_config=None)(undecorated)(b""))  # reveals: bool
reveal_type(Layer().run(1.0, 2))  # reveals: float
reveal_type(Layer.run(Layer(), 1.0, 2))  # reveals: float
reveal_type(Layer.static(1))  # reveals: str
reveal_type(Layer.made(1))  # reports
reveal_type(Called()(1))  # reveals: int
reveal_type(Methods().apply(1))  # reveals: str
reveal_type(jit(functools.partial(undecorated, b""))())  # reveals: bool
reveal_type(plain.py_func(1.0))  # reveals: list[float]
reveal_type(plain.cache_info().hits)  # reveals: int
reveal_type(Layer().run.cache_info().misses)  # reveals: int
plain("text")  # reports
plain(1.0, scale="text")  # reports
plain(1.0, other=3)  # reports
with_options()  # reports
Layer().run(1.0)  # reports
JitConfig(cache_limit="two")  # reports
JitConfig(backend="llvm")  # reports
JitConfig(cache_limits=2)  # reports
jit(jit_config=3)  # reports
'''


def expected():
    """By line: the type that is revealed, or None for an error."""
    found = {}
    for number, line in enumerate(PROGRAM.splitlines(), 1):
        reveals, reports = re.search("# reveals: (.*)", line), line.endswith("# reports")
        if reveals or reports:
            found[number] = reveals.group(1) if reveals else None
    return found


def check(output, revealed, reported):
    """Compare the output of a type checker with the comments; patterns find (line, type) and the lines of errors."""
    wanted = expected()
    errors = {int(line) for line in re.findall(reported, output)}
    types = {int(line): kind for line, kind in re.findall(revealed, output) if int(line) not in errors}
    assert types == {line: kind for line, kind in wanted.items() if kind is not None}, output
    assert errors == {line for line, kind in wanted.items() if kind is None}, output


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def run(command, folder):
    environment = dict(os.environ)
    imported = os.path.dirname(os.path.dirname(os.path.abspath(pijit.__file__)))
    if imported not in site.getsitepackages():  # mypy reads those itself, and refuses them in MYPYPATH
        environment["MYPYPATH"] = imported
    done = subprocess.run(command, cwd=str(folder), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    return done.stdout


def test_mypy(program):
    pytest.importorskip("mypy")
    found = run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary",
                 "--cache-dir", str(program / "cache"), "program.py"], program)
    found = found.replace("builtins.", "")
    check(found, r'program\.py:(\d+): note: Revealed type is "(.*)"', r"program\.py:(\d+): error")


def test_pyright(program):
    pytest.importorskip("pyright")
    (program / "pyrightconfig.json").write_text('{"extraPaths": [%r]}' % os.environ.get("PYTHONPATH", ROOT))
    found = run([sys.executable, "-m", "pyright", "program.py"], program)
    found = found.replace("List[", "list[")
    check(found, r'program\.py:(\d+):\d+ - information: Type of ".*" is "(.*)"', r"program\.py:(\d+):\d+ - error")


def fields():
    """The keys of JitConfig and their texts."""
    tree = ast.parse(inspect.getsource(jit_config))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "JitConfig").body[1:]
    pairs = list(zip(body[::2], body[1::2]))
    assert len(body) == 2 * len(pairs)
    return {key.target.id: " ".join(ast.literal_eval(text.value).split()) for key, text in pairs}


def test_typed_options_are_those_of_the_table():
    assert fields() == {row.name: row.sentence for row in options.OPTIONS.values()}


def test_typed_options_are_accepted():
    typed = pijit.JitConfig(cache_limit=3, fullgraph=True)
    assert isinstance(typed, dict) and typed == {"cache_limit": 3, "fullgraph": True}
    assert options.parse(typed) == options.parse({"cache_limit": 3, "fullgraph": True})
    assert pijit.jit(lambda x: x, jit_config=typed)(2) == 2


def test_types_cost_nothing_at_run_time():
    code = "import sys, pijit; from pijit import jit; print([name for name in ('pijit.typed', 'pijit.typed.jit_config') if name in sys.modules])"
    assert run([sys.executable, "-c", code], ROOT).strip() == "[]"
