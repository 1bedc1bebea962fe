"""Graph in, kernel out: the one entry point of the kernel compiler."""

from __future__ import annotations

import itertools
import linecache
import re
import time
from typing import Any, Tuple, Union

from ..graph.ir import Graph
from . import numba_backend, python_backend
from .errors import CompileError
from .layout import Layout
from .supports import supports

__all__ = ["Kernel", "compile_graph", "supports", "CompileError"]

_numbers = itertools.count()


class Kernel:
    """A compiled graph: what the launcher needs, and the text it was made from.

    ``inputs`` are the launcher's input codes, ``words`` and ``output_word`` describe the frame, ``exits``
    is a tuple of (graph exit number, output codes) by exit id, ``kernel`` is an address or a callable,
    ``owner`` keeps it alive.
    """

    __slots__ = ("name", "inputs", "words", "output_word", "exits", "kernel", "source", "owner", "seconds")

    def __init__(self, name: str, layout: Layout, kernel: Union[int, Any], source: str, owner: Any,
                 seconds: float) -> None:
        self.name = name
        self.inputs = layout.inputs
        self.words = layout.words
        self.output_word = layout.output_word
        self.exits: Tuple[Tuple[int, Tuple[Any, ...]], ...] = tuple(layout.exits)
        self.kernel = kernel
        self.source = source
        self.owner = owner
        self.seconds = seconds


def compile_graph(graph: Graph, backend: str = "numba") -> Kernel:
    """Compile a verified graph.

    Arguments:
        graph: the captured segment.
        backend: "numba" (machine code) or "python" (a Python function over the real objects).
    Returns: a :class:`Kernel`.
    Raises: :class:`CompileError` with a sentence when this back end cannot do it; ValueError on an unknown
    back end.
    Example: ``kernel = compile_graph(graph); Launcher(..., kernel.inputs, kernel.words, ...)``
    """
    start = time.perf_counter()
    if backend not in ("numba", "python"):
        raise ValueError("backend must be 'numba' or 'python', got %r" % (backend,))
    layout = Layout(graph)
    name = "kernel_" + re.sub(r"\W", "_", graph.name)
    filename = "<pijit kernel %s %d>" % (graph.name, next(_numbers))
    make: Any = numba_backend.NumbaEmitter if backend == "numba" else python_backend.PythonEmitter
    emitter = make(graph, layout)
    try:
        source = emitter.source(name)
    except RecursionError as error:
        raise CompileError("the control flow is nested too deeply") from error
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    if backend == "numba":
        kernel, owner = numba_backend.compile_source(source, name, emitter.names, filename)
    else:
        exec(compile(source, filename, "exec"), emitter.names)
        kernel = owner = emitter.names[name]
    return Kernel(graph.name, layout, kernel, source, owner, time.perf_counter() - start)
