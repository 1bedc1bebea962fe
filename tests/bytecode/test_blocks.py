"""Blocks, order, dominators and loops; graph facts are stated by source line, which all versions share."""

import pytest

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.codec.decode import decode
from tests.bytecode.bytecode_samples import (
    NAMES,
    SAMPLES,
    at,
    break_in_try,
    conditional,
    for_else,
    nested_loops,
    straight,
    try_everything,
    while_else,
    with_statement,
)


def graph(function):
    return build_cfg(decode(function.__code__))


def paths_avoiding(cfg, avoided):
    """Blocks that can be reached from the entry without passing `avoided`."""
    seen, work = set(), [0]
    while work:
        index = work.pop()
        if index != avoided and index not in seen:
            seen.add(index)
            work.extend(cfg.blocks[index].successors + cfg.blocks[index].exception_successors)
    return seen


@pytest.mark.parametrize("function", [function for function, _ in SAMPLES], ids=NAMES)
def test_structure(function):
    cfg = graph(function)
    covered = [i for block in cfg.blocks for i in range(block.start, block.end)]
    assert covered == [i for i, blocks in enumerate(cfg.block_stack) if blocks is not None]
    assert sorted(cfg.rpo) == list(range(len(cfg.blocks))) and cfg.rpo[0] == 0
    for block in cfg.blocks:
        assert len({cfg.block_stack[i] for i in range(block.start, block.end)}) == 1
        for i in range(block.start, block.end - 1):
            assert cfg.successors[i] == [i + 1]
        for successor in block.successors:
            assert block.index in cfg.blocks[successor].predecessors
        for successor in block.exception_successors:
            assert block.index in cfg.blocks[successor].exception_predecessors


@pytest.mark.parametrize("function", [function for function, _ in SAMPLES], ids=NAMES)
def test_dominators_by_definition(function):
    cfg = graph(function)
    indices = range(len(cfg.blocks))
    unreachable_without = {above: set(indices) - paths_avoiding(cfg, above) for above in indices}
    for above in indices:
        for below in indices:
            assert cfg.dominates(above, below) == (below in unreachable_without[above])
    for below in indices[1:]:
        strict = {above for above in indices if above != below and below in unreachable_without[above]}
        assert cfg.idom[below] in strict
        assert all(cfg.dominates(above, cfg.idom[below]) for above in strict)


def loop_facts(function):
    """Depth and set of source lines of each loop."""
    cfg = graph(function)
    instructions = cfg.function.instructions
    first = function.__code__.co_firstlineno
    return [(loop.depth, {instr.lineno - first for index in loop.body
                          for instr in instructions[cfg.blocks[index].start:cfg.blocks[index].end]
                          if instr.lineno is not None}) for loop in cfg.loops]


def test_no_loops():
    cfg = graph(straight)
    assert len(cfg.blocks) == 1 and cfg.loops == [] and cfg.idom == [0]
    assert (cfg.blocks[0].start, cfg.blocks[0].end) == (0, len(cfg.function.instructions))
    assert graph(conditional).loops == []


def test_single_loops():
    (depth, lines), = loop_facts(for_else)
    # The break leaves the loop: its line is in it only with the test in front of it.
    assert depth == 1 and {2, 3, 5, 6, 7} <= lines and not lines & {1, 9, 10}
    (depth, lines), = loop_facts(while_else)
    assert depth == 1 and {2, 3} <= lines and not lines & {6, 7}


def test_nested_loops():
    facts = loop_facts(nested_loops)
    assert [depth for depth, _ in facts] == [1, 2, 2]
    outer, first, second = [lines for _, lines in facts]
    assert first | second < outer
    assert sorted(min(lines) for lines in (first, second)) == [3, 12]
    cfg = graph(nested_loops)
    inner = [loop for loop in cfg.loops if loop.depth == 2]
    assert all(loop.parent is cfg.loops[0] for loop in inner)
    assert cfg.loop_of(inner[0].header) is inner[0]
    assert cfg.loop_of(cfg.loops[0].header) is cfg.loops[0]
    assert cfg.loop_of(0) is None
    assert all(set(loop.latches) <= loop.body for loop in cfg.loops)


def test_loop_with_handlers_inside():
    (depth, lines), *_ = loop_facts(break_in_try)
    assert depth == 1
    first = break_in_try.__code__.co_firstlineno
    assert at(break_in_try, "log += [error.args]") - first in lines


def test_exception_edges():
    cfg = graph(try_everything)
    call = next(instr.index for instr in cfg.function.instructions
                if instr.lineno == at(try_everything, "y = fail(x)") and instr.opname == "CALL_FUNCTION")
    block = cfg.blocks[cfg.block_of[call]]
    handler, = block.exception_successors
    clause = cfg.function.instructions[cfg.blocks[handler].start]
    assert clause.lineno == at(try_everything, "except KeyError")
    # An exception of the clause's test goes on to the finally body.
    outer, = cfg.blocks[handler].exception_successors
    assert cfg.function.instructions[cfg.blocks[outer].start].lineno == at(try_everything, '["finally"]')
    assert cfg.blocks[outer].exception_successors == []


def test_with_ends_blocks():
    cfg = graph(with_statement)
    for instr in cfg.function.instructions:
        if instr.opname in ("SETUP_WITH", "POP_BLOCK") and cfg.block_of[instr.index] is not None:
            assert cfg.blocks[cfg.block_of[instr.index]].end == instr.index + 1
