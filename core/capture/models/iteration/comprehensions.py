"""Comprehensions, generator expressions, lambdas and local functions that are called where they are made.

Making such a function leaves no trace, so it is captured. No segment can start with its value. A call of it is
inlined with what its free variables hold. A side exit repeats all of it, because nothing has seen the list by then.
A named function is made where the kernel exits, if it is still called after that. `interpreter/function_making.py`
interprets the instructions.
"""

from __future__ import annotations

import functools
import types
from typing import Dict, List, Optional, Tuple

from pijit.core.bytecode.analysis.cell_writes import written_free_variables
from pijit.core.bytecode.analysis.function_making import (
    WITH_CLOSURE,
    code_made,
    escapes_at_once,
    maker_at,
    precedes_closure,
)
from pijit.core.bytecode.analysis.liveness import reads_all_locals
from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.instructions.predicates import builds_tuple, stores_local
from pijit.core.bytecode.rewrite.generator_to_loop import GENERATOR, Consumer, variable
from pijit.core.capture.context import MadeFunctionContext
from pijit.core.capture.models.functions import shared_cells
from pijit.core.capture.models.functions.function_values import FunctionValue, named_function
from pijit.core.capture.models.iteration.iterators import EACH_ITEM, iterator_over
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.argument_binding import bind
from pijit.core.capture.values.describe import Arguments
from pijit.core.capture.values.generator_frame import rest_of
from pijit.core.capture.values.lattice import Abstract, Lazy, Unbound, UnescapedFunction, Unknown
from pijit.core.capture.values.virtual_object import is_cell
from pijit.core.errors import Break


def not_inlined(interpreter: Interpreter, callee: UnescapedFunction, error: Break) -> Break:
    """The error to raise where a call of such a function is not inlined after all."""
    return error


def function_made(interpreter: Interpreter, instr: Instr) -> Tuple[Optional[types.CodeType], bool]:
    """The code of the function that this or the next MAKE_FUNCTION makes, and whether it is called on the spot.

    The code is None if bytecode makes the function. A function that is bound to a variable may count as called
    on the spot, see `_made_on_the_spot`.
    """
    make = maker_at(interpreter.function, instr.index)
    code, base = code_made(interpreter.function, make), interpreter.context.base
    if not isinstance(code, types.CodeType) or interpreter.context.inliner is None or code in base.findings.by_bytecode:
        return None, False
    spot = _made_on_the_spot(interpreter.function, make, interpreter.context.depth)
    return code, spot is not None and not (make.arg or 0) & ~WITH_CLOSURE and code not in base.findings.objects


def makes_object(interpreter: Interpreter, instr: Instr) -> bool:
    """Whether an instruction helps to make, as an object,
    a function that was first taken to be called on the spot."""
    if builds_tuple(instr) and not precedes_closure(interpreter.function, instr):
        return False
    code, on_the_spot = function_made(interpreter, instr)
    return not on_the_spot and code in interpreter.context.base.findings.objects


def call_closure(interpreter: Interpreter, callee: FunctionValue, arguments: List[Abstract],
                 keywords: Arguments) -> Abstract:
    """A call of a function value. If it is not inlined, bytecode makes the function,
    so that more can be done with it."""
    try:
        result: Abstract = interpreter.context.required_inliner.call_closure(interpreter, callee, arguments, keywords)
        return result
    except Break:
        if callee.context is interpreter.context and not interpreter.context.depth:
            interpreter.context.findings.by_bytecode.add(callee.shape.code)
        raise


def call_made(interpreter: Interpreter, callee: UnescapedFunction, arguments: List[Abstract],
              keywords: Arguments) -> Abstract:
    """A call of a function that was made here; the body of a generator does not run yet."""
    if len(callee.free) < len(callee.code.co_freevars):
        try:
            return interpreter.context.required_inliner.call_closure(
                interpreter, named_function(callee), arguments, keywords)
        except Break as error:
            raise interpreter.not_inlined(callee, error)
    bound = bind(callee.code, arguments, keywords, _no_default, interpreter.context.depth)
    if not callee.code.co_flags & GENERATOR:
        try:
            result = interpreter.context.required_inliner.run(interpreter, _as_called(interpreter, callee), bound)
            return result
        except Break as error:
            raise interpreter.not_inlined(callee, error)
    if list(bound) != [".0"]:
        raise Break("PJ101")
    return Lazy(callee, bound[".0"])


def consume(interpreter: Interpreter, consumer: Consumer, value: Abstract,
            given: Optional[Dict[str, Abstract]] = None) -> Abstract:
    """The result of a builtin that takes all items of ``value``; ``given`` are variables of the consumer."""
    if interpreter.context.inliner is None:
        raise Break("PJ201", callee=consumer.name)
    value = rest_of(value, functools.partial(with_variables, interpreter))
    if not isinstance(value, Lazy):
        value = Lazy(UnescapedFunction(EACH_ITEM, (), interpreter.context), iterator_over(interpreter, value))
    locals = {variable(name): item for name, item in (given or {}).items()}
    locals[".0"] = value.iterator
    return interpreter.context.required_inliner.run(interpreter, _as_called(interpreter, value.made), locals, consumer)


def _as_called(interpreter: Interpreter, made: UnescapedFunction) -> UnescapedFunction:
    """A function with what its free variables hold at the call: they may have been bound again."""
    names = made.code.co_freevars
    if len(made.free) < len(names):
        return made
    return made.with_parts(tuple(_held_now(interpreter, made, name, held) for name, held in zip(names, made.free)))


def _held_now(interpreter: Interpreter, made: UnescapedFunction, name: str, held: Abstract) -> Abstract:
    context = made.context
    own = context.function.cellvars + context.function.freevars
    location = context.cell_location(own.index(name), name) if name in own else None
    if is_cell(held) or location is None and not (context is interpreter.context and context.depth):
        return held
    now: Optional[Abstract] = interpreter.state.locals.get(location.name if location is not None else name)
    if now is None or now.knows_nothing() and held.knows_nothing():
        return held
    return Unknown("PJ212") if isinstance(now, Unbound) else now


def _no_default(position: int, name: str) -> Abstract:
    raise Break("PJ211", problem="no value for %s" % name)


def _made_on_the_spot(function: Function, instr: Instr, depth: int) -> Optional[types.CodeType]:
    """The code of the function that this or the next MAKE_FUNCTION makes, if it is used at once or bound to a
    variable.

    A function that writes a variable of the function around it is made by bytecode.
    """
    make = maker_at(function, instr.index)
    code = code_made(function, make)
    if not isinstance(code, types.CodeType) or escapes_at_once(function, make):
        return None
    if stores_local(function.instructions[make.index + 1]):
        # only where no code can observe that it is rebuilt when it is needed
        suits = not depth and not code.co_flags & GENERATOR and not reads_all_locals(function)
    else:
        suits = code.co_name.startswith("<")
    return code if suits and not written_free_variables(code) else None


def with_variables(interpreter: Interpreter, made: UnescapedFunction) -> UnescapedFunction:
    """A function with what its maker's variables hold now; Break if these are another function's and unknown."""
    names = made.code.co_freevars
    if is_made_here(interpreter, made):
        return made.with_parts(tuple(_variable(interpreter, name) for name in names))
    if len(made.free) < len(names):
        raise Break("PJ209", type="generator over variables of another function")
    return made


def is_made_here(interpreter: Interpreter, made: UnescapedFunction) -> bool:
    """Whether the function that is being interpreted made it."""
    here, there = interpreter.context, made.context
    return here.function is there.function and here.identity() == there.identity()


def _variable(interpreter: Interpreter, name: str) -> Abstract:
    function, own = interpreter.function, interpreter.function.cellvars + interpreter.function.freevars
    if (not interpreter.context.depth
            or name in function.freevars and not isinstance(interpreter.context, MadeFunctionContext)):
        return shared_cells.content_of(interpreter, own.index(name), name)
    found = interpreter.state.locals.get(name, Unknown("PJ212"))
    if isinstance(found, (Unbound, Unknown)):
        raise Break("PJ212", name=name)
    if is_cell(found):
        raise Break("PJ209", type="generator over a variable that functions share")
    return found
