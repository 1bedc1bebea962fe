"""The memory benchmark: its rows do what they are called, and what it measures stays the same."""

import inspect

import pytest

from benchmarks import memory


def test_what_is_resident_stays_the_same(capsys):
    assert memory.main(["--share", "0.002"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split(" | ")[1] for line in lines] == ["20000", "2000", "200", "20", "10"]
    assert all(float(line.split()[-2]) < 1.0 for line in lines)


def test_misses_are_served_by_no_entry():
    call = memory.missing()
    f = inspect.getclosurevars(call).nonlocals["f"]
    before = f.cache_info()
    for _ in range(10):
        call()
    after = f.cache_info()
    assert after.misses - before.misses == 10 and after.currsize == before.currsize == 2


@pytest.mark.parametrize("make", [memory.leaving, memory.capturing])
def test_rows_run(make):
    call = make()
    for _ in range(3):
        call()
