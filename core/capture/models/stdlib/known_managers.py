"""Context managers with a model: ``np.errstate``, those of contextlib, and ``contextmanager``.

The model of ``contextmanager`` inlines the generator function that it wraps. The next instruction must enter the
manager. So its object is needed only where a kernel exits inside the block.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.predicates import enters_with
from pijit.core.capture.context import AccessPaths
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import MANAGER, entry_of, models, register_entry
from pijit.core.capture.values.describe import Arguments
from pijit.core.capture.values.generator_frame import GeneratorFrame, has_ended
from pijit.core.capture.values.lattice import Abstract, BoundFunction, Const
from pijit.core.capture.values.virtual_object import StackTuple
from pijit.core.errors import Break
from pijit.core.named_tuples import NamedTuple
from pijit.guards.source import Attr, Inner, Item

FLAGS: Dict[str, int] = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
"""NumPy's bits of the floating-point flags, by their names in ``np.errstate``."""
SETTINGS = frozenset(["ignore", "warn", "raise", "print"])
"""Ways to handle an error that need no further object."""


def entered(*settings: str) -> Any:
    """The ``__exit__`` of an error state that was entered;
    ``settings`` alternates kinds of errors and their handling."""
    named: Any = dict(zip(settings[::2], settings[1::2]))
    state = np.errstate(**named)
    state.__enter__()
    return state.__exit__


def suppressing(*classes: type) -> Any:
    """The ``__exit__`` of a manager that suppresses these exceptions."""
    return contextlib.suppress(*classes).__exit__


def doing_nothing(*value: Any) -> Any:
    """The ``__exit__`` of a manager that does nothing."""
    return contextlib.nullcontext(*value).__exit__


def generating(generator: Any) -> Any:
    """The ``__exit__`` of a generator-based manager whose generator is suspended at its yield."""
    manager = GENERATOR.__new__(GENERATOR)
    manager.gen = generator
    return manager.__exit__


GENERATOR: Any = contextlib._GeneratorContextManager
HELPER = contextlib.contextmanager(generating).__code__
"""The code of the function that ``contextmanager`` makes from a generator function."""


def _enter_generator(interpreter: Interpreter, owner: GeneratorFrame) -> Tuple[Abstract, Abstract]:
    after = interpreter.context.required_inliner.resume(interpreter,
                                             owner.like(tuple(map(interpreter.use, owner.parts))))
    if not isinstance(after, GeneratorFrame):
        raise Break("PJ206", because="there are several ways to the yield of its generator")
    waiting = GeneratorFrame(owner.maker, after.point, after.names, after.parts[:-1],
                             defined_at=interpreter.instr.index)
    after.parts[-1].defined_at = interpreter.instr.index
    return waiting, after.parts[-1]


def _leave_generator(interpreter: Interpreter, owner: GeneratorFrame) -> None:
    if not has_ended(interpreter.context.required_inliner.resume(interpreter,
                                                      owner.like(tuple(map(interpreter.use, owner.parts))))):
        raise Break("PJ206", because="its generator may yield again")


class Ready(NamedTuple):
    """Model of a manager: ``make`` builds its ``__exit__`` from its parts;
    ``enter`` and ``leave`` are the ends of its block."""

    make: Callable[..., Any]
    enter: Callable[[Any, Any], Tuple[Abstract, Abstract]] = lambda interpreter, owner: (owner, Const(None))
    leave: Callable[[Any, Any], None] = lambda interpreter, owner: None


register_entry(MANAGER, np.errstate, Ready(entered))
register_entry(MANAGER, contextlib.suppress, Ready(suppressing))
register_entry(MANAGER, contextlib.nullcontext,
               Ready(doing_nothing, lambda interpreter, owner: (owner, [*owner.items, Const(None)][0])))
register_entry(MANAGER, GENERATOR, Ready(generating, _enter_generator, _leave_generator))


def ready(value: Abstract) -> Optional[Ready]:
    """The model of a manager that a call has made, or that was entered; None if its class has no model."""
    known = isinstance(value, BoundFunction) and isinstance(value.function, Const)
    found: Optional[Ready] = entry_of(MANAGER, value.function.object) if known else None  # type: ignore[attr-defined]
    return found


def refuse_loop(interpreter: Interpreter, setup: Instr) -> None:
    """Break if a loop of the captured function is inside its with statement. A kernel that exits in the loop would
    be re-entered where only bytecode knows the manager. Graphs for gradients have no re-entries."""
    for loop in interpreter.cfg.loops if not interpreter.context.depth and interpreter.context.options.handlers else ():
        blocks = interpreter.cfg.block_stack[interpreter.cfg.blocks[loop.header].start]
        if any(block.pusher == setup.index for block in blocks or ()):
            raise Break("PJ206", opcode=setup.opname, because="a loop inside has a kernel of its own")


def _made(interpreter: Interpreter, cls: Any, owner: Abstract, fits: bool) -> Abstract:
    """A new manager; Break unless the next instruction enters it."""
    following = interpreter.function.instructions[interpreter.instr.index + 1]
    if not fits or not enters_with(following):
        raise Break("PJ210" if cls is np.errstate else "PJ201", callee=cls.__name__)
    refuse_loop(interpreter, following)
    return BoundFunction(Const(cls), owner, interpreter.instr.index)


@models(np.errstate)
def call_errstate(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.errstate(...)`` with known settings."""
    hows = {name: interpreter.constant(value) for name, value in keywords.items()}
    known = all(type(how) is str and how in SETTINGS for how in hows.values())
    fits = known and bool(hows) and not arguments and set(hows) <= {"all", *FLAGS}
    settings = [(kind, hows.get(kind, hows.get("all"))) for kind in FLAGS]
    parts = [Const(part) for kind, how in settings if how is not None for part in (kind, how)]
    return _made(interpreter, np.errstate, StackTuple(list(parts)), fits)


@models(contextlib.suppress)
def call_suppress(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``contextlib.suppress(...)`` with known classes."""
    fits = all(isinstance(value, Const) and type(value.object) is type for value in arguments)
    return _made(interpreter, contextlib.suppress, StackTuple(arguments), fits and not keywords)


@models(contextlib.nullcontext)
def call_nullcontext(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``contextlib.nullcontext(value)``."""
    values = arguments + list(keywords.values())
    fits = len(values) < 2 and set(keywords) <= {"enter_result"}
    return _made(interpreter, contextlib.nullcontext, StackTuple(values), fits)


def managing_function(interpreter: Interpreter, callee: Any) -> Abstract:
    """The generator function that ``contextmanager`` wraps in a callee; the callee's code is `HELPER`."""
    found = next(k for k, name in enumerate(HELPER.co_freevars) if name == "func")
    paths: AccessPaths = callee.paths.then(Attr, "__closure__").then(Item, found).then(Inner, "cell_contents")
    return locations.known_object(interpreter, callee.function.__closure__[found].cell_contents,
                                  *paths)


def managed(interpreter: Interpreter, generator: Abstract) -> Abstract:
    """The result of a function under ``contextmanager``, given the generator that its generator function returns."""
    return _made(interpreter, GENERATOR, generator, isinstance(generator, GeneratorFrame))
