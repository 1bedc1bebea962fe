"""The operands of MAKE_FUNCTION, and where they are on the operand stack.

Up to CPython 3.10 the qualified name is on the stack, above the code. Used by the models of functions and
comprehensions.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Tuple, cast

from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.capture.values.lattice import Abstract, Const

NAME_ON_STACK = sys.version_info < (3, 11)
CODE = 1 + NAME_ON_STACK
"""Number of instructions from the one that pushes the code to MAKE_FUNCTION."""
CLOSURE = CODE + 1
"""Number of instructions from the one that pushes the tuple of cells to MAKE_FUNCTION."""


def code_made(function: Function, make: Instr) -> Any:
    """The code of the function that a MAKE_FUNCTION makes."""
    return function.instructions[make.index - CODE].value


def pop_code(pop: Callable[[], Abstract]) -> Tuple[Any, str]:
    """The code and the qualified name that MAKE_FUNCTION takes from the stack."""
    name = cast(Const, pop()).object if NAME_ON_STACK else None
    code = cast(Const, pop()).object
    return code, name if name is not None else code.co_qualname
