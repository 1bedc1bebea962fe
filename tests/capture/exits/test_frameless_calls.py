"""Functions that one kernel computes: called without any frame, and with one as soon as bytecode has to go on."""

import functools
import operator
import sys
import traceback

import numpy as np
import pytest

from pijit.core import _hook
from pijit.differential import plain_twin
from tests.harness import check, jitted, kernel_count, same

WHOLE = {"force_breaks": None}
X, Y = np.linspace(-1.0, 2.0, 6), np.arange(6.0)
STATS = ("hits", "misses", "shadow_frames", "frames")
"""The last one is the hook's, which is there up to CPython 3.10."""
with_frame = operator.methodcaller("__abs__")
"""A call that stays bytecode."""


def counted(f, *args, **kwargs):
    """What a call gives, and what it adds to the hook's counts."""
    before = _hook.stats()
    result = f(*args, **kwargs)
    after = _hook.stats()
    return result, added(before, after)


def added(before, after):
    return tuple(after.get(key, 0) - before.get(key, 0) for key in STATS)


def warm(function, *args, **kwargs):
    f = jitted(plain_twin(function), dict(WHOLE))
    for _ in range(3):
        f(*args, **kwargs)
    return f


def gives_array(x, y): return x * 2.0 + y
def gives_scalar(x, y): return x[0] * y[1] + x[2] - y[3] * x[4]
def gives_float(x, y): return float(x[0]) + float(y[1]) * 2.0 - float(x[2]) * float(y[3]) * 0.5
def gives_int(x, y): return len(x) * 3 + len(y) + int(x[5] + y[1])
def gives_bool(x, y): return bool((x + y)[0] > y[1])
def gives_tuple(x, y): return x + y, (x[0] + 1.0, y), None
def gives_list(x, y): return [x * 2.0, y]


def gives_argument(x, y):
    x += y
    return x


def gives_none(x, y):
    x[:] = x * 2.0 + y


def loops(x, y):
    total = 0.0
    for i in range(len(x)):
        total += float(x[i]) * float(y[i])
    return total


def branches(x, y):
    if x[0] < 0.0:
        return x - y
    return x + y


KINDS = [gives_array, gives_scalar, gives_float, gives_int, gives_bool, gives_tuple, gives_list, gives_argument,
         gives_none, loops, branches]


@pytest.mark.parametrize("function", KINDS, ids=[f.__name__ for f in KINDS])
def test_results_without_a_frame(function):
    f = warm(function, X + 0.0, Y)
    one, two = X + 0.0, X + 0.0
    got, counts = counted(f, one, Y)
    wanted = function(two, Y)
    same(got, wanted)
    same(one, two)
    assert counts == (1, 0, 0, 0)
    assert (got is one) == (wanted is two)
    if isinstance(got, tuple):
        assert got[1][1] is Y
    check(function, X + 0.0, Y, config=WHOLE, others=[(X, X.astype("f")), (Y[:4], Y[::-1][:4] + 1.0)])


def parameters(x, y=Y, *, factor=2.0, shift=1.0):
    return (x * factor + y) * 2.0 + shift


CALLS = [((X,), {}), ((X, Y + 1.0), {}), ((X,), {"y": Y + 1.0}), ((), {"y": Y, "x": X}), ((X,), {"shift": 3.0}),
         ((X, Y), {"shift": 2.0, "factor": 0.5}), ((), {"factor": -1.0, "x": Y})]


@pytest.mark.parametrize("args, kwargs", CALLS, ids=[str(number) for number in range(len(CALLS))])
def test_arguments(args, kwargs):
    f = warm(parameters, *args, **kwargs)
    got, counts = counted(f, *args, **kwargs)
    same(got, parameters(*args, **kwargs))
    assert counts == (1, 0, 0, 0)


WRONG = [((), {}), ((X, Y, 2.0), {}), ((X,), {"x": Y}), ((X,), {"z": Y}), ((X,), {"y": Y, "Factor": 1.0})]


@pytest.mark.parametrize("args, kwargs", WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_arguments_that_do_not_fit(args, kwargs):
    f = warm(parameters, X)
    with pytest.raises(TypeError) as wanted:
        parameters(*args, **kwargs)
    with pytest.raises(TypeError) as got:
        f(*args, **kwargs)
    assert str(got.value) == str(wanted.value)


def test_defaults_are_those_of_the_moment():
    f = warm(parameters, X)
    f.__defaults__ = (Y + 5.0,)
    f.__kwdefaults__ = {"factor": 3.0, "shift": 0.25}
    got, counts = counted(f, X)
    same(got, parameters(X, Y + 5.0, factor=3.0, shift=0.25))
    assert counts == (1, 0, 0, 0)
    f.__kwdefaults__ = None
    with pytest.raises(TypeError, match="keyword-only"):
        f(X)


def test_methods_and_free_variables():
    whole = functools.partial(jitted, config=dict(WHOLE))

    class Model:
        def __init__(self):
            self.w, self.b = X + 1.0, Y + 0.0

        @whole
        def step(self, x, scale=2.0):
            return (x * self.w + self.b) * scale

    offset = Y * 3.0

    @whole
    def closed(x):
        return x * 2.0 + offset

    model = Model()
    for _ in range(3):
        model.step(X), closed(X)
    same(model.step(Y, scale=0.5), (Y * model.w + model.b) * 0.5)
    model.w = Y
    same(model.step(X), (X * Y + model.b) * 2.0)
    got, counts = counted(closed, Y)
    same(got, Y * 2.0 + offset)
    assert counts == (1, 0, 0, 0)
    offset = Y * 5.0
    got, counts = counted(closed, Y)
    same(got, Y * 2.0 + offset)
    assert counts == (1, 0, 0, 0)
    offset = Y.astype("f")
    same(closed(Y), Y * 2.0 + offset)


def stars(x, *rest, **names):
    return x * 2.0 + rest[0] - names["z"]


def argument_is_a_cell(x, y):
    z = x * 2.0 + y
    with_frame(-1)
    return [z[i] * y[i] for i in range(2)]


def test_other_signatures_have_frames():
    check(stars, X, Y, z=Y, config=WHOLE)
    check(argument_is_a_cell, X, Y, config=WHOLE)


def leaves_after_effects(x, kept, index):
    x += 1.0
    kept.append(x[0])
    x[index] = 7.0
    x *= 2.0
    return x


@pytest.mark.parametrize("index", [2, 99])
def test_exits_behind_effects(index):
    f = warm(leaves_after_effects, X + 0.0, [], 1)
    outcomes = []
    for function in (f, leaves_after_effects):
        x, kept = X + 0.0, []
        lines = []
        for _ in range(3):
            try:
                function(x, kept, index)
            except IndexError as error:
                frames = traceback.extract_tb(error.__traceback__)
                lines.append((str(error), [(frame.name, frame.lineno) for frame in frames[1:]]))
        outcomes.append((x.tobytes(), kept, lines))
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0][2]) == (3 if index == 99 else 0)


def test_exits_make_one_frame():
    f = warm(leaves_after_effects, X + 0.0, [], 1)
    with pytest.raises(IndexError):
        f(X + 0.0, [], 99)
    before = _hook.stats()
    with pytest.raises(IndexError):
        f(X + 0.0, [], 99)
    after = _hook.stats()
    assert added(before, after) == (1, 0, 1, 0)


def allocates(x):
    y = x * 2.0
    return y + 1.0


def test_no_memory():
    f, huge = warm(allocates, X[:1].repeat(3)[::2]), np.broadcast_to(np.ones(1), (1 << 46,))
    texts = []
    for function in (f, f, allocates):
        with pytest.raises(MemoryError) as caught:
            function(huge)
        frames = traceback.extract_tb(caught.tb)
        texts.append((str(caught.value), [(frame.name, frame.lineno) for frame in frames][1:]))
    assert texts[0] == texts[1] == texts[2]


def test_profiles_see_the_original():
    f = warm(gives_array, X, Y)
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append(frame.f_code.co_name) if event == "call" else None)
    try:
        f(X, Y)
    finally:
        sys.setprofile(None)
    assert "gives_array" in seen
    assert counted(f, X, Y)[1] == (1, 0, 0, 0)


def test_misses_find_another_entry():
    f = warm(gives_array, X, Y)
    whole = [counted(f, X.astype("f"), Y)[1] for _ in range(3)]
    assert whole[0][1] == 1 and whole[-1] == (1, 0, 0, 0)
    assert counted(f, X, Y)[1] == (1, 0, 0, 0)
    assert f.cache_info().currsize == 2


def test_a_function_with_nothing_to_compile_is_asked_now_and_then():
    def pick(x, y):
        return y

    def worth_it_for_arrays(x, y):
        return x * 2 + y * x

    f = warm(pick, X, Y)
    for _ in range(200):
        assert f(X, Y) is Y
    f = jitted(plain_twin(worth_it_for_arrays), dict(WHOLE))
    for _ in range(300):
        assert f(2, 3) == 10
    for _ in range(200):
        same(f(X, Y), X * 2 + Y * X)
    assert counted(f, X, Y)[1] == (1, 0, 0, 0)


def breaks_once(x, y):
    z = x * 2.0 + y
    with_frame(-1)
    return z * y - x


def breaks_with_a_stack(x, y):
    z = x * 2.0 + y
    return with_frame(z - 7.0 * y) + y


def breaks_behind_new_arguments(x, y):
    x, y = x * 2.0 + y, x - y * 3.0
    with_frame(-1)
    return x * y


def breaks_in_a_loop(x, y):
    z = x * 2.0
    for i in range(3):
        z = z + y * i
        with_frame(-1)
    return z * x


def breaks_on_one_side(x, y):
    z = x * 2.0 + y
    if z[0] > 0.0:
        with_frame(-1)
    return z * y - x


BREAKING = [breaks_once, breaks_with_a_stack, breaks_behind_new_arguments, breaks_in_a_loop, breaks_on_one_side]


@pytest.mark.parametrize("function", BREAKING, ids=[f.__name__ for f in BREAKING])
def test_a_frame_begins_behind_the_first_kernel(function):
    f = warm(function, X, Y)
    for x in (X, X + 3.0):
        f(x, Y)
        got, counts = counted(f, x, Y)
        same(got, function(x, Y))
        assert counts == (1, 0, 1, 0)
    check(function, X, Y, config=WHOLE, others=[(X.astype("f"), Y), (Y[:4], Y[::-1][:4] + 1.0)])


def little_before_much(x, y):
    z = x * 2.0 + y
    with_frame(-1)
    u = z * z + y
    v = u - z * 0.25
    return (v * y + u) * (v - u)


def little_before_little(x, y):
    z = x * 2.0 + y
    with_frame(-1)
    u = z * 0.5 - x
    with_frame(-1)
    return (u - z * 0.25) * y + u * 3.0 - z


def little_throughout(x, y):
    z = x * 2.0
    with_frame(-1)
    return z + y


LITTLE = [(little_before_much, 2), (little_before_little, 2), (little_throughout, 0)]


@pytest.mark.parametrize("function, kernels", LITTLE, ids=[f.__name__ for f, _ in LITTLE])
def test_little_work_is_worth_a_kernel_before_the_frame(function, kernels):
    x, y = np.float64(1.5), np.float64(-0.25)
    f = warm(function, x, y)
    assert kernel_count(f) == kernels
    got, counts = counted(f, x, y)
    same(got, function(x, y))
    assert counts[2] == (1 if kernels else 0)
    check(function, x, y, config=WHOLE, others=[(1.5, -0.25), (np.float32(2.0), y), (y, np.float64("inf"))])


def sees_its_frame(x, y):
    z = x * 2.0 + y
    w = z - x

    frame = sys._getframe()
    return w * z, frame.f_lineno, sorted(frame.f_locals), frame.f_locals["z"] is z, frame.f_back.f_lineno


def test_the_frame_has_its_line_and_locals():
    f = warm(sees_its_frame, X, Y)
    outcomes = [function(X, Y) for function in (f, f, sees_its_frame)]
    same(outcomes[0][0], outcomes[2][0])
    assert outcomes[0][1:] == outcomes[1][1:] == outcomes[2][1:]
    assert counted(f, X, Y)[1] == (1, 0, 1, 0)


def raises_behind_it(x, y):
    z = x * 2.0 + y
    with_frame("text")
    return z


def test_tracebacks_begin_at_the_line_that_raises():
    f = jitted(plain_twin(raises_behind_it), dict(WHOLE))
    lines = []
    for function in (f, f, f, raises_behind_it):
        with pytest.raises(AttributeError) as caught:
            function(X, Y)
        lines.append([(frame.name, frame.lineno) for frame in traceback.extract_tb(caught.tb)][1:])
    assert lines[0] == lines[1] == lines[2] == lines[3]


def rebinds_its_argument(x):
    x = x * 2.0
    with_frame(-1)
    return x


def test_an_argument_that_the_first_kernel_replaces_is_let_go():
    f = warm(rebinds_its_argument, X)
    for function in (f, rebinds_its_argument):
        x = X + 1.0
        references = sys.getrefcount(x)
        for _ in range(20):
            function(x)
        assert sys.getrefcount(x) == references


def other_types_behind_it(x, number):
    y = x * 2.0 + 1.0
    with_frame(-1)
    return y * number


def test_later_segments_have_entries_of_their_own():
    f = warm(other_types_behind_it, X, 2.0)
    for number in (2.0, Y, 3, 2.5, Y + 1.0, True):
        for _ in range(3):
            same(f(X, number), other_types_behind_it(X, number))
        assert counted(f, X, number)[1] == (1, 0, 1, 0)


stored_global = "the caller's"
"""Functions of another module store and delete a global of this name."""

EFFECTS_ON_GLOBALS = ["stored_global = 2", "del stored_global"]


@pytest.mark.parametrize("effect", EFFECTS_ON_GLOBALS)
def test_globals_are_those_of_the_function(effect):
    """A kernel without a frame would find those of its caller."""
    own = {}
    exec("def f(x):\n    global stored_global\n    y = x * 2.0 + x\n    %s\n    return y" % effect, own)
    f = jitted(own["f"], dict(WHOLE))
    for _ in range(4):
        own["stored_global"] = 1
        same(f(X), X * 2.0 + X)
        assert own.get("stored_global") == (None if effect.startswith("del") else 2)
        assert stored_global == "the caller's"
    own["stored_global"] = 1
    assert kernel_count(f) == 1 and counted(f, X)[1] == (1, 0, 1, 0)


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="frames begin behind a kernel by a call in linked code, not at a place")
def test_places_that_the_code_does_not_have_are_refused():
    f = warm(breaks_once, X, Y)
    made = f.state.entries[-1].code.entrance
    for landing in ((-2, (), 0), (1, (), 0), (100000, (), 0), (2, (99,), 0), (2, (-2,), 0), (2, (), -1), (2, (), 15)):
        with pytest.raises(ValueError, match="no place like"):
            _hook.Entrance(made.code, made.launcher, (landing,))
    with pytest.raises(TypeError):
        _hook.Entrance(made.code, made.launcher, ((2, None, 0),))
