"""Gradients of functions that draw random numbers: one draw per call, the tape's bits, and the generator's state."""

import numpy as np
import pytest

import pijit
from pijit.core.pythons import why_not_python
from pijit.gradient_kernels import WARM
from tests.gradients.joint.joint_gradient import without_payloads

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


def paths(w, x, rng):
    s = np.exp(x @ w)
    for _ in range(12):
        z = rng.standard_normal((20, 5))
        s = s * np.exp(0.02 * z * s - 0.01 * s)
    return s.mean()


def recurrent_dropout(w, x, rng):
    h = np.zeros(5)
    for k in range(20):
        kept = rng.uniform(size=5) >= 0.3
        h = np.where(kept, np.tanh(x[k] @ w + h), 0.0) / 0.7
    return (h * h).sum()


def two_in_a_loop(w, x, rng):
    total = 0.0
    for k in range(20):
        scale = rng.uniform(0.5, 1.5)
        z = rng.normal(size=5)
        total = total + ((x[k] @ w + z) ** 2 * scale).sum() + rng.normal()
    return total


def stored_rows(w, x, rng):
    h = x @ w
    for k in range(1, 20):
        h[k] = h[k] * np.sin(h[k - 1] * rng.normal()) + rng.normal(size=5)
    return (h * h).sum()


def carried(w, x, rng):
    z = rng.normal(size=5)
    h = np.zeros(5)
    for k in range(20):
        h = np.tanh(x[k] @ w * z + h)
        z = rng.normal(size=5)
    return (h * z).sum()


def linear(w, x, rng):
    h = x @ w
    for _ in range(6):
        h = h + rng.normal(size=(20, 5))
    return (h * h).sum()


def until_small(w, x, rng):
    s, steps = x @ w, 0
    while (s * s).sum() > 0.5:
        s = s * (0.5 + 0.1 * rng.uniform(size=5))
        steps += 1
    return (s * s * s).sum() + steps


def before_and_after(w, x, rng):
    h = x @ w * rng.normal()
    for k in range(5):
        for j in range(3):
            h = np.sin(h) + 0.1
        h = h * rng.normal(size=5)
    return (h * rng.normal(size=(20, 1))).sum()


def in_a_branch(w, x, rng):
    h = np.zeros(5)
    for k in range(20):
        if h[0] >= 0.0:
            h = np.tanh(x[k] @ w + h * rng.normal())
        else:
            h = h + 1.0
    return h.sum()


def in_an_inner_loop(w, x, rng):
    h = np.zeros(5)
    for k in range(10):
        for j in range(len(x) // 2):
            h = np.tanh(x[k + j] @ w + h * rng.normal())
    return h.sum()


def stored_into(w, x, rng):
    h = np.zeros(5)
    for k in range(20):
        z = rng.normal(size=5)
        z[1:] = h[:-1]
        h = np.tanh(x[k] @ w * z)
    return h.sum()


def state_of(rng):
    return repr(rng.get_state() if isinstance(rng, np.random.RandomState) else rng.bit_generator.state)


def taped(f, w, x, rng):
    """Value, gradient and state after a call that uses the tape, because it is a first one."""
    value, gradient = pijit.value_and_grad(f)(w, x, rng)
    return value, without_payloads(gradient), state_of(rng)


MAKERS = [lambda: np.random.RandomState(5), lambda: np.random.default_rng(5),
          lambda: np.random.Generator(np.random.MT19937(5))]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("f", [dropout, noise, two_draws, noisy_start, in_a_loop, paths, recurrent_dropout,
                               two_in_a_loop, stored_rows, carried, linear, before_and_after])
def test_bits_and_states_are_the_tapes(f, make):
    fast, one, other = pijit.value_and_grad(f), make(), make()
    for call in range(WARM + 4):
        value, gradient = fast(W, X, one)
        assert (value, without_payloads(gradient), state_of(one)) == taped(f, W, X, other)
        assert call < WARM or fast._kernels.why == ""


def test_a_call_that_the_kernel_gives_up_draws_once():
    fast, one, other = pijit.value_and_grad(may_leave), np.random.default_rng(2), np.random.default_rng(2)
    large = np.array([[-1e3] + [0.0] * 7] * 20)
    with np.errstate(all="ignore"):
        for x in [X + 0.5] * (WARM + 2) + [large, X + 0.5, large]:
            value, gradient = fast(W, x, one)
            wanted = taped(may_leave, W, x, other)
            assert (np.float64(value).tobytes(), without_payloads(gradient), state_of(one)) == (
                np.float64(wanted[0]).tobytes(),) + wanted[1:]


@pytest.mark.parametrize("f", [in_a_branch, in_an_inner_loop, stored_into, until_small])
def test_draws_that_would_be_repeated_use_the_tape(f):
    fast, one, other = pijit.value_and_grad(f), np.random.default_rng(2), np.random.default_rng(2)
    for _ in range(WARM + 3):
        value, gradient = fast(W, X, one)
        assert (value, without_payloads(gradient), state_of(one)) == taped(f, W, X, other)
    assert "random numbers" in fast._kernels.why or f is until_small  # compilers before 3.10 leave it as it is


def test_a_generator_of_an_object_uses_the_tape():
    class Model:
        rng = np.random.default_rng(2)

    fast, other = pijit.value_and_grad(lambda w, x, model: noise(w, x, model.rng)), np.random.default_rng(2)
    for _ in range(WARM + 3):
        value, gradient = fast(W, X, Model)
        assert (value, without_payloads(gradient), state_of(Model.rng)) == taped(noise, W, X, other)


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


def test_loops_that_draw_save_the_numbers_or_use_the_tape():
    """More numbers than the limit: there are no checkpoints, because a second run would draw again."""
    fast, one, other = pijit.value_and_grad(paths, tape_limit=10000), np.random.default_rng(2), np.random.default_rng(2)
    for _ in range(WARM + 4):
        try:
            found = fast(W, X, one)
        except pijit.GradientError as error:
            found = str(error)
        try:
            wanted = pijit.value_and_grad(paths, tape_limit=10000)(W, X, other)
        except pijit.GradientError as error:
            wanted = str(error)
        assert str(found) == str(wanted) and state_of(one) == state_of(other)


def test_a_loop_that_the_kernel_gives_up_draws_once():
    def logs(w, x, rng):
        s = x @ w + 2.0
        for _ in range(4):
            s = s + np.log(s * x[0, 0]) * rng.normal(0.0, 0.01, (20, 5))
        return s.sum()

    fast, one, other = pijit.value_and_grad(logs), np.random.default_rng(2), np.random.default_rng(2)
    negative = X + 0.5
    negative[0, 0] = -1.0
    with np.errstate(all="ignore"):
        for x in [X + 0.5] * (WARM + 2) + [negative, X + 0.5, negative]:
            value, gradient = fast(W, x, one)
            wanted = taped(logs, W, x, other)
            assert (repr(value), without_payloads(gradient), state_of(one)) == (repr(wanted[0]), *wanted[1:])
