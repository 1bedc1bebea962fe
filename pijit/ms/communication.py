"""`mindspore.communication` for a group of one process."""

from __future__ import annotations

from typing import Any


def init(backend_name: Any = None) -> None:
    """Accepted; there is one process."""


def release() -> None:
    """Accepted; there is one process."""


def get_rank(group: Any = None) -> int:
    """The rank of this process: 0."""
    return 0


def get_group_size(group: Any = None) -> int:
    """The number of processes: 1."""
    return 1
