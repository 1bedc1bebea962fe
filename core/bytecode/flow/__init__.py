"""Control flow: successors, the block stack, handlers and the depth of the operand stack.

Normalisation, analyses and the linker use it. One module serves one CPython family.
"""
