"""Instrumentation: rewrites code objects so that operators, subscripts, stores, calls and attributes call helpers.

The rewritten code keeps names, lines, flags, cells and locals; it is made once per code object.
"""

from __future__ import annotations

import collections
from types import CodeType, FunctionType
from typing import Any, Callable, Dict, List, Optional, Tuple

import bytecode

from pijit.core.tape import calls, managers, operations
from pijit.core.tape.errors import INSTRUMENTED

LIMIT = 4096
"""Rewritten code objects that are kept; the least recently used goes first."""

_made: "collections.OrderedDict[int, Tuple[CodeType, CodeType]]" = collections.OrderedDict()

OPERATORS = {"ADD": "add", "SUBTRACT": "sub", "MULTIPLY": "mul", "TRUE_DIVIDE": "truediv", "FLOOR_DIVIDE": "floordiv",
             "MODULO": "mod", "POWER": "pow", "MATRIX_MULTIPLY": "matmul", "AND": "and_", "OR": "or_", "XOR": "xor",
             "LSHIFT": "lshift", "RSHIFT": "rshift"}

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")



def instrumented_code(code: CodeType) -> CodeType:
    """The rewritten code of a code object."""
    found = _made.get(id(code))
    if found is None:
        found = code, _rewrite(code)
        INSTRUMENTED.add(found[1])
        while len(_made) >= LIMIT:
            INSTRUMENTED.discard(_made.popitem(last=False)[1][1])
    else:
        del _made[id(code)]
    _made[id(code)] = found
    return found[1]


def instrumented(function: FunctionType) -> FunctionType:
    """The function with rewritten code; everything else is shared with the original."""
    made = FunctionType(instrumented_code(function.__code__), function.__globals__, function.__name__,
                        function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def _rewrite(code: CodeType) -> CodeType:
    listed = bytecode.Bytecode.from_code(code)
    first = _first_argument(code)
    out: List[Any] = []
    for one in listed:
        if not issubclass(type(one), bytecode.Instr):
            out.append(one)
            continue
        if one.name == "CALL_FUNCTION" and one.arg == 0 and "__class__" in code.co_freevars and first is not None:
            replaced: Optional[List[Tuple[Any, ...]]] = _super_call(code, first)
        else:
            replaced = _replacement(one)
        if replaced is None:
            out.append(_fresh(one))
        else:
            out += [bytecode.Instr(*item, lineno=one.lineno) for item in replaced]
    listed[:] = out
    return listed.to_code()


def _fresh(one: Any) -> Any:
    """Float constants are objects of this code alone, since a constant may be the object that is an argument."""
    if one.name == "LOAD_CONST":
        one.arg = _own(one.arg)
    return one


def _own(constant: Any) -> Any:
    if type(constant) in (float, complex):
        return type(constant)(repr(constant).strip("()")) if constant == constant else constant * 1.0
    if type(constant) is tuple:
        return tuple(map(_own, constant))
    return constant


def _first_argument(code: CodeType) -> Optional[Tuple[str, Any]]:
    """The instruction that loads the first argument, as `super()` finds it."""
    if not code.co_argcount:
        return None
    name = code.co_varnames[0]
    return ("LOAD_DEREF", bytecode.CellVar(name)) if name in code.co_cellvars else ("LOAD_FAST", name)


def _super_call(code: CodeType, first: Tuple[str, Any]) -> List[Tuple[Any, ...]]:
    """A call without arguments in a method, which may be one of `super`."""
    return [("LOAD_DEREF", bytecode.FreeVar("__class__")), first, ("BUILD_TUPLE", 2), ("LOAD_CONST", calls.call_or_super),
            ("ROT_THREE",), ("CALL_FUNCTION", 2)]


def _helper(function: Any, operands: int) -> List[Tuple[Any, ...]]:
    """Call a helper with the topmost values of the operand stack."""
    if operands == 1:
        return [("LOAD_CONST", function), ("ROT_TWO",), ("CALL_FUNCTION", 1)]
    return [("LOAD_CONST", function), ("ROT_THREE",), ("CALL_FUNCTION", 2)]


def _call(function: Any, arguments: int) -> List[Tuple[Any, ...]]:
    """Call a helper with the callable and a tuple of the values above it."""
    return [("BUILD_TUPLE", arguments), ("LOAD_CONST", function), ("ROT_THREE",), ("CALL_FUNCTION", 2)]


def _replacement(one: Any) -> Optional[List[Tuple[Any, ...]]]:
    group, _, rest = one.name.partition("_")
    if rest in OPERATORS and group in ("BINARY", "INPLACE"):
        table = operations.BINARY if group == "BINARY" else operations.INPLACE
        return _helper(table[OPERATORS[rest]], 2)
    make = _REPLACED.get(one.name)
    return None if make is None else make(one.arg)


def _compare(arg: Any) -> Optional[List[Tuple[Any, ...]]]:
    name = getattr(arg, "name", "").lower()
    return _helper(operations.BINARY[name], 2) if name in COMPARISONS else None


_REPLACED: Dict[str, Callable[[Any], Optional[List[Tuple[Any, ...]]]]] = {
    "BINARY_SUBSCR": lambda arg: _helper(operations.load, 2),
    "STORE_SUBSCR": lambda arg: [("BUILD_TUPLE", 3)] + _helper(operations.store_slot, 1) + [("POP_TOP",)],
    "STORE_ATTR": lambda arg: [("BUILD_TUPLE", 2), ("LOAD_CONST", arg)] + _helper(operations.store_attribute, 2)
    + [("POP_TOP",)],
    "UNARY_NEGATIVE": lambda arg: _helper(operations.negate, 1),
    "UNARY_POSITIVE": lambda arg: _helper(operations.posit, 1),
    "COMPARE_OP": _compare,
    "GET_ITER": lambda arg: _helper(operations.iterate, 1),
    "UNPACK_SEQUENCE": lambda arg: _helper(operations.unpackable, 1) + [("UNPACK_SEQUENCE", arg)],
    "UNPACK_EX": lambda arg: _helper(operations.unpackable, 1) + [("UNPACK_EX", arg)],
    "SETUP_WITH": lambda arg: _helper(managers.entered, 1) + [("SETUP_WITH", arg)],
    "LIST_EXTEND": lambda arg: _helper(operations.unpackable, 1) + [("LIST_EXTEND", arg)],
    "LOAD_ATTR": lambda arg: [("LOAD_CONST", arg)] + _helper(operations.attribute, 2),
    "LOAD_METHOD": lambda arg: [("LOAD_CONST", arg)] + _helper(operations.attribute, 2),
    "CALL_FUNCTION": lambda arg: _call(calls.call, arg),
    "CALL_METHOD": lambda arg: _call(calls.call, arg),
    "CALL_FUNCTION_KW": lambda arg: _call(calls.call_keywords, arg + 1),
    "CALL_FUNCTION_EX": lambda arg: _call(calls.call_unpacked, 2 if arg & 1 else 1),
}
