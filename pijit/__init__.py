"""pijit: a bytecode-capturing JIT for NumPy code.

    >>> from pijit import jit
    >>> @jit
    ... def f(x):
    ...     return x * 2.0 + 1.0

`pijit.explain(f, x)` shows what was compiled and what was not, and why.
"""

from __future__ import annotations

try:
    import pijit.core  # noqa: F401
except ModuleNotFoundError:
    from pijit._checkout import installed
    __path__ = [installed(__path__[0])]

from pijit._version import __version__
from pijit.code_extra import get_code_extra
from pijit.compare import Difference
from pijit.context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
from pijit.control import Stance, disable, reset, stance
from pijit.core.errors import FullGraphError, RecompileError
from pijit.core.hinting import TypeHintWarning, hint
from pijit.decorator import UnsupportedPythonWarning, jit, jit_class, ms_function
from pijit.differential import DifferenceError, check
from pijit.dump import dump
from pijit.explain import explain
from pijit.info import Info, info
from pijit.logs import set_logs
from pijit.notebook import load_ipython_extension, unload_ipython_extension
from pijit.report import Report
from pijit.signature import Symbol, Tensor

__all__ = ["Difference", "DifferenceError", "FullGraphError", "GRAPH_MODE", "Info", "PYNATIVE_MODE",
           "RecompileError", "Report", "Stance", "Symbol", "Tensor", "TypeHintWarning",
           "UnsupportedPythonWarning", "__version__",
           "check", "disable", "dump", "explain", "get_code_extra", "get_context", "hint", "info", "jit", "jit_class",
           "load_ipython_extension", "ms_function", "reset", "set_context", "set_logs", "stance",
           "unload_ipython_extension"]
