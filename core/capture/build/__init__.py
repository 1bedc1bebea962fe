"""Graph building: a region becomes a graph, its facts become guards, its edges become exits.

`driver` calls it after the analysis. It adds no assumption without a guard or a check.
"""
