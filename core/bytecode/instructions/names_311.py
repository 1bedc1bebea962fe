"""The instruction set of the normal form: names and arguments of the instructions of CPython 3.11 to 3.14.

The normal form uses the name and the argument that CPython 3.10 has for an operation. So the capturer knows one
instruction set. An opcode that these tables do not contain raises; the code never guesses.
"""

from __future__ import annotations

import dis
import sys
from types import CodeType
from typing import Any, Callable, Dict, FrozenSet, Optional, Sequence, Tuple

from pijit.core.bytecode.instructions.instruction import Instr
from pijit.core.named_tuples import NamedTuple

_VERSION = sys.version_info[:2]

#: Whether the empty slot of a call is above the callable (3.13), not below it.
NULL_ABOVE_CALLABLE = _VERSION >= (3, 13)
#: Whether CALL_FUNCTION_EX always has a stack item for keywords, which may be empty.
KEYWORDS_HAVE_A_SLOT = _VERSION >= (3, 14)
#: Names of calls that have a method and its owner below the arguments, not a function and an empty slot.
METHOD_CALLS = {
    "CALL_FUNCTION": "CALL_METHOD", "CALL_FUNCTION_KW": "CALL_METHOD_KW", "CALL_FUNCTION_EX": "CALL_FUNCTION_EX"}


class Normal(NamedTuple):
    """An instruction of the normal form; see `Instr`."""

    opname: str
    arg: Optional[int]
    value: Any


class Names:
    """The names that a code object's instructions refer to. Cells are numbered as in 3.10.

    Attributes:
        cells: numbers of cells and free variables.
        remade: variables whose cell is replaced while the function runs, in inlined comprehensions (3.12).
        reused: variables whose slot also has the variable of an inlined comprehension, which is no cell (3.12).
    """

    __slots__ = ("cells", "remade", "reused")

    def __init__(self, code: CodeType, instructions: Sequence[Instr]) -> None:
        cells = code.co_cellvars + code.co_freevars
        self.cells: Dict[str, int] = {name: number for number, name in enumerate(cells)}
        self.remade = frozenset(instr.value for instr in instructions if instr.opname == "MAKE_CELL")
        self.reused = frozenset(instr.value for instr in instructions if instr.opname == "LOAD_FAST_AND_CLEAR")


_OF_REMADE_CELL = {"LOAD_DEREF": "LOAD_CONTENT", "STORE_DEREF": "STORE_CONTENT", "DELETE_DEREF": "DELETE_CONTENT",
                   "LOAD_CLOSURE": "LOAD_CELL", "LOAD_FAST_AND_CLEAR": "LOAD_CELL", "STORE_FAST": "STORE_CELL",
                   "DELETE_FAST": "DELETE_CONTENT", "MAKE_CELL": "MAKE_CELL"}
"""Names of accesses to cells that are created while the function runs; these accesses stay bytecode."""

NamingRule = Callable[[Instr, Names], Normal]


def _kept(instr: Instr, names: Names) -> Normal:
    return Normal(instr.opname, instr.arg, instr.value)


def _renamed(name: str) -> NamingRule:
    return lambda instr, names: Normal(name, instr.arg, instr.value)


def _nothing(instr: Instr, names: Names) -> Normal:
    return Normal("NOP", None, None)


def _by_argument(known: Dict[int, str], otherwise: NamingRule) -> NamingRule:
    """Operations that share one opcode and are told apart by its argument."""
    def rule(instr: Instr, names: Names) -> Normal:
        name = known.get(instr.arg or 0)
        return otherwise(instr, names) if name is None else Normal(name, None, None)

    return rule


def _shifted(bits: int, name: str, flagged: Optional[str] = None, flag: int = 1) -> NamingRule:
    """Drop the flags in the argument's low bits; use another name if a flag is set."""
    def rule(instr: Instr, names: Names) -> Normal:
        is_flagged = flagged is not None and instr.raw & flag
        return Normal(flagged if is_flagged else name, instr.raw >> bits, instr.value)  # type: ignore[arg-type]

    return rule


def _compared(instr: Instr, names: Names) -> Normal:
    """The argument is 1 if the result is converted to bool by the same instruction (3.13), else 0."""
    return Normal("COMPARE_OP", int(_VERSION >= (3, 13) and bool(instr.raw & 16)), instr.value)


def _cell(instr: Instr, names: Names) -> Normal:
    """Access to a cell. It has another name, which capture does not handle, if the cell may be replaced."""
    name = _OF_REMADE_CELL[instr.opname] if instr.value in names.remade else instr.opname
    return Normal(name, names.cells[instr.value], instr.value)


def _numbered(instr: Instr, names: Names) -> Normal:
    return Normal(instr.opname, names.cells[instr.value], instr.value)


def _slot(instr: Instr, names: Names) -> Normal:
    """Access to a local, or to a slot that holds a cell."""
    if instr.value in names.cells:
        return Normal(_OF_REMADE_CELL[instr.opname], names.cells[instr.value], instr.value)
    return _kept(instr, names)


def _loaded(instr: Instr, names: Names) -> Normal:
    """LOAD_FAST. Python 3.13 loads cells for closures with it, too.

    A slot that an inlined comprehension uses may hold a cell or the comprehension's variable: such loads stay bytecode.
    """
    if instr.value not in names.cells:
        return Normal("LOAD_FAST", instr.arg, instr.value)
    is_cell = _VERSION >= (3, 13) and instr.value not in names.remade | names.reused
    return Normal("LOAD_CLOSURE" if is_cell else "LOAD_CELL", names.cells[instr.value], instr.value)


def _called_with_names(instr: Instr, names: Names) -> Normal:
    return Normal("CALL_FUNCTION_KW", instr.arg, instr.arg)


def _starred(instr: Instr, names: Names) -> Normal:
    """The argument is 1 if there are keywords, else 0. From 3.14 on only the operand stack tells which."""
    flags = 1 if instr.arg is None else instr.arg
    return Normal("CALL_FUNCTION_EX", flags, flags)


def _small(instr: Instr, names: Names) -> Normal:
    """A constant that is not an item of `co_consts`: the argument is the number itself (3.14)."""
    return Normal("LOAD_CONST", instr.arg, instr.arg)


def _common(instr: Instr, names: Names) -> Normal:
    """A constant that all code objects share (3.14)."""
    if instr.raw >= len(COMMON_CONSTANTS):
        raise ValueError("pijit does not know the constant of {!r}".format(instr))
    value = COMMON_CONSTANTS[instr.raw]
    return (Normal("LOAD_ASSERTION_ERROR", None, None) if value is AssertionError
            else Normal("LOAD_CONST", instr.arg, value))


#: The constants of LOAD_COMMON_CONSTANT, in the order of its argument (3.14).
COMMON_CONSTANTS: Tuple[Any, ...] = (AssertionError, NotImplementedError, tuple, all, any)
#: Operators in the order of their numbers in BINARY_OP. The in-place operators follow, then the subscript (3.14).
OPERATORS = ("ADD", "AND", "FLOOR_DIVIDE", "LSHIFT", "MATRIX_MULTIPLY", "MULTIPLY", "MODULO", "OR", "POWER", "RSHIFT",
             "SUBTRACT", "TRUE_DIVIDE", "XOR")
_BINARY = {number: "BINARY_" + name for number, name in enumerate(OPERATORS)}
_BINARY.update({number + len(OPERATORS): "INPLACE_" + name for number, name in enumerate(OPERATORS)})
_BINARY[2 * len(OPERATORS)] = "BINARY_SUBSCR"
_INTRINSICS = {1: "PRINT_EXPR", 2: "IMPORT_STAR", 5: "UNARY_POSITIVE", 6: "LIST_TO_TUPLE"}

_RULES: Dict[str, NamingRule] = {
    "BINARY_OP": _by_argument(_BINARY, _kept),
    "CALL_INTRINSIC_1": _by_argument(_INTRINSICS, _kept),
    "COPY": _by_argument({1: "DUP_TOP"}, _kept),
    "SWAP": _by_argument({2: "ROT_TWO"}, _kept),
    "COMPARE_OP": _compared,
    "LOAD_GLOBAL": _shifted(1, "LOAD_GLOBAL"),
    "LOAD_ATTR": _shifted(1, "LOAD_ATTR", "LOAD_METHOD") if _VERSION >= (3, 12) else _kept,
    "LOAD_SUPER_ATTR": _shifted(2, "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD"),
    "LOAD_FAST": _loaded,
    "LOAD_FAST_CHECK": _renamed("LOAD_FAST"),
    "LOAD_SMALL_INT": _small,
    "LOAD_COMMON_CONSTANT": _common,
    "BEFORE_WITH": _renamed("SETUP_WITH"),
    "POP_ITER": _renamed("POP_TOP"),
    "CALL": _renamed("CALL_FUNCTION"),
    "CALL_KW": _called_with_names,
    "CALL_FUNCTION_EX": _starred,
    "FORMAT_SIMPLE": lambda instr, names: Normal("FORMAT_VALUE", 0, 0),
    "FORMAT_WITH_SPEC": lambda instr, names: Normal("FORMAT_VALUE", 4, 4),
}
_RULES.update((name, _cell) for name in ("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLOSURE"))
_RULES.update((name, _numbered) for name in ("LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"))
_RULES.update((name, _nothing) for name in ("RESUME", "COPY_FREE_VARS", "PUSH_NULL", "CACHE", "NOT_TAKEN"))
_RULES.update((name, _slot) for name in ("LOAD_FAST_AND_CLEAR", "STORE_FAST", "DELETE_FAST", "MAKE_CELL"))
_RULES.update((name, _renamed("JUMP_ABSOLUTE")) for name in ("JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"))
_RULES.update(("POP_JUMP_{}_IF_{}".format(direction, condition), _renamed("POP_JUMP_IF_" + condition))
              for direction in ("FORWARD", "BACKWARD") for condition in ("TRUE", "FALSE", "NONE", "NOT_NONE"))

_KEPT = frozenset("""
    LOAD_CONST STORE_GLOBAL DELETE_GLOBAL LOAD_NAME STORE_NAME DELETE_NAME LOAD_METHOD STORE_ATTR DELETE_ATTR
    BINARY_SUBSCR STORE_SUBSCR DELETE_SUBSCR UNARY_NEGATIVE UNARY_POSITIVE UNARY_NOT UNARY_INVERT TO_BOOL IS_OP
    CONTAINS_OP BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_MAP BUILD_CONST_KEY_MAP BUILD_STRING BUILD_SLICE LIST_APPEND
    LIST_EXTEND LIST_TO_TUPLE SET_ADD SET_UPDATE MAP_ADD DICT_UPDATE DICT_MERGE UNPACK_SEQUENCE UNPACK_EX FORMAT_VALUE
    CONVERT_VALUE BUILD_INTERPOLATION BUILD_TEMPLATE JUMP_FORWARD POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_IF_NONE
    POP_JUMP_IF_NOT_NONE JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP GET_ITER FOR_ITER END_FOR RETURN_VALUE POP_TOP NOP
    MAKE_FUNCTION IMPORT_NAME IMPORT_FROM IMPORT_STAR PRINT_EXPR GET_LEN MATCH_CLASS MATCH_KEYS MATCH_MAPPING
    MATCH_SEQUENCE RAISE_VARARGS RERAISE PUSH_EXC_INFO CHECK_EXC_MATCH CHECK_EG_MATCH PREP_RERAISE_STAR CALL_INTRINSIC_2
    POP_EXCEPT WITH_EXCEPT_START LOAD_ASSERTION_ERROR LOAD_BUILD_CLASS YIELD_VALUE RETURN_GENERATOR SEND END_SEND
    CLEANUP_THROW GET_YIELD_FROM_ITER GET_AWAITABLE GET_AITER GET_ANEXT BEFORE_ASYNC_WITH END_ASYNC_FOR ASYNC_GEN_WRAP
    SETUP_ANNOTATIONS LOAD_LOCALS LOAD_FROM_DICT_OR_GLOBALS INTERPRETER_EXIT
    """.split())

#: Instructions that `without_compounds` replaces by others.
REWRITTEN = frozenset((
    "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "RETURN_CONST", "BINARY_SLICE",
    "STORE_SLICE", "LOAD_FAST_BORROW", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"))
#: Encoded instructions that are only parts of one instruction of the normal form.
JOINED = frozenset(("KW_NAMES", "PRECALL", "EXTENDED_ARG"))
_PARTS = JOINED | {"SET_FUNCTION_ATTRIBUTE", "LOAD_SPECIAL"}
Encoding = Tuple[Tuple[str, int], ...]


def _entered(first: int, last: int) -> Encoding:
    """The lookups of a with statement: the method for its end, then the one for its beginning, which is called."""
    return ("COPY", 1), ("LOAD_SPECIAL", last), ("SWAP", 2), ("SWAP", 3), ("LOAD_SPECIAL", first), ("CALL", 0)


#: Sequences of instructions and arguments that are one instruction of the normal form (3.14). LOAD_SPECIAL occurs
#: only in these.
SEQUENCES: Dict[Encoding, str] = {
    _entered(0, 1): "SETUP_WITH", _entered(2, 3): "BEFORE_ASYNC_WITH"} if "LOAD_SPECIAL" in dis.opmap else {}
#: Instructions that push a method and its owner, or an empty slot; the values are the numbers of operands they take.
METHODS = {"LOAD_METHOD": 1, "LOAD_SUPER_METHOD": 3, **dict.fromkeys(SEQUENCES.values(), 1)}


def normal_names() -> FrozenSet[str]:
    """The names of the instructions that the normal form has on the running version."""
    present = {name for name in dis.opmap if name in _KEPT}
    present.update(_OF_REMADE_CELL.values(), ("STORE_FAST", "DELETE_FAST"))
    present.update(name for name in (
        "CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_METHOD", "CALL_METHOD_KW", "LOAD_METHOD", "LOAD_ATTR",
        "LOAD_GLOBAL", "LOAD_FAST", "LOAD_CLOSURE", "CALL_FUNCTION_EX", "LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF",
        "COMPARE_OP", "SETUP_WITH", "DUP_TOP", "ROT_TWO", "COPY", "SWAP", "JUMP_ABSOLUTE", "FORMAT_VALUE",
        "UNARY_POSITIVE", "LIST_TO_TUPLE", "IMPORT_STAR", "PRINT_EXPR", "POP_JUMP_IF_TRUE",
        "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE"))
    present.update(("BINARY_SUBSCR", "LOAD_ASSERTION_ERROR", "BEFORE_ASYNC_WITH"))
    present.update(name for name in (
        "LOAD_SUPER_ATTR", "CALL_INTRINSIC_1", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FAST_AND_CLEAR")
        if name in dis.opmap)
    if "LOAD_SUPER_ATTR" in present:
        present.add("LOAD_SUPER_METHOD")
    return frozenset(present) | frozenset(_BINARY.values())


def why_unknown(opname: str) -> Optional[str]:
    """The reason why an opcode cannot be read; None if it can."""
    if opname in _RULES or opname in _KEPT or opname in REWRITTEN or opname in _PARTS:
        return None
    return "pijit does not know the instruction {} of CPython {}.{}".format(opname, *_VERSION)


def normal(instr: Instr, names: Names) -> Normal:
    """The normal form of one instruction.

    Args:
        instr: from `read_instructions`, of plain code.
        names: the `Names` of its code object.

    Raises:
        ValueError: pijit does not know the opcode.
    """
    rule = _RULES.get(instr.opname)
    if rule is not None:
        return rule(instr, names)
    if instr.opname in _KEPT:
        return _kept(instr, names)
    raise ValueError(why_unknown(instr.opname) or "{} is no instruction of plain code".format(instr.opname))


def sequence_at(instructions: Sequence[Instr], index: int) -> Optional[Encoding]:
    """The sequence of `SEQUENCES` that begins at `index`, or None."""
    for sequence in SEQUENCES:
        following = instructions[index:index + len(sequence)]
        if (instructions[index].opname == sequence[0][0]
                and tuple((instr.opname, instr.raw) for instr in following) == sequence):
            return sequence
    return None


def with_names(call: Instr, keywords: Tuple[str, ...]) -> Normal:
    """The call after a `KW_NAMES` instruction, whose names are not an operand (3.11, 3.12)."""
    return Normal("CALL_FUNCTION_KW", call.arg, keywords)


def with_attributes(flags: Sequence[int]) -> Normal:
    """MAKE_FUNCTION merged with the instructions that set defaults and closure; operands are in the order of 3.10."""
    every = sum(flags)
    return Normal("MAKE_FUNCTION", every, every)
