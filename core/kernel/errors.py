"""The one exception of the kernel compiler."""

from __future__ import annotations


class CompileError(Exception):
    """A graph cannot become a kernel; the message is a sentence that says why."""
