"""Inlining: the body of a callee takes the place of its call.

Models of functions call it.
"""
