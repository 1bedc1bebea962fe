"""The sizes of slices.

`dims` calls it. It must not take a size for known that depends on a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Tuple, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.reverse.sizes.symbols import Constants, Dim, Size

if TYPE_CHECKING:
    from pijit.core.graph.reverse.sizes.dims import Dims


def measure_view(dims: Dims, op: Op, constants: Constants) -> None:
    """Set the sizes of a basic slice.

    Equal slices of equal sizes have one size. The length of ``x[i:i + n]`` is n, which the joint function requires,
    because the slice may reach beyond the array. Other ends that are computed are told apart by the value.
    """
    source, result = list(dims.of[op.args[0]]), cast(Value, op.result)
    ends, made = [constants.get(value, value) for value in op.args[1:]], []
    for item in op.attrs["index"]:
        if item == "n":
            made.append(cast(Dim, 1))
            continue
        dim, used = dims.found(source.pop(0)), item.count("v") + (item == "i")
        values, ends = ends[:used], ends[used:]
        if item == "e":
            made.append(dim)
        elif item != "i" and dims.are_static and type(dim) is int and all(type(value) is int for value in values):
            made.append(len(range(dim)[_slice(item, values)]))
        elif item != "i" and dims.distance(item, values) is not None:
            found = cast(Dim, dims.distance(item, values))
            dims.required.setdefault(result, []).append((len(made), found))
            made.append(found)
        elif item != "i":
            made.append(dims.part(dim, _piece(item, values), Size(result, len(made))))
    dims.of[result] = tuple(made + source)


def _slice(item: str, values: List[int]) -> slice:
    """The slice of an index item with these ends."""
    ends = list(values)
    return slice(*[ends.pop(0) if part == "v" else None for part in item[1:]])


def _piece(item: str, values: List[Any]) -> Tuple[object, ...]:
    """A key that slices of equal lengths share, such as ``[:-2]`` and ``[1:-1]``."""
    ends = list(values)
    start, stop = (ends.pop(0) if part == "v" else 0 for part in item[1:3])
    if item[3] == "-" and type(start) is type(stop) is int and start >= 0 and (stop < 0 or item[2] == "-"):
        return ("cut", start - stop)
    return (item, *values)
