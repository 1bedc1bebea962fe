"""Line tables that no compiler writes: too short, too long, of odd lengths, with lines before the first."""

import dis
import sys
import types

import numpy as np
import pytest

import pijit
from pijit.core.bytecode.instructions.line_table import LINE_TABLE_FIELD, line_of_each_unit
from tests.harness import mode_config


def formula(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] * 2.0
    return total / x[0]


FIELDS = ("argcount", "kwonlyargcount", "nlocals", "stacksize", "flags", "code", "consts", "names", "varnames",
          "filename", "name", "firstlineno", LINE_TABLE_FIELD[3:], "freevars", "cellvars")


def with_fields(like, **changed):
    """A code object with other fields, on each version."""
    values = [changed.get(name, getattr(like, "co_" + name)) for name in FIELDS]
    if sys.version_info >= (3, 8):
        values.insert(1, like.co_posonlyargcount)
    return types.CodeType(*values)


def lines_of_python(code):
    """The line of each unit as Python tells it."""
    if sys.version_info >= (3, 10):
        found = {offset: line for start, end, line in code.co_lines() for offset in range(start, end)}
        return [found.get(offset) for offset in range(0, len(code.co_code), 2)]
    lines, line = [code.co_firstlineno] * (len(code.co_code) // 2), code.co_firstlineno
    offset, table = 0, code.co_lnotab
    for step, change in zip(table[::2], table[1::2]):
        offset, line = offset + step, line + (change if change < 128 else change - 256)
        lines[(offset + 1) // 2:] = [line] * len(lines[(offset + 1) // 2:])
    return lines


def told(line):
    """What Python tells of a line: 3.10 has none below 0."""
    return None if sys.version_info >= (3, 10) and line is not None and line < 0 else line


TABLES = {"empty": b"", "short": b"\x04\x01", "long": b"\xfe\x01\xfe\x02", "back": b"\x06\xfe\x0a\x01\x80\xfc",
          "no length": b"\x00\x05\x08\x01\x00\x81\x64\x01", "part": b"\x06\x01\x08", "odd": b"\x03\x01\x05\x01\x03\x02\x64\x01"}


@pytest.mark.parametrize("first", [0, 1, 500])
@pytest.mark.parametrize("table", list(TABLES.values()), ids=list(TABLES))
def test_lines_are_those_of_python(table, first):
    code = with_fields(formula.__code__, **{LINE_TABLE_FIELD[3:]: table, "firstlineno": first})
    if len(table) % 2 == 0:
        assert [told(line) for line in line_of_each_unit(code)] == lines_of_python(code)
    assert len(line_of_each_unit(code)) == len(code.co_code) // 2
    plain = types.FunctionType(code, {"range": range})
    jitted = pijit.jit(types.FunctionType(code, {"range": range}), jit_config=mode_config())
    x = np.arange(1.0, 6.0)
    assert [jitted(x, 5) for _ in range(3)] == [plain(x, 5)] * 3
    assert not jitted.state.failures and jitted.state.entries
    with pytest.raises(TypeError) as wanted:
        plain(3, 5)
    with pytest.raises(TypeError) as got:
        jitted(3, 5)
    assert got.traceback[-1]._rawentry.tb_lineno == wanted.traceback[-1]._rawentry.tb_lineno


def test_arguments_that_are_extended_without_need():
    plain = types.FunctionType(with_fields(
        (lambda: 5).__code__, code=bytes([dis.EXTENDED_ARG, 1, dis.EXTENDED_ARG, 0, dis.opmap["LOAD_CONST"], 1])
        + bytes([dis.opmap["RETURN_VALUE"], 0]), consts=(None,) * 0x10001 + (42,)), {})
    jitted = pijit.jit(types.FunctionType(plain.__code__, {}), jit_config=mode_config())
    assert [jitted() for _ in range(3)] == [plain()] * 3 == [42] * 3
    assert not jitted.state.failures
