"""Joint functions on disk: the sources and kernels of a gradient function, for later processes.

The key has the graph of the function, the shapes of its inputs, and the files of pijit. So a process that captures the
same graph needs neither reversal nor captures of the joint functions. Machine code is in the disk cache already; a
stored joint function refers to it (`core/kernel/kernel_record.py`). Only files that the user's own processes have
written are read, as with machine code.
"""

from __future__ import annotations

import functools
import os
import pickle
import types
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.graph.ir import PRINTED, Graph
from pijit.core.graph.kernel_key import graph_key
from pijit.core.kernel.disk_cache import DiskCache, find, logger, record_key
from pijit.core.kernel.kernel_record import KernelRecord
from pijit.core.kernel.symbols import is_numpys
from pijit.core.named_tuples import NamedTuple
from pijit.guards.facts import is_exactly

_NAMED = (types.FunctionType, types.BuiltinFunctionType, type, type(np.sum))
"""Kinds of callables that have a module and a name. Objects of other classes may hold anything of the program's."""


class StoredJoint(NamedTuple):
    """A joint function on disk.

    Attributes:
        source, backward_source: as in `Joint`.
        forward, backward: the kernels; the second is None if there is no second function.
    """

    source: str
    backward_source: str
    forward: KernelRecord
    backward: Optional[KernelRecord]


def joint_key(graph: Graph, *facts: Any) -> str:
    """The key of the joint function of a graph, or "" if other processes cannot tell that they have the same graph.

    Args:
        graph: the graph, before reversal.
        facts: what else the joint function depends on, as plain data.
    """
    text, objects = graph_key(graph)
    if objects or not all(_is_lasting(value) for block in graph.blocks for op in block.ops
                          for value in op.attrs.values()):
        return ""
    return record_key(("joint", text[0], tuple(ufunc.__name__ for ufunc in text[1]), text[2], facts, _files()))


def _is_lasting(value: Any) -> bool:
    """Whether the text of an attribute says all that it means, in every process."""
    if issubclass(type(value), (tuple, list)):
        return all(map(_is_lasting, value))
    if issubclass(type(value), np.ufunc):
        return is_numpys(value)
    if issubclass(type(value), np.dtype):
        return bool(value.isbuiltin)
    if issubclass(type(value), _NAMED):
        return (getattr(value, "__module__", None) or "").partition(".")[0] in ("numpy", "math", "builtins")
    return is_exactly(value, PRINTED) or issubclass(type(value), (np.generic, slice))


@functools.lru_cache(maxsize=None)
def _files() -> Tuple[Tuple[str, int, int], ...]:
    """Path, size and time of each Python file of pijit: other files may make other kernels of the same graph."""
    import pijit.core
    import pijit.guards

    found: List[Tuple[str, int, int]] = []
    for package in (pijit, pijit.core, pijit.guards):
        top = os.path.dirname(os.path.abspath(str(package.__file__)))
        for below, _, names in os.walk(top):
            for name in names:
                if name.endswith(".py"):
                    state = os.stat(os.path.join(below, name))
                    found.append((os.path.relpath(os.path.join(below, name), top), state.st_size, state.st_mtime_ns))
    return tuple(sorted(found))


def load(key: str) -> Optional[StoredJoint]:
    """The joint function under a key, or None."""
    data = find(key) if key else None
    try:
        found = pickle.loads(data) if data is not None else None
    except Exception as error:  # a class that has moved
        raise_asynchronous(error)
        logger.info("a joint function is not read: %s: %s", type(error).__name__, error)
        return None
    return found if issubclass(type(found), StoredJoint) else None


def save(key: str, stored: StoredJoint) -> None:
    """Keep a joint function, if what its guards compare with can be kept."""
    try:
        data = pickle.dumps(stored)
    except Exception as error:  # such as a reference to an object of this process
        raise_asynchronous(error)
        logger.info("a joint function is not kept: %s: %s", type(error).__name__, error)
        return
    DiskCache().save(key, data)


def rounded(limit: int) -> int:
    """The largest power of two up to a limit, so that processes with a little more or less memory share kernels."""
    return 1 << max(limit.bit_length() - 1, 0)


def shapes_of(inputs: Sequence[Any]) -> Tuple[Optional[Tuple[int, ...]], ...]:
    """The shapes of the inputs of a graph; None for those that are no arrays."""
    return tuple(one.shape if type(one) is np.ndarray else None for one in inputs)
