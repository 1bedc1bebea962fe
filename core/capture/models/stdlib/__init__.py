"""Models of the standard library: context managers and the environment.

`registry` collects them.
"""
