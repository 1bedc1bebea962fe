"""Array layouts: which words of arrays are known before a line is written, and which are certain to be equal."""

import numpy as np
import pytest
from kernel_graphs import Builder

from pijit.core.graph.types import WORD, Array
from pijit.core.kernel.plan.array_layouts import ArrayLayouts, are_one
from pijit.core.kernel.plan.graph_facts import GraphFacts

D = np.dtype(float)
C1, A1, C2, A2 = Array(D, 1, "C"), Array(D, 1, "A"), Array(D, 2, "C"), Array(D, 2, "A")


class Graphs(Builder):
    """Writes views and ufuncs."""

    def view(self, x, kind, index, *bounds):
        """A view; numbers among the bounds become constants."""
        words = [self.const(bound, WORD) if isinstance(bound, int) else bound for bound in bounds]
        return self.op("view", kind, x, *words, index=index, exit=self.exit(9))

    def sum_of(self, x, y, kind):
        return self.op("ufunc", kind, x, y, ufunc=np.add, types="dd->d", loop=0, exit=self.exit(9))

    def layouts(self, *values):
        """The layouts of some arrays."""
        self.leave(9)
        found = ArrayLayouts(self.graph, GraphFacts(self.graph, False).constants)
        for op in self.graph.blocks[0].ops:
            found.add(op)
        return [found.of[value] for value in values]


def test_the_order_of_an_array_gives_a_stride():
    b = Graphs("f", C2, A2, Array(D, 2, "F"))
    c, a, f = b.layouts(*b.inputs)
    assert c.strides[-1] == 8 and f.strides[0] == 8 and 8 not in a.strides
    assert (c.last_stride, a.last_stride) == ("u", "?")
    assert f.has_transposed_order and not c.has_transposed_order and not a.has_transposed_order


@pytest.mark.parametrize("step, kind", [(1, "u"), (2, "2"), (-1, "r"), (7, "?")])
def test_steps_of_slices_give_strides(step, kind):
    b = Graphs("f", C1)
    x = b.view(b.inputs[0], A1, ("s--v",), step)
    layout, = b.layouts(x)
    assert layout.strides == (8 * step,) and layout.last_stride == kind


def test_bounds_that_are_copies_of_one_value_are_equal():
    b = Graphs("f", C1, WORD)
    x, n = b.inputs
    views = [b.view(x, C1, ("sv--",), b.op("same", WORD, n)) for _ in range(2)]
    one, other = b.layouts(*views)
    assert are_one(one, other)


def test_equal_slices_are_the_same_elements():
    b = Graphs("f", C2, WORD, WORD)
    x, m, n = b.inputs
    views = [b.view(x, A2, ("svv-", "e"), *bounds) for bounds in ((1, -1), (1, -1), (2, -1), (m, n), (m, n), (n, m))]
    found = b.layouts(*views)
    alike = [(one, other) for one in range(6) for other in range(one) if are_one(found[one], found[other])]
    assert alike == [(1, 0), (4, 3)]
    assert len({layout.strides for layout in found}) == 1


def test_slices_that_drop_equally_many_elements_have_one_length():
    b = Graphs("f", C1)
    x, = b.inputs
    left, middle, right, short = (b.view(x, A1, ("svv-",), *ends) for ends in ((0, -2), (1, -1), (2, -9), (3, -4)))
    left, middle, right, short = b.layouts(left, middle, right, short)
    assert left.shape == middle.shape != right.shape != short.shape
    assert left.data is not middle.data


def test_parts_of_two_arrays_differ():
    b = Graphs("f", C1, C1)
    one, other = b.layouts(*[b.view(x, A1, ("sv--",), 1) for x in b.inputs])
    assert not are_one(one, other) and one.shape != other.shape


def test_transposing_twice_gives_the_same_elements():
    b = Graphs("f", C2)
    x, = b.inputs
    t = b.op("transpose", Array(D, 2, "F"), x, axes=(1, 0))
    back = b.op("transpose", C2, t, axes=(1, 0))
    first, turned, last = b.layouts(x, t, back)
    assert are_one(first, last) and not are_one(first, turned) and turned.has_transposed_order


def test_sizes_that_were_broadcast_fit_their_parts():
    b = Graphs("f", C1, C1)
    x, y = b.inputs
    total = b.sum_of(x, y, C1)
    again = b.sum_of(total, x, C1)
    first, one, other = b.layouts(x, total, again)
    assert one.shape == other.shape != first.shape and one.data is not other.data


def test_rolled_arrays_are_never_the_same_elements():
    b = Graphs("f", C1)
    x, = b.inputs
    rolled = b.op("roll", C1, x, b.const(1, WORD), axis=0)
    b.leave(9)
    found = ArrayLayouts(b.graph, GraphFacts(b.graph, False).constants)
    for op in b.graph.blocks[0].ops:
        found.add(op)
    placed = found.placed(b.graph.blocks[0].ops)
    assert placed[rolled].strides == placed[x].strides and not are_one(placed[rolled], placed[x])


def test_copies_of_constants_are_constants():
    b = Graphs("f", C1)
    number = b.op("same", WORD, b.const(3, WORD))
    layout, = b.layouts(b.view(b.inputs[0], A1, ("s--v",), number))
    assert layout.strides == (24,)
