import dis
import sys
from types import FunctionType

import pytest

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler, Label, NewInstr, reencode, replace_code
from tests.bytecode.bytecode_samples import (
    NAMES,
    SAMPLES,
    at,
    conditional,
    executed,
    for_else,
    keywords,
    outcome,
    straight,
    try_everything,
    while_else,
)


def with_code(function, code):
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__,
                        function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def call(assembler, callee, number, line):
    """Instructions that call `callee(number)`."""
    return [NewInstr("LOAD_CONST", assembler.const(callee), line), NewInstr("LOAD_CONST", assembler.const(number), line),
            NewInstr("CALL_FUNCTION", 1, line), NewInstr("POP_TOP", None, line)]


@pytest.mark.parametrize("function, calls", SAMPLES, ids=NAMES)
def test_code_at_every_instruction(function, calls):
    """Inserted code runs exactly when its instruction does, and changes nothing."""
    hits = []
    assembler = Assembler(decode(function.__code__))
    for instr in assembler.function.instructions:
        assembler.insert(instr.index, call(assembler, hits.append, instr.index, instr.lineno))
    edited = with_code(function, assembler.assemble())
    for args in calls:
        del hits[:]
        assert outcome(edited, args) == outcome(function, args)
        assert hits == executed(function, args)


@pytest.mark.parametrize("function, calls", SAMPLES, ids=NAMES)
def test_code_at_one_instruction_at_a_time(function, calls):
    paths = [executed(function, args) for args in calls]
    expected = [outcome(function, args) for args in calls]
    for index in range(len(decode(function.__code__).instructions)):
        hits = []
        for redirect in (True, False):
            assembler = Assembler(decode(function.__code__))
            assembler.insert(index, call(assembler, hits.append, index, 1), redirect)
            edited = with_code(function, assembler.assemble())
            for args, path, result in zip(calls, paths, expected):
                del hits[:]
                assert outcome(edited, args) == result
                count = path.count(index)
                assert len(hits) == count if redirect else len(hits) <= count


@pytest.mark.parametrize("function, calls", SAMPLES, ids=NAMES)
def test_far_jumps(function, calls):
    """So much code between that jumps need prefixes, which move other jumps in turn."""
    assembler = Assembler(decode(function.__code__))
    for instr in assembler.function.instructions:
        assembler.insert(instr.index, [NewInstr("NOP", None, instr.lineno)] * (61 * (instr.index % 5 + 1)))
    code = assembler.assemble()
    if any(instr.target is not None for instr in assembler.function.instructions):
        assert dis.EXTENDED_ARG in code.co_code[::2]
    for args in calls:
        assert outcome(with_code(function, code), args) == outcome(function, args)


@pytest.mark.parametrize("function, calls", SAMPLES, ids=NAMES)
def test_spilling_the_stack_everywhere(function, calls):
    """The whole operand stack moves to fresh locals and back, so its depth must be right."""
    decoded = decode(function.__code__)
    cfg = build_cfg(decoded)
    assert "LOAD_METHOD" not in {instr.opname for instr in decoded.instructions}
    assembler = Assembler(decoded)
    slots = [assembler.fresh_local() for _ in range(function.__code__.co_stacksize)]
    spilled = 0
    for instr in decoded.instructions:
        blocks = cfg.block_stack[instr.index]
        if blocks is None or any(entry.kind == "handler" for entry in blocks):
            continue
        mine = slots[:cfg.stack_depth[instr.index]]
        spilled += len(mine)
        assembler.insert(instr.index, [NewInstr("STORE_FAST", slot, instr.lineno) for slot in mine]
                         + [NewInstr("LOAD_FAST", slot, instr.lineno) for slot in reversed(mine)])
    assert spilled >= 3
    edited = with_code(function, assembler.assemble())
    for args in calls:
        assert outcome(edited, args) == outcome(function, args)


@pytest.mark.parametrize("function, calls", SAMPLES, ids=NAMES)
def test_unchanged(function, calls):
    code, again = function.__code__, reencode(function.__code__)
    for field in dir(code):
        if field.startswith("co_") and field not in ("co_lnotab", "co_lines"):
            assert getattr(code, field) == getattr(again, field), field
    assert list(dis.findlinestarts(code)) == list(dis.findlinestarts(again))
    for args in calls:
        assert outcome(with_code(function, again), args) == outcome(function, args)


def test_skip_a_segment():
    """What linked code does: new code at a segment's head, a jump past it, the segment as the slow path."""
    decoded = decode(straight.__code__)
    assembler = Assembler(decoded)
    x = decoded.varnames.index("x")
    miss = assembler.original(0)
    done = next(instr.index for instr in decoded.instructions if instr.opname == "STORE_FAST") + 1
    assembler.insert(0, [
        NewInstr("LOAD_FAST", x, 1), NewInstr("LOAD_CONST", assembler.const(100), 1),
        NewInstr("COMPARE_OP", dis.cmp_op.index("=="), 1), NewInstr("POP_JUMP_IF_FALSE", miss, 1),
        NewInstr("LOAD_CONST", assembler.const(1000), 1),
        NewInstr("STORE_FAST", assembler.local("z"), 1), NewInstr("JUMP_ABSOLUTE", assembler.inserted(done), 1)])
    edited = with_code(straight, assembler.assemble())
    assert [edited(x) for x in (3, 100)] == [3, 900]


def test_appended_code_and_labels():
    assembler = Assembler(decode(conditional.__code__))
    tail, back = Label("tail"), Label("back")
    one = next(instr for instr in assembler.function.instructions if instr.opname == "LOAD_CONST"
               and instr.lineno == at(conditional, "y = 1"))
    assembler.insert(one.index, [NewInstr("JUMP_ABSOLUTE", tail, one.lineno), back])
    assembler.append([
        tail, NewInstr("LOAD_CONST", assembler.const(5), 9), NewInstr("STORE_FAST", assembler.local("x"), 9),
        NewInstr("JUMP_ABSOLUTE", assembler.original(one.index), 9)])
    assembler.append([NewInstr("JUMP_ABSOLUTE", back, 9)])
    edited = with_code(conditional, assembler.assemble())
    assert edited(1) == 1 and edited(0) == 2


def test_preheader():
    """Code that is not redirected runs once before a loop, not again at its back edge."""
    hits = []
    decoded = decode(for_else.__code__)
    header = next(instr.index for instr in decoded.instructions if instr.opname == "FOR_ITER")
    assembler = Assembler(decoded)
    assembler.insert(header, call(assembler, hits.append, "head", 1))
    assembler.insert(header, call(assembler, hits.append, "before", 1), redirect=False)
    edited = with_code(for_else, assembler.assemble())
    assert edited(3, 9) == -2
    assert hits == ["before"] + ["head"] * 4


def test_retarget():
    decoded = decode(for_else.__code__)
    header = next(instr.index for instr in decoded.instructions if instr.opname == "FOR_ITER")
    hits = []
    assembler = Assembler(decoded)
    assembler.insert(header, call(assembler, hits.append, "entry", 1))
    for instr in decoded.instructions:
        if instr.target == header:
            assembler.retarget(instr.index, assembler.original(header))
    edited = with_code(for_else, assembler.assemble())
    assert edited(3, 9) == -2 and hits == ["entry"]
    with pytest.raises(ValueError, match="has no target"):
        assembler.retarget(0, assembler.original(header))


def test_constants_by_identity():
    assembler = Assembler(decode(straight.__code__))
    first, second = [1], [1]
    assert assembler.const(first) == assembler.const(first)
    assert assembler.const(first) != assembler.const(second)
    zero, negative, true = assembler.const(0.0), assembler.const(-0.0), assembler.const(True)
    assert len({zero, negative, true}) == 3
    assert assembler.const(None) == straight.__code__.co_consts.index(None)
    consts = assembler.assemble().co_consts
    assert consts[:len(straight.__code__.co_consts)] == straight.__code__.co_consts
    assert consts[assembler.const(second)] is second and str(consts[negative]) == "-0.0"


def test_names_and_locals_are_appended():
    assembler = Assembler(decode(keywords.__code__))
    code = keywords.__code__
    assert assembler.local("a") == 0 and assembler.name("sorted") == code.co_names.index("sorted")
    fresh = [assembler.fresh_local(), assembler.fresh_local()]
    assembler.insert(0, [NewInstr("LOAD_GLOBAL", assembler.name("len"), 1), NewInstr("STORE_FAST", fresh[1], 1)])
    edited = assembler.assemble()
    assert edited.co_varnames == code.co_varnames + ("$s1", "$s2")
    assert edited.co_nlocals == code.co_nlocals + 2
    assert edited.co_names == code.co_names + ("len",)
    assert with_code(keywords, edited)(1, 2, b=4, c=5) == (7, ["c"])


def test_cells_stay():
    total = 3

    def add(x):
        return [x + total + y for y in (1, 2)]

    assembler = Assembler(decode(add.__code__))
    assembler.insert(0, [NewInstr("LOAD_DEREF", 1, 1), NewInstr("STORE_FAST", assembler.fresh_local(), 1)])
    edited = assembler.assemble()
    assert (edited.co_cellvars, edited.co_freevars) == (("x",), ("total",))
    assert with_code(add, edited)(1) == [5, 6]


def test_lines_of_new_code():
    assembler = Assembler(decode(straight.__code__))
    assembler.insert(4, [NewInstr("NOP", None, 5000), NewInstr("NOP", None, 3)])
    lines = [instr.lineno for instr in decode(assembler.assemble()).instructions]
    first = straight.__code__.co_firstlineno
    assert lines == [first + 1] * 4 + [5000, 3] + [first + 2] * 4


def test_stack_size_grows():
    assembler = Assembler(decode(straight.__code__))
    one = assembler.const(1)
    assembler.insert(4, [NewInstr("LOAD_CONST", one, 1)] * 50 + [NewInstr("BUILD_TUPLE", 50, 1), NewInstr("POP_TOP", None, 1)])
    code = assembler.assemble()
    assert code.co_stacksize == 50
    assert with_code(straight, code)(3) == 3


@pytest.mark.parametrize("items, message", [
    ([NewInstr("JUMP_ABSOLUTE", Label("lost"), 1)], "<Label lost> is placed before no instruction"),
    ([NewInstr("JUMP_ABSOLUTE", 3, 1)], "argument of the wrong kind"),
    ([NewInstr("LOAD_CONST", None, 1)], "argument of the wrong kind"),
    ([NewInstr("POP_TOP", 1, 1)], "argument of the wrong kind"),
])
def test_refusals(items, message):
    assembler = Assembler(decode(while_else.__code__))
    assembler.insert(0, items)
    with pytest.raises(ValueError, match=message):
        assembler.assemble()


def test_refuses_what_cannot_be_placed():
    assembler = Assembler(decode(while_else.__code__))
    label = Label("twice")
    assembler.insert(0, [label, NewInstr("NOP"), label])
    with pytest.raises(ValueError, match="<Label twice> is placed twice"):
        assembler.assemble()
    with pytest.raises(IndexError):
        assembler.insert(len(assembler.function.instructions), [NewInstr("NOP")])
    backwards = Assembler(decode(while_else.__code__))
    backwards.append([NewInstr("JUMP_FORWARD", backwards.original(0))])
    with pytest.raises(ValueError, match="JUMP_FORWARD cannot jump backwards"):
        backwards.assemble()


def line_events(function, args):
    events = []

    def trace(frame, event, arg):
        if frame.f_code.co_name != function.__name__:
            return None
        events.append((event, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        outcome(function, args)
    finally:
        sys.settrace(None)
    return events


@pytest.mark.parametrize("function, calls", SAMPLES, ids=NAMES)
def test_debuggers_see_the_same_lines(function, calls):
    again = with_code(function, reencode(function.__code__))
    for args in calls:
        assert line_events(again, args) == line_events(function, args)


def test_replace_code():
    code = replace_code(try_everything.__code__, co_name="other", co_firstlineno=7)
    assert (code.co_name, code.co_firstlineno) == ("other", 7)
    original = try_everything.__code__
    assert (code.co_code, code.co_consts) == (original.co_code, original.co_consts)
