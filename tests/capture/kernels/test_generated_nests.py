"""A fixed set of generated loop nests; `python -m tests.fuzz.nest_programs` runs others."""

import pytest

from tests.fuzz.nest_programs import NestProgram, compare
from tests.fuzz.running import Counts


@pytest.mark.parametrize("kind, first, mixed", [("views", 1, False), ("views", 9, False), ("views", 17, True), ("views", 25, True),
                                                ("loops", 1, False), ("loops", 9, True)])
def test_generated_nests(kind, first, mixed):
    counts = Counts()
    assert [compare(seed, kind, mixed, counts) for seed in range(first, first + 8)] == [None] * 8
    assert counts.kernels > 4 and counts.errors < counts.calls / 2


def test_a_seed_gives_the_same_program_each_time():
    assert NestProgram(3, True).source == NestProgram(3, True).source != NestProgram(4, True).source
