"""A fixed set of generated programs; `python -m tests.fuzz.gradient_programs` runs others."""

import pathlib
import runpy

from tests.fuzz.gradient_programs import check


def test_generated_programs():
    outcomes = [check(seed) for seed in range(1, 81)]
    assert outcomes.count(True) > 50


def test_the_example_fits():
    path = pathlib.Path(__file__).resolve().parents[2] / "examples" / "fit_conductivity.py"
    losses = runpy.run_path(str(path))["main"](rounds=4)
    assert losses[-1] < 0.5 * losses[0]
