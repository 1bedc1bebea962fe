"""Saved rows of loops: how many iterations are saved, where arrays live meanwhile, and what is computed again.

`sequence` and `joint` use it. It must not exceed the limit of memory that it gets.
"""
