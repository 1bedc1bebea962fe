"""Detects files of installed libraries: of Python's own, or of packages that pip and others install beside it."""

from __future__ import annotations

import functools
import os
import sysconfig
from typing import Tuple

MARKS = frozenset(["site-packages", "dist-packages"])
"""Names of folders that hold installed libraries, of this or another Python."""


@functools.lru_cache(maxsize=None)
def folders() -> Tuple[str, ...]:
    """The library folders of this Python, and the folder of pijit."""
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return tuple(os.path.realpath(path) for path in paths + [os.path.dirname(__file__)] if path)


def is_below(path: str, folder: str) -> bool:
    """Whether a path leads into a folder."""
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def is_installed(path: str) -> bool:
    """Whether a file, or a pseudo-file such as "<frozen os>", belongs to an installed library.

    Example:
        >>> is_installed(os.__file__), is_installed("<stdin>")
        (True, False)
    """
    if path.startswith("<"):
        return path.startswith("<frozen ")
    real = os.path.realpath(path)
    return not MARKS.isdisjoint(real.split(os.sep)) or any(is_below(real, folder) for folder in folders())
