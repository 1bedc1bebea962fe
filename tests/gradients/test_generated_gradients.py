"""A fixed set of generated programs; `python -m tests.fuzz.gradient_programs` runs others."""

from tests.fuzz.gradient_programs import check


def test_generated_programs():
    outcomes = [check(seed) for seed in range(1, 81)]
    assert outcomes.count(True) > 50
