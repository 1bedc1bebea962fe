"""A small builder for graphs, and a caller through the real launcher."""

from __future__ import annotations

from pijit.core import _launcher
from pijit.core.graph.ir import Branch, Exit, Graph, Jump, Leave, Op, Output, SideExit
from pijit.core.graph.verify import verify
from pijit.core.kernel.compile import compile_graph

BACKENDS = ("numba", "python")


class Builder:
    """Writes one graph. ``self.at`` is the block that operations go to."""

    def __init__(self, name, *types):
        self.graph = Graph(name)
        self.at = self.graph.new_block()
        for kind in types:
            self.graph.inputs.append(self.graph.new_value(kind))
        self.at.params = self.graph.inputs

    @property
    def inputs(self):
        return self.graph.inputs

    def block(self, *types):
        block = self.graph.new_block()
        block.params = [self.graph.new_value(kind) for kind in types]
        return block

    def op(self, name, kind, *args, exit=None, **attrs):
        result = None if kind is None else self.graph.new_value(kind)
        self.at.ops.append(Op(name, args, attrs, result, exit))
        return result

    def const(self, value, kind):
        return self.op("const", kind, value=value)

    def exit(self, target, *values):
        """A side exit to instruction ``target``; values may be SSA values or outputs."""
        outputs = [value if isinstance(value, Output) else Output("value", value) for value in values]
        number = self.graph.exit_number(Exit(target, tuple("x%d" % i for i in range(len(outputs))), 0, True))
        return SideExit(number, outputs)

    def jump(self, block, *args):
        self.at.terminator = Jump(block, args)

    def branch(self, condition, then, other):
        def arm(item):
            return item if isinstance(item, (SideExit, Jump)) else Jump(item, ())
        self.at.terminator = Branch(condition, arm(then), arm(other))

    def leave(self, target, *values):
        self.at.terminator = Leave(self.exit(target, *values))

    def run(self, backend):
        """A function of the inputs that returns (graph exit's target, values...)."""
        return Runner(verify(self.graph), backend)


class Runner:
    def __init__(self, graph, backend):
        self.graph = graph
        self.kernel = kernel = compile_graph(graph, backend)
        width = max(exit.slots for exit in graph.exits)
        self.launcher = _launcher.Launcher(
            None, {}, {}, kernel.inputs, kernel.words, kernel.output_word, kernel.kernel,
            tuple(codes for _, codes in kernel.exits), width, kernel.name, kernel.owner)

    def __call__(self, *args):
        answer = self.launcher.callable(*args)
        if answer[0] < 0:
            return ("miss",)
        exit = self.graph.exits[self.kernel.exits[answer[0]][0]]
        return (exit.target,) + answer[len(answer) - exit.slots:]
