"""Makes `benchmarks` importable, as for the tests of the benchmarks themselves."""

from tests.benchmarks import conftest  # noqa: F401
