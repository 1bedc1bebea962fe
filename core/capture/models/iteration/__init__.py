"""Models of iteration: iterators, generators, comprehensions, `itertools`, `sum` and its siblings.

`registry` collects them.
"""
