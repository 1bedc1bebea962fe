"""Models of objects: instances that do not escape, special methods, named tuples, introspection.

`registry` collects them.
"""
