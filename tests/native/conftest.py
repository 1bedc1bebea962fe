"""For tests of the C code."""

import pytest


@pytest.fixture
def table():
    from native_kernels import Runtime  # it needs numba

    runtime_table = Runtime()
    yield runtime_table
    runtime_table.release_all()
    runtime_table.forget_kept()
