"""LLVM's passes on a module; an assertion of LLVM that fails ends the compilation, not the process.

llvmlite's LLVM is built with assertions. LLVM 20 to 22 have two cost models of loop vectorisation, and assert that both
choose the same width. That is not true of all loops (llvm/llvm-project#190838 removes the older model). Called by
codegen.py, which compiles such a kernel again without loop vectorisation.
"""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite.binding import ffi

from pijit.core import _signals
from pijit.core.kernel.errors import CompileError


class AbortedPasses(CompileError):
    """LLVM called abort() while it optimised a module; the message is what it wrote."""


class SurvivingPasses:
    """Passes on modules, run by `run` as by llvmlite's pass manager.

    Arguments:
        manager: a ``ModulePassManager`` of llvmlite.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def run(self, module: Any, builder: Any) -> None:
        """Optimise a module; ``builder`` is the ``PassBuilder`` of the manager.

        Raises: AbortedPasses; the module, the manager and the builder are unusable then.
        """
        function = ffi.lib.LLVMPY_RunNewModulePassManager
        objects = (self._manager, module, builder)
        with function._lock:
            text = _signals.call_until_abort(_address(function._cfn), *[_address(one._ptr) for one in objects])
        if text is not None:
            for one in objects:
                one.detach()  # never freed: the aborted passes refer to parts of them
            raise AbortedPasses(text.strip() or "LLVM called abort()")


def can_survive() -> bool:
    """Whether llvmlite has the functions that `SurvivingPasses` calls."""
    function = getattr(ffi.lib, "LLVMPY_RunNewModulePassManager", None)
    return hasattr(function, "_cfn") and hasattr(function, "_lock")


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
