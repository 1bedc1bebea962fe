"""Compile permission: a hook that may postpone the compilation of a kernel.

`core/warm_up.py` sets it for programs that `python -m pijit` runs: they compile only kernels that have earned it.
`llvm/codegen.py` asks for permission before it compiles a kernel that is not on disk.
"""

from __future__ import annotations

from typing import Callable, Optional

Permission = Callable[[str], None]
_permission: Optional[Permission] = None


class TooEarly(Exception):
    """A kernel is not compiled yet; ``seconds`` is the expected compile time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def set_permission(permission: Optional[Permission]) -> Optional[Permission]:
    """Set the function that is called before each compilation of a kernel that is not on disk.

    It gets the source and may raise `TooEarly`. None: every kernel may be compiled. Returns the previous function.
    """
    global _permission
    previous, _permission = _permission, permission
    return previous


def ask_permission(source: str) -> None:
    """Raise `TooEarly` if the kernel with this source must not be compiled yet."""
    if _permission is not None:
        _permission(source)
