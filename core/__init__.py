"""The just-in-time compiler: `pipeline` and `entries` serve the calls of jitted functions.

`pijit` calls it. Nothing here imports `pijit.jit`, the command line or reports as text.
"""
