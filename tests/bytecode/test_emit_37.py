"""What linked code of CPython 3.7 to 3.10 consists of, instruction by instruction."""

import dis
import sys

import pytest

if sys.version_info >= (3, 11):
    pytest.skip("later versions have other instructions", allow_module_level=True)

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.assembler.emit import Emit, SiteStack
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler, Label
from pijit.core.bytecode.linker.link import MISS, Call, ExitPlan, Site, ValueProbe, link


def sample(x, y):
    a = x + y
    while a > 3:
        a = a - y * 2
    return a


@pytest.fixture
def emit():
    return Emit(Assembler(decode(sample.__code__)), 0)


def shown(items):
    return [item.name if isinstance(item, Label) else (item.opname, item.arg.name if isinstance(item.arg, Label) else item.arg)
            for item in items]


def test_calls(emit):
    const = emit.assembler.const(len)
    assert shown(emit.call(len)) == [("LOAD_CONST", const), ("CALL_FUNCTION", 0)]
    assert shown(emit.call(len, [emit.op("LOAD_FAST", 1), emit.cell(0)])) == [
        ("LOAD_CONST", const), ("LOAD_FAST", 1), ("LOAD_CLOSURE", 0), ("CALL_FUNCTION", 2)]
    assert shown(emit.call_on_top(len)) == [("LOAD_CONST", const), ("ROT_TWO", None), ("CALL_FUNCTION", 1)]
    assert shown(emit.observe(len)) == [("DUP_TOP", None), ("LOAD_CONST", const), ("ROT_TWO", None), ("CALL_FUNCTION", 1),
                                        ("POP_TOP", None)]
    assert shown(emit.call_starred(len, emit.put_back([1]))) == [
        ("LOAD_CONST", const), ("LOAD_FAST", 1), ("DELETE_FAST", 1), ("CALL_FUNCTION_EX", 0)]


def test_jumps(emit):
    label = Label("there")
    assert shown([emit.jump(label), emit.jump_over(label)]) == [("JUMP_ABSOLUTE", "there"), ("JUMP_FORWARD", "there")]
    assert shown(emit.unless_usual(label)) == [("JUMP_IF_TRUE_OR_POP", "there")]
    assert shown(emit.if_none(label)) == [("DUP_TOP", None), ("POP_JUMP_IF_FALSE", "there")]
    assert shown(emit.if_below(7, label)) == [("DUP_TOP", None), ("LOAD_CONST", emit.assembler.const(7)),
                                              ("COMPARE_OP", dis.cmp_op.index("<")), ("POP_JUMP_IF_TRUE", "there")]
    gate = iter(())
    assert shown(emit.if_item(gate, [emit.jump(label)])) == [("LOAD_CONST", emit.assembler.const(gate)), ("FOR_ITER", "no item"),
                                             ("POP_TOP", None), ("POP_TOP", None), ("JUMP_ABSOLUTE", "there"), "no item"]


def test_locals(emit):
    assert shown(emit.put_back([4, 5])) == [("LOAD_FAST", 4), ("LOAD_FAST", 5), ("DELETE_FAST", 4), ("DELETE_FAST", 5)]
    assert shown(emit.drop([4, 5])) == [("DELETE_FAST", 4), ("DELETE_FAST", 5)]
    assert shown(emit.unset(4)) == [("LOAD_CONST", emit.assembler.const(None)), ("STORE_FAST", 4), ("DELETE_FAST", 4)]


def test_a_linked_site():
    cfg = build_cfg(decode(sample.__code__))
    multiply = next(i.index for i in cfg.function.instructions if i.opname == "BINARY_MULTIPLY")
    plans = (ExitPlan(multiply + 1, (), 1, False), ExitPlan(multiply, ("a",), 2, True))
    call = Call(len, (("stack", 1), ("stack", 2), ("local", "x")), 3, plans)
    code = link(cfg, [Site(multiply, 1, 3, (call,))], [ValueProbe(multiply, print)])
    names = [(instr.opname, instr.value if instr.target is None else "->") for instr in decode(code).instructions]
    at = names.index(("STORE_FAST", "$s2"))
    compared = [("DUP_TOP", None), ("LOAD_CONST", 1), ("COMPARE_OP", "<"), ("POP_JUMP_IF_TRUE", "->")]
    assert names[at:names.index(("BINARY_MULTIPLY", None)) + 7] == [
        ("STORE_FAST", "$s2"), ("STORE_FAST", "$s1"),
        ("LOAD_CONST", len), ("LOAD_FAST", "$s1"), ("LOAD_FAST", "$s2"), ("LOAD_FAST", "x"), ("CALL_FUNCTION", 3),
        ("UNPACK_SEQUENCE", 4), ("JUMP_IF_TRUE_OR_POP", "->"),
        ("POP_TOP", None), ("POP_TOP", None), ("DELETE_FAST", "$s1"), ("DELETE_FAST", "$s2"), ("JUMP_ABSOLUTE", "->"),
        *compared,
        ("POP_TOP", None), ("STORE_FAST", "a"), ("DELETE_FAST", "$s1"), ("DELETE_FAST", "$s2"), ("JUMP_ABSOLUTE", "->"),
        ("POP_TOP", None), ("POP_TOP", None), ("POP_TOP", None), ("POP_TOP", None), ("JUMP_ABSOLUTE", "->"),
        ("LOAD_FAST", "$s1"), ("LOAD_FAST", "$s2"), ("DELETE_FAST", "$s1"), ("DELETE_FAST", "$s2"),
        ("BINARY_MULTIPLY", None),
        ("DUP_TOP", None), ("LOAD_CONST", print), ("ROT_TWO", None), ("CALL_FUNCTION", 1), ("POP_TOP", None),
        ("BINARY_SUBTRACT", None)]
    assert MISS == -1


def test_blocks_are_mended():
    def tries(x):
        try:
            x = x + 1
        except KeyError:
            x = 2
        return x
    cfg = build_cfg(decode(tries.__code__))
    emit = Emit(Assembler(cfg.function), 0)
    inside = next(i.index for i in cfg.function.instructions if i.opname == "BINARY_ADD")
    stack = SiteStack(emit, cfg, 0, 0, [inside]).exit(inside, 2, {}, False, ())
    setup = "SETUP_FINALLY" if sys.version_info >= (3, 8) else "SETUP_EXCEPT"
    first = len(cfg.function.varnames)
    handler = cfg.block_stack[inside][-1].handler
    assert shown(stack.arrange()) == [
        ("STORE_FAST", first), ("STORE_FAST", first + 1), (setup, "inserted %d" % handler),
        ("LOAD_FAST", first + 1), ("DELETE_FAST", first + 1), ("LOAD_FAST", first), ("DELETE_FAST", first)]
    assert stack.epilogue() == []
    stack = SiteStack(Emit(emit.assembler, inside), cfg, 0, 2, [0]).exit(0, 0, {}, False, ())
    assert shown(stack.arrange()) == [("POP_BLOCK", None)]
