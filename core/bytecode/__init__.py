"""Bytecode: code objects become instructions with control and data flow, and linked code objects.

Capture reads it through `analysed_code`. It knows no abstract values, graphs or kernels.
"""
