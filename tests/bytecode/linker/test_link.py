"""Linked code of hand-made sites, probes and exits; the launchers are Python functions that note their calls."""

import dis
import sys
from types import FunctionType

import pytest

from pijit.core._launcher import Launcher
from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.linker.link import MISS, Call, ExitPlan, Site, ValueProbe, link
from pijit.guards.guard import IsType
from pijit.guards.program import GuardProgram
from pijit.guards.source import Global


def index_of(cfg, opname, nth=0, value=None):
    found = [instr.index for instr in cfg.function.instructions
             if instr.opname == opname and (value is None or instr.value == value)]
    return found[nth]


def linked(function, cfg, sites, probes=()):
    return FunctionType(link(cfg, sites, list(probes)), function.__globals__, function.__name__, function.__defaults__,
                        function.__closure__)


class Launch:
    """A launcher that gives the answers in turn, the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.seen = []

    def __call__(self, *args):
        self.seen.append(args)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(*args) if callable(answer) else answer


def straight(x, y):
    a = x + y
    b = a * 2
    return b - 1


def local(name):
    return ("local", name)


def straight_site(launch, exits, width, index=0):
    return Site(index, 0, 0, (Call(launch, (local("x"), local("y")), width, exits),))


def test_usual_exit_stores_locals_and_goes_on():
    cfg = build_cfg(decode(straight.__code__))
    target = index_of(cfg, "LOAD_FAST", value="b")
    launch = Launch((False, 10, 20))
    made = linked(straight, cfg, [straight_site(launch, (ExitPlan(target, ("b", "a"), 0, False),), 2)])
    assert made(1, 2) == 9 and launch.seen == [(1, 2)]
    dis_names = [instr.opname for instr in dis.get_instructions(made)]
    assert "COMPARE_OP" not in dis_names  # one exit and MISS: nothing to compare


def test_miss_runs_the_original():
    cfg = build_cfg(decode(straight.__code__))
    launch = Launch((MISS, None, None))
    made = linked(straight, cfg, [straight_site(launch, (ExitPlan(8, ("b", "a"), 0, False),), 2)])
    assert made(1, 2) == straight(1, 2) == 5 and launch.seen == [(1, 2)]


@pytest.mark.parametrize("number, expected", [(False, 99), (0, 99), (1, 41), (2, 13), (MISS, 5)])
def test_each_exit_with_its_padding(number, expected):
    cfg = build_cfg(decode(straight.__code__))
    load_b, store_b = index_of(cfg, "LOAD_FAST", value="b"), index_of(cfg, "STORE_FAST", value="b")
    multiply = index_of(cfg, "BINARY_MULTIPLY")
    exits = (ExitPlan(load_b, ("b",), 0, False),      # b = 100
             ExitPlan(store_b, ("a",), 1, False),     # a and the value that b gets
             ExitPlan(multiply, (), 2, True))         # both operands, top first
    answers = {False: (False, None, 100), 0: (0, None, 100), 1: (1, 7, 42), 2: (2, 2, 7), MISS: (MISS, None, None)}
    launch = Launch(answers[number])
    assert linked(straight, cfg, [straight_site(launch, exits, 2)])(1, 2) == expected


def test_several_launchers_are_tried_in_order():
    cfg = build_cfg(decode(straight.__code__))
    plan = (ExitPlan(index_of(cfg, "LOAD_FAST", value="b"), ("b",), 0, False),)
    first, second, third = Launch((MISS, None)), Launch((False, 50)), Launch((False, 70))
    calls = tuple(Call(launch, (local("x"),), 1, plan) for launch in (first, second, third))
    assert linked(straight, cfg, [Site(0, 0, 0, calls)])(1, 2) == 49
    assert (first.seen, second.seen, third.seen) == ([(1,)], [(1,)], [])
    second.answers = third.answers = [(MISS, None)]
    assert linked(straight, cfg, [Site(0, 0, 0, calls)])(1, 2) == 5
    assert third.seen == [(1,)]


def nested(f, x, y):
    return f(x) + (x * y - 1)


def test_operand_stack_below_is_left_alone_and_items_above_are_spilled():
    cfg = build_cfg(decode(nested.__code__))
    subtract = index_of(cfg, "BINARY_SUBTRACT")  # on the stack: f(x), x * y, 1
    add = index_of(cfg, "BINARY_ADD")
    launch = Launch(lambda product, one: (False, product * 100 - one))
    call = Call(launch, (("stack", 1), ("stack", 2)), 1, (ExitPlan(add, (), 1, False),))
    made = linked(nested, cfg, [Site(subtract, 1, 3, (call,))])
    assert made(lambda x: 1000, 2, 3) == 1599 and launch.seen == [(6, 1)]
    launch.answers = [(MISS, None)]
    assert made(lambda x: 1000, 2, 3) == nested(lambda x: 1000, 2, 3)


def test_spilled_operands_are_let_go():
    cfg = build_cfg(decode(nested.__code__))
    subtract, add = index_of(cfg, "BINARY_SUBTRACT"), index_of(cfg, "BINARY_ADD")

    class Product:
        alive = 0

        def __init__(self):
            Product.alive += 1

        def __del__(self):
            Product.alive -= 1

        def __rmul__(self, other):
            return Product()

        def __sub__(self, other):
            return 5

        __add__ = __radd__ = lambda self, other: 0
    launch = Launch((False, 7), (MISS, None))
    call = Call(launch, (("stack", 2),), 1, (ExitPlan(add, (), 1, False),))
    made = linked(nested, cfg, [Site(subtract, 1, 3, (call,))])

    class Adds:
        def __add__(self, other):
            return other, Product.alive  # when the sum is made, the product has gone
    y = Product()
    assert made(lambda x: Adds(), 2, y) == (7, 1)
    assert made(lambda x: Adds(), 2, y) == (5, 1)
    assert Product.alive == 1


def with_cell(x):
    y = x + 1

    def inner():
        return y
    return inner() * 2


def test_cells_are_handed_over_as_cells():
    cfg = build_cfg(decode(with_cell.__code__))
    launch = Launch(lambda cell: (False, cell.cell_contents * 1000))
    multiply = index_of(cfg, "BINARY_MULTIPLY")
    call = Call(launch, (("cell", 0),), 1, (ExitPlan(multiply + 1, (), 1, False),))
    made = linked(with_cell, cfg, [Site(multiply, 0, 2, (call,))])
    assert made(4) == 5000


def loop(n):
    total = 0
    for i in range(n):
        total += i
        if i == 3:
            break
    else:
        total += 100
    return total


def edges_of_loop(cfg):
    return index_of(cfg, "FOR_ITER"), index_of(cfg, "RETURN_VALUE") - 1


@pytest.mark.parametrize("n", [0, 2, 10])
def test_leaving_a_loop_from_inside(n):
    """The launcher at the loop's header ends the loop; on 3.7 the loop's block must go too."""
    cfg = build_cfg(decode(loop.__code__))
    header, after = edges_of_loop(cfg)
    launch = Launch((False, 77))
    call = Call(launch, (("stack", 0),), 1, (ExitPlan(after, ("total",), 0, False),))
    made = linked(loop, cfg, [Site(header, 0, 1, (call,))])
    assert made(n) == 77 and len(launch.seen) == 1
    launch.answers = [(MISS, None)]
    assert made(n) == loop(n)


def test_entering_a_loop_from_outside():
    """The launcher replaces the start of the loop and hands an iterator to its header; 3.7 needs the block for break."""
    cfg = build_cfg(decode(loop.__code__))
    header, _ = edges_of_loop(cfg)
    launch = Launch((False, 5, iter(range(7, 9))), (False, 5, iter(range(2, 9))))
    call = Call(launch, (local("n"),), 2, (ExitPlan(header, ("total",), 1, False),))
    # The answer's values: locals first, then the stack.
    made = linked(loop, cfg, [Site(0, 0, 0, (call,))])
    assert made(1) == 5 + 7 + 8 + 100
    assert made(1) == 5 + 2 + 3


def two_loops(n):
    out = []
    for i in range(n):
        for j in range(i):
            out.append((i, j))
            if j == 1:
                break
    return out


def test_into_two_loops_at_once():
    cfg = build_cfg(decode(two_loops.__code__))
    inner = index_of(cfg, "FOR_ITER", 1)
    # The inner iterator is on top: the exit's values are locals, then stack items with the top one first.
    launch = Launch(lambda n: (False, [], 3, iter(range(4, 6)), iter(range(2, 4))))
    call = Call(launch, (local("n"),), 4, (ExitPlan(inner, ("out", "i"), 2, False),))
    made = linked(two_loops, cfg, [Site(0, 0, 0, (call,))])
    assert made(9) == [(3, 4), (3, 5), (2, 0), (2, 1), (3, 0), (3, 1)]


def test_side_exit_goes_behind_the_site_of_its_target():
    cfg = build_cfg(decode(straight.__code__))
    launch = Launch((False,))
    # Side exits resume at the original instruction: were it the site, this would never end.
    call = Call(launch, (), 0, (ExitPlan(0, (), 0, True),))
    assert linked(straight, cfg, [Site(0, 0, 0, (call,))])(1, 2) == 5 and len(launch.seen) == 1


def test_normal_exit_goes_to_the_next_site():
    cfg = build_cfg(decode(straight.__code__))
    second = index_of(cfg, "LOAD_FAST", value="a")
    load_b = index_of(cfg, "LOAD_FAST", value="b")
    one, two = Launch((False, 30)), Launch(lambda a: (False, a + 1))
    made = linked(straight, cfg, [
        Site(0, 0, 0, (Call(one, (), 1, (ExitPlan(second, ("a",), 0, False),)),)),
        Site(second, 0, 0, (Call(two, (local("a"),), 1, (ExitPlan(load_b, ("b",), 0, False),)),))])
    assert made(1, 2) == 30 and two.seen == [(30,)]


def test_exceptions_of_a_launcher_are_on_the_line_of_its_site():
    def fails(x, y):
        raise ValueError("in the launcher")
    cfg = build_cfg(decode(straight.__code__))
    second = index_of(cfg, "LOAD_FAST", value="a")
    made = linked(straight, cfg, [Site(second, 0, 0, (Call(fails, (local("x"), local("y")), 0,
                                                          (ExitPlan(second, (), 0, True),)),))])
    with pytest.raises(ValueError):
        made(1, 2)
    traceback = sys.exc_info()[2]
    try:
        made(1, 2)
    except ValueError as error:
        traceback = error.__traceback__.tb_next
    assert traceback.tb_lineno == straight.__code__.co_firstlineno + 2


def probed(f, xs):
    out = []
    for x in xs:
        y = f(x)
        out.append(y)
    return out, f(1) + 1


def test_probes_see_what_calls_return():
    cfg = build_cfg(decode(probed.__code__))
    calls = [instr.index for instr in cfg.function.instructions if instr.opname == "CALL_FUNCTION"]
    seen = []
    probes = [ValueProbe(index, lambda value, index=index: seen.append((index, value))) for index in (calls[0], calls[-1])]
    made = linked(probed, cfg, [], probes)
    assert made(lambda x: x * 10, [1, 2]) == ([10, 20], 11)
    assert seen == [(calls[0], 10), (calls[0], 20), (calls[-1], 10)]


def test_probe_in_front_of_a_site():
    cfg = build_cfg(decode(probed.__code__))
    call = [instr.index for instr in cfg.function.instructions if instr.opname == "CALL_FUNCTION"][-1]
    seen = []
    launch = Launch(lambda result: (False, result, 5))
    add = index_of(cfg, "BINARY_ADD")
    site = Site(call + 1, 1, 2, (Call(launch, (("stack", 1),), 2, (ExitPlan(add, (), 2, False),)),))
    made = linked(probed, cfg, [site], [ValueProbe(call, seen.append)])
    # Top first: 5 comes to lie below the call's result.
    assert made(lambda x: 3, []) == ([], 8)
    assert seen == [3] and launch.seen == [(3,)]


def test_nothing_to_link_leaves_the_code_as_it_is():
    cfg = build_cfg(decode(loop.__code__))
    code = link(cfg, [], [])
    assert code.co_code == loop.__code__.co_code and code.co_consts == loop.__code__.co_consts


def test_stack_size_and_locals_grow_as_needed():
    cfg = build_cfg(decode(nested.__code__))
    subtract, add = index_of(cfg, "BINARY_SUBTRACT"), index_of(cfg, "BINARY_ADD")
    call = Call(Launch((MISS,) + (None,) * 30), (("stack", 1), ("stack", 2)), 30, (ExitPlan(add, (), 1, False),))
    code = link(cfg, [Site(subtract, 1, 3, (call,))], [])
    assert code.co_varnames[:3] == ("f", "x", "y") and len(code.co_varnames) == 5
    assert code.co_stacksize >= 32 and code.co_argcount == 3


def launcher_of(kernel, exits, numbers, program=None):
    width = max(len(codes) for codes in exits)
    return Launcher(program, None, None, (("int",),), 8, 3, kernel, exits, width, "test", None, numbers)


def test_exits_of_a_launcher_share_a_number():
    launcher = launcher_of(lambda x: (x, 7) if x < 3 else None, ((("int", 3),),) * 3, (False, 1, False))
    assert [launcher.callable(x) for x in (0, 1, 2, 3)] == [(0, 7), (1, 7), (0, 7), (MISS, None)]
    assert launcher.callable(2)[0] is False and launcher.exit_counts == (1, 1, 2)


@pytest.mark.parametrize("numbers", [(0,), [0, 1], (0, -1), (0, 1.0), "01"])
def test_wrong_numbers_are_refused(numbers):
    with pytest.raises(ValueError):
        launcher_of(lambda x: (0, 1), ((("int", 3),),) * 2, numbers)


def test_launcher_without_namespaces_uses_those_of_the_caller():
    program = GuardProgram([IsType(Global("K"), int)], [Global("K")])
    launch = launcher_of(lambda k: (0, k + 1), ((("int", 3),),), None, program).callable
    for namespace, expected in (({"K": 3}, (0, 4)), ({"K": 8}, (0, 9)), ({"K": 1.5}, (MISS, None)), ({}, (MISS, None)),
                                ({"__builtins__": {"K": 5}}, (0, 6))):
        namespace["launch"] = launch
        exec("def call():\n    return launch()\nanswer = call()", namespace)
        assert namespace["answer"] == expected
