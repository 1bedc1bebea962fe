"""Attention and transformers: values against formulas, gradients against differences, and that jitted layers are kernels."""

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, fail_unless_captured, jitted

QUERIES, KEYS, BATCH, FEATURES, HEADS = 3, 4, 2, 4, 2
PADDING = np.array([[False, False, True, True], [False, True, False, False]])
SHIFTS = np.linspace(-1, 1, QUERIES * KEYS).reshape(QUERIES, KEYS)
CUBE = np.arange(BATCH * HEADS * QUERIES * KEYS).reshape(BATCH * HEADS, QUERIES, KEYS) % 5 == 1

CASES = {  # arguments of the layer, and of a call
    "plain": ({}, {}), "without bias": ({"has_bias": False}, {"average_attn_weights": False}),
    "other widths": ({"kdim": 3, "vdim": 5, "batch_first": True}, {"key_padding_mask": PADDING}),
    "masks": ({}, {"key_padding_mask": PADDING, "attn_mask": SHIFTS, "average_attn_weights": False}),
    "a mask per head": ({"add_zero_attn": True}, {"attn_mask": CUBE, "key_padding_mask": PADDING * 0.5}),
    "added keys": ({"add_bias_kv": True, "add_zero_attn": True}, {"attn_mask": SHIFTS > 0.5}),
    "no weights": ({"batch_first": True}, {"need_weights": False})}


def uniform(*shape):
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def made(options, dtype="float64"):
    """A layer, and query, key and value with the batch dimension first."""
    import pijit.ms as ms

    ms.set_seed(3)
    cell = ms.nn.MultiheadAttention(FEATURES, HEADS, dtype=getattr(ms, dtype), **options)
    for one in cell.trainable_params():
        one.asnumpy()[...] = uniform(*one.shape)
    return cell, [uniform(BATCH, QUERIES, FEATURES), uniform(BATCH, KEYS, cell.kdim), uniform(BATCH, KEYS, cell.vdim)]


def given(cell, arrays, call, dtype="float64"):
    """The tensors of a call, and all optional arguments in order."""
    import pijit.ms as ms

    found = [ms.Tensor((one if cell.batch_first or one.ndim == 2 else one.swapaxes(0, 1)).astype(dtype)) for one in arrays]
    masks = [None if call.get(name) is None else ms.Tensor(call[name]) for name in ("key_padding_mask", "attn_mask")]
    return found + [masks[0], call.get("need_weights", True), masks[1], call.get("average_attn_weights", True)]


def added(scores, mask):
    return scores if mask is None else np.where(mask, -np.inf, scores) if mask.dtype == bool else scores + mask


def wanted(cell, q, k, v, call):
    """The results of all batches and the weights of all heads, one head after the other."""
    results, weights = np.zeros(q.shape), []
    bias = np.zeros(3 * FEATURES) if cell.in_proj_bias is None else cell.in_proj_bias.asnumpy()
    matrices = [one.asnumpy() for one in (cell.q_proj_weight, cell.k_proj_weight, cell.v_proj_weight)] if cell.in_proj_weight is None \
        else np.split(cell.in_proj_weight.asnumpy(), 3)
    padding, mask = call.get("key_padding_mask"), call.get("attn_mask")
    for b in range(BATCH):
        one_q, one_k, one_v = [x @ w.T + c for x, w, c in zip((q[b], k[b], v[b]), matrices, np.split(bias, 3))]
        if cell.bias_k is not None:
            one_k, one_v = np.vstack([one_k, cell.bias_k.asnumpy()[0]]), np.vstack([one_v, cell.bias_v.asnumpy()[0]])
        if cell.zeros is not None:
            one_k, one_v = [np.vstack([one, np.zeros((1, FEATURES))]) for one in (one_k, one_v)]
        parts, size = [], FEATURES // HEADS
        for h in range(HEADS):
            columns = slice(h * size, (h + 1) * size)
            scores = one_q[:, columns] @ one_k[:, columns].T / np.sqrt(size)
            masked = added(scores[:, :KEYS], None if padding is None else np.array([padding[b]] * QUERIES))
            masked = added(masked, mask if mask is None or mask.ndim == 2 else mask[b * HEADS + h])
            weights.append(softmax(np.hstack([masked, scores[:, KEYS:]])))
            parts.append(weights[-1] @ one_v[:, columns])
        results[b] = np.hstack(parts) @ cell.out_proj.weight.asnumpy().T + (0 if cell.out_proj.bias is None else cell.out_proj.bias.asnumpy())
    weights = np.array(weights).reshape((BATCH, HEADS) + weights[0].shape)
    return results, weights.mean(1) if call.get("average_attn_weights", True) else weights


def close(one, other):
    return one.shape == other.shape and one.dtype == other.dtype and np.allclose(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    options, call = CASES[name]
    cell, arrays = made(options)
    found, formula = cell(*given(cell, arrays, call)), wanted(cell, *arrays, call=call)
    assert close(found[0].asnumpy(), formula[0] if cell.batch_first else formula[0].swapaxes(0, 1))
    assert len(found) == 1 if call.get("need_weights") is False else close(found[1].asnumpy(), formula[1])


def test_without_batches():
    cell, arrays = made({"add_bias_kv": True})
    formula = wanted(cell, *arrays, call={"attn_mask": SHIFTS})
    found = cell(*given(cell, [one[0] for one in arrays], {"attn_mask": SHIFTS}))
    assert close(found[0].asnumpy(), formula[0][0]) and close(found[1].asnumpy(), formula[1][0])


@pytest.mark.parametrize("name", ["masks", "other widths", "added keys"])
def test_attention_is_a_kernel(name):
    options, call = CASES[name]
    cell, arrays = made(options, "float32")
    assert_nothing_breaks(cell.__call__, *given(cell, arrays, dict(call, average_attn_weights=True), "float32")[:6])


def layers(kind, dtype="float32", **options):
    import pijit.ms as ms

    ms.set_seed(3)
    cell = getattr(ms.nn, "Transformer{}Layer".format(kind))(FEATURES, HEADS, 3, dtype=getattr(ms, dtype), **options)
    x, memory = ms.Tensor(uniform(QUERIES, BATCH, FEATURES).astype(dtype)), ms.Tensor(uniform(KEYS, BATCH, FEATURES).astype(dtype))
    return cell, (x,) if kind == "Encoder" else (x, memory)


@pytest.mark.parametrize("kind", ["Encoder", "Decoder"])
def test_transformer_layers_are_kernels(kind):
    import pijit.ms as ms

    cell, args = layers(kind)
    assert_nothing_breaks(cell.__call__, *args)
    cell, args = layers(kind, norm_first=True, batch_first=True, activation=ms.nn.GELU())
    args = tuple(ms.ops.swapaxes(one, 0, 1) for one in args)
    assert_nothing_breaks(cell.__call__, *args)


@pytest.mark.parametrize("kind", ["attention", "Encoder"])
def test_jitted_layers_have_the_same_bits(kind):
    if kind == "attention":
        cell, arrays = made(CASES["masks"][0], "float32")
        args = given(cell, arrays, CASES["masks"][1], "float32")[:3] + given(cell, arrays, CASES["masks"][1])[3:6]
    else:
        cell, args = layers(kind)

    def bits(f):
        found = f(*args)
        return [one.asnumpy().tobytes() for one in (found if isinstance(found, tuple) else (found,))]

    plain = bits(cell)
    with fail_unless_captured():
        captured = jitted(cell.__call__)
        for _ in range(3):
            assert bits(captured) == plain


def compare_gradients(cell, args, count):
    """The gradients of the first arguments and of the parameters agree with differences."""
    import pijit.ms as ms

    def loss(*args):
        found = cell(*args)
        parts = found if isinstance(found, tuple) else (found,)
        return sum((one * ms.Tensor(np.cos(np.arange(one.size)).reshape(one.shape))).sum() for one in parts)

    weights = cell.trainable_params()
    value, (of_inputs, of_weights) = ms.value_and_grad(loss, tuple(range(count)), weights)(*args)
    assert value.item() == loss(*args).item()
    for tensor, g in list(zip(args, of_inputs if count > 1 else [of_inputs])) + list(zip(weights, of_weights)):
        leaf, found = tensor.asnumpy(), g.asnumpy()
        assert found.shape == leaf.shape and found.dtype == leaf.dtype
        for index in list(np.ndindex(*leaf.shape))[::5]:
            before, ends = leaf[index], []
            for step in (1e-6, -1e-6):
                leaf[index] = before + step
                ends.append(loss(*args).item())
            leaf[index] = before
            assert abs(found[index] - (ends[0] - ends[1]) / 2e-6) < 1e-7 * (1 + abs(found[index]))


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    options, call = CASES[name]
    cell, arrays = made(options)
    compare_gradients(cell, given(cell, arrays, call), 3)


@pytest.mark.parametrize("kind", ["Encoder", "Decoder"])
def test_gradients_of_transformer_layers(kind):
    for options in ({}, {"norm_first": True, "activation": "gelu"}):
        cell, args = layers(kind, "float64", **options)
        compare_gradients(cell, args, len(args))


def normalised(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_values_of_transformer_layers(norm_first):
    from pijit.ms import nn

    def fed(cell, x):
        return np.maximum(x @ cell.dense1.weight.asnumpy().T + cell.dense1.bias.asnumpy(), 0) @ cell.dense2.weight.asnumpy().T \
            + cell.dense2.bias.asnumpy()

    def parts(cell, x, functions):
        for one in functions:
            x = x + one(normalised(x)) if norm_first else normalised(x + one(x))
        return x

    def attended(attention, memory=None):
        def run(x):
            other = tensor(x if memory is None else memory)
            return attention(tensor(x), other, other)[0].asnumpy()
        return run

    def tensor(x):
        import pijit.ms as ms

        return ms.Tensor(x)

    encoder, (x,) = layers("Encoder", "float64", norm_first=norm_first)
    formula = parts(encoder, x.asnumpy(), [attended(encoder.self_attn), lambda x: fed(encoder, x)])
    assert close(encoder(x).asnumpy(), formula)
    stack = nn.TransformerEncoder(encoder, 2, nn.LayerNorm((FEATURES,), epsilon=1e-5))
    assert np.allclose(stack(x).asnumpy(), normalised(encoder(encoder(x)).asnumpy()))
    decoder, (x, memory) = layers("Decoder", "float64", norm_first=norm_first)
    formula = parts(decoder, x.asnumpy(), [attended(decoder.self_attn), attended(decoder.multihead_attn, memory.asnumpy()),
                                           lambda x: fed(decoder, x)])
    assert close(decoder(x, memory).asnumpy(), formula)
    assert close(nn.TransformerDecoder(decoder, 2)(x, memory).asnumpy(), decoder(decoder(x, memory), memory).asnumpy())


def test_jitted_layers_of_a_stack():
    import pijit
    import pijit.ms as ms

    layer, (x,) = layers("Encoder")
    stack = ms.nn.TransformerEncoder(layer, 2)
    plain = stack(x).asnumpy()
    for one in stack.layers:
        ms.jit(one)
    for _ in range(3):
        assert stack(x).asnumpy().tobytes() == plain.tobytes()
    assert all(pijit.explain(one.construct).kernels and not pijit.explain(one.construct).breaks for one in stack.layers)


def test_parameters():
    from pijit.ms import nn

    shapes = {name: one.shape for name, one in nn.MultiheadAttention(4, 2).parameters_and_names()}
    assert shapes == {"in_proj_weight": (12, 4), "in_proj_bias": (12,), "out_proj.weight": (4, 4), "out_proj.bias": (4,)}
    names = [one.name for one in nn.MultiheadAttention(4, 2, has_bias=False, add_bias_kv=True, kdim=3).get_parameters()]
    assert names == ["q_proj_weight", "k_proj_weight", "v_proj_weight", "bias_k", "bias_v", "out_proj.weight"]
    stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 3), 2)
    listed = [one.name for one in stack.get_parameters()]
    assert len(set(listed)) == 24 and listed[0] == "layers.0.self_attn.in_proj_weight"


def test_dropout_in_training():
    cell, args = layers("Encoder", dropout=0.5)
    plain = cell(*args).asnumpy()
    assert not np.array_equal(cell.set_train()(*args).asnumpy(), plain)
    assert np.array_equal(cell.set_train(False)(*args).asnumpy(), plain)


def test_wrong_arguments():
    import pijit.ms as ms
    from pijit.ms import nn

    x = ms.Tensor(np.ones((3, 2, 4), "f"))
    for make, error, text in (
            (lambda: nn.MultiheadAttention(5, 2), ValueError, "MultiheadAttention: embed_dim must be a multiple of num_heads 2; not 5"),
            (lambda: nn.MultiheadAttention(4, 2, dropout=1.0), ValueError, "MultiheadAttention: dropout must be from 0 to below 1"),
            (lambda: nn.MultiheadAttention(4, 2)(x, x[0], x), ValueError, "MultiheadAttention: key must have 2 or 3 dimensions as query has"),
            (lambda: nn.MultiheadAttention(4, 2)(x, x[1:], x), ValueError, "MultiheadAttention: query, key and value must have one batch size"),
            (lambda: nn.MultiheadAttention(4, 2)(x, x, x, x), ValueError, r"key_padding_mask must have the shape \(2, 3\); not \(3, 2, 4\)"),
            (lambda: nn.MultiheadAttention(4, 2)(x, x, x, ms.Tensor([[1]])), TypeError, "key_padding_mask must be a Tensor of bool or floats; not of int64"),
            (lambda: nn.TransformerEncoderLayer(4, 2, activation="sin"), ValueError, "TransformerEncoderLayer: activation must be 'relu', 'gelu', a cell"),
            (lambda: nn.TransformerEncoder(4, 2), TypeError, "TransformerEncoder: the layer must be a Cell; not 4")):
        with pytest.raises(error, match=text):
            make()
