"""For tests of the C code."""

import pytest
from native_kernels import Runtime


@pytest.fixture
def table():
    runtime_table = Runtime()
    yield runtime_table
    runtime_table.release_all()
    runtime_table.forget_kept()
