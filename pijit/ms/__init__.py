"""`pijit.ms`: MindSpore's programming interface over NumPy arrays, on the CPU.

    >>> import pijit.ms as ms
    >>> from pijit.ms import nn, ops
    >>> ops.add(ms.Tensor([1.0]), ms.Tensor([2.0]))
    Tensor(shape=[1], dtype=Float32, value= [ 3.00000000e+00])

`python -m pijit.ms program.py` runs a program that imports `mindspore`; `install()` does the same for this process.
"""

from __future__ import annotations

from pijit.ms import amp, context, dtype, initializer, nn, numpy, ops  # noqa: F401
from pijit.ms.compilation import (
    JitConfig,
    constexpr,  # noqa: F401
    jit,
    jit_class,
    ms_class,
    ms_function,
    ms_memory_recycle,  # noqa: F401
    mutable,
)
from pijit.ms.context import (  # noqa: F401
    GRAPH_MODE,
    LAX,
    PYNATIVE_MODE,
    STRICT,
    get_auto_parallel_context,
    get_context,
    reset_auto_parallel_context,
    reset_ps_context,
    set_auto_parallel_context,
    set_context,
    set_device,
    set_ps_context,
)
from pijit.ms.dtype import *  # noqa: F401,F403
from pijit.ms.dtype import bool_, dtype_to_nptype, dtype_to_pytype, pytype_to_dtype  # noqa: F401
from pijit.ms.gradient_functions import get_grad, grad, value_and_grad  # noqa: F401
from pijit.ms.install import install, uninstall
from pijit.ms.ops.creation import get_seed, set_seed
from pijit.ms.parameter import Parameter, ParameterTuple
from pijit.ms.tensor import Tensor, is_tensor, tensor
from pijit.ms.train import Model, load_checkpoint, load_param_into_net, save_checkpoint  # noqa: F401
from pijit.signature import Symbol  # noqa: F401

from_numpy = Tensor.from_numpy

__all__ = [
    "GRAPH_MODE", "JitConfig", "Model", "PYNATIVE_MODE", "Parameter", "ParameterTuple", "Tensor", "amp", "context",
    "from_numpy", "get_context", "get_grad", "get_seed", "grad", "initializer", "install", "is_tensor", "jit",
    "jit_class", "load_checkpoint", "load_param_into_net", "ms_class", "ms_function", "mutable", "nn", "numpy", "ops",
    "save_checkpoint", "set_context", "set_device", "set_seed", "tensor", "uninstall", "value_and_grad"]
