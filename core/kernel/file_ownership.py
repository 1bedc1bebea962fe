"""File ownership: checks that only this user can write to a file of machine code, or replace its folder.

`disk_cache.DiskCache` makes these checks before it reads or writes.
"""

from __future__ import annotations

import os
import stat
from typing import Collection, Iterator, Optional, Tuple

MAX_LINKS = 40
"""The number of symbolic links that one path may lead through, as on Linux."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
ROOT = 0
"""The user number of the administrator."""


class Distrust(Exception):
    """The reason why a file or folder is not used, as a sentence."""


def check_owner(found: os.stat_result, what: str, owners: Optional[Collection[int]] = None) -> None:
    """Raise Distrust unless the file or folder belongs to one of ``owners``, by default this user, who alone may write
    to it."""
    if found.st_uid not in ((os.geteuid(),) if owners is None else owners):
        raise Distrust("%s belongs to another user" % what)
    if found.st_mode & _OTHERS_WRITE:
        raise Distrust("others may write to %s" % what)


def check_folders_above(path: str) -> None:
    """Raise Distrust if another user may rename a folder on the way to a path, OSError if the path does not exist.

    Each folder on the way must belong to root or to this user. Others may write to it only if it is sticky, as /tmp
    is: there, users can rename only their own files. So links on the way must belong to root or to this user, too.
    """
    for step, found in _way(os.path.join(os.getcwd(), path)):
        link = stat.S_ISLNK(found.st_mode)
        what = "the %s %s on the way to it" % ("link" if link else "folder", step)
        if found.st_uid not in (ROOT, os.geteuid()):
            raise Distrust("%s belongs to another user" % what)
        if not link and found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
            raise Distrust("others may write to %s" % what)


def _way(path: str) -> Iterator[Tuple[str, os.stat_result]]:
    """The folders and links that lead to a path, in the order in which the system looks them up."""
    step, rest, links = os.sep, path.split(os.sep)[::-1], 0
    yield step, os.lstat(step)
    while rest:
        name = rest.pop()
        if name in ("", os.curdir):
            continue
        step = os.path.dirname(step) if name == os.pardir else os.path.join(step, name)
        found = os.lstat(step)
        if stat.S_ISLNK(found.st_mode) and links < MAX_LINKS:
            yield step, found
            target, links = os.readlink(step), links + 1
            rest += target.split(os.sep)[::-1]
            step = os.sep if os.path.isabs(target) else os.path.dirname(step)
        elif any(rest):
            yield step, found


def make_private(path: str) -> None:
    """Make a folder that only this user can use, and its missing parents. Raises OSError."""
    above = os.path.dirname(path)
    if above != path and not os.path.isdir(above):
        make_private(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # it existed before, or another process has just made it
        pass
