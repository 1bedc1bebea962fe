import random
import sys

import pytest

from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import replace_code
from pijit.core.bytecode.instructions.line_table import LINE_TABLE_FIELD, line_of_each_unit, write_line_table
from tests.bytecode.bytecode_samples import straight

NO_LINES = sys.version_info >= (3, 10)


def read_back(lines, first):
    code = replace_code(straight.__code__, co_code=b"\x09\x00" * len(lines), co_firstlineno=first,
                        **{LINE_TABLE_FIELD: write_line_table(lines, first)})
    return line_of_each_unit(code)


@pytest.mark.parametrize("jump", [1, 126, 127, 128, 129, 254, 255, 256, 1000, 40000])
@pytest.mark.parametrize("run", [1, 126, 127, 128, 129, 255, 256, 700])
def test_long_steps(jump, run):
    lines = [100000] * run + [100000 + jump] * run + [100000] * run
    assert read_back(lines, 100000) == lines
    assert read_back(lines, 5) == lines


def test_random_lines():
    choose = random.Random(7)
    for _ in range(200):
        lines = []
        for _ in range(choose.randint(1, 12)):
            line = None if NO_LINES and choose.random() < 0.2 else 50000 + choose.randint(-400, 400)
            lines += [line] * choose.choice((1, 2, 127, 128, 300))
        assert read_back(lines, 50000) == lines


def test_exact_bytes():
    lines = [1, 1, 3, 3, 2]
    expected = b"\x04\x00\x04\x02\x02\xff" if NO_LINES else b"\x04\x02\x04\xff"
    assert write_line_table(lines, 1) == expected


@pytest.mark.skipif(NO_LINES, reason="3.10 has instructions without a line")
def test_no_line_is_the_line_before():
    assert read_back([3, None, 4, None], 3) == [3, 3, 4, 4]


def test_line_of_each_unit_of_a_function():
    first = straight.__code__.co_firstlineno
    assert [instr.lineno - first for instr in decode(straight.__code__).instructions] == [1] * 4 + [2] * 4
