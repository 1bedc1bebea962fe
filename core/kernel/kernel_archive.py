"""Kernel archives: tar files that carry compiled kernels to other machines.

An archive has the files of the disk cache and a list of what they were compiled for. Machine code is trusted as the
files of the cache are: the archive must belong to this user or to root, and no one else may write to it. Each file in
it has a digest of its contents and its key. `python -m pijit compile` and `python -m pijit cache` call this module.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import stat
import sys
import tarfile
from typing import IO, Any, Dict, Iterable, Iterator, List, Tuple

import numpy as np

from pijit._version import __version__
from pijit.core.kernel.disk_cache import FILE_LIMIT, SUFFIX, DiskCache, find, numba_version, packed, unpacked
from pijit.core.kernel.file_ownership import ROOT, Distrust, check_folders_above, check_owner
from pijit.core.named_tuples import NamedTuple

CONTENTS = "pijit-kernels.json"
"""The archive's first file: what the kernels were compiled for."""
_KERNEL = re.compile(r"([0-9a-f]{64})" + re.escape(SUFFIX))


class Unpacked(NamedTuple):
    """What became of the files of an archive.

    Attributes:
        added: the number of kernels that were added to the cache folder.
        known: the number of those that the folder had already.
        refused: (name, why) of each file that was refused.
        others: what the kernels were compiled for, where this process differs: (what, theirs, ours).
    """

    added: int
    known: int
    refused: List[Tuple[str, str]]
    others: List[Tuple[str, str, str]]


def compiled_for() -> Dict[str, str]:
    """The parts of this process on which the keys of kernels depend, by name."""
    import llvmlite.binding as llvm  # late, because it loads LLVM

    return {"pijit": __version__, "Python": platform.python_version(), "NumPy": np.__version__,
            "numba": numba_version(), "processor": llvm.get_host_cpu_name(), "system": sys.platform}


def pack(path: str, keys: Iterable[str]) -> int:
    """Write an archive of the kernels with these keys that are on disk. Returns their number. Raises OSError."""
    found = [(key, code) for key in keys for code in [find(key)] if code is not None]
    temporary = "%s.%s" % (path, os.urandom(6).hex())  # no file that a killed process has left has this name
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file, \
                tarfile.open(fileobj=file, mode="w") as archive:
            _add(archive, CONTENTS, json.dumps({"compiled_for": compiled_for()}, indent=1).encode())
            for key, code in found:
                _add(archive, key + SUFFIX, packed(key, code))
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    return len(found)


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o600
    archive.addfile(member, io.BytesIO(data))


def unpack(path: str) -> Unpacked:
    """Add the kernels of an archive to the user's cache folder.

    Raises: Distrust if another user may have written the archive, or it is none; OSError.
    """
    cache, added, known = DiskCache(), 0, 0
    refused: List[Tuple[str, str]] = []
    made_for: Any = None
    with _opened(path) as file:
        for name, data, why in _members(file):
            key = _KERNEL.fullmatch(name)
            if name == CONTENTS and made_for is None and not why:
                made_for = _contents(data)
            elif key is None or why:
                refused.append((name, why or "it is no kernel"))
            else:
                try:
                    code = unpacked(key.group(1), data)
                except Distrust as error:
                    refused.append((name, str(error)))
                    continue
                if cache.load(key.group(1)) is not None:
                    known += 1
                elif cache.save(key.group(1), code):
                    added += 1
                else:
                    refused.append((name, "the cache folder cannot be written; see the log pijit.cache"))
    if made_for is None:
        raise Distrust("it is no archive of kernels")
    ours = compiled_for()
    others = [(what, str(made_for.get(what)), ours[what]) for what in ours if made_for.get(what) != ours[what]]
    return Unpacked(added, known, refused, others)


def _opened(path: str) -> IO[bytes]:
    """The archive, opened to be read. Raises OSError or Distrust."""
    check_folders_above(path)
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    try:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Distrust("it is no file")
        check_owner(found, "it", (os.geteuid(), ROOT))
    except BaseException:
        file.close()
        raise
    return file


def _members(file: IO[bytes]) -> Iterator[Tuple[str, bytes, str]]:
    """(name, data, why it is refused) of each file of an archive. Raises Distrust if it is no archive."""
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for member in archive:
                if not member.isreg() or member.size > FILE_LIMIT:
                    yield member.name, b"", "it is no file of pijit's"
                else:
                    source = archive.extractfile(member)
                    yield member.name, source.read() if source is not None else b"", ""
    except tarfile.TarError as error:
        raise Distrust("it is no complete archive (%s)" % error) from error


def _contents(data: bytes) -> Dict[str, Any]:
    try:
        found = json.loads(data.decode())["compiled_for"]
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, dict):
        raise Distrust("it is no archive of kernels")
    return found
