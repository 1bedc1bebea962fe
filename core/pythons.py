"""Which Pythons the compiler works on. All other modules ask here, and import no extension module where it does not."""

from __future__ import annotations

import sys
from typing import Optional

from pijit.core.reasons import REASONS, reason

SUPPORTED = ((3, 7), (3, 8), (3, 9), (3, 10), (3, 11), (3, 12), (3, 13))
"""The versions of CPython on which functions are compiled; setup.py has extension modules for these."""


def _free_threaded() -> bool:
    # Not asked of sysconfig: that takes a lock, which a thread that a forked child does not have may hold.
    return "free-threading" in sys.version


def _supported() -> bool:
    return sys.implementation.name == "cpython" and sys.version_info[:2] in SUPPORTED and not _free_threaded()


def why_not_python() -> Optional[str]:
    """Why pijit cannot compile on this Python, with the versions that it supports; None where it can.

    Example:
        >>> why_not_python() is None        # doctest: +SKIP
        True
    """
    if _supported():
        return None
    version = "{} {}.{}".format(sys.implementation.name, *sys.version_info[:2])
    return "{}. {}".format(reason("PJ105", python=version), REASONS["PJ105"].hint)


def why_no_gradients() -> Optional[str]:
    """Why gradients cannot be computed on this Python; None where they can."""
    if _supported():
        return None
    return "{}. {}".format(reason("PJ501"), REASONS["PJ501"].hint)
