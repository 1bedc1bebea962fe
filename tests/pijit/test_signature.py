"""input_signature: what is checked at each call, what the errors say, and what is compiled before the first one."""

import numpy as np
import pytest

from pijit import Symbol, Tensor, checking, jit
from tests.harness import mode_config


def scaled(x, y=2.0):
    z = x * y + 1.0
    return z * z - x


def signed(function, signature, **more):
    return jit(function, input_signature=signature, jit_config=mode_config(more))


ROWS = Tensor(shape=[None, 3], dtype=np.float64)


def test_what_fits_runs_as_without():
    f = signed(scaled, (ROWS,), check=True)
    for x in (np.ones((2, 3)), np.ones((0, 3)), np.ones((3, 7)).T[:, :3].copy().T.T, np.ones((4, 6))[:, ::2]):
        assert np.array_equal(f(x), scaled(x)) and np.array_equal(f(x, y=3.0), scaled(x, 3.0))


@pytest.mark.parametrize("argument, error, text", [
    ([1.0], TypeError, "scaled: argument x must be a numpy.ndarray, as Tensor(shape=[None, 3], dtype=float64) in "
                       "input_signature says, not list"),
    (np.ones((2, 3), np.float32), TypeError, "scaled: argument x must have dtype float64, as input_signature says, "
                                             "not float32"),
    (np.ones(3), ValueError, "scaled: argument x must have 2 dimensions, as Tensor(shape=[None, 3], dtype=float64) in "
                             "input_signature says, not 1"),
    (np.ones((2, 4)), ValueError, "scaled: argument x has shape (2, 4), but dimension 1 must be 3"),
])
def test_what_does_not_fit_is_an_error_that_says_why(argument, error, text):
    f = signed(scaled, (ROWS,))
    for call in (lambda: f(argument), lambda: f(x=argument)):
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text


@pytest.mark.parametrize("symbol, good, bad, text", [
    (Symbol(max=8), [1, 8], [9, 0], "must be from 1 to 8"), (Symbol(min=4), [4, 99], [3], "must be at least 4"),
    (Symbol(divisor=4), [4, 8], [6], "must be a multiple of 4"),
    (Symbol(divisor=4, remainder=1, max=9), [1, 5, 9], [4], "must be a multiple of 4, plus 1"),
])
def test_symbols(symbol, good, bad, text):
    f = signed(scaled, Tensor([symbol], float))
    assert symbol.why_not(symbol.example) is None
    for length in good:
        assert np.array_equal(f(np.ones(length)), scaled(np.ones(length)))
    for length in bad:
        with pytest.raises(ValueError) as caught:
            f(np.ones(length))
        assert str(caught.value) == "scaled: argument x has shape ({},), but dimension 0 {}".format(length, text)


def test_unique_symbols_are_equal_in_a_call():
    n, free = Symbol(unique=True), Symbol()
    f = signed(lambda a, b: a + b.sum(), [Tensor([n, free], float), Tensor([free, n], float)])
    assert f(np.ones((2, 3)), np.ones((4, 2))).shape == (2, 3) and f(np.ones((5, 1)), np.ones((1, 5))).shape == (5, 1)
    with pytest.raises(ValueError, match=r"argument b has shape \(4, 3\), but dimension 1 must be 2, as that of a"):
        f(np.ones((2, 3)), np.ones((4, 3)))


def test_lists_tuples_scalars_examples_names_and_what_is_left_alone():
    def total(parts, pair, k, other, *rest):
        return parts[0].sum() * k + pair[1] + len(rest)

    f = signed(total, ([Tensor([None], float)] * 2, (np.zeros(2), float), int, None))
    x = np.ones(5)
    assert f([x, x], (np.ones(2), 2.5), 3, object(), 1, 2) == 19.5
    for wrong, error, text in [
            ((([x], (np.ones(2), 2.5), 3, 0)), ValueError, r"parts must have 2 items"),
            (((x, (np.ones(2), 2.5), 3, 0)), TypeError, r"parts must be a list, as input_signature says, not ndarray"),
            ((([x, 3], (np.ones(2), 2.5), 3, 0)), TypeError, r"parts\[1\] must be a numpy.ndarray"),
            ((([x, x], (np.ones(3), 2.5), 3, 0)), ValueError, r"pair\[0\] has shape \(3,\), but dimension 0 must be 2"),
            ((([x, x], (np.ones(2), 2), 3, 0)), TypeError, r"pair\[1\] must be exactly of type float, not int"),
            ((([x, x], (np.ones(2), 2.5), True, 0)), TypeError, r"k must be exactly of type int, not bool")]:
        with pytest.raises(error, match="total: argument " + text):
            f(*wrong)
    by_name = signed(scaled, {"y": float})
    assert np.array_equal(by_name(x), scaled(x))
    with pytest.raises(TypeError, match="argument y must be exactly of type float, not int"):
        by_name(x, 2)


def test_calls_that_do_not_bind_are_pythons_own_errors():
    f = signed(scaled, (ROWS,))
    with pytest.raises(TypeError, match=r"scaled\(\) missing 1 required positional argument: 'x'"):
        f()


def test_methods():
    class Model:
        k = 2.0

        @jit(input_signature=[Tensor([None], np.float64)], jit_config=mode_config())
        def step(self, x):
            return x * self.k + 1.0

    assert np.array_equal(Model().step(np.ones(3)), np.full(3, 3.0))
    with pytest.raises(TypeError, match="step: argument x must have dtype float64"):
        Model().step(np.ones(3, int))


def test_compiled_before_the_first_call_without_running(capsys):
    def prints_first(x):
        y = x * 2.0 + 1.0
        print("ran")
        return y * y

    def observes_first(x):
        y = x * 2.0 + 1.0
        z = eval("y * 1.0")
        return z * z

    def hinted(x):
        y = x * 2.0 + 1.0
        z = eval("y * 1.0")  # @jit.typing: () -> tensor_type[float64]
        return z * z

    f = signed(scaled, [ROWS, float])
    assert len(f.graphs) == 1 and f.cache_info()[:2] == (0, 0)
    x = np.ones((7, 3))
    assert np.array_equal(f(x, 3.0), scaled(x, 3.0)) and f.cache_info()[:2] == (1, 0)
    g = signed(prints_first, [Tensor([None], float)])
    assert capsys.readouterr().out == "" and g.graphs
    assert np.array_equal(g(np.ones(3)), np.full(3, 9.0)) and g.cache_info()[:2] == (1, 0)
    h = signed(observes_first, [Tensor([None], float)])
    assert h.state.entries == [] and h.state.shared_kernels
    assert np.array_equal(h(np.ones(3)), np.full(3, 9.0)) and h.graphs
    assert signed(hinted, [Tensor([None], float)])(np.ones(3)).tolist() == [9.0] * 3
    assert signed(scaled, [Tensor(dtype=float), float]).graphs == [] == signed(scaled, [Tensor([3]), float]).graphs


@pytest.mark.parametrize("give, error, text", [
    (lambda: Tensor(shape=3), TypeError, "Tensor: shape must be None, or a list or tuple of lengths"),
    (lambda: Tensor(shape=[1.5]), TypeError, "Tensor: each dimension must be an int, a Symbol or None, not 1.5"),
    (lambda: Tensor(shape=[-1]), ValueError, "Tensor: a length must not be negative"),
    (lambda: Tensor(dtype="no such"), TypeError, "no such"),
    (lambda: Symbol(max="a"), TypeError, "Symbol: max must be an int >= 0, not 'a'"),
    (lambda: Symbol(divisor=0), ValueError, "Symbol: divisor must be an int >= 1, not 0"),
    (lambda: Symbol(unique=1), TypeError, "Symbol: unique must be True or False, not 1"),
    (lambda: Symbol(max=3, divisor=4, remainder=5), ValueError, "Symbol: no length fits"),
    (lambda: jit(scaled, input_signature=[ROWS] * 3), ValueError, "describes 3 arguments, but there are 2: x, y"),
    (lambda: jit(scaled, input_signature={"z": ROWS}), ValueError, "describes 'z', but the parameters are x, y"),
    (lambda: jit(scaled, input_signature=str), TypeError, "an entry of input_signature must be"),
])
def test_refuses(give, error, text):
    with pytest.raises(error, match=text):
        give()


@pytest.fixture
def checked(monkeypatch):
    """The arguments of the calls that are checked the long way."""
    seen = []
    long_way = checking.Checker.__call__

    def note(self, args, kwargs):
        seen.append((args, kwargs))
        long_way(self, args, kwargs)

    monkeypatch.setattr(checking.Checker, "__call__", note)
    return seen


N = Symbol(max=9, unique=True)


@pytest.mark.parametrize("signature, calls, longs, wrong", [
    ((ROWS, float), [np.ones((2, 3)), np.ones((5, 3)), np.ones((4, 6))[:, ::2]], 1, np.ones((2, 4))),
    ((Tensor([N, N], float), None), [np.ones((2, 2)), np.ones((3, 3)), np.ones((4, 4))], 1, np.ones((2, 3))),
    ((Tensor([Symbol(divisor=4, remainder=1)], float), None), [np.ones(5), np.ones(1), np.ones(9)], 1, np.ones(4)),
    ((Tensor([Symbol(max=3)], float), None), [np.ones(1), np.ones(3), np.ones(2)], 1, np.ones(4)),
    ((Tensor(dtype=float), None), [np.ones(2), np.ones(3), np.ones((2, 3))], 2, np.ones(3, int)),
    ((Tensor([None]), None), [np.ones(2), np.ones(3, int), np.ones(5)], 2, np.ones((3, 3))),
], ids=["fixed", "unique", "divisor", "most", "any rank", "any dtype"])
def test_calls_like_earlier_ones_are_accepted_at_once(checked, signature, calls, longs, wrong):
    f = signed(scaled, signature)
    for x in calls * 2:
        assert np.array_equal(f(x, 3.0), scaled(x, 3.0)) and np.array_equal(f(x=x, y=3.0), scaled(x, 3.0))
    assert len(checked) == longs
    for _ in range(2):
        with pytest.raises((TypeError, ValueError), match="argument x"):
            f(wrong, 3.0)


def test_containers_are_looked_into_at_each_call(checked):
    f = signed(lambda parts: parts[0] * parts[1][0] + 1.0, [[Tensor([None], float), (float, None)]])
    parts = [np.ones(3), (2.0, "x")]
    assert f(parts).tolist() == [3.0] * 3 and f([np.ones(2), (3.0, 1)]).tolist() == [4.0] * 2 and len(checked) == 1
    parts[1] = (2, "x")
    with pytest.raises(TypeError, match=r"parts\[1\]\[0\] must be exactly of type float"):
        f(parts)
    with pytest.raises(ValueError, match="parts must have 2 items"):
        f(parts[:1])


def test_a_default_counts_as_what_it_is(checked):
    def with_default(x, y=2):
        return x * y

    f, x = signed(with_default, (Tensor([None], float), float)), np.ones(3)
    for _ in range(3):
        assert f(x).tolist() == [2.0] * 3 and f(x, 3.0).tolist() == [3.0] * 3
    assert len(checked) == 4  # the default would not fit: calls that leave it are looked at each time
    with pytest.raises(TypeError, match="argument y must be exactly of type float"):
        f(x, 2)


def test_each_way_to_call_is_checked():
    names = ["p{}".format(k) for k in range(40)]
    scope = {}
    exec("def many({}):\n    return p0 * 2.0 + p39".format(", ".join(names)), scope)
    f = jit(scope["many"], input_signature={"p39": float})
    good = dict.fromkeys(names, 1.5)
    assert f(**good) == 4.5 == f(*good.values()) and f(*list(good.values())[:-1], p39=1.5) == 4.5
    f.enabled = False
    for bad in (lambda: f(**dict(good, p39=1)), lambda: f(*range(40)), lambda: f(*range(39), p39=1)):
        with pytest.raises(TypeError, match="many: argument p39 must be exactly of type float, not int"):
            bad()
