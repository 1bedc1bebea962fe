"""Cumulative sums and products: ``np.cumsum`` and ``np.cumprod``, as functions and as methods.

`catalogue` imports it. It must not change the order in which NumPy adds or multiplies.
"""

from __future__ import annotations

from typing import Callable, List, cast

import numpy as np

from pijit.core import _launcher
from pijit.core.capture.models.numpy.from_sequences import as_array
from pijit.core.capture.models.numpy.reductions import leave_if_empty, one_axis
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.typing import result_types
from pijit.core.capture.values.describe import Arguments, describe
from pijit.core.capture.values.lattice import Abstract, Const, Tensor, ssa_value
from pijit.core.errors import Break
from pijit.core.graph.types import Array

DTYPES = frozenset("?bBhHiIlLqQfd" + ("e" if _launcher.half_scans_run() else ""))
"""Dtypes of arrays that kernels scan natively."""


@model_factory
def _scan(name: str, ufunc: np.ufunc) -> Callable[..., Abstract]:
    """``np.cumsum(x)``, ``x.cumsum(axis=-1)`` and similar calls along the last axis."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        named = dict(zip(("a", "axis"), arguments))
        if len(arguments) not in (1, 2) or set(keywords) - {"axis"} or set(keywords) & set(named):
            raise Break("PJ211", callee=name)
        array, given = as_array(interpreter, arguments[0]), keywords.get("axis", named.get("axis", Const(None)))
        if not isinstance(array, Tensor) or array.type.ndim == 0:
            raise Break("PJ203", operand=describe(array))
        kind, ndim = array.type, array.type.ndim
        axis = one_axis(interpreter, name, given, ndim)
        if axis is None and ndim > 1 or axis not in (None, ndim - 1) or ndim > 1 and kind.layout != "C":
            raise Break("PJ210", callee="%s along another axis than the last" % name)
        if kind.dtype.char not in DTYPES:
            raise Break("PJ210", callee="%s of %s" % (name, kind.dtype))
        sample = getattr(np, name)(np.ones((2,) * ndim, kind.dtype), axis)
        result = cast(Array, result_types.type_of_result(sample))
        leave_if_empty(interpreter, array)
        return Tensor(result, interpreter.emit("scan", [ssa_value(array)], result, {"ufunc": ufunc}, exits=True))
    return call


for _name, _ufunc in (("cumsum", np.add), ("cumprod", np.multiply)):
    models(getattr(np, _name))(_scan(_name, _ufunc))
    models(np.ndarray, _name)(_scan(_name, _ufunc))
