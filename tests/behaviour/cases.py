"""What the files of this folder share: cases, each of them of a group of behaviours in docs/behaviours.md."""

import numpy as np
import pytest

import pijit
from tests.harness import check, kernel_count, mode_config

X = np.linspace(0.5, 4.0, 11)
Y = np.linspace(3.0, -1.0, 11)
CUT = bool(mode_config().get("force_breaks"))
MACHINE_CODE = mode_config().get("backend") != "python"
OTHERS_IN_MACHINE_CODE = 1


class Case:
    """A function and the calls in which it has to behave as in plain Python.

    Args:
        group: the number of the group.
        f: the function.
        *args: its arguments.
        others: tuples of other arguments, for the calls behind those.
        aliased: tuples of arguments that share memory or objects.
        kernels: the least number of kernels of one of the entries that have to be there in the end.
        entries: the largest number of entries that may be there in the end.
        **kwargs: keyword arguments of all calls.
    """

    def __init__(self, group, f, *args, others=(), aliased=(), kernels=0, entries=None, **kwargs):
        self.group, self.f, self.args, self.kwargs = group, f, args, kwargs
        self.others, self.aliased, self.kernels, self.entries = others, aliased, kernels, entries

    def run(self):
        """Compare, and look at what was captured; machine code takes long to make, so of few kinds of arguments."""
        others = self.others[:OTHERS_IN_MACHINE_CODE] if MACHINE_CODE else self.others
        j = check(self.f, *self.args, others=others, aliased=() if MACHINE_CODE else self.aliased, **self.kwargs)
        expect(j, self.kernels, self.entries)


class Swallow:
    """A context manager that swallows exceptions of a kind."""

    def __init__(self, kind):
        self.kind, self.seen = kind, []

    def __enter__(self):
        return self.seen

    def __exit__(self, kind, value, trace):
        self.seen.append((kind, str(value)))
        return kind is not None and issubclass(kind, self.kind)


def expect(j, kernels=0, entries=None):
    """Fail if a jitted function has fewer kernels or more entries."""
    assert not j.state.failures
    assert kernel_count(j) >= kernels, "{} kernels wanted\n{}".format(kernels, pijit.explain(j))
    assert CUT or entries is None or len(j.state.entries) <= entries, list(j.state.recompiles)


def each(*cases):
    """A decorator of a test with the parameter `case`; with machine code, the first of each group that has kernels.

    What is captured is the same with either back end, so all cases run with the one that needs no compiler.
    """
    if MACHINE_CODE:
        first = {case.group: case for case in reversed(cases) if case.kernels}
        cases = sorted(first.values(), key=cases.index)
    names = ["{}-{}".format(case.group, case.f.__name__.strip("<>")) for case in cases]
    return pytest.mark.parametrize("case", cases, ids=names)


def group(*numbers):
    """A decorator of a test: the groups that it belongs to."""
    def mark(test):
        test.groups = numbers
        return test
    return mark
