"""Code that returns its arguments: `internal_functions` binds the arguments of a call with it."""

from __future__ import annotations

from types import CodeType

from pijit.core.bytecode.assembler.emit import Emit
from pijit.core.bytecode.codec.encode import Assembler
from pijit.core.bytecode.instructions.instruction import Function


def returning_arguments(function: Function) -> CodeType:
    """The code of a function with a beginning that returns a tuple of all arguments, in the order of the variables."""
    names = function.varnames[:function.argument_count]
    assembler = Assembler(function)
    emit = Emit(assembler, None)
    items = [emit.value_of(name) for name in names] + [emit.op("BUILD_TUPLE", len(names)), emit.op("RETURN_VALUE")]
    assembler.insert(assembler.first_place(), items)
    return assembler.assemble()
