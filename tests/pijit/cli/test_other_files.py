"""What is told of code in other files names them, and what is told of calls leads to what is in their way."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pijit
from tests.harness import fail_unless_captured, jitted

X = np.linspace(0.0, 1.0, 200)
HELPERS = '''
def put(out, i, value):
    out[i] = value * 2.0 + 1.0

def innermost(x):
    y = x * 2.0
    print("inside")
    return y

def middle(x):
    return innermost(x) + 1.0
'''


@pytest.fixture
def helpers(tmp_path):
    """A module of its own, and its file."""
    path = tmp_path / "library_helpers.py"
    path.write_text(HELPERS)
    names = {"__name__": "helpers"}
    exec(compile(HELPERS, str(path), "exec"), names)
    return names, str(path)


def ran(f, *args):
    with fail_unless_captured():
        j = jitted(f, {"backend": "python", "perf_statistics": False, "force_breaks": None})
        for _ in range(3):
            j(*args)
    return j


def test_effects_of_inlined_code_name_its_file(helpers, tmp_path):
    names, path = helpers
    put = names["put"]

    def fill(x, out):
        for i in range(len(x)):
            put(out, i, x[i])
        out[0] = 3.0
        return out

    j = ran(fill, X, np.zeros(200))
    report, line = pijit.explain(j), fill.__code__.co_firstlineno
    assert {(one.file, one.line) for one in report.effects} == {("", line + 3), (path, 3)}
    texts = list(map(str, report.effects))
    assert "{}:3: store of array elements in k1".format(path) in texts
    assert any(text.startswith("line {}: store".format(line + 3)) for text in texts)
    assert "effect {}:3: store".format(path) in report.records[-1].segments
    assert "  # {}:3, inlined from put\n".format(path) in report.records[-1].graph
    assert "  # line {}\n".format(line + 2) in report.records[-1].graph
    assert "<li>{}:3: store".format(path) in report._repr_html_()


def half(value):
    return value * 0.5


def test_functions_that_were_inlined_are_listed_with_their_calls(helpers):
    put = helpers[0]["put"]

    def fill(x, out):
        for i in range(len(x)):
            put(out, i, half(x[i]) + half(1.0))
            out[i] += half(x[i])

    report, first = pijit.explain(ran(fill, X, np.zeros(200))), fill.__code__.co_firstlineno
    found = {(one.name, one.filename, one.line, one.caller, one.call_line, one.where) for one in report.inlined}
    here = half.__code__.co_firstlineno
    assert found == {("put", helpers[1], 2, "fill", first + 2, "k1"),
                     ("half", __file__, here, "fill", first + 2, "k1"),
                     ("half", __file__, here, "fill", first + 3, "k1")}
    lines = str(report).splitlines()
    assert "  half ({}:{}), called at line {}, line {}".format(__file__, here, first + 2, first + 3) in lines
    assert lines.index("inlined:") < lines.index("  put ({}:2), called at line {}".format(helpers[1], first + 2))


def test_of_several_calls_that_are_not_inlined_the_innermost_reason_is_given(helpers, capsys):
    names, path = helpers
    middle = names["middle"]

    def outermost(x):
        y = middle(x)
        return y * 2.0 + x

    report = pijit.explain(ran(outermost, X))
    (one,) = report.breaks
    assert one.message == (
        "PJ230 call of a Python function that is not inlined (callee: middle, because: {}:7, in innermost: PJ201 call "
        "of a function that is not captured (callee: print), instead: compiled on its own)".format(path))
    assert [(step.name, step.lineno) for step in one.trail] == [("middle", 11), ("innermost", 7)]
    assert "by way of middle ({}:11)".format(path) in [line.strip() for line in str(report).splitlines()]
    assert str(report).count("PJ230") == 1


def test_one_call_that_is_not_inlined_needs_no_way():
    def speaks(x):
        print("speaks")
        return x * 2.0

    def calls(x):
        y = speaks(x)
        return y * 2.0 + x

    report = pijit.explain(ran(calls, X))
    (one,) = report.breaks
    line = speaks.__code__.co_firstlineno + 1
    assert "because: line {}: PJ201 call".format(line) in one.message and "by way of" not in str(report)


PROGRAM = {
    "main.py": '''
        import numpy as np
        from tools import fill

        def never(x):
            return x

        print(fill(np.ones(50), np.zeros(50)))
        ''',
    "tools.py": '''
        def put(out, i, value):
            out[i] = scaled(value) + 1.0

        def scaled(value):
            return value * 2.0

        def fill(x, out):
            for i in range(len(x)):
                put(out, i, x[i])
            return out.sum()
        '''}


def test_pages_of_programs_list_functions_that_were_only_inlined(tmp_path):
    for name, text in PROGRAM.items():
        (tmp_path / name).write_text(textwrap.dedent(text).lstrip())

    def run(*arguments):
        command = [sys.executable, "-m", "pijit", *arguments, "main.py"]
        return subprocess.check_output(command, cwd=str(tmp_path), universal_newlines=True, timeout=300,
                                       env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))

    run("--eager", "--backend", "python", "--report", "page.html")
    page, path = (tmp_path / "page.html").read_text(), os.path.realpath(str(tmp_path / "tools.py"))
    assert [name for name in ("put", "scaled", "fill", "never") if "<h1>{}</h1>".format(name) in page] == [
        "put", "scaled", "fill"]
    assert "<h2>Inlined into</h2><ul><li>fill ({}:9)</li></ul>".format(path) in page
    assert "<h2>Inlined into</h2><ul><li>put ({}:2)</li></ul>".format(path) in page
    assert page.count("inlined into its callers") == 2 == page.count("<p>Inlined into its callers</p>")
    assert "not captured yet" not in page
    shown = run("explain", "--backend", "python")
    assert "inlined into:\n  put ({}:2)".format(path) in shown


def test_what_numpy_is_made_of_is_not_the_users():
    def picks(x):
        f = eval("np.cumsum")
        y = x * 2.0 + 1.0
        z = f(y)
        return z * z + y

    j = ran(picks, X)
    report = pijit.explain(j)
    assert report.callees == () and report.inlined == () and pijit.info(j).callees == ()
    assert "cumsum" not in "".join(report.guards) and not any("internals" in one.filename for one in report.breaks)
