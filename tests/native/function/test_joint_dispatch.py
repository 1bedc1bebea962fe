"""JointDispatch: calls of a gradient function that run joint functions, with NumPy's error states."""

import builtins
import contextvars
import gc
import sys
import threading
import weakref

import numpy as np
import pytest

from pijit.core import _hook
from pijit.core.tape.state import no_grad, recording
from pijit.guards.guard import IsType
from pijit.guards.program import GuardProgram
from pijit.guards.source import Global, Local

SCALE = 3.0


def scaled(x, y):
    total = x * y * SCALE
    return total


def program(kind, fetch=(Local(0, "x"), Local(1, "y"))):
    return GuardProgram([IsType(Local(0, "x"), kind)], fetch)


class Dispatch:
    """A dispatch whose error states are strings in a context variable of its own."""

    def __init__(self, entries=(), function=scaled):
        self.variable = contextvars.ContextVar("state", default="caller")
        self.c = _hook.JointDispatch(function, 2, (_hook.UNBOUND,), vars(builtins))
        self.c.set_entries(tuple(entries))
        self.c.set_states(self.variable, "caller", "raising", "ignoring")

    def run(self, *args):
        return self.c.run(args)


def test_the_first_entry_whose_guards_hold_runs():
    dispatch = Dispatch([(program(float), lambda x, y: (x * y, y, x), None, ()),
                         (program(int), lambda x, y: ("int", x), None, ()),
                         (program(object), None, None, ())])
    assert dispatch.run(2.0, 5.0) == (10.0, (5.0, 2.0), 0)
    assert dispatch.run(2, 5.0) == ("int", (2,), 1)
    assert dispatch.run("text", 5.0) is None
    assert dispatch.run(object(), 1) is None
    assert dispatch.run(2.0) is None and dispatch.run(2.0, 5.0, 1.0) is None and dispatch.run() is None
    with pytest.raises(TypeError, match="args must be a tuple, not list"):
        dispatch.c.run([2.0, 5.0])


def test_guards_read_globals_and_locals_without_a_value():
    values = (Global("SCALE"), Local(0, "x"))
    dispatch = Dispatch([(program(float, values + (Local(2, "total"),)), lambda *args: (args,), None, ()),
                         (program(float, values), lambda *args: (args, 0.0), None, ())])
    assert dispatch.run(2.0, 1.0) == ((3.0, 2.0), (0.0,), 1)


def test_many_slots():
    names = ["v%d" % k for k in range(50)]
    dispatch = _hook.JointDispatch(scaled, 2, tuple(names), vars(builtins))
    dispatch.set_entries(((program(float, (Local(51, "v49"),)), lambda last: (last, 1.0), None, ()),))
    variable = contextvars.ContextVar("state", default=None)
    assert dispatch.run((1.0, 2.0)) is None
    dispatch.set_states(variable, None, None, None)
    assert dispatch.run((1.0, 2.0)) == ("v49", (1.0,), 0)


def test_each_part_runs_under_its_error_state():
    seen = []

    def forward(x, y):
        seen.append(dispatch.variable.get())
        return x * y, x, y

    def backward(x, y):
        seen.append(dispatch.variable.get())
        return y, x

    dispatch = Dispatch([(program(float), forward, backward, ())])
    assert dispatch.run(2.0, 5.0) == (10.0, (5.0, 2.0), 0)
    assert seen == ["raising", "ignoring"] and dispatch.variable.get() == "caller"
    token = dispatch.variable.set("other")
    assert dispatch.run(2.0, 5.0) is None and len(seen) == 2
    dispatch.variable.reset(token)
    assert dispatch.run(2.0, 5.0) is not None


@pytest.mark.parametrize("changed_before", [False, True])
def test_other_context_variables_keep_what_functions_set(changed_before):
    outer, inner = contextvars.ContextVar("outer"), contextvars.ContextVar("inner", default=0)
    outer.set("first")

    def forward(x, y):
        assert dispatch.variable.get() == "raising" and outer.get() == wanted
        inner.set(inner.get() + 1)
        return x, y

    def backward(y):
        assert dispatch.variable.get() == "ignoring" and outer.get() == wanted
        inner.set(inner.get() + 1)
        return y,

    dispatch, wanted = Dispatch([(program(float), forward, backward, ())]), "first"
    for number in range(3):
        if changed_before:
            wanted = "number %d" % number
            outer.set(wanted)
        assert dispatch.run(1.0, 2.0) == (1.0, (2.0,), 0)
        assert inner.get() == 2 * number + 2 and dispatch.variable.get() == "caller"


def test_calls_may_run_in_calls_and_in_other_threads_and_contexts():
    def forward(x, y):
        seen.append((x, dispatch.variable.get()))
        if x > 0:
            assert dispatch.run(x - 1.0, y) is None  # its caller has another error state
            token = dispatch.variable.set("caller")
            assert dispatch.run(x - 1.0, y)[0] == x - 1.0
            dispatch.variable.reset(token)
        else:
            thread = threading.Thread(target=lambda: seen.append(dispatch.run(-x - 1.0, y)) if x == 0 else None)
            thread.start()
            thread.join()
        assert dispatch.variable.get() == "raising"
        return x, y

    for run in (lambda *args: dispatch.run(*args), lambda *args: contextvars.Context().run(dispatch.run, *args)):
        dispatch, seen = Dispatch([(program(float), forward, None, ())]), []
        for _ in range(2):
            del seen[:]
            assert run(1.0, 2.0) == (1.0, (2.0,), 0)
            assert seen == [(1.0, "raising"), (0.0, "raising"), (-1.0, "raising"), (-1.0, (2.0,), 0)]
        assert dispatch.variable.get() == "caller"


def test_exceptions_leave_the_error_state():
    def forward(x, y):
        inner.set(x)
        raise ValueError("left")

    inner, dispatch = contextvars.ContextVar("inner"), Dispatch([(program(float), forward, None, ())])
    for number in (1.0, 2.0):
        error, entry = dispatch.run(number, 2.0)
        assert str(error) == "left" and entry == 0
        assert inner.get() == number and dispatch.variable.get() == "caller"


def test_gradients_of_numbers_have_the_types_of_their_inputs():
    def forward(x, y):
        return x, 1.5, np.float64(2.5), x

    fetch = Local(0, "x"), Local(1, "y")
    dispatch = Dispatch([(program(np.ndarray, fetch), forward, None, (1, 1, 0))])
    x = np.arange(2.0)
    for y in (4.0, np.float32(4.0), np.float64(4.0)):
        value, gradients, number = dispatch.run(x, y)
        assert value is x and gradients[2] is x and number == 0
        assert [type(g) for g in gradients[:2]] == [type(y)] * 2 and gradients[:2] == (1.5, 2.5)


class Stop(BaseException):
    pass


@pytest.mark.parametrize("in_backward", [False, True])
def test_exceptions_are_an_answer(in_backward):
    raised = [ZeroDivisionError("by zero")]

    def fails(*args):
        raise raised[0]

    functions = (lambda x, y: (x, y), fails) if in_backward else (fails, None)
    dispatch = Dispatch([(program(int), fails, None, ()), (program(float),) + functions + ((),)])
    error, number = dispatch.run(1.0, 2.0)
    assert error is raised[0] and number == 1 and dispatch.variable.get() == "caller"
    frames = []
    while error.__traceback__ is not None:
        frames.append(error.__traceback__.tb_frame.f_code.co_name)
        error.__traceback__ = error.__traceback__.tb_next
    assert frames == ["fails"]
    raised[0] = Stop()
    with pytest.raises(Stop):
        dispatch.run(1.0, 2.0)
    assert dispatch.variable.get() == "caller"


def test_a_result_of_another_kind_is_an_error():
    for wrong in (1.0, (), [1.0, 2.0], True):
        dispatch = Dispatch([(program(float), lambda x, y: wrong, None, ())])
        error, number = dispatch.run(1.0, 2.0)
        assert type(error) is SystemError and number == 0 and repr(wrong) in str(error)
    dispatch = Dispatch([(program(float), lambda x, y: (1.0, 2.0), lambda *args: 3.0, ())])
    assert type(dispatch.run(1.0, 2.0)[0]) is SystemError


@pytest.mark.parametrize("answer", [None, False])
def test_answers_of_functions_that_a_call_is_not_for(answer):
    for functions in ((lambda x, y: answer, None), (lambda x, y: answer, lambda *args: args),
                      (lambda x, y: (1.0, x), lambda *args: answer)):
        assert Dispatch([(program(float), *functions, ())]).run(1.0, 2.0) == (answer, 0)


def test_traced_calls_do_not_run():
    dispatch = Dispatch([(program(float), lambda x, y: (x, y), None, ())])
    for start in (sys.settrace, sys.setprofile):
        before = sys.gettrace() if start is sys.settrace else sys.getprofile()
        start(lambda *args: None)
        found = dispatch.run(1.0, 2.0)
        start(before)
        assert found is None
    assert dispatch.run(1.0, 2.0) == (1.0, (2.0,), 0)


def test_other_code_of_the_function_is_not_run():
    def changing(x, y):
        return x

    dispatch = Dispatch([(program(float), lambda x, y: (x, y), None, ())], changing)
    kept, changing.__code__ = changing.__code__, (lambda x, y: y).__code__
    assert dispatch.run(1.0, 2.0) is None
    changing.__code__ = kept
    assert dispatch.run(1.0, 2.0) == (1.0, (2.0,), 0)


def test_a_call_may_set_other_entries_and_states():
    def forward(x, y):
        dispatch.c.set_entries(())
        dispatch.c.set_states(contextvars.ContextVar("other"), 1, 2, 3)
        gc.collect()
        return x, y

    dispatch = Dispatch([(program(float), forward, lambda y: (y, dispatch.variable.get()), ())])
    assert dispatch.run(1.0, 2.0) == (1.0, (2.0, "ignoring"), 0)
    assert dispatch.run(1.0, 2.0) is None  # the other variable has no value


@pytest.mark.parametrize("entries, error", [
    ([], TypeError), (((1, None, None, ()),), TypeError), (((program(float), None, None),), TypeError),
    (((program(float), None, None, [0]),), TypeError), (((program(float), None, None, ("a",)),), TypeError),
    (((program(float), None, None, (2,)),), ValueError), (((program(float), None, None, (-1,)),), ValueError)])
def test_entries_are_checked(entries, error):
    dispatch = Dispatch([(program(float), lambda x, y: (x, y), None, ())])
    with pytest.raises(error):
        dispatch.c.set_entries(entries)
    assert dispatch.run(1.0, 2.0) == (1.0, (2.0,), 0)


def test_arguments_are_checked():
    for args in ((len, 1, (), {}), (scaled, "1", (), {}), (scaled, 1, [], {}), (scaled, 1, (), [])):
        with pytest.raises(TypeError):
            _hook.JointDispatch(*args)
    with pytest.raises(ValueError, match="arguments must be a number of arguments"):
        _hook.JointDispatch(scaled, -1, (), {})
    with pytest.raises(TypeError):
        Dispatch().c.set_states("variable", 1, 2, 3)


def test_nothing_is_kept():
    class Kept:
        pass

    kept = Kept()

    def fails(x, y):
        raise ValueError(y)

    dispatch = Dispatch([(program(float), lambda x, y: (x, y), lambda y: (y,), (1,)),
                         (program(int), fails, None, ()), (program(str), None, None, ())])
    counts = []
    for _ in range(3):
        for _ in range(200):
            dispatch.run(1.0, kept), dispatch.run(1, kept), dispatch.run("", kept), dispatch.run(None, kept)
        counts.append(sys.getrefcount(kept))
    assert len(set(counts)) == 1
    reference = weakref.ref(dispatch)
    dispatch.c.set_entries(((program(float), lambda *args: dispatch, None, ()),))  # a reference cycle
    del dispatch
    gc.collect()
    assert reference() is None


def usual(dispatch, single=False, with_value=True, left=None):
    """A GradientCall whose answer to an exception is (error, number)."""
    return _hook.GradientCall(dispatch.c, lambda error, number: (error, number), [3] if left is None else left, single,
                              with_value)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("with_value", [False, True])
def test_usual_calls_answer_as_the_gradient_function(single, with_value):
    dispatch = Dispatch([(program(float), lambda x, y: (x * y, y), None, ())])
    left = [3]
    call = usual(dispatch, single, with_value, left)
    gradient = 5.0 if single else (5.0,)
    assert call.call((2.0, 5.0)) == ((10.0, gradient) if with_value else gradient)
    assert call.ran is True and left == [0]
    call.ran = False
    assert call.call(("text", 5.0)) is None and call.ran is False
    with pytest.raises(TypeError, match="args must be a tuple, not list"):
        call.call([2.0, 5.0])


def test_usual_calls_leave_recorded_calls_and_other_stances():
    dispatch = Dispatch([(program(float), lambda x, y: (x * y, y), None, ())])
    call = usual(dispatch)
    with recording("tape"):
        assert call.call((2.0, 5.0)) is None
        with no_grad():
            assert call.call((2.0, 5.0)) == (10.0, (5.0,))
        others = []
        thread = threading.Thread(target=lambda: others.append(call.call((2.0, 5.0))))
        thread.start()
        thread.join()
        assert others == [(10.0, (5.0,))] and call.call((2.0, 5.0)) is None
    _hook.set_other_stance(True)
    try:
        assert call.call((2.0, 5.0)) is None
    finally:
        _hook.set_other_stance(False)
    assert call.call((2.0, 5.0)) == (10.0, (5.0,)) and call.ran


def test_usual_calls_hand_on_exceptions():
    error = ZeroDivisionError("by zero")

    def fails(x, y):
        raise error

    dispatch = Dispatch([(program(float), fails, None, ()), (program(int), lambda x, y: (x, x, y), None, ())])
    call = usual(dispatch, single=True, left=[3, 3])
    assert call.call((2.0, 5.0)) == (error, 0) and call.ran is False
    with pytest.raises(SystemError, match="returned 2 gradients"):
        call.call((2, 5.0))
    error.__traceback__ = None


@pytest.mark.parametrize("wrong", [(1, print, [], 0, 0), (None, print, [], 0, 0)])
def test_usual_calls_want_a_dispatch(wrong):
    with pytest.raises(TypeError, match="must be pijit.core._hook.JointDispatch, not"):
        _hook.GradientCall(*wrong)
    with pytest.raises(TypeError, match="must be list, not tuple"):
        _hook.GradientCall(Dispatch().c, print, (), False, False)


class Answered(_hook.GradientFunction):
    """A gradient function whose other calls are recorded."""

    def _call(self, args, kwargs, raised):
        self.others.append((args, kwargs, raised))
        return "other"


def test_gradient_functions_ask_their_usual_call_first():
    def forward(x, y):
        if y == 0.0:
            raise ValueError("zero")
        return x, y

    gradient = Answered()
    gradient.others = []
    assert gradient.usual is None and gradient(1.0, 2.0) == "other"
    gradient.usual = usual(Dispatch([(program(float), forward, None, ())]), True, True)
    assert gradient(1.0, 2.0) == (1.0, 2.0) and gradient(*(1.0, 2.0), **{}) == (1.0, 2.0)
    assert gradient.others == [((1.0, 2.0), {}, None)]
    assert gradient(1, 2.0) == gradient(1.0, y=2.0) == gradient() == "other"
    assert gradient.others[1:] == [((1, 2.0), {}, None), ((1.0,), {"y": 2.0}, None), ((), {}, None)]
    assert gradient(1.0, 0.0) == "other"
    (args, kwargs, (error, number)), = gradient.others[4:]
    assert (args, kwargs, str(error), number) == ((1.0, 0.0), {}, "zero", 0)
    gradient.usual = None
    assert gradient(1.0, 2.0) == "other"
    with pytest.raises(TypeError, match="usual must be a GradientCall or None, not int"):
        gradient.usual = 1
    with pytest.raises(AttributeError, match="_call"):
        _hook.GradientFunction()(1.0)


def test_gradient_functions_may_lose_their_usual_call_in_a_call():
    def forward(x, y):
        gradient.usual = None
        gc.collect()
        return x, y

    gradient = Answered()
    gradient.others = []
    gradient.usual = usual(Dispatch([(program(float), forward, None, ())]), True, False)
    assert gradient(1.0, 2.0) == 2.0 and gradient(1.0, 2.0) == "other"
    gradient.itself = gradient
    gone = weakref.ref(gradient)
    del gradient
    gc.collect()
    assert gone() is None


def test_usual_calls_release_what_they_hold():
    class Value:
        pass

    dispatch = Dispatch([(program(Value), lambda x, y: (x, y, x), None, ())])
    left = [3]
    call = usual(dispatch, left=left)
    value = Value()
    gone = weakref.ref(value)
    for _ in range(100):
        assert call.call((value, 1.0))[0] is value
    del value
    assert gone() is None
    class Owner:
        pass

    owner = Owner()
    owner.call = call
    left.append(owner)
    alive = weakref.ref(owner)
    del call, owner, left
    gc.collect()
    assert alive() is None
