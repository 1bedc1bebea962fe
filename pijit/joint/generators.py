"""Random generators of joint functions: which inputs they are, and their states before a call.

A joint function may give a call up after it has drawn numbers. The tape repeats the call, so the generators get their
states back first. `pijit/joint/entry.py` does that. Numbers that another thread draws meanwhile are drawn again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Sequence, Tuple

import numpy as np

from pijit.core.graph.reverse.errors import Irreversible

if TYPE_CHECKING:
    from pijit.core.graph.ir import Graph

GeneratorStates = List[Tuple[Any, Any]]
"""Generators with their states."""


def generators_of(graph: Graph) -> Tuple[int, ...]:
    """The positions of the inputs that a graph draws random numbers from.

    Raises:
        Irreversible: it draws from a generator that is no input.
    """
    from pijit.core.graph.ops import DRAWING

    drawn = {op.args[0] for block in graph.blocks for op in block.ops if op.name in DRAWING}
    if not drawn.issubset(graph.inputs):
        raise Irreversible("a random generator that the function takes from another object")
    return tuple(position for position, value in enumerate(graph.inputs) if value in drawn)


def states_of(inputs: Sequence[Any], positions: Sequence[int]) -> GeneratorStates:
    """The generators among the inputs, and their states; ``positions`` are those of `generators_of`."""
    generators = [inputs[position] for position in positions]
    return [(one, one.get_state(legacy=False) if isinstance(one, np.random.RandomState) else one.bit_generator.state)
            for one in generators]


def restore(states: GeneratorStates) -> None:
    """Give the generators their states back."""
    for generator, state in states:
        if isinstance(generator, np.random.RandomState):
            generator.set_state(state)
        else:
            generator.bit_generator.state = state
