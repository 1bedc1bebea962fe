"""Perf maps: the names of kernels for the profiler `perf`, in the file `/tmp/perf-<pid>.map`.

With `PIJIT_PERF=1` in the environment each linked kernel gets a line there: address, size, name. `llvm/codegen.py`
calls `add` for each kernel that it links, one thread at a time. A forked child gets a file of its own, with the kernels
of its parent. A file that cannot be written is logged once. It never keeps a kernel from running.
"""

from __future__ import annotations

import logging
import os
import stat
import struct
import sys
from typing import List, Optional

from pijit.core.kernel import fork_safety
from pijit.core.kernel.object_symbols import Symbol, functions_beside

logger = logging.getLogger("pijit")

VARIABLE = "PIJIT_PERF"
PATH = "/tmp/perf-%d.map"
"""The file that perf reads. The number is that of the process."""


def path_of_process() -> str:
    """The file of this process."""
    return PATH % os.getpid()


class PerfMap:
    """The file of this process, and its lines. A forked child writes them to its own file, too."""

    def __init__(self) -> None:
        self._lines: List[str] = []
        self._is_begun = self._is_broken = False
        fork_safety.in_child(self)

    def add(self, address: int, functions: List[Symbol], name: str, symbol: str) -> None:
        """Write a line for each function of a kernel's machine code; ``symbol`` is the kernel, which is at an address.
        """
        base = next(one.value for one in functions if one.name == symbol)
        lines = ["%x %x %s\n" % (address + one.value - base, one.size, name if one.name == symbol
                                 else "%s.%s" % (name, one.name)) for one in functions if one.size]
        with fork_safety.naming:
            self._lines += lines
            self._write("".join(lines))

    def forked(self) -> None:
        """Write the lines to the file of a child."""
        self._is_begun = False
        self._write("".join(self._lines))

    def _write(self, text: str) -> None:
        """Append to the file, which is not kept open: a program may close descriptors that it does not know."""
        if self._is_broken:
            return
        try:
            descriptor = _opened(path_of_process(), self._is_begun)
            self._is_begun = True
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode())
        except OSError as error:
            self._is_broken = True
            logger.warning("%s: kernels have no names in perf: %s", VARIABLE, error)


def _opened(path: str, is_begun: bool) -> int:
    """A descriptor of a file of this user. Lines of an older process with the same number are dropped."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid() or not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise PermissionError("%s is no file of this user" % path)
        if not is_begun and not _python_writes():
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _python_writes() -> bool:
    """Whether CPython itself has lines in the file, as with `python -X perf`."""
    return hasattr(sys, "is_stack_trampoline_active") and sys.is_stack_trampoline_active()


class _ProcessMap:
    """The map of this process, if it is known whether it has one."""

    is_known = False
    map: Optional[PerfMap] = None


def add(address: int, code: bytes, name: str, symbol: str) -> None:
    """Name a linked kernel. The first call reads the environment.

    Args:
        address: where it is.
        code: its object file.
        name: its name, such as "f:12".
        symbol: its symbol in the object file.
    """
    with fork_safety.naming:
        if not _ProcessMap.is_known:
            if os.environ.get(VARIABLE, "") not in ("", "0") and sys.platform.startswith("linux"):
                _ProcessMap.map = PerfMap()
            _ProcessMap.is_known = True
        used = _ProcessMap.map
    if used is None:
        return
    try:
        functions = functions_beside(code, symbol)
    except (struct.error, ValueError, IndexError) as error:
        logger.warning("%s: %s has no name in perf: %s", VARIABLE, name, error)
        return
    used.add(address, functions, "pijit:" + name, symbol)
