"""Mixed precision: which types cells compute in, and training with scaled losses."""

import functools

import numpy as np
import pytest

import pijit.ms as ms
from pijit.ms import amp, kernel_gradients, nn, ops
from pijit.ms.compilation import get_code_extra
from pijit.ms.derivatives import Gradients
from tests.harness import kernel_count


class Net(nn.Cell):
    """Notes the types that its cells receive and return."""

    def __init__(self):
        super().__init__()
        self.dense, self.norm, self.relu, self.softmax = nn.Dense(3, 4), nn.LayerNorm((4,)), nn.ReLU(), nn.Softmax()
        self.multiply, self.types = ops.MatMul(), []
        self.w = ms.Parameter(np.linspace(0.1, 0.7, 8, dtype="f").reshape(4, 2), name="w")

    def construct(self, x):
        dense = self.dense(x)
        norm = self.norm(dense)
        product = self.multiply(self.relu(norm), self.w)
        self.types = [str(one.dtype) for one in (dense, norm, product)]
        return self.softmax(product)


def net():
    ms.set_seed(4)
    return Net()


X = np.random.RandomState(0).standard_normal((5, 3)).astype(np.float32)


@pytest.mark.parametrize("level,types,result", (
    ("O0", ["Float32"] * 3, "Float32"), ("O1", ["Float32"] * 3, "Float32"), ("O2", ["Float16"] * 3, "Float32"),
    ("O3", ["Float16"] * 3, "Float32"), ("auto", ["Float16", "Float32", "Float16"], "Float32")))
def test_types_by_level(level, types, result):
    plain, mixed = net(), net()
    whole = amp.auto_mixed_precision(mixed, level)
    out = whole(ms.Tensor(X))
    assert (mixed.types, str(out.dtype)) == (types, result)
    np.testing.assert_allclose(out.asnumpy(), plain(ms.Tensor(X)).asnumpy(), atol=1e-2)
    assert {one.dtype for one in whole.get_parameters()} == {ms.float32}
    assert (out.asnumpy().tobytes() == plain(ms.Tensor(X)).asnumpy().tobytes()) == (level == "O0")


def test_a_dense_layer_in_float16():
    layer = nn.Dense(3, 4).to_float(ms.float16)
    out, array = layer(ms.Tensor(X)), layer.weight.asnumpy()
    wanted = X.astype("e") @ array.astype("e").T + layer.bias.asnumpy().astype("e")
    assert out.dtype == ms.float16 and out.asnumpy().tobytes() == wanted.tobytes()
    assert array.dtype == np.float32 and layer.weight.asnumpy() is array


class Embedded(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense, self.places = nn.Dense(3, 4), ms.Parameter(ms.Tensor([1, 0]), name="places")
        self.table = ms.Parameter(np.linspace(0.1, 0.7, 8, dtype="f").reshape(2, 4), name="table")

    def construct(self, x):
        return self.dense(x) @ ops.gather(self.table, self.places, 0).T


@pytest.mark.parametrize("frozen", ("before", "after", "never"))
def test_frozen_weights_and_integers(frozen):
    """Weights have the cell's type whether they are frozen or not; positions stay integers."""
    def freeze(network, when):
        for one in network.get_parameters():
            one.requires_grad = one.requires_grad and frozen != when

    network = Embedded()
    freeze(network, "before")
    network.to_float(ms.float16)
    freeze(network, "after")
    step, x = ms.jit(lambda x: network(x)), X.astype("e")
    dense, table = [one.asnumpy().astype("e") for one in (network.dense.weight, network.table)]
    wanted = (x @ dense.T + network.dense.bias.asnumpy().astype("e")) @ table[[1, 0]].T
    for function in (network, step, step, step):
        out = function(ms.Tensor(X))
        assert out.dtype == ms.float16 and out.asnumpy().tobytes() == wanted.tobytes()
    assert get_code_extra(step).break_count_ == 0


def test_normalisations_stay_exact_at_level_2():
    network = nn.SequentialCell(nn.BatchNorm1d(3), nn.Dense(3, 2))
    whole = amp.auto_mixed_precision(network, "O2").set_train()
    whole(ms.Tensor(X))
    x = X.astype("e").astype("f")
    np.testing.assert_allclose(network[0].moving_mean.asnumpy(), x.mean(axis=0) * np.float32(0.1), rtol=1e-5)
    assert network[0](ms.Tensor(X)).dtype == ms.float16
    for level in ("O2", "O3"):
        network = amp.auto_mixed_precision(nn.SequentialCell(nn.BatchNorm1d(3)), level)
        assert network(ms.Tensor(X)).dtype == ms.float32
    assert nn.BatchNorm1d(3).to_float(ms.float16)(ms.Tensor(X)).dtype == ms.float16


def test_gradients_reach_the_float32_parameters():
    exact, mixed = nn.Dense(3, 2), nn.Dense(3, 2)
    ms.load_param_into_net(mixed, exact.parameters_dict())
    whole = amp.auto_mixed_precision(mixed, "O3")
    found = ms.value_and_grad(lambda x: (whole(x) ** 2).sum(), None, mixed.trainable_params())(ms.Tensor(X))[1]
    wanted = ms.value_and_grad(lambda x: (exact(x) ** 2).sum(), None, exact.trainable_params())(ms.Tensor(X))[1]
    for one, w in zip(found, wanted):
        assert one.dtype == ms.float32
        np.testing.assert_allclose(one.asnumpy(), w.asnumpy(), rtol=2e-2, atol=2e-2)


def test_a_jitted_network_has_the_same_bits():
    """Casts are one graph with the layer."""
    for dtype in (ms.float16, ms.float64):
        layer = nn.Dense(3, 4).to_float(dtype)
        step = ms.jit(lambda x, layer=layer: layer(x))
        for _ in range(4):
            assert step(ms.Tensor(X)).asnumpy().tobytes() == layer(ms.Tensor(X)).asnumpy().tobytes()
        assert get_code_extra(step).break_count_ == 0
        assert layer.weight.dtype == ms.float32


def test_float16_breaks_no_graph():
    ms.set_seed(3)
    network = nn.SequentialCell(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Dense(48, 2))
    mixed, loss = amp.auto_mixed_precision(network, "O1"), nn.MSELoss()
    x = ms.Tensor(np.random.RandomState(1).standard_normal((4, 2, 4, 4)).astype(np.float32))
    step = ms.jit(lambda x: loss(mixed(x), ms.Tensor(np.ones((4, 2), np.float32))))
    wanted = loss(mixed(x), ms.Tensor(np.ones((4, 2), np.float32))).asnumpy().tobytes()
    assert [step(x).asnumpy().tobytes() for _ in range(4)] == [wanted] * 4
    assert get_code_extra(step).break_count_ == 0
    gradients = ms.value_and_grad(lambda x: (mixed(x) ** 2).sum(), None, mixed.trainable_params())
    found = [[one.asnumpy().tobytes() for one in gradients(x)[1]] for _ in range(4)]
    assert found[1:] == found[:1] * 3 and all(one.dtype == ms.float32 for one in gradients(x)[1])


class Perceptron(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one, self.other, self.relu = nn.Dense(3, 8), nn.Dense(8, 2), nn.ReLU()

    def construct(self, x):
        return self.other(self.relu(self.one(x)))


class Normalised(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one, self.norm, self.other, self.softmax = nn.Dense(3, 8), nn.LayerNorm((8,)), nn.Dense(8, 4), nn.Softmax()
        self.multiply = ops.MatMul()
        self.w = ms.Parameter(np.linspace(0.1, 0.7, 8, dtype="f").reshape(4, 2), name="w")

    def construct(self, x):
        return self.softmax(self.multiply(self.other(self.norm(self.one(x))), self.w))


def convolutional():
    return nn.SequentialCell(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Dense(48, 2))


IMAGES = np.random.RandomState(1).standard_normal((4, 2, 4, 4)).astype(np.float32)
NETWORKS = {"perceptron": (Perceptron, X), "normalised": (Normalised, X), "convolutional": (convolutional, IMAGES)}
WAYS = {level: functools.partial(amp.auto_mixed_precision, amp_level=level) for level in ("O1", "O2", "O3", "auto")}
WAYS["white"] = functools.partial(amp.custom_mixed_precision, white_list=[nn.Dense, nn.Softmax, ops.MatMul])
WAYS["black"] = functools.partial(amp.custom_mixed_precision, black_list=[nn.Dense, nn.LayerNorm])


def casts_report():
    """Whether NumPy reports an overflow of a cast, as it does since 1.24."""
    try:
        with np.errstate(over="raise"):
            np.array([1e6], np.float32).astype(np.float16)
    except FloatingPointError:
        return True
    return False


CASTS_REPORT = casts_report()


def mixed_network(name, way):
    ms.set_seed(4)
    make, x = NETWORKS[name]
    return WAYS[way](make()), x


@pytest.mark.parametrize("name,way", [("perceptron", way) for way in sorted(WAYS)] + [
    ("normalised", "O2"), ("normalised", "auto"), ("normalised", "black"), ("convolutional", "O2"),
    ("convolutional", "O3"), ("convolutional", "white")])
def test_networks_are_one_graph(name, way):
    """At each level, with the bits of the plain network."""
    mixed, x = mixed_network(name, way)
    step = ms.jit(lambda x: mixed(x))
    for batch in (x, x[:3].copy()):
        wanted = mixed(ms.Tensor(batch)).asnumpy()
        for _ in range(3):
            found = step(ms.Tensor(batch)).asnumpy()
            assert (found.dtype, found.tobytes()) == (wanted.dtype, wanted.tobytes())
    assert get_code_extra(step).break_count_ == 0
    assert step.cache_info().hits > 0 and kernel_count(step) > 0
    assert {one.dtype for one in mixed.get_parameters()} == {ms.float32}


def taped(function, x, y, weights):
    """The value and the gradients of the tape."""
    found = Gradients(function, (x, y), {}, [], weights)
    found.sweep(found.result)
    return [found.result, *found.of_weights()]


def bits_of(tensors):
    return [(str(one.dtype), one.shape, one.asnumpy().tobytes()) for one in tensors]


@pytest.mark.parametrize("name,way", (
    ("perceptron", "O1"), ("perceptron", "O2"), ("perceptron", "O3"), ("perceptron", "auto"), ("perceptron", "black"),
    ("normalised", "O3"), ("convolutional", "O2")))
def test_gradients_are_kernels(name, way):
    mixed, x = mixed_network(name, way)
    loss, weights = nn.MSELoss(), mixed.trainable_params()
    x, y = ms.Tensor(x), ms.Tensor(np.linspace(-1.0, 1.0, 2 * len(x), dtype="f").reshape(len(x), 2))

    def function(x, y):
        return loss(mixed(x), y)

    gradient = ms.value_and_grad(function, None, weights)
    for call in range(4):
        value, found = gradient(x, y)
        assert bits_of([value, *found]) == bits_of(taped(function, x, y, weights))
        assert call < 2 or kernel_gradients.why_not(function) == ""
    assert {one.dtype for one in found} == {ms.float32}


def test_training_steps_keep_moving_statistics():
    """Batch normalisation stores into arrays of outside, so that its cast makes stores, too."""
    (plain, x), (mixed, _) = mixed_network("convolutional", "O2"), mixed_network("convolutional", "O2")
    for one in (plain, mixed):
        one.set_train()
    step = ms.jit(lambda x: mixed(x))
    for _ in range(4):
        assert bits_of([step(ms.Tensor(x))]) == bits_of([plain(ms.Tensor(x))])
        assert bits_of(mixed.get_parameters()) == bits_of(plain.get_parameters())
    assert get_code_extra(step).break_count_ == 0


def test_an_error_in_a_jitted_cell_leaves_its_parameters_alone():
    layer = nn.Dense(3, 4).to_float(ms.float16)
    array = layer.weight.asnumpy()
    step = ms.jit(lambda x: layer(x))
    for _ in range(3):
        step(ms.Tensor(X))
        with pytest.raises(ValueError):
            step(ms.Tensor(X[:, :2].copy()))
        large = ms.Tensor(X * np.float32(1e5))
        with np.errstate(over="raise"):
            if CASTS_REPORT:
                with pytest.raises(FloatingPointError):
                    step(large)
            else:
                step(large)
        assert layer.weight.asnumpy() is array and array.dtype == np.float32


def test_scalers_and_all_finite_are_captured():
    scaler, grads = amp.StaticLossScaler(1024), (ms.Tensor([1.5, 2.0], ms.float16), ms.Tensor([3.0]))
    bad = (grads[0], ms.Tensor([np.inf]))

    def scaled(a, b):
        return scaler.unscale(scaler.scale((a, b)))

    def finite(a, b):
        return amp.all_finite((a, b))

    for function, args in ((scaled, grads), (finite, grads), (finite, bad)):
        step = ms.jit(function)
        for _ in range(3):
            found, wanted = step(*args), function(*args)
            assert bits_of(found if isinstance(found, tuple) else [found]) == bits_of(
                wanted if isinstance(wanted, tuple) else [wanted])
        assert get_code_extra(step).break_count_ == 0


@pytest.mark.parametrize("dtype", (ms.float16, ms.float32))
def test_stop_gradient_is_captured(dtype):
    x, w = ms.Tensor(X, dtype), ms.Parameter(ms.Tensor(X[:, ::-1].copy(), dtype), name="w")

    def stopped(x):
        y = x * w
        return y * ops.stop_gradient(y) + ops.stop_gradient((x, y))[0]

    step = ms.jit(stopped)
    for _ in range(3):
        assert bits_of([step(x)]) == bits_of([stopped(x)])
    assert get_code_extra(step).break_count_ == 0 and kernel_count(step) > 0

    def loss(x, y):
        return (stopped(x) * y).sum()

    gradient = ms.value_and_grad(loss, None, [w])
    for call in range(4):
        value, found = gradient(x, x)
        assert bits_of([value, *found]) == bits_of(taped(loss, x, x, [w]))
        assert call < 2 or kernel_gradients.why_not(loss) == ""
    assert found[0].dtype == dtype


def test_lists_of_classes():
    assert nn.Dense in amp.get_white_list() and nn.LayerNorm in amp.get_black_list()
    amp.get_white_list().append(nn.Tanh)
    assert nn.Tanh not in amp.get_white_list()
    mixed = net()
    amp.custom_mixed_precision(mixed, white_list=[nn.Softmax])(ms.Tensor(X))
    assert mixed.types == ["Float32"] * 3 and mixed.softmax.special == "cast" and mixed.dense.special is None
    mixed = net()
    out = amp.custom_mixed_precision(mixed, black_list=[nn.Dense])(ms.Tensor(X))
    assert mixed.dense._cast == np.float32 and mixed.types[0] == "Float16" and out.dtype == ms.float32


def test_loss_scalers():
    scaler, x = amp.StaticLossScaler(1024), ms.Tensor([1.5, 2.0], ms.float16)
    assert scaler.scale(x).asnumpy().tolist() == [1536.0, 2048.0] and not scaler.adjust(ms.Tensor(False))
    scaled = scaler.unscale((x, ms.Tensor([3.0])))
    assert [one.dtype for one in scaled] == [ms.float16, ms.float32] and float(scaled[1].asnumpy()[0]) == 3 / 1024
    scaler, seen = amp.DynamicLossScaler(8.0, 2, 2), []
    for finite in (True, True, True, False, True, True, False, False, False, False, False):
        assert scaler.adjust(ms.Tensor(finite)) is True
        seen.append(float(scaler.scale_value))
    assert seen == [8, 16, 16, 8, 8, 16, 8, 4, 2, 1, 1]
    assert bool(amp.all_finite([x])) and not bool(amp.all_finite((x, ms.Tensor([np.nan]))))


def perceptron():
    ms.set_seed(2)
    network = nn.SequentialCell(nn.Dense(3, 8), nn.Tanh(), nn.Dense(8, 1))
    return network, nn.WithLossCell(network, nn.MSELoss()), nn.Momentum(network.trainable_params(), 0.05, 0.9)


@pytest.mark.parametrize("scale", (ms.Tensor([1024.0]), nn.FixedLossScaleUpdateCell(1024.0),
                                   nn.DynamicLossScaleUpdateCell(1024.0, 2, 3)), ids=("tensor", "fixed", "dynamic"))
def test_steps_with_a_scale_of_a_power_of_two_are_plain_steps(scale):
    x, y = ms.Tensor(X), ms.Tensor(X[:, :1] * X[:, 1:2])
    network, loss, optimizer = perceptron()
    wanted = [float(nn.TrainOneStepCell(loss, optimizer)(x, y)) for _ in range(5)]
    again, loss, optimizer = perceptron()
    step = nn.TrainOneStepWithLossScaleCell(loss, optimizer, scale)
    found = [step(x, y) for _ in range(5)]
    assert [float(one[0]) for one in found] == wanted and not any(bool(one[1]) for one in found)
    for one, other in zip(network.get_parameters(), again.get_parameters()):
        assert one.asnumpy().tobytes() == other.asnumpy().tobytes()
    assert float(step.scale_sense.asnumpy().reshape(-1)[0]) == (
        2048.0 if isinstance(scale, nn.DynamicLossScaleUpdateCell) else 1024.0)


def test_an_overflow_skips_the_update():
    network, loss, optimizer = perceptron()
    before = [one.asnumpy().copy() for one in network.get_parameters()]
    step = nn.TrainOneStepWithLossScaleCell(loss, optimizer, nn.DynamicLossScaleUpdateCell(1024.0, 2, 1000))
    _, overflow, scale = step(ms.Tensor(X), ms.Tensor(np.full((5, 1), np.inf, np.float32)))
    assert bool(overflow) and float(scale) == 1024.0 and float(step.scale_sense) == 512.0
    for one, was in zip(network.get_parameters(), before):
        assert one.asnumpy().tobytes() == was.tobytes()
    step.set_sense_scale(ms.Tensor(2.0))
    assert float(step(ms.Tensor(X), ms.Tensor(X[:, :1]))[2]) == 2.0


def test_errors():
    _, loss, optimizer = perceptron()
    for error, text, make in (
            (TypeError, "network must be a Cell", lambda: amp.auto_mixed_precision(abs)),
            (ValueError, "amp_level must be O0, O1, O2, O3, auto", lambda: amp.auto_mixed_precision(nn.ReLU(), "O4")),
            (ValueError, "dtype must be float16", lambda: amp.auto_mixed_precision(nn.ReLU(), "O1", ms.float32)),
            (ValueError, "either white_list or black_list", lambda: amp.custom_mixed_precision(nn.ReLU())),
            (TypeError, "a list must contain classes", lambda: amp.custom_mixed_precision(nn.ReLU(), white_list=[1])),
            (ValueError, "scale_value must be at least 1", lambda: amp.StaticLossScaler(0.5)),
            (TypeError, "scale_factor must be an int", lambda: amp.DynamicLossScaler(8, 2.0, 1)),
            (TypeError, "scale_window must be an int", lambda: nn.DynamicLossScaleUpdateCell(8, 2, 1.5)),
            (TypeError, "scale_sense must be a Cell", lambda: nn.TrainOneStepWithLossScaleCell(loss, optimizer, 8)),
            (ValueError, "the shape \\(\\) or", lambda: nn.TrainOneStepWithLossScaleCell(
                loss, optimizer, ms.Tensor([1.0, 2.0])))):
        with pytest.raises(error, match=text):
            make()
