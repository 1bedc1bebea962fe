"""`%load_ext pijit` and `%%pijit`: cells whose functions are jitted."""

import codeop
import importlib.util
import linecache
import subprocess
import sys
import textwrap
import types

import pytest

import pijit
from pijit.notebook import CellRunner

CELL = textwrap.dedent("""
    import numpy as np

    def scaled(x):
        return x * 2.0 + 1.0

    class Model:
        def step(self, x):
            return x - 1.0

    def shown(x):
        print("not compiled")
        y = x * 2.0 + 1.0
        return y * y

    scaled(np.ones(3)).tolist()
""")


class Compiler(codeop.Compile):
    """As IPython's: keeps the source of cells for tracebacks."""

    def cache(self, source, number):
        name = "<cell {}>".format(number)
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        return name

    def ast_parse(self, source, name):
        return compile(source, name, "exec", self.flags | 1024, True)


@pytest.fixture
def shell():
    return types.SimpleNamespace(compile=Compiler(), transform_cell=lambda cell: cell, execution_count=7,
                                 user_ns={"__name__": "__main__"})


@pytest.fixture
def seen():
    return []


@pytest.fixture
def run(shell, seen):
    return CellRunner(shell, seen.append)


def test_functions_of_a_cell_are_jitted_and_its_last_line_is_shown(run, shell, seen):
    assert run("--backend python", CELL) == [3.0, 3.0, 3.0]
    scaled, model = shell.user_ns["scaled"], shell.user_ns["Model"]
    assert scaled.graphs and scaled.config.backend == "python"
    assert type(vars(model)["step"]) is type(scaled)
    assert "return x * 2.0 + 1.0" in str(scaled.explain())
    assert not seen


def test_reports_on_what_was_called(run, seen):
    run("--report --backend python", CELL)
    assert [report.name for report in seen] == ["scaled"]
    assert "<svg" in seen[0]._repr_html_()


def test_loops_outside_functions_are_reported(run, seen):
    run("--report --backend python", "total = 0\nfor k in range(3):\n    total += k\n")
    assert [(report.name, report.skipped.id, [number for number, _ in report.source]) for report in seen] == [
        ("<module>", "PJ408", [2, 3])]
    assert "total += k" in str(seen[0]) and "PJ408" in seen[0]._repr_html_()


def test_a_semicolon_hides_the_last_line(run):
    assert run("--backend python", CELL.rstrip() + ";\n") is None
    assert run("", "") is None


def test_errors_leave_with_the_cells_lines(run):
    with pytest.raises(ZeroDivisionError) as raised:
        run("--backend python", "def f(x):\n    return x / 0\n\nf(1)\n")
    assert [(entry.path, entry.lineno + 1) for entry in raised.traceback[-2:]] == [("<cell 7>", 4), ("<cell 7>", 2)]


@pytest.mark.parametrize("line", ["--reports", "name", "--backend c"])
def test_a_wrong_option_is_an_error_that_names_the_right_ones(run, line):
    with pytest.raises(ValueError, match=r"(?s)^%%pijit: .*usage: %%pijit .*--report.*--check.*--backend"):
        run(line, "")


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="IPython is not installed")
def test_in_ipython(tmp_path):
    script = tmp_path / "session.ipy"
    script.write_text("%load_ext pijit\n"
                      "get_ipython().run_cell_magic('pijit', '--report', '''{}''')\n"
                      "get_ipython().run_cell('%%pijit --chek\\n1')\n"
                      "%unload_ext pijit\n"
                      "print(scaled.graphs[0].kind, 'pijit' in get_ipython().magics_manager.magics['cell'])\n"
                      .format(CELL.replace("tolist()", "tolist();")))
    out = subprocess.check_output([sys.executable, "-m", "IPython", "--no-banner", "--quick", str(script)],
                                  universal_newlines=True, stderr=subprocess.STDOUT, cwd=str(tmp_path))
    assert "scaled (" in out and "1 kernel" in out and out.rstrip().endswith("kernel False"), out
    assert "UsageError: %%pijit: unrecognized arguments: --chek\nusage: %%pijit" in out and "Traceback" not in out


def test_the_package_is_the_extension():
    assert callable(pijit.load_ipython_extension) and callable(pijit.unload_ipython_extension)
