"""The exception table of CPython 3.11 and later: it maps ranges of instructions to handlers.

`co_exceptiontable` is a sequence of entries. An entry has four numbers: start, length, target, and depth with a flag. A
number has digits of 6 bits, the highest first. Bit 6 says that another digit follows. Bit 7 marks the first byte of an
entry. The codec, the control flow and the verification use it. It knows no instructions, only their positions.
"""

from typing import Iterable, List, Tuple

from pijit.core.named_tuples import NamedTuple

_DIGIT, _MORE, _FIRST = 63, 64, 128


class ExceptionEntry(NamedTuple):
    """A range of code and the handler of exceptions raised in this range.

    Attributes:
        start, end: the range; the end is exclusive. Tables count code units, decoded functions count instructions.
        target: where the handler begins, counted in the same way.
        depth: number of operands that stay on the stack when the handler is entered.
        lasti: whether the interpreter pushes the offset of the raising instruction below the exception.
    """

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def _read_number(table: bytes, at: int) -> Tuple[int, int]:
    """The number that begins at byte `at`, and the position of the next number."""
    value, more = 0, True
    begin = at
    while more:
        if at == len(table) or (at > begin and table[at] & _FIRST):
            raise ValueError("exception table: the number at byte {} is cut off".format(begin))
        value = value << 6 | table[at] & _DIGIT
        more = bool(table[at] & _MORE)
        at += 1
    return value, at


def read_exception_table(table: bytes) -> List[ExceptionEntry]:
    """The entries of a table, in units.

    Args:
        table: `co_exceptiontable`.

    Returns:
        Entries in the order of the table.

    Raises:
        ValueError: the table ends within an entry; ranges are empty, overlap or are not sorted.

    Example:
        read_exception_table(f.__code__.co_exceptiontable)[0].target
    """
    entries: List[ExceptionEntry] = []
    at = end = 0
    while at < len(table):
        begin = at
        numbers: List[int] = []
        if not table[at] & _FIRST:
            raise ValueError("exception table: no entry begins at byte {}".format(at))
        for _ in range(4):
            if numbers and at < len(table) and table[at] & _FIRST:
                raise ValueError("exception table: the entry at byte {} is cut off".format(begin))
            number, at = _read_number(table, at)
            numbers.append(number)
        start, length, target, depth = numbers
        if start < end or not length:
            raise ValueError(
                "exception table: the range of the entry at byte {} is empty or overlaps another".format(begin))
        end = start + length
        entries.append(ExceptionEntry(start, end, target, depth >> 1, bool(depth & 1)))
    return entries


def _number(value: int) -> bytearray:
    digits = bytearray((value & _DIGIT,))
    while value > _DIGIT:
        value >>= 6
        digits.append(value & _DIGIT | _MORE)
    digits.reverse()
    return digits


def write_exception_table(entries: Iterable[ExceptionEntry]) -> bytes:
    """The table with these entries, as CPython's compiler writes it.

    Args:
        entries: in units, sorted by start.

    Returns:
        The bytes of `co_exceptiontable`.
    """
    table = bytearray()
    for start, end, target, depth, lasti in entries:
        begin = len(table)
        for value in (start, end - start, target, depth << 1 | lasti):
            table += _number(value)
        table[begin] |= _FIRST
    return bytes(table)
