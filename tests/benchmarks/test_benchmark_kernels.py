"""The versions of each benchmark's kernel agree: NumPy, pijit to the last bit, the loops for numba run as Python."""

import numpy as np
import pytest

import pijit
from benchmarks.cases.families import FAMILIES
from benchmarks.competitors import WARM_UP, differ, far, outcome

TINY = 256
"""Elements of the largest array."""

CASES = [(family, case) for family, cases in FAMILIES.items() for case in cases]


def arguments(case, dtype):
    """Those of one call, of the tiny size."""
    return case.make(TINY * np.dtype(dtype).itemsize, dtype)


@pytest.mark.parametrize("family, case", CASES, ids=[case.name for _, case in CASES])
def test_agree(family, case):
    dtype = case.dtypes[0]
    expected = outcome(case.function, arguments(case, dtype))
    jitted = pijit.jit(case.function, jit_config={"backend": "python"})
    for _ in range(WARM_UP):
        assert not differ(expected, outcome(jitted, arguments(case, dtype)))
    if case.tuned is not None:
        assert not far(expected, outcome(case.tuned, arguments(case, dtype)))


def test_enough_and_each_named_once():
    names = [case.name for _, case in CASES]
    assert len(names) >= 40 and len(set(names)) == len(names)
    assert all(len(case.sizes) == 3 and case.tuned is not case.function or case.sizes for _, case in CASES)


@pytest.mark.parametrize("other, word", [(np.ones(3, np.float32), "dtype"), (np.ones((3, 1)), "shape"), (1.0, "type"),
                                         (np.array([1.0, 1.0, np.nextafter(1.0, 2.0)]), "bits"), (np.ones(3), "")])
def test_differ_names_what_is_not_the_same(other, word):
    found = differ([np.ones(3)], [other])
    assert word in found and bool(word) == bool(found)


def test_far_forgives_rounding_alone():
    assert not far([np.array([1.0, 1e6])], [np.array([1.0 + 1e-12, 1e6])])
    assert far([np.array([1.0, 2.0])], [np.array([1.0, 2.1])]) == "other values"
    assert far([np.ones(2)], [np.ones(3)]) == "other shape"
