"""Instructions of linked code: how each CPython family loads, stores, calls and jumps.

The linker and rewrites of bytecode use it. It decides nothing about what is linked.
"""
