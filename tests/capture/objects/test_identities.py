"""``is`` and ``is not`` between arrays, and between truth values: the very objects that bytecode compares."""

import numpy as np
import pytest

from pijit.core.graph.ir import Graph, Jump, Leave, Op, SideExit
from pijit.core.graph.passes.fold_identity_tests import decide_identities
from pijit.core.graph.types import FLAG, Array
from tests.harness import HIT, MISS, assert_calls, check, fail_unless_captured, jitted, nothing_breaks

X = np.linspace(0.5, 4.0, 11)
Y = np.linspace(3.0, -1.0, 11)
Z = np.linspace(1.0, 2.0, 12).reshape(3, 4)


def of_arguments(x, y):
    if x is y:
        return x * 2.0 + 1.0, x is not y
    return x * y - 1.0, x is not y


def into(x, out):
    result = x * 2.0 + 1.0
    if result is not out:
        out[:] = result
    return out, result is x


def with_default(x, out=None):
    if out is None:
        out = np.empty_like(x)
    elif out is x:
        x = x.copy()
    out[1:] = x[:-1] * 2.0 + 1.0
    out[0] = x[-1]
    return out


def new_each_time(x, y):
    a, b = x[1:], x[1:]
    c = x * 2.0
    d = x * 2.0
    return a is b, a is a, c is d, c is x, x.T is x.T, x.reshape(x.shape) is x, x[:] is x, x[...] is x, c + d


def made_or_given(x, y):
    forms = (np.asarray(x), np.array(x), x.astype(x.dtype), np.ravel(x), x.squeeze(), np.atleast_1d(x),
             x.real, x.conj(), x.view(), np.ascontiguousarray(x), x.reshape(-1), np.abs(x), +x, x + 0)
    return [form is x for form in forms], x * 2.0 + y


def around_loop(x, rounds):
    now, then = x.copy(), x * 0.5
    first = now
    for _ in range(rounds):
        then[1:] = now[:-1] * 2.0
        now, then = then, now
    if now is not first:
        first[:] = now
    return first, now is first, then is first


def made_in_rounds(x, rounds):
    last = x
    seen = 0
    for _ in range(rounds):
        part = x[1:]
        if part is last:
            seen += 1
        last = part
        seen += 2 if last is part else 0
    return seen, last is x, last is part, last


def kept_in_a_list(x, arrays):
    total = 0.0
    for one in arrays:
        if one is x:
            continue
        total += one[0] * x[1]
    return total


def of_views_that_leave(x, swap):
    a = x[1:] if swap else x
    b = a
    if swap:
        b = x[1:]
    return a, b, a is b, a is x, b is x


def returned_by_callee(x, y):
    def pick(a, b):
        return a if a[0] > b[0] else b
    best = pick(x, y)
    return best * 2.0, best is x, best is y


def of_truth(x, flag):
    found = bool(x[0] > 1.0)
    every = np.all(x > 0.0)
    return found is flag, found is True, every is True, every is np.True_, flag is not False, x * 2.0


class Box:
    def __init__(self, array):
        self.array = array


def held_by_object(box, x):
    if box.array is x:
        return x * 3.0 + 1.0
    box.array = x
    return x * 2.0 - 1.0, box.array is x


CASES = [
    (of_arguments, (X, Y), [(X, X), (Y, X)]),
    (into, (X, Y.copy()), [(X, X.copy())]),
    (with_default, (X, Y.copy()), [(X,), (Y.copy(), Y.copy())]),
    (new_each_time, (X, Y), [(Z, Z)]),
    (made_or_given, (X, Y), [(X[::2], Y[::2]), (Z[:, ::2], 1.0), (X[:0], 1.0), (X.astype("f"), Y),
                             (np.array(2.0), 1.0)]),
    (around_loop, (X, 4), [(X, 5), (X, 0)]),
    (made_in_rounds, (X, 4), [(X, 1)]),
    (kept_in_a_list, (X, [X, Y, X[1:], X]), [(X, [Y]), (Y, [])]),
    (of_views_that_leave, (X, True), [(X, False)]),
    (returned_by_callee, (X, Y), [(Y, X), (X, X)]),
    (of_truth, (X, True), [(X, False), (Y, np.True_), (Y, 1)]),
    (held_by_object, (Box(X), X), [(Box(Y), X)]),
]


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
@fail_unless_captured()
def test_identity_is_that_of_bytecode(f, args, others):
    check(f, *args, others=others, config={"backend": "python"})


test_identity_of_arrays_breaks_nothing = nothing_breaks([case for case in CASES if case[0] is not made_or_given])


@pytest.mark.parametrize("f, args, others", [CASES[0], CASES[3], CASES[5], CASES[6], CASES[8]],
                         ids=lambda value: getattr(value, "__name__", ""))
@fail_unless_captured()
def test_identity_in_this_mode(f, args, others):
    check(f, *args, others=others)


def test_one_capture_serves_arguments_that_are_one_array_and_two():
    j = jitted(of_arguments)
    assert_calls(j, [MISS, HIT, HIT], [(X, Y), (X, X), (Y, X)])
    assert j(X, X)[1] is False and j(X, Y)[1] is True


def graph_of(ask):
    """A graph of one block that leaves with what ``ask(graph, block, a, b)`` gives for two inputs."""
    graph = Graph("f_1")
    kind = Array(np.dtype(float), 1, "C")
    block = graph.new_block()
    block.params = graph.inputs = [graph.new_value(kind), graph.new_value(kind)]
    ask(graph, block, *graph.inputs)
    block.terminator = block.terminator or Leave(SideExit(0, []))
    return graph


def view(graph, block, of):
    result = graph.new_value(of.type)
    block.ops.append(Op("view", [of], {"index": ("e",)}, result))
    return result


@pytest.mark.parametrize("which, answer", [("same", True), ("two", None), ("new", False), ("news", False),
                                           ("found", None)])
def test_what_the_graph_tells(which, answer):
    def ask(graph, block, a, b):
        pairs = {"same": (a, a), "two": (a, b)}
        if which in ("new", "news"):
            first = view(graph, block, a)
            pairs[which] = (first, a if which == "new" else view(graph, block, a))
        if which == "found":
            first = view(graph, block, a)
            found = graph.new_value(a.type)
            block.ops.append(Op("invoke", [first], {}, found))
            pairs[which] = (first, found)
        block.ops.append(Op("identical", pairs[which], {}, graph.new_value(FLAG)))

    graph = graph_of(ask)
    decide_identities(graph)
    op = graph.blocks[0].ops[-1]
    assert (op.attrs.get("value") if op.name == "const" else None) is answer


def test_what_comes_around_a_loop_may_be_of_another_round():
    def ask(graph, block, a, b):
        loop = graph.new_block()
        last = graph.new_value(a.type)
        loop.params = [last]
        made = view(graph, loop, a)
        loop.ops.append(Op("identical", [last, made], {}, graph.new_value(FLAG)))
        loop.terminator = Jump(loop, [made])
        block.terminator = Jump(loop, [b])

    graph = graph_of(ask)
    decide_identities(graph)
    assert graph.blocks[1].ops[-1].name == "identical"
