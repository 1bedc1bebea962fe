"""The passes over a graph, in order, and what shows their work."""

from __future__ import annotations

import contextlib
import threading
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from pijit.core.graph.ir import Graph
from pijit.core.graph.passes.compare_magnitude import compare_sizes
from pijit.core.graph.passes.cse_masks import join_masks
from pijit.core.graph.passes.eliminate_checks import drop_checks
from pijit.core.graph.passes.hoist_exits import retreat
from pijit.core.graph.passes.merge_blocks import join_blocks
from pijit.core.graph.passes.out_of_place import renew
from pijit.core.graph.passes.rematerialize import repeat
from pijit.core.graph.passes.simplify import simplify
from pijit.core.graph.passes.store_to_load_forwarding import carry_stored
from pijit.core.graph.passes.strip_mining import cut_into_strips
from pijit.core.graph.printer import format_graph


class Stage(NamedTuple):
    """A graph after a pass that has changed it, without its name; the first stage is before all passes."""

    name: str
    text: str


Stages = Dict[str, List[Stage]]


def run_passes(graph: Graph, later: bool = False) -> List[int]:
    """Run all passes; the inputs that are left, by their number before.

    With ``later``, `improve` is left to who needs the graph's kernel, if ever somebody does.
    """
    _note(graph, "before passes")
    kept = simplify(graph)
    _note(graph, "after simplify")
    if not later:
        improve(graph)
    return kept


def improve(graph: Graph) -> None:
    """Run the passes that make a kernel faster."""
    for name, run in PASSES:
        run(graph)
        _note(graph, "after " + name)


PASSES: Tuple[Tuple[str, Callable[[Graph], None]], ...] = (("compare_sizes", compare_sizes),
                                                          ("join_masks", join_masks),
                                                          ("renew", renew),
                                                          ("repeat", repeat),
                                                          ("retreat", retreat),
                                                          ("drop_checks", drop_checks),
                                                          ("carry_stored", carry_stored),
                                                          ("cut_into_strips", cut_into_strips),
                                                          ("join_blocks", join_blocks))
"""Those behind `simplify`: inputs stay as they are, and each exit leaves with the same kinds of values, or is gone."""



class _Here(threading.local):
    found: Optional[Stages] = None


_here = _Here()


@contextlib.contextmanager
def recorded(on: bool = True) -> Iterator[Stages]:
    """Note the stages of each graph that this thread makes, by its name: of one that is made again, the last ones.

    If not ``on``, what an outer one notes, or nothing.
    """
    before = _here.found
    if on:
        _here.found = {}
    try:
        yield {} if _here.found is None else _here.found
    finally:
        _here.found = before


def _note(graph: Graph, name: str) -> None:
    found = _here.found
    if found is None or graph.name not in found and name != "before passes":
        return
    text = format_graph(graph).partition("\n")[2]
    stages = [] if name == "before passes" else found[graph.name]
    if not stages or stages[-1].text != text:
        found[graph.name] = stages + [Stage(name, text)]
