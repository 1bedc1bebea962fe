"""Sizes of arrays in graphs that are reversed: symbols and numbers, and how they follow from operations."""
