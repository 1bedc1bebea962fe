"""Supported Pythons: the versions of CPython on which pijit compiles.

All other modules ask here, and import no extension module on other Pythons.
"""

from __future__ import annotations

import sys
from typing import Optional

from pijit.core.reasons import REASONS, reason

SUPPORTED = ((3, 7), (3, 8), (3, 9), (3, 10), (3, 11), (3, 12), (3, 13))
"""The versions of CPython on which functions are compiled; setup.py builds extension modules for these."""


def _free_threaded() -> bool:
    # sysconfig takes a lock, which in a forked child may be held by a thread that does not exist there.
    return "free-threading" in sys.version


def _supported() -> bool:
    return sys.implementation.name == "cpython" and sys.version_info[:2] in SUPPORTED and not _free_threaded()


def why_not_python() -> Optional[str]:
    """The reason why pijit cannot compile on this Python, with the supported versions; None if it can.

    Example:
        >>> why_not_python() is None        # doctest: +SKIP
        True
    """
    if _supported():
        return None
    version = "{} {}.{}".format(sys.implementation.name, *sys.version_info[:2])
    return "{}. {}".format(reason("PJ105", python=version), REASONS["PJ105"].hint)


def why_no_gradients() -> Optional[str]:
    """The reason why gradients cannot be computed on this Python; None if they can."""
    if _supported():
        return None
    return "{}. {}".format(reason("PJ501"), REASONS["PJ501"].hint)
