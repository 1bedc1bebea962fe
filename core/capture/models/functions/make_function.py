"""The operands of MAKE_FUNCTION, and where they are on the operand stack.

Up to CPython 3.10 the qualified name is on the stack, above the code. Used by the models of functions and
comprehensions.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Tuple

from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.capture.values.lattice import Abstract

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
    name = pop().object if NAME_ON_STACK else None  # type: ignore[attr-defined]
    code = pop().object  # type: ignore[attr-defined]
    return code, name if NAME_ON_STACK else code.co_qualname
