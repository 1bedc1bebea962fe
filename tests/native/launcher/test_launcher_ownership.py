"""The launcher: what it owns, gives back, and leaves behind."""

import gc
import sys
import weakref

import numpy as np
import pytest

from pijit.core import _launcher
from tests.native.launcher.native_kernels import blocks_grown, launcher
from tests.native.launcher.test_launcher import (
    FETCH,
    FETCH_CODES,
    FETCH_EXITS,
    INT,
    choose,
    echo,
    guarded,
    make_array,
    retain_release,
    scalars,
)


def expecting(error, function):
    def call():
        try:
            function()
        except error:
            return
        raise AssertionError("no %s" % error.__name__)

    return call


ALL_OUTPUTS = (("fetched", 0), ("const", 12.5), ("tuple", (("int", 2), ("tuple", (("float", 3), ("float", 4))))),
               ("int", 2), ("float", 40), ("bool", 40), ("complex", 40), ("range", 40), ("range_iterator", 40),
               ("array", 3), ("object", 3)) + tuple(("scalar", 40, value.dtype) for value in scalars())


def leak_cases():
    array = np.arange(1000.0)
    everything = launcher(echo, (("array", 1),), (ALL_OUTPUTS,), width=len(ALL_OUTPUTS) + 2)
    maker = launcher(make_array, INT, ((("array", 40),),))
    holder = launcher(retain_release, (("array", 1), ("array", 1)), ((("array", 40), ("array", 199)),))
    python = launcher(lambda x: (0, x + 1000, [x]), INT, ((("int", 40), ("object", 41)),))
    short = launcher(lambda x: (0, x + 1000), INT, ((("int", 40), ("object", 41)),))
    large = launcher(choose, INT, ((("object", 600),),), words=700)
    return {
        "every output": lambda: everything.callable(array),
        "miss": lambda: everything.callable([]),
        "arrays": lambda: maker.callable(3000),
        "exception": expecting(ValueError, lambda: maker.callable(-1)),
        "half-built result": expecting(SystemError, lambda: holder.callable(array, array)),
        "unknown exit": expecting(SystemError, lambda: maker.callable.__self__ and large.callable(5)),
        "large frame": expecting(SystemError, lambda: large.callable(0)),
        "large frame declines": lambda: large.callable(-1),
        "Python kernel": lambda: python.callable(1 << 40),
        "Python kernel, too few": expecting(SystemError, lambda: short.callable(1 << 40)),
        "construction": lambda: launcher(echo, (("array", 1),), (ALL_OUTPUTS,), width=40),
        "refused construction": expecting(ValueError, lambda: launcher(echo, INT, (ALL_OUTPUTS[1:],), width=2)),
    }


@pytest.mark.parametrize("case", [
    "every output", "miss", "arrays", "exception", "half-built result", "unknown exit", "large frame", "large frame declines",
    "Python kernel", "Python kernel, too few", "construction", "refused construction"])
def test_nothing_leaks(case):
    assert blocks_grown(leak_cases()[case]) < 100


def test_references_are_given_back():
    value, constant = object(), object()
    tested = launcher(echo, (("skip",),), ((("fetched", 0), ("const", constant)),))
    before = sys.getrefcount(value), sys.getrefcount(constant)
    for _ in range(1000):
        tested.callable(value)
    assert (sys.getrefcount(value), sys.getrefcount(constant)) == before


def test_cycles_are_collected():
    class Owner:
        pass

    owner = Owner()
    alive = weakref.ref(owner)
    container = [owner]
    tested = _launcher.Launcher(None, {}, {}, INT, 8, 3, lambda x, c=container: None, ((("const", container),),), 1, "test",
                                owner)
    container.append(tested)
    owner.callable = tested.callable
    del tested, owner, container
    gc.collect()
    assert alive() is None


def test_guard_program_leaves_no_references():
    program, namespace, tested = guarded(FETCH, FETCH_CODES, FETCH_EXITS)
    value = object()
    for arguments in [(5, value), ("5", value), (2 ** 70, value)]:
        assert blocks_grown(lambda: tested.callable(*arguments)) < 100
