"""The just-in-time compiler: `function_state` serves the calls of jitted functions, `pipeline` makes entries.

`pijit` calls it. Nothing here imports `pijit.jit`, the command line or reports as text.
"""
