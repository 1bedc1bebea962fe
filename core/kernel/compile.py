"""Graph in, kernel out: the one entry point of the kernel compiler."""

from __future__ import annotations

import itertools
import linecache
import threading
import time
from collections import OrderedDict
from typing import Any, Tuple, Union

from pijit.core.graph.ir import Graph
from pijit.core.kernel import numba_backend, python_backend
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.layout import Layout
from pijit.core.kernel.supports import supports

__all__ = ["Kernel", "compile_graph", "supports", "CompileError"]

MEMO_SIZE = 256

_numbers = itertools.count()
_lock = threading.Lock()
_compiled: "OrderedDict[Any, Tuple[int, Any]]" = OrderedDict()


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
    make: Any = numba_backend.NumbaEmitter if backend == "numba" else python_backend.PythonEmitter
    emitter = make(graph, layout)
    try:
        source = emitter.source("kernel")
    except RecursionError as error:
        raise CompileError("the control flow is nested too deeply") from error
    if backend == "numba":
        kernel, owner = _machine_code(source, emitter, graph.name)
    else:
        filename = _remember_source(source, graph.name)
        exec(compile(source, filename, "exec"), emitter.names)
        kernel = owner = emitter.names["kernel"]
    return Kernel(graph.name, layout, kernel, source, owner, time.perf_counter() - start)


def _machine_code(source: str, emitter: Any, name: str) -> Tuple[int, Any]:
    """(address, owner) of the compiled source, compiled once per text and symbols.

    The text has every type and constant that steers the compile; what leaves by identity is in the launcher.
    """
    key = (source, tuple(sorted(emitter.symbols.items())))
    with _lock:
        if key in _compiled:
            _compiled.move_to_end(key)
            return _compiled[key]
    made = numba_backend.compile_source(source, emitter.names, _remember_source(source, name))
    with _lock:
        _compiled[key] = made
        while len(_compiled) > MEMO_SIZE:
            _compiled.popitem(last=False)
    return made


def _remember_source(source: str, name: str) -> str:
    """A file name under which tracebacks find the source."""
    filename = "<pijit kernel %s %d>" % (name, next(_numbers))
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    return filename
