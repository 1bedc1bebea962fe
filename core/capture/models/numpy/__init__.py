"""Models of NumPy: arrays, views, indexing, reductions, scans, random draws and library calls.

`registry` collects them.
"""
