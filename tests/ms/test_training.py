"""Training: the example learns, and a step changes parameters as the formulas say."""

import gc
import pathlib
import runpy
import sys
import tracemalloc

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
EXAMPLE = EXAMPLES / "train_cell.py"


def test_the_example_learns():
    _, before, after = runpy.run_path(str(EXAMPLE))["train"](steps=120)
    assert after > before + 0.1


def test_a_step_of_momentum():
    import pijit.ms as ms
    from pijit.ms import nn

    w = ms.Parameter(np.array([1.0, 2.0]), name="w")
    array = w.asnumpy()
    optimizer = nn.Momentum([w], learning_rate=0.5, momentum=0.5)
    for _ in range(2):
        optimizer((ms.Tensor(np.array([2.0, 4.0])),))
    assert w.asnumpy() is array
    assert array.tolist() == [1.0 - 0.5 * 2.0 - 0.5 * 3.0, 2.0 - 0.5 * 4.0 - 0.5 * 6.0]


@pytest.fixture(scope="module")
def digits():
    return runpy.run_path(str(EXAMPLES / "digits.py"))


def test_digits_are_learned_and_a_seed_gives_the_same_run(digits):
    data = digits["drawn"](80)
    network, found, losses = digits["train"](steps=8, batch=20, data=data, progress=iter)
    assert losses[-1] < losses[0] and 0 <= found <= 1
    other, again, same = digits["train"](steps=8, batch=20, data=data, progress=iter)
    assert (found, losses) == (again, same)
    assert [one.asnumpy().tobytes() for one in network.get_parameters()] == [
        one.asnumpy().tobytes() for one in other.get_parameters()]


def perceptron(optimizer, jitted=True):
    """A jitted training step of a small perceptron, its inputs, and its network."""
    import pijit.ms as ms
    from pijit.ms import nn

    ms.set_seed(3)
    network = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3))
    loss = nn.WithLossCell(network, nn.CrossEntropyLoss())
    one_step = nn.TrainOneStepCell(loss, optimizer(network.trainable_params()))

    def step(x, y):
        return one_step(x, y)

    source = np.random.RandomState(1)
    x, y = ms.Tensor(source.standard_normal((16, 6)).astype("f")), ms.Tensor(source.randint(0, 3, 16))
    return ms.jit(step) if jitted else step, x, y, network


def test_a_jitted_training_step_has_the_bits_of_the_plain_one():
    from pijit.ms import nn

    runs = []
    for jitted in (False, True):
        step, x, y, network = perceptron(lambda params: nn.Adam(params, learning_rate=0.01, weight_decay=0.1), jitted)
        losses = [float(step(x, y)) for _ in range(8)]
        runs.append((losses, [one.asnumpy().tobytes() for one in network.get_parameters()]))
    assert runs[0] == runs[1] and runs[0][0][-1] < runs[0][0][0]


def test_memory_of_a_training_loop_is_flat():
    from pijit.ms import nn

    step, x, y, _ = perceptron(lambda params: nn.Adam(params, learning_rate=0.01))

    def growth():
        """The bytes and the blocks that 100 steps leave behind."""
        gc.collect()
        blocks, before = sys.getallocatedblocks(), tracemalloc.get_traced_memory()[0]
        for _ in range(100):
            step(x, y)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before, sys.getallocatedblocks() - blocks

    for _ in range(100):  # caches fill
        step(x, y)
    tracemalloc.start()
    try:
        found = [growth() for _ in range(3)]
    finally:
        tracemalloc.stop()
    least = [min(one) for one in zip(*found)]
    assert least[0] < 10000 and least[1] < 100, found  # a leak of one object or array per step is more


def test_an_update_allocates_nothing_that_stays():
    import pijit.ms as ms
    from pijit.ms import nn

    w = ms.Parameter(np.ones((64, 64), np.float32), name="w")
    optimizer, g = nn.Adam([w], learning_rate=0.01), (ms.Tensor(np.ones((64, 64), np.float32)),)
    step = ms.jit(lambda parts: optimizer(parts))
    for _ in range(5):
        step(g)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        step(g)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 2000 and peak - before < w.asnumpy().nbytes


@pytest.mark.parametrize("smoothing", (0.0, 0.1))
def test_a_jitted_cross_entropy_is_one_graph(smoothing):
    import pijit.ms as ms
    from pijit.ms import nn
    from pijit.ms.compilation import get_code_extra

    source = np.random.RandomState(2)
    logits, y = ms.Tensor(source.standard_normal((5, 3)).astype("f")), ms.Tensor(source.randint(0, 3, 5))
    loss = nn.CrossEntropyLoss(label_smoothing=smoothing)
    step, wanted = ms.jit(lambda a, b: loss(a, b)), loss(logits, y).asnumpy()
    for _ in range(4):
        assert step(logits, y).asnumpy().tobytes() == wanted.tobytes()
    assert get_code_extra(step).break_count_ == 0
