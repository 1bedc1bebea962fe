"""Models of NumPy: arrays, views, indexing, reductions, scans, random draws and library calls.

`registry` collects them. They call NumPy on samples alone, never on arrays of the program.
"""
