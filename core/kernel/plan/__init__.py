"""Plan: decisions about a graph, as data that `printer` shows, before a line is emitted.

`kernel.compile` makes the plan, and `emit` reads it. It writes no source.
"""
