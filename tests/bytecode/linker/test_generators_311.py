"""Generator code of CPython 3.11 and later as plain code: steps from yield to yield, and what takes the place of yields."""

import dis
import importlib
import inspect
import itertools
import sys
import traceback
from types import FunctionType

import pytest

if sys.version_info < (3, 11):
    pytest.skip("earlier versions have tests of their own", allow_module_level=True)

from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler, NewInstr
from pijit.core.bytecode.normal_form.normalise import normal_function
from pijit.core.bytecode.rewrite.generator_steps import (
    START,
    GeneratorCode,
    begins_by_call,
    delegating,
    readable,
    resumed,
)
from pijit.core.bytecode.rewrite.generator_to_loop import (
    ALL,
    ANY,
    BEST,
    DEFAULT,
    DICT,
    EXTREMES,
    FIRST,
    KEY,
    LIST,
    LOST,
    NOTHING,
    PRODUCT,
    REDUCE,
    RESULT,
    SET,
    SUM,
    consumed,
    variable,
)
from tests.bytecode.linker.link_samples_311 import cfg_of, leaving, made


def with_values(code, values):
    """The code, with local variables that are set where it begins."""
    assembler = Assembler(decode(code))
    line = code.co_firstlineno
    items = [item for name, value in values.items() for item in (
        NewInstr("LOAD_CONST", assembler.const(value), line), NewInstr("STORE_FAST", assembler.local(name), line))]
    assembler.insert(assembler.first_place(), items, redirect=False)
    return assembler.assemble()


def squares(xs, k=1):
    return (x * k for x in xs if x is not None)


def of_code(code):
    return next(const for const in code.co_consts if hasattr(const, "co_code"))


def run(consumer, xs, values=(), k=1):
    code = consumed(readable(of_code(squares.__code__)), consumer).code
    known = {variable(name): value for name, value in dict(values).items()}
    return FunctionType(with_values(code, known), globals(), closure=((lambda: k).__closure__))(iter(xs))


@pytest.mark.parametrize("consumer, values, expected", [
    (SUM, {RESULT: 100, LOST: 0.0}, 106), (PRODUCT, {RESULT: 1}, 6), (ANY, {}, True), (ALL, {}, True), (LIST, {}, [1, 2, 3]),
    (SET, {}, {1, 2, 3}), (FIRST[False], {}, 1), (FIRST[True], {DEFAULT: 7}, 1),
    (REDUCE[True], {RESULT: 5, KEY: lambda a, b: a * b}, 30), (REDUCE[False], {KEY: lambda a, b: (a, b)}, ((1, 2), 3)),
    (EXTREMES["<", False, False], {}, 1), (EXTREMES[">", False, False], {}, 3),
    (EXTREMES["<", True, False], {KEY: lambda x: -x, BEST: NOTHING}, 3), (EXTREMES[">", False, True], {DEFAULT: 9}, 3)])
def test_consumers(consumer, values, expected):
    for _ in range(20):  # instructions are specialised
        assert run(consumer, [1, None, 2, 3], values) == expected


@pytest.mark.parametrize("consumer, values, expected", [
    (SUM, {RESULT: 4, LOST: 0.0}, 4), (ANY, {}, False), (ALL, {}, True), (FIRST[True], {DEFAULT: 7}, 7),
    (EXTREMES[">", False, True], {DEFAULT: 9}, 9)])
def test_consumers_without_items(consumer, values, expected):
    assert run(consumer, [], values) == expected


@pytest.mark.parametrize("consumer", [FIRST[False], REDUCE[False], EXTREMES["<", False, False]])
def test_consumers_that_need_an_item(consumer):
    with pytest.raises(RuntimeError, match="No active exception"):  # a raise of what its reader knows
        run(consumer, [])


def test_a_consumer_of_pairs():
    assert run(DICT, ["ab", "cd"]) == {"a": "b", "c": "d"}
    with pytest.raises(ValueError):
        run(DICT, ["abc"])


def test_truth_of_items_is_asked():
    class Odd:
        def __mul__(self, k):
            return self

        def __bool__(self):
            raise KeyError
    for consumer in (ANY, ALL):
        with pytest.raises(KeyError):
            run(consumer, [Odd()])


def receives(xs):
    for x in xs:
        got = yield x
        print(got)


def test_generators_that_use_what_is_sent_are_refused():
    with pytest.raises(ValueError, match="uses what is sent"):
        consumed(readable(receives.__code__), SUM)


class Log(list):
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.append(kind)


def walks(log, xs):
    with log:
        for x in xs:
            log.append((x, (yield x)))
            try:
                yield log.index(x)
            except ValueError:
                yield -x
    yield "end"


def points_of(code):
    return [instr.index for instr in cfg_of(code).function.instructions if instr.opname == "YIELD_VALUE"]


def loops_of(code):
    """The code with a loop in place of each ``yield from``."""
    return delegating(readable(code)).code


def test_steps():
    code, log = walks.__code__, Log()
    generator = GeneratorCode(code)
    first = resumed(generator, START)
    assert first.first == 0 and first.stack == () and sorted(first.yields.values()) == points_of(code)
    begin = made(walks, first.function.code)
    assert begin(log, [4, 5]) == 4 and log == []  # nothing is left: the generator waits
    assert begin(log, []) == "end"
    step = resumed(generator, points_of(code)[0])
    assert step.stack[:1] == ("$s0",) and points_of(code)[0] in step.yields.values()
    reads = normal_function(step.function)
    assert reads.instructions[step.first - 1].opname in ("JUMP_FORWARD", "JUMP_ABSOLUTE")
    assert all(reads.instructions[index].opname == "RETURN_VALUE" for index in step.yields)
    last = next(instr.index for instr in cfg_of(code).function.instructions if instr.value == "end") + 1
    assert step.in_try == frozenset(points_of(code)) - {last}


def counts(xs, k):
    for x in xs:
        yield (x, k)
        k += 1


def test_a_step_goes_on_behind_its_yield():
    step = resumed(GeneratorCode(counts.__code__), points_of(counts.__code__)[0])
    assert step.stack == ("$s0",)
    go_on = made(counts, with_values(step.function.code, {"$s0": iter("yz")}))
    assert go_on("unused", 7) == ("y", 8)
    assert made(counts, with_values(step.function.code, {"$s0": iter("")}))("unused", 7) is None


def test_generator_expressions_have_one_yield():
    code = of_code(squares.__code__)
    assert GeneratorCode(code).only_yield == points_of(code)[0] and GeneratorCode(walks.__code__).only_yield == START


def waiting(function, point, values, operands=()):
    """A generator of a function that is made as it waits at a yield, as C makes it."""
    code, slots, begun = GeneratorCode(function.__code__).plan(point, tuple(values))
    arguments = [None] * code.co_argcount
    for slot, value in zip(slots, (*values.values(), *operands)):
        arguments[slot] = value
    generator = made(function, code)(*arguments)
    if begun:
        assert generator.send(None) is None
    return generator


def test_a_generator_waits_at_its_yield():
    point = points_of(counts.__code__)[0]
    for _ in range(20):
        generator = waiting(counts, point, {"k": 7}, [iter("yz")])
        assert generator.gi_frame.f_lineno == counts.__code__.co_firstlineno + 2
        assert set(generator.gi_frame.f_locals) == {"k"} and not generator.gi_running
        assert (generator.__name__, generator.__qualname__, generator.gi_yieldfrom) == ("counts", "counts", None)
        assert list(generator) == [("y", 8), ("z", 9)]


def test_a_generator_that_has_not_begun():
    generator = waiting(counts, START, {"xs": "ab", "k": 1})
    assert inspect.getgeneratorstate(generator) == "GEN_CREATED" and list(generator) == [("a", 1), ("b", 2)]


def starred(a, *rest, last=3, **named):
    yield a, rest, last, named


def test_which_generators_begin_by_a_call():
    assert begins_by_call(counts.__code__, ("xs", "k")) and not begins_by_call(counts.__code__, ("xs",))
    assert not begins_by_call(starred.__code__, ("a", "last", "rest", "named"))
    values = {"a": 1, "last": 5, "rest": (2,), "named": {"n": 4}}
    assert list(waiting(starred, START, values)) == [(1, (2,), 5, {"n": 4})]


def test_no_requests_are_handled_until_it_waits():
    """Signal handlers run neither at its first RESUME nor behind a call or a jump backwards."""
    code = GeneratorCode(counts.__code__).plan(points_of(counts.__code__)[0], ("k",))[0]
    begin = list(itertools.takewhile(lambda instr: instr.opname != "JUMP_FORWARD", dis.get_instructions(code)))
    assert [instr.arg & 3 for instr in begin if instr.opname == "RESUME"] == [3]
    assert {instr.opname for instr in begin} <= {"RETURN_GENERATOR", "POP_TOP", "RESUME", "DELETE_FAST", "LOAD_FAST",
                                                 "LOAD_FAST_AND_CLEAR", "LOAD_CONST"}


def guarded(log, xs):
    with log:
        for x in xs:
            got = (yield x)
            log.append(got)
            log.append(log.index((yield -x)))


def pairs(log):
    """What two lookups of methods push."""
    return list.append, log, list.index, log


def test_a_generator_waits_among_the_operands_of_a_call_inside_a_with_statement():
    first, second = points_of(guarded.__code__)
    log = Log()
    generator = waiting(guarded, second, {"log": log}, [*leaving(log), iter([5]), *pairs(log)])
    with pytest.raises(ValueError):
        generator.send("not there")
    assert log == [ValueError]
    log = Log(["sent"])
    generator = waiting(guarded, second, {"log": log}, [*leaving(log), iter([5]), *pairs(log)])
    assert generator.send("sent") == 5 and log == ["sent", 0]
    del generator
    assert log == ["sent", 0, GeneratorExit]


def stops(x):
    yield x
    next(iter(()))


def outcome(generator, act):
    """What an action on a generator raises, and the lines of the traceback."""
    with pytest.raises(Exception) as caught:
        act(generator)
    causes = [caught.value, caught.value.__cause__]
    return [(type(error), str(error), traceback.extract_tb(error and error.__traceback__)[1:]) for error in causes]


@pytest.mark.parametrize("act", [next, lambda one: one.send(5), lambda one: one.throw(KeyError(1)),
                                 lambda one: one.throw(StopIteration)])
def test_exceptions_of_a_generator_that_waits(act):
    plain = stops(1)
    next(plain)
    assert outcome(waiting(stops, points_of(stops.__code__)[0], {}), act) == outcome(plain, act)
    waiting(stops, points_of(stops.__code__)[0], {}).close()


def delegates(xs, n):
    yield n
    yield from xs
    if n:
        got = yield from xs
        yield got


def test_a_loop_takes_the_place_of_yield_from():
    function, without = delegating(readable(delegates.__code__)), readable(counts.__code__)
    assert delegating(without) is without and delegating(function) is function
    names = [instr.opname for instr in normal_function(function).instructions]
    assert names.count("SEND") == 1 and names.count("FOR_ITER") == 1 and names.count("YIELD_VALUE") == 4
    again = made(delegates, function.code)
    for _ in range(20):
        assert list(again("ab", 0)) == [0, "a", "b"] and list(again("", 0)) == [0]
    with pytest.raises(KeyError):
        items = again("abc", 0)
        next(items), next(items)
        items.throw(KeyError)
    begin = made(delegates, resumed(GeneratorCode(delegates.__code__), START).function.code)
    assert begin("xy", 5) == 5


class Inner:
    """An iterator that is not a generator."""

    def __init__(self, log):
        self.log = log

    def __iter__(self):
        return self

    def __next__(self):
        return self.log.append("next")

    def send(self, value):
        self.log.append(value)
        return value

    def throw(self, kind, value=None, trace=None):
        self.log.append("thrown")
        raise StopIteration

    def close(self):
        self.log.append("closed")


def test_a_generator_waits_at_yield_from():
    point, log = points_of(loops_of(delegates.__code__))[1], []

    def begun():
        return waiting(delegates, point, {"n": 0}, [inner])

    inner = Inner(log)
    generator = begun()
    assert generator.gi_yieldfrom is inner and generator.gi_frame.f_lineno == delegates.__code__.co_firstlineno + 2
    assert next(generator) is None and generator.send(3) == 3
    assert next(generator, "end") is None
    with pytest.raises(StopIteration):
        generator.throw(KeyError)
    begun().close()
    assert log == ["next", 3, "next", "thrown", "closed"]
    del log[:]
    del generator
    list(zip(range(2), waiting(delegates, point, {"n": 0}, [iter("ab")])))
    begun()
    assert log == ["closed"]


@pytest.mark.parametrize("make, take", [
    (lambda: waiting(counts, points_of(counts.__code__)[0], {"k": 7}, [iter("yz")]), list),
    (lambda: waiting(delegates, points_of(loops_of(delegates.__code__))[1], {"n": 0}, [iter("yz")]), next)])
def test_nothing_is_lost(make, take):
    code = make().gi_code
    before = [sys.getrefcount(value) for value in (None, code, counts.__code__, delegates.__code__)]
    for _ in range(200):
        take(make())
    after = [sys.getrefcount(value) for value in (None, code, counts.__code__, delegates.__code__)]
    assert all(late - early < 100 for early, late in zip(before, after)), (before, after)


@pytest.mark.parametrize("name", ["ast", "difflib", "inspect", "os", "tokenize", "traceback"])
def test_plans_for_the_standard_library(name):
    """Each yield of each generator has a plan with a value for each variable and operand; the operand that is yielded has none."""
    with open(importlib.import_module(name).__file__, encoding="utf-8") as file:
        todo, count = [compile(file.read(), name, "exec")], 0
    while todo:
        code = todo.pop()
        todo += [const for const in code.co_consts if hasattr(const, "co_code")]
        if not inspect.CO_GENERATOR & code.co_flags or code.co_cellvars:
            continue
        cfg = cfg_of(loops_of(code))
        for point in points_of(loops_of(code)):
            whole, slots, begun = GeneratorCode(code).plan(point, code.co_varnames)
            assert begun and len(set(slots)) == len(code.co_varnames) + cfg.stack_depth[point] - 1 == whole.co_argcount
            count += 1
    assert count
