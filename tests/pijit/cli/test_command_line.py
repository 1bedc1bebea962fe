"""`python -m pijit`: running a program as it is, and what the subcommands say."""

import ast
import os
import subprocess
import sys
import sysconfig
import textwrap

import pytest

import pijit
from pijit.__main__ import SUBCOMMANDS, main
from pijit.cli import bisection
from pijit.cli.program import Program, decorate

MAIN = '''
"""The program's own text."""
from __future__ import annotations
import sys
import numpy as np
from own.tools import Model, norm

def run(n: not_evaluated):
    total = 0.0
    for i in range(n):
        total += i * 0.5
        if i % 50 == 0:
            print("at", i)
    return total

class Odd(Exception):
    pass

def fail(x):
    y = x * 2.0 + 1.0
    raise Odd("at the end", y.sum())

print(sys.argv, __name__, __file__, __doc__, run.__name__, sorted(sys.modules["__main__"].__dict__)[:3])
print(run(100), norm(np.ones(10)), Model(2.0).step(np.ones(4)), Model.made().k)
if len(sys.argv) > 1:
    sys.exit(int(sys.argv[1]))
fail(np.ones(3))
'''

TOOLS = '''
import numpy as np

def norm(x):
    y = x * 2.0 + 1.0
    return np.sqrt((y * y).sum())

class Model:
    def __new__(cls, k):
        return super().__new__(cls)

    def __init__(self, k):
        self.k = k

    @classmethod
    def made(cls):
        return cls(1.5)

    def step(self, x):
        z = x * self.k + 1.0
        return z * z
'''

WRONG = '''
def sabotage():
    from pijit.core.entries import kernels
    compile_graph = kernels.compile_graph
    def wrong(graph, *args):
        for op in [op for block in graph.blocks for op in block.ops if graph.name.startswith("second_")]:
            if op.name == "add" and "float64" in repr(op.result.type):
                op.name = "sub"
        return compile_graph(graph, *args)
    kernels.compile_graph = wrong

def first(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * 2.0
    return total

def second(x):
    total = 1.0
    for i in range(len(x)):
        total += x[i] * 3.0
    return total

import numpy as np
SABOTAGE
print(first(np.arange(10.0)), second(np.arange(10.0)))
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "main.py").write_text(MAIN.lstrip())
    (tmp_path / "own" / "tools.py").write_text(TOOLS)
    (tmp_path / "wrong.py").write_text(WRONG.replace("SABOTAGE", "sabotage()"))
    (tmp_path / "right.py").write_text(WRONG.replace("SABOTAGE", ""))
    return tmp_path


def ran(folder, *command):
    """Exit status, stdout and stderr of Python with these arguments."""
    done = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, cwd=str(folder), timeout=300,
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    return done.returncode, done.stdout, done.stderr


PIJIT = ("-m", "pijit", "--backend", "python")


@pytest.mark.parametrize("arguments", [["main.py"], ["main.py", "3", "--report", "x"]])
def test_a_program_does_the_same(folder, arguments):
    assert ran(folder, *PIJIT, *arguments) == ran(folder, *arguments)
    assert sorted(path.name for path in folder.rglob("*")) == ["main.py", "own", "right.py", "tools.py", "wrong.py"]


PACKAGE = {
    "__init__.py": "def helper(x):\n    return x * 2.0 + 1.0\n",
    "__main__.py": '''
"""The text of the module."""
import sys
import numpy as np
from . import helper

def run(n):
    total = 0.0
    for i in range(n):
        total += i * 0.5
    return total

main = sys.modules["__main__"]
print(sys.argv, sys.path[0], __name__, __file__, __doc__, __package__, __spec__.name, __spec__.origin, sorted(vars(main)))
print(run(100), helper(np.ones(3)))
if len(sys.argv) > 1:
    raise ValueError(run(3))
''',
    "one.py": "import sys\nprint(__name__, __package__, sys.argv)\nsys.exit(7)\n",
    "failing.py": "import no_such_module\n",
    "wrong.py": "x = = 1\n",
}


@pytest.fixture
def package(tmp_path):
    """A folder with the package `own`, and in it the empty package `own.empty`."""
    (tmp_path / "own" / "empty").mkdir(parents=True)
    (tmp_path / "own" / "empty" / "__init__.py").write_text("")
    for name, text in PACKAGE.items():
        (tmp_path / "own" / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("arguments", ["own a -m --check", "own.one b --report x", "own.empty", "no_such",
                                       "own.failing.part"])
def test_a_module_does_the_same(package, arguments):
    assert ran(package, *PIJIT, "-m", *arguments.split()) == ran(package, "-m", *arguments.split())


def test_an_installed_module_is_left_alone(package):
    plain = ran(package, "-m", "calendar", "2024", "1")
    said = ran(package, "-m", "pijit", "explain", "-m", "calendar", "2024", "1")
    assert plain[0] == said[0] == 0
    assert said[1] == plain[1] + "no function of the program's own modules was called\n"


def test_a_module_on_the_path_is_jitted(package, tmp_path_factory):
    elsewhere = str(tmp_path_factory.mktemp("elsewhere"))
    program = Program("own.one", is_module=True)
    assert program.root == os.path.realpath(os.getcwd())
    done = subprocess.run([sys.executable, "-m", "pijit", "explain", "--backend", "python", "-m", "own"],
                          stdout=subprocess.PIPE, universal_newlines=True, cwd=elsewhere,
                          env=dict(os.environ, PYTHONPATH=str(package)))
    heads = [line.split(" (")[0] for line in done.stdout.splitlines() if " kernel" in line]
    assert done.returncode == 0 and heads == ["helper", "run"], done.stdout


@pytest.mark.parametrize("given", [["-m", "own.one", "x", "-m"], ["script.py", "-m"]])
def test_a_module_can_be_bisected(monkeypatch, given):
    asked = []
    monkeypatch.setattr(bisection, "bisect", lambda program, backend, write: asked.append(program) or 5)
    assert main(["bisect", "--backend", "python", *given]) == 5 and asked == [given]


def test_a_syntax_error_is_shown_as_python_does(package):
    assert ran(package, *PIJIT, "own/wrong.py") == ran(package, "own/wrong.py")


def test_version_and_words_of_logs(capsys):
    assert main(["--version"]) == 0 and capsys.readouterr() == ("pijit {}\n".format(pijit.__version__), "")
    assert main(["logs"]) == 0 and "\n  libraries " in capsys.readouterr().out


def test_report_and_check(folder):
    status, out, _ = ran(folder, *PIJIT, "--check", "--report", "page.html", "main.py", "0")
    assert status == 0 and "at 50\n" in out
    page = (folder / "page.html").read_text()
    names = [name for name in ("Model.step", "norm", "run", "fail") if "<h1>{}</h1>".format(name) in page]
    assert names == ["Model.step", "norm", "run"] and page.count("<svg") >= 3


def test_explain(folder):
    status, out, _ = ran(folder, "-m", "pijit", "explain", "--backend", "python", "main.py", "0")
    assert status == 0 and out.startswith(ran(folder, "main.py", "0")[1])
    heads = [line.split(" (")[0] for line in out.splitlines() if " kernel" in line and line[0] not in " k"]
    assert sorted(heads) == ["Model.made", "Model.step", "norm", "run"]
    assert "k1     9 |" in out and "PJ201" in out


def jitted_names(source):
    """The names of what is jitted when this module is run."""
    program = Program("nowhere.py", {"backend": "python"})
    import builtins

    builtins.__pijit_program__ = program.jitted
    try:
        exec(program.compiled(textwrap.dedent(source).encode(), "nowhere.py"), {"__name__": "nowhere"})
    finally:
        del builtins.__pijit_program__
    return [f.__qualname__ for f in program.functions]


def test_what_is_jitted():
    assert jitted_names('''
        import contextlib, functools
        def plain(x):
            def inner(y):
                return y
            return inner(x)
        if True:
            def conditional(): pass
        def generator():
            yield 1
        async def coroutine(): pass
        @contextlib.contextmanager
        def managed():
            yield
        @functools.lru_cache()
        def cached(): pass
        lambda: 0
        class Model:
            def __new__(cls): return super().__new__(cls)
            def __call__(self): pass
            def method(self): pass
            @property
            def size(self): return 1
            @size.setter
            def size(self, value): pass
            @staticmethod
            def static(): pass
            @functools.wraps(plain)
            def wrapped(self): pass
            class Inner:
                def deep(self): pass
        assert Model().size == 1 and plain(3) == 3 and cached() is None
        ''') == ["plain", "conditional", "cached", "Model.__call__", "Model.method", "Model.size", "Model.size",
                 "Model.static", "Model.Inner.deep"]


def test_own_modules(tmp_path):
    import json

    import numpy

    program = Program(str(tmp_path / "main.py"))
    assert program.owns(str(tmp_path / "own" / "tools.py")) and not program.owns(str(tmp_path / "own" / "data.txt"))
    assert not any(program.owns(path) for path in (None, json.__file__, numpy.__file__, "/elsewhere/x.py"))
    assert not Program(os.path.join(sys.prefix, "main.py")).owns(numpy.__file__)


def test_own_modules_are_told_apart_while_sysconfig_is_busy(tmp_path, monkeypatch):
    """It imports modules before it can answer, and these are looked up too."""
    program = Program(str(tmp_path / "main.py"))
    monkeypatch.setattr(sysconfig, "get_path", None)
    assert program.owns(str(tmp_path / "tools.py")) and not program.owns(sysconfig.__file__)


def test_decorators_have_valid_positions():
    """Python 3.11 and later refuse a node that ends before it begins."""
    tree = ast.parse("x = 1\n\ndef f(x):\n    return x\n")
    decorate(tree.body)
    decorator, = tree.body[1].decorator_list
    assert (decorator.lineno, decorator.end_lineno) == (3, 3) and decorator.end_col_offset >= decorator.col_offset


def test_bisect_finds_the_kernel(folder):
    status, out, _ = ran(folder, "-m", "pijit", "bisect", "--backend", "python", "wrong.py")
    last = out.splitlines()[-3:]
    assert status == 1 and "DifferenceError: second behaves differently" in last[0]
    assert last[0].startswith("with second_") and " alone in machine code the program differs: " in last[0]
    assert ", of second (" in last[1] and "jit_config={\"interpret\": ['second_" in last[2]
    assert "first_" not in "".join(last)


def test_bisect_finds_nothing(folder):
    status, out, _ = ran(folder, "-m", "pijit", "bisect", "--backend", "python", "right.py")
    assert status == 0 and out.splitlines()[-1] == "no difference: the program does the same with pijit and without"
    (folder / "varying.py").write_text("import os\nprint(os.urandom(8))\n")
    assert ran(folder, "-m", "pijit", "bisect", "varying.py")[0] == 2


def test_doctor(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path / "kernels"))
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[5:18].strip() for line in lines] == ["Python", "pijit", "libraries", "compiler", "threads", "cache",
                                                      "frame hook", "environment"]
    assert str(tmp_path) in lines[5] and all(line.startswith("ok ") for line in lines)
    monkeypatch.setenv("PIJIT_DISABLE", "1")
    assert main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line[5:18].strip() for line in lines if not line.startswith("ok ")] == ["environment"]
    assert "not tried, since decorators do nothing" in lines[3]


def test_usage_and_wrong_names(capsys):
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all("  {} ".format(name) in printed for name in SUBCOMMANDS) and "--report FILE" in printed
    assert main([]) == 2 and "usage: python -m pijit" in capsys.readouterr().err
    assert main(["no_such.py"]) == 2
    assert "there is no file 'no_such.py', and no command of that name" in capsys.readouterr().err
