"""Loop nests: fused element operations become LLVM loops with vector bodies.

`llvm.intrinsics` calls it with a description that the emitter made.
"""
