"""Tape-based reverse-mode automatic differentiation of bytecode.

Rewritten code records the operations on active values; a backward sweep then computes the adjoints. A number is active
by the identity of its object, an array by the memory that it views. User code sees plain arrays and numbers.
`instrument` rewrites code objects, `operations` is called by rewritten bytecode, and `tape` holds the records.
"""
