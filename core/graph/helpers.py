"""Functions that kernels call where Python has no function for what they do."""

from __future__ import annotations

from typing import Any, List, Sequence


def part_of(owner: Any, start: Any, stop: Any, step: Any) -> Any:
    """``owner[start:stop:step]``."""
    return owner[start:stop:step]


def sorted_by(items: List[Any], keys: Sequence[Any], reverse: bool = False) -> List[Any]:
    """``sorted(items, key=..., reverse=...)`` where the keys are known: they are compared as ``sorted`` does."""
    return [items[position] for position in sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)]
