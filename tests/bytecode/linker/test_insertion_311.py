"""New code between the instructions of CPython 3.11 and later: results, exceptions, lines and positions stay."""

import asyncio
import dis
import sys
from types import FunctionType

import pytest

if sys.version_info < (3, 11):
    pytest.skip("caches and exception tables come with CPython 3.11", allow_module_level=True)

from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler, Label, NewInstr
from tests.bytecode.bytecode_samples import (
    NAMES,
    NUMBERS,
    SAMPLES,
    conditional,
    fail,
    for_else,
    outcome,
    straight,
    try_everything,
)


def with_code(function, code):
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def generator(n):
    try:
        for i in range(n):
            got = yield i
            if got:
                yield from (got, -got)
    finally:
        yield "end"


def used_generator(n):
    """What a generator gives, is sent and has thrown into it."""
    made = generator_in_use(n)
    seen = [made.send(None)]
    for value in (None, 5, None, None):
        seen.append((made.gi_yieldfrom is not None, made.send(value)))
    try:
        seen.append(made.throw(KeyError(n)))
        seen.append(next(made))
    except KeyError as error:
        seen.append(error.args)
    return seen


def delegating(n):
    return (yield from generator(n))


async def pause(n):
    await asyncio.sleep(0)
    return fail(n)


async def asynchronous(n):
    log = []

    async def count():
        for i in range(n):
            yield i

    async for i in count():
        log.append(i)
    log += [i async for i in count() if i]
    try:
        log.append(await pause(n))
    except KeyError as error:
        log.append(error.args)
    return log


def comprehensions(n):
    i = "outer"
    table = [[i * j for j in range(i)] for i in range(n)]
    return i, table, {i: [fail(i) for _ in "ab"] for i in range(n)}, {k for k in "ab"}, [lambda: (i, k) for k in range(n)][-1]()


EXCEPTION_GROUPS = """
def exception_groups(n):
    try:
        raise ExceptionGroup("several", [KeyError(n), ValueError(n)][:1 + n % 2] + [OSError(n)] * (n == 3))
    except* KeyError as group:
        n += len(group.exceptions)
    except* ValueError:
        n = -n
    return n
"""
# Before 3.11 this file is parsed, too.
exec(EXCEPTION_GROUPS)
exception_groups = globals()["exception_groups"]


class Base:
    def method(self, *args, **names):
        return args, sorted(names)


class Derived(Base):
    def method(self, n):
        inherited = super().method(n, *range(n), name=n, **{"other": n})
        return inherited, self.value if n == 2 else None, "{!r:>5}|{}".format(n, n), f"{n!r:>5}|{n}"


def methods(n):
    found = Derived.method(Derived(), n)
    first, second = [n, 1], {"a": n}
    first.append(found)
    first[0:1] = first[1:2]
    return first, second.get(key_of(n), None) if n < 0 else second, n is None, n in first, not n


def key_of(n):
    return str(n)


def many_jumps(n):
    x = None if n % 2 else n
    while x is not None and n < 20:
        n += 1
        if x is None or n == 7:
            continue
        x = n if n < 12 else None
    return n and x or -n


HARDER = [(delegating, NUMBERS), (comprehensions, NUMBERS), (exception_groups, NUMBERS), (Derived.method, [(Derived(), 1), (Derived(), 2)]),
          (methods, NUMBERS), (many_jumps, NUMBERS)]
ALL = SAMPLES + HARDER
IDS = NAMES + [function.__qualname__ for function, _ in HARDER]
EACH = pytest.mark.parametrize("function, calls", ALL, ids=IDS)


def result(function, args):
    """The outcome of a call; what a generator gives as a list."""
    def run(*args):
        made = function(*args)
        return list(made) if hasattr(made, "send") else made

    return outcome(run, args)


def spread(function, count=1):
    """Code with NOPs before all instructions that allow it, the original's instructions, and where they are now."""
    assembler = Assembler(decode(function.__code__))
    places = []
    for instr in assembler.function.instructions:
        if assembler.may_insert(instr.index):
            assembler.insert(instr.index, [NewInstr("NOP", None, instr.lineno)] * count)
        places.append(assembler.original(instr.index))
    code = assembler.assemble()
    return code, assembler.function.instructions, [assembler.offset(label) for label in places]


def assert_same(function, edited, calls):
    for _ in range(3):
        for args in calls:
            assert result(edited, args) == result(function, args)


@EACH
@pytest.mark.parametrize("count", [1, 90])
def test_nops_everywhere(function, calls, count):
    """With many, jumps get prefixes, which move other jumps in turn."""
    code, instructions, places = spread(function, count)
    assert len(code.co_code) > len(function.__code__.co_code) + 2 * count
    positions = list(code.co_positions())
    at = {instr.offset: instr for instr in decode(code).instructions}
    for instr, place in zip(instructions, places):
        moved = at[place]
        assert (moved.opname, moved.value if instr.target is None else None) == (
            instr.opname, instr.value if instr.target is None else None)
        assert positions[place // 2] == instr.position
        assert (moved.entry is None) == (instr.entry is None)
        assert instr.entry is None or moved.entry[3:] == instr.entry[3:]
    assert_same(function, with_code(function, code), calls)


@EACH
def test_one_nop_at_a_time(function, calls):
    decoded = decode(function.__code__)
    expected = [result(function, args) for args in calls]
    for instr in decoded.instructions:
        for redirect in (True, False):
            assembler = Assembler(decoded)
            if not assembler.may_insert(instr.index):
                continue
            assembler.insert(instr.index, [NewInstr("NOP", None, instr.lineno)], redirect)
            edited = with_code(function, assembler.assemble())
            assert [result(edited, args) for args in calls] == expected


@EACH
def test_refused_places(function, calls):
    assembler = Assembler(decode(function.__code__))
    refused = [instr for instr in assembler.function.instructions if not assembler.may_insert(instr.index)]
    assert {"RESUME"} <= {instr.opname for instr in refused} <= {
        "RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "POP_TOP", "END_FOR", "POP_ITER", "CALL", "PRECALL", "YIELD_VALUE"}
    for instr in refused:
        with pytest.raises(ValueError, match="nothing can be inserted before <{} ".format(instr.index)):
            assembler.insert(instr.index, [NewInstr("NOP")])


def test_generators_in_use(monkeypatch):
    monkeypatch.setitem(globals(), "generator_in_use", generator)
    expected = [used_generator(n) for n in (2, 3, 4)]
    monkeypatch.setitem(globals(), "generator_in_use", with_code(generator, spread(generator)[0]))
    assert [used_generator(n) for n in (2, 3, 4)] == expected


@pytest.mark.parametrize("n", [0, 1, 3])
def test_coroutines(n):
    edited = with_code(asynchronous, spread(asynchronous)[0])
    assert asyncio.run(edited(n)) == asyncio.run(asynchronous(n))
    waiting = with_code(pause, spread(pause)[0])(3)
    assert waiting.send(None) is None and waiting.cr_await is not None
    with pytest.raises(OSError):
        waiting.throw(OSError())


def columns(function, args):
    """The positions of the frames of a traceback."""
    try:
        function(*args)
    except Exception as error:
        found, traceback = [], error.__traceback__.tb_next
        while traceback is not None:
            code, lasti = traceback.tb_frame.f_code, traceback.tb_lasti
            found.append((code.co_qualname, traceback.tb_lineno, list(code.co_positions())[lasti // 2]))
            traceback = traceback.tb_next
        return found
    return None


@EACH
def test_columns_of_tracebacks(function, calls):
    edited = with_code(function, spread(function)[0])
    for args in calls:
        assert columns(edited, args) == columns(function, args)


def test_twins_stay_apart():
    """Entries side by side that say the same remain two."""
    code = try_everything.__code__
    entries = {id(instr.entry) for instr in decode(code).instructions if instr.entry is not None}
    again = {id(instr.entry) for instr in decode(spread(try_everything)[0]).instructions if instr.entry is not None}
    assert len(entries) == len(again) > 4


def test_new_code_has_the_handler_of_its_site():
    """An exception that inserted code raises is caught as one of the instruction that follows."""
    decoded = decode(try_everything.__code__)
    call = next(instr for instr in decoded.instructions if instr.value == "fail")
    assembler = Assembler(decoded)
    zero = assembler.const(0)
    away, back = Label("away"), assembler.original(call.index)
    division = [NewInstr("LOAD_CONST", zero, call.lineno), NewInstr("LOAD_CONST", zero, call.lineno), NewInstr("BINARY_OP", 11, call.lineno),
                NewInstr("POP_TOP", None, call.lineno)]
    assembler.insert(call.index, [NewInstr("JUMP", away, call.lineno)])
    assembler.append([away] + division + [NewInstr("JUMP", back, call.lineno)], site=call.index)
    edited = with_code(try_everything, assembler.assemble())
    kind, error, text, lines = outcome(edited, (5,))
    assert (error, lines[:1]) == (ZeroDivisionError, [call.lineno])
    assert edited.__code__.co_stacksize >= try_everything.__code__.co_stacksize
    handled = [instr for instr in decode(edited.__code__).instructions if instr.opname == "BINARY_OP" and instr.entry is not None]
    assert handled[-1].entry[3:] == call.entry[3:]


def test_skip_a_segment():
    decoded = decode(straight.__code__)
    head = next(instr.index for instr in decoded.instructions if instr.opname == "RESUME") + 1
    done = next(instr.index for instr in decoded.instructions if instr.opname == "STORE_FAST") + 1
    assembler = Assembler(decoded)
    test = ["POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_IF_NONE"]["POP_JUMP_IF_NONE" in dis.opmap]
    assembler.insert(head, [
        NewInstr("LOAD_FAST", assembler.local("y"), 1), NewInstr(test, assembler.original(head), 1),
        NewInstr("LOAD_CONST", assembler.const(1000), 1), NewInstr("STORE_FAST", assembler.local("z"), 1), NewInstr("JUMP", assembler.inserted(done), 1)])
    edited = with_code(straight, assembler.assemble())
    assert edited(100) == 900
    with pytest.raises(TypeError):
        edited(100, None)


def test_new_locals_move_the_slots_of_cells():
    total = 3

    def add(x, *more):
        local, y = 2, x
        values = [lambda: (x, y, total), *more]
        x += local
        del local
        return values[0](), [x + k for k in more], [lambda: k + y for k in more][0]()

    expected = add(1, 2)
    assembler = Assembler(decode(add.__code__))
    first = next(instr.index for instr in assembler.function.instructions if assembler.may_insert(instr.index))
    free = next(instr.raw for instr in assembler.function.instructions if instr.opname == "MAKE_CELL" and instr.value == "y")
    slot = assembler.fresh_local()
    assembler.insert(first, [NewInstr("LOAD_CONST", 0, 1), NewInstr("STORE_FAST", slot, 1), NewInstr("LOAD_CONST", assembler.const(9), 1),
                             NewInstr("STORE_DEREF", free, 1)])
    assembler.fresh_local()
    edited = assembler.assemble()
    assert edited.co_varnames == add.__code__.co_varnames + ("$s1", "$s2")
    assert (edited.co_cellvars, edited.co_freevars) == (add.__code__.co_cellvars, add.__code__.co_freevars)
    assert with_code(add, edited)(1, 2) == expected


def test_stack_size_grows():
    assembler = Assembler(decode(straight.__code__))
    one = assembler.const(1)
    assembler.insert(4, [NewInstr("LOAD_CONST", one, 1)] * 50 + [NewInstr("BUILD_TUPLE", 50, 1), NewInstr("POP_TOP", None, 1)])
    code = assembler.assemble()
    assert code.co_stacksize >= 50 and with_code(straight, code)(3) == 3


def test_refusals():
    def assembled(function, *items, index=None):
        assembler = Assembler(decode(function.__code__))
        places = [instr.index for instr in assembler.function.instructions if assembler.may_insert(instr.index)]
        assembler.insert(places[index or 0], [item(assembler) for item in items])
        return assembler.assemble()

    with pytest.raises(ValueError, match="JUMP_FORWARD cannot jump backwards"):
        assembled(straight, lambda made: NewInstr("JUMP_FORWARD", made.original(0)), index=3)
    with pytest.raises(ValueError, match="JUMP_BACKWARD cannot jump forwards"):
        assembled(straight, lambda made: NewInstr("JUMP_BACKWARD", made.original(4)))
    with pytest.raises(ValueError, match="argument of the wrong kind"):
        assembled(conditional, lambda made: NewInstr("JUMP", 3))
    with pytest.raises(ValueError, match="different stacks"):
        assembled(for_else, lambda made: NewInstr("LOAD_CONST", 0), index=-12)


@pytest.mark.skipif("END_FOR" not in dis.opmap, reason="FOR_ITER skips nothing")
def test_a_loop_ends_at_end_for():
    assembler = Assembler(decode(for_else.__code__))
    header = next(instr for instr in assembler.function.instructions if instr.opname == "FOR_ITER")
    assembler.retarget(header.index, assembler.original(header.target + 2))
    with pytest.raises(ValueError, match="FOR_ITER has to lead to END_FOR"):
        assembler.assemble()
