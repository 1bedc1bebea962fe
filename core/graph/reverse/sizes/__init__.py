"""Sizes of arrays in graphs that are reversed: symbols and numbers, and how they follow from operations.

`joint`, `code` and `backward` use it. It must not take two sizes for equal without a check.
"""
