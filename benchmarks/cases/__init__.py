"""The programs that `python -m benchmarks` measures: one module per family, listed in `families.py`."""
