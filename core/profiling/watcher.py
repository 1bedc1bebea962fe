"""The watcher of compilations: an object that is told about entries and compilations while profiling is on.

`core/function_state.py` and `core/entries/kernels.py` call `entry_made` and `compiling`. `collection.py` sets the
watcher.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ContextManager, Optional

if TYPE_CHECKING:
    from pijit.core.entries.entry import Entry
    from pijit.core.function_state import State

_NOTHING: ContextManager[Any] = nullcontext()


class Watcher:
    """What is told about entries and compilations."""

    def entry_made(self, state: State, entry: Entry) -> None:
        """A function has a new entry."""
        raise NotImplementedError

    def compiling(self, state: State) -> ContextManager[Any]:
        """The context in which a function is captured or a kernel of it is compiled."""
        raise NotImplementedError


class _Current:
    watcher: Optional[Watcher] = None


def set_watcher(watcher: Optional[Watcher]) -> None:
    """Tell an object about entries and compilations; None: none."""
    _Current.watcher = watcher


def entry_made(state: State, entry: Entry) -> None:
    """A function has a new entry."""
    if _Current.watcher is not None:
        _Current.watcher.entry_made(state, entry)


def compiling(state: Optional[State]) -> ContextManager[Any]:
    """The context in which a function is captured or a kernel of it is compiled; None: it exists no longer."""
    return _Current.watcher.compiling(state) if _Current.watcher is not None and state is not None else _NOTHING
