"""For tests of the C code."""

import sys

import pytest


@pytest.fixture
def table():
    from tests.native.launcher.native_kernels import Runtime  # it needs numba

    runtime_table = Runtime()
    yield runtime_table
    runtime_table.release_all()
    runtime_table.forget_kept()


@pytest.fixture(params=[False, True], ids=["code", "entrance"])
def entrance(request):
    return request.param


@pytest.fixture
def recursion_limit():
    before = sys.getrecursionlimit()
    yield sys.setrecursionlimit
    sys.setrecursionlimit(before)
