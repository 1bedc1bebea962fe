import dis
import sys

import pytest

from pijit.core.bytecode.analysis.blocks import build_cfg, innermost_handler
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler, NewInstr, replace_code
from pijit.core.bytecode.flow.control_flow import BlockEntry, trace_flow
from tests.bytecode.bytecode_samples import NAMES, SAMPLES, executed, for_else, nested_finally, with_statement

BEFORE_38 = sys.version_info < (3, 8)


def find(function, opname, number=0):
    return [instr.index for instr in function.instructions if instr.opname == opname][number]


@pytest.mark.parametrize("function, calls", SAMPLES, ids=NAMES)
def test_paths_taken_are_paths_found(function, calls):
    """Each step of a real run is an edge, or leads to the handler of the innermost protecting entry."""
    cfg = build_cfg(decode(function.__code__))
    taken = set()
    for args in calls:
        path = executed(function, args)
        assert path[0] == 0
        taken.update(zip(path, path[1:]))
    for i, j in taken:
        assert j in cfg.successors[i] or j == innermost_handler(cfg.block_stack[i]), (i, j)
        if cfg.block_of[i] != cfg.block_of[j]:
            here, there = cfg.blocks[cfg.block_of[i]], cfg.blocks[cfg.block_of[j]]
            assert j == there.start
            normal = i == here.end - 1 and there.index in here.successors
            assert normal or there.index in here.exception_successors


@pytest.mark.parametrize("function", [function for function, _ in SAMPLES], ids=NAMES)
def test_returns_with_one_item(function):
    flow = trace_flow(decode(function.__code__))
    depths = {flow.stack_depth[instr.index] for instr in decode(function.__code__).instructions
              if instr.opname == "RETURN_VALUE" and flow.block_stack[instr.index] == ()}
    assert depths <= {1}


def test_depths_of_a_loop():
    function = decode(for_else.__code__)
    flow = trace_flow(function)
    loop = find(function, "FOR_ITER")
    assert flow.stack_depth[loop] == 1
    assert flow.stack_depth[loop + 1] == 2
    assert flow.stack_depth[function.instructions[loop].target] == 0
    assert flow.max_depth <= for_else.__code__.co_stacksize


def simple(x):
    try:
        x = x.real
    except ValueError:
        x = 0
    return x


def test_block_stack_of_except():
    function = decode(simple.__code__)
    flow = trace_flow(function)
    handler = function.instructions[0].target
    entry = BlockEntry("except", handler, 0, 0)
    running = BlockEntry("handler", handler, 0, 0)
    assert flow.block_stack[0] == ()
    assert [flow.block_stack[i] for i in range(1, 5)] == [(entry,)] * 4
    assert function.instructions[4].opname == "POP_BLOCK"
    assert flow.block_stack[5] == ()
    assert flow.block_stack[handler] == (running,) and flow.stack_depth[handler] == 6
    assert flow.handlers == {handler: running}
    assert flow.block_stack[find(function, "POP_EXCEPT")] == (running,)
    assert flow.stack_depth[find(function, "POP_EXCEPT")] == 3
    assert flow.block_stack[find(function, "RETURN_VALUE", -1)] == ()


def test_block_stack_of_with():
    function = decode(with_statement.__code__)
    flow = trace_flow(function)
    setup = find(function, "SETUP_WITH")
    handler = function.instructions[setup].target
    assert flow.stack_depth[setup] == 1
    assert flow.block_stack[setup + 1] == (BlockEntry("with", handler, setup, 1),)
    assert flow.stack_depth[setup + 1] == 2
    assert flow.stack_depth[handler] == 7
    inner = find(function, "SETUP_WITH", 2)
    assert [entry.kind for entry in flow.block_stack[inner + 1]] == ["with", "with"]
    assert [entry.level for entry in flow.block_stack[inner + 1]] == [1, 2]


def test_nested_finally_kinds():
    function = decode(nested_finally.__code__)
    flow = trace_flow(function)
    kinds = {tuple(entry.kind for entry in blocks) for blocks in flow.block_stack if blocks is not None}
    assert ("finally", "finally") in kinds
    assert ("finally", "handler", "with") in kinds
    assert ("finally", "handler", "handler") in kinds
    assert ("handler",) in kinds


@pytest.mark.skipif(not BEFORE_38, reason="loops are blocks on 3.7 only")
def test_loop_entries():
    function = decode(for_else.__code__)
    flow = trace_flow(function)
    setup = find(function, "SETUP_LOOP")
    end = function.instructions[setup].target
    loop = BlockEntry("loop", end, setup, 0)
    assert flow.block_stack[find(function, "FOR_ITER")] == (loop,)
    break_loop = find(function, "BREAK_LOOP")
    assert flow.block_stack[break_loop] == (loop,)
    assert flow.successors[break_loop] == [end]
    assert flow.block_stack[end] == ()


def test_unreachable_code_has_no_entry():
    def f(x):
        return x

    assembler = Assembler(decode(f.__code__))
    assembler.append([NewInstr("LOAD_FAST", 0), NewInstr("RETURN_VALUE")])
    function = decode(assembler.assemble())
    flow = trace_flow(function)
    assert flow.block_stack[:2] == [(), ()] and flow.block_stack[2:] == [None, None]
    assert flow.stack_depth[2:] == [None, None] and flow.successors[2:] == [None, None]
    assert build_cfg(function).block_of == [0, 0, None, None]


def test_different_stacks_are_refused():
    unit = 2 if sys.version_info >= (3, 10) else 1
    raw = bytes((dis.opmap["LOAD_CONST"], 0, dis.opmap["JUMP_ABSOLUTE"], 0 // unit))
    with pytest.raises(ValueError, match="paths meet"):
        trace_flow(decode(replace_code(simple.__code__, co_code=raw)))
