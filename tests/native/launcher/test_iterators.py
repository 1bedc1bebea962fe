"""Iterators in launchers: read into words, moved, made anew; what does not fit is a miss."""

import sys

import numpy as np
import pytest

from tests.native.launcher.native_kernels import blocks_grown, launcher, native_kernel

ROW = ("typed_array", np.dtype("f8").num, 1, "C", True)
SEQUENCE, BACKWARDS = ("sequence_iterator", (ROW,)), ("reversed_iterator", (ROW,))
NESTED = ("enumerate", (("zip", (SEQUENCE, ("range_iterator",), BACKWARDS)),))


@native_kernel
def echo(frame):
    """Copies the first twenty input words to the outputs."""
    for i in range(20):
        frame[40 + i] = frame[2 + i]
    return 0


RANGED = (0, 15, 5, 5) if sys.version_info >= (3, 12) else None
"""The words of iter(range(10, 40, 5)) after a step, where it forgets where it has begun."""


def words_of(code, iterator, count):
    codes = (tuple(("int", 40 + i) for i in range(count)),)
    return launcher(echo, (code,), codes, width=count).callable(iterator)[1:]


def test_words_of_a_list_iterator_are_the_index_and_the_list():
    items, code = [1, 2, 3], ("list_iterator", (("object",),))
    iterator = iter(items)
    next(iterator)
    assert words_of(code, iterator, 2) == (1, id(items))
    for other in (iter(type("Sub", (list,), {})(items)), iter(tuple(items)), iter([])):
        list(other) if not hasattr(other, "__length_hint__") or other.__length_hint__() == 0 else None
        assert launcher(echo, (code,), ((),), width=0).callable(other)[0] == -1


def test_words_of_a_sequence_iterator_are_the_index_and_the_array():
    array = np.arange(5.0)
    iterator = iter(array)
    next(iterator), next(iterator)
    assert words_of(SEQUENCE, iterator, 5) == (2, array.ctypes.data, id(array), 5, 8)
    iterator = reversed(array)
    next(iterator), next(iterator)
    assert words_of(BACKWARDS, iterator, 5) == (2, array.ctypes.data, id(array), 5, 8)


def test_words_of_nested_iterators_follow_each_other():
    array, other = np.arange(5.0), np.arange(9.0)
    iterator = enumerate(zip(array, range(10, 40, 5), reversed(other)), 7)
    next(iterator)
    forth, back = (1, array.ctypes.data, id(array), 5, 8), (7, other.ctypes.data, id(other), 9, 8)
    assert words_of(NESTED, iterator, 15) == (8,) + forth + (RANGED or (1, 10, 5, 6)) + back


def ended(iterator):
    list(iterator)
    return iterator


@pytest.mark.parametrize("code, value", [
    (SEQUENCE, lambda: iter([1.0])), (SEQUENCE, lambda: reversed(np.zeros(3))), (SEQUENCE, lambda: ended(iter(np.zeros(3)))),
    (SEQUENCE, lambda: iter(np.zeros((3, 1)))), (SEQUENCE, lambda: iter(np.zeros(3, "f4"))),
    (SEQUENCE, lambda: iter(np.zeros(6)[::2])), (SEQUENCE, lambda: iter(np.zeros(3, ">f8"))),
    (SEQUENCE, lambda: iter(np.zeros(3).view(np.recarray))), (SEQUENCE, lambda: iter(read_only())),
    (BACKWARDS, lambda: iter(np.zeros(3))), (BACKWARDS, lambda: ended(reversed(np.zeros(3)))),
    (("enumerate", (SEQUENCE,)), lambda: enumerate(np.zeros(3), 2 ** 62)),
    (("enumerate", (SEQUENCE,)), lambda: enumerate(np.zeros(3), 2 ** 80)),
    (("enumerate", (SEQUENCE,)), lambda: enumerate([1.0])), (("enumerate", (SEQUENCE,)), lambda: iter(np.zeros(3))),
    (("zip", (SEQUENCE,)), lambda: zip(np.zeros(3), np.zeros(3))), (("zip", (SEQUENCE,)), lambda: zip([1.0])),
    (("zip", (SEQUENCE, SEQUENCE)), lambda: zip(np.zeros(3)))])
def test_an_iterator_that_does_not_fit_is_a_miss(code, value):
    assert launcher(echo, (code,), ((),), width=1).callable(value()) == (-1, None)


def read_only():
    array = np.zeros(3)
    array.flags.writeable = False
    return array


@pytest.mark.skipif(sys.version_info < (3, 10), reason="zip has no keyword strict")
def test_a_strict_zip_is_a_miss():
    strict = zip(np.zeros(3), strict=True)
    assert launcher(echo, (("zip", (SEQUENCE,)),), ((),), width=1).callable(strict) == (-1, None)


@pytest.mark.parametrize("layout, array, fits", [
    ("A", np.zeros(6)[::2], True), ("C", np.zeros(6)[::2], False), ("F", np.zeros(6), False), ("C", np.zeros(6), True),
    ("F", np.zeros((3, 2), order="F"), True), ("F", np.zeros((3, 2)), False), ("A", np.zeros((3, 2)), True)])
def test_layouts(layout, array, fits):
    code = ("sequence_iterator", (("typed_array", array.dtype.num, array.ndim, layout, True),))
    assert launcher(echo, (code,), ((),), width=0).callable(iter(array))[0] == (0 if fits else -1)


@native_kernel
def two_further(frame):
    """Moves the counters of NESTED by two steps."""
    frame[40] = frame[2] + 2
    frame[41] = frame[3] + 2
    frame[42] = frame[8] + 2
    frame[43] = frame[12] - 2
    return 0


def native_and_python():
    yield launcher(two_further, (NESTED,), ((("advance", 0, 40),),), width=1)
    yield launcher(lambda iterator: (0, 3, 3, 2 if RANGED else 3, 5), (NESTED,), ((("advance", 0, 40),),), width=1)


def test_advance_moves_all_of_the_object():
    for tested in native_and_python():
        iterator = enumerate(zip(np.arange(5.0), range(10, 40, 5), reversed(np.arange(9.0))))
        next(iterator)
        assert tested.callable(iterator)[1] is iterator
        assert list(iterator) == [(3, (3.0, 25, 5.0)), (4, (4.0, 30, 4.0))]


@native_kernel
def array_and_numbers(frame):
    frame[40] = frame[3]
    frame[41] = 2
    frame[42] = 9
    return 0


MADE = [("sequence_iterator", (("array", 40),), 41), ("reversed_iterator", (("array", 40),), 41),
        ("enumerate", (("sequence_iterator", (("array", 40),), 41),), 42),
        ("zip", (("sequence_iterator", (("array", 40),), 41), ("stepped", (("const", (1, 2, 3)),), 1))),
        ("stepped_reversed", (("const", [1, 2, 3]),), 1), ("stepped", (("const", {"a": 1, "b": 2}),), 1)]


def expected(array):
    one, two, three, four, five, six = (iter(array), reversed(array), iter(array), iter(array), reversed([1, 2, 3]),
                                        iter({"a": 1, "b": 2}))
    for iterator in (one, one, two, two, three, three, four, four, five, six):
        next(iterator)
    return [one, two, enumerate(three, 9), zip(four, iter((2, 3))), five, six]


def test_iterators_are_made_at_their_position():
    array = np.arange(5.0)
    made = launcher(array_and_numbers, (("array", 1),), (tuple(MADE),), width=len(MADE)).callable(array)[1:]
    for got, want in zip(made, expected(array)):
        assert type(got) is type(want) and list(got) == list(want)


def test_python_kernels_give_parts_and_words():
    array = np.arange(5.0)
    tested = launcher(lambda x: (0, x, 2, x, 2, x, 2, 9, x, 2), (("array", 1),), (tuple(MADE),), width=len(MADE))
    for got, want in zip(tested.callable(array)[1:], expected(array)):
        assert type(got) is type(want) and list(got) == list(want)


@pytest.mark.parametrize("inputs, exits, error", [
    ((("sequence_iterator", (("int",),)),), (), ValueError), ((("enumerate", ()),), (), ValueError),
    ((("enumerate", (ROW,)),), (), ValueError), ((("zip", ROW),), (), ValueError), ((("zip", (ROW,)),), (), ValueError),
    ((("typed_array", 12, 0, "C", True),), (), ValueError), ((("typed_array", 12, 1, "CF", True),), (), ValueError),
    ((SEQUENCE,), ((("advance", 0, 200),),), ValueError), ((NESTED,), ((("advance", 0, 197),),), ValueError),
    ((SEQUENCE,), ((("enumerate", (), 40),),), ValueError), ((SEQUENCE,), ((("stepped", (("int", 2),), -1),),), ValueError),
    ((SEQUENCE,), ((("sequence_iterator", (("int", 2), ("int", 2)), 40),),), ValueError)])
def test_invalid_codes_are_refused(inputs, exits, error):
    with pytest.raises(error):
        launcher(echo, inputs, exits, width=2)


def test_objects_that_cannot_be_iterated_are_errors():
    tested = launcher(echo, (("int",),), ((("stepped", (("int", 2),), 0),),), width=1)
    with pytest.raises(TypeError):
        tested.callable(5)


def test_nothing_leaks():
    array = np.arange(5.0)
    make = launcher(array_and_numbers, (("array", 1),), (tuple(MADE),), width=len(MADE))
    wrong = launcher(echo, (("int",),), ((("zip", (("stepped", (("const", (1,)),), 0), ("int", 2))),),), width=1)
    moving = list(native_and_python())

    def move():
        for tested in moving:
            tested.callable(enumerate(zip(array, range(10, 40, 5), reversed(array))))

    def fail():
        with pytest.raises(TypeError):
            wrong.callable(5)

    def construct():
        launcher(echo, (NESTED,), ((("advance", 0, 40),) + tuple(MADE),), width=9)

    before = sys.getrefcount(array)
    for function in (lambda: make.callable(array), move, fail, construct):
        assert min(blocks_grown(function) for _ in range(3)) < 100
    assert sys.getrefcount(array) == before
