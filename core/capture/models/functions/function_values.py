"""Function values: functions that captured code makes for more than a call on the spot.

A `FunctionValue` is an object with known parts. Variables that it shares with the function around it are in cells.
Variables of the captured function are in cells of its frame, so they are read when they are needed (``late``).

An inlined callee has no cells. If none of its code binds the variable again, the new function gets a cell of its
own with the value. Otherwise captured code makes a cell for the variable, see `shared_cells`. The interpreter makes
function values (`comprehensions`), and the inliner inlines their calls.
"""

from __future__ import annotations

import inspect
import types
from typing import Any, Callable, Iterable, List, Optional, Tuple, cast

from pijit.core.bytecode.analysis.function_making import (
    NAME_ON_STACK,
    WITH_ANNOTATIONS,
    WITH_CLOSURE,
    WITH_DEFAULTS,
    WITH_NAMED,
)
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.rewrite.cells import BINDS, binds_again, is_shared
from pijit.core.capture.context import AccessPaths, CaptureContext, MadeFunctionContext
from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.containers.constructions import shared
from pijit.core.capture.models.functions.callees import Callee, CalleeContext
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.objects.stored_values import Wanted
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.frame_state import is_confined
from pijit.core.capture.values.base import Composite
from pijit.core.capture.values.lattice import (
    Abstract,
    CellRef,
    Const,
    KnownContainer,
    LoopIterator,
    Sequence,
    UnescapedFunction,
)
from pijit.core.capture.values.provenance import Root
from pijit.core.capture.values.virtual_object import CONTENT, is_cell
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import CELL, Object
from pijit.core.named_tuples import NamedTuple
from pijit.guards import guard as kinds
from pijit.guards.source import Attr, Inner, Item

SUSPENDING = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_GENERATOR
"""Code flags of generators and coroutines; bytecode makes such functions."""


class Shape(NamedTuple):
    """Static part of a function value.

    ``positional`` is the number of positional defaults, ``named`` are the names of the keyword defaults. ``late``
    has, for each free variable, the number of the captured function's cell, or None.
    """

    code: types.CodeType
    name: str
    positional: int
    named: Tuple[str, ...]
    late: Tuple[Optional[int], ...]

    @property
    def own(self) -> Tuple[str, ...]:
        """The free variables whose cells are the function's own."""
        return tuple(name for name, number in zip(self.code.co_freevars, self.late) if number is None)


class FunctionValue(Composite):
    """A function value. Its parts are its defaults, its keyword defaults and the contents of its own cells;
    ``context`` are its maker's."""

    __slots__ = ("shape", "context")
    python = types.FunctionType

    def __init__(self, shape: Shape, context: CaptureContext, parts: Tuple[Abstract, ...], defined_at: int = -1,
                 source: Any = None, value: Optional[Value] = None) -> None:
        super().__init__(parts, defined_at, source, value)
        self.shape = shape
        self.context = context

    def key(self) -> Any:
        return self.shape, self.context.identity(), self.parts

    def like(self, parts: Tuple[Abstract, ...], source: Any = None, value: Optional[Value] = None) -> "FunctionValue":
        return FunctionValue(self.shape, self.context, parts, self.defined_at, source, value)

    def guards(self, source: Any) -> List[Any]:
        return [kinds.FunctionCode(source, self.shape.code)]

    def paths(self, root: Any) -> List[Any]:
        shape = self.shape
        found: List[Any] = [Item(Inner(root, "__defaults__"), k - shape.positional) for k in range(shape.positional)]
        found += [Item(Inner(root, "__kwdefaults__"), name) for name in shape.named]
        cells = [Item(Attr(root, "__closure__"), k) for k, number in enumerate(shape.late) if number is None]
        return found + [cell if is_cell(held) else Inner(cell, CONTENT) for cell, held in zip(cells, self.contents)]

    def dict_path(self, root: Any) -> Any:
        return Inner(root, "__kwdefaults__") if self.shape.named else None

    def default(self, position: int, name: str) -> Abstract:
        """The default of a parameter, in the form that argument binding asks for."""
        shape = self.shape
        if position and shape.positional >= -position:
            return self.parts[shape.positional + position]
        if not position and name in shape.named:
            return self.parts[shape.positional + shape.named.index(name)]
        raise Break("PJ211", callee=shape.name, problem="no value for %s" % name)

    @property
    def contents(self) -> Tuple[Abstract, ...]:
        """The contents of its own cells; for a cell that functions share, the cell itself."""
        return self.parts[self.shape.positional + len(self.shape.named):]


class ClosureContext(CalleeContext):
    """Capture context of a function that captured code makes: its maker's, and variables of the captured function."""

    __slots__ = ("closure", "maker", "late")

    closure: FunctionValue

    def __init__(self, body: Function, closure: FunctionValue, outer: CaptureContext, shared: Iterable[str]) -> None:
        shape, base = closure.shape, outer.base
        cells = tuple(base.cells[number] if number is not None else _new_cell() for number in shape.late)
        sample = types.FunctionType(shape.code, closure.context.globals, shape.name, None, cells or None)
        super().__init__(body, Callee(sample, AccessPaths(None, closure.root)), outer, shared)
        self.closure, self.maker = closure, closure.context
        self.late = shape.late

    def identity(self) -> Any:
        return self.maker.identity(), self.late

    def find_global(self, name: str, interpreter: Interpreter) -> Any:
        if self.callee.paths.root is not None and self.maker.depth:
            return super().find_global(name, interpreter)
        if (name, id(self.globals)) in self.changed:
            raise Break("PJ219", name=name)
        return self.maker.find_global(name, interpreter)

    def scope_path(self) -> Any:
        found = super().scope_path()
        return found if found is not None else self.maker.scope_path()

    def find_cell(self, number: int, interpreter: Interpreter, name: str) -> Any:
        known = self.late[number - len(self.function.cellvars)]
        if number < len(self.function.cellvars) or known is None:
            raise Break("PJ208", name=name)
        return self.base.find_cell(known, interpreter, name)

    def cell_owners(self, number: int) -> Any:
        known = self.late[number - len(self.function.cellvars)] if number >= len(self.function.cellvars) else None
        return self.base.cell_owners(known) if known is not None else []


def _new_cell() -> Any:
    content = None
    return cast(Tuple[Any, ...], (lambda: content).__closure__)[0]


def pop_code(pop: Callable[[], Abstract]) -> Tuple[Any, str]:
    """The code and the qualified name that MAKE_FUNCTION takes from the stack."""
    name = cast(Const, pop()).object if NAME_ON_STACK else None
    code = cast(Const, pop()).object
    return code, name if name is not None else code.co_qualname


def new_closure(interpreter: Interpreter, instr: Any) -> FunctionValue:
    """The function value of a MAKE_FUNCTION."""
    flags = instr.arg or 0
    code, name = pop_code(interpreter.pop)
    if code.co_flags & SUSPENDING or not code.co_flags & inspect.CO_OPTIMIZED:
        raise Break("PJ202", opcode=instr.opname)
    cells = interpreter.pop() if flags & WITH_CLOSURE else Sequence([])
    annotations = interpreter.pop() if flags & WITH_ANNOTATIONS else Const(None)
    named = interpreter.pop() if flags & WITH_NAMED else Const(None)
    defaults = interpreter.pop() if flags & WITH_DEFAULTS else Const(None)
    if not isinstance(cells, Sequence) or flags & WITH_NAMED and not isinstance(named, KnownContainer):
        raise Break("PJ202", opcode=instr.opname)
    positional = (contents.items_of(interpreter, defaults) or []) if flags & WITH_DEFAULTS else []
    late = tuple(_number_of(interpreter, instr, name, cell) for name, cell in zip(code.co_freevars, cells.items))
    held = [cell.content if isinstance(cell, CellRef) else cell
            for cell, number in zip(cells.items, late) if number is None]
    parts = [*positional, *(named.items if isinstance(named, KnownContainer) else ()), *shared(interpreter, held)]
    for part in parts:
        require_known(part)
    names = tuple(named.keys or ()) if isinstance(named, KnownContainer) else ()
    shape = Shape(code, name, len(positional), names, late)
    own = iter(parts[len(parts) - len(held):])
    operands = [interpreter.object_value(Const(code)),
                interpreter.segment_input(interpreter.context.scope_path(), Object(dict)),
                *[stored_values.stored_value(interpreter, one) for one in (Const(name), defaults, named, annotations)]]
    operands += [interpreter.cell_value(Root("closure", number)) if number is not None
                 else _cell_with(interpreter, next(own)) for number in late]
    made = interpreter.emit("new_function", operands, Object(types.FunctionType))
    return FunctionValue(shape, interpreter.context, tuple(part.forgotten() for part in parts), instr.index, None, made)


def _cell_with(interpreter: Interpreter, held: Abstract) -> Any:
    """The cell of a new function: one of its own, or one that functions share."""
    return (interpreter.object_value(held) if is_cell(held)
            else interpreter.emit("new_cell", [stored_values.stored_value(interpreter, held)], CELL))


def require_known(part: Abstract) -> None:
    """Break for a part of a function value that would not stay known."""
    if is_confined(part) or isinstance(part, LoopIterator) or part.knows_nothing():
        raise Break("PJ218")


def _number_of(interpreter: Interpreter, instr: Any, name: str, cell: Abstract) -> Optional[int]:
    """The number of the captured function's cell that holds a free variable of a new function.

    None if it is a variable of the callee that makes the function.

    Raises:
        Wanted: the next run of the analysis puts that variable in a cell.
    """
    context, names = interpreter.context, interpreter.function.cellvars + interpreter.function.freevars
    if isinstance(cell, CellRef) and is_cell(cell.content):
        return None
    if isinstance(cell, CellRef):
        number = names.index(name)
        known = (_number_of_closure(cast(CalleeContext, context), number) if context.depth
                 else number_of_cell(context, name))
        if known is None:
            raise Break("PJ220", name=name, because="it is in a cell from elsewhere")
        return known
    if name in interpreter.function.freevars:
        return _number_of_outer(context, name)
    callee = context.callee
    if binds_again(interpreter.cfg, instr.index, name) or is_shared(interpreter.cfg, instr.index, name):
        if callee is None:
            raise Break("PJ220", name=name, because="functions share it")
        context.base.findings.objects.add((callee.function.__code__, name))
        raise Wanted("PJ220", name=name, because="functions share it")
    return None


def _number_of_closure(context: CalleeContext, number: int) -> Optional[int]:
    """The number of the captured function's cell that a closure variable of a callee is in."""
    return context.cell_of_base(context.closure_cell(number))


def _number_of_outer(context: Any, name: str) -> Optional[int]:
    """As `_number_of`, for a variable around a comprehension, or around a function with cells of its own."""
    in_comprehension = isinstance(context, MadeFunctionContext)
    while isinstance(context, MadeFunctionContext):
        context = context.maker
        own = context.function.cellvars
        if name in own or not context.depth:
            break
    if not context.depth:
        return number_of_cell(context, name)
    if isinstance(context, ClosureContext) and name not in context.function.cellvars:
        return None
    if in_comprehension:
        raise Break("PJ220", name=name, because="functions share it")
    if any(instr.opname in BINDS and instr.value == name for instr in context.function.instructions):
        raise Break("PJ220", name=name, because="it is bound again while functions share it")
    return None


def number_of_cell(context: CaptureContext, name: str) -> int:
    """The number of a cell of the captured function."""
    function = context.function
    source = context.cell_source((function.cellvars + function.freevars).index(name))
    return source.index - len(function.varnames)


def named_function(made: UnescapedFunction) -> FunctionValue:
    """The function value of a function that the captured function makes and names."""
    late = tuple(number_of_cell(made.context, name) for name in made.code.co_freevars)
    return FunctionValue(Shape(made.code, made.name or "", 0, (), late), made.context, (), made.defined_at)
