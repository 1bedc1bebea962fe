"""Functions that are not captured at all run unmodified, and explain says why."""

import asyncio
import copy
import inspect
import types

import cloudpickle
import numpy as np
import pytest

import pijit
from pijit.core import _hook
from pijit.function import Jitted
from tests.harness import jitted, kernel_count

X = np.linspace(-1.0, 2.0, 7)


def generator(x):
    for k in range(3):
        y = x * 2.0 + k
        received = yield y
        if received is not None:
            x = received


async def coroutine(x):
    await asyncio.sleep(0)
    return x * 2.0 + 1.0


async def async_generator(x):
    yield x * 2.0
    yield x * 3.0


def drain(iterator):
    async def collect():
        return [value async for value in iterator]
    return run(collect())


def run(awaitable):
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(awaitable)
    finally:
        loop.close()


def talk(iterator):
    return [next(iterator), iterator.send(X + 1.0)] + list(iterator)


SKIPPED = [(generator, "PJ101", talk), (coroutine, "PJ102", lambda c: [run(c)]), (async_generator, "PJ103", drain)]


@pytest.mark.parametrize("function, reason_id, consume", SKIPPED, ids=[s[1] for s in SKIPPED])
def test_skipped_function_runs_unmodified(function, reason_id, consume):
    j = jitted(function)
    for _ in range(2):
        for got, wanted in zip(consume(j(X)), consume(function(X))):
            np.testing.assert_array_equal(got, wanted)
    assert j.state.skip.id == reason_id and not j.state.entries and not _hook.marked(j.__code__)
    report = pijit.explain(j)
    assert report.skipped.id == reason_id and reason_id in str(report)
    assert pijit.get_code_extra(j)["stat"] == "NEVER_COMPILE"


def test_skipped_functions_look_like_what_they_are():
    """Frameworks ask, and await or iterate what such a function returns; all others are known as before."""
    questions = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, asyncio.iscoroutinefunction,
                 inspect.isasyncgenfunction)
    for function in (generator, coroutine, async_generator, drain):
        for j in (pijit.jit(function), pijit.jit(function, jit_config={"check": True})):
            assert [ask(j) for ask in questions] == [ask(function) for ask in questions]
            assert isinstance(j, Jitted)
            assert pijit.jit(j) is j and copy.deepcopy(j) is j and j.cache_info().misses == 0

    class Handler:
        get = pijit.jit(coroutine)
    assert inspect.iscoroutinefunction(Handler().get)
    again = cloudpickle.loads(cloudpickle.dumps(pijit.jit(lambda n: (yield n))))
    assert list(again(3)) == [3]


def test_generator_expression_and_comprehension_inside():
    def f(x):
        y = x * 2.0 + 1.0
        total = sum(value for value in y)
        return [value * 2.0 for value in y], total
    j = jitted(f)
    for _ in range(3):
        assert j(X) == f(X)
    assert kernel_count(j) >= 1


def test_class_body():
    code = compile("class C:\n    a = 1\n    b = a + 1\n", "<class>", "exec").co_consts[0]
    body = types.FunctionType(code, {"__name__": "here"})
    j = jitted(body)
    assert j.state.skip.id == "PJ104" and pijit.explain(j).skipped.id == "PJ104"
    assert j() is None


def test_class_without_methods_to_call_stays_as_it_is():
    class Settings:
        step = 0.5

        def scaled(self, x):
            return x * self.step
    before = dict(vars(Settings))
    for decorated in (pijit.jit(Settings), pijit.jit(mode="PIJit")(Settings)):
        assert decorated is Settings and dict(vars(Settings)) == before
    report = pijit.explain(Settings)
    assert report.skipped.id == "PJ104" and report.name == Settings.__qualname__
    assert "class Settings:" in str(report) and "PJ104" in str(report) and "PJ104" in report._repr_html_()


def test_explain_of_a_jitted_class_asks_for_a_method():
    @pijit.jit
    class Scale:
        def __call__(self, x):
            return x * 2.0
    with pytest.raises(TypeError, match="explain: f must be a function, not .*Scale.*: ask for its __call__"):
        pijit.explain(Scale)


def test_class_statement_inside():
    def f(x):
        y = x * 2.0 + 1.0

        class Local:
            value = y
        return Local.value * 2.0
    j = jitted(f)
    for _ in range(3):
        np.testing.assert_array_equal(j(X), f(X))


def huge(statements):
    lines = ["def f(x):", "    y = x * 2.0"] + ["    y = y + {}.0".format(k % 7) for k in range(statements)]
    namespace = {}
    exec("\n".join(lines + ["    return y"]), namespace)
    return namespace["f"]


def test_huge_function():
    f = huge(6000)
    j = jitted(f)
    assert j.state.skip.id == "PJ106" and pijit.explain(j).skipped.id == "PJ106"
    np.testing.assert_array_equal(j(X), f(X))


def test_large_function_is_captured():
    f = huge(300)
    j = jitted(f, {"force_breaks": None, "backend": "python"})
    for _ in range(3):
        np.testing.assert_array_equal(j(X), f(X))
    assert kernel_count(j) >= 1


@pytest.mark.parametrize("f", [lambda x: x * 2.0 + 1.0, lambda x, k=3: (x + k) * 2.0, lambda *xs: xs[0] * 2.0 + xs[0]])
def test_lambda_is_captured(f):
    j = jitted(f)
    for _ in range(3):
        np.testing.assert_array_equal(j(X), f(X))
    assert kernel_count(j) >= 1


@pytest.mark.parametrize("f", [lambda: None, lambda x: x, lambda x: 1, lambda x: (x, x), lambda x: [x]])
def test_nothing_to_capture_is_served_from_the_cache(f):
    j = jitted(f, {"force_breaks": None})
    args = (X,) * f.__code__.co_argcount
    for _ in range(4):
        got, wanted = j(*args), f(*args)
        assert type(got) is type(wanted) and (got is wanted or len(got) == len(wanted))
    assert kernel_count(j) == 0 and j.cache_info().misses <= 2
