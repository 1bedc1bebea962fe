"""Abstract domain: the values of the symbolic interpreter, their lattice and their provenance.

All of `capture` uses it. It imports no other part of `capture`.
"""
