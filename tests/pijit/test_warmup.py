"""`pijit.warmup`: kernels are there before the first call, nothing runs, and wrong arguments are named."""

import numpy as np
import pytest

import pijit
from pijit import Tensor, jit


def decayed(x, scale=1.0):
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + x[i] * scale
    return s


def made(function, **config):
    return jit(function, jit_config=config)


def test_the_first_call_finds_an_entry():
    f = made(decayed, fullgraph=True)
    assert pijit.warmup(f, (Tensor([None], float), 2.0), [np.ones(3, np.float32)]) == 2
    assert f.cache_info()[:2] == (0, 0) and f.cache_info().currsize == 2
    assert f(np.ones(5), 3.0) == decayed(np.ones(5), 3.0)
    result, wanted = f(np.arange(4, dtype=np.float32)), decayed(np.arange(4, dtype=np.float32))
    assert (result, type(result)) == (wanted, type(wanted))
    assert f.cache_info()[:2] == (2, 0)


def test_the_same_signature_makes_one_entry():
    f = made(decayed)
    assert [pijit.warmup(f, {"x": Tensor([4], float), "scale": 1.0}) for _ in range(2)] == [1, 1]
    assert f.cache_info().currsize == 1


def test_one_argument_needs_no_tuple_and_nothing_is_written():
    def doubled(x):
        x *= 2.0
        return x

    f, x = made(doubled), np.ones(3)
    assert pijit.warmup(f, x) == 1 and (x == 1.0).all()
    assert f(x) is x and (x == 2.0).all() and f.cache_info().hits == 1


def test_methods_get_their_object():
    class Filter:
        weight = 2.0

        @jit
        def apply(self, x):
            return x * self.weight + 1.0

    one = Filter()
    assert pijit.warmup(one.apply, Tensor([None, None], float)) == 1
    assert (one.apply(np.ones((2, 2))) == 3.0).all()


def test_functions_that_must_run_first_are_compiled_as_far_as_possible():
    effects = []

    def f(x):
        y = x * 2.0 + 1.0
        effects.append(1)
        return y * y - 1.0

    f = made(f)
    pijit.warmup(f, np.ones(3))
    assert effects == []
    assert (f(np.ones(3)) == 8.0).all() and effects == [1]


@pytest.mark.parametrize("signature, error", [
    ((1, 2, 3), "positional arguments"), ({"y": 1}, "unexpected keyword argument 'y'"), ((), "missing 1 required"),
    ((Tensor([None]), 1.0), "must have a shape and a dtype"), ((Tensor(dtype=float), 1.0), "must have a shape and a dtype")])
def test_arguments_that_do_not_fit_are_refused(signature, error):
    with pytest.raises(TypeError, match=error):
        pijit.warmup(made(decayed), signature)


@pytest.mark.parametrize("f", [decayed, len, None, np.add])
def test_only_jitted_functions_are_warmed_up(f):
    with pytest.raises(TypeError, match="warmup: f must be a jitted function, not"):
        pijit.warmup(f, np.ones(3))
