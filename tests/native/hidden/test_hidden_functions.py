"""Hidden functions, which run linked code from CPython 3.11 on: arguments and variables."""

import inspect
import sys
import types
from random import Random

import pytest
from tests.native.hidden.hidden_code import jit
from tests.native.hook.hook_marks import HOOKED, with_const, with_local

from pijit.core import _hook
from pijit.core._hook import UNBOUND, JitFunction

pytestmark = pytest.mark.skipif(HOOKED, reason="up to CPython 3.10 linked code runs in shadow frames")


# ---- Arguments ---------------------------------------------------------------------------------------------


def test_arguments_of_all_kinds(entrance):
    def f(a, b=2, /, c=3, *args, d, e=5, **kwargs):
        return a, b, c, args, d, e, kwargs, 1000

    f, seen = jit(f, entrance=entrance)
    assert f(1, d=4) == (1, 2, 3, (), 4, 5, {}, 5000)
    assert f(1, 7, 8, 9, 10, d=4, e=6, x=11, a=12) == (1, 7, 8, (9, 10), 4, 6, {"x": 11, "a": 12}, 5000)
    assert f(*(1,), **{"d": 4, "c": 0}) == (1, 2, 0, (), 4, 5, {}, 5000)
    assert seen == [[1, 2, 3, 4, 5, (), {}], [1, 7, 8, 4, 6, (9, 10), {"x": 11, "a": 12}], [1, 2, 0, 4, 5, (), {}]]


@pytest.mark.parametrize("args, kwargs", [((), {}), ((1, 2, 3), {}), ((1,), {"a": 1}), ((1,), {"z": 1}),
                                          ((1, 2), {"c": 1, "a": 2})])
def test_wrong_arguments_raise_what_the_function_raises(args, kwargs):
    def f(a, b=2, *, c=3):
        return 1000

    f, seen = jit(f)
    with pytest.raises(TypeError) as plain:
        f.py_func(*args, **kwargs)
    with pytest.raises(TypeError) as jitted:
        f(*args, **kwargs)
    assert str(jitted.value) == str(plain.value) and seen == []


def signature(random):
    """A function of random parameters, some of them in cells, that returns them all: the function, and their names."""
    names = ["a{}".format(i) for i in range(random.randint(0, 6))]
    first, second = sorted(random.randint(0, len(names)) for _ in range(2))
    default = random.randint(0, second)
    items = [name + ("=%r" % ("default " + name) if i >= default else "") for i, name in enumerate(names[:second])]
    if first:
        items.insert(first, "/")
    keyword = [name + ("=%r" % ("default " + name) if random.random() < 0.5 else "") for name in names[second:]]
    star = random.random() < 0.5
    items += (["*args"] if star else ["*"] if keyword else []) + keyword
    names += ["args"] * star
    if random.random() < 0.5:
        items.append("**kwargs")
        names.append("kwargs")
    cells = [name for name in names if random.random() < 0.3]
    scope = {}
    exec("def f({}):\n    local = lambda: ({})\n    return [{}], 1000".format(
        ", ".join(items), "".join(name + ", " for name in cells), ", ".join(names)), scope)
    return scope["f"], names, cells


@pytest.mark.parametrize("seed", range(20))
def test_random_calls_of_random_functions(seed):
    random = Random(seed)
    for _ in range(30):
        function, names, cells = signature(random)
        f, seen = jit(function)
        for _ in range(20):
            args = ["positional {}".format(i) for i in range(random.randint(0, 4))]
            kwargs = {name: "keyword " + name for name in ["a{}".format(i) for i in range(8)] if random.random() < 0.3}
            try:
                expected = function(*args, **kwargs)[0]
            except TypeError as error:
                with pytest.raises(TypeError) as caught:
                    f(*args, **kwargs)
                assert str(caught.value) == str(error) and seen == []
                continue
            assert f(*args, **kwargs) == (expected, 5000)
            variables = function.__code__.co_varnames + function.__code__.co_cellvars
            slots = list(zip(variables, seen.pop()))
            values = {name: value for name, value in slots if value is not UNBOUND}
            assert [values[name].cell_contents if name in cells else values[name] for name in names] == expected
            assert sorted(name for name, value in slots if value is UNBOUND) == sorted(["local"] + cells)


def test_keywords_that_are_no_plain_strings_are_left_to_the_function():
    class Keyword(str):
        hashed = 0

        def __hash__(self):
            Keyword.hashed += 1
            return super().__hash__()

    def f(**kwargs):
        return kwargs, 1000

    f, seen = jit(f)
    argument = {Keyword("k"): 1}
    f.py_func(**argument)
    hashed, Keyword.hashed = Keyword.hashed, 0
    assert f(**argument) == ({"k": 1}, 1000) and Keyword.hashed in (hashed, hashed - 1) and seen == []


def test_defaults_are_those_of_the_moment():
    def f(a=1, *, b=2):
        return a, b, 1000

    f, _ = jit(f)
    assert f() == (1, 2, 5000)
    f.__defaults__ = (3,)
    assert f() == (3, 2, 5000)
    f.__kwdefaults__["b"] = 4
    assert f() == (3, 4, 5000)
    f.__kwdefaults__ = {"b": 6}
    assert f() == (3, 6, 5000)
    f.__defaults__ = f.__kwdefaults__ = None
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        f()


def test_more_variables_than_there_is_room_on_the_stack():
    names = ", ".join("a{}".format(i) for i in range(100))
    scope = {}
    exec("def f({}, *, k=3):\n    return ({}, k, 1000)".format(names, names), scope)
    f, seen = jit(scope["f"])
    assert f(*range(100), k=7) == tuple(range(100)) + (7, 5000)
    assert seen == [list(range(100)) + [7]]


def test_guards_keep_no_references_while_the_function_runs(entrance):
    def f(x):
        return sys.getrefcount(x), 1000

    f, _ = jit(f, entrance=entrance)
    item = [object()]
    jitted, plain = next(map(f, item)), next(map(f.py_func, item))  # both are called from C
    assert jitted == (plain[0], 5000)


def test_a_call_within_tp_call_takes_keywords():
    def f(a, *args, b, **kwargs):
        return a, args, b, kwargs, 1000

    f, _ = jit(f)
    call = JitFunction.__call__
    assert call(f, 1, 2, b=3, c=4) == (1, (2,), 3, {"c": 4}, 5000)
    assert [call(f, 1, b=2), call(f, *[1], **{"b": 2})] == [(1, (), 2, {}, 5000)] * 2


# ---- Variables ---------------------------------------------------------------------------------------------


def test_cells_are_seen_as_a_frame_had_them(entrance):
    free = 7

    def f(x, y):
        later = free
        return later, x, 1000, (lambda: x)(), y

    f, seen = jit(f, entrance=entrance)
    assert f(3, 4) == (7, 3, 5000, 3, 4)
    names = f.__code__.co_varnames + f.__code__.co_cellvars + f.__code__.co_freevars
    slots = dict(zip(names[:3], seen[0][:3]))
    assert names == ("x", "y", "later", "x", "free") and slots == {"x": UNBOUND, "y": 4, "later": UNBOUND}
    assert isinstance(seen[0][3], types.CellType) and seen[0][3].cell_contents == 3
    assert seen[0][4] is f.__closure__[0]


def test_star_arguments_may_be_cells():
    def f(*args, **kwargs):
        return (lambda: (args, kwargs))(), 1000

    f, seen = jit(f)
    assert f(1, k=2) == (((1,), {"k": 2}), 5000)
    assert seen[0][:2] == [UNBOUND, UNBOUND] and [cell.cell_contents for cell in seen[0][2:]] == [(1,), {"k": 2}]


def test_closures_share_their_cells():
    def make():
        count = 0

        def add(n):
            nonlocal count
            count += n + 1000
            return count

        return jit(add, 1000, 0)[0], lambda: count

    (add, read), (other, read_other) = make(), make()
    assert [add(1), add(2), other(5)] == [1, 3, 5] and (read(), read_other()) == (3, 5)


class Base:
    def f(self, x):
        return "base", x


class Derived(Base):
    def f(self, x):
        return super().f(x), __class__.__name__, 1000

    f, seen = jit(f)

    @staticmethod
    def plain(x):
        return x, 1000

    plain = staticmethod(jit(plain.__func__)[0])


def test_methods_with_super():
    derived = Derived()
    assert derived.f(1) == Derived.f(derived, 1) == (("base", 1), "Derived", 5000)
    assert derived.plain(2) == (2, 5000)
    assert Derived.seen[0][:2] == [derived, 1]


def test_linked_code_may_have_more_locals():
    def f(x):
        return (lambda: x)(), 1000

    code = with_local(with_const(f.__code__, 1000, 5000), "$more")
    _hook.mark(f.__code__, None, lambda *args: code)
    assert JitFunction(f)(3) == (3, 5000)


@pytest.mark.parametrize("change, why", [
    (lambda code: code.replace(co_argcount=0, co_posonlyargcount=0), "its argument counts differ"),
    (lambda code: code.replace(co_posonlyargcount=1), "its argument counts differ"),
    (lambda code: code.replace(co_flags=code.co_flags ^ inspect.CO_NESTED), "its flags differ"),
    (lambda code: (lambda y: 1).__code__, "its locals do not start with the locals of the original"),
])
def test_code_that_does_not_fit_is_refused(change, why):
    def f(x):
        return x, 1000

    errors = []
    _hook.set_error_handler(lambda code, error: errors.append(str(error)))
    payload = change(f.__code__).replace(co_flags=change(f.__code__).co_flags)
    if why.startswith("its locals"):
        payload = payload.replace(co_flags=f.__code__.co_flags)
    _hook.mark(f.__code__, None, lambda *args: payload)
    try:
        assert JitFunction(f)(1) == (1, 1000)
    finally:
        _hook.set_error_handler(None)
    assert errors == ["the code object to run in place of f was refused: " + why]
