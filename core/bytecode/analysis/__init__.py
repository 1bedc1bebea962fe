"""Analyses of normalised instructions: basic blocks, liveness, use-def chains, definite assignment.

Capture and the linker ask for them. They change no instruction.
"""
