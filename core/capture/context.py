"""Capture context: the scopes that a function sees, its options, and the facts that analysis has found.

Interpreter and models read and extend it. A name is looked up together with the path by which guards find it again.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, Iterable, List, Optional, Set, Tuple

from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.instructions.opcodes import SCOPE_WRITES
from pijit.core.capture.profile.hints import HintedTypes
from pijit.core.capture.profile.range_unrolling import RangeUnrolling
from pijit.core.capture.profile.samples import TypeSamples
from pijit.core.capture.state.heap_locations import HeapLocation, Locations, scope_location
from pijit.core.capture.values.budgets import CaptureBudget
from pijit.core.capture.values.lattice import Abstract, Const, Instance, Number, OpaqueObject, Tensor
from pijit.core.capture.values.provenance import Root
from pijit.core.capture.values.value_specialisation import Specialisation
from pijit.core.errors import Break
from pijit.core.graph.types import Object
from pijit.core.named_tuples import NamedTuple
from pijit.guards.source import ClosureCell, Global, Scope

if TYPE_CHECKING:
    from pijit.core.capture.inline.inliner import Inliner
    from pijit.core.capture.models.functions.callees import Callee
    from pijit.core.capture.models.functions.function_values import FunctionValue
    from pijit.core.capture.models.protocol import Interpreter


class AccessPaths(NamedTuple):
    """The path to a value: ``source`` from function entry, ``root`` from the start of the segment. None where unknown.
    """

    source: Any
    root: Any

    def then(self, step: Callable[..., Any], *args: Any) -> "AccessPaths":
        """The paths one step further: ``step(path, *args)`` for each known path."""
        return AccessPaths(*[step(path, *args) if path is not None else None for path in self])


def _as_setting(value: Abstract) -> Abstract:
    """A value from outside, as a constant if it is an integer or a tuple of integers, as settings are."""
    sample = value.sample if isinstance(value, (Number, OpaqueObject)) else None
    if type(sample) in (int, bool) or type(sample) is tuple and all(type(one) is int for one in sample):
        return Const(sample, value.source, value.defined_at)
    return value


class CaptureOptions(NamedTuple):
    """The options of a capture; the contexts of inlined callees share them.

    Attributes:
        specialisation: which numbers may be known by value.
        unrolling: loops over containers are unrolled up to this number of iterations.
        force_breaks: None, "every" or an instruction.
        improved: whether the optimising passes run.
        ignored_flags: floating-point flags that the function runs without, whatever NumPy's error state is.
        constant_globals: the function's namespace never changes, so that what it holds needs no guards.
        host_functions: functions whose calls become operations of the graph, see `host_calls`.
        handlers: whether bytecode may enter exception handlers, and kernels again. Captures for gradients have no such
            entries: if there is an exception, the tape runs the call again.
        abandons: side exits give the call up: they leave no values, because the caller runs it in another way. Loops
            handle the interpreter's requests inside the kernel.
        static_roots: the locals and cells of the call, the globals and the builtins, if the shapes that arrays from
            outside have there are constants; else None. Loops over short ranges are unrolled then.
        precision: the name of the dtype in which graphs may compute float64 arrays; None: float64.
    """

    specialisation: Specialisation = Specialisation()
    unrolling: int = 16
    force_breaks: Any = None
    improved: bool = True
    ignored_flags: int = 0
    constant_globals: bool = False
    host_functions: Tuple[Any, ...] = ()
    handlers: bool = True
    abandons: bool = False
    static_roots: Optional[Tuple[Any, ...]] = None
    precision: Optional[str] = None


class KnownTypes(NamedTuple):
    """Types that the code of a function does not tell.

    Attributes:
        feedback: the types that earlier runs have shown for results of instructions that stay bytecode.
        hinted: the hints of the program, see `hints`.
        samples: objects that stand for the elements of long lists.
        ranges: whether loops over short ranges are unrolled, because their index selects objects.
        stored: the locations that calls of `call_with_attribute` store, because kernels may leave in their middle.
    """

    feedback: Dict[int, Abstract]
    hinted: HintedTypes
    samples: TypeSamples
    ranges: RangeUnrolling
    stored: Set[Tuple[str, ...]]


def no_known_types() -> KnownTypes:
    """The known types of a function that is inlined: instructions of callees have none."""
    return KnownTypes({}, HintedTypes(), TypeSamples(), RangeUnrolling(), set())


class Findings:
    """Facts that are found while a function is analysed; most of them by instruction.

    Attributes:
        stores: which variables of segments an instruction writes, see ``CaptureContext.locations``.
        callees: (code, name) of functions that an instruction calls and that are not inlined.
        uncompiled: the instructions where such a function runs uncompiled, see `may_compile_alone`.
        mutates: captured code changes a container.
        guessed: instructions whose result type is assumed without type feedback, or whose item was missing. Their
            results are observed.
        looping: calls of inlined functions that have loops.
        leaving: calls that a kernel may leave in the middle, with the reason, see `cold_paths`.
        texts: sources of strings whose characters are read, so that only their class is known.
        objects: codes of functions that are used for more than a call on the spot, and the (code, name) of inlined
            functions' variables that must be in cells.
        by_bytecode: codes of functions whose calls are not inlined.
        stepped: by calls of ``next``, the variables whose iterators they step.
        sizes: by calls, how much code is inlined there.
        shown: instructions that may run code which reads the frame.
    """

    __slots__ = ("stores", "callees", "uncompiled", "mutates", "guessed", "looping", "leaving", "texts", "objects",
                 "by_bytecode", "stepped", "sizes", "shown")

    def __init__(self) -> None:
        self.stores: Dict[int, Set[str]] = {}
        self.callees: Dict[int, List[Tuple[CodeType, str]]] = {}
        self.uncompiled: Set[int] = set()
        self.mutates = False
        self.guessed: Set[int] = set()
        self.looping: Set[int] = set()
        self.leaving: Dict[int, Break] = {}
        self.texts: Set[Any] = set()
        self.objects: Set[Any] = set()
        self.by_bytecode: Set[CodeType] = set()
        self.stepped: Dict[int, str] = {}
        self.sizes: Dict[int, int] = {}
        self.shown: Set[int] = set()

    def note_call(self, index: int, function: FunctionType, compiles: bool) -> None:
        """Note a function that is called and not inlined, and whether it is compiled on its own."""
        if not compiles:
            self.uncompiled.add(index)
            return
        code, name = function.__code__, function.__qualname__
        known = self.callees.setdefault(index, [])
        if all(other is not code for other, _ in known):
            known.append((code, name))


class CaptureContext:
    """Capture context of a function: the names that it sees, the options, and facts about it.

    Attributes:
        function: the decoded function.
        globals, builtins, cells: where its names are looked up.
        options: the options of the capture.
        types: the known types of values that its code does not tell.
        findings: facts that are found while the function is analysed.
        changed: locations that captured code writes, as (name or class, id of the object, namespace or cell).
        locations: those of them that are variables of segments.
        inliner: inlines calls of Python functions; None if no call is inlined.
        unrolling: loops over containers are unrolled up to this number of iterations.
        work: counts the steps of the capture against its budget.
        depth: the number of inlined calls around this function.
        catches: ids of the exception classes that the caller handles, see `exceptions`; None if it handles nothing.
        within: codes of the functions around a call made here, outermost first.
        around: the inlined ones of them, as Callees.
        shared: variables of this function that are in cells, see `shared_cells`.
        substitutions: of the captured function: the names of the locations that have other values than in the objects
            during calls around the instruction.
    """

    __slots__ = ("function", "globals", "builtins", "cells", "options", "types", "findings", "changed", "locations",
                 "inliner", "unrolling", "work", "depth", "catches", "within", "around", "shared", "substitutions")

    def __init__(self, function: Function, globals: Dict[str, Any], builtins: Dict[str, Any], cells: List[Any],
                 options: CaptureOptions, types: KnownTypes, inliner: Optional[Inliner], unrolling: int,
                 work: CaptureBudget, depth: int = 0) -> None:
        self.function = function
        self.globals = globals
        self.builtins = builtins
        self.cells = cells
        self.options = options
        self.types = types
        self.findings = Findings()
        self.changed: Set[Any] = set()
        self.locations: Locations = {}
        self.inliner = inliner
        self.unrolling = unrolling
        self.work = work
        self.depth = depth
        self.catches: Optional[Tuple[int, ...]] = None
        self.within: Tuple[CodeType, ...] = ()
        self.around: Tuple[Any, ...] = ()
        self.shared: FrozenSet[str] = frozenset()
        self.substitutions: List[str] = []

    @property
    def base(self) -> "CaptureContext":
        """The context of the captured function, into which the others are inlined."""
        return self

    @property
    def outermost(self) -> Dict[str, Any]:
        """The globals of the captured function."""
        return self.globals

    @property
    def callee(self) -> Optional[Callee]:
        """The function that is inlined; None for the captured function and for what is made and called on the spot."""
        return None

    @property
    def closure(self) -> Optional[FunctionValue]:
        """The value of the inlined function if captured code made it; else None."""
        return None

    def static_shape(self, array: Tensor) -> Optional[Tuple[int, ...]]:
        """The shape of an array, if the capture takes it as a constant, and knows an array of this shape; else None."""
        if self.options.static_roots is None or array.shape_source is None:
            return None
        shape: Tuple[int, ...] = array.shape_source.fetch(*self.options.static_roots).shape
        return shape

    def arriving(self, value: Abstract) -> Abstract:
        """A value as it enters from its source: a string whose characters are read is known by its class alone."""
        if isinstance(value, Const) and value.source in self.base.findings.texts:
            return Instance(Object(type(value.object)), None, value.source, value.defined_at)
        if self.options.static_roots is not None:
            value = _as_setting(value)
        return self.options.specialisation.arriving(value)

    @property
    def required_inliner(self) -> Inliner:
        """The inliner, for what exists only if calls are inlined."""
        assert self.inliner is not None
        return self.inliner

    def scope_path(self) -> Any:
        """The path by which a segment finds the dict of globals."""
        return Scope()

    def find_written(self) -> None:
        """Note the globals and cells that the function writes."""
        for instr in self.function.instructions:
            if instr.opname in SCOPE_WRITES:
                location = scope_location(instr, self)
                self.locations[location.source] = location
                self.changed.add(location.changed(self))

    def identity(self) -> Any:
        """Distinguishes the surroundings of functions that have the same code."""
        return ()

    def global_location(self, name: str) -> Optional[HeapLocation]:
        """The location of a global if captured code writes it."""
        return self.locations.get(Global(name))

    def cell_source(self, number: int) -> ClosureCell:
        """The source of a cell. Two slots may hold one cell; the first of them is the source."""
        cells, names = self.cells, self.function.cellvars + self.function.freevars
        if len(cells) == len(names):
            number = next(k for k, cell in enumerate(cells) if cell is cells[number])
        return ClosureCell(len(self.function.varnames) + number, names[number])

    def cell_location(self, number: int, name: str) -> Optional[HeapLocation]:
        """The location of a cell or free variable if captured code writes it."""
        return self.locations.get(self.cell_source(number))

    def written_location(self, instr: Instr) -> Any:
        """The location that an instruction writes when it stores a global or a cell."""
        return scope_location(instr, self)

    def cell_owners(self, number: int) -> List[OpaqueObject]:
        """The cell object of a cell or free variable, one value for each path to it."""
        cell = self.cell_source(number).index - len(self.function.varnames)
        owner = OpaqueObject(self.cells[cell], None)
        owner.root = Root("closure", cell)
        return [owner]

    def find_global(self, name: str, interpreter: Interpreter) -> Tuple[Any, AccessPaths]:
        """The object that LOAD_GLOBAL finds now, and its access paths."""
        for scope in (self.globals, self.builtins):
            if name in scope:
                return scope[name], AccessPaths(Global(name), Global(name))
        raise Break("PJ202", name=name)

    def find_cell(self, number: int, interpreter: Interpreter, name: str) -> Tuple[Any, AccessPaths]:
        """The content of a cell or free variable now, and its access paths."""
        return self.contents(number, name), AccessPaths(ClosureCell(len(self.function.varnames) + number, name),
                                                  Root("cell", number))

    def contents(self, number: int, name: str) -> Any:
        """The content of one of ``cells``."""
        try:
            return self.cells[number].cell_contents
        except ValueError:
            raise Break("PJ212", name=name)


class MadeFunctionContext(CaptureContext):
    """Context of a function that captured code makes and calls on the spot: it sees those globals of its maker that are
    not written.

    Its closure is in its local variables.
    """

    __slots__ = ("maker",)

    def __init__(self, function: Function, maker: CaptureContext, depth: int, shared: Iterable[str] = ()) -> None:
        super().__init__(function, maker.globals, maker.builtins, [], maker.options, no_known_types(), maker.inliner,
                         maker.unrolling, maker.work, depth)
        self.maker = maker
        self.changed, self.locations = maker.changed, maker.locations
        self.shared = frozenset(shared)
        self.within, self.around = maker.within, maker.around

    @property
    def base(self) -> CaptureContext:
        return self.maker.base

    def cell_owners(self, number: int) -> List[OpaqueObject]:
        return []

    def global_location(self, name: str) -> Optional[HeapLocation]:
        return self.maker.global_location(name)

    def cell_location(self, number: int, name: str) -> Optional[HeapLocation]:
        return None

    def written_location(self, instr: Instr) -> Any:
        raise Break("PJ220", name=instr.value, because="it is in a comprehension")

    def identity(self) -> Any:
        return self.maker.identity()

    def find_global(self, name: str, interpreter: Interpreter) -> Tuple[Any, AccessPaths]:
        if (name, id(self.globals)) in self.changed:
            raise Break("PJ219", name=name)
        return self.maker.find_global(name, interpreter)

    def scope_path(self) -> Any:
        return self.maker.scope_path()

    def find_cell(self, number: int, interpreter: Interpreter, name: str) -> Tuple[Any, AccessPaths]:
        raise Break("PJ208", name=name)
