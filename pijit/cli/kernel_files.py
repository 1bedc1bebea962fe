"""`python -m pijit cache`, and the archive of `python -m pijit compile`: the kernels on disk, as files for people.

`pijit.cli.commands` runs it. It must not trust a file that `core/kernel/kernel_archive.py` refuses.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Callable, Dict, List, Optional

from pijit.names import count_of

ACTIONS = {"info": "say where the kernels are and how many (the default)", "clear": "remove them",
           "export": "write them to an archive", "import": "add those of an archive"}


def look_after_cache(arguments: List[str]) -> int:
    """`python -m pijit cache`: describe the cache folder, clear it, or exchange kernels with archives."""
    parser = argparse.ArgumentParser(prog="python -m pijit cache")
    parser.add_argument("action", nargs="?", choices=tuple(ACTIONS), default="info",
                        help="; ".join("%s: %s" % item for item in ACTIONS.items()))
    parser.add_argument("file", nargs="?", help="the archive, for export and import")
    known = parser.parse_args(arguments)
    if (known.file is None) == (known.action in _WITH_FILE):
        parser.error("export and import need a file" if known.file is None else
                     "{} takes no file".format(known.action))
    if known.action in _WITH_FILE:
        return _WITH_FILE[known.action](known.file)
    return _clear() if known.action == "clear" else _describe()


def write_archive(path: str, keys: Optional[List[str]]) -> int:
    """Write an archive of kernels and say so; returns the exit status.

    Args:
        path: the archive.
        keys: the keys of the kernels; None: those that this process has used.
    """
    from pijit.core.kernel import disk_cache, kernel_archive

    try:
        packed = kernel_archive.pack(path, list(disk_cache.used_keys) if keys is None else keys)
    except OSError as error:
        sys.stderr.write("nothing was written to {}: {}\n".format(path, error))
        return 1
    sys.stderr.write("wrote {} to {}\n".format(count_of(packed, "kernel"), path))
    return 0


def _export(path: str) -> int:
    from pijit.core.kernel.disk_cache import DiskCache
    from pijit.core.kernel.file_ownership import Distrust

    try:
        keys = DiskCache().keys()
    except (OSError, Distrust) as error:
        sys.stderr.write("nothing was written to {}: {}\n".format(path, error))
        return 1
    return write_archive(path, keys)


def _import(path: str) -> int:
    from pijit.core.kernel import kernel_archive
    from pijit.core.kernel.file_ownership import Distrust

    try:
        found = kernel_archive.unpack(path)
    except (OSError, Distrust) as error:
        sys.stderr.write("nothing was added from {}: {}\n".format(path, error))
        return 1
    sys.stdout.write("added {}; {} known before\n".format(count_of(found.added, "kernel"), found.known))
    for name, why in found.refused:
        sys.stderr.write("refused {}: {}\n".format(name, why))
    for what, theirs, ours in found.others:
        sys.stderr.write("they are for {} {}, and this is {}: they will not be used here\n".format(what, theirs, ours))
    return 1 if found.refused else 0


def _clear() -> int:
    from pijit.core.kernel.disk_cache import DiskCache
    from pijit.core.kernel.file_ownership import Distrust

    store = DiskCache()
    try:
        removed, left = store.clear(), store.contents().kernels
    except (OSError, Distrust) as error:
        sys.stderr.write("nothing was removed from {}: {}\n".format(store.path, error))
        return 1
    sys.stdout.write("removed {} from {}\n".format(count_of(removed, "kernel"), store.path))
    if left:
        sys.stderr.write("{} could not be removed\n".format(count_of(left, "kernel")))
    return 1 if left else 0


def _describe() -> int:
    from pijit.core.kernel.disk_cache import SIZE_CAP, DiskCache, shared_paths

    found = DiskCache().contents()
    sys.stdout.write("folder: {}\nkernels: {}\nsize: {:.1f} of at most {:.0f} MiB\n".format(
        found.path, found.kernels, found.size / 2.0 ** 20, SIZE_CAP / 2.0 ** 20))
    if found.problem:
        sys.stdout.write("not used: {}\n".format(found.problem))
    elif os.path.isdir(found.path) and not os.access(found.path, os.W_OK):
        sys.stdout.write("read-only: what is there is used, and nothing is added\n")
    for path in shared_paths():
        shared = DiskCache.shared(path).contents()
        sys.stdout.write("shared folder: {}\nkernels: {}\n".format(path, shared.kernels))
        if shared.problem:
            sys.stdout.write("not used: {}\n".format(shared.problem))
    return 0


_WITH_FILE: Dict[str, Callable[[str], int]] = {"export": _export, "import": _import}
