"""Which Pythons the compiler works on. All other modules ask here, and import no extension module where it does not."""

from __future__ import annotations

import sys
import sysconfig
from typing import Optional

from pijit.core.reasons import REASONS, reason

SUPPORTED = ((3, 7), (3, 8), (3, 9), (3, 10))
"""The versions of CPython that have extension modules; setup.py has the same ones."""


def why_not_python() -> Optional[str]:
    """Why pijit cannot compile on this Python, with the versions that it supports; None where it can.

    Example:
        >>> why_not_python() is None        # doctest: +SKIP
        True
    """
    if sys.implementation.name == "cpython" and sys.version_info[:2] in SUPPORTED:
        return None
    version = "{} {}.{}".format(sys.implementation.name, *sys.version_info[:2])
    return "{}. {}".format(reason("PJ105", python=version), REASONS["PJ105"].hint)


WITH_GRADIENTS = SUPPORTED + ((3, 11), (3, 12), (3, 13))
"""The versions of CPython whose bytecode `core/tape` rewrites; it needs no extension module."""


def why_no_gradients() -> Optional[str]:
    """Why gradients cannot be computed on this Python; None where they can."""
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    if sys.implementation.name == "cpython" and sys.version_info[:2] in WITH_GRADIENTS and not free_threaded:
        return None
    return "{}. {}".format(reason("PJ501"), REASONS["PJ501"].hint)
