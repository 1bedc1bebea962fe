"""What is printed and logged of a capture, and when."""

import logging
import types

import pytest

from pijit import logs, options, printing

BREAK = types.SimpleNamespace(reason_id="PJ201", hint="Move it.", filename="user.py", lineno=7,
                              opname="CALL_FUNCTION",
                              message="PJ201 call of a function that is not captured (callee: print)")

RECORD = types.SimpleNamespace(name="f (user.py:3)", breaks=[BREAK],
                               recompile="PJ301 guard failed (guard: L['x'] ndim)",
                               **{part.attribute: "<{}>\n".format(part.attribute) for part in printing.PARTS})


@pytest.fixture(autouse=True)
def quiet_loggers(monkeypatch):
    """Each test starts and ends with loggers that show nothing."""
    monkeypatch.setattr(logs, "_read", "")
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
    assert printing.section(printing.PARTS[6], record) == "*** Kernel source: f ***\n(none)\n"


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
    assert shown.out == "" and [line.split()[0] for line in shown.err.splitlines()[1:]] == list(logs.SUBJECTS)
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
