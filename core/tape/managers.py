"""Context managers in rewritten bytecode: `__enter__` and `__exit__` in Python are called through the tape.

`instrument` has its functions as helpers. They must do what the with statement does.
"""

from __future__ import annotations

from typing import Any

from pijit.core.tape.calls import call
from pijit.core.tape.special_methods import python_method
from pijit.core.tape.state import STATE


class RecordedManager:
    """Replaces a context manager in a with statement and calls its methods through the tape.

    Args:
        manager: the manager.
    """

    __slots__ = ("_manager",)

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def __enter__(self) -> Any:
        return _called(self._manager, "__enter__")

    def __exit__(self, *error: Any) -> Any:
        return _called(self._manager, "__exit__", *error)


for _method in (RecordedManager.__enter__, RecordedManager.__exit__):
    _method.tape_aware = True  # type: ignore[attr-defined]


def _called(manager: Any, name: str, *args: Any) -> Any:
    method = python_method(manager, name)
    if method is None:
        return getattr(type(manager), name)(manager, *args)
    return call(method, (manager,) + args)


def entered(manager: Any) -> Any:
    """The manager that a with statement enters; one whose class lacks a method stays unchanged and raises as usual."""
    methods = [python_method(manager, name) for name in ("__enter__", "__exit__")]
    there = all(hasattr(type(manager), name) for name in ("__enter__", "__exit__"))
    return RecordedManager(manager) if STATE.tapes and there and any(methods) else manager
