"""Models of scalars: calls of number types, `math`, complex numbers.

`registry` collects them.
"""
