"""Symbolic interpreter: what each opcode does to the abstract frame.

The analysis and the graph builder run it. `models` has the meaning of calls and operators.
"""
