"""Which Pythons the compiler works on. All other modules ask here, and import no extension module where it does not."""

from __future__ import annotations

import os
import sys
from typing import Optional

from pijit.core.reasons import REASONS, reason

SUPPORTED = ((3, 7), (3, 8), (3, 9), (3, 10))
"""The versions of CPython on which functions are compiled."""
PORTED = ((3, 11), (3, 12), (3, 13))
"""Those on which they are compiled if the environment asks for it; setup.py has extension modules for these as well."""
SWITCH = "PIJIT_UNTESTED_PYTHON"
"""The environment variable that asks for it, by the value 1."""


def _free_threaded() -> bool:
    # Not asked of sysconfig: that takes a lock, which a thread that a forked child does not have may hold.
    return "free-threading" in sys.version


def why_not_python() -> Optional[str]:
    """Why pijit cannot compile on this Python, with the versions that it supports; None where it can.

    Example:
        >>> why_not_python() is None        # doctest: +SKIP
        True
    """
    running = sys.version_info[:2]
    if sys.implementation.name == "cpython" and not _free_threaded() and (
            running in SUPPORTED or running in PORTED and os.environ.get(SWITCH) == "1"):
        return None
    version = "{} {}.{}".format(sys.implementation.name, *sys.version_info[:2])
    return "{}. {}".format(reason("PJ105", python=version), REASONS["PJ105"].hint)


WITH_GRADIENTS = SUPPORTED + PORTED
"""The versions of CPython whose bytecode `core/tape` rewrites; it needs no extension module."""


def why_no_gradients() -> Optional[str]:
    """Why gradients cannot be computed on this Python; None where they can."""
    if sys.implementation.name == "cpython" and sys.version_info[:2] in WITH_GRADIENTS and not _free_threaded():
        return None
    return "{}. {}".format(reason("PJ501"), REASONS["PJ501"].hint)
