"""Pools: each engine that is installed gives times, and a full cache folder saves the compiler."""

import importlib.util

import pytest

from benchmarks.pools import ENGINES, measured, times_of


def test_times_of_workers():
    assert times_of([(1, 3.0, 0.1), (1, 0.5, 0.2), (2, 4.0, 0.3)]) == (4.0, 0.2)


@pytest.mark.parametrize("engine", ["one process", "multiprocessing, fork", "joblib"])
def test_a_full_folder_saves_the_compiler(engine):
    if importlib.util.find_spec(ENGINES[engine][0]) is None:
        pytest.skip("not installed")
    empty, full, forked, later = measured(engine, 2, 1)
    assert 0 < later < full < empty
    assert (forked is not None) == engine.endswith("fork") and (forked is None or forked < empty)
