"""Structured trees of hand-made control flow, and what they compute on both back ends."""

import pytest
from kernel_graphs import BACKENDS, Builder

from pijit.core.graph.ir import Branch, Jump
from pijit.core.graph.types import FLAG, INT, WORD
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.plan.control_tree import format_tree, structure


class Flow:
    """A control-flow graph from text: ``{"a": "b c"}`` is a branch; an empty text leaves.

    Every block appends its number to a trace (a base-31 number) and branches on the next bit of the input.
    """

    def __init__(self, edges):
        self.edges = {name: text.split() for name, text in edges.items()}
        self.numbers = {name: number for number, name in enumerate(edges, 1)}

    def graph(self):
        b = Builder("flow", WORD)
        bits = b.inputs[0]
        blocks = {name: b.block(WORD, WORD) for name in self.edges}
        b.jump(blocks[next(iter(self.edges))], bits, b.const(0, WORD))
        for name, targets in self.edges.items():
            b.at = block = blocks[name]
            bits, trace = block.params
            number, base = b.const(self.numbers[name], WORD), b.const(31, WORD)
            trace = b.op("add", WORD, b.op("mul", WORD, trace, base), number)
            if not targets:
                b.leave(self.numbers[name], trace)
                continue
            one = b.const(1, WORD)
            rest = b.op("shr", WORD, bits, one)
            odd = b.op("truth", FLAG, b.op("and", WORD, bits, one))
            jumps = [Jump(blocks[target], (rest, trace)) for target in targets]
            block.terminator = Branch(odd, *jumps) if len(jumps) == 2 else jumps[0]
        return b

    def walk(self, bits):
        name, trace = next(iter(self.edges)), 0
        while True:
            trace = (trace * 31 + self.numbers[name] + 2 ** 63) % 2 ** 64 - 2 ** 63
            targets = self.edges[name]
            if not targets:
                return self.numbers[name], trace
            name = targets[0] if bits & 1 or len(targets) == 1 else targets[1]
            bits >>= 1


FLOWS = {
    "diamond": {"a": "b c", "b": "d", "c": "d", "d": ""},
    "half diamond": {"a": "b d", "b": "d", "d": ""},
    "loop": {"head": "body out", "body": "head", "out": ""},
    "do while": {"body": "more out", "more": "body", "out": ""},
    "nested loops": {"o": "i out", "i": "ib oe", "ib": "i", "oe": "o", "out": ""},
    "two back edges": {"h": "x out", "x": "y z", "y": "h", "z": "h", "out": ""},
    "for else with break": {"h": "body else", "body": "brk h", "brk": "out", "else": "out", "out": ""},
    "early exit from inner loop": {"o": "i out", "i": "ib oe", "ib": "leave i", "leave": "", "oe": "o",
                                   "out": ""},
    "continue outer from inner": {"o": "i out", "i": "ib oe", "ib": "o i", "oe": "o", "out": ""},
    "break outer from inner": {"o": "i out", "i": "ib oe", "ib": "found i", "oe": "o", "found": "out",
                               "out": ""},
    "three levels": {"a": "b out", "b": "c ae", "c": "d be", "d": "e f", "e": "a g", "g": "b h",
                     "h": "c out2",
                     "f": "c", "be": "b", "ae": "a", "out2": "out", "out": ""},
    "join after many": {"a": "b c", "b": "d e", "c": "e f", "d": "g", "e": "f g", "f": "g", "g": ""},
    "loop in arm": {"a": "h c", "h": "x j", "x": "h", "c": "j", "j": "k l", "k": "", "l": ""},
    "self loop": {"s": "s out", "out": ""},
    "two exits join later": {"h": "x e1", "x": "h e2", "e1": "m n", "e2": "n m", "m": "z", "n": "z", "z": ""},
    "short circuit": {"h": "c1 out", "c1": "then c2", "c2": "then else", "then": "h", "else": "h", "out": ""},
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", sorted(FLOWS))
def test_every_path(name, backend):
    flow = Flow(FLOWS[name])
    run = flow.graph().run(backend)
    for bits in range(256 if backend == "numba" else 64):
        if terminates(flow, bits):
            assert run(bits) == flow.walk(bits), (bits, run.kernel.source)


def terminates(flow, bits):
    """Whether the walk ends: after the bits all branches take their second target."""
    name, steps = next(iter(flow.edges)), 0
    while flow.edges[name]:
        targets = flow.edges[name]
        name = targets[0] if bits & 1 or len(targets) == 1 else targets[1]
        bits >>= 1
        steps += 1
        if steps > 200:
            return False
    return True


def test_every_flow_terminates_for_some_input():
    for edges in FLOWS.values():
        assert any(terminates(Flow(edges), bits) for bits in range(64))


def test_irreducible():
    flow = Flow({"a": "b c", "b": "c out", "c": "b", "out": ""})
    with pytest.raises(CompileError, match="irreducible control flow"):
        structure(flow.graph().graph)


def test_for_loop_reads_as_one():
    """A loop with one way out is a plain `while True`, with what follows behind it."""
    b = Builder("plain", INT)
    head, body, done, after = b.block(), b.block(), b.block(), b.block()
    b.jump(head)
    b.at = head
    flag = b.op("truth", FLAG, b.inputs[0])
    b.branch(flag, body, done)
    b.at = body
    b.jump(head)
    b.at = done
    b.jump(after)
    b.at = after
    b.leave(1)
    assert format_tree(structure(b.graph)) == "\n".join((
        "b0", "while True:", "    b1", "    if %2:".replace("%2", repr(flag)), "        b2", "    else:",
        "        break", "b3", "b4", "leave exit0"))


def test_a_long_chain_needs_no_deep_nesting():
    b = Builder("chain", INT)
    for number in range(300):
        found, other = b.block(), b.block()
        b.branch(b.op("compare", FLAG, b.inputs[0], b.const(number, INT), operator="=="), found, other)
        b.at = found
        b.leave(number + 1)
        b.at = other
    b.leave(0)
    run = b.run("python")
    assert run(0) == (1,) and run(299) == (300,) and run(1000) == (0,)
