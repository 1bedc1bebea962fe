"""Forms of code: which of several sources stands for an operation, and how large the blocks of a loop are.

`plan.group_plans` and `plan.skewing` ask, and the modules of `emit` write a form by a table. Nothing here writes
source.
"""
