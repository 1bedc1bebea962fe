"""Another module: its functions read and write its own globals."""

seen = 0.0
counter = 0
scale = 3.0


def remember(x):
    """Note an array; returns what was noted before."""
    global seen, counter
    before = seen
    seen = x * scale
    counter += 1
    return before


def scaled(x, *args, **kwargs):
    """Read the scale of this module."""
    y = x * scale + len(args)
    return y - kwargs.get("shift", 1.0)
