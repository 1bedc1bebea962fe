"""Flow, liveness and use-def chains of the normal form against what runs really do (CPython 3.11 and later)."""

import sys
from types import FunctionType

import pytest

if sys.version_info < (3, 11):
    pytest.skip("test_flow, test_liveness and test_usedef are for earlier versions", allow_module_level=True)

from pijit.core.bytecode.analysis.blocks import build_cfg, innermost_handler
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.analysis.use_def import Definition, UseDef
from pijit.core.bytecode.normal_form.normalise import normal_function, plain_function
from tests.bytecode.bytecode_samples import NAMES, SAMPLES, outcome


def fails(x):
    if x > 2:
        raise KeyError(x)
    return x


def only_another(x):
    """The exception table leads to the outer handler from the clean-up of the inner one alone."""
    y = 0
    try:
        try:
            y = fails(x)
        except KeyError as error:
            z = error
            raise ValueError(y) from None
    except ValueError as error:
        y = z, len(error.args)
    return y


def handlers_in_loops(x):
    found = []
    for i in range(x):
        try:
            try:
                if i % 2:
                    continue
                found.append(fails(i))
            finally:
                found.append("end")
        except KeyError:
            if i > 4:
                break
        else:
            found.append("else")
    return found


def shadowed(x):
    if x > 1:
        i = x
    squares = [i * i for i in range(x)]
    try:
        return [[j for j in range(i)] for i in squares], i
    except UnboundLocalError:
        return squares


CASES = SAMPLES + [(f, [(x,) for x in range(8)]) for f in (only_another, handlers_in_loops, shadowed)]
of_all_cases = pytest.mark.parametrize("function, calls", CASES, ids=NAMES + [f.__name__ for f, _ in CASES[len(NAMES):]])


def plain(function):
    """A function with the code that is read, and its flow."""
    read = plain_function(function.__code__, True)
    again = FunctionType(read.code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    again.__kwdefaults__ = function.__kwdefaults__
    return again, build_cfg(normal_function(read))


def executed(function, cfg, args):
    """Indices of the instructions that a call runs, without the code that raises again after a handler: no path leads there."""
    index_at = {offset: instr.index for instr in cfg.function.instructions
                for offset in range(instr.offset, instr.offset + 2 * instr.size, 2)}
    path = []

    def trace(frame, event, arg):
        if frame.f_code is not function.__code__:
            return None
        frame.f_trace_opcodes = True
        index = index_at.get(frame.f_lasti) if event == "opcode" else None
        if index is not None and path[-1:] != [index] and cfg.stack_depth[index] is not None:
            path.append(index)
        return trace

    sys._getframe().f_trace_opcodes = True  # before that no frame's instructions are traced from 3.12 on
    sys.settrace(trace)
    try:
        outcome(function, args)
    finally:
        sys.settrace(None)
    return path


def runs(function, calls):
    again, cfg = plain(function)
    paths = [executed(again, cfg, args) for args in calls]
    assert all(path[0] == 0 for path in paths) and max(map(len, paths)) > 5
    return cfg, paths


@of_all_cases
def test_paths_taken_are_paths_found(function, calls):
    """Each step is an edge, or leads to the handler of the innermost protecting entry."""
    cfg, paths = runs(function, calls)
    for i, j in {step for path in paths for step in zip(path, path[1:])}:
        assert j in cfg.successors[i] or j == innermost_handler(cfg.block_stack[i]), (i, j)
        if cfg.block_of[i] != cfg.block_of[j]:
            here, there = cfg.blocks[cfg.block_of[i]], cfg.blocks[cfg.block_of[j]]
            assert j == there.start
            assert i == here.end - 1 and there.index in here.successors or there.index in here.exception_successors
        else:
            assert j == i + 1


@of_all_cases
def test_nothing_read_is_dead(function, calls):
    cfg, paths = runs(function, calls)
    live = Liveness(cfg)
    for path in paths:
        read_later = set()
        for index in reversed(path):
            instr = cfg.function.instructions[index]
            if instr.opname == "STORE_FAST":
                read_later.discard(instr.value)
            elif instr.opname in ("LOAD_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"):
                read_later.add(instr.value)
            assert read_later <= live.live_in(index)


@of_all_cases
def test_real_definitions_are_among_those_found(function, calls):
    cfg, paths = runs(function, calls)
    chain, kinds = UseDef(cfg), {"STORE_FAST": "store", "DELETE_FAST": "delete", "LOAD_FAST_AND_CLEAR": "delete"}
    for path in paths:
        last = {name: Definition("argument" if slot < cfg.function.argument_count else "unbound", name, -1)
                for slot, name in enumerate(cfg.function.varnames)}
        for index in path:
            instr = cfg.function.instructions[index]
            if instr.opname in ("LOAD_FAST", "DELETE_FAST"):
                assert last[instr.value] in chain.definitions(index)
                assert index in chain.uses(last[instr.value])
            for name, definition in last.items():
                if definition.kind in ("unbound", "delete"):
                    assert name in chain.may_be_unbound(index)
            if instr.opname in kinds:
                last[instr.value] = Definition(kinds[instr.opname], instr.value, index)
