"""`mindspore.numpy`: functions over tensors with NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as _np

from pijit.ms.arrays import as_array
from pijit.ms.dtype import (  # noqa: F401
    as_numpy,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from pijit.ms.ops.creation import arange as _arange
from pijit.ms.ops.creation import (
    eye,  # noqa: F401
    full,  # noqa: F401
    linspace,  # noqa: F401
    ones,  # noqa: F401
    ones_like,  # noqa: F401
    rand,  # noqa: F401
    randint,  # noqa: F401
    randn,  # noqa: F401
    zeros,  # noqa: F401
    zeros_like,  # noqa: F401
)
from pijit.ms.ops.elementwise import (  # noqa: F401
    abs,
    add,
    ceil,
    cos,
    cosh,
    equal,
    exp,
    expm1,
    floor,
    greater,
    greater_equal,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    not_equal,
    reciprocal,
    round,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
    trunc,
    where,
)
from pijit.ms.ops.elementwise import div as divide  # noqa: F401
from pijit.ms.ops.elementwise import mul as multiply  # noqa: F401
from pijit.ms.ops.elementwise import neg as negative  # noqa: F401
from pijit.ms.ops.elementwise import pow as power  # noqa: F401
from pijit.ms.ops.elementwise import sub as subtract  # noqa: F401
from pijit.ms.ops.movement import (  # noqa: F401
    broadcast_to,
    diag,
    expand_dims,
    flip,
    repeat_interleave,
    reshape,
    roll,
    split,
    squeeze,
    stack,
    swapaxes,
    tile,
    tril,
    triu,
)
from pijit.ms.ops.movement import concat as concatenate  # noqa: F401
from pijit.ms.ops.movement import transpose as _transpose
from pijit.ms.ops.products import dot, matmul, outer, tensor_dot  # noqa: F401
from pijit.ms.ops.reductions import (  # noqa: F401
    all,
    any,
    argmax,
    argmin,
    cumsum,
    mean,
    prod,
    reduce_max,
    reduce_min,
    reduce_sum,
    std,
    var,
)
from pijit.ms.tensor import Tensor, made

absolute = abs
true_divide = divide
pi, e, inf, nan = _np.pi, _np.e, _np.inf, _np.nan
newaxis = None


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor from numbers, an array, nested lists or tensors."""
    given = Tensor(obj)._array if not isinstance(obj, Tensor) else obj._array
    made_array = as_array(given, None if dtype is None else as_numpy(dtype, "array"))
    return made(made_array.reshape((1,) * (ndmin - made_array.ndim) + made_array.shape) if ndmin > made_array.ndim else
                made_array)


asarray = asfarray = array


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Numbers from `start` to `stop` in steps; int32 for integers, otherwise float32."""
    step = 1 if step is None else step
    whole = builtins_all(isinstance(one, int) or one is None for one in (start, stop, step))
    return _arange(start, stop, step, dtype=dtype if dtype is not None else int32 if whole else float32)


def builtins_all(found: Any) -> bool:
    """Like the builtin `all`, whose name this module redefines."""
    return not [one for one in found if not one]


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sums along axes."""
    r = reduce_sum(a, () if axis is None else axis, keepdims)
    return r if dtype is None else made(r._array.astype(as_numpy(dtype, "sum")))


def amax(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Greatest values along axes."""
    return reduce_max(a, () if axis is None else axis, keepdims)


def amin(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Smallest values along axes."""
    return reduce_min(a, () if axis is None else axis, keepdims)


max, min = amax, amin


def transpose(a: Any, axes: Any = None) -> Tensor:
    """Permuted dimensions; reversed if `axes` is None."""
    return _transpose(a, tuple(range(a.ndim))[::-1] if axes is None else axes)


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Elementwise: whether values are equal within tolerances."""
    return made(_np.isclose(Tensor(a)._array, Tensor(b)._array, rtol, atol, equal_nan))


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all values are equal within tolerances."""
    return bool(_np.allclose(Tensor(a)._array, Tensor(b)._array, rtol, atol, equal_nan))


def array_equal(a: Any, b: Any) -> bool:
    """Whether shapes and values are equal."""
    return bool(_np.array_equal(Tensor(a)._array, Tensor(b)._array))


random = _np.random
