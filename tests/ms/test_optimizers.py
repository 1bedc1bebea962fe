"""Optimizers and learning rates: updates by the documented formulas, in place, and captured whole."""

import math

import numpy as np
import pytest

import pijit.ms as ms
from pijit.ms import nn
from pijit.ms.compilation import get_code_extra

SHAPES = ((3, 4), (4,), ())


def parameters(kind="d", shapes=SHAPES):
    source = np.random.RandomState(1)
    return [ms.Parameter(np.asarray(source.standard_normal(shape), kind), name="layer.w{}".format(k))
            for k, shape in enumerate(shapes)]


def gradients(step, kind="d", shapes=SHAPES):
    source = np.random.RandomState(step + 5)
    return [np.asarray(source.standard_normal(shape), kind) for shape in shapes]


def sgd(w, g, s, t, rate, momentum=0.0, dampening=0.0, nesterov=False):
    if not momentum:
        return w - rate * g
    s["v"] = g if t == 1 else momentum * s["v"] + (1 - dampening) * g
    return w - rate * (g + momentum * s["v"] if nesterov else s["v"])


def adam(w, g, s, t, rate, beta1=0.9, beta2=0.999, eps=1e-8, nesterov=False, amsgrad=False):
    s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g * g
    s["top"] = np.maximum(s.get("top", 0), s["v"])
    m = beta1 * s["m"] + (1 - beta1) * g if nesterov else s["m"]
    return w - rate * math.sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m / (np.sqrt(s["top" if amsgrad else "v"]) + eps)


def adam_weight_decay(w, g, s, t, rate, beta1=0.9, beta2=0.999, eps=1e-6, decay=0.0):
    s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g * g
    return w - rate * (s["m"] / (np.sqrt(s["v"]) + eps) + decay * w)


def adagrad(w, g, s, t, rate, accum=0.1, update=True):
    s["h"] = s.get("h", accum) + (g * g if update else 0)
    return w - rate * g / (np.sqrt(s["h"]) + 1e-6)


def rmsprop(w, g, s, t, rate, decay=0.9, momentum=0.0, epsilon=1e-10, centered=False):
    s["s"] = decay * s.get("s", 1) + (1 - decay) * g * g
    s["b"] = decay * s.get("b", 0) + (1 - decay) * g
    root = np.sqrt(s["s"] - (s["b"] ** 2 if centered else 0) + epsilon)
    s["m"] = momentum * s.get("m", 0) + rate * g / root
    return w - s["m"]


CASES = (
    (nn.SGD, {}, sgd, {}),
    (nn.SGD, {"momentum": 0.5, "dampening": 0.25}, sgd, {"momentum": 0.5, "dampening": 0.25}),
    (nn.SGD, {"momentum": 0.5, "nesterov": True}, sgd, {"momentum": 0.5, "nesterov": True}),
    (nn.Momentum, {"momentum": 0.5}, sgd, {"momentum": 0.5}),
    (nn.Momentum, {"momentum": 0.5, "use_nesterov": True}, sgd, {"momentum": 0.5, "nesterov": True}),
    (nn.Adam, {}, adam, {}),
    (nn.Adam, {"use_nesterov": True, "beta1": 0.75}, adam, {"nesterov": True, "beta1": 0.75}),
    (nn.Adam, {"use_amsgrad": True, "beta2": 0.5}, adam, {"amsgrad": True, "beta2": 0.5}),
    (nn.AdamWeightDecay, {"weight_decay": 0.25}, adam_weight_decay, {"decay": 0.25}),
    (nn.Adagrad, {}, adagrad, {}),
    (nn.Adagrad, {"update_slots": False, "accum": 2.0}, adagrad, {"update": False, "accum": 2.0}),
    (nn.RMSProp, {}, rmsprop, {}),
    (nn.RMSProp, {"centered": True, "momentum": 0.5}, rmsprop, {"centered": True, "momentum": 0.5}),
)
NAMES = ["{}-{}".format(cls.__name__, "-".join(options)) for cls, options, _, _ in CASES]


@pytest.mark.parametrize("cls,options,formula,given", CASES, ids=NAMES)
def test_formulas(cls, options, formula, given):
    weights = parameters()
    optimizer = cls(weights, learning_rate=0.25, **options)
    wanted, states = [one.asnumpy().copy() for one in weights], [{} for _ in weights]
    for t in range(1, 4):
        parts = gradients(t)
        assert optimizer(tuple(ms.Tensor(g) for g in parts)) is True
        wanted = [formula(w, g, s, t, 0.25, **given) for w, g, s in zip(wanted, parts, states)]
        for one, w in zip(weights, wanted):
            np.testing.assert_allclose(one.asnumpy(), w, rtol=1e-4, atol=2e-5)  # powers and rates are float32
    assert optimizer.global_step.asnumpy().tolist() == [3]


def after(cls, options, jitted, steps=4):
    """The arrays of an optimizer and of its parameters after some steps, and the step."""
    weights = parameters("f", SHAPES[:1])
    optimizer = cls(weights, **options)
    owned = weights + list(optimizer.get_parameters())
    arrays = [one.asnumpy() for one in owned]

    def step(parts):
        return optimizer(parts)

    if jitted:
        step = ms.jit(step)
    for t in range(steps):
        step(tuple(map(ms.Tensor, gradients(t, "f", SHAPES[:1]))))
    assert all(one.asnumpy() is a for one, a in zip(owned, arrays))
    return arrays, step


RATES = (0.25, [0.5, 0.25, 0.125], nn.ExponentialDecayLR(0.5, 0.5, 2))
CAPTURED = [CASES[k][:2] for k in (1, 4, 6, 8, 9, 12)] + [
    (nn.Adam, {"learning_rate": RATES[1], "weight_decay": 0.1, "loss_scale": 4.0}),
    (nn.SGD, {"learning_rate": RATES[2]})]


@pytest.mark.parametrize("cls,options", CAPTURED, ids=["{}-{}".format(c.__name__, "-".join(o)) for c, o in CAPTURED])
def test_a_jitted_update_is_one_graph_with_the_same_bits(cls, options):
    options = dict({"learning_rate": 0.25}, **options)
    plain, _ = after(cls, options, False)
    captured, step = after(cls, options, True)
    assert [one.tobytes() for one in captured] == [one.tobytes() for one in plain]
    extra = get_code_extra(step)
    assert extra.break_count_ == 0 and extra.code.call_count_ > 0


@pytest.mark.parametrize("rate", RATES, ids=("number", "list", "schedule"))
def test_rates_of_steps(rate):
    weights = parameters()
    optimizer = nn.SGD(weights, learning_rate=rate)
    before, one = [one.asnumpy().copy() for one in weights], [np.ones(shape) for shape in SHAPES]
    for wanted in {0: [0.25] * 4, 1: [0.5, 0.25, 0.125, 0.125], 2: [0.5, 0.5 ** 1.5, 0.25, 0.5 ** 2.5]}[RATES.index(rate)]:
        assert abs(float(optimizer.get_lr()) - wanted) < 1e-7
        optimizer(tuple(map(ms.Tensor, one)))
        before = [w - wanted for w in before]
        for w, parameter in zip(before, weights):
            np.testing.assert_allclose(parameter.asnumpy(), w, atol=1e-6)


def test_the_rate_is_a_parameter_that_programs_set():
    weights = parameters("d", SHAPES[:2])
    optimizer = nn.SGD(weights, learning_rate=ms.Tensor(0.25))
    step, was = ms.jit(lambda parts: optimizer(parts)), weights[1].asnumpy().copy()
    for rate in (0.25, 0.25, 0.25, 0.5):
        if rate == 0.25:
            optimizer.learning_rate.set_data(ms.Tensor(rate, ms.float32))
        else:
            optimizer.learning_rate = rate
        step(tuple(ms.Tensor(np.ones(shape)) for shape in SHAPES[:2]))
        was -= rate
    np.testing.assert_allclose(weights[1].asnumpy(), was)


def test_groups():
    first, second, third = parameters()
    optimizer = nn.SGD([{"params": [third], "lr": 0.5}, {"params": [first, second], "weight_decay": 0.25},
                        {"order_params": [first, second, third]}], learning_rate=0.125, loss_scale=2.0)
    wanted = [w - rate * (g / 2 + decay * w) for w, g, rate, decay in zip(
        [one.asnumpy().copy() for one in (first, second, third)], gradients(1), (0.125, 0.125, 0.5), (0.25, 0.25, 0.0))]
    optimizer(tuple(map(ms.Tensor, gradients(1))))
    for one, w in zip((first, second, third), wanted):
        np.testing.assert_allclose(one.asnumpy(), w)
    assert optimizer.is_group_lr and [float(one) for one in optimizer.get_lr()] == [0.125, 0.125, 0.5]


def test_weight_decay_leaves_scales_of_normalisations_out():
    w, gamma = ms.Parameter(np.ones(2), name="w"), ms.Parameter(np.ones(2), name="norm.gamma")
    nn.SGD([w, gamma], learning_rate=0.5, weight_decay=0.5)((ms.Tensor(np.zeros(2)), ms.Tensor(np.zeros(2))))
    assert w.asnumpy().tolist() == [0.75, 0.75] and gamma.asnumpy().tolist() == [1.0, 1.0]


def test_moments_are_in_checkpoints(tmp_path):
    weights = parameters()
    optimizer = nn.Adam(weights, learning_rate=0.25)
    for t in range(3):
        optimizer(tuple(map(ms.Tensor, gradients(t))))
    ms.save_checkpoint(optimizer, str(tmp_path / "adam.ckpt"))
    again = nn.Adam(parameters(), learning_rate=0.5)
    assert ms.load_param_into_net(again, ms.load_checkpoint(str(tmp_path / "adam.ckpt"))) == ([], [])
    assert {"moment1.layer.w0", "moment2.layer.w2", "beta1_power", "beta2_power", "learning_rate",
            "global_step"} <= set(again.parameters_dict())
    for name, one in optimizer.parameters_dict().items():
        assert again.parameters_dict()[name].asnumpy().tobytes() == one.asnumpy().tobytes()
    assert not optimizer.trainable_params()


def test_lists_of_rates():
    assert nn.piecewise_constant_lr([2, 5], [0.1, 0.05]) == [0.1, 0.1, 0.05, 0.05, 0.05]
    assert nn.exponential_decay_lr(0.5, 0.25, 6, 2, 2) == [0.5, 0.5, 0.25, 0.25, 0.125, 0.125]
    assert nn.exponential_decay_lr(0.5, 0.25, 6, 2, 2, True) == [0.5, 0.5, 0.5, 0.5, 0.125, 0.125]
    np.testing.assert_allclose(nn.cosine_decay_lr(0.0, 1.0, 8, 2, 2), [1, 1, 0.5, 0.5, 0, 0, 0, 0], atol=1e-12)


SCHEDULES = (
    (nn.ExponentialDecayLR(0.5, 0.25, 4), lambda t: 0.5 * 0.25 ** (t / 4)),
    (nn.ExponentialDecayLR(0.5, 0.25, 4, True), lambda t: 0.5 * 0.25 ** (t // 4)),
    (nn.CosineDecayLR(0.25, 1.0, 4), lambda t: 0.25 + 0.375 * (1 + math.cos(math.pi * min(t, 4) / 4))),
    (nn.PolynomialDecayLR(0.5, 0.25, 4, 2.0), lambda t: 0.25 * (1 - min(t, 4) / 4) ** 2 + 0.25),
    (nn.PolynomialDecayLR(0.5, 0.25, 4, 2.0, True),
     lambda t: 0.25 * (1 - t / (4 * max(math.ceil(t / 4), 1))) ** 2 + 0.25),
    (nn.WarmUpLR(0.5, 4), lambda t: 0.5 * min(t, 4) / 4),
)


@pytest.mark.parametrize("schedule,formula", SCHEDULES)
def test_schedules(schedule, formula):
    found = [schedule(ms.Tensor(t, ms.int32)) for t in range(10)]
    assert {one.dtype for one in found} == {ms.float32} and {one.shape for one in found} == {()}
    np.testing.assert_allclose([float(one) for one in found], [formula(t) for t in range(10)], rtol=1e-6, atol=1e-7)


def test_a_schedule_of_a_program():
    class Halved(nn.LearningRateSchedule):
        def construct(self, global_step):
            assert global_step.dtype == ms.int32
            return 0.5 ** ms.ops.cast(global_step, ms.float32)

    (w,), one = parameters(shapes=SHAPES[1:2]), (ms.Tensor(np.ones(4)),)
    was, optimizer = w.asnumpy().copy(), nn.SGD([w], learning_rate=Halved())
    for _ in range(3):
        optimizer(one)
    np.testing.assert_allclose(w.asnumpy(), was - 1.75)


def refused(error, text, make):
    with pytest.raises(error, match=text):
        make()


def test_errors():
    w = parameters()
    refused(ValueError, "SGD: learning_rate must not be negative", lambda: nn.SGD(w, -1.0))
    refused(TypeError, "SGD: learning_rate must be a number, a Tensor", lambda: nn.SGD(w, "fast"))
    refused(ValueError, "SGD: params must not be empty", lambda: nn.SGD([]))
    refused(TypeError, "SGD: each item of params must be a Parameter", lambda: nn.SGD([ms.Tensor(1.0)]))
    refused(ValueError, "with nesterov momentum must be positive", lambda: nn.SGD(w, nesterov=True))
    refused(ValueError, "Adam: beta1 must be between 0 and 1", lambda: nn.Adam(w, beta1=1.0))
    refused(TypeError, "Adam: use_nesterov must be a bool", lambda: nn.Adam(w, use_nesterov=1))
    refused(ValueError, "Adam: loss_scale must be positive", lambda: nn.Adam(w, loss_scale=0.0))
    refused(ValueError, "RMSProp: epsilon must be positive", lambda: nn.RMSProp(w, epsilon=0.0))
    refused(ValueError, "keys of a parameter group must be params, lr", lambda: nn.SGD([{"params": w, "rate": 1}]))
    refused(ValueError, "a parameter must be in one group", lambda: nn.SGD([{"params": w}, {"params": w[:1]}]))
    refused(ValueError, "order_params must be", lambda: nn.SGD([{"params": w}, {"order_params": w[:1]}]))
    refused(TypeError, "WarmUpLR: warmup_steps must be an int", lambda: nn.WarmUpLR(0.1, 2.0))
    refused(ValueError, "CosineDecayLR: max_lr must be greater", lambda: nn.CosineDecayLR(0.5, 0.25, 2))
    refused(ValueError, "milestone must increase", lambda: nn.piecewise_constant_lr([2, 2], [0.1, 0.2]))
    with pytest.raises(NotImplementedError, match="needs a step method"):
        nn.Optimizer(0.1, w)(tuple(w))
