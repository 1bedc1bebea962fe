"""Graphs: their text, the invariants that verify checks, what simplify removes, and the keys of kernels."""

import numpy as np
import pytest

from pijit.core.graph.ir import Branch, Exit, Graph, Jump, Leave, Op, Output, SideExit, Value
from pijit.core.graph.kernel_key import graph_key
from pijit.core.graph.passes import run_passes
from pijit.core.graph.passes.compare_magnitude import compare_magnitudes
from pijit.core.graph.passes.simplify import simplify
from pijit.core.graph.printer import format_graph
from pijit.core.graph.types import BOOL, COMPLEX, FLAG, FLOAT, INT, WORD, Array, numpy_scalar
from pijit.core.graph.verify import InvalidGraph, verify, why_invalid
from pijit.core.kernel.compile import compile_graph

MATRIX = Array(np.dtype("f8"), 2, "C", True)


def value(v):
    return Output("value", v)


def count_down(name="count_down"):
    """``while n > 0: n -= 1; s += x``; an overflow of n leaves at the loop's start."""
    graph = Graph(name)
    entry, header, body = graph.new_block(), graph.new_block(), graph.new_block()
    n, x, s = graph.new_value(INT, "n"), graph.new_value(FLOAT, "x"), graph.new_value(FLOAT, "s")
    graph.inputs = entry.params = [n, x, s]
    header.params = [graph.new_value(INT, "n"), graph.new_value(FLOAT, "x"), graph.new_value(FLOAT, "s")]
    n1, x1, s1 = header.params
    leave = graph.exit_number(Exit(12, ("n", "s"), 0, False))
    resume = graph.exit_number(Exit(4, ("n", "s"), 0, True))
    entry.terminator = Jump(header, [n, x, s])
    zero, flag = graph.new_value(INT), graph.new_value(FLAG)
    header.ops = [Op("const", [], {"value": 0}, zero), Op("compare", [n1, zero], {"operator": ">"}, flag)]
    header.terminator = Branch(flag, Jump(body, []), SideExit(leave, [value(n1), value(s1)]))
    one, n2, s2 = graph.new_value(INT), graph.new_value(INT), graph.new_value(FLOAT)
    body.ops = [Op("const", [], {"value": 1}, one),
                Op("sub", [n1, one], {}, n2, SideExit(resume, [value(n1), value(s1)])),
                Op("add", [s1, x1], {}, s2)]
    body.terminator = Jump(header, [n2, x1, s2])
    return graph


COUNT_DOWN = """\
graph count_down
  exit0 -> instruction 12, locals (n, s), stack 0
  exit1 -> instruction 4, locals (n, s), stack 0 [side]
  b0(%0: py.int64 'n', %1: py.float64 'x', %2: py.float64 's'):
      jump b1(%0, %1, %2)
  b1(%3: py.int64 'n', %4: py.float64 'x', %5: py.float64 's'):
      %6: py.int64 = const {value=0}
      %7: raw.bool = compare %3, %6 {operator='>'}
      branch %7 ? b2() : exit0(%3, %5)
  b2():
      %8: py.int64 = const {value=1}
      %9: py.int64 = sub %3, %8  else exit1(%3, %5)
      %10: py.float64 = add %5, %4
      jump b1(%9, %4, %10)"""

SIMPLIFIED = """\
graph count_down
  exit0 -> instruction 12, locals (n, s), stack 0
  exit1 -> instruction 4, locals (n, s), stack 0 [side]
  b0(%0: py.int64 'n', %1: py.float64 'x', %2: py.float64 's'):
      jump b1(%0, %2)
  b1(%3: py.int64 'n', %5: py.float64 's'):
      %6: py.int64 = const {value=0}
      %7: raw.bool = compare %3, %6 {operator='>'}
      branch %7 ? b2() : exit0(%3, %5)
  b2():
      %8: py.int64 = const {value=1}
      %9: py.int64 = sub %3, %8  else exit1(%3, %5)
      %10: py.float64 = add %5, %1
      jump b1(%9, %10)"""


def test_text():
    assert format_graph(verify(count_down())) == COUNT_DOWN


def test_loop_invariant_parameter_is_removed():
    graph = count_down()
    assert simplify(graph) == [0, 1, 2]
    assert format_graph(verify(graph)) == SIMPLIFIED


def test_simplifying_twice_changes_nothing():
    graph = count_down()
    simplify(graph)
    text = format_graph(graph)
    assert simplify(graph) == [0, 1, 2] and format_graph(graph) == text


def straight(*types):
    """A graph of one block with these inputs; its exit takes no values."""
    graph = Graph("straight")
    block = graph.new_block()
    graph.inputs = block.params = [graph.new_value(type) for type in types]
    block.terminator = Leave(SideExit(graph.exit_number(Exit(3, (), 0, False)), []))
    return graph, block


def test_dead_operations_go_with_their_operands():
    graph, block = straight(INT, FLOAT, MATRIX)
    a, b, m = graph.inputs
    used, dead, deader = graph.new_value(WORD), graph.new_value(FLOAT), graph.new_value(FLOAT)
    block.ops = [Op("add", [b, b], {}, dead), Op("neg", [dead], {}, deader), Op("dim", [m], {"axis": 1}, used)]
    block.terminator = Leave(SideExit(graph.exit_number(Exit(5, ("n",), 0, False)), [value(used)]))
    assert simplify(graph) == [2]
    assert [op.name for op in block.ops] == ["dim"] and graph.inputs == block.params == [m]
    verify(graph)


def test_operations_that_may_leave_and_effects_stay():
    graph, block = straight(INT, INT, MATRIX, FLOAT, WORD)
    a, b, m, x, i = graph.inputs
    side = graph.exit_number(Exit(0, (), 0, True))
    block.ops = [Op("floordiv", [a, b], {}, graph.new_value(INT), SideExit(side, [])),
                 Op("store", [m, i, i, x], {}, None), Op("add", [x, x], {}, graph.new_value(FLOAT))]
    assert simplify(graph) == [0, 1, 2, 3, 4]
    assert [op.name for op in block.ops] == ["floordiv", "store"]


def test_inputs_that_leave_as_they_came_are_handed_back_by_identity():
    graph, block = straight(INT, FLOAT, MATRIX)
    a, b, m = graph.inputs
    outputs = [value(m), Output("tuple", None, (value(a), Output("const", "text")))]
    block.terminator = Leave(SideExit(graph.exit_number(Exit(5, ("m", "pair"), 0, False)), outputs))
    assert simplify(graph) == [0, 2]
    assert repr(block.terminator.exit) == "exit1(input1, tuple(input0, const('text')))"


def test_unreachable_blocks_go():
    graph = count_down()
    lost = graph.new_block()
    lost.terminator = Jump(graph.blocks[1], [graph.inputs[0], graph.inputs[1], graph.inputs[2]])
    graph.blocks.insert(1, graph.blocks.pop())
    simplify(graph)
    assert lost not in graph.blocks and [block.index for block in graph.blocks] == [0, 1, 2]
    assert format_graph(verify(graph)) == SIMPLIFIED


def test_parameter_that_two_edges_feed_differently_stays():
    graph = count_down()
    graph.blocks[2].terminator.args = graph.blocks[2].terminator.args[:1] + (graph.blocks[2].ops[2].result,) * 2
    simplify(graph)
    assert len(graph.blocks[1].params) == 3
    verify(graph)


def compared_sizes(needed):
    """``2.0 < abs(z)`` behind another ``abs(z) < x``; a size that is ``needed`` leaves the graph too."""
    graph = Graph("sizes")
    block = graph.new_block()
    z, x = graph.new_value(COMPLEX, "z"), graph.new_value(FLOAT, "x")
    graph.inputs = block.params = [z, x]
    leave, resume = graph.exit_number(Exit(9, ("a", "b"), 0, False)), graph.exit_number(Exit(4, (), 0, True))
    far, near, two = (graph.new_value(FLOAT) for _ in range(3))
    flags = [graph.new_value(FLAG), graph.new_value(FLAG)]
    block.ops = [Op("abs", [z], {}, far, SideExit(resume, [])), Op("abs", [z], {}, near, SideExit(resume, [])),
                 Op("const", [], {"value": 2.0}, two), Op("compare", [two, near], {"operator": "<"}, flags[0]),
                 Op("compare", [far, x], {"operator": "<"}, flags[1])]
    block.terminator = Leave(SideExit(leave, [value(near if needed else flags[0]), value(flags[1])]))
    return graph


@pytest.mark.parametrize("needed", (False, True))
def test_sizes_are_compared_by_squares(needed):
    """Where nothing else needs the size, and nothing in between may leave."""
    graph = compared_sizes(needed)
    compare_magnitudes(verify(graph))
    text = format_graph(verify(graph))
    assert ("compare_size %0, %4 {operator='>'}  else exit1()" in text) is not needed
    assert text.count(" = abs ") == (2 if needed else 1)


def unreachable(graph):
    block = graph.new_block()
    block.terminator = Leave(SideExit(0, [value(graph.inputs[0]), value(graph.inputs[2])]))


def swap(graph, **changes):
    """Replace parts of the operation `sub`."""
    op = graph.blocks[2].ops[1]
    for name, change in changes.items():
        setattr(op, name, change)


BROKEN = {
    "inputs": (lambda g: setattr(g, "inputs", g.inputs[:2]), "parameters are not the graph's inputs"),
    "no blocks": (lambda g: g.blocks.clear(), "parameters are not the graph's inputs"),
    "defined twice": (lambda g: setattr(g.blocks[2].ops[2], "result", g.blocks[2].ops[1].result), "%9 is defined twice"),
    "unreachable": (unreachable, "block b3 is unreachable"),
    "unknown operation": (lambda g: swap(g, name="frobnicate"), "no such operation"),
    "undefined operand": (lambda g: swap(g, args=(Value(99, INT), g.inputs[0])), "%99 is used where it is not defined"),
    "used before": (lambda g: g.blocks[2].ops.reverse(), "%8 is used where it is not defined"),
    "not dominated": (lambda g: setattr(g.blocks[1].ops[1], "args", (g.blocks[1].params[0], g.blocks[2].ops[0].result)),
                      "%8 is used where it is not defined"),
    "attribute": (lambda g: setattr(g.blocks[1].ops[1], "attrs", {}), "attribute operator is missing"),
    "types differ": (lambda g: swap(g, args=(g.blocks[1].params[0], g.blocks[1].params[1])), "operands differ in type"),
    "not an array": (lambda g: swap(g, name="dim", attrs={"axis": 0}), "the first operand must be an array"),
    "no exit": (lambda g: swap(g, exit=SideExit(7, [])), "exit 7 does not exist"),
    "exit values": (lambda g: swap(g, exit=SideExit(1, [value(g.inputs[0])])), "exit 1 needs 2 values, got 1"),
    "exit value": (lambda g: swap(g, exit=SideExit(1, [value(g.inputs[0]), value(g.blocks[2].ops[2].result)])),
                   "%10 leaves where it is not defined"),
    "no terminator": (lambda g: setattr(g.blocks[2], "terminator", None), "no terminator"),
    "condition": (lambda g: setattr(g.blocks[1].terminator, "condition", g.inputs[0]), "the condition is not a FLAG"),
    "terminator value": (lambda g: setattr(g.blocks[2], "terminator", Jump(g.blocks[1], [Value(98, INT)] + list(g.inputs[1:]))),
                         "%98 is used where it is not defined"),
    "too few arguments": (lambda g: setattr(g.blocks[2].terminator, "args", ()), "do not fit its parameters"),
    "argument types": (lambda g: setattr(g.blocks[2].terminator, "args", tuple(g.inputs[:2]) + (g.inputs[0],)),
                       "arguments of the jump to b1 do not fit"),
    "jump to the entry": (lambda g: setattr(g.blocks[2], "terminator", Jump(g.blocks[0], list(g.inputs))),
                          "a jump to the entry block"),
}


@pytest.mark.parametrize("case", sorted(BROKEN))
def test_broken_invariant_is_refused(case):
    breaks, sentence = BROKEN[case]
    graph = count_down()
    assert why_invalid(graph) is None
    breaks(graph)
    with pytest.raises(InvalidGraph) as raised:
        verify(graph)
    assert sentence in str(raised.value).splitlines()[0]


def test_array_argument_may_be_more_special_than_its_parameter():
    graph = Graph("arrays")
    entry, block = graph.new_block(), graph.new_block()
    graph.inputs = entry.params = [graph.new_value(MATRIX)]
    block.params = [graph.new_value(Array(np.dtype("f8"), 2, "A", True))]
    entry.terminator = Jump(block, graph.inputs)
    block.terminator = Leave(SideExit(graph.exit_number(Exit(1, ("m",), 0, False)), [value(block.params[0])]))
    assert why_invalid(graph) is None
    graph.inputs[0].type, block.params[0].type = block.params[0].type, MATRIX
    assert "do not fit its parameters" in why_invalid(graph)


def test_exits_with_the_same_slots_share_a_number_unless_one_is_a_side_exit():
    graph = Graph("exits")
    numbers = [graph.exit_number(Exit(*args)) for args in [(3, ("a",), 0, False), (3, ("a",), 0, True), (3, ("a",), 0, False),
                                                     (3, ("a", "b"), 0, False), (3, ("a",), 1, False), (4, ("a",), 0, False)]]
    assert numbers == [0, 1, 0, 2, 3, 4]
    assert [exit.slots for exit in graph.exits] == [1, 1, 2, 2, 1]


class Silent:
    def __repr__(self):
        raise AssertionError("repr was called")


def leaving(constant, op=None):
    graph, block = straight(INT)
    block.terminator = Leave(SideExit(graph.exit_number(Exit(5, ("c",), 0, False)), [Output("const", constant)]))
    if op is not None:
        block.ops.append(op)
    return graph


def test_text_calls_no_repr_of_the_users():
    assert "const(<Silent>)" in format_graph(leaving(Silent()))
    assert "const(<tuple>)" in format_graph(leaving((Silent(),)))


@pytest.mark.parametrize("one, two", [(Silent(), Silent()), (1, 1.0), (1, True), (0.0, -0.0), ("1", 1), (b"a", "a"),
                                      ((1, 2), (1, 2.0)), (np.float64("nan"), float("nan")),
                                      (float("nan"), -float("nan"))])
def test_key_tells_constants_apart(one, two):
    (key, objects), (other, _) = graph_key(leaving(one)), graph_key(leaving(two))
    assert key != other and graph_key(leaving(one)).key == key and hash(key) == hash(graph_key(leaving(one)).key)
    assert all(held is one for held in objects)


def test_key_tells_ufuncs_of_one_name_apart():
    twin = np.frompyfunc(abs, 1, 1)
    keys = []
    for ufunc in (np.negative, twin):
        graph, block = straight(MATRIX)
        op = Op("ufunc", graph.inputs, {"ufunc": ufunc, "types": "d->d", "loop": 0}, graph.new_value(MATRIX))
        block.ops.append(op)
        keys.append(graph_key(graph).key)
    assert keys[0] != keys[1] and twin in keys[1][1]


def test_numbers_of_scalar_types_differ_in_text():
    texts = set()
    for type in (INT, FLOAT, BOOL, WORD, numpy_scalar(np.dtype("f8")), numpy_scalar(np.dtype("i8")), MATRIX):
        texts.add(format_graph(straight(type)[0]))
    assert len(texts) == 7


@pytest.mark.parametrize("later", [True, False])
def test_what_is_left_for_later_keeps_the_exits_that_it_had(later):
    """``n -= 1`` behind ``n > 0`` cannot overflow."""
    graph = count_down()
    run_passes(graph, later)
    assert (" else exit1" in format_graph(graph)) is later
    kernel = compile_graph(graph, later=later)
    exits = kernel.exits
    assert len(exits) == 1 + later
    assert "overflows" not in kernel.source
    kernel.compile()
    assert kernel.exits == exits
