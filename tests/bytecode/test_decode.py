import dis
import sys

import pytest

from pijit.core.bytecode.codec.decode import count_arguments, decode
from pijit.core.bytecode.codec.encode import replace_code
from tests.bytecode.bytecode_samples import NAMES, SAMPLES, keywords


@pytest.mark.parametrize("function", [function for function, _ in SAMPLES], ids=NAMES)
def test_agrees_with_dis(function):
    code = function.__code__
    instructions = decode(code).instructions
    at = {instr.offset: instr.index for instr in instructions}
    reference = [instr for instr in dis.get_instructions(code) if instr.opname != "EXTENDED_ARG"]
    assert [instr.opname for instr in instructions] == [instr.opname for instr in reference]
    assert [instr.arg for instr in instructions] == [instr.arg for instr in reference]
    for instr, other in zip(instructions, reference):
        assert instr.offset + 2 * (instr.size - 1) == other.offset
        if instr.target is not None:
            assert at[other.argval] == instr.target
        elif other.opcode in dis.hasconst:
            assert instr.value is other.argval
        elif other.opcode in dis.haslocal + dis.hasname + dis.hasfree + dis.hascompare:
            assert instr.value == other.argval
    lines = {instr.lineno for instr in instructions} - {None}
    assert {line for _, line in dis.findlinestarts(code)} == lines


def outer():
    cell = 1

    def inner(x):
        return x is not cell, x in cell, x.real < 3

    return inner


def test_values():
    function = decode(outer().__code__)
    values = [(instr.opname, instr.value) for instr in function.instructions]
    identity, contains = ("IS_OP", "CONTAINS_OP") if sys.version_info >= (3, 9) else ("COMPARE_OP",) * 2
    assert values == [
        ("LOAD_FAST", "x"), ("LOAD_DEREF", "cell"), (identity, "is not"),
        ("LOAD_FAST", "x"), ("LOAD_DEREF", "cell"), (contains, "in"),
        ("LOAD_FAST", "x"), ("LOAD_ATTR", "real"), ("LOAD_CONST", 3), ("COMPARE_OP", "<"),
        ("BUILD_TUPLE", 3), ("RETURN_VALUE", None)]
    assert (function.varnames, function.cellvars, function.freevars) == (("x",), (), ("cell",))
    assert function.argument_count == 1


def test_repr():
    def f(x):
        return x if x else "no"

    first, jump, *_ = decode(f.__code__).instructions
    line = f.__code__.co_firstlineno + 1
    assert repr(first) == "<0 LOAD_FAST 0 (x), line {}>".format(line)
    assert repr(jump) == "<1 POP_JUMP_IF_FALSE -> 4, line {}>".format(line)
    assert "3 instructions" in repr(decode((lambda: -x).__code__))


def test_extended_arguments_are_folded():
    body = "\n  ".join("y = {}".format(number + 0.5) for number in range(300))
    source = "def f(x):\n if x:\n  " + body + "\n return x"
    scope = {}
    exec(source, scope)
    function = decode(scope["f"].__code__)
    assert "EXTENDED_ARG" not in {instr.opname for instr in function.instructions}
    jump = function.instructions[1]
    assert jump.size > 1 and function.instructions[jump.target].value == "x"
    loads = [instr for instr in function.instructions if instr.opname == "LOAD_CONST"][:300]
    assert [instr.value for instr in loads] == [number + 0.5 for number in range(300)]
    assert loads[299].size == 2 and loads[299].arg > 255
    assert function.instructions[-1].offset == len(scope["f"].__code__.co_code) - 2


def test_jump_into_the_middle_is_refused():
    unit = 2 if sys.version_info >= (3, 10) else 1
    raw = bytes((dis.opmap["JUMP_ABSOLUTE"], 4 // unit,
                 dis.opmap["EXTENDED_ARG"], 0, dis.opmap["LOAD_CONST"], 0))
    with pytest.raises(ValueError, match="offset 4, where no instruction begins"):
        decode(replace_code(keywords.__code__, co_code=raw))


def test_arguments():
    assert count_arguments(keywords.__code__) == 4
    assert keywords.__code__.co_varnames[:4] == ("a", "b", "args", "rest")
