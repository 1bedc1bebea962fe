"""Gates of re-entries: when bytecode that arrives at a loop's header is to call the launcher."""

import sys

import pytest

from tests.native.launcher.native_kernels import launcher

INT = (("int",),)
COUNT = (("int", 2),)
SHUT = "shut"


def made_with(exits=(COUNT,), **options):
    return launcher(lambda n: (int(n < 0), n), INT, exits, width=2, words=3, output_word=3, **options)


def gated(**options):
    """A launcher whose kernel leaves by a side exit after as many rounds as it is told, below 0 by a poll."""
    made = made_with(exits=((("const", None), *COUNT), COUNT), iterations=(1, None), gate=True, polls=(1,), **options)
    made.wait = 0
    return made


def gaining(**options):
    """One that has just made many rounds."""
    made = gated(**options)
    made.callable(100)
    return made


def arrivals(made):
    """How often bytecode arrives until the gate is open."""
    count = 1
    while next(made, SHUT) is SHUT:
        count += 1
    return count


def test_it_waits_for_a_kernel_to_be_worth_it():
    made = made_with(gate=True)
    first = made.wait
    assert 100 < first < made.longest_wait
    assert arrivals(made) == first + 1 and arrivals(made) == 1


def test_no_launcher_but_a_re_entry_has_one():
    made = made_with()
    made.wait = 0
    assert next(made, SHUT) is SHUT
    assert made.callable(3) == (0, None, 3) and next(made, SHUT) is SHUT


def test_few_rounds_make_it_wait_longer_and_many_end_that():
    made = gaining()
    assert arrivals(made) == 1
    waits = []
    for _ in range(6):
        made.callable(3)
        waits.append(arrivals(made))
        made.callable(3)  # begins late: no measure
        assert arrivals(made) == 1
    assert waits == [2, 4, 8, 16, 32, 64]
    made.callable(100)
    for _ in range(3):
        assert arrivals(made) == 1
        made.callable(8)
    made.callable(7)
    assert arrivals(made) == 2
    made.callable(8)
    assert arrivals(made) == 1


def test_waits_have_an_end():
    made = gaining()
    made.longest_wait = 5
    for _ in range(4):
        arrivals(made)
        made.callable(0)
        made.callable(0)
    assert made.wait == 5 and arrivals(made) == 6


def test_misses_and_exits_without_a_count_are_no_rounds():
    made = gaining()
    made.callable("no int")
    assert made.wait == 1 and made.misses == 1
    other = made_with(gate=True, iterations=(None,))
    other.wait = 0
    other.callable(100)
    other.callable(100)
    assert arrivals(other) > 1


def test_polls_are_no_measure():
    made = gaining()
    made.callable(-1)
    assert arrivals(made) == 1


def test_it_is_shut_while_traced_and_without_a_kernel():
    made = gated()
    sys.settrace(lambda *args: None)
    try:
        assert next(made, SHUT) is SHUT
    finally:
        sys.settrace(None)
    assert next(made, SHUT) is None
    made.enabled = False
    assert next(made, SHUT) is SHUT
    lazy = gated(prepare=lambda: None)
    assert next(lazy, SHUT) is None
    assert lazy.callable(100)[0] == -1
    assert [next(lazy, SHUT) for _ in range(10)] == [SHUT] * 10


@pytest.mark.parametrize("options", [{"rounds": (1,)}, {"rounds": (0, 1)}, {"rounds": 5}, {"rounds": ("x",)}])
def test_what_is_refused(options):
    with pytest.raises((TypeError, ValueError)):
        made_with(**options)
