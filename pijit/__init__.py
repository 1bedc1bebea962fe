"""pijit: a bytecode-capturing JIT for NumPy code.

    >>> from pijit import jit
    >>> @jit
    ... def f(x):
    ...     return x * 2.0 + 1.0

`pijit.explain(f, x)` shows which parts were compiled, which were not, and why.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

try:
    import pijit.core  # noqa: F401
except ModuleNotFoundError:
    from pijit import _checkout
    __path__ = [_checkout.installed(__path__[0])]

from pijit._version import __version__
from pijit.code_extra import get_code_extra
from pijit.context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
from pijit.control import Stance, disable, reset, stance
from pijit.core.errors import FullGraphError, RecompileError
from pijit.decorator import UnsupportedPythonWarning, jit, jit_class, ms_function
from pijit.dump import dump
from pijit.explain import explain
from pijit.info import Info, info
from pijit.logs import set_logs
from pijit.reporting.report import Report

if TYPE_CHECKING:
    from pijit.ahead_of_time import warmup
    from pijit.compare import Difference
    from pijit.core.hinting import TypeHintWarning, hint
    from pijit.core.tape.errors import GradientError, GradientWarning
    from pijit.differential import DifferenceError, check
    from pijit.gradients import (
        checkpoint,
        custom_vjp,
        grad,
        no_grad,
        nondifferentiable,
        stop_gradient,
        value_and_grad,
        vjp,
    )
    from pijit.notebook import load_ipython_extension, unload_ipython_extension
    from pijit.reporting.profile import Profile, profile
    from pijit.science.c_callbacks import low_level_callable
    from pijit.signature import Symbol, Tensor
    from pijit.typed.jit_config import JitConfig

_LATER = {name: module for module, names in {
    "pijit.ahead_of_time": ["warmup"],
    "pijit.science.c_callbacks": ["low_level_callable"],
    "pijit.compare": ["Difference"],
    "pijit.core.hinting": ["TypeHintWarning", "hint"],
    "pijit.core.tape.errors": ["GradientError", "GradientWarning"],
    "pijit.differential": ["DifferenceError", "check"],
    "pijit.gradients": ["checkpoint", "custom_vjp", "grad", "no_grad", "nondifferentiable", "stop_gradient",
                        "value_and_grad", "vjp"],
    "pijit.notebook": ["load_ipython_extension", "unload_ipython_extension"],
    "pijit.reporting.profile": ["Profile", "profile"],
    "pijit.signature": ["Symbol", "Tensor"],
    "pijit.typed.jit_config": ["JitConfig"],
}.items() for name in names}
"""By name, the module it is imported from at its first use. Programs that use none of them start faster."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError("module 'pijit' has no attribute {!r}".format(name))
    value = globals()[name] = getattr(importlib.import_module(_LATER[name]), name)
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Difference", "DifferenceError", "FullGraphError", "GRAPH_MODE", "GradientError", "GradientWarning", "Info",
    "JitConfig", "PYNATIVE_MODE", "Profile", "RecompileError", "Report", "Stance", "Symbol", "Tensor",
    "TypeHintWarning", "UnsupportedPythonWarning", "__version__", "check", "checkpoint", "custom_vjp", "disable",
    "dump", "explain", "get_code_extra", "get_context", "grad", "hint", "info", "jit", "jit_class",
    "load_ipython_extension", "low_level_callable", "ms_function", "no_grad", "nondifferentiable", "profile", "reset",
    "set_context", "set_logs", "stance", "stop_gradient", "unload_ipython_extension", "value_and_grad", "vjp", "warmup"]
