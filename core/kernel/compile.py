"""Entry point of the kernel compiler: `compile_graph` turns a graph into a `Kernel`.

`core/entries/kernels.py` calls it for the graphs of an entry. It makes the plan of each kernel. The emitters write the
source, and `llvm/codegen.py` makes machine code of it.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import time
from collections import OrderedDict
from typing import Any, Callable, ContextManager, Dict, Optional, Tuple, Union

from pijit.core.graph.gil import touches_objects
from pijit.core.graph.ir import Graph
from pijit.core.graph.passes import improve
from pijit.core.kernel import fork_safety
from pijit.core.kernel.abi import FrameLayout
from pijit.core.kernel.disk_cache import SUPPORTED, kernel_key
from pijit.core.kernel.emit.kernel_emitter import KernelEmitter
from pijit.core.kernel.errors import CompileError, ForkedError, TooDeep
from pijit.core.kernel.exit_causes import Cause
from pijit.core.kernel.llvm import codegen
from pijit.core.kernel.llvm.intrinsic_table import INTRINSICS
from pijit.core.kernel.options import PLAIN, CompileOptions
from pijit.core.kernel.plan.kernel_plan import make_plan
from pijit.core.kernel.plan.printer import format_plan
from pijit.core.kernel.reference.emitter import PythonEmitter
from pijit.core.kernel.symbols import LinkSymbol, Meaning, lasts
from pijit.core.named_tuples import NamedTuple

__all__ = ["Kernel", "compile_graph", "CompileError", "ForkedError", "TooDeep"]

MEMO_SIZE = 256
"""The number of compiled sources that a process remembers."""
MOST_INDENTED = "\n" + 100 * "    "
"""Indentation of 100 levels, which Python's parser rejects."""

_numbers = itertools.count()
_compiled: "OrderedDict[Any, Tuple[int, Any]]" = OrderedDict()
Watch = Callable[[str], ContextManager[Any]]
_watch: Optional[Watch] = None


def set_watch(watch: Optional[Watch]) -> Optional[Watch]:
    """Run each compilation of a kernel inside ``watch(its name)``; None: without one. Returns the previous watch."""
    global _watch
    previous, _watch = _watch, watch
    return previous


class Written(NamedTuple):
    """What was written for a kernel.

    Attributes:
        source: the source.
        words: the number of words of the kernel's frame.
        make: returns (kernel, owner).
        causes: the exit causes.
        symbols: the meanings of the names that differ between kernels.
    """

    source: str
    words: int
    make: Callable[[], Tuple[Union[int, Any], Any]]
    causes: Tuple[Cause, ...]
    symbols: Dict[str, Meaning]


class Kernel:
    """A compiled graph: what the launcher needs, and the source that it was made from.

    ``inputs`` are the launcher's input codes; ``words`` and ``output_word`` describe the frame. ``exits`` has (graph
    exit number, output codes) by exit id. ``kernel`` is an address or a callable, and ``owner`` keeps it alive; both
    are None until ``compile`` is called. ``flavour`` has the options that it was made with.

    If compilation is left for later, the source is written when something needs it. Until then ``words`` lacks the
    scratch words of the source.
    """

    __slots__ = ("name", "inputs", "words", "output_word", "exits", "kernel", "owner", "seconds", "flavour", "_graph",
                 "_backend", "_on_disk", "_plan", "_written")

    def __init__(self, graph: Graph, backend: str, on_disk: bool, later: bool, flavour: CompileOptions) -> None:
        start = time.perf_counter()
        layout = FrameLayout(graph)
        self.name = graph.name
        self.inputs = layout.inputs
        self.output_word = layout.output_word
        self.exits: Tuple[Tuple[int, Tuple[Any, ...]], ...] = tuple(layout.exits)
        self.kernel: Union[int, Any] = None
        self.owner: Any = None
        self.flavour = flavour._replace(nogil=flavour.nogil and not touches_objects(graph))
        self._graph: Any = graph
        self._backend = backend
        self._on_disk = on_disk
        self._plan = ""
        self._written: Optional[Written] = None if later else self._write(graph, layout)
        self.words = layout.words
        self.seconds = time.perf_counter() - start

    @property
    def source(self) -> str:
        """The source. If it was left for later and the graph cannot be compiled, the reason as a comment."""
        try:
            return self._text().source
        except CompileError as error:
            return "# %s\n" % error

    @property
    def plan(self) -> str:
        """The plan that the source is written from, as text; "" for Python kernels, and if no plan can be made.

        If the plan is made and the source cannot be written, the plan is there to look at.
        """
        try:
            self._text()
        except CompileError:
            pass
        return self._plan

    @property
    def causes(self) -> Tuple[Cause, ...]:
        """The exit causes, by the numbers that launchers count; empty until the source is written."""
        written = self._written
        return written.causes if written is not None else ()

    def kept(self) -> Optional[Tuple[str, Tuple[LinkSymbol, ...]]]:
        """The key of the machine code on disk, and its symbols; None if it is not kept."""
        written = self._text()
        meanings = written.symbols.values()
        if self._backend != "numba" or not self._on_disk or not SUPPORTED or not all(map(lasts, meanings)):
            return None
        symbols = tuple(sorted(meaning for meaning in meanings if isinstance(meaning, LinkSymbol)))
        return kernel_key(written.source, written.symbols, self.flavour.fast), symbols

    @property
    def has_scalar_loops(self) -> bool:
        """Whether its loops are not vectorised, because LLVM failed."""
        return isinstance(self.owner, codegen.MachineCode) and self.owner.has_scalar_loops

    def compile(self) -> Tuple[Union[int, Any], Any, int]:
        """Compile the kernel unless that is done. Returns (kernel, owner, words). Raises CompileError."""
        if self.kernel is None:
            start, make = time.perf_counter(), self._text().make
            if _watch is None:
                self.kernel, self.owner = make()
            else:
                with _watch(self.name):
                    self.kernel, self.owner = make()
            self.seconds += time.perf_counter() - start
        return self.kernel, self.owner, self.words

    def _text(self) -> Written:
        """The source, which is written on the first call. Several threads may call this.

        If it was left for later, the graph is improved first. It must keep its exits, because linked code knows them.
        """
        with fork_safety.writing:
            graph, written = self._graph, self._written
            if written is None:
                layout = FrameLayout(graph)
                improve(graph)
                self._written = written = self._write(graph, layout)
                assert tuple(layout.exits) == self.exits, "a pass has made an exit"
                self.words = written.words
        self._graph = None
        return written

    def _write(self, graph: Graph, layout: FrameLayout) -> Written:
        write = self._write_kernel if self._backend == "numba" else self._write_function
        try:
            written = write(graph, layout)
        except RecursionError as error:
            raise TooDeep("the control flow is nested too deeply") from error
        if MOST_INDENTED in written.source:
            raise TooDeep("the control flow is nested too deeply")
        return written

    def _write_kernel(self, graph: Graph, layout: FrameLayout) -> Written:
        plan = make_plan(graph, self.flavour)
        self._plan = format_plan(plan)
        emitter = KernelEmitter(graph, layout, plan, self.flavour)
        source = emitter.source("kernel")
        assert emitter.names.keys() - INTRINSICS.keys() == emitter.symbols.keys(), "see symbols"
        make = functools.partial(_machine_code, source, emitter.names, dict(emitter.symbols), self._on_disk,
                                 self.flavour.fast, "%s:%d" % (self.name, graph.lineno))
        return Written(source, layout.words, make, emitter.causes.found, dict(emitter.symbols))

    def _write_function(self, graph: Graph, layout: FrameLayout) -> Written:
        emitter = PythonEmitter(graph, layout)
        source = emitter.source("kernel")
        make = functools.partial(_function, source, emitter.names, graph.name)
        return Written(source, layout.words, make, emitter.causes.found, {})


def compile_graph(graph: Graph, backend: str = "numba", later: bool = False, on_disk: bool = False,
                  flavour: CompileOptions = PLAIN) -> Kernel:
    """Compile a verified graph; with ``later`` only prepare the compilation.

    Arguments:
        graph: the captured segment.
        backend: "numba" (machine code) or "python" (a Python function over the real objects).
        later: leave the compilation to ``Kernel.compile``.
        on_disk: look for machine code in the user's cache folder first, and keep it there.
        flavour: the options of the function.
    Returns: a :class:`Kernel`.
    Raises: :class:`CompileError` with a sentence when this back end cannot compile the graph; ValueError on an
    unknown back end.
    Example: ``kernel = compile_graph(graph); Launcher(..., kernel.inputs, kernel.words, ...)``
    """
    if backend not in ("numba", "python"):
        raise ValueError("backend must be 'numba' or 'python', got %r" % (backend,))
    kernel = Kernel(graph, backend, on_disk, later, flavour)
    if not later:
        kernel.compile()
    return kernel


def _function(source: str, names: Dict[str, Any], name: str) -> Tuple[Any, Any]:
    try:
        exec(compile(source, _remember_source(source, name), "exec"), names)
    except SyntaxError as error:
        if "nested" in str(error):
            raise TooDeep("the control flow is nested too deeply") from error
        raise
    return names["kernel"], names["kernel"]


def _machine_code(source: str, names: Dict[str, Any], symbols: Dict[str, Meaning], on_disk: bool,
                  fast: bool, label: str) -> Tuple[int, Any]:
    """(address, owner) of the compiled source; each source is compiled once with the same symbols and ``fast``.

    The source has every type and constant that affects the machine code. Objects that leave by identity are in the
    launcher.
    """
    key = (source, tuple(sorted(symbols.items())), fast)
    with fork_safety.remembering:
        if key in _compiled:
            _compiled.move_to_end(key)
            return _compiled[key]
    made = codegen.compiled(source, names, symbols, on_disk, fast, label)
    with fork_safety.remembering:
        _compiled[key] = made
        while len(_compiled) > MEMO_SIZE:
            _compiled.popitem(last=False)
    return made


def _remember_source(source: str, name: str) -> str:
    """Store the source where tracebacks find it. Returns the file name for it."""
    filename = "<pijit kernel %s %d>" % (name, next(_numbers))
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    return filename
