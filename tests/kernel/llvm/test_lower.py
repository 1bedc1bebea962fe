"""Kernel source becomes LLVM that does what the same text does in Python, and nothing that it does not name."""

import ctypes
import struct

import pytest

from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.llvm import codegen
from pijit.core.kernel.llvm.intrinsic_table import INTRINSICS


def run(body, *words):
    """What ``kernel`` with this body returns for a frame of words; floats become their bits."""
    source = "def kernel(frame):\n" + "\n".join("    " + line for line in body.strip("\n").splitlines()) + "\n"
    address, owner = codegen.compiled(source, INTRINSICS, {}, on_disk=False, fast=False)
    bits = [struct.unpack("<q", struct.pack("<d", word))[0] if isinstance(word, float) else word for word in words]
    frame = (ctypes.c_int64 * max(len(bits), 1))(*bits)
    result = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(ctypes.addressof(frame))
    del owner
    return result


def test_loops_break_and_continue():
    body = """
a = b = total = 0
while True:
    a = iadd(a, 1)
    if a > 100:
        break
    if imod(a, 3) == 0:
        continue
        total = 1000000
    b = 0
    while b < a:
        b = iadd(b, 1)
        if b == 5:
            break
    else_ = b
    if else_ == 5:
        total = iadd(total, a)
    else:
        pass
return total
"""
    assert run(body) == sum(a for a in range(5, 101) if a % 3)


def test_a_loop_without_end_returns():
    assert run("n = 0\nwhile True:\n    n = iadd(n, 1)\n    if n == 7:\n        return n") == 7


def test_returns_with_the_same_text_return_what_the_variables_are_then():
    body = "x = ld_i8(frame, 0)\nif x == 1:\n    return x\nx = iadd(x, 40)\nif x == 42:\n    return x\nreturn 0"
    assert [run(body, word) for word in (1, 2, 3)] == [1, 42, 0]


def test_a_variable_that_nothing_was_assigned_to_is_zero():
    assert run("if ld_i8(frame, 0) == 1:\n    x = 5\nreturn x", 0) == 0


@pytest.mark.parametrize("expression, expected", [
    ("ld_u8(frame, 8) > ld_u8(frame, 0)", True), ("ld_i8(frame, 8) > ld_i8(frame, 0)", False),
    ("ld_f8(frame, 16) == ld_f8(frame, 16)", False), ("ld_f8(frame, 16) != ld_f8(frame, 16)", True),
    ("ld_f8(frame, 16) < 1.0", False), ("not ld_f8(frame, 16) < 1.0", True), ("ld_f8(frame, 24) == 0.1", True),
    ("narrow(ld_f8(frame, 24)) == 0.1", False), ("narrow(ld_f8(frame, 24)) == narrow(0.1)", True),
    ("cpair(ld_f8(frame, 16), 1.0) == cpair(ld_f8(frame, 16), 1.0)", False),
    ("cpair(ld_f8(frame, 16), 1.0) != cpair(ld_f8(frame, 16), 1.0)", True),
    ("cpair(ld_f8(frame, 24), 2.0) == cpair(0.1, 2.0)", True), ("cpair(1.0, 2.0) != cpair(1.0, 3.0)", True),
    ("creal(cpair(ld_f8(frame, 24), 2.0)) == 0.1 and cimag(cpair(0.0, 2.0)) == 2.0", True),
    ("ld_i8(frame, 8) == -9223372036854775808 + 9223372036854775807", True),
    ("ld_f8(frame, 24) > (-128) - 1.0 or ld_i8(frame, 0) == 3", True), ("1 == 1 and 2 == 2 and 3 == 4", False),
    ("(ld_i8(frame, 0) if ld_i8(frame, 8) < 0 else 7) == 1", True), ("(True if 1 == 2 else False)", False),
])
def test_conditions(expression, expected):
    assert run("if %s:\n    return 1\nreturn 0" % expression, 1, -1, float("nan"), 0.1) == expected


def test_no_two_operations_become_one():
    """Nothing is contracted: a * b + c rounds twice."""
    a, b = 1.0 + 2.0 ** -30, 1.0 - 2.0 ** -30
    body = "st_f8(frame, 24, fadd(fmul(ld_f8(frame, 0), ld_f8(frame, 8)), ld_f8(frame, 16)))\nreturn ld_i8(frame, 24)"
    assert run(body, a, b, -1.0, 0) == struct.unpack("<q", struct.pack("<d", a * b - 1.0))[0] == 0


def test_equal_negations_are_one():
    """LLVM cannot fold the sign bit, but it knows that it is the same one."""
    body = "def kernel(frame):\n    x = ld_f8(frame, 0)\n    y = ld_f8(frame, 8)\n" \
           "    st_f8(frame, 16, fmul(fneg(x), y))\n    st_f8(frame, 24, fadd(fneg(x), y))\n    return 0\n"
    text = codegen.library(body, INTRINSICS, False).get_llvm_str()
    assert text.count(" xor ") == text.count('asm "", ') == 1


SCOPES = {
    "if ld_i8(frame, 0) > 0:; x = 5;return x": [5, 0],
    "if ld_i8(frame, 0) > 0:; x = 5;else:; x = 7;return x": [5, 7],
    "x = 3;if ld_i8(frame, 0) > 0:; y = iadd(x, 1);"
    " if ld_i8(frame, 0) > 1:;  return y; x = iadd(y, x);return x": [4, 3],
    "n = s = old = 0;while n < 3:; s = iadd(s, old); old = iadd(n, 10); n = iadd(n, 1);return s": [21, 21],
    "n = 0;while True:; x = iadd(n, 40); n = iadd(n, 1); if n > 2:;  break;return x": [42, 42],
    "n = 0;while True:; x = iadd(n, 40); n = iadd(n, 1); if n > 2:;  return x;"
    " if ld_i8(frame, 0) > 0:;  y = iadd(x, 9);"
    "  if y > 0:;   return x": [40, 42],
    "n = more = 0;last = ld_i8(frame, 0);while n < last:; n = iadd(n, more); more = 1; last = isub(last, 1);"
    "return n": [1, 0],
    "x = ld_i8(frame, 0);y = x;st_i8(frame, 0, 9);x = 4;return iadd(y, x)": [6, 3],
}


@pytest.mark.parametrize("body", list(SCOPES))
def test_where_variables_are_read(body):
    """In the block that assigns them, behind it, in the next round; and where that block was passed by they are 0."""
    source = "\n".join("    " * (len(line) - len(line.lstrip())) + line.lstrip() for line in body.split(";"))
    assert [run(source, 2), run(source, -1)] == SCOPES[body]


def test_values_leave_as_words():
    body = "leave(frame, 0, 1, 1 == 1, -5, narrow(2.5), cpair(3.5, -4.5))\nreturn ld_i8(frame, %d)"
    bits = [struct.unpack("<q", struct.pack("<d", value))[0] for value in (2.5, 3.5, -4.5)]
    assert [run(body % (8 * k), *[0] * 5) for k in range(5)] == [1, -5] + bits


@pytest.mark.parametrize("body, message", [
    ("x = 1.0\nx = 2\nreturn 0", "kind int64 where float64"),
    ("return fadd(1.0, narrow(1.0))", "float32 where float64"),
    ("return y", "y is read before"), ("for x in y:\n    pass", "no machine code for For"),
    ("return [1]", "no machine code for List"), ("return iadd(1)", "iadd takes 2"),
    ("if 1:\n    return 1", "int64 where bool"),
    ("return ld_i8(frame, 0) + 1", "no machine code for BinOp"),
])
def test_what_is_not_in_the_language_is_refused(body, message):
    with pytest.raises(CompileError, match=message):
        run(body)
