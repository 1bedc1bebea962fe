import dis
import sys

import pytest

from pijit.core.bytecode.instructions import opcodes
from pijit.core.bytecode.normal_form.normalise import normal_function, plain_function
from pijit.core.capture.build.graph_builder import GraphBuilder
from pijit.core.capture.interpreter import interpreter

NORMAL_FORM = sys.version_info >= (3, 11)
NAMES = opcodes.PRESENT if NORMAL_FORM else frozenset(dis.opmap)
of_the_interpreter = pytest.mark.skipif(NORMAL_FORM, reason="the names are those of the normal form, see test_normal_311")


def test_every_opcode_of_this_version_is_classified():
    assert set(opcodes.CLASSIFICATION) == set(NAMES)
    assert set(opcodes.CLASSIFICATION.values()) == {"captured", "fallback", "skip"}


@of_the_interpreter
def test_no_name_is_invented():
    """Names that the running version lacks are those of the others, written out here once more."""
    only_elsewhere = set("""
        BEGIN_FINALLY BREAK_LOOP BUILD_LIST_UNPACK BUILD_MAP_UNPACK BUILD_MAP_UNPACK_WITH_CALL
        BUILD_SET_UNPACK BUILD_TUPLE_UNPACK BUILD_TUPLE_UNPACK_WITH_CALL CALL_FINALLY CONTAINS_OP
        CONTINUE_LOOP COPY_DICT_WITHOUT_KEYS DICT_MERGE DICT_UPDATE END_ASYNC_FOR END_FINALLY
        GEN_START GET_LEN IS_OP JUMP_IF_NOT_EXC_MATCH LIST_EXTEND LIST_TO_TUPLE LOAD_ASSERTION_ERROR
        MATCH_CLASS MATCH_KEYS MATCH_MAPPING MATCH_SEQUENCE POP_FINALLY RERAISE ROT_FOUR ROT_N
        SETUP_EXCEPT SETUP_LOOP SET_UPDATE WITH_CLEANUP_FINISH WITH_CLEANUP_START
        WITH_EXCEPT_START PUSH_EXC_INFO CHECK_EXC_MATCH CHECK_EG_MATCH COPY SWAP TO_BOOL POP_JUMP_IF_NONE
        POP_JUMP_IF_NOT_NONE CALL_METHOD_KW LOAD_FAST_AND_CLEAR CONVERT_VALUE LOAD_SUPER_ATTR
        LOAD_SUPER_METHOD END_FOR BUILD_INTERPOLATION BUILD_TEMPLATE CALL_INTRINSIC_1 CALL_INTRINSIC_2 PREP_RERAISE_STAR BINARY_OP RETURN_GENERATOR SEND END_SEND
        LOAD_CONTENT STORE_CONTENT DELETE_CONTENT LOAD_CELL STORE_CELL MAKE_CELL CLEANUP_THROW ASYNC_GEN_WRAP INTERPRETER_EXIT LOAD_LOCALS LOAD_FROM_DICT_OR_GLOBALS LOAD_FROM_DICT_OR_DEREF""".split())
    assert set(opcodes.CLASS_OF_NAME) - set(dis.opmap) <= only_elsewhere


def test_what_is_captured_has_a_handler_and_nothing_else():
    tables = {*interpreter.BINARY, *interpreter.INPLACE, *interpreter.UNARY, *interpreter.ROTATIONS}
    handled = {name for name in NAMES if name in tables or name in interpreter.HANDLERS or hasattr(GraphBuilder, "op_" + name)}
    captured = {name for name, kind in opcodes.CLASSIFICATION.items() if kind == "captured"}
    assert captured - handled == {"RETURN_VALUE", "EXTENDED_ARG"} & NAMES  # the end of a segment, and no instruction
    assert handled - captured <= {"POP_BLOCK"}  # of 3.7's loops


@of_the_interpreter
def test_jump_sets_cover_every_instruction_with_a_target():
    targeted = {dis.opname[opcode] for opcode in dis.hasjrel + dis.hasjabs}
    assert targeted - opcodes.JUMPS - opcodes.BLOCK_PUSHES == opcodes.BLOCK_POPS & {"CALL_FINALLY"}
    assert opcodes.JUMPS | opcodes.BLOCK_PUSHES <= targeted
    assert not opcodes.CONDITIONAL_JUMPS & opcodes.TERMINATORS


def test_op_set_skips_what_this_version_lacks():
    loops = opcodes.op_set("POP_BLOCK", "SETUP_LOOP")
    assert loops == ({"POP_BLOCK", "SETUP_LOOP"} if "SETUP_LOOP" in NAMES else {"POP_BLOCK"} & NAMES)


def test_op_set_refuses_misspelt_names():
    with pytest.raises(ValueError, match="LOAD_FATS"):
        opcodes.op_set("LOAD_FAST", "LOAD_FATS")


def test_yields_skip_the_frame():
    def generator():
        yield 1

    assert "YIELD_VALUE" in opcodes.SKIP_FRAME
    here = {instr.opname for instr in normal_function(plain_function(test_yields_skip_the_frame.__code__, True)).instructions}
    assert not opcodes.SKIP_FRAME & here
