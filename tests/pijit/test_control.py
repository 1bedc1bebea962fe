"""Switching pijit off and on: `disable`, `stance`, `reset`; and `info`, which tells."""

import threading

import numpy as np
import pytest

import pijit
from pijit.core import stance as process
from tests.harness import fail_unless_captured, jitted, mode_config

X = np.linspace(0.0, 1.0, 1000)


def kernel_of(x):
    y = x * 2.0 + 1.0
    return y * y - x


@pytest.fixture
def f():
    with fail_unless_captured():
        made = jitted(kernel_of)
        made(X), made(X)
        yield made
    pijit.stance("default")


def served(f, *args):
    """What calling does to the counts of hits and misses."""
    before = f.cache_info()
    assert np.array_equal(f(*args), kernel_of(*args))
    after = f.cache_info()
    return after.hits - before.hits, after.misses - before.misses


def test_disabled_block_runs_plain_python_on_this_thread_only(f):
    with pijit.disable():
        with pijit.disable():
            assert served(f, X) == (0, 0)
        assert served(f, X) == (0, 0)
        counts = []
        thread = threading.Thread(target=lambda: counts.append(served(f, X)))
        thread.start()
        thread.join()
    assert counts == [(1, 0)] and served(f, X) == (1, 0)


def test_disabled_block_ends_with_an_exception(f):
    with pytest.raises(KeyError):
        with pijit.disable():
            raise KeyError
    assert served(f, X) == (1, 0)


def test_disabled_function_and_what_it_calls(f):
    @pijit.disable
    def plain(x, *, k=1):
        """Its text."""
        return served(f, x), k

    assert plain(X, k=3) == ((0, 0), 3) and (plain.__name__, plain.__doc__) == ("plain", "Its text.")
    assert pijit.disable()(lambda: served(f, X))() == (0, 0)

    class Model:
        @pijit.disable
        def method(self, x):
            return served(f, x)

        @pijit.disable
        @staticmethod
        def static(x):
            return served(f, x)

    assert Model().method(X) == (0, 0) and Model.static(X) == (0, 0) and pijit.disable(Model().method)(X) == (0, 0)


def test_call_of_a_disabled_function_is_a_break_with_a_reason():
    @pijit.disable
    def plain(x):
        return x + 1.0

    def caller(x):
        y = kernel_of(x)
        z = plain(y)
        return z * y + x

    g = jitted(caller, {"allowed_inline_modules": [__name__, "pijit"]})
    for _ in range(3):
        assert np.array_equal(g(X), caller(X))
    messages = [one.message for one in pijit.explain(g).breaks if one.reason_id == "PJ230"]
    assert any("pijit.disable or pijit.stance wraps it" in message for message in messages)
    assert pijit.info(g).callees == ()


def generator():
    yield 1


async def coroutine():
    pass


@pytest.mark.parametrize("wrong, text", [
    (3, "disable: fn must be a function, a method"), (int, "disable: fn must be"),
    (generator, "whose body runs after the call"), (coroutine, "coroutine")])
def test_disable_refuses(wrong, text):
    with pytest.raises(TypeError, match=text):
        pijit.disable(wrong)


def test_stance_python_holds_for_all_threads_until_it_is_left(f):
    with pijit.stance("python") as held:
        assert (held.name, held.previous, repr(held)) == ("python", "default", "stance('python')")
        counts = [served(f, X)]
        thread = threading.Thread(target=lambda: counts.append(served(f, X)))
        thread.start()
        thread.join()
        assert counts == [(0, 0), (0, 0)]
    assert served(f, X) == (1, 0)
    pijit.stance("python")
    assert served(f, X) == (0, 0)
    pijit.stance("default")
    assert served(f, X) == (1, 0)


def test_stance_as_a_decorator_holds_in_calls_only(f):
    @pijit.stance("python")
    def plain(depth):
        return plain(depth - 1) if depth else served(f, X)

    assert process.current() == "default" and served(f, X) == (1, 0)
    assert plain(2) == (0, 0) and process.current() == "default"


def test_run_only_serves_what_is_there_and_captures_nothing(f):
    fresh = jitted(kernel_of)
    with pijit.stance("run_only"):
        assert served(f, X) == (1, 0)
        f(X.astype(np.float32)), fresh(X)
    assert len(f.state.entries) == 1 and fresh.state.entries == [] and fresh.graphs == []
    fresh(X)
    assert fresh.graphs


def test_run_only_runs_an_entry_that_still_observes(capsys):
    def prints(x):
        y = kernel_of(x)
        k = len(repr(type(y)))
        print("here")
        return kernel_of(y) * k

    g = jitted(prints)
    g(X)
    entries = list(g.state.entries)
    ran = [launcher.calls for launcher in entries[0].launchers]
    with pijit.stance("run_only"):
        assert np.array_equal(g(X), prints(X))
    assert g.state.entries == entries and [launcher.calls for launcher in entries[0].launchers] > ran


def test_error_on_recompile_names_the_guard_and_leaves_the_function_as_it_was(f):
    fresh = jitted(kernel_of)
    with pijit.stance("error_on_recompile"):
        fresh(X), fresh(X)
        assert fresh.graphs and served(f, X) == (1, 0)
        with pytest.raises(pijit.RecompileError) as caught:
            f(X.astype(np.float32))
    code = kernel_of.__code__
    assert (caught.value.name, caught.value.filename, caught.value.lineno) == (
        "kernel_of", code.co_filename, code.co_firstlineno)
    assert "PJ301" in str(caught.value) and "now has dtype float32" in str(caught.value)
    assert len(f.state.entries) == 1
    f(X.astype(np.float32))
    assert len(f.state.entries) == 2


@pytest.mark.parametrize("wrong, error, text", [
    ("pyton", ValueError, r"'pyton' \(the closest is 'python'\)"), (None, TypeError, "stance: name must be a str")])
def test_stance_refuses(wrong, error, text):
    with pytest.raises(error, match=text):
        pijit.stance(wrong)
    assert process.current() == "default"


def test_reset_forgets_what_was_compiled_and_learned(f):
    f(X.astype(np.float32))
    assert pijit.info(f).recompiles
    pijit.reset()
    told = pijit.info(f)
    assert (told.entries, told.kernels, told.recompiles) == (0, 0, ()) and f.graphs == []
    assert served(f, X) == (0, 1) and served(f, X) == (1, 0)


def test_info_counts(f):
    told = pijit.info(f)
    assert told.name == "kernel_of" and told.filename == __file__ and told.lineno == kernel_of.__code__.co_firstlineno
    assert (told.hits, told.misses, told.entries, told.limit) == (1, 1, 1, 8)
    assert told.kernels == len(f.graphs) == len(told.calls) and sum(told.calls.values()) >= 2
    assert "calls: 1 served by compiled code, 1 missed" in str(told) and "entries: 1 of at most 8" in str(told)


def test_info_of_a_skipped_function_and_of_others():
    assert pijit.info(pijit.jit(generator)).skipped.id == "PJ101"
    assert "runs as plain Python: PJ101" in str(pijit.info(pijit.jit(generator)))
    with pytest.raises(TypeError, match="info: f must be a jitted function or method, not"):
        pijit.info(kernel_of)


def test_interpret_runs_a_kernel_as_bytecode(f):
    (name,) = [one.name for one in f.state.entries[-1].record.kernels]
    g = pijit.jit(kernel_of, jit_config=mode_config({"interpret": [name]}))
    for _ in range(2):
        assert np.array_equal(g(X), kernel_of(X))
    assert g.graphs == [] and "PJ404 run as bytecode by request (name: {})".format(name) in str(pijit.explain(g))
