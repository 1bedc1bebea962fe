"""Training: the example learns, and a step changes parameters as the formulas say."""

import pathlib
import runpy

import numpy as np

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "train_cell.py"


def test_the_example_learns():
    before, after = runpy.run_path(str(EXAMPLE))["train"](steps=120)
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
