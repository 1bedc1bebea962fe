"""Linked code of CPython 3.11 and later: hand-made sites; the launchers are Python functions."""

import dis
import sys

import pytest

if sys.version_info < (3, 11):
    pytest.skip("earlier versions have tests of their own", allow_module_level=True)

from pijit.core.bytecode.linker.link import MISS, Call, ExitPlan, Site
from tests.bytecode.linker.link_samples_311 import (
    NUMBERS,
    Launch,
    cfg_of,
    in_calls,
    index_of,
    linked,
    local,
    loop,
    nested,
    straight,
    straight_site,
    two_loops,
)


def test_usual_exit_stores_locals_and_goes_on():
    cfg = cfg_of(straight)
    target = index_of(cfg, "LOAD_FAST", value="b")
    launch = Launch((None, 10, 20))
    run = linked(straight, cfg, [straight_site(launch, (ExitPlan(target, ("b", "a"), 0, False),), 2)])
    assert run(1, 2) == 9 and launch.seen == [(1, 2)]
    assert "COMPARE_OP" not in [instr.opname for instr in dis.get_instructions(run)]  # one exit and MISS: nothing to compare


def test_miss_runs_the_original():
    cfg = cfg_of(straight)
    launch = Launch((MISS, None, None))
    run = linked(straight, cfg, [straight_site(launch, (ExitPlan(8, ("b", "a"), 0, False),), 2)])
    assert run(1, 2) == straight(1, 2) == 5 and launch.seen == [(1, 2)]


@pytest.mark.parametrize("number, expected", [(None, 99), (1, 41), (2, 13), (3, 299), (4, 5), (MISS, 5)])
def test_each_exit_with_its_padding(number, expected):
    cfg = cfg_of(straight)
    load_b, store_b = index_of(cfg, "LOAD_FAST", value="b"), index_of(cfg, "STORE_FAST", value="b")
    exits = (ExitPlan(load_b, ("b",), 0, False),                              # b = 100
             ExitPlan(store_b, ("a",), 1, False),                             # a and the value that b gets
             ExitPlan(index_of(cfg, "BINARY_MULTIPLY"), (), 2, True),         # both operands, top first
             ExitPlan(load_b, ("b", None), 0, False), ExitPlan(0, (), 0, True))
    answers = {None: (None, None, 100), 1: (1, 7, 42), 2: (2, 2, 7), 3: (3, 300, 1), 4: (4, 1, 1), MISS: (MISS, None, None)}
    for _ in range(30):  # instructions are specialised, those that compare the numbers too
        launch = Launch(answers[number])
        run = linked(straight, cfg, [straight_site(launch, exits, 2)])
        assert [run(1, 2) for _ in range(20)] == [expected] * 20


def test_several_launchers_are_tried_in_order():
    cfg = cfg_of(straight)
    plan = (ExitPlan(index_of(cfg, "LOAD_FAST", value="b"), ("b",), 0, False),)
    first, second, third = Launch((MISS, None)), Launch((None, 50)), Launch((None, 70))
    calls = tuple(Call(launch, (local("x"),), 1, plan) for launch in (first, second, third))
    assert linked(straight, cfg, [Site(0, 0, 0, calls)])(1, 2) == 49
    assert (first.seen, second.seen, third.seen) == ([(1,)], [(1,)], [])
    second.answers = third.answers = [(MISS, None)]
    assert linked(straight, cfg, [Site(0, 0, 0, calls)])(1, 2) == 5
    assert third.seen == [(1,)]


def test_no_arguments_and_no_values():
    cfg = cfg_of(straight)
    launch = Launch((None,), (MISS,))
    run = linked(straight, cfg, [Site(0, 0, 0, (Call(launch, (), 0, (ExitPlan(0, (), 0, True),)),))])
    assert [run(1, 2), run(1, 2)] == [5, 5] and len(launch.seen) == 2


def test_operand_stack_below_is_left_alone_and_items_above_are_put_away():
    cfg = cfg_of(nested)
    subtract = index_of(cfg, "BINARY_SUBTRACT")  # on the stack: f(x), x * y, 1
    launch = Launch(lambda product, one: (None, product * 100 - one))
    call = Call(launch, (("stack", 1), ("stack", 2)), 1, (ExitPlan(index_of(cfg, "BINARY_ADD"), (), 1, False),))
    run = linked(nested, cfg, [Site(subtract, 1, 3, (call,))])
    assert run(lambda x: 1000, 2, 3) == 1599 and launch.seen == [(6, 1)]
    launch.answers = [(MISS, None)]
    assert run(lambda x: 1000, 2, 3) == nested(lambda x: 1000, 2, 3)


def test_operands_are_let_go():
    cfg = cfg_of(nested)
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

    class Adds:
        def __add__(self, other):
            return other, Product.alive  # when the sum is made, the product has gone

    for taken in ((("stack", 2),), (("stack", 1),), ()):
        Product.alive = 0
        launch = Launch((None, 7), (MISS, None))
        run = linked(nested, cfg, [Site(subtract, 1, 3, (Call(launch, taken, 1, (ExitPlan(add, (), 1, False),)),))])
        y = Product()
        del launch.seen
        launch.seen = Forgetful()
        assert run(lambda x: Adds(), 2, y) == (7, 1)
        assert run(lambda x: Adds(), 2, y) == (5, 1)
        assert Product.alive == 1
        del y


class Forgetful:
    def append(self, seen):
        pass


def test_a_call_of_the_region_takes_its_empty_slot_along():
    """On the stack are a callable and an empty slot, in either order; the launcher makes the call."""
    cfg = cfg_of(in_calls)
    multiply = index_of(cfg, "BINARY_MULTIPLY")  # on the stack: f, x, g, x, x, 2
    behind = index_of(cfg, "CALL_FUNCTION", value=2) + 1
    launch = Launch(lambda g, x, y, two: (None, g(x, y * two, "launched")))
    call = Call(launch, (("stack", 2), ("stack", 3), ("stack", 4), ("stack", 5)), 1, (ExitPlan(behind, (), 1, False),))
    run = linked(in_calls, cfg, [Site(multiply, 2, 6, (call,))])
    assert run(NUMBERS, NUMBERS, 3) == ((3, ((3, 6, "launched"), [])), [("k", 3)])
    launch.answers = [(MISS, None)]
    assert run(NUMBERS, NUMBERS, 3) == in_calls(NUMBERS, NUMBERS, 3)
    every = Call(launch, tuple(("stack", k) for k in range(6)), 1, (ExitPlan(index_of(cfg, "RETURN_VALUE"), (), 1, False),))
    launch.answers = [lambda f, x, g, *more: (None, (f(x), more)), (MISS, None)]
    run = linked(in_calls, cfg, [Site(multiply, 0, 6, (every,))])
    assert run(NUMBERS, NUMBERS, 3) == (((3,), []), (3, 3, 2))
    assert run(NUMBERS, NUMBERS, 3) == in_calls(NUMBERS, NUMBERS, 3)


@pytest.mark.parametrize("depth", range(7))
def test_empty_slots_stay_or_are_made_again(depth):
    """An exit leads into the middle of two calls, from a site that keeps some of the operands."""
    cfg = cfg_of(in_calls)
    multiply, call = index_of(cfg, "BINARY_MULTIPLY"), index_of(cfg, "CALL_FUNCTION", value=2)
    if depth == 6:  # in front of everything
        launch = Launch(lambda f, g, x: (None, "y", "x", g, "first", f))
        site = Site(0, 0, 0, (Call(launch, (local("f"), local("g"), local("x")), 5, (ExitPlan(call, (), 5, True),)),))
        assert linked(in_calls, cfg, [site])(NUMBERS, NUMBERS, 3) == (("first", (("x", "y"), [])), [("k", 3)])
        return
    launch = Launch(lambda *operands: (None, *reversed([*operands[:-2], "y"][:5 - depth])))
    plan = ExitPlan(call, (), 5 - depth, True)
    site = Site(multiply, depth, 6, (Call(launch, tuple(("stack", k) for k in range(depth, 6)), 5 - depth, (plan,)),))
    run = linked(in_calls, cfg, [site])
    assert run(NUMBERS, NUMBERS, 3) == ((3, ((3, 3 if depth == 5 else "y"), [])), [("k", 3)])
    launch.answers = [(MISS,) + (None,) * (5 - depth)]
    assert run(NUMBERS, NUMBERS, 3) == in_calls(NUMBERS, NUMBERS, 3)


def calls_what_it_has(x, y):
    return x.call(y * 2)


class Has:
    def __init__(self):
        self.call = lambda y: y + 1

    def method(self, y):
        return y - 1


def test_beside_a_method_there_may_be_an_empty_slot():
    """A launcher cannot take it, and says so; from 3.12 on it can be put away and back."""
    cfg = cfg_of(calls_what_it_has)
    multiply = index_of(cfg, "BINARY_MULTIPLY")  # on the stack: a method and its owner, or a function and an empty slot; y; 2
    plan = (ExitPlan(multiply, (), 4, True),)
    site = Site(multiply, 0, 4, (Call(Launch((MISS,) + (None,) * 4), (("stack", 2),), 4, plan),))
    if sys.version_info >= (3, 12):
        assert linked(calls_what_it_has, cfg, [site])(Has(), 3) == 7
    takes = site._replace(calls=(site.calls[0]._replace(arguments=(("stack", 0), ("stack", 1))),))
    with pytest.raises(UnboundLocalError, match="'.s[12]'"):
        linked(calls_what_it_has, cfg, [takes])(Has(), 3)
    Has.call = Has.method
    try:
        has = Has()
        del has.call
        assert linked(calls_what_it_has, cfg, [site])(has, 3) == linked(calls_what_it_has, cfg, [takes])(has, 3) == 5
    finally:
        del Has.call


def with_cell(x):
    y = x + 1

    def inner():
        return y, x
    return inner() * 2


def test_cells_are_handed_over_as_cells():
    cfg = cfg_of(with_cell)
    multiply = index_of(cfg, "BINARY_MULTIPLY")
    names = cfg.function.code.co_cellvars
    launch = Launch(lambda *cells: (None, [cell.cell_contents for cell in cells]))
    call = Call(launch, tuple(("cell", k) for k in range(len(names))), 1, (ExitPlan(multiply + 1, (), 1, False),))
    assert linked(with_cell, cfg, [Site(multiply, 0, 2, (call,))])(4) == [{"x": 4, "y": 5}[name] for name in names]


def test_free_variables_are_handed_over_as_cells():
    scale = 3

    def scaled(x):
        z = x * scale
        return z
    cfg = cfg_of(scaled)
    launch = Launch(lambda cell, x: (None, cell.cell_contents + x))
    call = Call(launch, (("closure", 0), local("x")), 1, (ExitPlan(index_of(cfg, "LOAD_FAST", value="z"), ("z",), 0, False),))
    assert linked(scaled, cfg, [Site(0, 0, 0, (call,))])(100) == 103


def edges_of_loop(cfg):
    return index_of(cfg, "FOR_ITER"), index_of(cfg, "RETURN_VALUE", -1) - 1


@pytest.mark.parametrize("n", [0, 2, 10])
def test_leaving_a_loop_from_inside(n):
    cfg = cfg_of(loop)
    header, after = edges_of_loop(cfg)
    launch = Launch((None, 77))
    call = Call(launch, (("stack", 0),), 1, (ExitPlan(after, ("total",), 0, False),))
    run = linked(loop, cfg, [Site(header, 0, 1, (call,))])
    assert run(n) == 77 and len(launch.seen) == 1
    launch.answers = [(MISS, None)]
    assert run(n) == loop(n)


def test_a_loop_that_ends_without_its_iterator():
    """The code behind a loop is entered past END_FOR, which FOR_ITER skips."""
    cfg = cfg_of(loop)
    header = index_of(cfg, "FOR_ITER")
    behind = cfg.function.instructions[header].target
    one, two = Launch((None, 7)), Launch((MISS,))
    sites = [Site(header, 0, 1, (Call(one, (("stack", 0),), 1, (ExitPlan(behind, ("total",), 0, False),)),)),
             Site(behind, 0, 0, (Call(two, (), 0, (ExitPlan(behind, (), 0, True),)),))]
    run = linked(loop, cfg, sites)
    assert run(9) == 107 and len(two.seen) == 1
    one.answers = [(MISS, None)]
    assert run(2) == loop(2) == 101 and len(two.seen) == 2
    assert run(8) == loop(8) == 6 and len(two.seen) == 2


def test_entering_a_loop_from_outside():
    """The launcher replaces the start of the loop and hands an iterator to its header."""
    cfg = cfg_of(loop)
    header, _ = edges_of_loop(cfg)
    launch = Launch((None, 5, iter(range(7, 9))), (None, 5, iter(range(2, 9))))
    call = Call(launch, (local("n"),), 2, (ExitPlan(header, ("total",), 1, False),))
    run = linked(loop, cfg, [Site(0, 0, 0, (call,))])  # the answer's values: locals first, then the stack
    assert run(1) == 5 + 7 + 8 + 100
    assert run(1) == 5 + 2 + 3


def test_into_two_loops_at_once():
    cfg = cfg_of(two_loops)
    inner = index_of(cfg, "FOR_ITER", 1)
    launch = Launch(lambda n: (None, [], 3, iter(range(4, 6)), iter(range(2, 4))))  # the inner iterator is on top
    call = Call(launch, (local("n"),), 4, (ExitPlan(inner, ("out", "i"), 2, False),))
    assert linked(two_loops, cfg, [Site(0, 0, 0, (call,))])(9) == [(3, 4), (3, 5), (2, 0), (2, 1), (3, 0), (3, 1)]


def test_normal_exit_goes_to_the_next_site():
    cfg = cfg_of(straight)
    second, load_b = index_of(cfg, "LOAD_FAST", value="a"), index_of(cfg, "LOAD_FAST", value="b")
    one, two = Launch((None, 30)), Launch(lambda a: (None, a + 1))
    run = linked(straight, cfg, [
        Site(0, 0, 0, (Call(one, (), 1, (ExitPlan(second, ("a",), 0, False),)),)),
        Site(second, 0, 0, (Call(two, (local("a"),), 1, (ExitPlan(load_b, ("b",), 0, False),)),))])
    assert run(1, 2) == 30 and two.seen == [(30,)]


def test_side_exit_goes_behind_the_site_of_its_target():
    cfg = cfg_of(straight)
    launch = Launch((None,))
    call = Call(launch, (), 0, (ExitPlan(0, (), 0, True),))  # were it led to the site, this would never end
    assert linked(straight, cfg, [Site(0, 0, 0, (call,))])(1, 2) == 5 and len(launch.seen) == 1
