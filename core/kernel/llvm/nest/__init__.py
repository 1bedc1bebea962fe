"""Loop nests: fused element operations become LLVM loops with vector bodies.

The emitter gets the intrinsic of a nest from `nest.nest_intrinsic`. Nothing here knows the graph: a nest is a
`description` that the emitter made.
"""
