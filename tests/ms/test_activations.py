"""Activations as cells: against formulas, capture as a whole, gradients, errors."""

import math

import numpy as np
import pytest

from tests.ms.layer_checks import captured_whole, gradients_agree

X = np.random.RandomState(9).uniform(-4, 4, (2, 4, 3))


def logistic(x):
    return 1 / (1 + np.exp(-x))


CELLS = {
    "HSigmoid": ((), np.clip((X + 3) / 6, 0, 1)), "HSwish": ((), X * np.clip((X + 3) / 6, 0, 1)),
    "Mish": ((), X * np.tanh(np.log(1 + np.exp(X)))), "LogSigmoid": ((), np.log(logistic(X))),
    "SeLU": ((), 1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * (np.exp(X) - 1))),
    "Softsign": ((), X / (1 + np.abs(X))), "Tanhshrink": ((), X - np.tanh(X)),
    "CELU": ((2.0,), np.where(X > 0, X, 2 * (np.exp(X / 2) - 1))), "SoftShrink": ((0.7,), np.sign(X) * np.maximum(np.abs(X) - 0.7, 0)),
    "HShrink": ((0.7,), np.where(np.abs(X) > 0.7, X, 0)), "Hardtanh": ((-2.0, 0.5), np.clip(X, -2, 0.5)),
    "Threshold": ((0.5, -3.0), np.where(X > 0.5, X, -3)), "GLU": ((1,), X[:, :2] * logistic(X[:, 2:])),
    "PReLU": ((), np.where(X > 0, X, 0.25 * X)), "GELU": ((False,), X * 0.5 * (1 + np.vectorize(math.erf)(X * math.sqrt(0.5)))),
}


@pytest.fixture
def ms():
    import pijit.ms

    return pijit.ms


@pytest.mark.parametrize("name", sorted(CELLS))
def test_activations(ms, name):
    arguments, wanted = CELLS[name]
    cell = getattr(ms.nn, name)(*arguments)
    np.testing.assert_allclose(captured_whole(cell, ms.Tensor(X)), wanted, rtol=1e-7, atol=1e-12)
    assert cell(ms.Tensor(X.astype("f"))).dtype == ms.float32
    if name != "PReLU":
        gradients_agree(cell, ms.Tensor(X.copy()), every=5)


def test_prelu_with_a_factor_per_channel(ms):
    factors = np.array([0.1, 0.2, 0.3, -0.4])
    cell = ms.nn.PReLU(4, ms.Tensor(factors))
    np.testing.assert_allclose(captured_whole(cell, ms.Tensor(X)), np.where(X > 0, X, factors[:, None] * X), rtol=1e-12)
    gradients_agree(cell, ms.Tensor(X.copy()), every=3)
    gradients_agree(ms.nn.PReLU(1, ms.Tensor([0.3], ms.float64)), ms.Tensor(X.copy()), every=5)
    other = ms.nn.PReLU(3, [1.0, 2.0, 3.0])
    assert [one.name for one in other.trainable_params()] == ["a"] and other.w.asnumpy().tolist() == [1.0, 2.0, 3.0]


def test_names(ms):
    for name, layer in (("hswish", "HSwish"), ("hsigmoid", "HSigmoid"), ("mish", "Mish"), ("logsigmoid", "LogSigmoid"),
                        ("softsign", "Softsign"), ("softshrink", "SoftShrink"), ("hshrink", "HShrink"), ("prelu", "PReLU")):
        assert type(ms.nn.get_activation(name)) is getattr(ms.nn, layer)


def test_wrong_arguments(ms):
    nn = ms.nn
    for error, text, make in (
            (ValueError, "CELU: alpha must not be 0", lambda: nn.CELU(0.0)),
            (ValueError, "SoftShrink: lambd must not be negative; not -1", lambda: nn.SoftShrink(-1)),
            (TypeError, "HShrink: lambd must be a number; not 'x'", lambda: nn.HShrink("x")),
            (ValueError, "Hardtanh: min_val must be below max_val; not 1.0 and 0.0", lambda: nn.Hardtanh(1.0, 0.0)),
            (TypeError, "PReLU: channel must be an int; not 1.5", lambda: nn.PReLU(1.5)),
            (ValueError, "PReLU: w must be a number or have channel=2 elements", lambda: nn.PReLU(2, [0.1]))):
        with pytest.raises(error, match=text):
            make()
