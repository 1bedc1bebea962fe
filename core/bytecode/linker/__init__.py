"""Linker: a function's bytecode with calls of kernels in place of its regions.

`core.pipeline` calls it last. It verifies the code that it makes, and never runs it.
"""
