"""Hooks of tensors: they receive the gradients of inputs, parameters and intermediate results, and may replace them."""

import copy

import numpy as np
import pytest

from tests.harness import jitted


@pytest.fixture
def ms():
    import pijit.ms

    return pijit.ms


def square(x):
    return x * x


def values(result):
    """The arrays of a gradient or of nested tuples of them."""
    return [v for one in result for v in values(one)] if isinstance(result, tuple) else result.asnumpy().tolist()


def double(g):
    return g * 2


def test_inputs(ms):
    x, gradient = ms.Tensor([3.0]), ms.grad(square)
    handle, other = x.register_hook(double), x.register_hook(lambda g: g + 1)
    assert [values(gradient(x)) for _ in range(3)] == [[13.0]] * 3
    handle.remove()
    assert values(gradient(x)) == [7.0]
    other.remove()
    other.remove()
    assert values(gradient(x)) == [6.0]


def test_one_hook_that_is_registered_twice(ms):
    x = ms.Tensor([3.0])
    first, second = x.register_hook(double), x.register_hook(double)
    assert values(ms.grad(square)(x)) == [24.0]
    first.remove()
    first.remove()
    assert values(ms.grad(square)(x)) == [12.0]
    second.remove()
    assert values(ms.grad(square)(x)) == [6.0]


def test_kernels_compute_the_gradients_of_hooked_tensors(ms):
    from pijit.ms import kernel_gradients

    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ms.Tensor([2.0, -1.0]), name="w")
            self.w.register_hook(double)

        def construct(self, x):
            return ms.ops.tanh(x * self.w).sum()

    net, x = Net(), ms.Tensor([0.25, 0.5])
    x.register_hook(lambda g: g * 4)
    gradient = ms.grad(net, 0, net.w)
    found = [values(gradient(x)) for _ in range(5)]
    assert kernel_gradients.why_not(net) == ""
    inner = (1 - np.tanh(x.asnumpy() * net.w.asnumpy()) ** 2).astype("f")
    wanted = [inner * net.w.asnumpy() * 4, inner * x.asnumpy() * 2]
    for one in found:
        np.testing.assert_allclose(np.reshape(one, (2, 2)), wanted, rtol=1e-6)


def test_intermediate_results(ms):
    seen = []

    def hooked(x, y):
        z = x * y
        handle = z.register_hook(lambda g: seen.append(values(g)) or g * 2)
        assert callable(handle.remove)
        return (z * y).sum()

    def removed(x, y):
        z = x * y
        z.register_hook(double).remove()
        return (z * y).sum()

    x, y = ms.Tensor([1.0]), ms.Tensor([2.0])
    for f in (hooked, jitted(hooked)):
        for _ in range(5):
            del seen[:]
            assert values(ms.grad(f, (0, 1))(x, y)) == [8.0, 6.0] and seen == [[2.0]]
        assert values(f(x, y)) == 4.0
    assert values(ms.grad(removed, (0, 1))(x, y)) == [4.0, 4.0]


def test_views_and_stores(ms):
    def f(x):
        z = x * 1.0
        z.register_hook(double)
        part = z[0]
        z[1] = 7.0
        return (part * part).sum() + (z * z).sum()

    x = ms.Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], "f"))
    assert values(ms.grad(f)(x)) == [[8.0, 16.0], [0.0, 0.0]]


def test_nested_inputs_and_copies(ms):
    x, y = ms.Tensor([3.0]), ms.Tensor([5.0])
    x.register_hook(double)
    assert values(ms.grad(lambda pair: pair[0] * pair[1])((x, y))) == [10.0, 3.0]
    assert values(ms.grad(lambda a, b: a * b * b, (0, 1))(x, x)) == [18.0, 36.0]  # two leaves, one tensor
    assert values(ms.grad(square)(copy.copy(y))) == [10.0]


def test_gradients_of_gradients(ms):
    x = ms.Tensor([3.0])
    x.register_hook(lambda g: g * g)
    assert values(ms.grad(ms.grad(square))(x)) == [576.0]  # (2x) ** 2 = 4x ** 2; its derivative 8x goes through the hook


def test_constants_have_no_gradient(ms):
    def f(x):
        constant = ms.Tensor([4.0])
        constant.register_hook(lambda g: pytest.fail("it has no gradient"))
        return x * constant

    assert values(ms.grad(f)(ms.Tensor([1.0]))) == [4.0]


def test_errors(ms):
    x = ms.Tensor([3.0])
    with pytest.raises(TypeError, match="register_hook: hook_fn must be callable; not 5"):
        x.register_hook(5)
    x.register_hook(lambda g: 5)
    with pytest.raises(TypeError, match="register_hook: hook_fn must return a tensor or None; not 5"):
        ms.grad(square)(x)
    y = ms.Tensor([3.0])
    y.register_hook(lambda g: None)
    assert values(ms.grad(square)(y)) == [6.0]
