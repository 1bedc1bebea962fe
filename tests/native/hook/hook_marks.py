"""What the tests of the hook share: payloads, and a `with` block in which a function is marked."""

import sys
import threading

import pytest

from pijit.core import _hook
from pijit.core.bytecode.codec.encode import replace_code

HOOKED = hasattr(_hook, "hold")
"""Whether there is a frame hook: up to CPython 3.10."""

needs_hook = pytest.mark.skipif(not HOOKED, reason="from CPython 3.11 on there is no frame hook")


def with_const(code, old, new):
    """The code object with one constant replaced."""
    return replace_code(code, co_consts=tuple(new if const == old else const for const in code.co_consts))


def with_local(code, *names):
    """The code object with locals appended."""
    varnames = code.co_varnames + names
    return replace_code(code, co_varnames=varnames, co_nlocals=len(varnames))


def in_eight_threads(work):
    """Run work(0), work(10000), ... in threads that take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(n * 10000,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)


class Mark:
    """Marks a function for a `with` block, holds the hook, and keeps what on_miss got and the errors
    reported."""

    def __init__(self, function, payload):
        self.code = function.__code__
        self.payload = payload
        self.seen = []
        self.errors = []

    def on_miss(self, code, localsplus, globals, builtins):
        self.seen.append((code, localsplus, globals, builtins))
        return self.payload

    def __enter__(self):
        _hook.mark(self.code, None, self.on_miss)
        _hook.set_error_handler(lambda code, error: self.errors.append((code, type(error), str(error))))
        _hook.hold()
        return self

    def __exit__(self, *exc_info):
        _hook.release()
        _hook.set_error_handler(None)
        _hook.unmark(self.code)
