"""Codec: code objects to instructions and back, on every supported CPython.

`analysed_code` and the linker use it. It does not interpret instructions.
"""
