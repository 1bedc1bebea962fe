"""The exception table and the location table of CPython 3.11 and later, as the standard library and the interpreter read them."""

import dis
import random
import sys
from types import FunctionType

import pytest

if sys.version_info < (3, 11):
    pytest.skip("these tables come with CPython 3.11", allow_module_level=True)

from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.instructions.exception_table import ExceptionEntry, read_exception_table, write_exception_table
from pijit.core.bytecode.instructions.location_table import (
    MERGED,
    NO_POSITION,
    Position,
    read_locations,
    write_locations,
)
from tests.bytecode.bytecode_samples import NAMES, SAMPLES, straight, try_everything

FUNCTIONS = pytest.mark.parametrize("function", [function for function, _ in SAMPLES], ids=NAMES)


@FUNCTIONS
def test_exception_entries_are_those_of_dis(function):
    ours = [(2 * entry.start, 2 * entry.end, 2 * entry.target, entry.depth, entry.lasti)
            for entry in read_exception_table(function.__code__.co_exceptiontable)]
    theirs = [(entry.start, entry.end, entry.target, entry.depth, entry.lasti)
              for entry in dis._parse_exception_table(function.__code__)]
    assert ours == theirs


@FUNCTIONS
def test_positions_are_those_of_python(function):
    code = function.__code__
    assert [tuple(position) for position in read_locations(
        code.co_linetable, code.co_firstlineno, len(code.co_code) // 2)] == list(code.co_positions())


@FUNCTIONS
def test_instructions_are_those_of_dis(function):
    code = function.__code__
    instructions = decode(code).instructions
    at = {instr.offset: instr.index for instr in instructions}
    reference = [instr for instr in dis.get_instructions(code) if instr.opname not in ("EXTENDED_ARG", "CACHE")]
    assert [(instr.opname, instr.arg) for instr in instructions] == [(instr.opname, instr.arg) for instr in reference]
    assert [instr.position for instr in instructions] == [tuple(instr.positions) for instr in reference]
    for instr, other in zip(instructions, reference):
        if instr.target is not None:
            assert at[other.argval] == instr.target
        elif isinstance(instr.value, str) and other.opcode in dis.haslocal + dis.hasfree + dis.hasname:
            assert instr.value == other.argval
        elif other.opcode in dis.hasconst:
            assert instr.value is other.argval


@FUNCTIONS
def test_instructions_have_their_entry(function):
    code = function.__code__
    instructions = decode(code).instructions
    table = read_exception_table(code.co_exceptiontable)
    for instr in instructions:
        found = [entry for entry in table if entry.start <= instr.offset // 2 < entry.end]
        assert bool(found) == (instr.entry is not None)
        if instr.entry is not None:
            assert (instructions[instr.entry.target].offset, instr.entry[3:]) == (2 * found[0].target, found[0][3:])
            assert instructions[instr.entry.start].entry is instr.entry


def test_long_extended_arguments_and_caches_are_folded():
    body = "\n  ".join("y = x.attribute{} + {}".format(number, number + 0.5) for number in range(300))
    scope = {}
    exec("def f(x):\n while x:\n  " + body + "\n return x", scope)
    function = decode(scope["f"].__code__)
    names = {instr.opname for instr in function.instructions}
    assert not names & {"EXTENDED_ARG", "CACHE"}
    loads = [instr for instr in function.instructions if instr.opname == "LOAD_ATTR"]
    assert [instr.value for instr in loads] == ["attribute%d" % number for number in range(300)]
    assert loads[299].size == loads[0].size + 1
    end = function.instructions[-1]
    assert end.offset + 2 * end.size == len(function.code.co_code)


def test_random_entries_come_back():
    choose = random.Random(7)
    for _ in range(200):
        entries, at = [], 0
        for _ in range(choose.randint(0, 8)):
            start = at + choose.choice((0, 1, 63, 64, 5000))
            at = start + choose.choice((1, 63, 64, 4096, 300000))
            entries.append(ExceptionEntry(start, at, choose.choice((0, 64, 70000)), choose.choice((0, 31, 32, 70)),
                                          choose.random() < 0.5))
        assert read_exception_table(write_exception_table(entries)) == entries


def position(choose, line):
    columns = choose.choice((None, (0, 5), (79, 94), (79, 95), (80, 81), (127, 127), (3, 128), (500, 70000), (9, 2)))
    end = line + choose.choice((0, 0, 1, 100))
    if columns is None:
        return Position(line, end, None, None)
    return Position(line, end, *columns)


def test_random_positions_come_back():
    choose = random.Random(7)
    for _ in range(200):
        rows, line = [], 100
        for _ in range(choose.randint(1, 20)):
            line += choose.choice((0, 0, 1, 2, 3, -1, -40, 64, 5000))
            rows.append((choose.randint(1, 20), choose.choice((NO_POSITION, position(choose, line), position(choose, line)))))
        table = write_locations(rows, 90)
        units = [one for count, one in rows for _ in range(count)]
        assert read_locations(table, 90, len(units)) == units
        code = straight.__code__.replace(co_linetable=table, co_firstlineno=90, co_code=b"\x09\x00" * len(units))
        assert [tuple(one) for one in units] == list(code.co_positions())


def test_exact_bytes():
    rows = [(1, Position(5, 5, 4, 9)), (1, Position(5, 5, 4, 9)), (1, NO_POSITION), (9, Position(6, 8, 0, 1))]
    short = b"\x81\x45" if MERGED else b"\x80\x45\x80\x45"
    assert write_locations(rows, 5) == short + b"\xf8" + b"\xf7\x02\x02\x01\x02" + b"\xf0\x00\x02\x01\x02"
    assert write_exception_table([ExceptionEntry(1, 66, 70, 3, True)]) == b"\x81\x41\x01\x41\x06\x07"


@pytest.mark.parametrize("table, message", [
    (b"\x01\x02\x03\x04", "no entry begins at byte 0"),
    (b"\x81\x02\x03", "the number at byte 3 is cut off"),
    (b"\x81\x42", "the number at byte 1 is cut off"),
    (b"\x81\x42\x81\x02\x03\x04", "the number at byte 1 is cut off"),
    (b"\x81\x02\x83\x04", "the entry at byte 0 is cut off"),
    (b"\x81\x00\x03\x04", "the range of the entry at byte 0 is empty"),
    (b"\x81\x05\x03\x04\x83\x01\x03\x04", "the range of the entry at byte 4 is empty or overlaps"),
])
def test_corrupted_exception_tables(table, message):
    with pytest.raises(ValueError, match="exception table: " + message):
        read_exception_table(table)
    with pytest.raises(ValueError, match="exception table: " + message):
        decode(try_everything.__code__.replace(co_exceptiontable=table))


@pytest.mark.parametrize("units", [2, 8, 12])
def test_location_tables_of_another_length_than_the_code(units):
    """Tools that append instructions for marks leave the table as it was."""
    table = write_locations([(4, Position(91, 91, 1, 2)), (4, Position(93, 93, None, None))], 90)
    expected = [Position(91, 91, 1, 2)] * 4 + [Position(93, 93, None, None)] * 4 + [NO_POSITION] * 4
    assert read_locations(table, 90, units) == expected[:units]
    code = code_with(unit("NOP") * (units - 2) + unit("LOAD_CONST") + unit("RETURN_VALUE")).replace(
        co_linetable=table, co_firstlineno=90)
    found = [line for start, end, line in code.co_lines() for _ in range(start, end, 2)][:units]
    assert [instr.lineno for instr in decode(code).instructions] == (found + [None] * 12)[:units]


@pytest.mark.parametrize("table, message", [
    (b"\x01", "no entry begins at byte 0"),
    (b"\xe8", "the entry before byte 1 is cut off"),
    (b"\xe8\x40", "the entry before byte 2 is cut off"),
    (b"\xd0\x05\xf8", "the entry before byte 2 is cut off"),
])
def test_corrupted_location_tables(table, message):
    with pytest.raises(ValueError, match="location table: " + message):
        decode(straight.__code__.replace(co_linetable=table))


def code_with(raw, table=b""):
    """A code object with these units and without lines."""
    units = len(raw) // 2
    return straight.__code__.replace(co_code=raw, co_exceptiontable=table, co_linetable=write_locations([(units, NO_POSITION)], 1))


def unit(name, arg=0):
    return bytes((dis.opmap[name], arg))


@pytest.mark.parametrize("raw, message", [
    (unit("JUMP_FORWARD", 1) + unit("EXTENDED_ARG") + unit("LOAD_CONST") + unit("RETURN_VALUE"),
     "leads to offset 4, where no instruction begins"),
    (unit("JUMP_FORWARD", 9) + unit("RETURN_VALUE"), "leads to offset 20, where no instruction begins"),
    (unit("LOAD_CONST", 77) + unit("RETURN_VALUE"), "LOAD_CONST has the argument 77, which is out of range"),
    (unit("NOP") + unit("BINARY_OP"), r"BINARY_OP at offset 2 is not followed by [15] cache units"),
    (unit("RETURN_VALUE") + unit("EXTENDED_ARG", 1), "the code ends after an EXTENDED_ARG"),
])
def test_corrupted_code(raw, message):
    with pytest.raises(ValueError, match=message):
        decode(code_with(raw))


@pytest.mark.parametrize("entry, offset", [
    (ExceptionEntry(2, 3, 3, 0, False), 4), (ExceptionEntry(0, 2, 3, 0, False), 4), (ExceptionEntry(0, 1, 2, 0, False), 4),
    (ExceptionEntry(0, 1, 4, 0, False), 8), (ExceptionEntry(0, 9, 1, 0, False), 18),
])
def test_entries_that_do_not_fit_the_code(entry, offset):
    raw = unit("NOP") + unit("EXTENDED_ARG") + unit("LOAD_CONST") + unit("RETURN_VALUE")
    with pytest.raises(ValueError, match="exception table: no instruction begins at offset %d" % offset):
        decode(code_with(raw, write_exception_table([entry])))


def test_the_functions_above_run():
    """`code_with` makes valid code where the code is right."""
    assert FunctionType(code_with(unit("LOAD_CONST") + unit("RETURN_VALUE")), {})(1, 2) is straight.__code__.co_consts[0]
