"""The exception of graphs that are not reversed."""

from __future__ import annotations


class Irreversible(Exception):
    """A graph has no joint function; the message says why, as the text of PJ510."""
