from typing import Tuple

def defer(numbers: Tuple[int, ...]) -> None:
    """Take note of these signals; their handlers wait. Nests: the numbers of the outermost call count.

    Only the main thread may call this. Raises TypeError or ValueError for other arguments.
    """

def deliver() -> None:
    """Undo one defer(). The last one gives the signals that came to their handlers, each once."""

def forget() -> None:
    """Undo all defer() without giving signals to handlers, in a forked child without the thread that deferred."""
