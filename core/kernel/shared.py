"""Kernel sharing: all functions that are made from one code object use the same kernels."""

from __future__ import annotations

import types
import weakref
from typing import Any, Dict

from pijit.core.kernel.compile import Kernel

_kernels: Dict[int, Dict[Any, Kernel]] = {}


def kernels_of(code: types.CodeType) -> Dict[Any, Kernel]:
    """The kernels of a code object, for every function that is made from it. They live as long as the code object.

    So a function that is jitted each time its outer function runs is compiled once.
    """
    if id(code) not in _kernels:
        _kernels[id(code)] = {}
        weakref.finalize(code, _kernels.pop, id(code), None).atexit = False
    return _kernels[id(code)]
