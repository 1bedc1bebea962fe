"""pdb shows of jitted functions what it shows of plain ones: breakpoints, steps, where, variables."""

import bdb
import io
import pdb
import re
import sys

import pytest

from tests.harness import jitted
from tests.tools import observed_program
from tests.tools.observed_program import BAD, GOOD, X, broken, ids, inlining, kernel, outcome, runs_of, scaled, twins

FILE = observed_program.__file__


def line_in(function, number):
    return "{}:{}".format(FILE, function.__code__.co_firstlineno + number)


def forget_breakpoints():
    """All debuggers share them, and their numbers."""
    bdb.Breakpoint.bplist.clear()
    bdb.Breakpoint.bpbynumber[:] = [None]
    bdb.Breakpoint.next = 1


def session(f, args, commands):
    """What pdb prints while a function runs; addresses do not count."""
    output = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=output, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    before = sys.gettrace()
    try:
        answer = debugger.runcall(outcome, f, args)
    except BaseException as error:  # bdb.BdbQuit
        answer = type(error).__name__
    finally:
        forget_breakpoints()
        sys.settrace(before)
    return re.sub("0x[0-9a-f]+", "0x", output.getvalue()), str(answer)


SESSIONS = {
    "steps": ["step"] * 40 + ["where", "args", "continue"],
    "next": ["step", "step", "step"] + ["next", "p sorted(locals())"] * 12 + ["continue"],
    "until": ["step", "step", "step", "until", "until", "until", "p sorted(locals())", "return", "where", "continue"],
    "up": ["step"] * 12 + ["where", "up", "p sorted(locals())", "down", "continue"],
}


@pytest.mark.parametrize("commands", list(SESSIONS.values()), ids=list(SESSIONS))
@pytest.mark.parametrize("function, args", GOOD + BAD, ids=ids(GOOD + BAD))
def test_sessions_are_those_of_python(function, args, commands):
    plain, compiled = twins(function, args)
    wanted = session(plain, args, commands)
    assert wanted[0].count("->") > 2
    assert session(compiled, args, commands) == wanted


@pytest.mark.parametrize("function, args, place", [
    (kernel, (X, 7), line_in(kernel, 4)), (broken, (X, 3), line_in(broken, 3)), (inlining, (X, 5), line_in(inlining, 4)),
    (inlining, (X, 5), line_in(scaled, 1)), (inlining, (X, 5), line_in(scaled, 4) + ", k > 2")])
def test_breakpoints_stop_as_in_python(function, args, place):
    commands = ["break " + place] + ["continue", "where", "p sorted(locals().items(), key=str)"] * 3 + ["clear 1", "continue"]
    plain, compiled = twins(function, args)
    wanted = session(plain, args, commands)
    assert wanted[0].count("->") > 3
    assert session(compiled, args, commands) == wanted
    before = runs_of(compiled)
    outcome(compiled, args)
    assert runs_of(compiled) > before


def test_breakpoints_by_name_are_set_in_jitted_functions():
    """`break kernel`, where that is a jitted function."""
    plain, compiled = twins(kernel, (X, 7))
    before = kernel
    shown = []
    for f in (plain, compiled):
        observed_program.kernel = f
        try:
            shown.append(session(lambda *args: observed_program.kernel(*args), (X, 7),
                                 ["step", "step", "step", "break kernel", "continue", "where", "next", "continue"]))
        finally:
            observed_program.kernel = before
    assert shown[1] == shown[0] and "kernel(" in shown[0][0]


def stopping(x, n):
    total = x[0] * 2.0
    for i in range(n):
        total += x[i] * 3.0
        if i == 2:
            breakpoint()
        y = scaled(x[i], i)
        total = total * 0.5 + y
    return scaled(total, n)


@pytest.mark.parametrize("commands", [
    ["next"] * 14 + ["where", "continue"], ["step"] * 24 + ["where", "continue"], ["p sorted(locals().items(), key=str)", "continue"],
    ["return", "continue"], ["until", "until", "until", "until", "continue"], ["up", "p sorted(locals())", "down", "next", "next", "continue"]])
def test_breakpoint_in_mid_run(monkeypatch, commands):
    def run(f):
        output = io.StringIO()

        def hook():
            debugger = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=output, nosigint=True, readrc=False)
            debugger.use_rawinput = False
            debugger.set_trace(sys._getframe(1))
        monkeypatch.setattr(sys, "breakpointhook", hook)
        before = sys.gettrace()
        try:
            answer = outcome(f, (X, 6))
        finally:
            sys.settrace(before)
        return re.sub("0x[0-9a-f]+", "0x", output.getvalue()), str(answer)
    compiled = jitted(twins(stopping, (X, 1), 0)[0])
    wanted, *got = [run(f) for f in [stopping] + [compiled] * 4]  # from one line, which is shown
    assert "->" in wanted[0] and "36.5" in wanted[1]
    assert got == [wanted] * 4


@pytest.mark.parametrize("function, args", BAD, ids=ids(BAD))
def test_post_mortem_shows_the_frames_of_python(function, args):
    plain, compiled = twins(function, args)

    def shown(f):
        output = io.StringIO()
        debugger = pdb.Pdb(stdin=io.StringIO("where\nup\nwhere\nquit\n"), stdout=output, nosigint=True, readrc=False)
        debugger.use_rawinput = False
        debugger.reset()
        try:
            debugger.interaction(None, outcome(f, args).__traceback__)
        except bdb.BdbQuit:
            pass
        return re.sub("0x[0-9a-f]+", "0x", output.getvalue())
    wanted = shown(plain)
    assert "->" in wanted and shown(compiled) == wanted
