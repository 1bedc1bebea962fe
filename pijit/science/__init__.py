"""Functions for libraries of scientific computing: callbacks of SciPy.

`pijit` exports its function. An import of pijit must not import SciPy.
"""
