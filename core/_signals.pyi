from typing import Any, Optional, Tuple

class Deferral:
    """A context manager: takes note of these signals; their handlers wait.

    Deferrals nest; the numbers of the outermost one count. Only the main thread may enter it, except with None, which
    defers nothing. The end of the last deferral gives the signals that came to their handlers, each once. An object
    that is freed before ``__exit__`` ends its deferral, too. Raises TypeError or ValueError for other arguments, and
    RuntimeError if it is entered twice.
    """

    def __init__(self, numbers: Optional[Tuple[int, ...]]) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: Any) -> None: ...

def forget() -> None:
    """End all deferrals without giving signals to handlers, in a forked child without the thread that deferred."""

def call_until_abort(function: int, first: int, second: int, third: int) -> Optional[str]:
    """Call the C function at an address with three pointers, without the GIL.

    Returns None if the function returned. If it called abort(), returns what it wrote to the C library's stderr; the
    objects at the pointers must not be used any more. One call runs at a time. Raises ValueError otherwise, and for the
    address 0.
    """
