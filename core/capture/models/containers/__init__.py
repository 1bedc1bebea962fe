"""Models of containers: lists, dictionaries, sets, strings, deques, counters and heaps.

`registry` collects them. They must not run methods that the program has written.
"""
