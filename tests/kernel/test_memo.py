"""Equal kernels are compiled once per process."""

import threading

import numpy as np
from kernel_graphs import Builder

from pijit.core.graph.ir import Output
from pijit.core.graph.types import INT, Array
from pijit.core.kernel import compile as compiler


def adder(name, number, constant=None):
    b = Builder(name, INT)
    b.leave(2, b.op("add", INT, b.inputs[0], b.const(number, INT), exit=b.exit(1)), Output("const", constant))
    return b


def test_equal_sources_share_their_code():
    first, second = adder("one", 170).run("numba"), adder("other name", 170).run("numba")
    assert first.kernel.kernel == second.kernel.kernel and first.kernel.name != second.kernel.name
    third = adder("one", 171).run("numba")
    assert third.kernel.kernel != first.kernel.kernel and third(1)[1] == 172


def test_constants_that_leave_are_not_shared():
    one, other = object(), object()
    first, second = adder("const", 172, one).run("numba"), adder("const", 172, other).run("numba")
    assert first.kernel.kernel == second.kernel.kernel
    assert first(1)[2] is one and second(1)[2] is other


def test_loops_of_different_ufuncs_are_told_apart():
    kind, kernels = Array(np.dtype("d"), 1, "C"), []
    for function in (np.exp, np.log):
        b = Builder("loop", kind)
        b.leave(2, b.op("ufunc", kind, b.inputs[0], exit=b.exit(1), ufunc=function, types="d->d",
                        loop=function.types.index("d->d")))
        kernels.append(b.run("numba"))
        assert kernels[-1](np.ones(3))[1].tobytes() == function(np.ones(3)).tobytes()
    assert kernels[0].kernel.kernel != kernels[1].kernel.kernel


def test_the_memo_is_bounded(monkeypatch):
    monkeypatch.setattr(compiler, "MEMO_SIZE", 2)
    runs = [adder("bounded", number).run("numba") for number in range(180, 184)]
    assert len(compiler._compiled) == 2
    assert [run(1)[1] for run in runs] == [181, 182, 183, 184]


def test_threads_compile_at_once():
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(adder("thread", 190).run("numba")(1)[1]))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [191] * 4
