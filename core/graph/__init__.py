"""Intermediate representation: graphs of typed operations, their verifier, printer and loops.

Capture builds graphs, and `kernel` compiles them. Nothing here knows bytecode.
"""
