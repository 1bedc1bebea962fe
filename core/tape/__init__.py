"""Reverse-mode differentiation of bytecode: rewritten code records what active values go through, and a sweep goes back.

An active number is known by its object, an active array by the memory it looks into. User code sees plain arrays and numbers.
`operations` is what rewritten bytecode calls, `tape` holds what was recorded, `instrument` rewrites code objects.
"""
