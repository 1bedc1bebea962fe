"""What verification of linked code finds on CPython 3.11 and later, and loads of variables that may have no value."""

import dis
import sys

import pytest

if sys.version_info < (3, 11):
    pytest.skip("earlier versions have tests of their own", allow_module_level=True)

from pijit.core.bytecode.analysis.definite_assignment_311 import checked, maybe_unbound, unproved_loads
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler, Label, NewInstr, replace_code
from pijit.core.bytecode.instructions.exception_table import read_exception_table, write_exception_table
from pijit.core.bytecode.linker import verify, verify_311
from pijit.core.bytecode.linker.link import MISS, Call, ExitPlan, Site, link
from pijit.core.bytecode.linker.verify import why_wrong
from tests.bytecode.bytecode_samples import SAMPLES
from tests.bytecode.linker.link_samples_311 import Launch, cfg_of, index_of

CHECKS_LOADS = sys.version_info >= (3, 12)


@pytest.fixture(autouse=True)
def nothing_known():
    verify._right.clear()


def sample(x, rows):
    try:
        for row in rows:
            if row > x:
                x = x + row.part(row)
    except KeyError:
        x = None
    return x


CFG = cfg_of(sample)
PLAIN = CFG.function.code


def linked():
    index = index_of(CFG, "BINARY_ADD")
    depth = CFG.stack_depth[index]
    call = Call(Launch((MISS,)), (), 1, (ExitPlan(index + 1, (), 1, False),))
    return link(CFG, [Site(index, depth - 2, depth, (call,))], [])


def changed(code, opname, nth=0, opcode=None, arg=None):
    """The code with another opcode or argument in the nth instruction of that name."""
    offset = [instr.offset for instr in dis.get_instructions(code) if instr.opname == opname][nth]
    raw = bytearray(code.co_code)
    raw[offset] = raw[offset] if opcode is None else dis.opmap[opcode]
    raw[offset + 1] = raw[offset + 1] if arg is None else arg
    return replace_code(code, co_code=bytes(raw))


def entries_changed(code, change):
    return replace_code(code, co_exceptiontable=write_exception_table(change(read_exception_table(code.co_exceptiontable))))


def assembled(edit):
    assembler = Assembler(CFG.function)
    edit(assembler)
    return assembler.assemble()


def test_right_code_is_right():
    assert why_wrong(PLAIN, CFG.function) is why_wrong(linked(), CFG.function) is None
    for function, _ in SAMPLES:
        assert why_wrong(function.__code__, decode(function.__code__)) is None


def other_line(assembler):
    assembler.insert(0, [NewInstr("NOP", None, PLAIN.co_firstlineno + 500)])


WRONG = [
    ("takes number 200 of", lambda code: changed(code, "LOAD_CONST", arg=200)),
    ("takes number 200 of", lambda code: changed(code, "STORE_FAST", arg=200)),
    ("takes number 127 of", lambda code: changed(code, "LOAD_ATTR" if CHECKS_LOADS else "LOAD_METHOD",
                                                 arg=255 if CHECKS_LOADS else 127)),
    ("where no instruction begins", lambda code: changed(code, "FOR_ITER", arg=4)),
    ("of the function is missing", lambda code: changed(code, "BINARY_OP", arg=1)),
    ("of the function is missing", lambda code: changed(code, "GET_ITER", opcode="UNARY_NOT")),
    ("has the handler", lambda code: entries_changed(code, lambda entries: entries[1:])),
    ("has the handler", lambda code: entries_changed(code, lambda entries: [entries[0]._replace(depth=1)] + entries[1:])),
    ("has the handler", lambda code: entries_changed(
        code, lambda entries: [entries[0]._replace(target=entries[-1].target)] + entries[1:])),
    ("co_stacksize is 2", lambda code: replace_code(code, co_stacksize=2)),
    ("does not begin with", lambda code: replace_code(code, co_names=code.co_names[::-1])),
    ("co_flags is", lambda code: replace_code(code, co_flags=code.co_flags | 0x20)),
    ("has a line that has no code", lambda code: assembled(other_line)),
]


@pytest.mark.parametrize("sentence, edit", WRONG)
def test_wrong_code_is_found(sentence, edit):
    assert sentence in why_wrong(edit(linked()), CFG.function)


def test_new_code_has_no_handler_of_its_own_making():
    """Instructions that link has inserted lose their handler, or get one that nobody has."""
    code = linked()
    units = [instr.offset // 2 for instr in decode(code).instructions if instr.opname == "UNPACK_SEQUENCE"]
    entries = read_exception_table(code.co_exceptiontable)
    (at,) = units
    number = next(number for number, entry in enumerate(entries) if entry.start <= at < entry.end)
    entry = entries[number]
    parts = [entry._replace(end=at), entry._replace(start=at, end=at + 2, depth=7), entry._replace(start=at + 2)]
    wrong = replace_code(code, co_exceptiontable=write_exception_table(entries[:number] + parts + entries[number + 1:]))
    assert "which no instruction of the function has" in why_wrong(wrong, CFG.function)


def nested(xs):
    for x in xs:
        try:
            x = x.part()
        finally:
            x = None
    return x


def test_a_stack_that_is_too_low_for_the_handler():
    cfg = cfg_of(nested)
    store = next(instr.index for instr in cfg.function.instructions if instr.opname == "CALL_METHOD") + 1
    assert cfg.function.instructions[store].entry.depth == 1
    assembler = Assembler(cfg.function)
    line = cfg.function.instructions[store].lineno
    slot, one = assembler.fresh_local(), assembler.fresh_local()
    # The iterator is off the stack while something may raise.
    load = NewInstr("LOAD_GLOBAL", assembler.name("print") << 1, line)
    assembler.insert(store, [NewInstr("STORE_FAST", one, line), NewInstr("STORE_FAST", slot, line), load, NewInstr("POP_TOP", None, line),
                             NewInstr("LOAD_FAST", slot, line), NewInstr("LOAD_FAST", one, line)])
    assert "has 0 items on the stack, its handler expects 1" in why_wrong(assembler.assemble(), cfg.function)


@pytest.mark.skipif(not CHECKS_LOADS, reason="all loads look whether there is a value")
def test_a_load_without_a_proof():
    code = linked()
    assembler = Assembler(CFG.function)
    slot, line = assembler.fresh_local(), PLAIN.co_firstlineno + 1
    skip = Label("skip")
    assembler.insert(0, [
        NewInstr("LOAD_CONST", 0, line), NewInstr("POP_JUMP_IF_NONE", skip, line), NewInstr("LOAD_CONST", 0, line), NewInstr("STORE_FAST", slot, line),
        skip, NewInstr("LOAD_FAST", slot, line), NewInstr("POP_TOP", None, line)])
    code = assembler.assemble()
    assert "reads a variable that may have no value" in why_wrong(code, CFG.function)
    assert why_wrong(checked(code), CFG.function) is None
    assert [instr.opname for instr in decode(checked(code)).instructions].count("LOAD_FAST_CHECK") == 1
    damaged = entries_changed(linked(), lambda entries: [entries[0]._replace(target=1 << 11)] + entries[1:])
    assert why_wrong(damaged, CFG.function).startswith("it does not decode: ")


def maybe(x):
    if x:
        y = 1
    for z in x:
        del z
    try:
        w = x()
    except KeyError as error:
        return y
    return w, y, z, error


def test_variables_that_may_have_no_value():
    cfg = cfg_of(maybe)
    assert unproved_loads(decode(maybe.__code__)) == []
    assert checked(maybe.__code__) is maybe.__code__
    header = index_of(cfg, "FOR_ITER")
    assert set(maybe_unbound(cfg.function, header)) == {"y", "z", "w", "error"}
    assert set(maybe_unbound(cfg.function, header + 2)) == {"y", "w", "error"}
    assert "w" not in maybe_unbound(cfg.function, index_of(cfg, "STORE_FAST", value="w") + 1)


@pytest.mark.skipif(not CHECKS_LOADS, reason="all loads look whether there is a value")
def test_loads_of_the_standard_library_are_proved():
    """The compiler has made all checks that are needed. The analysis asks for more only of what comprehensions put aside."""
    import argparse
    import statistics
    import textwrap
    import types
    count = 0
    for module in (argparse, statistics, textwrap):
        with open(module.__file__, encoding="utf-8") as file:
            todo = [compile(file.read(), module.__file__, "exec")]
        while todo:
            code = todo.pop()
            todo += [const for const in code.co_consts if isinstance(const, types.CodeType)]
            function = decode(code)
            saving_store = {instr.value for instr in function.instructions if instr.opname == "LOAD_FAST_AND_CLEAR"}
            found = [instr.value if isinstance(instr.value, tuple) else (instr.value,) for instr in unproved_loads(function)]
            assert all(saving_store.intersection(names) for names in found), code
            count += 1
    assert count > 200


@pytest.mark.skipif(sys.version_info < (3, 13), reason="no instruction loads two variables")
def test_pairs_of_loads_cannot_look():
    assembler = Assembler(decode(maybe.__code__))
    line, slot = maybe.__code__.co_firstlineno, assembler.local("w")
    drop = NewInstr("POP_TOP", None, line)
    assembler.insert(assembler.first_place(), [NewInstr("LOAD_FAST_LOAD_FAST", slot, line), drop, drop])
    with pytest.raises(ValueError, match="may have no value"):
        checked(assembler.assemble())


def test_readings_are_compared(monkeypatch):
    def misread(code):
        function = decode(code)
        function.instructions[2].opname = "NOP"
        return function
    monkeypatch.setattr(verify_311, "decode", misread)
    assert why_wrong(linked(), CFG.function).startswith("we read <2 ")
