"""Kernels: a graph becomes machine code with a fixed interface, kept in memory and on disk.

`core.entries` calls `compile_graph`. Nothing here knows bytecode or abstract values.
"""
