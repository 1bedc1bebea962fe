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
