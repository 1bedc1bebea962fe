"""What is printed and logged of a capture, and when."""

import logging
import os
import subprocess
import sys
import types

import numpy as np
import pytest

from pijit import logs, options
from pijit.reporting import printing

BREAK = types.SimpleNamespace(reason_id="PJ201", hint="Move it.", filename="user.py", lineno=7,
                              opname="CALL_FUNCTION",
                              message="PJ201 call of a function that is not captured (callee: print)")

RECORD = types.SimpleNamespace(name="f (user.py:3)", filename="user.py", breaks=[BREAK],
                               recompile="PJ301 guard failed (guard: L['x'] ndim)",
                               **{part.attribute: "<{}>\n".format(part.attribute) for part in printing.PARTS})


@pytest.fixture(autouse=True)
def quiet_loggers(monkeypatch):
    """Each test starts and ends with loggers that show nothing."""
    monkeypatch.setattr(logs, "_read", "")
    monkeypatch.setattr(logs, "_libraries", False)
    monkeypatch.setattr(logs, "_told", False)
    loggers = [logs.logger(subject) for subject in logs.SUBJECTS]
    kept = [(log, log.level, list(log.handlers)) for log in loggers]
    yield
    for log, level, handlers in kept:
        log.setLevel(level)
        log.handlers[:] = handlers


def printed(capsys, config):
    printing.shower(options.parse(config))(RECORD)
    return capsys.readouterr()


def test_nothing_is_shown_unless_asked(capsys):
    assert printed(capsys, None) == ("", "")


class Untouched:
    """A record of which only whether the function was captured again may be asked."""

    name, recompile = "f", ""


def test_nothing_is_made_that_nobody_asked_for():
    shown = printing.shower(options.parse(None))
    shown(Untouched())
    with pytest.raises(AttributeError):
        printing.shower(options.parse({"log_graph_break": True}))(Untouched())
    with pytest.raises(AttributeError):
        printing.shower(options.parse({"print_guards": True}))(Untouched())


def test_print_after_all_prints_every_part_in_order(capsys):
    out = printed(capsys, {"print_after_all": True}).out
    headings = [line for line in out.splitlines() if line.startswith("***")]
    assert headings == ["*** {}: f (user.py:3) ***".format(part.heading) for part in printing.PARTS]
    assert "*** Basic blocks: f (user.py:3) ***\n<blocks>\n\n" in out


@pytest.mark.parametrize("key, texts", [
    ("print_bytecode", ["<bytecode>", "<linked>"]), ("print_cfg", ["<blocks>"]),
    ("print_graph", ["<graph>", "<uses>", "<segments>"]),
    ("print_guards", ["<guards>"]), ("print_source", ["<source>"])])
def test_each_key_prints_its_parts(capsys, key, texts):
    out = printed(capsys, {key: True}).out
    assert [line for line in out.splitlines() if line.startswith("<")] == texts


def test_empty_part_says_so():
    record = types.SimpleNamespace(name="f", source="")
    part, = (part for part in printing.PARTS if part.attribute == "source")
    assert printing.section(part, record) == "*** Kernel source: f ***\n(none)\n"


def test_break_line_is_logged_where_asked(capsys):
    shown = printed(capsys, {"log_graph_break": True})
    assert shown.out == ""
    assert shown.err == ("pijit breaks: user.py:7: f (user.py:3): PJ201 call of a function that is not "
                         "captured (callee: print). Move it.\n")
    assert printed(capsys, None).err == ""  # another function's options


def test_recompile_line_is_logged_where_asked(capsys):
    assert printed(capsys, {"log_recompile": True}).err == (
        "pijit recompiles: f (user.py:3): PJ301 guard failed (guard: L['x'] ndim)\n")


def test_environment_shows_subjects(capsys, monkeypatch):
    monkeypatch.setenv("PIJIT_LOGS", "breaks, source")
    logs.read_environment()
    logs.read_environment()
    err = printed(capsys, None).err
    assert err.count("PJ201") == 1 and "<linked>" not in err
    assert "*** Kernel source: f (user.py:3) ***\n<source>" in err


def test_misspelt_subjects_are_errors_with_the_closest(monkeypatch):
    before = [list(logs.logger(subject).handlers) for subject in logs.SUBJECTS]
    with pytest.raises(ValueError, match=r"PIJIT_LOGS: .*'breaks', 'recompiles'.* not 'braks' .*closest is 'breaks'"):
        monkeypatch.setenv("PIJIT_LOGS", "source,braks")
        logs.read_environment()
    with pytest.raises(ValueError, match="set_logs: .*closest is 'recompiles'"):
        logs.set_logs("breaks", "recompile")
    with pytest.raises(TypeError, match="set_logs: subjects must be strings, of 'breaks'"):
        logs.set_logs(True)
    assert [logs.logger(subject).handlers for subject in logs.SUBJECTS] == before


def test_help_lists_the_subjects(capsys, monkeypatch):
    monkeypatch.setenv("PIJIT_LOGS", "help")
    logs.read_environment()
    logs.read_environment()
    shown = capsys.readouterr()
    assert shown.out == "" and [line.split()[0] for line in shown.err.splitlines()[1:]] == list(logs.WORDS)
    assert printed(capsys, None) == ("", "")


def test_set_logs_shows_these_subjects_and_no_others(capsys):
    logs.set_logs("breaks,guards", "source")
    err = printed(capsys, None).err
    assert err.count("PJ201") == 1 and "<guards>" in err and "<source>" in err and "<linked>" not in err
    logs.set_logs("recompiles")
    assert [line[:18] for line in printed(capsys, None).err.splitlines()] == ["pijit recompiles: "]
    logs.set_logs()
    assert printed(capsys, None).err == ""


def test_user_handlers_get_records():
    seen = []
    handler = logging.Handler()
    handler.emit = seen.append
    logs.logger("breaks").addHandler(handler)
    logs.logger("breaks").setLevel(logging.DEBUG)
    printing.show(options.parse(None), RECORD)
    assert [record.levelno for record in seen] == [logging.DEBUG]


def shown_of(capsys, filename, config=None, own_file="user.py"):
    """What is logged of a capture of a function in this file, made for calls of a function in another one."""
    printing.shower(options.parse(config), own_file)(types.SimpleNamespace(**dict(vars(RECORD), filename=filename)))
    return capsys.readouterr().err


LIBRARY_FILES = [os.__file__, np.__file__, "/elsewhere/lib/python3.8/site-packages/other/part.py",
                 "<frozen importlib._bootstrap>"]


@pytest.mark.parametrize("filename", LIBRARY_FILES)
def test_functions_of_libraries_are_left_out_and_that_is_said_once(capsys, filename):
    logs.set_logs("breaks", "recompiles", "guards")
    first, second = shown_of(capsys, filename), shown_of(capsys, filename)
    assert first == ("pijit guards: functions of installed libraries are left out; the word 'libraries' shows them\n")
    assert second == "" and shown_of(capsys, "<stdin>").count("PJ") == 2 and shown_of(capsys, "user.py").count("PJ") == 2


def test_functions_of_libraries_are_shown_if_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("PIJIT_LOGS", "breaks,libraries")
    logs.read_environment()
    assert "PJ201" in shown_of(capsys, np.__file__)
    logs.set_logs("breaks")
    assert "PJ201" not in shown_of(capsys, np.__file__)
    logs.set_logs("breaks,libraries")
    assert "PJ201" in shown_of(capsys, np.__file__)


def test_options_of_a_function_are_for_its_own_file(capsys):
    config = {"log_graph_break": True}
    assert "PJ201" in shown_of(capsys, np.__file__, config, own_file=np.__file__)
    assert "PJ201" not in shown_of(capsys, np.__file__, config)


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
import pijit
from lib.python.part import rounds

@pijit.jit(jit_config={{"backend": "python", "max_inline_depth": 0}})
def f(x):
    y = rounds(x)
    print("in f")
    return y * 2.0

for _ in range(3):
    f(np.ones(4))
"""

PART = """
def rounds(x):
    for i in range(3):
        x = x * 2.0
        print("round", i)
    return x
"""


@pytest.mark.parametrize("folder, words, shown", [
    ("lib", "breaks", True), ("site-packages", "breaks", False), ("site-packages", "breaks,libraries", True)])
def test_callees_in_libraries(tmp_path, folder, words, shown):
    place = tmp_path / folder / "lib" / "python"
    place.mkdir(parents=True)
    (place / "part.py").write_text(PART)
    (tmp_path / "main.py").write_text(PROGRAM.format(folder=str(tmp_path / folder)))
    done = subprocess.run([sys.executable, str(tmp_path / "main.py")], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          universal_newlines=True, env=dict(os.environ, PIJIT_LOGS=words))
    assert done.returncode == 0, done.stderr
    names = {line.split(": ")[2] for line in done.stderr.splitlines() if ": PJ" in line}
    assert "f" in names and ("rounds" in names) == shown, done.stderr
    assert ("are left out" in done.stderr) == (not shown)


HELP = "import pijit; print('imported', file=__import__('sys').stderr); pijit.jit(lambda x: x)"


@pytest.mark.parametrize("program, lines", [("import pijit", 0), (HELP, 1 + len(logs.WORDS))])
def test_help_comes_with_the_first_use_and_not_with_the_import(program, lines):
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                          universal_newlines=True, env=dict(os.environ, PIJIT_LOGS="help"))
    assert done.returncode == 0 and done.stdout == ""
    said = done.stderr.splitlines()
    assert (said[0] if said else "imported") == "imported" and len(said[1:]) == lines
