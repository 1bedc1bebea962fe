"""Instrumentation: rewrites code objects so that operators, subscripts, stores, calls and attributes call helpers.

The rewritten code keeps names, lines, flags, cells and locals; it is made once per code object.
"""

from __future__ import annotations

import collections
from types import CodeType, FunctionType
from typing import Any, Callable, Dict, List, Optional, Tuple

import bytecode

from pijit.core.tape import attributes, calls, iteration, managers, operations, special_methods
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
    if name in ("in", "not_in"):
        return _contains(name == "not_in")
    return _helper(operations.BINARY[name], 2) if name in COMPARISONS else None


def _contains(negated: Any) -> List[Tuple[Any, ...]]:
    return _helper(special_methods.contains, 2) + [("UNARY_NOT",)] * bool(negated)


def _tested(name: str) -> Callable[[Any], List[Tuple[Any, ...]]]:
    """An instruction that tests the topmost value for truth, and drops it."""
    return lambda arg: _helper(special_methods.truth, 1) + [(name, arg) if arg is not bytecode.UNSET else (name,)]


def _kept(name: str) -> Callable[[Any], List[Tuple[Any, ...]]]:
    """A jump that keeps the value that it tests, and drops it where it does not jump."""
    return lambda target: [("DUP_TOP",)] + _helper(special_methods.truth, 1) + [(name, target), ("POP_TOP",)]


def _formatted(arg: int) -> List[Tuple[Any, ...]]:
    if arg & 4 == 0:
        return _helper(special_methods.stand_in, 1) + [("FORMAT_VALUE", arg)]
    return [("ROT_TWO",)] + _helper(special_methods.stand_in, 1) + [("ROT_TWO",), ("FORMAT_VALUE", arg)]


def _unpacking(name: str, helper: Any) -> Callable[[Any], List[Tuple[Any, ...]]]:
    """A display of several unpacked operands, which CPython 3.7 and 3.8 make by one instruction."""
    return lambda arg: [("BUILD_TUPLE", arg)] + _helper(helper, 1) + [("UNPACK_SEQUENCE", arg), (name, arg)]


def _before(helper: Any, name: str) -> Callable[[Any], List[Tuple[Any, ...]]]:
    """A helper for the topmost value, and the instruction itself."""
    return lambda arg: _helper(helper, 1) + [(name, arg) if arg is not bytecode.UNSET else (name,)]


_REPLACED: Dict[str, Callable[[Any], Optional[List[Tuple[Any, ...]]]]] = {
    "BINARY_SUBSCR": lambda arg: _helper(operations.load, 2),
    "STORE_SUBSCR": lambda arg: [("BUILD_TUPLE", 3)] + _helper(operations.store_slot, 1) + [("POP_TOP",)],
    "STORE_ATTR": lambda arg: [("BUILD_TUPLE", 2), ("LOAD_CONST", arg)] + _helper(attributes.store_attribute, 2)
    + [("POP_TOP",)],
    "DELETE_SUBSCR": lambda arg: _helper(operations.delete, 2) + [("POP_TOP",)],
    "DELETE_ATTR": lambda arg: [("LOAD_CONST", arg)] + _helper(attributes.delete_attribute, 2) + [("POP_TOP",)],
    "UNARY_NEGATIVE": lambda arg: _helper(operations.negate, 1),
    "UNARY_POSITIVE": lambda arg: _helper(operations.posit, 1),
    "UNARY_INVERT": lambda arg: _helper(operations.invert, 1),
    "UNARY_NOT": _tested("UNARY_NOT"),
    "POP_JUMP_IF_TRUE": _tested("POP_JUMP_IF_TRUE"),
    "POP_JUMP_IF_FALSE": _tested("POP_JUMP_IF_FALSE"),
    "JUMP_IF_TRUE_OR_POP": _kept("POP_JUMP_IF_TRUE"),
    "JUMP_IF_FALSE_OR_POP": _kept("POP_JUMP_IF_FALSE"),
    "COMPARE_OP": _compare,
    "CONTAINS_OP": _contains,
    "FORMAT_VALUE": _formatted,
    "GET_ITER": lambda arg: _helper(iteration.iterate, 1),
    "GET_YIELD_FROM_ITER": _before(iteration.delegated, "GET_YIELD_FROM_ITER"),
    "UNPACK_SEQUENCE": _before(iteration.streamed, "UNPACK_SEQUENCE"),
    "UNPACK_EX": _before(iteration.streamed, "UNPACK_EX"),
    "SETUP_WITH": _before(managers.entered, "SETUP_WITH"),
    "LIST_EXTEND": _before(iteration.listed, "LIST_EXTEND"),
    "SET_UPDATE": _before(iteration.listed, "SET_UPDATE"),
    "DICT_UPDATE": _before(iteration.mapping, "DICT_UPDATE"),
    "DICT_MERGE": _before(iteration.mapping, "DICT_MERGE"),
    "LOAD_ATTR": lambda arg: [("LOAD_CONST", arg)] + _helper(attributes.attribute, 2),
    "LOAD_METHOD": lambda arg: [("LOAD_CONST", arg)] + _helper(attributes.attribute, 2),
    "CALL_FUNCTION": lambda arg: _call(calls.call, arg),
    "CALL_METHOD": lambda arg: _call(calls.call, arg),
    "CALL_FUNCTION_KW": lambda arg: _call(calls.call_keywords, arg + 1),
    "CALL_FUNCTION_EX": lambda arg: _call(calls.call_unpacked, 2 if arg & 1 else 1),
}
_REPLACED.update((name, _unpacking(name, iteration.all_listed)) for name in (
    "BUILD_LIST_UNPACK", "BUILD_TUPLE_UNPACK", "BUILD_TUPLE_UNPACK_WITH_CALL", "BUILD_SET_UNPACK"))
_REPLACED.update((name, _unpacking(name, iteration.all_mappings)) for name in ("BUILD_MAP_UNPACK", "BUILD_MAP_UNPACK_WITH_CALL"))
