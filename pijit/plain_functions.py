"""Python functions behind other callables: copies that pijit does not know, and the functions of methods.

`explain`, `info` and checked calls use this. It must stay cheap to import: it does not need NumPy.
"""

from __future__ import annotations

import types
from typing import Any, List, Tuple

from pijit.core.bytecode.function_twins import twin_with


def plain_twin(function: types.FunctionType) -> types.FunctionType:
    """A copy of the function with its own code object, which pijit does not know."""
    return twin_with(function, _copied(function.__code__))


def _copied(code: types.CodeType) -> types.CodeType:
    if hasattr(code, "replace"):
        return code.replace()
    parts: List[Any] = [code.co_argcount, code.co_kwonlyargcount, code.co_nlocals, code.co_stacksize, code.co_flags,
                        code.co_code, code.co_consts, code.co_names, code.co_varnames, code.co_filename, code.co_name,
                        code.co_firstlineno, code.co_lnotab, code.co_freevars, code.co_cellvars]
    return types.CodeType(*parts)


def unbound(f: Any) -> Tuple[Any, Tuple[Any, ...]]:
    """A method's function and its receiver in a tuple; any other object and ()."""
    return (f.__func__, (f.__self__,)) if isinstance(f, types.MethodType) else (f, ())
