"""Models of functions as values: callees, closures, partials, recursion, star arguments.

`registry` collects them. They must not run a function of the program.
"""
