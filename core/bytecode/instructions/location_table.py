"""The location table of CPython 3.11 and later: lines and columns of each code unit.

An entry of `co_linetable` describes 1 to 8 units. Bit 7 of its first byte is set. The next 4 bits are the kind of the
entry, the low 3 bits the number of units less 1. Lines are stored as differences from the previous entry. Numbers have
digits of 6 bits, the lowest first; bit 6 says that another digit follows. The codec uses it. It must keep each
position, because tracebacks show them.
"""

import sys
from typing import Iterable, List, Optional, Tuple, Union, cast

from pijit.core.named_tuples import NamedTuple


class Position(NamedTuple):
    """The source range of an instruction; a field is None if unknown. Columns count bytes of UTF-8."""

    line: Optional[int]
    end_line: Optional[int]
    column: Optional[int]
    end_column: Optional[int]


NO_POSITION = Position(None, None, None, None)

_FIRST, _DIGIT, _MORE = 128, 63, 64
# Kinds: none; long; without columns; one line (10 to 12: the line advances by 0 to 2); below 10: short.
_NONE, _LONG, _NO_COLUMNS, _ONE_LINE = 15, 14, 13, 10
_UNITS = 8

#: From 3.12 on the compiler merges adjacent entries with the same position.
MERGED = sys.version_info >= (3, 12)


class _Reader:
    """A cursor in a table."""

    def __init__(self, table: bytes, line: int) -> None:
        self.table = table
        self.at = 0
        self.line = line

    def byte(self) -> int:
        if self.at == len(self.table) or self.table[self.at] & _FIRST:
            raise ValueError("location table: the entry before byte {} is cut off".format(self.at))
        self.at += 1
        return self.table[self.at - 1]

    def number(self) -> int:
        value = shift = 0
        byte = _MORE
        while byte & _MORE:
            byte = self.byte()
            value |= (byte & _DIGIT) << shift
            shift += 6
        return value

    def signed(self) -> int:
        value = self.number()
        return -(value >> 1) if value & 1 else value >> 1

    def entry(self) -> Tuple[int, Position]:
        first = self.table[self.at]
        if not first & _FIRST:
            raise ValueError("location table: no entry begins at byte {}".format(self.at))
        self.at += 1
        return (first & 7) + 1, self._position(first >> 3 & 15)

    def _position(self, kind: int) -> Position:
        if kind == _NONE:
            return NO_POSITION
        if kind == _LONG:
            self.line += self.signed()
            end, column, end_column = self.number(), self.number(), self.number()
            return Position(self.line, self.line + end, column - 1 if column else None,
                            end_column - 1 if end_column else None)
        if kind == _NO_COLUMNS:
            self.line += self.signed()
            return Position(self.line, self.line, None, None)
        if kind >= _ONE_LINE:
            self.line += kind - _ONE_LINE
            return Position(self.line, self.line, self.byte(), self.byte())
        byte = self.byte()
        column = kind << 3 | byte >> 4
        return Position(self.line, self.line, column, column + (byte & 15))


def read_locations(table: bytes, first_line: int, units: int) -> List[Position]:
    """The position of each unit. Tools that rewrite code leave short tables; units after the end have no position.

    Args:
        table: `co_linetable`.
        first_line: `co_firstlineno`.
        units: number of units of the code.

    Returns:
        One position per unit.

    Raises:
        ValueError: the table ends within an entry.

    Example:
        read_locations(code.co_linetable, code.co_firstlineno, len(code.co_code) // 2)[0].line
    """
    reader = _Reader(table, first_line)
    positions: List[Position] = []
    while reader.at < len(table):
        count, position = reader.entry()
        positions += [position] * count
    return positions[:units] + [NO_POSITION] * (units - len(positions))


def _number(value: int) -> bytearray:
    digits = bytearray()
    while value > _DIGIT:
        digits.append(value & _DIGIT | _MORE)
        value >>= 6
    digits.append(value)
    return digits


def _signed(value: int) -> bytearray:
    return _number(-value << 1 | 1 if value < 0 else value << 1)


def _optional(value: Optional[int]) -> bytearray:
    return _number(0 if value is None else value + 1)


def _encoded(position: Position, before: int) -> Tuple[int, Union[bytes, bytearray]]:
    """Kind and bytes of a position with a line; `before` is the line of the previous entry."""
    line, end, column, end_column = position
    line = cast(int, line)
    delta = line - before
    if column is None or end_column is None:
        if end is None or end == line:
            return _NO_COLUMNS, _signed(delta)
    elif end == line:
        if delta == 0 and column < 80 and 0 <= end_column - column < 16:
            return column >> 3, bytes(((column & 7) << 4 | end_column - column,))
        if 0 <= delta < 3 and column < 128 and end_column < 128:
            return _ONE_LINE + delta, bytes((column, end_column))
    return _LONG, _signed(delta) + _number(cast(int, end) - line) + _optional(column) + _optional(end_column)


def _runs(rows: Iterable[Tuple[int, Position]]) -> List[Tuple[int, Position]]:
    """Number of units and position of each run that becomes one entry, or several entries of at most 8 units."""
    if not MERGED:
        return list(rows)
    runs: List[Tuple[int, Position]] = []
    for units, position in rows:
        if runs and runs[-1][1] == position:
            runs[-1] = runs[-1][0] + units, position
        else:
            runs.append((units, position))
    return runs


def write_locations(rows: Iterable[Tuple[int, Position]], first_line: int) -> bytes:
    """The table of code with these instructions, as the compiler of the running version writes it.

    Args:
        rows: number of units and position of each instruction.
        first_line: `co_firstlineno`.

    Returns:
        The bytes of `co_linetable`.
    """
    table = bytearray()
    before = first_line
    for units, position in _runs(rows):
        while units > 0:
            kind, encoded = (_NONE, b"") if position.line is None else _encoded(position, before)
            before = before if position.line is None else position.line
            table.append(_FIRST | kind << 3 | min(units, _UNITS) - 1)
            table += encoded
            units -= _UNITS
    return bytes(table)
