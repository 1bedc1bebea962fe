"""Loops over tuples and lists: short ones are captured round by round, long ones keep a loop of bytecode."""

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, jitted, kernel_count, mode_config

X = np.linspace(-2.0, 3.0, 37)
M = X[:36].reshape(6, 6)


def constants(x):
    for k in (1.5, 2, 0.25):
        x = x * k
    return x


def functions(x):
    for f in (np.sin, np.cos, np.exp):
        x = f(x)
    return x


def weighted(xs):
    s = 0.0
    for i, x in enumerate(xs, 1):
        s = s + x.sum() * i
    return s, i, x


def pairs(xs, ys):
    s = 0.0
    for x, y in zip(xs, ys):
        s = s + x * y
    return s


def backwards(xs, x):
    for a in reversed(xs):
        x = x * 0.5 + a
    return x


def nested(xs, x):
    for a in xs:
        for k in (1.0, 2.0):
            for _ in range(3):
                x = x + a * k
        if x[0] > 1e9:
            break
    else:
        x = x - 1.0
    return x


def chosen(x):
    names = ("a", "b", "c")
    for i, (name, k) in enumerate(zip(names, (1, 2.0, 3)), 1):
        if name == "b":
            x = x * k
            continue
        elif i == 3:
            return x - k
        x = x + i
    return x


def layers(weights, x):
    for w, b in weights:
        x = np.tanh(w @ x + b) if x.ndim == 3 else np.maximum(w * x + b, 0.0)
    return x


def mixed_with_arrays(x, fs):
    s = 0.0
    for v, k in zip(x, fs):
        s += v * k
    return s


def written(xs):
    for i, x in enumerate(xs):
        x += i
        x[0] = -1.0
    return xs


CASES = [
    (constants, (X,)), (functions, (X,)), (weighted, ([X, M, X * 2.0],)), (weighted, ((X, M),)),
    (pairs, ([X, 2.0, X], (X, 3, X + 1.0))), (pairs, ([X, X], [X])), (backwards, ((X, X * 3.0), X)),
    (backwards, ([X, X[::-1], X], X)), (nested, ([X, X * 2.0, X], X)), (chosen, (X,)),
    (layers, ([(X, X), (X * 2.0, X + 1.0)], X)), (mixed_with_arrays, (X, (1.0, 2, 3.5))), (written, ([X.copy(), M.copy()],)),
]


@pytest.mark.parametrize("function, args", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_rounds_are_captured(function, args):
    with fail_unless_captured():
        f = check(function, *args)
    assert mode_config().get("force_breaks") or not f.state.entries[0].reports.breaks


def test_functions_make_one_kernel():
    f = check(functions, X, config={"force_breaks": None})
    assert kernel_count(f) == 1


@pytest.mark.parametrize("others", [
    [([X],)], [([X] * 5,)], [([X, X, M],)], [([X, 2.0, X],)], [((X, X, X),)], [([],)], [([X, X.astype("f"), X],)],
    [([X, None, X],)]], ids=range(8))
def test_contents_and_length_are_guarded(others):
    with fail_unless_captured():
        check(weighted, [X, X, X], others=others)


def test_a_list_that_grows_between_calls():
    def total(xs):
        s = 0.0
        for x in xs:
            s = s + x
        xs.append(s)
        return s

    check(total, [X, X])


def test_a_list_that_grows_in_the_loop():
    def growing(xs):
        s = 0.0
        for x in xs:
            s = s + x
            if len(xs) < 6:
                xs.append(x * 2.0)
        return s, xs

    def replaced(xs):
        s = 0.0
        for i, x in enumerate(xs):
            s = s + x
            xs[-1] = X * 5.0
        return s

    check(growing, [X, X])
    check(replaced, [X, X, X])


def test_one_list_twice():
    def twice(xs, ys):
        s = 0.0
        for x in xs:
            s = s + x
            ys.append(s)
        return s

    both = [X, X]
    check(twice, [X, X], [])
    end = [X]

    def bounded(xs, ys):
        s = 0.0
        for x in xs:
            s = s + x
            if len(ys) < 4:
                ys.append(s)
        return s, len(ys)

    check(bounded, end, [X], aliased=[(both, both)])


def test_a_side_exit_in_the_middle_keeps_the_position():
    def indexed(xs, k):
        s = 0.0
        for x in xs:
            x += 1.0
            s = s + x[k]
        return s

    def caught(xs, k):
        seen = 0
        try:
            for x in xs:
                seen += 1
                x[k] += 1.0
        except IndexError as error:
            print(error)
        return seen, xs

    short = [X.copy(), X[:30].copy(), X.copy()]
    with fail_unless_captured():
        check(indexed, short, 3, others=[(short, 33)])
        check(caught, short, 3, others=[(short, 33)])
        check(caught, tuple(short), -1, others=[(tuple(short), -33)])


def test_side_exits_of_nested_iterators():
    def deep(xs, d):
        s = 0
        for i, (x, k) in enumerate(zip(xs, (4, 3, 2, 1, 0)), 5):
            x += 1.0
            s += 100 // (k - d) + i
        return s, xs

    def backwards(xs, d):
        s = 0
        for k, x in zip(reversed((4, 3, 2, 1, 0)), reversed(xs)):
            x += 1.0
            s += 100 // (k - d)
        return s

    lists = [X.copy() for _ in range(4)]
    for function in (deep, backwards):
        with fail_unless_captured():
            check(function, lists, -1, others=[(lists, 2), (lists, 3), (lists, 0)])


def test_a_long_loop_below_a_numbered_round():
    """The inner loop's kernel is entered again at its own header, where the numbering iterator is on the stack."""
    def numbered_rounds(xs):
        for i, x in enumerate(xs):
            for k in range(1, len(x) - 1):
                last = x
        return i

    check(numbered_rounds, [X, X])


def test_a_loop_over_a_list_that_the_kernel_before_has_made():
    """Where the inner loop is entered again nobody has that list any more."""
    def rounds_of_two(x, y, n, m):
        for _ in [1, m % 3 % 3]:
            for j, v in zip(range(min(n, 3)), y):
                x = y + x
        return x

    check(rounds_of_two, X, X, 4, 1)


def test_a_break_in_the_body_keeps_a_loop():
    def printing(xs):
        s = 0.0
        for i, x in enumerate(xs):
            s = s + x * 2.0
            print(i, s[0])
            s = s - x
        return s

    check(printing, [X, X, X])


def test_a_break_behind_the_loop():
    def printing(xs):
        s = 0.0
        for x in xs:
            s = s + x * 2.0
            if s[0] > 0.0:
                break
        print(s[0])
        return s + x

    with fail_unless_captured():
        check(printing, [X, X, X], others=[([X, X + 2.0],)])


# ---- options ----


def rounds(n):
    return [X * i for i in range(n)]


@pytest.mark.parametrize("config, count, unrolled", [
    ({}, 16, True), ({}, 17, False), ({"max_loop_unrolling": 3}, 3, True), ({"max_loop_unrolling": 3}, 4, False),
    ({"max_loop_unrolling": 40}, 40, True), ({"loop_unrolling": False}, 2, False), ({"max_loop_unrolling": 0}, 1, False)])
def test_options_limit_the_rounds(config, count, unrolled):
    f = check(weighted, rounds(count), config=dict(config, force_breaks=None))
    assert any(guard.startswith("len(") for guard in pijit.explain(f).guards) is unrolled


def test_long_lists_keep_a_captured_body():
    def body(xs):
        s = X * 0.0
        for x in xs:
            s = s + x * 2.0 - 1.0
        return s

    with fail_unless_captured():
        check(body, rounds(30))
        check(body, rounds(3), config={"loop_unrolling": False})


def test_loops_in_loops_stay_bounded():
    def cube(x):
        for a in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0):
            for b in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0):
                for c in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0):
                    x = x + a * b * c
        return x

    check(cube, X, calls=2)


def test_types_that_change_from_round_to_round():
    def changing(x):
        s = 0
        for k in (1, 2.5, np.float64(2.0), 3, x, 1.0):
            s = s + k
        return s

    with fail_unless_captured():
        check(changing, X, others=[(np.arange(4),), (2,), (M,)])


# ---- in inlined functions ----


def all_of(xs):
    s = 0.0
    for x in xs:
        s = s + x
    return s


def numbered(x, up):
    if up:
        return enumerate(x)
    return enumerate(x, 5)


def test_loops_of_inlined_functions():
    def calls(xs):
        return all_of(xs) + all_of([xs[0], xs[1]]) + all_of((1.0, 2))

    def iterates(x, up):
        s = 0.0
        for i, v in numbered(x, up):
            s += i * v
        for i, v in numbered((1.0, 2), True):
            s += i * v
        return s

    with fail_unless_captured():
        check(calls, (X, X * 2.0))
    check(iterates, X, True, others=[(X, False)])


def test_an_iterator_given_to_an_inlined_function():
    def gives(x):
        it = iter(x)
        return all_of(it), all_of(it), all_of(enumerate((1.0,)).__next__())

    check(gives, X)


def test_a_made_list_that_grows_behind_another_iterator():
    def zipped(x):
        made = [1.0, 2.0]
        for n, (a, b) in enumerate(zip(made, x)):
            if n < 5:
                made.append(a + b)
        return n, made

    def counted(x):
        made = [x[0], x[1]]
        for i, v in enumerate(made):
            if i < 3:
                made.append(v * i)
        return i, made

    check(zipped, X)
    check(counted, X)


class Stack:
    def __init__(self, count):
        self.count = count
        self.functions = [np.sin, np.cos, np.tan, np.sqrt][:count]


def by_attribute(stack, x):
    for k in range(stack.count):
        x = stack.functions[k](x)
    return x


def by_argument(count, functions, x):
    for k in range(count):
        x = functions[k](x)
    return x


@fail_unless_captured()
def test_bounds_from_outside():
    """A number that bounds a loop whose index selects objects is guarded."""
    x = np.arange(3.0)
    functions = Stack(4).functions
    check(by_attribute, Stack(3), x, others=[(Stack(2), x), (Stack(3), x + 1.0), (Stack(0), x)], config={"force_breaks": None})
    j = check(by_argument, 3, functions, x, others=[(2, functions, x), (4, functions, x), (5, functions, x), (0, functions, x)],
              config={"force_breaks": None})
    j = jitted(by_argument, {"force_breaks": None})
    for _ in range(2):
        j(3, functions, x)
    assert not pijit.explain(j, 3, functions, x).breaks, str(pijit.explain(j, 3, functions, x))
