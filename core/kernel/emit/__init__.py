"""Emitter: a planned graph becomes kernel source over raw words.

`kernel.compile` calls it. It writes what `plan` decided, and decides nothing from text.
"""
