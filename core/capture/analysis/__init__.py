"""Data-flow analysis: abstract values to a fixed point over block versions, and the regions to compile.

`driver` calls it.
"""
