"""Programs with inlined calls whose kernels leave at any operation that can: each exit leads to where nothing is done twice."""

import sys

import pytest

from tests.capture.containers import test_deques
from tests.capture.inlining import (
    test_inlining_cells,
    test_inlining_continuations,
    test_inlining_effects,
    test_inlining_return_kinds,
)
from tests.capture.iteration import test_generator_loops, test_long_dict_loops
from tests.capture.objects import test_special_methods
from tests.harness import check

MODULES = (test_inlining_continuations, test_inlining_cells, test_inlining_return_kinds, test_special_methods,
           test_inlining_effects, test_generator_loops, test_long_dict_loops, test_deques)
PROGRAMS = [row for module in MODULES for row in module.PROGRAMS]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_leaving_anywhere(f, args, others, leaves_often):
    j = check(f, *args(), others=[make() for make in others], config={"backend": "python", "force_breaks": None})
    assert not j.state.failures
    assert leaves_often or sys.version_info >= (3, 11) and f.__module__ == test_generator_loops.__name__, \
        "only loops over generators, which cannot be made in the middle from 3.11 on, may have no exits"
