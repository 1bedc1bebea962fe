"""Callees: the Python function that a call runs, and the names that the function sees.

Those names are globals, builtins and closure variables. A callee is known by its code object. Its defaults, cells
and globals are read through the function object. So closures of one code object share compiled code, and nothing
keeps the function alive. Called by the interpreter's calls and by the inliner.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, cast

from pijit.core import _hook
from pijit.core._hook import JitFunction
from pijit.core.bytecode.assembler.emit import has_site
from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.predicates import loads_attribute, operands_above_callable, writes_cell
from pijit.core.capture.context import AccessPaths, CaptureContext, no_known_types
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.objects.classes import class_paths, paths_of
from pijit.core.capture.models.objects.special_methods import method_called, operator_method, special_method
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.heap_locations import CellLocation, FreeLocation, GlobalLocation, HeapLocation
from pijit.core.capture.values.known_objects import BY_VALUE
from pijit.core.capture.values.lattice import (
    Abstract,
    BoundFunction,
    Const,
    ListElement,
    OpaqueObject,
    Unknown,
    class_of,
)
from pijit.core.capture.values.predicates import HasLength, HasType, LacksItem
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.named_tuples import NamedTuple
from pijit.guards.facts import is_exactly
from pijit.guards.reading import class_value
from pijit.guards.source import Attr, Constant, Global, Inner, Item, TypeOf, read_class_attribute


def sample_of(value: Abstract) -> Any:
    """The known object, or the sample of a value that has one; None for other values."""
    return value.object if isinstance(value, Const) else getattr(value, "sample", None)


class Callee(NamedTuple):
    """A Python function to inline, and the access paths of the function object; ``jitted`` if calls run it compiled."""

    function: types.FunctionType
    paths: AccessPaths
    jitted: bool = False

    @property
    def name(self) -> str:
        return self.function.__qualname__


class CalleeContext(CaptureContext):
    """Capture context of an inlined callee: its module's globals, its builtins, its closure."""

    __slots__ = ("callee", "outermost", "_base")

    callee: Callee
    outermost: Dict[str, Any]

    def __init__(self, code: Any, callee: Callee, outer: CaptureContext, shared: Iterable[str] = ()) -> None:
        function = cast(types.FunctionType, callee.function)
        super().__init__(code, function.__globals__, _builtins_of(function), list(function.__closure__ or ()),
                         outer.options, no_known_types(), outer.inliner, outer.unrolling, outer.work, outer.depth + 1)
        self.callee = callee
        self._base = outer.base
        self.outermost = outer.outermost
        self.changed, self.locations = outer.changed, outer.locations
        self.shared = frozenset(shared)
        self.within, self.around = outer.within + (function.__code__,), outer.around + (callee,)

    def identity(self) -> Any:
        return id(self.callee.function), self.callee.paths.source

    def global_location(self, name: str) -> Optional[HeapLocation]:
        return super().global_location(name) if self.globals is self.outermost else None

    @property
    def base(self) -> CaptureContext:
        return self._base

    def scope_path(self) -> Any:
        root = self.callee.paths.root
        return Attr(root, "__globals__") if root is not None else None

    def closure_cell(self, number: int) -> Any:
        """The cell of a closure variable; None for a plain variable of the callee."""
        number -= len(self.function.cellvars)
        return self.cells[number] if number >= 0 else None

    def cell_of_base(self, cell: Any) -> Optional[int]:
        """The number of the captured function's cell that this is; None if it is none of them."""
        return next((k for k, other in enumerate(self.base.cells) if other is cell), None)

    def _cell_path(self, number: int) -> AccessPaths:
        return self.callee.paths.then(Attr, "__closure__").then(Item, number - len(self.function.cellvars))

    def cell_location(self, number: int, name: str) -> Optional[HeapLocation]:
        cell = self.closure_cell(number)
        known = self.cell_of_base(cell)
        return self.locations.get(self.base.cell_source(known) if known is not None else (CellLocation, id(cell)))

    def cell_owners(self, number: int) -> List[OpaqueObject]:
        cell = self.closure_cell(number)
        if cell is None:
            return []
        path, known = self._cell_path(number), self.cell_of_base(cell)
        owner = OpaqueObject(cell, path.source)
        owner.root = path.root
        return [owner] + (self.base.cell_owners(known) if known is not None else [])

    def written_location(self, instr: Instr) -> Any:
        if writes_cell(instr):
            location = self._written_cell(instr)
        elif self.globals is self.outermost:
            location = self.locations.setdefault(Global(instr.value), GlobalLocation(Global(instr.value)))
        else:
            raise Break("PJ220", name=instr.value, because="it is in another module")
        self.changed.add(location.changed(self.base))
        return location

    def _written_cell(self, instr: Instr) -> Any:
        """The heap location of the closure variable that an instruction writes."""
        number = instr.arg or 0
        cell, path = self.closure_cell(number), self._cell_path(number)
        known = self.cell_of_base(cell)
        if known is not None:
            source = self.base.cell_source(known)
            number = source.index - len(self.base.function.varnames)
            return self.locations.setdefault(source, CellLocation(source, number))
        if cell is None or path.source is None:
            raise Break("PJ220", name=instr.value, because="it is in a cell that is made here")
        return self.locations.setdefault((CellLocation, id(cell)), FreeLocation(OpaqueObject(cell, path.source)))

    def find_global(self, name: str, interpreter: Interpreter) -> Tuple[Any, AccessPaths]:
        if (name, id(self.globals)) in self.changed:
            raise Break("PJ219", name=name)
        paths = self.callee.paths.then(Attr, "__globals__")
        if name in self.globals:
            return self.globals[name], paths.then(Item, name)
        if name not in self.builtins:
            raise Break("PJ202", name=name)
        interpreter.rely(paths, LacksItem(name))
        return self.builtins[name], AccessPaths(*[Item(Constant(self.builtins), name)] * 2)

    def find_cell(self, number: int, interpreter: Interpreter, name: str) -> Tuple[Any, AccessPaths]:
        number -= len(interpreter.function.cellvars)
        if number < 0:
            raise Break("PJ208", name=name)
        if (CellLocation, id(self.cells[number])) in self.changed:
            raise Break("PJ219", name=name)
        paths = self.callee.paths.then(Attr, "__closure__").then(Item, number).then(Inner, "cell_contents")
        return self.contents(number, name), paths


def _builtins_of(function: types.FunctionType) -> Dict[str, Any]:
    found = function.__globals__.get("__builtins__")
    names = found.__dict__ if issubclass(type(found), types.ModuleType) else found
    if type(names) is not dict or type(function.__globals__) is not dict:
        raise Break("PJ230", callee=function.__qualname__, because="its module has builtins of its own")
    return names


def default_of(callee: Callee, position: int, name: str, interpreter: Interpreter) -> Abstract:
    """The default of a parameter: by position from the end for positional ones, by name for keyword-only ones."""
    function = cast(types.FunctionType, callee.function)
    values: Any
    key: Any
    if position:
        values, key, attribute = function.__defaults__ or (), position, "__defaults__"
        found = len(values) >= -position
    else:
        values, key, attribute = function.__kwdefaults__ or {}, name, "__kwdefaults__"
        found = name in values
    if not found:
        raise Break("PJ211", callee=callee.name, problem="no value for %s" % name)
    return known_constant(values[key], callee.paths.then(Inner, attribute).then(Item, key), interpreter)


def known_constant(sample: Any, paths: AccessPaths, interpreter: Interpreter) -> Abstract:
    """A default, or an argument that a partial holds; small immutable values become constants."""
    if not is_exactly(sample, BY_VALUE):
        return locations.known_object(interpreter, sample, *paths)
    value = Const(sample, paths.source)
    value.root = paths.root
    return value


def called_function(instr: Instr, stack: List[Abstract]) -> Optional[types.FunctionType]:
    """The Python function that an instruction calls, as far as the operand stack shows; None for jitted functions."""
    special = method_called(instr)
    if special is not None and special[1] < len(stack):
        return _function_of(operator_method(instr, stack[-1 - special[1]]))
    target = _callable_of(instr, stack)
    if target is None:
        return None
    if loads_attribute(instr):
        found = read_class_attribute(sample_of(target), instr.value) if isinstance(target, OpaqueObject) else None
        return _function_of(found.fget) if type(found) is property else None
    return _function_of(sample_of(target.function if isinstance(target, BoundFunction) else target))


def _callable_of(instr: Instr, stack: List[Abstract]) -> Optional[Abstract]:
    """The object that an instruction calls, or whose attribute it reads."""
    above = operands_above_callable(instr)
    return stack[-1 - above] if above is not None and above < len(stack) else None


def may_compile_alone(instr: Instr, stack: List[Abstract]) -> bool:
    """Whether linked code can run a separately compiled function where an instruction calls it.

    Call sites of CPython 3.11 and later see the callable. They do not see the frame that a class or a C object
    makes.
    """
    if not has_site(instr):
        return False
    target = _callable_of(instr, stack)
    sample = sample_of(target.function if isinstance(target, BoundFunction) else target) if target is not None else None
    if sys.version_info < (3, 11) or sample is None:
        return True
    if type(sample) is type:
        return sample.__new__ is object.__new__
    return type(sample) is not functools.partial


def calls_unknown(instr: Instr, stack: List[Abstract]) -> bool:
    """Whether an instruction calls a value of which nothing is known."""
    return not loads_attribute(instr) and isinstance(_callable_of(instr, stack), Unknown)


def _function_of(target: Any) -> Optional[types.FunctionType]:
    """The Python function that a call of an object runs."""
    kind = type(target)
    if kind is types.FunctionType:
        return cast(types.FunctionType, target)
    if kind is type:
        made = class_value(target, "__init__")
        return made if type(made) is types.FunctionType else None
    if kind is types.MethodType or kind is functools.partial:
        return _function_of(target.__func__ if kind is types.MethodType else target.func)
    found = None if issubclass(kind, type) else read_class_attribute(target, "__call__")
    return found if type(found) is types.FunctionType else None


FoundCallee = Optional[Tuple[Callee, List[Abstract], Dict[str, Abstract]]]


def find_callee(target: Abstract, arguments: List[Abstract], keywords: Dict[str, Abstract],
                interpreter: Interpreter) -> FoundCallee:
    """The Python function that a call runs, with all its arguments; None if it runs something else."""
    if isinstance(target, BoundFunction):
        return find_callee(_found(target.function, interpreter), [target.owner] + arguments, keywords, interpreter)
    sample = sample_of(target)
    if isinstance(target, (ListElement, VirtualObject)):
        if class_of(target) is None:  # an element of a list of objects of several classes
            return None
        function = special_method(target, "__call__")
        paths = class_paths(interpreter, target).then(Attr, "__call__")
        found = _found(locations.known_object(interpreter, function, *paths),
                       interpreter) if function is not None else None
        return find_callee(found, [target] + arguments, keywords, interpreter) if found is not None else None
    if isinstance(target, (Const, OpaqueObject)):
        for kind, find in _KINDS:
            if issubclass(type(sample), kind):
                return find(target, sample, arguments, keywords, interpreter)
    return None


def _found(value: Abstract, interpreter: Interpreter) -> Abstract:
    """A callable on the path to the function. A function gets no guard on its type:
    the guard on its code says more."""
    return (value if type(sample_of(value)) is types.FunctionType
            else interpreter.use(value))


def _find_function(target: Abstract, sample: Any, arguments: List[Abstract], keywords: Dict[str, Abstract],
                   interpreter: Interpreter) -> FoundCallee:
    return Callee(sample, paths_of(target), _is_hooked(sample)), arguments, keywords


def _is_hooked(function: types.FunctionType) -> bool:
    """Whether calls of a plain function go to a JitFunction; functions of whole programs are hooked."""
    return sys.version_info >= (3, 11) and _hook.hooked(function) is not None


def _find_method(target: Abstract, sample: Any, arguments: List[Abstract], keywords: Dict[str, Abstract],
                 interpreter: Interpreter) -> FoundCallee:
    paths = paths_of(target)
    function = _found(locations.known_object(interpreter, sample.__func__, *paths.then(Inner, "__func__")), interpreter)
    owner = interpreter.use(locations.known_object(interpreter, sample.__self__, *paths.then(Inner, "__self__")))
    return find_callee(function, [owner] + arguments, keywords, interpreter)


def _find_partial(target: Abstract, sample: Any, arguments: List[Abstract], keywords: Dict[str, Abstract],
                  interpreter: Interpreter) -> FoundCallee:
    parts = partial_parts(target, interpreter)
    if parts is None:
        return None
    function, first, named = parts
    return find_callee(function, first + arguments, dict(named, **keywords), interpreter)


def partial_parts(target: Abstract,
                  interpreter: Interpreter) -> Optional[Tuple[Abstract, List[Abstract], Dict[str, Abstract]]]:
    """The callable of a ``functools.partial``, and the positional and keyword arguments that it holds."""
    sample = sample_of(target) if isinstance(target, (Const, OpaqueObject)) else None
    if type(sample) is not functools.partial or any(type(key) is not str for key in sample.keywords):
        return None
    paths = paths_of(target)
    for part, held in (("args", sample.args), ("keywords", sample.keywords)):
        interpreter.rely(paths.then(Attr, part), HasType(type(held)))
        interpreter.rely(paths.then(Attr, part), HasLength(len(held)))
    function = _found(locations.known_object(interpreter, sample.func, *paths.then(Attr, "func")), interpreter)
    first = [interpreter.use(known_constant(value, paths.then(Attr, "args").then(Item, k), interpreter))
             for k, value in enumerate(sample.args)]
    named = {name: interpreter.use(known_constant(value, paths.then(Attr, "keywords").then(Item, name), interpreter))
             for name, value in sample.keywords.items()}
    return function, first, named


def _find_jitted(target: Abstract, sample: Any, arguments: List[Abstract], keywords: Dict[str, Abstract],
                 interpreter: Interpreter) -> FoundCallee:
    """A jitted function: found as if undecorated, except where a subclass does more than call."""
    plain_inside = class_value(type(sample), "plain_inside") is True
    if type(sample).__call__ is not JitFunction.__call__ and not plain_inside or not sample.enabled:
        return None
    if sample.__wrapped__ is not sample.py_func:
        return None
    paths = paths_of(target).then(Inner, "__dict__").then(Item, "__wrapped__")
    return Callee(sample.py_func, paths, True), arguments, keywords


def _find_object(target: Abstract, sample: Any, arguments: List[Abstract], keywords: Dict[str, Abstract],
                 interpreter: Interpreter) -> FoundCallee:
    """An object whose class defines ``__call__`` in Python."""
    kind = type(sample)
    found = class_value(kind, "__call__")
    if not issubclass(type(found), (types.FunctionType, JitFunction)) or isinstance(target, Const):
        return None
    paths = paths_of(target).then(TypeOf).then(Attr, "__call__")
    function = _found(locations.known_object(interpreter, found, *paths), interpreter)
    return find_callee(function, [target] + arguments, keywords, interpreter)


_KINDS: Tuple[Tuple[type, Callable[..., FoundCallee]], ...] = (
    (types.FunctionType, _find_function),
    (types.MethodType, _find_method),
    (JitFunction, _find_jitted),
    (functools.partial, _find_partial),
    (type, lambda *_: None),
    (object, _find_object),
)
