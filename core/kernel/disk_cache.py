"""Disk cache of kernels: one object file per kernel in the user's cache folder, under a key of all its inputs.

The process runs the machine code that it reads. So it never reads a file or folder that another user owns, may write
to, or may replace (file_ownership.py). A damaged file is not used: its kernel is compiled again and the file replaced.

A file appears complete, by a rename, so readers and writers need no lock. The removal of the oldest files takes one. So
does a process that compiles a kernel; others wait for its file (compile_lock.py).

Folders that an administrator fills are read, too, and never written: those of PIJIT_SHARED_CACHE_DIRS, whose files
may also belong to root. An error here must never make a call fail. Each kind of error is noted once in the log
`pijit.cache`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import importlib.util
import logging
import os
import stat
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Collection, Dict, Iterator, List, Optional, Set, Tuple

import numpy as np

from pijit._version import __version__
from pijit.core.kernel.compile_lock import compile_lock, is_lock
from pijit.core.kernel.file_ownership import ROOT, Distrust, check_folders_above, check_owner, make_private
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.kernel.symbols import Meaning

MAGIC = b"pijit kernel 1\n"
SUFFIX = ".kernel"
SIZE_CAP = 256 * 2 ** 20
"""Bytes that the kernels of a folder may have in all before the oldest ones are removed."""
KEPT_PART = 0.75
"""The part of SIZE_CAP that stays when the oldest kernels are removed."""

SUPPORTED = hasattr(os, "geteuid") and os.open in os.supports_dir_fd
"""Whether this system can tell who may have written a file."""

_DIGEST = hashlib.sha256().digest_size
FILE_LIMIT = 2 ** 26
"""Bytes of the largest file that is read."""
_DAY, _HOUR = 86400.0, 3600.0

logger = logging.getLogger("pijit.cache")
_noted: Set[Tuple[str, str]] = set()
used_keys: Dict[str, None] = {}
"""The keys that this process has read or written, in the order of their first use; kernel_archive.py packs them."""


class Contents(NamedTuple):
    """The number and total size of the kernels in a folder; ``problem`` says why the folder is not used, or is ""."""

    path: str
    kernels: int
    size: int
    problem: str


# ---- keys ----


def kernel_key(source: str, symbols: Dict[str, Meaning], fast: bool) -> str:
    """The key of the kernel with this source, whose names have these meanings.

    ``fast``: its floating-point arithmetic may be rearranged.
    """
    return _digest((_makers(), source, tuple(sorted(symbols.items())), fast)).hex()


def record_key(facts: Any) -> str:
    """The key of other data than a kernel, which depends on these facts; their repr must say all that they mean."""
    return _digest((_makers(), facts)).hex()


def _digest(what: Any) -> bytes:
    return hashlib.sha256(repr(what).encode("utf-8", "surrogatepass")).digest()


@functools.lru_cache(maxsize=None)
def _makers() -> Tuple[Any, ...]:
    """The parts of a key that are the same for all kernels of a process: versions, processor and settings."""
    import llvmlite  # late, because it loads LLVM: the first call of a gradient needs no key
    import llvmlite.binding as llvm

    settings = tuple(sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_")))
    return (sys.version, sys.implementation.name, np.__version__, llvmlite.__version__, llvm.llvm_version_info,
            numba_version(), __version__, compiler_digest(), llvm.get_process_triple(), llvm.get_host_cpu_name(),
            llvm.get_host_cpu_features().flatten(), settings)


def numba_version() -> str:
    """A text that identifies the installed version of numba. If possible, it is found without an import of numba."""
    spec = importlib.util.find_spec("numba")
    with contextlib.suppress(OSError, AttributeError, TypeError):
        with open(os.path.join(os.path.dirname(spec.origin), "_version.py"), "rb") as file:  # type: ignore
            return hashlib.sha256(file.read()).hexdigest()
    import numba

    return numba.__version__  # type: ignore[no-any-return]


def compiler_digest() -> str:
    """A digest of the kernel compiler's Python files, which change between versions and during development.

    The tables of operations belong to them: the modules that write LLVM read facts from these tables.
    """
    digest, core = hashlib.sha256(), os.path.dirname(os.path.dirname(__file__))
    with contextlib.suppress(OSError):
        for path in _python_files(os.path.join(core, "kernel")) + _python_files(os.path.join(core, "graph", "ops")) + [
                os.path.join(core, "graph", "element_ops.py")]:
            with open(path, "rb") as file:
                digest.update(_digest((os.path.relpath(path, core), file.read())))
    return digest.hexdigest()


def _python_files(folder: str) -> List[str]:
    """The paths of all Python files below a folder, in a fixed order."""
    return sorted(os.path.join(below, name) for below, _, names in os.walk(folder) for name in names
                  if name.endswith(".py"))


# ---- files ----


def packed(key: str, code: bytes) -> bytes:
    """The contents of a kernel's file."""
    body = bytes.fromhex(key) + code
    return MAGIC + hashlib.sha256(body).digest() + body


def unpacked(key: str, data: bytes) -> bytes:
    """The object file in the contents of a kernel's file. Raises Distrust if they are damaged or have another key."""
    head = len(MAGIC) + _DIGEST
    body = data[head:]
    if not data.startswith(MAGIC) or data[len(MAGIC):head] != hashlib.sha256(body).digest():
        raise Distrust("it is damaged")
    if body[:_DIGEST] != bytes.fromhex(key):
        raise Distrust("it is the kernel of another source")
    return body[_DIGEST:]


def default_path() -> str:
    """The user's cache folder."""
    own, shared = os.environ.get("PIJIT_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME", "")
    if own:
        return os.path.abspath(os.path.expanduser(own))
    if not os.path.isabs(shared):
        shared = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(shared, "pijit")


def shared_paths() -> List[str]:
    """The folders of PIJIT_SHARED_CACHE_DIRS, which are read only, in the order in which they are searched."""
    named = os.environ.get("PIJIT_SHARED_CACHE_DIRS", "").split(os.pathsep)
    return [os.path.abspath(os.path.expanduser(path)) for path in named if path]


def find(key: str) -> Optional[bytes]:
    """The data under a key, from the user's cache folder or a shared one, or None."""
    code = DiskCache().load(key)
    for path in shared_paths() if code is None else ():
        code = DiskCache.shared(path).load(key)
        if code is not None:
            break
    return code


class DiskCache:
    """The kernels in a folder. Only ``clear`` raises errors of the file system.

    Example: ``code = DiskCache().load(key)``

    Attributes:
        path: the folder.
        owners: the users whose files are read; None: this user.
    """

    __slots__ = ("path", "owners")
    _written = SIZE_CAP  # so the first kernel that a process writes makes it check the size of the folder

    def __init__(self, path: Optional[str] = None, owners: Optional[Collection[int]] = None) -> None:
        self.path = default_path() if path is None else path
        self.owners = owners

    @classmethod
    def shared(cls, path: str) -> DiskCache:
        """The kernels of a shared folder, which root may have written."""
        return cls(path, (os.geteuid(), ROOT))

    def load(self, key: str) -> Optional[bytes]:
        """The object file under a key, or None."""
        try:
            with self._folder() as folder:
                code = unpacked(key, _read(folder, key + SUFFIX, self.owners))
            used_keys[key] = None
            return code
        except FileNotFoundError:
            return None
        except (OSError, Distrust) as error:
            _note("not read", self.path, key, error)
            return None

    def save(self, key: str, code: bytes) -> bool:
        """Keep an object file under a key. Returns whether that was possible."""
        data = packed(key, code)
        try:
            self._make_folder()
            with self._folder() as folder:
                _write(folder, key + SUFFIX, data)
                used_keys[key] = None
                DiskCache._written += len(data)
                if DiskCache._written > SIZE_CAP // 16:
                    DiskCache._written = 0
                    _trim(folder)
        except (OSError, Distrust) as error:
            _note("not kept", self.path, key, error)
            return False
        return True

    def keys(self) -> List[str]:
        """The keys of all kernels. Raises OSError or Distrust if the folder cannot be read."""
        try:
            with self._folder() as folder:
                return sorted(name[:-len(SUFFIX)] for _, _, name in _rows(folder))
        except FileNotFoundError:
            return []

    def make_once(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The object file under a key that was not found: made and kept, unless another process makes it meanwhile."""
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError, Distrust):
                self._make_folder()
                held.enter_context(compile_lock(held.enter_context(self._folder()), key))
                code = self.load(key)
                if code is not None:
                    return code
            code = make()
            self.save(key, code)
        return code

    def contents(self) -> Contents:
        """The number and total size of the kernels."""
        try:
            with self._folder() as folder:
                rows = _rows(folder)
        except FileNotFoundError:
            return Contents(self.path, 0, 0, "")
        except (OSError, Distrust) as error:
            return Contents(self.path, 0, 0, str(error))
        return Contents(self.path, len(rows), sum(size for _, size, _ in rows), "")

    def clear(self) -> int:
        """Remove all kernels. Returns the number of removed ones. Raises OSError or Distrust if none can be removed."""
        errors: List[OSError] = []
        try:
            with self._folder() as folder:
                rows = _rows(folder)
                for name in os.listdir(folder):
                    if is_lock(name):
                        _remove(folder, name)
                for _, _, name in rows:
                    try:
                        os.unlink(name, dir_fd=folder)
                    except FileNotFoundError:  # another process clears too
                        pass
                    except OSError as error:
                        errors.append(error)
        except FileNotFoundError:
            return 0
        if errors and len(errors) == len(rows):
            raise errors[0]
        return len(rows) - len(errors)

    def _make_folder(self) -> None:
        """Make the folder if it does not exist. Raises OSError or Distrust."""
        with contextlib.suppress(FileNotFoundError):
            check_folders_above(self.path)
        make_private(self.path)

    @contextlib.contextmanager
    def _folder(self) -> Iterator[int]:
        """A descriptor of the folder. Raises Distrust if another user can write to the folder or replace it."""
        try:
            folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            check_folders_above(self.path)
            raise
        try:
            check_owner(os.fstat(folder), "the folder", self.owners)
            check_folders_above(self.path)
            yield folder
        finally:
            os.close(folder)


def _read(folder: int, name: str, owners: Optional[Collection[int]] = None) -> bytes:
    """The contents of a file that only these users, by default this one, can have written. Raises OSError, Distrust."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > FILE_LIMIT:
            raise Distrust("it is no file of pijit's")
        check_owner(found, "it", owners)
        if time.time() - found.st_mtime > _DAY:
            with contextlib.suppress(OSError):
                os.utime(descriptor)  # the time of the last use decides which kernels are removed
        return file.read(FILE_LIMIT)


def _write(folder: int, name: str, data: bytes) -> None:
    """Write a file that appears complete or not at all. Raises OSError."""
    temporary = ".%s.%s" % (name, os.urandom(6).hex())
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _remove(folder, temporary)
        raise


def _rows(folder: int) -> List[Tuple[float, int, str]]:
    """(time of last use, size, name) of each kernel. Removes files that interrupted writers left over an hour ago."""
    rows = []
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not name.startswith(".") and name.endswith(SUFFIX):
                rows.append((found.st_mtime, found.st_size, name))
            elif SUFFIX + "." in name and time.time() - found.st_mtime > _HOUR:
                _remove(folder, name)
    return rows


def _is_locked(folder: int) -> bool:
    """Whether another process trims the folder. If not, this process holds the lock until it closes the descriptor."""
    import fcntl  # late, because only POSIX has it

    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks: at worst, two processes remove more files than one would
        pass
    return False


def _trim(folder: int) -> None:
    """Remove the least recently used kernels if all together are too large."""
    if _is_locked(folder):
        return
    rows = _rows(folder)
    left = sum(size for _, size, _ in rows)
    if left <= SIZE_CAP:
        return
    for _, size, name in sorted(rows):
        if left <= SIZE_CAP * KEPT_PART:
            return
        _remove(folder, name)
        left -= size


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=folder)


def _note(what: str, path: str, key: str, error: Exception) -> None:
    """Log an error once per folder and kind of error."""
    kind = type(error).__name__ if isinstance(error, OSError) else str(error)
    if (path, kind) not in _noted:
        _noted.add((path, kind))
        quiet = isinstance(error, OSError) and error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
        level = logging.INFO if quiet else logging.WARNING
        logger.log(level, "kernels are %s in %s: %s (%s)", what, path, error, key[:16])
