"""Texts of gradient kernels, for `pijit.dump` and `print_after_all`: the parts that ordinary captures have, too.

`JointPart` makes them once its kernel is compiled, if it is asked to. They keep no value of the user's.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, Sequence

from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.graph.ir import Graph
    from pijit.core.graph.passes import Stage


class KernelTexts(NamedTuple):
    """What one kernel of a gradient was made from; the attributes are those of `PARTS` in `reporting/printing.py`.

    Attributes:
        name: the name of the part of the joint function.
        graph: the graph after all passes.
        passes: the graph before all passes, and after each pass that changed it.
        plan: what was decided before the source was written.
        source: the source that becomes machine code.
    """

    name: str
    graph: str
    passes: str
    plan: str
    source: str

    def files(self) -> Dict[str, str]:
        """The texts by file name."""
        named = [("graph", self.graph), ("passes", self.passes), ("plan", self.plan)]
        found = {"%s_%s.txt" % (part, self.name): text.rstrip("\n") + "\n" for part, text in named if text}
        return {**found, "kernel_%s.py" % self.name: self.source}


def kernel_texts(name: str, graph: Graph, stages: Sequence[Stage], kernel: Any) -> KernelTexts:
    """The texts of a compiled kernel; ``stages`` are those of its graph."""
    from pijit.core.graph.printer import format_graph

    passes = "\n".join("%s:\ngraph %s\n%s" % (stage.name, name, stage.text) for stage in stages)
    return KernelTexts(name, format_graph(graph), passes, kernel.plan, kernel.source)


def print_texts(texts: KernelTexts) -> None:
    """Print the texts of a kernel as `print_after_all` prints those of a capture."""
    from pijit.reporting.printing import PARTS, section

    for part in PARTS if sys.stdout is not None else ():
        if hasattr(texts, part.attribute):
            sys.stdout.write(section(part, texts) + "\n")
