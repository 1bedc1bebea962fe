"""Line tables up to CPython 3.10: the line of each code unit, byte for byte as CPython writes it.

Python 3.7 to 3.9 have `co_lnotab`: pairs of an offset step and a line step. Python 3.10 has `co_linetable`: pairs of a
range's length and a line step, where -128 means "no line".
"""

import sys
from types import CodeType
from typing import List, Optional, Sequence

#: Bytes per unit of a jump argument.
JUMP_UNIT = 2 if sys.version_info >= (3, 10) else 1

_NO_LINE = -128


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _read_lnotab(code: CodeType) -> List[Optional[int]]:
    table = code.co_lnotab
    lines: List[Optional[int]] = []
    line = code.co_firstlineno
    offset = 0
    for step, delta in zip(table[::2], table[1::2]):
        if step:
            offset += step
            # A step of 255 ends inside a unit. The unit belongs to the line that is current at its first byte.
            lines.extend([line] * ((offset + 1) // 2 - len(lines)))
        line += _signed(delta)
    return _fitted(lines, code, line)


def _read_linetable(code: CodeType) -> List[Optional[int]]:
    table = code.co_linetable
    lines: List[Optional[int]] = []
    line = code.co_firstlineno
    end = 0
    for length, byte in zip(table[::2], table[1::2]):
        delta = _signed(byte)
        if delta != _NO_LINE:
            line += delta
        end += length
        # A unit belongs to the range that contains its first byte.
        lines.extend([None if delta == _NO_LINE else line] * ((end + 1) // 2 - len(lines)))
    return _fitted(lines, code, None)


def _fitted(lines: List[Optional[int]], code: CodeType, beyond: Optional[int]) -> List[Optional[int]]:
    """One line for each unit of the code; units after the table's end have the line ``beyond``."""
    count = len(code.co_code) // 2
    return lines[:count] + [beyond] * (count - len(lines))


def _write_lnotab(lines: Sequence[Optional[int]], first_line: int) -> bytes:
    table = bytearray()
    previous_line, previous_offset = first_line, 0
    for unit, line in enumerate(lines):
        if line == previous_line or line is None:
            continue
        step = unit * 2 - previous_offset
        delta = line - previous_line
        while step > 255:
            table += b"\xff\x00"
            step -= 255
        limit = 127 if delta > 0 else -128
        while not -128 <= delta <= 127:
            table += bytes((step, limit & 255))
            delta -= limit
            step = 0
        if step or delta:
            table += bytes((step, delta & 255))
        previous_line, previous_offset = line, unit * 2
    return bytes(table)


def _write_linetable(lines: Sequence[Optional[int]], first_line: int) -> bytes:
    table = bytearray()
    previous_line = first_line
    start, count = 0, len(lines)
    while start < count:
        line = lines[start]
        end = start + 1
        while end < count and lines[end] == line:
            end += 1
        length = (end - start) * 2
        if line is None:
            delta = _NO_LINE
        else:
            delta = line - previous_line
            previous_line = line
            while not -127 <= delta <= 127:
                step = 127 if delta > 0 else -127
                table += bytes((0, step & 255))
                delta -= step
        while length > 254:
            table += bytes((254, delta & 255))
            delta = _NO_LINE if line is None else 0
            length -= 254
        table += bytes((length, delta & 255))
        start = end
    return bytes(table)


if sys.version_info >= (3, 10):
    _read, _write = _read_linetable, _write_linetable
    LINE_TABLE_FIELD = "co_linetable"
else:
    _read, _write = _read_lnotab, _write_lnotab
    LINE_TABLE_FIELD = "co_lnotab"


def line_of_each_unit(code: CodeType) -> List[Optional[int]]:
    """The line of each two-byte unit of a code object, or None for a unit without a line (3.10 only)."""
    return _read(code)


def write_line_table(lines: Sequence[Optional[int]], first_line: int) -> bytes:
    """The line table of code whose units have these lines.

    Args:
        lines: one entry per two-byte unit; None means "no line". Before 3.10 it means the line of the previous unit.
        first_line: `co_firstlineno`.

    Returns:
        The bytes of `LINE_TABLE_FIELD`, as the compiler of the running version would write them.
    """
    return _write(lines, first_line)
