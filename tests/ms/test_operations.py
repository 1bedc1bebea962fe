"""Operations: gradients against differences, classes against functions, and types of results."""

import numpy as np
import pytest

RANDOM = np.random.RandomState(7)
A = RANDOM.uniform(0.2, 0.9, (2, 3, 4))
B = RANDOM.uniform(0.3, 0.8, (2, 3, 4))
M, N = RANDOM.uniform(-1, 1, (3, 4)), RANDOM.uniform(-1, 1, (4, 2))
IMAGES = RANDOM.uniform(-1, 1, (2, 4, 6, 5))
WEIGHT = RANDOM.uniform(-1, 1, (4, 2, 3, 2))
CLASSES = np.array([1, 0, 3])
PAIRS = np.array([[0, 1], [1, 2], [0, 1]])

UNARY = ("abs neg square exp expm1 log log1p log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh atanh reciprocal "
         "relu relu6 leaky_relu elu sigmoid softplus silu gelu erf mish selu celu softsign softshrink hardshrink tanhshrink logsigmoid "
         "hardtanh hardsigmoid hardswish glu frac deg2rad rad2deg diff ravel l2_normalize nan_to_num identity softmax log_softmax logsumexp sum mean prod std var "
         "cumulated flatten_all norm amax amin").split()
CALLS = {name: (name, (A,), {}) for name in UNARY if name not in ("cumulated", "flatten_all")}
CALLS.update({name: (name, (A, B), {}) for name in "add sub mul div pow maximum minimum atan2 hypot squared_difference fmax fmin logaddexp inner".split()})
CALLS.update({
    "sum axis": ("sum", (A,), {"dim": (0, 2), "keepdim": True}), "mean axis": ("mean", (A, 1), {}),
    "reduce_max": ("reduce_max", (A, 1), {}), "reduce_min": ("reduce_min", (A, (0, 1)), {}), "cumsum": ("cumsum", (A, 1), {}),
    "cumprod": ("cumprod", (A, 2), {}), "std axis": ("std", (A, 1), {"ddof": 1}), "reshape": ("reshape", (A, (4, 6)), {}),
    "flatten": ("flatten", (A,), {}), "transpose": ("transpose", (A, (2, 0, 1)), {}), "swapaxes": ("swapaxes", (A, 0, 2), {}),
    "expand_dims": ("expand_dims", (A, 1), {}), "squeeze": ("squeeze", (A[:1],), {}), "tile": ("tile", (A, (2, 1, 1)), {}),
    "broadcast_to": ("broadcast_to", (A[:, :1], (2, 5, 4)), {}), "slice": ("slice", (A, (0, 1, 0), (2, 2, -1)), {}),
    "strided_slice": ("strided_slice", (A, (0, 0, 3), (2, 3, 0), (1, 2, -1)), {}), "gather": ("gather", (A, [2, 0, 2], 1), {}),
    "flip": ("flip", (A, (1,)), {}), "roll": ("roll", (A, 1, 2), {}), "tril": ("tril", (A,), {}), "triu": ("triu", (A, 1), {}),
    "pad": ("pad", (A, (1, 2)), {}), "where": ("where", (A > 0.5, A, B), {}), "masked_fill": ("masked_fill", (A, B > 0.5, 0.0), {}),
    "clip": ("clip_by_value", (A, 0.4, 0.7), {}), "matmul": ("matmul", (M, N), {}), "dense": ("dense", (M, N.T), {}),
    "bmm": ("bmm", (A, np.swapaxes(B, 1, 2)), {}), "outer": ("outer", (M[0], N[:, 0]), {}), "tensor_dot": ("tensor_dot", (M, N, 1), {}),
    "bias_add": ("bias_add", (IMAGES, M[0]), {}), "layer_norm": ("layer_norm", (A, (4,), M[0], M[1]), {}),
    "conv2d": ("conv2d", (IMAGES, WEIGHT), {"groups": 2, "stride": 2, "pad_mode": "same"}),
    "conv2d pad": ("conv2d", (IMAGES[:, :2], WEIGHT), {"pad_mode": "pad", "padding": (1, 0, 2, 1), "dilation": (2, 1)}),
    "conv1d": ("conv1d", (A[:, :2], WEIGHT[:, :, :, 0], M[0]), {"pad_mode": "pad", "padding": (2, 1), "stride": 2}),
    "conv_transpose2d": ("conv_transpose2d", (IMAGES[:1, :, :3], WEIGHT, M[0]), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2, "dilation": (1, 2)}),
    "group_norm": ("group_norm", (IMAGES, 2, M[0], M[1]), {}), "adaptive_avg_pool2d": ("adaptive_avg_pool2d", (IMAGES, (4, 2)), {}),
    "kl_div": ("kl_div", (A, B, "batchmean"), {}), "soft_margin_loss": ("soft_margin_loss", (M, np.sign(M).astype(int)), {"reduction": "none"}),
    "max_pool2d": ("max_pool2d", (IMAGES, 2, 2, "same"), {}), "avg_pool2d": ("avg_pool2d", (IMAGES, (3, 2), 1, "same"), {}),
    "addcmul": ("addcmul", (A, B, A), {"value": 2.0}), "addcdiv": ("addcdiv", (A, B, A), {}), "lerp": ("lerp", (A, B, 0.25), {}),
    "addmm": ("addmm", (M[:, :2], M, N), {"alpha": 3.0}), "mv": ("mv", (M, N[:, 0]), {}), "kron": ("kron", (M[:2], N[:2]), {}),
    "movedim": ("movedim", (A, 0, 2), {}), "diagonal": ("diagonal", (A, 1), {}), "narrow": ("narrow", (A, 1, 1, 2), {}),
    "prelu": ("prelu", (A - 0.5, np.array([0.1, 0.2, 0.3])), {}), "threshold": ("threshold", (A, 0.5, 0.25), {}),
    "mse_loss": ("mse_loss", (A, B), {}), "l1_loss": ("l1_loss", (A, B), {"reduction": "sum"}),
    "smooth_l1_loss": ("smooth_l1_loss", (A, B), {"beta": 0.2}), "binary_cross_entropy": ("binary_cross_entropy", (A, B), {}),
    "bce with logits": ("binary_cross_entropy_with_logits", (M, A[0]), {}), "cross_entropy": ("cross_entropy", (M, CLASSES), {}),
    "nll_loss": ("nll_loss", (M, CLASSES), {"reduction": "none"}), "sort": ("sort", (A,), {"descending": True}),
    "gather_nd": ("gather_nd", (A, PAIRS), {}), "scatter_nd": ("scatter_nd", (PAIRS, A[0], (2, 3, 4)), {}),
    "index_add": ("index_add", (A, np.array([2, 0, 2]), B, 1), {}), "index_fill": ("index_fill", (A, 2, np.array([1, 1]), 0.5), {}),
    "scatter with zeros": ("tensor_scatter_mul", (A, PAIRS, A[0] * np.array([[0.0], [1.0], [1.0]])), {}),
    "topk": ("topk", (A, 2), {}), "gather_elements": ("gather_elements", (M, 1, np.array([[0, 1], [2, 2], [3, 0]])), {}),
})

CALLS.update({"tensor_scatter_" + name: ("tensor_scatter_" + name, (A, PAIRS, B[1]), {}) for name in "add sub max min mul div update".split()})


def tensors(args):
    import pijit.ms as ms

    return [ms.Tensor(one) if isinstance(one, np.ndarray) else one for one in args]


def total(result, weights):
    """A number that depends on all elements of the float results, each with a weight of its own."""
    parts = result if isinstance(result, tuple) else (result,)
    return sum((one * w).sum() for one, w in zip(parts, weights) if w is not None)


def weights_of(result):
    import pijit.ms as ms

    parts = result if isinstance(result, tuple) else (result,)
    return [ms.Tensor(np.cos(np.arange(one.size)).reshape(one.shape)) if one.asnumpy().dtype.kind == "f" else None for one in parts]


@pytest.mark.parametrize("name", sorted(CALLS))
def test_gradients(name):
    import pijit.ms as ms
    from pijit.ms import ops

    function, args, kwargs = CALLS[name]
    operation = getattr(ops, function)
    weights = weights_of(operation(*tensors(args), **kwargs))
    positions = tuple(k for k, one in enumerate(args) if isinstance(one, np.ndarray) and one.dtype.kind == "f")
    found = ms.grad(lambda *given: total(operation(*given, **kwargs), weights), positions)(*tensors(args))
    for place, g in zip(positions, found if len(positions) > 1 else [found]):
        assert g.shape == args[place].shape and g.asnumpy().dtype == args[place].dtype
        for index in list(np.ndindex(*args[place].shape))[::5]:
            ends = []
            for step in (1e-6, -1e-6):
                moved = list(args)
                moved[place] = args[place].copy()
                moved[place][index] += step
                ends.append(total(operation(*tensors(moved), **kwargs), weights).item())
            assert abs(g.asnumpy()[index] - (ends[0] - ends[1]) / 2e-6) < 2e-7 * (1 + abs(g.asnumpy()[index]))


@pytest.mark.parametrize("kind", ["bool_", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"])
def test_promotion(kind):
    import pijit.ms as ms

    x = ms.Tensor([1, 0, 1], getattr(ms, kind))
    order = ["bool_", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"].index
    for other in ("int32", "float16", "float32"):
        wanted = kind if order(kind) > order(other) else other
        assert repr((x + ms.Tensor([1, 0, 1], getattr(ms, other))).dtype) == repr(getattr(ms, wanted))
    assert (x * 2.5).dtype == (x.dtype if kind.startswith(("float", "complex")) else ms.float32)
    assert (x * 2).dtype == (ms.int64 if kind == "bool_" else x.dtype)
    assert ms.Tensor(2.0).dtype == ms.float32 and (ms.Tensor(2.0) * 3.0).dtype == ms.float32
    if kind != "bool_":
        assert (x / 2).dtype == (x.dtype if kind.startswith(("float", "complex")) else ms.float32)


def test_each_class_has_a_function():
    from pijit.ms import ops

    for name, cls in ops.CLASSES.items():
        assert cls.__name__ == name and cls.__doc__ and callable(cls.row.function)
    for name, function in ops.FUNCTIONS.items():
        assert function.__doc__, name


def test_wrong_arguments():
    import pijit.ms as ms
    from pijit.ms import nn, ops

    with pytest.raises(TypeError, match="MatMul: there is no argument 'transpose'"):
        ops.MatMul(transpose=True)
    with pytest.raises(TypeError, match="BroadcastTo: the argument shape must be given"):
        ops.BroadcastTo()
    with pytest.raises(ValueError, match="pad_mode must be 'same', 'valid' or 'pad'; not 'full'"):
        nn.Conv2d(1, 2, 3, pad_mode="full")
    with pytest.raises(TypeError, match="Dense: in_channels must be an int; not 2.0"):
        nn.Dense(2.0, 3)
    with pytest.raises(ValueError, match="device_target must be 'CPU'"):
        ms.set_context(device_target="GPU")
    with pytest.raises(ValueError, match="the closest is 'device_id'"):
        ms.set_context(device_ids=1)
    with pytest.raises(TypeError, match="grad_position must be an int, a tuple of ints or None"):
        ms.grad(lambda x: x, "x")
    with pytest.raises(RuntimeError, match="Position index 1 is exceed input size 1"):
        ms.grad(lambda x: x, 1)(ms.Tensor([1.0]))
    with pytest.raises(TypeError, match="each item must be a Parameter"):
        ms.ParameterTuple([1])
    with pytest.raises(ValueError, match="jit: capture_mode must be one of 'bytecode', 'ast', 'trace'"):
        ms.jit(lambda x: x, capture_mode="byte")
    with pytest.raises(TypeError, match="input_data must be numbers"):
        ms.Tensor("abc")
