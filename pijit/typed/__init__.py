"""Types for type checkers and editors: options as a typed dict, and what `jit` returns.

`pijit` exports the dict. The compiler must not need a type of it at run time.
"""
