"""Benchmarks: times as ratios against NumPy, numba, loops by hand and others, in one run.

`python -m benchmarks` and its siblings run them. No test measures time with them.
"""
