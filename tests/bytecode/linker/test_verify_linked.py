"""The second opinion on linked code: what it lets pass, what it finds, and who asks for it."""

import dis
import logging
import subprocess
import sys

import numpy as np
import pytest

import pijit
from pijit.core import errors
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler, Label, NewInstr, replace_code
from pijit.core.bytecode.linker import verify, verify_37
from pijit.core.bytecode.linker.verify import why_wrong
from pijit.core.entries import linked_code
from tests.bytecode import bytecode_samples
from tests.harness import jitted, kernel_count

SAMPLES = [value for value in vars(bytecode_samples).values() if hasattr(value, "__code__")]


@pytest.fixture(autouse=True)
def nothing_known():
    verify._right.clear()


def sample(x, rows):
    for row in rows:
        if row > x:
            x = x + row
    return x


def edited(edit=lambda assembler: None):
    """The sample with code in front of its first instruction and behind the last, which ``edit`` adds."""
    assembler = Assembler(decode(sample.__code__))
    slot, line = assembler.fresh_local(), sample.__code__.co_firstlineno + 1
    assembler.insert(0, [NewInstr("LOAD_CONST", assembler.const(3.5), line), NewInstr("STORE_FAST", slot, line)])
    edit(assembler)
    return assembler.assemble()


def with_unit(code, opname, nth=0, opcode=None, arg=None):
    """The code with another opcode or argument in the nth instruction of that name."""
    offset = [instr.offset for instr in dis.get_instructions(code) if instr.opname == opname][nth]
    raw = bytearray(code.co_code)
    raw[offset] = raw[offset] if opcode is None else dis.opmap[opcode]
    raw[offset + 1] = raw[offset + 1] if arg is None else arg
    return replace_code(code, co_code=bytes(raw))


def other_lines(code):
    assembler = Assembler(decode(code))
    assembler.append([NewInstr("LOAD_CONST", 0, code.co_firstlineno + 500), NewInstr("RETURN_VALUE", None, None)])
    return assembler.assemble()


def runs_off_the_end(code):
    def add(assembler):
        end, line = Label("end"), code.co_firstlineno + 1
        assembler.insert(0, [NewInstr("LOAD_CONST", 0, line), NewInstr("POP_JUMP_IF_TRUE", end, line)])
        assembler.append([end, NewInstr("LOAD_CONST", 0, line), NewInstr("RETURN_VALUE", None, line)])
    return with_unit(edited(add), "RETURN_VALUE", nth=-1, opcode="POP_TOP")


def branch_with_another_depth(code):
    def add(assembler):
        on, line = Label("on"), code.co_firstlineno + 1
        assembler.insert(0, [NewInstr("LOAD_CONST", 0, line), NewInstr("POP_JUMP_IF_TRUE", on, line), NewInstr("NOP", None, line), on])
    return replace_code(with_unit(edited(add), "NOP", opcode="LOAD_CONST", arg=0), co_stacksize=9)


FAULTS = {
    "stack too small": (lambda code: replace_code(code, co_stacksize=code.co_stacksize - 1), "needs 3 items"),
    "jump out of the code": (lambda code: with_unit(code, "JUMP_ABSOLUTE", arg=250), "where no instruction begins"),
    "jump between instructions": (lambda code: with_unit(code, "FOR_ITER", arg=251), "where no instruction begins"),
    "constant out of range": (lambda code: with_unit(code, "LOAD_CONST", arg=99), "number 99 of"),
    "local out of range": (lambda code: with_unit(code, "STORE_FAST", arg=99), "number 99 of 4 local variables"),
    "stack runs empty": (lambda code: with_unit(code, "LOAD_CONST", opcode="POP_TOP"), "runs empty"),
    "paths meet with other depths": (branch_with_another_depth, "items on the stack"),
    "no return": (runs_off_the_end, "the code ends with"),
    "line of nothing": (other_lines, "which has no code"),
    "instruction lost": (lambda code: with_unit(code, "BINARY_ADD", opcode="BINARY_SUBTRACT"), "BINARY_ADD"),
    "flags": (lambda code: replace_code(code, co_flags=code.co_flags | 0x20), "co_flags is"),
    "constants moved": (lambda code: replace_code(code, co_consts=(object(),) + code.co_consts[1:]),
                        "co_consts does not begin"),
}


@pytest.mark.parametrize("function", SAMPLES, ids=lambda function: function.__name__)
def test_what_the_assembler_writes_is_right(function):
    before = decode(function.__code__)
    assembler = Assembler(before)
    line = before.instructions[0].lineno
    for index in range(0, len(before.instructions), 3):
        assembler.insert(index, [NewInstr("LOAD_CONST", assembler.const(verify), line), NewInstr("POP_TOP", None, line)])
    assert why_wrong(before.code, before) is None and why_wrong(assembler.assemble(), before) is None


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_faults_are_found(fault):
    corrupt, words = FAULTS[fault]
    before = decode(sample.__code__)
    assert why_wrong(edited(), before) is None
    sentence = why_wrong(corrupt(edited()), before)
    assert sentence is not None and words in sentence


def test_readings_are_compared(monkeypatch):
    def misread(code):
        function = decode(code)
        function.instructions[2].lineno += 1
        return function
    monkeypatch.setattr(verify_37, "decode", misread)
    assert why_wrong(edited(), decode(sample.__code__)).startswith("we read <2 ")


def test_right_code_is_read_once(monkeypatch):
    before, code = decode(sample.__code__), edited()
    assert why_wrong(code, before) is None
    monkeypatch.setattr(verify_37, "_Reading", None)
    assert why_wrong(edited(), before) is None
    with pytest.raises(TypeError):
        why_wrong(replace_code(code, co_stacksize=code.co_stacksize + 1), before)


def new_function():
    def f(x, k):
        for _ in range(3):
            x = x * 2.0 + k
        return x
    return f


def too_small(link):
    def wrong(*args):
        code = link(*args)
        return replace_code(code, co_stacksize=1)
    return wrong


def test_wrong_code_is_not_installed_where_calls_are_checked(lenient, monkeypatch, caplog):
    monkeypatch.setattr(linked_code, "link", too_small(linked_code.link))
    x = np.arange(5.0)
    checked = pijit.jit(jit_config={"check": True})(new_function())
    with caplog.at_level(logging.ERROR, "pijit"):
        for _ in range(5):
            np.testing.assert_array_equal(checked(x, 1.0), new_function()(x, 1.0))
    assert kernel_count(checked) == 0 and len(caplog.records) == 1
    message = caplog.records[0].getMessage()
    assert message.startswith("PJ903: ") and "co_stacksize is 1; the original function runs" in message


def test_wrong_code_is_an_error_under_the_strict_switch(monkeypatch):
    monkeypatch.setattr(linked_code, "link", too_small(linked_code.link))
    with pytest.raises(errors.InternalError, match="PJ903.*co_stacksize is 1"):
        jitted(new_function())(np.arange(5.0), 1.0)


PROGRAM = """
import sys
import numpy as np
import pijit

@pijit.jit(jit_config={"check": %r, "backend": "python"})
def f(x, k):
    for _ in range(3):
        x = x * 2.0 + k
    return x

f(np.arange(5.0), 1.0)
assert len(f.graphs) == 1
sys.exit("bytecode" in sys.modules)
"""


@pytest.mark.parametrize("check", [False, True])
def test_the_library_is_imported_only_where_calls_are_checked(check):
    done = subprocess.run([sys.executable, "-c", PROGRAM % check], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == check, done.stdout
