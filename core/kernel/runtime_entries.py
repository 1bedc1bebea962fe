"""The runtime table: signatures of the C functions that kernels call.

The list is core/native/runtime/entries.inc, from which the C compiler makes the table and checks each definition. The
emitter checks each call that it writes against the same list.
"""

from __future__ import annotations

from typing import Any, Dict, Sequence, Tuple

from pijit.core import _launcher
from pijit.core.kernel.errors import CompileError
from pijit.core.named_tuples import NamedTuple

STATUS = "STATUS"
"""The result is 0, or the launcher's ERROR with an exception set."""

BAILS_OUT = "BAILS_OUT"
"""The same, or another number if the kernel must leave by the operation's side exit."""

VALUE = "VALUE"
"""The result is a word."""

NEVER = "NEVER"
"""The use of the GIL of an entry that kernels without the GIL do not call."""

_WORD_BYTES = 8


class RuntimeEntry(NamedTuple):
    """An entry of the runtime table; all words and the result are 64-bit integers."""

    name: str
    number: int
    result: str
    gil: str
    words: Tuple[str, ...]

    @property
    def offset(self) -> int:
        """The offset of the function's address in the table, in bytes."""
        return self.number * _WORD_BYTES


def _parsed(lines: str) -> Dict[str, RuntimeEntry]:
    entries = {}
    for number, line in enumerate(lines.splitlines()):
        name, result, gil, words = line.split(" ", 3)
        names = tuple(word.strip() for word in words.strip("()").split(",") if word.strip())
        entries[name] = RuntimeEntry(name, number, result, gil, names)
    return entries


ENTRIES = _parsed(_launcher.RUNTIME_ENTRIES)
"""The entries by name."""


def entry(name: str) -> RuntimeEntry:
    """The entry of that name."""
    if name not in ENTRIES:
        raise CompileError("the runtime has no function %r" % name)
    return ENTRIES[name]


def check_call(name: str, args: Sequence[Any]) -> RuntimeEntry:
    """The entry of that name, for a call with these arguments."""
    found = entry(name)
    if len(args) != len(found.words):
        raise CompileError("the runtime function %s(%s) is called with %d arguments"
                           % (name, ", ".join(found.words), len(args)))
    return found
