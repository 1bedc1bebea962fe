"""Normalisation layers: against formulas, capture as a whole, gradients, moving statistics, errors."""

import numpy as np
import pytest

from tests.ms.layer_checks import captured_whole, gradients_agree

RANDOM = np.random.RandomState(6)


@pytest.fixture
def ms():
    import pijit.ms

    return pijit.ms


def with_values(cell):
    """The cell with a factor and a summand that differ by channel."""
    cell.gamma.asnumpy()[:] = np.linspace(0.5, 2, cell.gamma.size)
    cell.beta.asnumpy()[:] = np.linspace(-1, 1, cell.beta.size)
    return cell


def scaled(cell, r):
    shape = (1, -1) + (1,) * (r.ndim - 2)
    return r * cell.gamma.asnumpy().reshape(shape) + cell.beta.asnumpy().reshape(shape)


def standardised(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_norm(ms, groups):
    x = RANDOM.uniform(-1, 3, (2, 6, 3, 2))
    cell = with_values(ms.nn.GroupNorm(groups, 6, dtype=ms.float64))
    wanted = scaled(cell, standardised(x.reshape(2, groups, -1), 2).reshape(x.shape))
    np.testing.assert_allclose(captured_whole(cell, ms.Tensor(x)), wanted, rtol=1e-10, atol=1e-12)
    gradients_agree(cell, ms.Tensor(x), every=5)
    plain = ms.ops.group_norm(ms.Tensor(x), groups).asnumpy()
    np.testing.assert_allclose(plain, standardised(x.reshape(2, groups, -1), 2).reshape(x.shape), rtol=1e-10, atol=1e-12)


def test_group_norm_of_rows(ms):
    x = RANDOM.uniform(-1, 3, (3, 4))
    found = ms.ops.group_norm(ms.Tensor(x), 2, ms.Tensor(np.full(4, 2.0)), ms.Tensor(np.ones(4)), 0.1).asnumpy()
    np.testing.assert_allclose(found, 2 * standardised(x.reshape(3, 2, 2), 2, 0.1).reshape(3, 4) + 1, rtol=1e-12)


def test_instance_norm(ms):
    x = RANDOM.uniform(-1, 3, (2, 3, 4, 2))
    cell = with_values(ms.nn.InstanceNorm2d(3, dtype=ms.float64))
    wanted = scaled(cell, standardised(x, (2, 3)))
    np.testing.assert_allclose(captured_whole(cell, ms.Tensor(x)), wanted, rtol=1e-10, atol=1e-12)
    gradients_agree(cell, ms.Tensor(x), every=5)
    assert cell.moving_mean.asnumpy().tolist() == [0, 0, 0]
    cell.set_train()
    np.testing.assert_allclose(cell(ms.Tensor(x)).asnumpy(), wanted, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(cell.moving_mean.asnumpy(), 0.9 * x.mean((0, 2, 3)), rtol=1e-12)
    np.testing.assert_allclose(cell.moving_variance.asnumpy(), 0.1 + 0.9 * x.var((2, 3), ddof=1).mean(0), rtol=1e-12)


def test_batch_norm_of_volumes(ms):
    x = RANDOM.uniform(-1, 3, (2, 3, 2, 2, 3))
    cell = with_values(ms.nn.BatchNorm3d(3, dtype=ms.float64))
    np.testing.assert_allclose(captured_whole(cell, ms.Tensor(x)), scaled(cell, x / np.sqrt(1 + 1e-5)), rtol=1e-12)
    gradients_agree(cell, ms.Tensor(x), every=7)
    cell.set_train()
    np.testing.assert_allclose(cell(ms.Tensor(x)).asnumpy(), scaled(cell, standardised(x, (0, 2, 3, 4))), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(cell.moving_mean.asnumpy(), 0.1 * x.mean((0, 2, 3, 4)), rtol=1e-12)
    gradients_agree(ms.nn.BatchNorm3d(3, use_batch_statistics=True, dtype=ms.float64), ms.Tensor(x), every=7)


@pytest.mark.parametrize("name, shape", [("BatchNorm3d", (2, 3, 2, 2, 3)), ("InstanceNorm2d", (2, 3, 4, 2))])
def test_training_is_captured_whole(ms, name, shape):
    x, make = ms.Tensor(RANDOM.uniform(-1, 3, shape).astype("f")), getattr(ms.nn, name)
    cell, other = make(3).set_train(), make(3).set_train()
    captured_whole(cell, x)
    for _ in range(4):
        other(x)
    assert cell.moving_mean.asnumpy().tobytes() == other.moving_mean.asnumpy().tobytes()
    assert cell.moving_variance.asnumpy().tobytes() == other.moving_variance.asnumpy().tobytes()


def test_parameters(ms):
    cell = ms.nn.GroupNorm(2, 4, affine=False)
    assert cell.trainable_params() == [] and cell.gamma.dtype == ms.float32
    assert [one.name for one in ms.nn.InstanceNorm2d(2).untrainable_params()] == ["mean", "variance"]
    assert "num_groups=2, num_channels=4, eps=1e-05, affine=False" in repr(cell)


def test_wrong_arguments(ms):
    nn, x = ms.nn, ms.Tensor(np.ones((2, 4), "f"))
    for error, text, make in (
            (ValueError, "GroupNorm: num_channels must be a multiple of num_groups 3; not 4", lambda: nn.GroupNorm(3, 4)),
            (TypeError, "GroupNorm: num_groups must be an int; not 2.0", lambda: nn.GroupNorm(2.0, 4)),
            (ValueError, "GroupNorm: x must have 4 dimensions; not 2", lambda: nn.GroupNorm(2, 4)(x)),
            (ValueError, "GroupNorm: x must have num_channels 4 channels; not 2", lambda: nn.GroupNorm(2, 4)(x[:, :2, None, None])),
            (ValueError, "group_norm: the number of channels", lambda: ms.ops.group_norm(x, 3)),
            (ValueError, "InstanceNorm2d: momentum must be from 0 to 1; not 2", lambda: nn.InstanceNorm2d(3, momentum=2)),
            (ValueError, "InstanceNorm2d: x must have 4 dimensions; not 2", lambda: nn.InstanceNorm2d(4)(x)),
            (ValueError, "BatchNorm3d: x must have 5 dimensions; not 2", lambda: nn.BatchNorm3d(4)(x))):
        with pytest.raises(error, match=text):
            make()
