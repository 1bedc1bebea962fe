"""LLVM back end: kernel source becomes LLVM IR, and numba's code generator makes machine code.

`kernel.compile` calls it. It knows words and intrinsics, not graphs.
"""
