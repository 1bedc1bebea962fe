"""The exceptions of the kernel compiler.

All modules of `kernel` raise them. They must not reach the user.
"""

from __future__ import annotations


class CompileError(Exception):
    """A graph cannot become a kernel; the message is a sentence with the reason."""


class ForkedError(CompileError):
    """This process was forked while another thread compiled or imported modules, so it cannot call LLVM."""


class TooDeep(CompileError):
    """The control flow of a graph is nested more deeply than Python's parser can read."""
