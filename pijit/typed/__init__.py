"""Types for type checkers and editors: options as a typed dict, and what `jit` returns."""
