"""Opcode sets of the normal form, and the class of each opcode: captured, fallback or skip.

The normal form has the opcodes of CPython 3.7 to 3.10, and a few more from 3.11 on. A set holds only names that the
running version has. So other modules can be written once for all versions.
"""

import dis
import sys
from typing import Dict, FrozenSet, Tuple

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.instructions.names_311 import normal_names

    PRESENT = normal_names()
else:
    PRESENT = frozenset(dis.opmap)

CAPTURED = "captured"
FALLBACK = "fallback"
SKIP = "skip"

_ARITHMETIC = ("ADD AND FLOOR_DIVIDE LSHIFT MATRIX_MULTIPLY MODULO MULTIPLY OR POWER RSHIFT SUBTRACT "
               "TRUE_DIVIDE XOR").split()

# One row per kind of instruction: the names of all versions, and the class of the row.
# Entry into with statements, and the first and last instructions of handlers.
_TRY_AND_WITH = """
    SETUP_WITH PUSH_EXC_INFO CHECK_EXC_MATCH CHECK_EG_MATCH POP_EXCEPT BEGIN_FINALLY CALL_FINALLY POP_FINALLY
    END_FINALLY RERAISE JUMP_IF_NOT_EXC_MATCH WITH_CLEANUP_START WITH_CLEANUP_FINISH WITH_EXCEPT_START""".split()

# Opcodes of handlers whose exception object is not used.
_CAUGHT = "JUMP_IF_NOT_EXC_MATCH POP_EXCEPT RERAISE END_FINALLY PUSH_EXC_INFO CHECK_EXC_MATCH"

_ROWS = (
    # The abstract interpreter can have a handler for these.
    (CAPTURED, "LOAD_FAST STORE_FAST DELETE_FAST LOAD_CONST LOAD_GLOBAL STORE_GLOBAL LOAD_DEREF STORE_DEREF"),
    (CAPTURED, "LOAD_ATTR STORE_ATTR LOAD_METHOD LOAD_SUPER_ATTR LOAD_SUPER_METHOD BINARY_SUBSCR STORE_SUBSCR "
               "BUILD_SLICE"),
    (CAPTURED, "UNARY_POSITIVE UNARY_NEGATIVE UNARY_NOT UNARY_INVERT COMPARE_OP IS_OP CONTAINS_OP"),
    (CAPTURED, " ".join("BINARY_" + name for name in _ARITHMETIC)),
    (CAPTURED, " ".join("INPLACE_" + name for name in _ARITHMETIC)),
    (CAPTURED, "BUILD_TUPLE BUILD_LIST LIST_APPEND LIST_EXTEND LIST_TO_TUPLE UNPACK_SEQUENCE UNPACK_EX"),
    (CAPTURED, "BUILD_TUPLE_UNPACK BUILD_LIST_UNPACK BUILD_TUPLE_UNPACK_WITH_CALL"),
    (CAPTURED, "JUMP_FORWARD JUMP_ABSOLUTE POP_JUMP_IF_FALSE POP_JUMP_IF_TRUE JUMP_IF_FALSE_OR_POP"),
    (CAPTURED, "JUMP_IF_TRUE_OR_POP GET_ITER FOR_ITER RETURN_VALUE"),
    (CAPTURED, "POP_TOP ROT_TWO ROT_THREE ROT_FOUR ROT_N DUP_TOP DUP_TOP_TWO NOP EXTENDED_ARG"),
    (CAPTURED, "COPY SWAP LOAD_FAST_AND_CLEAR TO_BOOL POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE CALL_METHOD_KW"),
    (CAPTURED, "CALL_FUNCTION CALL_FUNCTION_KW CALL_FUNCTION_EX CALL_METHOD MAKE_FUNCTION LOAD_CLOSURE"),
    (FALLBACK, "LOAD_CONTENT STORE_CONTENT DELETE_CONTENT LOAD_CELL STORE_CELL MAKE_CELL"),
    (FALLBACK, "END_FOR BUILD_INTERPOLATION BUILD_TEMPLATE"),
    (FALLBACK, "CALL_INTRINSIC_1 CALL_INTRINSIC_2 PREP_RERAISE_STAR BINARY_OP"),
    (CAPTURED, "SETUP_LOOP BREAK_LOOP CONTINUE_LOOP SETUP_FINALLY SETUP_EXCEPT POP_BLOCK"),
    (CAPTURED, "DELETE_SUBSCR DELETE_ATTR DELETE_GLOBAL DELETE_DEREF"),
    # Exception handling, dicts, sets, strings, pattern matching.
    (CAPTURED, "SETUP_WITH"),  # in functions that are inlined
    (CAPTURED, _CAUGHT + " RAISE_VARARGS"),
    (FALLBACK, " ".join(name for name in _TRY_AND_WITH if name not in ("SETUP_WITH " + _CAUGHT).split())),
    (FALLBACK, "LOAD_ASSERTION_ERROR"),
    (FALLBACK, "LOAD_BUILD_CLASS"),
    (CAPTURED, "IMPORT_NAME IMPORT_FROM"),  # of modules that are already loaded
    (CAPTURED, "BUILD_MAP BUILD_CONST_KEY_MAP BUILD_MAP_UNPACK_WITH_CALL MAP_ADD DICT_MERGE BUILD_SET SET_ADD"),
    (CAPTURED, "BUILD_MAP_UNPACK DICT_UPDATE BUILD_SET_UNPACK SET_UPDATE"),
    (CAPTURED, "BUILD_STRING FORMAT_VALUE CONVERT_VALUE"),
    (CAPTURED, "GET_LEN MATCH_CLASS MATCH_KEYS MATCH_MAPPING MATCH_SEQUENCE"),
    (FALLBACK, "COPY_DICT_WITHOUT_KEYS"),
    # A frame with one of these is not captured: it can be suspended, or its locals live in a dict.
    (SKIP, "YIELD_VALUE YIELD_FROM GET_YIELD_FROM_ITER GEN_START GET_AWAITABLE GET_AITER GET_ANEXT"),
    (SKIP, "RETURN_GENERATOR SEND END_SEND CLEANUP_THROW ASYNC_GEN_WRAP INTERPRETER_EXIT"),
    (SKIP, "LOAD_LOCALS LOAD_FROM_DICT_OR_GLOBALS LOAD_FROM_DICT_OR_DEREF"),
    (SKIP, "BEFORE_ASYNC_WITH SETUP_ASYNC_WITH END_ASYNC_FOR"),
    (SKIP, "LOAD_NAME STORE_NAME DELETE_NAME LOAD_CLASSDEREF IMPORT_STAR SETUP_ANNOTATIONS PRINT_EXPR"),
)

#: The class of each opcode name that any supported version has.
CLASS_OF_NAME: Dict[str, str] = {name: kind for kind, names in _ROWS for name in names.split()}

#: The class of each opcode of the running version: "captured", "fallback" or "skip".
CLASSIFICATION: Dict[str, str] = {name: kind for name, kind in CLASS_OF_NAME.items() if name in PRESENT}


def op_set(*names: str) -> FrozenSet[str]:
    """The names among `names` that the running version has.

    Raises:
        ValueError: no supported version has one of the names.

    Example:
        op_set("JUMP_ABSOLUTE", "CONTINUE_LOOP")  # without CONTINUE_LOOP from 3.8 on
    """
    unknown = [name for name in names if name not in CLASS_OF_NAME]
    if unknown:
        raise ValueError("no such opcodes: {}".format(", ".join(unknown)))
    return frozenset(name for name in names if name in PRESENT)


#: Jumps that may also fall through.
CONDITIONAL_JUMPS = op_set(
    "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE", "JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP", "FOR_ITER",
    "JUMP_IF_NOT_EXC_MATCH", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")
#: Jumps that always jump.
UNCONDITIONAL_JUMPS = op_set("JUMP_FORWARD", "JUMP_ABSOLUTE", "CONTINUE_LOOP")
#: Every jump; setups of handlers are not jumps.
JUMPS = CONDITIONAL_JUMPS | UNCONDITIONAL_JUMPS
#: Instructions after which control never reaches the next instruction.
TERMINATORS = UNCONDITIONAL_JUMPS | op_set("RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "BREAK_LOOP")

#: Push an entry with a handler on the frame's block stack.
BLOCK_PUSHES = op_set("SETUP_FINALLY", "SETUP_EXCEPT", "SETUP_WITH", "SETUP_ASYNC_WITH", "SETUP_LOOP")
#: Pop entries of the block stack, or begin or end the clean-up code of an entry.
BLOCK_POPS = op_set("POP_BLOCK", "POP_EXCEPT", "BREAK_LOOP", "CONTINUE_LOOP", "END_FINALLY", "BEGIN_FINALLY",
                    "CALL_FINALLY", "POP_FINALLY", "RERAISE", "END_ASYNC_FOR")

#: The instructions of with statements and of handlers.
TRY_AND_WITH = op_set(*_TRY_AND_WITH)

LOCAL_LOADS = op_set("LOAD_FAST")
LOCAL_STORES = op_set("STORE_FAST")
LOCAL_DELETES = op_set("DELETE_FAST")
LOCAL_WRITES = LOCAL_STORES | LOCAL_DELETES
CONSTANT_LOADS = op_set("LOAD_CONST")
GLOBAL_LOADS = op_set("LOAD_GLOBAL")
GLOBAL_WRITES = op_set("STORE_GLOBAL", "DELETE_GLOBAL")
CELL_LOADS = op_set("LOAD_DEREF")
CELL_WRITES = op_set("STORE_DEREF", "DELETE_DEREF")
#: Write a variable outside of the function's own locals.
SCOPE_WRITES = GLOBAL_WRITES | CELL_WRITES
#: Bind a name of any scope.
NAME_STORES = op_set("STORE_FAST", "STORE_GLOBAL", "STORE_NAME", "STORE_DEREF")

#: Write or delete anything: a variable, an attribute, an item.
WRITES = frozenset(name for name in CLASSIFICATION if name.startswith(("STORE_", "DELETE_")))
#: Reorder or copy operands, or drop one.
STACK_MOVES = op_set("POP_TOP", "DUP_TOP", "ROT_TWO", "ROT_THREE", "ROT_FOUR", "COPY", "SWAP")
PAIR_COPIES = op_set("DUP_TOP_TWO")
DUPLICATES = op_set("DUP_TOP")
DROPS = op_set("POP_TOP")
NO_OPERATIONS = op_set("NOP")
RETURNS = op_set("RETURN_VALUE")
YIELDS = op_set("YIELD_VALUE")
#: Jump without a condition, and leave no block.
PLAIN_JUMPS = op_set("JUMP_FORWARD", "JUMP_ABSOLUTE")
#: Leave blocks of the block stack before they jump (3.7).
LOOP_BREAKS = op_set("BREAK_LOOP")
LOOP_EXITS = LOOP_BREAKS | op_set("CONTINUE_LOOP")
LOOP_SETUPS = op_set("SETUP_LOOP")
HANDLER_SETUPS = op_set("SETUP_FINALLY", "SETUP_EXCEPT")
BLOCK_ENDS = op_set("POP_BLOCK")
WITH_ENTRY = "SETUP_WITH"
"""Enters a with statement."""
WITH_ENTRIES = op_set(WITH_ENTRY)
#: Call the ``__exit__`` of a context manager with an exception.
WITH_EXITS = op_set("WITH_EXCEPT_START", "WITH_CLEANUP_START")
RAISES = op_set("RAISE_VARARGS")
#: A function with one of these handles exceptions.
HANDLER_OPS = HANDLER_SETUPS | WITH_ENTRIES | op_set("PUSH_EXC_INFO")

PLAIN_CALLS = op_set("CALL_FUNCTION")
METHOD_CALLS = op_set("CALL_METHOD", "CALL_METHOD_KW")
UNPACKING_CALLS = op_set("CALL_FUNCTION_EX")
CALLS = PLAIN_CALLS | METHOD_CALLS | UNPACKING_CALLS | op_set("CALL_FUNCTION_KW")
#: Hand a dict of keyword arguments on to a call.
KEYWORD_PASSES = UNPACKING_CALLS | op_set("DICT_MERGE", "BUILD_MAP_UNPACK_WITH_CALL")
ATTRIBUTE_LOADS = op_set("LOAD_ATTR")
METHOD_LOADS = op_set("LOAD_METHOD")
ATTRIBUTE_STORES = op_set("STORE_ATTR")
ATTRIBUTE_WRITES = ATTRIBUTE_STORES | op_set("DELETE_ATTR")
SUBSCRIPT_LOADS = op_set("BINARY_SUBSCR")
SUBSCRIPT_STORES = op_set("STORE_SUBSCR")
COMPARISONS = op_set("COMPARE_OP")
ITERATIONS = op_set("FOR_ITER")
ITERATOR_MAKERS = op_set("GET_ITER")
SEQUENCE_UNPACKINGS = op_set("UNPACK_SEQUENCE")
UNPACKINGS = SEQUENCE_UNPACKINGS | op_set("UNPACK_EX")
TUPLE_BUILDS = op_set("BUILD_TUPLE")
DICT_BUILDS = op_set("BUILD_MAP")
SET_BUILDS = op_set("BUILD_SET")
SET_ADDITIONS = op_set("SET_UPDATE", "SET_ADD")
FUNCTION_MAKER = "MAKE_FUNCTION"
"""Makes a function object."""
FUNCTION_MAKERS = op_set(FUNCTION_MAKER)
#: Make a function, its cells, or the tuple of its cells.
FUNCTION_PARTS = FUNCTION_MAKERS | TUPLE_BUILDS | op_set("LOAD_CLOSURE")
#: Test the truth of a value, and do nothing else with it.
TRUTH_TESTS = op_set("TO_BOOL", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")
#: Save a local variable on the operand stack for an inlined comprehension (3.12).
LOCAL_SAVES = op_set("LOAD_FAST_AND_CLEAR")

#: Never raise an exception, and run no code at all apart from finalizers.
NEVER_RAISE = STACK_MOVES | CONSTANT_LOADS | LOCAL_STORES | PLAIN_JUMPS | NO_OPERATIONS | BLOCK_ENDS | HANDLER_SETUPS
#: Run no code of the program, apart from finalizers.
RUN_NO_USER_CODE = LOCAL_LOADS | CONSTANT_LOADS | SCOPE_WRITES | PLAIN_JUMPS | LOOP_EXITS | LOOP_SETUPS | op_set(
    "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_CLOSURE", "NOP", "STORE_NAME", "DELETE_NAME",
    "BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP", "BUILD_SLICE", "MAKE_FUNCTION", "IMPORT_NAME",
    "IMPORT_FROM", "LIST_APPEND", "LIST_TO_TUPLE", "DUP_TOP_TWO", "SETUP_FINALLY", "SETUP_EXCEPT", "POP_BLOCK",
    "POP_EXCEPT", "BEGIN_FINALLY", "RETURN_VALUE", "LOAD_BUILD_CLASS", "LOAD_ASSERTION_ERROR", "IS_OP", "GEN_START",
    "GET_LEN", "JUMP_IF_NOT_EXC_MATCH", "RERAISE", "END_FINALLY", "WITH_CLEANUP_FINISH", "PUSH_EXC_INFO",
    "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")

#: What an instruction writes outside of the frame, and how: (action, place).
OUTER_WRITES: Dict[str, Tuple[str, str]] = {
    "STORE_ATTR": ("store", "attribute"), "DELETE_ATTR": ("del", "attribute"),
    "STORE_GLOBAL": ("store", "global"), "DELETE_GLOBAL": ("del", "global"),
    "STORE_NAME": ("store", "global"), "DELETE_NAME": ("del", "global"),
    "STORE_DEREF": ("store", "cell"), "DELETE_DEREF": ("del", "cell"),
    "STORE_SUBSCR": ("store", "item"), "DELETE_SUBSCR": ("del", "item"),
}

#: A frame with one of these is not captured at all.
SKIP_FRAME = frozenset(name for name, kind in CLASSIFICATION.items() if kind == SKIP)

#: Operators by instruction.
BINARY = {
    "BINARY_ADD": "+", "BINARY_SUBTRACT": "-", "BINARY_MULTIPLY": "*", "BINARY_TRUE_DIVIDE": "/",
    "BINARY_FLOOR_DIVIDE": "//", "BINARY_MODULO": "%", "BINARY_POWER": "**", "BINARY_AND": "&", "BINARY_OR": "|",
    "BINARY_XOR": "^", "BINARY_LSHIFT": "<<", "BINARY_RSHIFT": ">>", "BINARY_MATRIX_MULTIPLY": "@",
}
INPLACE = {name.replace("BINARY_", "INPLACE_"): symbol for name, symbol in BINARY.items()}
UNARY = {"UNARY_NEGATIVE": "neg", "UNARY_POSITIVE": "pos", "UNARY_INVERT": "invert"}
