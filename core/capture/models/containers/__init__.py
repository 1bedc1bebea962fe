"""Models of containers: lists, dictionaries, sets, strings, deques, counters and heaps.

`registry` collects them.
"""
