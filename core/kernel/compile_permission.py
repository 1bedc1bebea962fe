"""Whether a kernel may be compiled now: programs that `python -m pijit` runs compile what has earned it."""

from __future__ import annotations

from typing import Callable, Optional

Permission = Callable[[str], None]
_permission: Optional[Permission] = None


class TooEarly(Exception):
    """A kernel is not compiled now; ``seconds`` is what compiling it is expected to take."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def set_permission(permission: Optional[Permission]) -> Optional[Permission]:
    """Have this asked before each kernel is compiled that is not on disk; it gets the source and may raise `TooEarly`.

    None: each may be compiled. Returns the previous one.
    """
    global _permission
    previous, _permission = _permission, permission
    return previous


def ask_permission(source: str) -> None:
    """Raise `TooEarly` if the kernel with this source is not to be compiled now."""
    if _permission is not None:
        _permission(source)
