"""Substitutions: calls that captured code makes in another way than bytecode.

Bytecode compiles the function of a `call_compiled`; captured code contains it. During `call_with_attribute` attributes
of objects have other values. Captured code makes no stores for that.

In captured code an attribute that is written is a variable, so another value of the variable is enough. Side exits lead
to before the call, and bytecode makes the whole call. That is impossible if an exit would lead into the middle of the
call, because an effect precedes it. It is also impossible if the call writes such an attribute. Then the capture begins
again, and this call makes the stores.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.functions.callees import Callee
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models_code
from pijit.core.capture.state.return_kinds import LeavesInside
from pijit.core.capture.values.describe import Arguments
from pijit.core.capture.values.lattice import Abstract
from pijit.core.errors import Break
from pijit.core.graph.substitution import call_compiled, call_with_attribute

OWN = frozenset(["objects", "name", "values", "function"])
"""The keywords that are not passed on to the callee."""

CHOICE = frozenset(["function", "compiled"])
"""The keywords of `call_compiled` that are not passed on to the function."""

Substitution = Tuple[str, Abstract, Abstract]
"""The name of a location among the variables, its value, and its value during the call."""


@models_code(call_with_attribute)
def substituted_call(interpreter: Interpreter, callee: Callee, arguments: List[Abstract],
                     keywords: Arguments) -> Abstract:
    """A call during which attributes have other values: without stores, unless it gives rise to `LeavesInside`."""
    before, stored = interpreter.state.copy(), interpreter.context.base.types.stored
    found = _substitutions(interpreter, keywords)
    places = tuple(name for name, _, _ in found or ())
    if found is None or places in stored:
        interpreter.state = before
        inlined: Abstract = interpreter.context.required_inliner.call(interpreter, callee, arguments, keywords)
        return inlined
    try:
        named = {name: value for name, value in keywords.items() if name not in OWN}
        return _call(interpreter, found, keywords["function"], arguments, named)
    except LeavesInside:
        stored.add(places)
        raise


@models_code(call_compiled)
def call_of_function(interpreter: Interpreter, callee: Callee, arguments: List[Abstract],
                     keywords: Arguments) -> Abstract:
    """The call of a function that bytecode would compile."""
    if not CHOICE.issubset(keywords):
        raise Break("PJ201", callee=call_compiled.__name__)
    named = {name: value for name, value in keywords.items() if name not in CHOICE}
    return interpreter.call(keywords["function"], arguments, named)


def _substitutions(interpreter: Interpreter, keywords: Arguments) -> Optional[List[Substitution]]:
    """What the keywords ask for; None if an object or an attribute is not known."""
    if not OWN.issubset(keywords):
        return None
    try:
        objects, values = (contents.items_of(interpreter, keywords[name]) for name in ("objects", "values"))
        name: Any = interpreter.constant(keywords["name"])
        if objects is None or values is None or len(objects) != len(values) or type(name) is not str:
            return None
        owners = [interpreter.use(one) for one in objects]
        kept = [interpreter.use(interpreter.attribute(one, name)) for one in owners]
        places = [interpreter.written_attribute(one, name, "__setattr__").name for one in owners]
        return list(zip(places, kept, map(interpreter.use, values)))
    except Break:
        return None


def _call(interpreter: Interpreter, found: List[Substitution], function: Abstract, args: List[Abstract],
          keywords: Arguments) -> Abstract:
    """The result of the call.

    Raises:
        LeavesInside: a kernel may leave in its middle, or the call writes one of the attributes.
    """
    substitutions = interpreter.context.base.substitutions
    for name, _, value in found:
        interpreter.state.locals[name] = value
    around = len(substitutions)
    substitutions += [name for name, _, _ in found]
    try:
        result = interpreter.call(function, args, keywords)
    finally:
        del substitutions[around:]
    for name, value, _ in found:
        interpreter.state.locals[name] = value
    return result
