"""Tracebacks of jitted functions are, letter for letter, those of plain ones: lines, names, and from CPython 3.11 on carets."""

import io
import sys
import traceback

import pytest

from tests.tools.observed_program import BAD, ids, outcome, twins


def printed(error, **options):
    """The traceback as the interpreter shows it, without the caller's frame."""
    shown = traceback.TracebackException(type(error), error, error.__traceback__.tb_next, **options)
    return "".join(shown.format())


def positions(error):
    """Where in the source each frame was, with columns."""
    step, found = error.__traceback__.tb_next, []
    while step is not None:
        code = step.tb_frame.f_code
        place = list(code.co_positions())[step.tb_lasti // 2] if hasattr(code, "co_positions") else step.tb_lineno
        found.append((code.co_name, code.co_filename, getattr(code, "co_qualname", None), place))
        step = step.tb_next
    return found


@pytest.mark.parametrize("function, args", BAD, ids=ids(BAD))
@pytest.mark.parametrize("warm", [0, 1, 4])
def test_tracebacks_are_those_of_python(function, args, warm):
    plain, compiled = twins(function, args, warm)
    wanted, got = outcome(plain, args), outcome(compiled, args)
    assert isinstance(wanted, Exception)
    assert printed(got) == printed(wanted)
    assert positions(got) == positions(wanted)
    assert printed(got).count("\n") >= 4
    if sys.version_info >= (3, 11):
        assert "^" in printed(got)


@pytest.mark.unshared
@pytest.mark.skipif(sys.version_info < (3, 13), reason="colours came with 3.13")
@pytest.mark.parametrize("function, args", BAD, ids=ids(BAD))
def test_coloured_tracebacks_are_those_of_python(function, args):
    plain, compiled = twins(function, args)

    def coloured(error):
        shown = traceback.TracebackException(type(error), error, error.__traceback__.tb_next)
        return "".join(shown.format(colorize=True))
    wanted = coloured(outcome(plain, args))
    assert "\x1b[" in wanted
    assert coloured(outcome(compiled, args)) == wanted


@pytest.mark.parametrize("function, args", BAD, ids=ids(BAD))
def test_the_hook_for_exceptions_prints_the_same(function, args):
    def shown(error):
        stream, sys.stderr = sys.stderr, io.StringIO()
        try:
            sys.__excepthook__(type(error), error, error.__traceback__.tb_next)
            return sys.stderr.getvalue()
        finally:
            sys.stderr = stream
    plain, compiled = twins(function, args)
    assert shown(outcome(compiled, args)) == shown(outcome(plain, args))
