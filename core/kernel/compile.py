"""Graph in, kernel out: the one entry point of the kernel compiler."""

from __future__ import annotations

import functools
import itertools
import linecache
import threading
import time
from collections import OrderedDict
from typing import Any, Callable, Dict, Tuple, Union

from pijit.core.graph.ir import Graph
from pijit.core.kernel import machine_code, numba_backend, python_backend
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
    ``owner`` keeps it alive; both are None until ``compile`` is called.
    """

    __slots__ = ("name", "inputs", "words", "output_word", "exits", "kernel", "source", "owner", "seconds", "_make")

    def __init__(self, name: str, layout: Layout, source: str, make: Callable[[], Tuple[Union[int, Any], Any]],
                 seconds: float) -> None:
        self.name = name
        self.inputs = layout.inputs
        self.words = layout.words
        self.output_word = layout.output_word
        self.exits: Tuple[Tuple[int, Tuple[Any, ...]], ...] = tuple(layout.exits)
        self.kernel: Union[int, Any] = None
        self.source = source
        self.owner: Any = None
        self.seconds = seconds
        self._make: Any = make

    def compile(self) -> Tuple[Union[int, Any], Any]:
        """Compile unless that is done; returns (kernel, owner). Raises CompileError."""
        if self.kernel is None:
            start = time.perf_counter()
            self.kernel, self.owner = self._make()
            self._make = None
            self.seconds += time.perf_counter() - start
        return self.kernel, self.owner


def compile_graph(graph: Graph, backend: str = "numba", later: bool = False, on_disk: bool = False) -> Kernel:
    """Compile a verified graph, or with ``later`` only prepare to.

    Arguments:
        graph: the captured segment.
        backend: "numba" (machine code) or "python" (a Python function over the real objects).
        later: leave the compiling to ``Kernel.compile``.
        on_disk: look for machine code in the user's cache folder first, and keep it there.
    Returns: a :class:`Kernel`.
    Raises: :class:`CompileError` with a sentence when this back end cannot do it; ValueError on an unknown
    back end.
    Example: ``kernel = compile_graph(graph); Launcher(..., kernel.inputs, kernel.words, ...)``
    """
    start = time.perf_counter()
    if backend not in ("numba", "python"):
        raise ValueError("backend must be 'numba' or 'python', got %r" % (backend,))
    layout = Layout(graph)
    emitter: Any = (numba_backend.NumbaEmitter if backend == "numba" else python_backend.PythonEmitter)(graph, layout)
    try:
        source = emitter.source("kernel")
    except RecursionError as error:
        raise CompileError("the control flow is nested too deeply") from error
    if backend == "numba":
        make = functools.partial(_machine_code, source, emitter.names, dict(emitter.symbols), on_disk)
    else:
        make = functools.partial(_function, source, emitter.names, graph.name)
    kernel = Kernel(graph.name, layout, source, make, time.perf_counter() - start)
    if not later:
        kernel.compile()
    return kernel


def _function(source: str, names: Dict[str, Any], name: str) -> Tuple[Any, Any]:
    exec(compile(source, _remember_source(source, name), "exec"), names)
    return names["kernel"], names["kernel"]


def _machine_code(source: str, names: Dict[str, Any], symbols: Dict[str, str], on_disk: bool) -> Tuple[int, Any]:
    """(address, owner) of the compiled source, compiled once per text and symbols.

    The text has every type and constant that steers the compile; what leaves by identity is in the launcher.
    """
    key = (source, tuple(sorted(symbols.items())))
    with _lock:
        if key in _compiled:
            _compiled.move_to_end(key)
            return _compiled[key]
    made = machine_code.compiled(source, names, symbols, on_disk)
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
