"""The table of operations: each row defines a primitive class and the function that computes it."""

from __future__ import annotations

from typing import Any, Dict

from pijit.ms.ops import activations as v
from pijit.ms.ops import arithmetic as a
from pijit.ms.ops import convolutions as w
from pijit.ms.ops import creation as c
from pijit.ms.ops import elementwise as e
from pijit.ms.ops import layers as n
from pijit.ms.ops import losses as t
from pijit.ms.ops import movement as m
from pijit.ms.ops import normalisation as y
from pijit.ms.ops import pooling as o
from pijit.ms.ops import products as p
from pijit.ms.ops import reductions as r
from pijit.ms.ops import scatters as s
from pijit.ms.ops.primitive import REQUIRED, Row, primitive_class

_KEEP = (("keep_dims", False),)
_TRANSPOSE = (("transpose_a", False), ("transpose_b", False))
_CONV = (
    ("out_channel", REQUIRED), ("kernel_size", REQUIRED), ("mode", 1), ("pad_mode", "valid"), ("pad", 0), ("stride", 1),
    ("dilation", 1), ("group", 1), ("data_format", "NCHW"))
_POOL = (("kernel_size", 1), ("strides", 1), ("pad_mode", "valid"), ("data_format", "NCHW"))

ROWS = (
    Row("Abs", e.abs), Row("Neg", e.neg), Row("Sign", e.sign), Row("Square", e.square), Row("Floor", e.floor),
    Row("Ceil", e.ceil), Row("Trunc", e.trunc), Row("Rint", e.rint), Row("Round", e.round), Row("Conj", e.conj),
    Row("Real", e.real), Row("Imag", e.imag), Row("LogicalNot", e.logical_not), Row("Invert", e.invert),
    Row("IsNan", e.isnan), Row("IsInf", e.isinf), Row("IsFinite", e.isfinite), Row("Exp", e.exp), Row("Expm1", e.expm1),
    Row("Log", e.log), Row("Log1p", e.log1p), Row("Sqrt", e.sqrt), Row("Rsqrt", e.rsqrt), Row("Sin", e.sin),
    Row("Cos", e.cos), Row("Tan", e.tan), Row("Asin", e.asin), Row("ACos", e.acos), Row("Atan", e.atan),
    Row("Sinh", e.sinh),
    Row("Cosh", e.cosh), Row("Tanh", e.tanh), Row("Asinh", e.asinh), Row("Acosh", e.acosh), Row("Atanh", e.atanh),
    Row("Reciprocal", e.reciprocal), Row("Inv", e.reciprocal), Row("Erf", e.erf),
    Row("Add", e.add), Row("TensorAdd", e.add), Row("Sub", e.sub), Row("Mul", e.mul), Row("Div", e.div),
    Row("RealDiv", e.div),
    Row("FloorDiv", e.floor_div), Row("FloorMod", e.floor_mod), Row("Mod", e.fmod), Row("Pow", e.pow),
    Row("Maximum", e.maximum), Row("Minimum", e.minimum), Row("Atan2", e.atan2), Row("Equal", e.equal),
    Row("NotEqual", e.not_equal), Row("Less", e.less), Row("LessEqual", e.less_equal), Row("Greater", e.greater),
    Row("GreaterEqual", e.greater_equal), Row("LogicalAnd", e.logical_and), Row("LogicalOr", e.logical_or),
    Row("LogicalXor", e.logical_xor), Row("BitwiseAnd", e.bitwise_and), Row("BitwiseOr", e.bitwise_or),
    Row("BitwiseXor", e.bitwise_xor), Row("SquaredDifference", e.squared_difference), Row("AddN", e.addn),
    Row("Cast", e.cast), Row("Select", e.select), Row("Identity", e.identity),
    Row("ReLU", e.relu), Row("ReLU6", e.relu6), Row("LeakyReLU", e.leaky_relu, (("alpha", 0.2),)),
    Row("Elu", e.elu, (("alpha", 1.0),)), Row("Sigmoid", e.sigmoid), Row("Softplus", e.softplus), Row("GeLU", e.gelu),
    Row("HSwish", v.hardswish), Row("HSigmoid", v.hardsigmoid), Row("Mish", v.mish), Row("SeLU", v.selu),
    Row("Softsign", v.softsign), Row("SoftShrink", v.softshrink, (("lambd", 0.5),)),
    Row("HShrink", v.hardshrink, (("lambd", 0.5),)), Row("PReLU", v.prelu), Row("Lerp", a.lerp), Row("Trace", a.trace),
    Row("NanToNum", a.nan_to_num, (("nan", None), ("posinf", None), ("neginf", None))),
    Row("L2Normalize", a.l2_normalize, (("axis", 0), ("epsilon", 1e-4))),
    Row("ReduceSum", r.reduce_sum, _KEEP), Row("ReduceMean", r.reduce_mean, _KEEP),
    Row("ReduceMax", r.reduce_max, _KEEP), Row("ReduceMin", r.reduce_min, _KEEP), Row("ReduceProd", r.prod, _KEEP),
    Row("ReduceAll", r.all, _KEEP),
    Row("ReduceAny", r.any, _KEEP), Row("CumSum", r.cumsum), Row("CumProd", r.cumprod),
    Row("Argmax", r.argmax, (("dim", -1),)), Row("Argmin", r.argmin, (("axis", -1),)),
    Row("Median", r.median_of, (("global_median", False), ("axis", 0), ("keep_dims", False))),
    Row("Shape", m.shape), Row("Rank", m.rank), Row("Size", m.size), Row("DType", m.dtype_of),
    Row("Reshape", m.reshape),
    Row("Flatten", m.flatten), Row("Transpose", m.transpose), Row("ExpandDims", m.expand_dims),
    Row("Squeeze", m.squeeze, (("axis", ()),)), Row("BroadcastTo", m.broadcast_to, (("shape", REQUIRED),)),
    Row("Tile", m.tile), Row("Concat", m.concat, (("axis", 0),)), Row("Stack", m.stack, (("axis", 0),)),
    Row("Unstack", m.unstack, (("axis", 0), ("num", None))),
    Row("Split", m.equal_split, (("axis", 0), ("output_num", 1))),
    Row("Slice", m.slice), Row("StridedSlice", m.strided_slice), Row("Gather", m.gather, (("batch_dims", 0),)),
    Row("GatherD", m.gather_elements),
    Row("GatherNd", m.gather_nd), Row("MaskedFill", m.masked_fill), Row("MaskedSelect", m.masked_select),
    Row("NonZero", m.nonzero), Row("Unique", m.unique), Row("Sort", m.sort, (("axis", -1), ("descending", False))),
    Row("TopK", m.topk, (("sorted", True), ("dim", -1))), Row("ReverseV2", m.flip, (("dims", REQUIRED),)),
    Row("Depend", m.depend), Row("TupleToArray", m.tuple_to_array), Row("ScatterUpdate", s.scatter_update),
    Row("TensorScatterUpdate", s.tensor_scatter_update), Row("TensorScatterAdd", s.tensor_scatter_add),
    Row("TensorScatterSub", s.tensor_scatter_sub), Row("TensorScatterMax", s.tensor_scatter_max),
    Row("TensorScatterMin", s.tensor_scatter_min), Row("TensorScatterMul", s.tensor_scatter_mul),
    Row("TensorScatterDiv", s.tensor_scatter_div), Row("ScatterNd", s.scatter_nd),
    Row("IndexAdd", s.index_add, (("axis", REQUIRED), ("use_lock", True), ("check_index_bound", True))),
    Row("IndexFill", s.index_fill),
    Row("InplaceAdd", s.inplace_add, (("indices", REQUIRED),)),
    Row("InplaceSub", s.inplace_sub, (("indices", REQUIRED),)),
    Row("InplaceUpdate", s.inplace_update, (("indices", REQUIRED),)), Row("Assign", m.assign),
    Row("AssignAdd", m.assign_add),
    Row("AssignSub", m.assign_sub),
    Row("MatMul", p.matmul_transposed, _TRANSPOSE), Row("BatchMatMul", p.matmul_transposed, _TRANSPOSE),
    Row("Ger", p.outer), Row("BiasAdd", p.bias_add, (("data_format", "NCHW"),)), Row("Dense", p.dense),
    Row("Einsum", p.einsum_of, (("equation", REQUIRED),)),
    Row("Zeros", c.zeros), Row("Ones", c.ones), Row("ZerosLike", c.zeros_like), Row("OnesLike", c.ones_like),
    Row("Fill", c.fill),
    Row("Range", c.range, (("maxlen", 1000000),)), Row("Eye", c.eye), Row("OneHot", c.one_hot, (("axis", -1),)),
    Row("LinSpace", c.linspace), Row("StandardNormal", c.standard_normal, (("seed", 0), ("seed2", 0))),
    Row("Conv2D", w.conv2d_of, _CONV), Row("MaxPool", o.max_pool, _POOL), Row("AvgPool", o.avg_pool, _POOL),
    Row("Softmax", n.softmax, (("axis", -1),)), Row("LogSoftmax", n.log_softmax, (("axis", -1),)),
    Row("SoftmaxCrossEntropyWithLogits", t.softmax_cross_entropy_with_logits),
    Row("SmoothL1Loss", t.smooth_l1_loss, (("beta", 1.0), ("reduction", "none"))),
    Row("BinaryCrossEntropy", t.binary_cross_entropy, (("reduction", "mean"),)),
    Row("BCEWithLogitsLoss", t.binary_cross_entropy_with_logits, (("reduction", "mean"),)),
    Row("KLDivLoss", t.kl_div, (("reduction", "mean"),)),
    Row("SoftMarginLoss", t.soft_margin_loss, (("reduction", "mean"),)),
    Row("AdaptiveAvgPool2D", o.adaptive_avg_pool2d, (("output_size", REQUIRED),)), Row("LayerNorm", y.layer_norm_of, (
        ("begin_norm_axis", 1), ("begin_params_axis", 1), ("epsilon", 1e-7))),
)

CLASSES: Dict[str, Any] = {row.name: primitive_class(row) for row in ROWS}
"""The primitive classes by name."""
