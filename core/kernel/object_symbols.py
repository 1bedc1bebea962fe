"""Symbols of object files: the functions in an ELF file for a 64-bit little-endian processor.

llvmlite does not show the symbols of an object file. `perf_map.py` needs their sizes. Other files are a ValueError.
"""

from __future__ import annotations

import struct
from typing import Iterator, List, Tuple

from pijit.core.named_tuples import NamedTuple

_MAGIC = b"\x7fELF\x02\x01"
"""64 bits, little-endian."""
_SYMBOL_TABLE = 2
"""The type of a section with symbols."""
_FUNCTION = 2
"""The type of a symbol that is a function."""
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


class Symbol(NamedTuple):
    """A function: its section, its offset there, and its size in bytes."""

    name: str
    section: int
    value: int
    size: int


def functions_beside(code: bytes, name: str) -> List[Symbol]:
    """The functions in the same section as the function with this name, which is one of them.

    Raises:
        ValueError: the file is of another kind, or has no such function.
        struct.error: the file ends too early.
    """
    functions = list(_functions(code))
    section = next((one.section for one in functions if one.name == name), None)
    if section is None:
        raise ValueError("the object file has no function %s" % name)
    return [one for one in functions if one.section == section]


def _functions(code: bytes) -> Iterator[Symbol]:
    sections = _sections(code)
    for kind, offset, size, link in sections:
        if kind == _SYMBOL_TABLE:
            names = sections[link][1]
            for start in range(offset, offset + size, _SYMBOL.size):
                at, info, _, section, value, length = _SYMBOL.unpack_from(code, start)
                if info & 15 == _FUNCTION and section:
                    end = code.index(b"\0", names + at)
                    yield Symbol(code[names + at:end].decode(), section, value, length)


def _sections(code: bytes) -> List[Tuple[int, int, int, int]]:
    """(type, offset, size, link) of each section."""
    if not code.startswith(_MAGIC):
        raise ValueError("the object file is no ELF file of 64 bits, little-endian")
    first, = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    found = []
    for number in range(count):
        _, kind, _, _, offset, length, link, *_ = _SECTION_HEADER.unpack_from(code, first + number * size)
        found.append((kind, offset, length, link))
    return found
