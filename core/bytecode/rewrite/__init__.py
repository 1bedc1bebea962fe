"""Rewrites of whole code objects: generators and cells as plain code, calls of helpers for the tape.

Capture and the tape use them. The rewritten code has the effects of the original.
"""
