"""Stores in kernel source: in place, in order, skewed, tiled, in strips, scattered and delayed.

`kernel_emitter` calls them. They must not decide whether a store is direct: `plan/store_plan.py` does.
"""
