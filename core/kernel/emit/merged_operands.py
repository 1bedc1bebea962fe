"""Merged operands: a nest reads an array once that several of its operands are, and has each scalar once.

``u[1:] - c * u[1:] * (u[1:] - u[:-1])`` makes three views of the same elements. LLVM cannot know that their addresses
are equal, if they are parameters of a function, and would load each. `fused_nest.run_nest` calls this.
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.llvm.nest.description import Nest


def merge_operands(nest: Nest, words: Sequence[Expression]) -> Tuple[Nest, List[Expression]]:
    """The nest and its words without operands that are equal to earlier ones.

    Args:
        nest: a nest.
        words: data and strides of its arrays, its scalars, and further arguments.
    Returns: a nest with the same results, and its words.
    """
    arrays = _words_of_arrays(nest, words)
    first = sum(map(len, arrays))
    kept, merged = _distinct(_keys_of_arrays(nest, arrays))
    scalars = words[first:first + len(nest.scalars)]
    kept_scalars, merged_scalars = _distinct(list(zip(nest.scalars, map(str, scalars))))
    if len(kept) == nest.read and len(kept_scalars) == len(scalars):
        return nest, list(words)
    numbers = merged + [len(kept) + number for number in merged_scalars]
    removed = nest.read + len(scalars) - len(kept) - len(kept_scalars)
    numbers += [number - removed for number in range(len(numbers), len(numbers) + len(nest.steps))]
    targets = list(range(nest.read, len(nest.arrays)))
    taken = kept + targets
    found = nest._replace(
        arrays="".join(nest.arrays[k] for k in taken), lasts="".join(nest.lasts[k] for k in taken),
        scalars="".join(nest.scalars[k] for k in kept_scalars),
        steps=tuple(step._replace(operands=tuple(numbers[k] for k in step.operands)) for step in nest.steps),
        same=merged[nest.same] if nest.same >= 0 else -1,
        beside=tuple(merged[nest.beside[k]] if nest.beside[k] >= 0 else -1 for k in taken) if nest.beside else (),
        families=tuple(nest.families[k] for k in kept) if nest.families else (),
        rolled=tuple((merged[k], axis) for k, axis in nest.rolled))
    given = [word for k in taken for word in arrays[k]] + [scalars[k] for k in kept_scalars]
    return found, given + list(words[first + len(scalars):])


def _words_of_arrays(nest: Nest, words: Sequence[Expression]) -> List[List[Expression]]:
    found, place = [], 0
    for k in range(len(nest.arrays)):
        size = 1 + nest.ndim - (nest.sums and k >= len(nest.arrays) - nest.targets)
        found.append(list(words[place:place + size]))
        place += size
    return found


def _keys_of_arrays(nest: Nest, arrays: Sequence[Sequence[Expression]]) -> List[Any]:
    """For each array that is read, a key that equal ones share. A rolled array is equal to no other."""
    rolled, found = {k for k, _ in nest.rolled}, []  # type: Any, List[Any]
    for k in range(nest.read):
        whole = nest.beside[k] if nest.beside else -1
        data, *strides = map(str, arrays[k])
        same = getattr(arrays[k][0], "value", None) == 0
        place = (-1, data) if whole < 0 else found[whole][1] if same else (whole, data)
        found.append((k if k in rolled else -1, place, tuple(strides), nest.arrays[k], nest.lasts[k]))
    return found


def _distinct(keys: Sequence[Any]) -> Tuple[List[int], List[int]]:
    """The places of the first of equal keys, and for each key the place of its first one among these."""
    places: Dict[Any, int] = {}
    kept: List[int] = []
    merged: List[int] = []
    for number, key in enumerate(keys):
        if key not in places:
            places[key] = len(kept)
            kept.append(number)
        merged.append(places[key])
    return kept, merged
