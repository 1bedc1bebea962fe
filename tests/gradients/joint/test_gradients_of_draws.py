"""Gradients of functions that draw random numbers: one draw per call, the tape's bits, and the generator's state."""

import numpy as np
import pytest

import pijit
from pijit.core.pythons import why_not_python
from pijit.gradient_kernels import WARM

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

W, X = np.linspace(-0.5, 0.75, 40).reshape(8, 5), np.linspace(0.0, 1.0, 160).reshape(20, 8)


def dropout(w, x, rng):
    h = np.tanh(x @ w)
    kept = rng.uniform(0.0, 1.0, h.shape) >= 0.3
    return (np.where(kept, h / 0.7, 0.0) ** 2).sum()


def noise(w, x, rng):
    h = x @ w + rng.normal(0.0, 0.1, (20, 5))
    return (h * h).sum() * rng.uniform(0.5, 1.5)


def two_draws(w, x, rng):
    h = np.sin(x @ w) * rng.standard_normal((20, 5))
    return (h * rng.uniform(size=5)).sum()


def noisy_start(w, x, rng):
    h = rng.normal(size=5)
    for k in range(20):
        h = np.tanh(x[k] @ w + h * 0.5)
    return h.sum()


def may_leave(w, x, rng):
    noise = rng.normal(size=(20, 5))
    return np.log(x @ w * x[0, 0] + 2.0 + 0.0 * noise).sum()


def in_a_loop(w, x, rng):
    h = np.zeros(5)
    for k in range(20):
        h = np.tanh(x[k] @ w + h * rng.normal())
    return h.sum()


def state_of(rng):
    return repr(rng.get_state() if isinstance(rng, np.random.RandomState) else rng.bit_generator.state)


def taped(f, w, x, rng):
    """Value, gradient and state after a call that uses the tape, because it is a first one."""
    value, gradient = pijit.value_and_grad(f)(w, x, rng)
    return value, gradient.tobytes(), state_of(rng)


MAKERS = [lambda: np.random.RandomState(5), lambda: np.random.default_rng(5),
          lambda: np.random.Generator(np.random.MT19937(5))]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("f", [dropout, noise, two_draws, noisy_start])
def test_bits_and_states_are_the_tapes(f, make):
    fast, one, other = pijit.value_and_grad(f), make(), make()
    for call in range(WARM + 4):
        value, gradient = fast(W, X, one)
        assert (value, gradient.tobytes(), state_of(one)) == taped(f, W, X, other)
        assert call < WARM or fast._kernels.why == ""


def test_a_call_that_the_kernel_gives_up_draws_once():
    fast, one, other = pijit.value_and_grad(may_leave), np.random.default_rng(2), np.random.default_rng(2)
    large = np.array([[-1e3] + [0.0] * 7] * 20)
    with np.errstate(all="ignore"):
        for x in [X + 0.5] * (WARM + 2) + [large, X + 0.5, large]:
            value, gradient = fast(W, x, one)
            wanted = taped(may_leave, W, x, other)
            assert (np.float64(value).tobytes(), gradient.tobytes(), state_of(one)) == (
                np.float64(wanted[0]).tobytes(),) + wanted[1:]


def test_loops_use_the_tape():
    fast, one, other = pijit.value_and_grad(in_a_loop), np.random.default_rng(2), np.random.default_rng(2)
    for _ in range(WARM + 3):
        value, gradient = fast(W, X, one)
        assert (value, gradient.tobytes(), state_of(one)) == taped(in_a_loop, W, X, other)
    assert "random numbers that are drawn in a loop or a branch" in fast._kernels.why


def test_a_generator_of_an_object_uses_the_tape():
    class Model:
        rng = np.random.default_rng(2)

    fast, other = pijit.value_and_grad(lambda w, x, model: noise(w, x, model.rng)), np.random.default_rng(2)
    for _ in range(WARM + 3):
        value, gradient = fast(W, X, Model)
        assert (value, gradient.tobytes(), state_of(Model.rng)) == taped(noise, W, X, other)


def test_explain_and_dump_draw_once(tmp_path):
    fast, one, other = pijit.value_and_grad(dropout), np.random.default_rng(2), np.random.default_rng(2)
    for use in (lambda: pijit.explain(fast, W, X, one), lambda: pijit.dump(fast, tmp_path, W, X, one)):
        use()
        dropout(W, X, other)
        assert state_of(one) == state_of(other)
    assert pijit.explain(fast, W, X, one).how == "later calls are one kernel"


def test_parameters_of_draws_have_no_derivative():
    fast = pijit.grad(lambda mean, rng: rng.normal(mean, 1.0) * mean)
    for _ in range(WARM + 3):
        with pytest.raises(pijit.GradientError, match="PJ502 no derivative is known .what: normal"):
            fast(3.0, np.random.default_rng(2))
