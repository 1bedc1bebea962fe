"""Cells in cells, deeper than `max_inline_depth`, are one kernel; so are calls in arguments of calls, after draws."""

import numpy as np
import pytest

import pijit
from tests.harness import mode_config

STEPS, BATCH, WIDTH = 5, 3, 16


def tensor(seed, shape=(STEPS, BATCH, WIDTH)):
    import pijit.ms as ms

    return ms.Tensor(np.random.RandomState(seed).standard_normal(shape).astype("f"))


def layers(kind):
    """A network in training, and its arguments."""
    from pijit.ms import nn

    if kind == "encoder":
        return nn.TransformerEncoderLayer(WIDTH, 2, 32, dropout=0.1), (tensor(1),)
    if kind == "decoder":
        return nn.TransformerDecoderLayer(WIDTH, 2, 32, dropout=0.1), (tensor(1), tensor(2))
    inner = nn.SequentialCell(nn.Dense(WIDTH, WIDTH), nn.Dropout(p=0.2), nn.ReLU())
    return nn.SequentialCell(nn.SequentialCell(nn.SequentialCell(inner), nn.Dense(WIDTH, 4)), nn.Softmax()), (
        tensor(3, (BATCH, WIDTH)),)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "sequences"])
def test_networks_in_training_are_one_kernel(kind):
    import pijit.ms as ms

    runs = []
    for jitted in (False, True):
        ms.set_seed(7)
        network, arguments = layers(kind)
        network.set_train(True)

        def step(*given):
            return network(*given)

        if jitted:
            step = pijit.jit(step, jit_config=mode_config())
        runs.append([step(*arguments).asnumpy().tobytes() for _ in range(4)])
        if jitted and mode_config().get("force_breaks") is None:
            (entry,) = step.state.entries
            assert not entry.reports.breaks and len(entry.launchers) == 1
    assert runs[0] == runs[1]


def test_own_functions_count_for_the_depth():
    import pijit.ms as ms
    from pijit.ms import nn

    layer = nn.SequentialCell(nn.SequentialCell(nn.ReLU()))

    def make(inner):
        return lambda x: inner(x)

    f = layer
    for _ in range(4):
        f = make(f)
    outer = pijit.jit(lambda x: f(x), jit_config=dict(mode_config(), max_inline_depth=3))
    x = ms.Tensor(np.array([-1.0, 2.0], np.float32))
    for _ in range(3):
        assert outer(x).asnumpy().tolist() == [0.0, 2.0]
    reasons = {one.reason_id for entry in outer.state.entries for one in entry.reports.breaks}
    assert "PJ230" in reasons or mode_config().get("force_breaks")
