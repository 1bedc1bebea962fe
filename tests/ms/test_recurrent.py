"""Recurrent layers: values against formulas, gradients against differences, and that jitted layers are kernels."""

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, fail_unless_captured, jitted

STEPS, BATCH, INPUTS, HIDDEN = 4, 3, 2, 3
LENGTHS = np.array([2, 4, 1], np.int32)
LAYERS = {"RNN": {}, "RNN relu": {"nonlinearity": "relu"}, "GRU": {}, "LSTM": {}}
OPTIONS = {"one layer": {}, "without bias": {"has_bias": False}, "stack": {"num_layers": 2, "bidirectional": True},
           "batch first": {"batch_first": True}}


def uniform(*shape):
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape)


def flat(result):
    return [array for one in result for array in flat(one)] if isinstance(result, tuple) else [result.asnumpy()]


def logistic(x):
    return 1 / (1 + np.exp(-x))


def one_step(kind, x, states, w_ih, w_hh, b_ih, b_hh):
    a, b = x @ w_ih.T + b_ih, states[0] @ w_hh.T + b_hh
    if kind.startswith("RNN"):
        return [np.maximum(a + b, 0) if "relu" in kind else np.tanh(a + b)]
    if kind.startswith("GRU"):
        (ar, az, an), (br, bz, bn) = np.split(a, 3, 1), np.split(b, 3, 1)
        z = logistic(az + bz)
        return [(1 - z) * np.tanh(an + logistic(ar + br) * bn) + z * states[0]]
    i, f, g, o = np.split(a + b, 4, 1)
    c = logistic(f) * states[1] + logistic(i) * np.tanh(g)
    return [logistic(o) * np.tanh(c), c]


def weights_of(cell, suffix):
    values = [getattr(cell, name + suffix).asnumpy() for name in ("weight_ih", "weight_hh")]
    return values + [getattr(cell, name + suffix).asnumpy() if cell.has_bias else 0 for name in ("bias_ih", "bias_hh")]


def whole(kind, cell, x, first, lengths):
    """The outputs and final states of a layer, one sequence after the other."""
    directions = ("", "_reverse") if cell.bidirectional else ("",)
    lasts = [np.zeros_like(one) for one in first]
    for layer in range(cell.num_layers):
        r = np.zeros(x.shape[:2] + (len(directions) * HIDDEN,))
        for d, suffix in enumerate(directions):
            place, weights = layer * len(directions) + d, weights_of(cell, "_l{}{}".format(layer, suffix))
            for b in range(BATCH):
                states = [one[place, b:b + 1] for one in first]
                for t in list(range(lengths[b]))[::-1 if suffix else 1]:
                    states = one_step(kind, x[t, b:b + 1], states, *weights)
                    r[t, b, d * HIDDEN:(d + 1) * HIDDEN] = states[0]
                for one, last in zip(lasts, states):
                    one[place, b] = last[0]
        x = r
    return [x] + lasts


def made(kind, options, dtype="float64"):
    """A layer, its input, and initial states."""
    import pijit.ms as ms

    ms.set_seed(5)
    cell = getattr(ms.nn, kind.split()[0])(INPUTS, HIDDEN, dtype=getattr(ms, dtype), **dict(LAYERS[kind], **options))
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    states = [uniform(rows, BATCH, HIDDEN) * factor for factor in (1, 0.5)[:2 if kind == "LSTM" else 1]]
    return cell, uniform(STEPS, BATCH, INPUTS), states


def given(kind, x, states, options, dtype="float64"):
    """The tensors of a call."""
    import pijit.ms as ms

    tensors = tuple(ms.Tensor(one.astype(dtype)) for one in states)
    return ms.Tensor((x.swapaxes(0, 1) if options.get("batch_first") else x).astype(dtype)), tensors if kind == "LSTM" else tensors[0]


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("option", OPTIONS)
def test_values(kind, option):
    import pijit.ms as ms

    options = OPTIONS[option]
    cell, x, states = made(kind, options)
    tensor, hx = given(kind, x, states, options)
    full, zeros = np.full(BATCH, STEPS), [np.zeros_like(one) for one in states]
    for found, first, lengths in ((cell(tensor, hx), states, full), (cell(tensor), zeros, full),
                                  (cell(tensor, hx, ms.Tensor(LENGTHS)), states, LENGTHS)):
        wanted = whole(kind, cell, x, first, lengths)
        if "batch_first" in options:
            wanted[0] = wanted[0].swapaxes(0, 1)
        for one, other in zip(flat(found), wanted):
            assert one.flags.c_contiguous and one.dtype == np.float64 and one.shape == other.shape and np.allclose(one, other, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("has_bias", [True, False])
def test_one_step(kind, has_bias):
    import pijit.ms as ms

    cell = getattr(ms.nn, kind + "Cell")(INPUTS, HIDDEN, has_bias=has_bias, dtype=ms.float64)
    x, states = uniform(BATCH, INPUTS), [uniform(BATCH, HIDDEN), uniform(BATCH, HIDDEN) / 2][:2 if kind == "LSTM" else 1]
    tensors = tuple(ms.Tensor(one) for one in states)
    hx = tensors if kind == "LSTM" else tensors[0]
    wanted = one_step(kind, x, states, *weights_of(cell, ""))
    for one, other in zip(flat(cell(ms.Tensor(x), hx)), wanted):
        assert np.allclose(one, other, rtol=1e-13, atol=1e-14)
    assert_nothing_breaks(cell.__call__, ms.Tensor(x), hx)
    compare_gradients(cell, ms.Tensor(x), hx)


@pytest.mark.parametrize("kind, option, lengths", [
    ("RNN", "one layer", None), ("RNN relu", "batch first", LENGTHS), ("GRU", "without bias", LENGTHS), ("LSTM", "stack", LENGTHS)])
def test_layers_are_kernels(kind, option, lengths):
    import pijit.ms as ms

    cell, x, states = made(kind, OPTIONS[option], "float32")
    tensor, hx = given(kind, x, states, OPTIONS[option], "float32")
    assert_nothing_breaks(cell.__call__, tensor, None if lengths is None else hx, None if lengths is None else ms.Tensor(lengths))


@pytest.mark.parametrize("kind, lengths", [("RNN", None), ("GRU", None), ("LSTM", LENGTHS)])
def test_jitted_layers_have_the_same_bits(kind, lengths):
    import pijit.ms as ms

    cell, x, states = made(kind, {}, "float32")
    args = given(kind, x, states, {}, "float32") + (None if lengths is None else ms.Tensor(lengths),)
    wanted = [one.tobytes() for one in flat(cell(*args))]
    with fail_unless_captured():
        captured = jitted(cell.__call__)
        for _ in range(3):
            assert [one.tobytes() for one in flat(captured(*args))] == wanted


def compare_gradients(cell, x, hx, *rest):
    """The gradients of the inputs and the parameters agree with differences."""
    import pijit.ms as ms

    def loss(x, hx):
        parts, total = cell(x, hx, *rest), 0.0
        for one in (parts if isinstance(parts, tuple) else (parts,)):
            for part in one if isinstance(one, tuple) else (one,):
                total = total + (part * part * 0.5 + part * 2.0).sum()
        return total

    weights = cell.trainable_params()
    value, (of_inputs, of_weights) = ms.value_and_grad(loss, (0, 1), weights)(x, hx)
    assert value.item() == loss(x, hx).item()
    found = flat(of_inputs) + flat(of_weights)
    leaves = flat((x, hx)) + [one.asnumpy() for one in weights]
    assert len(found) == len(leaves)
    for leaf, g in zip(leaves, found):
        assert g.shape == leaf.shape and g.dtype == leaf.dtype
        for index in list(np.ndindex(*leaf.shape))[::5]:
            before, ends = leaf[index], []
            for step in (1e-6, -1e-6):
                leaf[index] = before + step
                ends.append(loss(x, hx).item())
            leaf[index] = before
            assert abs(g[index] - (ends[0] - ends[1]) / 2e-6) < 1e-7 * (1 + abs(g[index]))


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_gradients(kind, lengths):
    import pijit.ms as ms

    cell, x, states = made(kind, OPTIONS["stack"])
    tensor, hx = given(kind, x, states, {})
    compare_gradients(cell, tensor, hx, *([] if lengths is None else [ms.Tensor(lengths)]))


def test_gradients_of_a_jitted_network():
    import pijit.ms as ms

    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.rnn = ms.nn.LSTM(INPUTS, HIDDEN)
            self.head = ms.nn.Dense(HIDDEN, 1)

        def construct(self, x):
            return self.head(self.rnn(x)[0][-1]).sum()

    class Jitted(Net):
        construct = ms.jit(Net.construct)

    ms.set_seed(5)
    plain, x = Net(), ms.Tensor(uniform(STEPS, BATCH, INPUTS).astype("f"))
    ms.set_seed(5)
    net, wanted = Jitted(), ms.value_and_grad(plain, 0, plain.trainable_params())(x)
    for _ in range(3):
        found = ms.value_and_grad(net, 0, net.trainable_params())(x)
        assert [one.tobytes() for one in flat(found)] == [one.tobytes() for one in flat(wanted)]
        assert net(x).asnumpy().tobytes() == plain(x).asnumpy().tobytes()


def test_parameters():
    from pijit.ms import nn

    net = nn.LSTM(INPUTS, HIDDEN, 2, bidirectional=True)
    shapes = {name: one.shape for name, one in net.parameters_and_names()}
    assert list(shapes)[:6] == ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_ih_l0_reverse", "weight_hh_l0_reverse"]
    assert len(shapes) == 16 and shapes["weight_ih_l1_reverse"] == (4 * HIDDEN, 2 * HIDDEN) and shapes["bias_hh_l1"] == (4 * HIDDEN,)
    assert all(np.abs(one.asnumpy()).max() <= HIDDEN ** -0.5 for one in net.get_parameters())
    assert [one.name for one in nn.GRUCell(2, 3, has_bias=False).get_parameters()] == ["weight_ih", "weight_hh"]
    assert repr(nn.RNNCell(2, 3)) == "RNNCell<input_size=2, hidden_size=3, has_bias=True>"


def test_dropout_between_layers():
    import pijit.ms as ms

    cell = ms.nn.GRU(INPUTS, HIDDEN, 2, dropout=0.5)
    x = ms.Tensor(uniform(STEPS, BATCH, INPUTS).astype("f"))
    assert_nothing_breaks(cell.__call__, x)
    plain = cell(x)[0].asnumpy()
    cell.set_train()
    assert not np.array_equal(cell(x)[0].asnumpy(), plain)
    assert_nothing_breaks(cell.__call__, x)
    cell.set_train(False)
    assert np.array_equal(cell(x)[0].asnumpy(), plain)


def test_a_parameter_that_is_replaced_is_used():
    import pijit.ms as ms

    cell, x = ms.nn.RNN(INPUTS, HIDDEN), ms.Tensor(np.ones((STEPS, BATCH, INPUTS), "f"))
    jit = jitted(cell.__call__)
    for factor in (1.0, 0.5):
        for name in list(cell.state_dict()):
            setattr(cell, name, ms.Parameter(getattr(cell, name).asnumpy() * np.float32(factor), name=name))
        assert np.array_equal(jit(x)[0].asnumpy(), cell(x)[0].asnumpy())


def test_wrong_arguments():
    import pijit.ms as ms
    from pijit.ms import nn

    x, state = ms.Tensor(np.ones((STEPS, BATCH, INPUTS), "f")), ms.Tensor(np.ones((1, BATCH, HIDDEN), "f"))
    for make, error, text in (
            (lambda: nn.LSTM(0, 3), ValueError, "LSTM: input_size must be positive; not 0"),
            (lambda: nn.RNN(2, 3, nonlinearity="sin"), ValueError, "RNN: nonlinearity must be 'tanh' or 'relu'; not 'sin'"),
            (lambda: nn.GRU(2, 3, dropout=1.0), ValueError, "GRU: dropout must be from 0 to below 1; not 1.0"),
            (lambda: nn.GRU(2, 3, dropout="x"), TypeError, "GRU: dropout must be a float; not 'x'"),
            (lambda: nn.LSTM(INPUTS, HIDDEN)(x, state), TypeError, "LSTM: hx must be a tuple of two Tensors"),
            (lambda: nn.RNN(INPUTS, HIDDEN, 2)(x, state), ValueError, r"RNN: hx must have the shape \(2, 3, 3\); not \(1, 3, 3\)"),
            (lambda: nn.RNN(INPUTS, HIDDEN)(x, state.astype(ms.float64)), TypeError, "RNN: hx must have the dtype of x, float32; not float64"),
            (lambda: nn.GRU(INPUTS, HIDDEN)(x[0]), ValueError, "GRU: x must have 3 dimensions; not 2"),
            (lambda: nn.GRU(INPUTS, HIDDEN)(x, state, ms.Tensor([1.0])), TypeError, "GRU: seq_length must be a Tensor of integers; not of float32"),
            (lambda: nn.GRU(INPUTS, HIDDEN)(x, state, ms.Tensor([1])), ValueError, r"GRU: seq_length must have the shape \(3,\); not \(1,\)"),
            (lambda: nn.GRUCell(INPUTS, HIDDEN)(x[0], 1.0), TypeError, "GRUCell: hx must be a Tensor; not 1.0")):
        with pytest.raises(error, match=text):
            make()
