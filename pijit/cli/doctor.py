"""`python -m pijit doctor`: checks whether the requirements of pijit are fulfilled.

`pijit.cli.commands` runs it. It must change no setting of the user.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from typing import Any, Callable, Iterator, List, Tuple

from pijit._version import __version__
from pijit.core.named_tuples import NamedTuple
from pijit.core.pythons import why_not_python
from pijit.names import count_of


class Finding(NamedTuple):
    """The result of one check."""

    name: str
    well: bool
    text: str


def findings() -> List[Finding]:
    """Run all checks; a check that raises is a finding, too."""
    found = []
    for name, look in _LOOKS:
        try:
            found += [Finding(name, well, text) for well, text in look()]
        except Exception as error:
            found.append(Finding(name, False, "{}: {}".format(type(error).__name__, error)))
        if name == "Python" and not found[-1].well:
            break  # the other checks need a supported Python
    return found


CheckResults = Iterator[Tuple[bool, str]]


def _python() -> CheckResults:
    refusal = why_not_python()
    version = "{} {} on {}, {}".format(platform.python_implementation(), platform.python_version(), platform.system(),
                                       platform.machine())
    yield refusal is None, version if refusal is None else "{}: {}".format(version, refusal)


def _pijit() -> CheckResults:
    yield True, "{} in {}".format(__version__, os.path.dirname(os.path.dirname(__file__)))


def _libraries() -> CheckResults:
    import bytecode
    import llvmlite
    import numba
    import numpy

    yield True, "NumPy {}, numba {}, llvmlite {}, bytecode {}".format(*(
        library.__version__ for library in (numpy, numba, llvmlite, bytecode)))


def _compiler() -> CheckResults:
    import numpy as np

    from pijit.decorator import jit

    def probe(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total += x[i] * 2.0
        return total

    start = time.perf_counter()
    function: Any = jit(probe, jit_config={"cache": False})
    if function is probe:
        yield True, "not tried, since decorators do nothing"
        return
    given = np.arange(100.0)
    right = function(given) == probe(given) and len(function.graphs) == 1
    yield right, "a loop compiled and ran in {:.2f} s".format(time.perf_counter() - start) if right else (
        "a loop did not come out as expected: {}".format(function.explain(given)))


def _threads() -> CheckResults:
    from numba import config

    yield True, "{} of {} processors, threading layer {!r}".format(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(), os.cpu_count(),
        getattr(config, "THREADING_LAYER"))


def _cache() -> CheckResults:
    from pijit.core.kernel.disk_cache import DiskCache

    store = DiskCache()
    contents = store.contents()
    if contents.problem:
        yield False, "{} is not used: {}".format(store.path, contents.problem)
        return
    folder = store.path
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    writable = os.access(folder, os.W_OK)
    yield writable, "{}, {}{}".format(store.path, count_of(contents.kernels, "kernel"),
                                      "" if writable else ", cannot be written")


def _hook() -> CheckResults:
    from pijit.core import _hook as hook

    if hasattr(hook, "hold"):
        before, during = hook.installed(), False
        hook.hold()
        try:
            during = hook.installed()
        finally:
            hook.release()
        yield during and not before, (
            "free, and installed while a call needs it" if during and not before
            else "installed all the time" if before else "cannot be installed: another tool has taken it")
    else:
        yield True, "not needed on this Python"
    watched = [name for name, function in (("tracing", sys.gettrace()), ("profiling", sys.getprofile())) if function]
    if watched:
        yield False, "{} is switched on: functions run as plain Python meanwhile".format(" and ".join(watched))


def _environment() -> CheckResults:
    switches = ("PIJIT_DISABLE", "NUMBA_DISABLE_JIT")
    names = sorted(name for name in os.environ if name.startswith("PIJIT_") or name in switches)
    off = [name for name in switches if os.environ.get(name, "0") not in ("", "0")]
    text = ", ".join("{}={}".format(name, os.environ[name]) for name in names) or "no variables of pijit are set"
    yield not off, text + (": decorators do nothing" if off else "")


_LOOKS: Tuple[Tuple[str, Callable[[], CheckResults]], ...] = (
    ("Python", _python), ("pijit", _pijit), ("libraries", _libraries), ("compiler", _compiler), ("threads", _threads),
    ("cache", _cache), ("frame hook", _hook), ("environment", _environment),
)
