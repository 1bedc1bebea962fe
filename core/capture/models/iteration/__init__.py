"""Models of iteration: iterators, generators, comprehensions, `itertools`, `sum` and its siblings.

`registry` collects them. They must not step an iterator of the program while code is captured.
"""
