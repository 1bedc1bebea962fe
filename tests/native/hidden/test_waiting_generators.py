"""Exits that hand over generators which wait at a yield, from CPython 3.11 on: they are made by code that begins there."""

import gc
import inspect
import sys
from types import FunctionType

import pytest

if sys.version_info < (3, 11):
    pytest.skip("frames of generators are made", allow_module_level=True)

from pijit.core._launcher import Launcher
from pijit.core.bytecode.normal_form.normalise import normal_function
from pijit.core.bytecode.rewrite.generator_steps import START, GeneratorCode, readable


def scaled(xs, k, *more, by=1):
    for x in xs:
        yield x * k
        k += by


def launcher(function, how, *values, kernel=lambda n: (0,)):
    code = (("generator", tuple(("const", value) for value in (function,) + values), how),)
    return Launcher(None, {}, {}, (("int",),), 3, 3, kernel, (code,), 1, "test")


def point_of(function):
    return next(instr.index for instr in normal_function(readable(function.__code__)).instructions
                if instr.opname == "YIELD_VALUE")


HOW = GeneratorCode(scaled.__code__).plan(point_of(scaled), ("by", "k"))


def generator(*values, function=scaled, how=HOW):
    number, made = launcher(function, how, *values).callable(1)
    assert number == 0
    return made


def test_a_generator_waits():
    made = generator(2, 10, iter([3, 4]))
    assert inspect.getgeneratorstate(made) == "GEN_SUSPENDED" and made.gi_frame.f_locals == {"by": 2, "k": 10}
    assert (made.__name__, made.__qualname__, made.gi_frame.f_globals) == ("scaled", "scaled", globals())
    assert list(made) == [36, 56]


def test_a_generator_that_has_not_begun():
    made = generator("ab", 2, 1, (), function=scaled, how=GeneratorCode(scaled.__code__).plan(START, ("xs", "k", "by", "more")))
    assert inspect.getgeneratorstate(made) == "GEN_CREATED" and list(made) == ["aa", "bbb"]


def test_names_and_variables_of_its_function():
    other = FunctionType(scaled.__code__, {"__name__": "elsewhere"}, "other")
    other.__qualname__ = "Else.other"
    made = generator(1, 2, iter("x"), function=other)
    assert (made.__name__, made.__qualname__, made.gi_frame.f_globals) == ("other", "Else.other", other.__globals__)

    def counting(xs):
        for x in xs:
            yield x + shift

    shift = 5
    made = generator(iter([1]), function=counting, how=GeneratorCode(counting.__code__).plan(point_of(counting), ()))
    shift = 7
    assert list(made) == [8]


@pytest.mark.parametrize("how", [5, (), (scaled.__code__, (0,)), (5, (0,), True), (test_a_generator_waits.__code__, (), True),
                                 HOW[:1] + ((None,), True), HOW[:2] + (1,)])
def test_what_is_no_plan(how):
    with pytest.raises(ValueError, match="not how a generator waits"):
        launcher(scaled, how)


@pytest.mark.parametrize("function, how, values", [
    (len, HOW, (1, 2, 3)), (scaled, HOW, (1, 2)), (scaled, HOW, (1, 2, 3, 4)), (lambda: HOW, HOW[:1] + ((99, 0, 1), True), (1, 2, 3)),
    (scaled, HOW[:1] + ((-1, 0, 1), True), (1, 2, 3))], ids=["builtin", "too few", "too many", "no argument", "negative"])
def test_functions_that_do_not_fit(function, how, values):
    with pytest.raises(SystemError, match="not the one that it was compiled for"):
        launcher(function, how, *values).callable(1)


def test_nobody_sees_it_made():
    """Not even a trace function that is set while the kernel runs: before that no kernel would run."""
    def trace(frame, event, argument):
        seen.append((frame.f_code.co_name, event))

    def kernel(n):
        sys.settrace(trace)
        return (0,)

    seen = []
    launch = launcher(scaled, HOW, 1, 2, iter("x"), kernel=kernel).callable
    try:
        made = launch(1)[1]
        point_of(scaled)
    finally:
        sys.settrace(None)
    assert seen[0] == ("point_of", "call") and list(made) == ["xxx"]


def test_nothing_is_lost():
    class Item(list):
        """What a generator keeps."""

    def once():
        made = generator([1], [Item()], iter([2]))
        next(made)
        made.close()
        generator([1], [Item()], iter([2]))

    def alive():
        gc.collect()
        return sum(isinstance(one, (Item, FunctionType)) for one in gc.get_objects())

    once()
    before = alive(), sys.getrefcount(HOW[0]), sys.getrefcount(scaled)
    for _ in range(100):
        once()
    assert (alive(), sys.getrefcount(HOW[0]), sys.getrefcount(scaled)) == before
