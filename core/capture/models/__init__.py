"""Models: the meaning of operators, functions and methods on abstract values.

The interpreter finds them through `registry`. A model that is not certain returns MISS, and the call stays bytecode.
"""
