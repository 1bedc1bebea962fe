"""Operations on tensors: functions such as `add`, and primitive classes such as `Add` from one table."""

from __future__ import annotations

import sys
import types
from typing import Any, Callable, Dict

from pijit.ms.constants import stop_gradient  # noqa: F401
from pijit.ms.derivatives import bprop_getters  # noqa: F401
from pijit.ms.gradient_functions import GradOperation, get_grad, grad, value_and_grad  # noqa: F401
from pijit.ms.ops import (
    activations,
    arithmetic,
    convolutions,
    creation,
    elementwise,
    layers,
    losses,
    movement,
    normalisation,
    pooling,
    products,
    reductions,
    scatters,
)
from pijit.ms.ops.composite import (  # noqa: F401
    HookBackward,
    HyperMap,
    InsertGradientOf,
    Map,
    MultitypeFuncGraph,
    Print,
    clip_by_global_norm,
    core,
    partial,
    print_,
    scalar_to_tensor,
)
from pijit.ms.ops.methods import OWN
from pijit.ms.ops.primitive import (
    REQUIRED,  # noqa: F401
    Primitive,  # noqa: F401
    PrimitiveWithCheck,  # noqa: F401
    PrimitiveWithInfer,  # noqa: F401
    Row,  # noqa: F401
    primitive_class,  # noqa: F401
)
from pijit.ms.ops.table import CLASSES, ROWS  # noqa: F401
from pijit.ms.tensor import Tensor, is_tensor  # noqa: F401

MODULES = (activations, arithmetic, convolutions, creation, elementwise, layers, losses, movement, normalisation,
           pooling, products, reductions, scatters)

HELPERS = frozenset(["as_array", "as_numpy", "as_shape", "array_of", "made", "operands", "binary", "divide", "promoted",
                     "floating", "axes", "rows_of", "pair", "paddings", "padded", "window_elements", "reduced",
                     "log_softmax_of", "generator", "sequence_number", "around_sequence", "result_part", "transposed",
                     "transposed_conv2d", "transposed_conv1d", "conv1d_by_row", "instance_norm",
                     "max_pool_by_row", "avg_pool_by_row", "by_parts", "by_parts_of_images", "output_lengths",
                     "output_length", "places_of", "in_dtype", "scatter_add", "scatter_sub", "scatter_max",
                     "scatter_min", "scatter_mul", "scatter_div", "scatter_floor_div", "scatter_store"])
"""Functions in the modules of operations that are not operations themselves."""

FUNCTIONS: Dict[str, Callable[..., Any]] = {
    name: one for module in MODULES for name, one in vars(module).items()
    if isinstance(one, types.FunctionType) and not name.startswith("_") and name not in HELPERS}
"""The functions, by name."""

ALIASES = {"concatenate": "concat", "gather_d": "gather_elements", "inplace_sub_": "inplace_sub", "absolute": "abs",
           "subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg", "norm_": "norm", "gt": "greater",
           "ge": "greater_equal", "lt": "less", "le": "less_equal", "ne": "not_equal", "eq": "equal", "arcsin": "asin",
           "arccos": "acos", "arctan": "atan", "reduce_all": "all", "reduce_any": "any", "reduce_prod": "prod"}

globals().update(FUNCTIONS)
globals().update({name: FUNCTIONS[one] for name, one in ALIASES.items()})
globals().update(CLASSES)

METHODS: Dict[str, str] = {name: name for name in (
    "abs add sub mul div floor ceil round trunc rint sign square sqrt rsqrt exp log log1p log2 log10 sin cos tan asin "
    "acos atan sinh cosh tanh neg reciprocal pow maximum minimum less less_equal greater greater_equal equal not_equal "
    "logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_xor isnan isinf isfinite sigmoid "
    "sum mean prod argmax argmin all any std var norm cumsum cumprod reshape flatten swapaxes expand_dims unsqueeze "
    "squeeze broadcast_to tile masked_fill masked_select gather gather_elements index_select nonzero sort argsort topk "
    "flip roll tril triu diag matmul bmm dot outer amax amin median repeat_interleave split chunk unbind clamp erf "
    "hypot atan2 fmod floor_div invert conj where select unique gather_nd index_fill").split()}
METHODS.update(clip="clamp", absolute="abs", subtract="sub", multiply="mul", negative="neg", true_divide="div",
               divide="div", mm="matmul", take="gather", relu="relu", ravel="ravel", trace="trace", diagonal="diagonal")
"""Methods of tensors, and the functions that implement them."""

for _name, _function in METHODS.items():
    setattr(Tensor, _name, FUNCTIONS[_function])
for _name, _method in OWN.items():
    setattr(Tensor, _name, _method)

operations = functional = sys.modules[__name__]
"""MindSpore has primitives and functions in modules below `ops`."""

__all__ = sorted(set(FUNCTIONS) | set(CLASSES) | set(ALIASES) | {
    "GradOperation", "HookBackward", "HyperMap", "InsertGradientOf", "Map", "MultitypeFuncGraph", "Primitive",
    "bprop_getters", "get_grad", "grad", "partial", "stop_gradient", "value_and_grad", "is_tensor"})
