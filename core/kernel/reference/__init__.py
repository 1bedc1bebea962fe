"""Reference back end: a graph becomes a Python function over the real objects.

`backend="python"` and the tests use it to compare the linker without machine code.
"""
