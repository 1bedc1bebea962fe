"""Errors of reversal."""


class Irreversible(Exception):
    """A graph that is not reversed; the message says why. Its function uses the tape."""


class OtherShapes(Exception):
    """A joint function was called with sizes, conditions or trip counts for which it was not made."""


class TooLarge(OtherShapes):
    """A loop would save more than its limit, if it saved each iteration."""
