"""Finally bodies copied for each way in do what they did once for all."""

import pytest

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.normal_form.expand_finally_37 import COPIED_BY_COMPILER
from pijit.core.bytecode.normal_form.normalise import plain_function
from tests.bytecode.bytecode_samples import NAMES, SAMPLES, Manager, outcome
from tests.bytecode.test_encode import with_code


def loops_in_bodies(n):
    log = []
    for i in range(n):
        try:
            with Manager(log) as one, Manager(log):
                if i == 3:
                    continue
                if i == 5:
                    return one.log is log, log
                log.append(10 // (i - 4))
        except ZeroDivisionError:
            log.append("zero")
        finally:
            for j in range(2):
                try:
                    if j == i:
                        break
                    log.append(j)
                finally:
                    log.append(-j)
            else:
                log.append("else")
    return log


MORE = SAMPLES + [(loops_in_bodies, [(i,) for i in range(8)])]


@pytest.mark.parametrize("returns", [False, True])
@pytest.mark.parametrize("function, calls", MORE, ids=NAMES + ["loops_in_bodies"])
def test_copies_do_the_same(function, calls, returns):
    edited = with_code(function, plain_function(function.__code__, returns).code)
    for args in calls:
        assert outcome(edited, args) == outcome(function, args)


@pytest.mark.skipif(COPIED_BY_COMPILER, reason="the compiler does it")
@pytest.mark.parametrize("function", [function for function, _ in MORE], ids=NAMES + ["loops_in_bodies"])
def test_no_body_is_entered_without_an_exception(function):
    cfg = build_cfg(plain_function(function.__code__, True))
    handlers = {cfg.block_of[index] for index in cfg.flow.handlers}
    reached, todo = {0}, [0]
    while todo:
        for successor in cfg.blocks[todo.pop()].successors:
            if successor not in reached:
                reached.add(successor)
                todo.append(successor)
    assert not reached & handlers


def test_code_without_bodies_is_left_alone():
    code = plain_function.__code__
    assert plain_function(code, True).code is code
