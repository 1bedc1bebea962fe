"""Keys of kernels: graphs with equal keys share a kernel.

A key is the graph's text and the objects that the text only names. `core/entries/kernels.py` and
`core/kernel_names.py` call it.
"""

from __future__ import annotations

import struct
from typing import Any, Iterator, List, Tuple

import numpy as np

from pijit.core.graph.ir import PRINTED, Branch, Graph, Leave, Output, SideExit
from pijit.core.graph.printer import format_graph
from pijit.core.named_tuples import NamedTuple
from pijit.guards.facts import is_exactly


class GraphKey(NamedTuple):
    """Equal keys mean the same kernel.

    ``objects`` are the constants that leave by identity and are not plain values. Code that keeps ``key`` must keep
    them alive; otherwise other objects may get their ids.
    """

    key: Tuple[Any, ...]
    objects: Tuple[Any, ...]

    @property
    def unnamed(self) -> Tuple[Any, ...]:
        """The key without the name of the graph."""
        return (self.key[0].partition("\n")[2],) + self.key[1:]


def graph_key(graph: Graph) -> GraphKey:
    """The key of a graph.

    Example: ``key, objects = graph_key(graph)``
    """
    ufuncs: List[Any] = []
    bits: List[bytes] = []
    for block in graph.blocks:
        for op in block.ops:
            ufuncs += [value for value in op.attrs.values() if isinstance(value, np.ufunc)]
            bits += [_nan_bits(op.attrs["value"])] if op.name == "const" else []
    constants = [value for exit in _exits(graph) for output in exit.outputs for value in _constants(output)]
    objects = tuple(value for value in constants if not is_exactly(value, PRINTED))
    bits += [_nan_bits(value) for value in constants]
    return GraphKey((format_graph(graph), tuple(ufuncs), tuple(bits), tuple(map(id, objects))), objects)


def _nan_bits(value: Any) -> bytes:
    """The bits of a NaN, because all NaNs print alike; empty for other values."""
    if not (is_exactly(value, (float, complex)) or issubclass(type(value), np.inexact)) or value == value:
        return b""
    return struct.pack("dd", value.real, value.imag)


def _exits(graph: Graph) -> Iterator[SideExit]:
    for block in graph.blocks:
        for op in block.ops:
            if op.exit is not None:
                yield op.exit
        last = block.terminator
        arms = [last.exit] if isinstance(last, Leave) else [last.then, last.other] if isinstance(last, Branch) else []
        yield from (arm for arm in arms if isinstance(arm, SideExit))


def _constants(output: Output) -> Iterator[Any]:
    if output.kind == "const":
        yield output.value
    for part in output.parts:
        yield from _constants(part)
