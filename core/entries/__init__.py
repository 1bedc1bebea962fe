"""The parts of an entry: kernels of graphs, launch sites, call sites, linked code.

`core.pipeline` makes them one after the other. Nothing here decides when a call needs an entry.
"""
