"""JitFunction as an object: copies, pickles, weak references, equality."""

import copy
import gc
import pickle
import subprocess
import sys
import weakref

import cloudpickle
import pytest

from pijit.core._hook import JitFunction
from tests.native.function.test_function import Holder, module_level


def test_copies_are_the_object_itself():
    assert copy.copy(module_level) is copy.deepcopy(module_level) is module_level
    assert copy.deepcopy([module_level])[0] is module_level


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_by_name(protocol):
    for function in (module_level, Holder.method, Holder.static):
        assert pickle.loads(pickle.dumps(function, protocol)) is function


def test_pickle_of_a_local_function_fails_as_for_functions():
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(JitFunction(lambda x: x))


def test_cloudpickle_by_value():
    factor = 3

    def local(x):
        return x * factor

    jitted = JitFunction(local)
    jitted.tag = "tag"
    again = cloudpickle.loads(cloudpickle.dumps(jitted))
    assert type(again) is JitFunction
    assert again is not jitted and again(10) == 30 and again.tag == "tag"
    assert again.__wrapped__ is again.py_func
    self_reference = []
    self_reference.append(JitFunction(lambda n: n and self_reference[0](n - 1)))
    assert cloudpickle.loads(cloudpickle.dumps(self_reference[0]))(5) == 0


def test_set_rebuild_decides_what_unpickling_makes():
    script = (
        "import cloudpickle, pickle\n"
        "from pijit.core import _hook\n"
        "class Sub(_hook.JitFunction):\n    pass\n"
        "def make(k):\n    return _hook.JitFunction(lambda x: x * k)\n"
        "assert type(pickle.loads(cloudpickle.dumps(make(2)))) is _hook.JitFunction\n"
        "_hook.set_rebuild(Sub)\n"
        "again = pickle.loads(cloudpickle.dumps(make(2)))\n"
        "assert type(again) is Sub and again(5) == 10\n"
    )
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")


def test_weak_references_and_cycles():
    @JitFunction
    def f():
        return f

    f.state = [f]
    gone = weakref.ref(f)
    assert f() is f
    del f
    gc.collect()
    assert gone() is None


def test_identity_decides_equality():
    first, second = JitFunction(module_level.py_func), JitFunction(module_level.py_func)
    assert first != second and len({first, second, first}) == 2
