"""Special functions that NumPy lacks, as functions of arrays with a derivative.

`pijit.ms` calls them, and `graph/derivatives` has their rules. They are ufuncs, which kernels call like NumPy's. On
Pythons without the extension modules they are Python functions. The module must not import other parts of `core`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pijit.core.pythons import why_not_python

if TYPE_CHECKING or why_not_python() is None:
    from pijit.core._ufuncs import erf
else:
    def erf(x: Any) -> Any:
        """Error function of each element of a floating-point array; float16 gives float32."""
        array = np.asarray(x)
        return np.vectorize(math.erf, otypes=[np.result_type(array.dtype, np.float32)])(array)

__all__ = ["erf"]
