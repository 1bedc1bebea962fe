"""Capture: the bytecode of a function is interpreted symbolically, and its regions become graphs.

`core.pipeline` calls `driver.capture`. Nothing here generates kernel source or runs user code.
"""
