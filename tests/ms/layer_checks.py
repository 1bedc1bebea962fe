"""Checks of layers: capture as a whole, and gradients against central differences."""

import numpy as np

import pijit


def calling(count):
    """A new `construct` of a cell that calls another with this number of inputs."""
    return {1: lambda self, x: self.inner(x), 2: lambda self, x, y: self.inner(x, y), 3: lambda self, x, y, z: self.inner(x, y, z)}[count]


def captured_whole(cell, *inputs):
    """Fail unless the jitted cell is captured without a break and gives the same bits as the cell in each call."""
    import pijit.ms as ms

    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = cell

    Net.construct = ms.jit(calling(len(inputs)))
    net, wanted = Net(), cell(*inputs).asnumpy().copy()
    for _ in range(3):
        got = net(*inputs).asnumpy()
        assert (got.dtype, got.shape, got.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())
    extra = pijit.get_code_extra(Net.construct)
    assert extra["stat"] == "GRAPH_CALLABLE" and extra["break_count_"] == 0, extra
    return wanted


def gradients_agree(cell, *inputs, by=None, every=1):
    """Fail unless gradients by float64 inputs and weights agree with central differences.

    Args:
        cell: the cell, with float64 parameters.
        inputs: tensors.
        by: positions of the differentiated inputs; by default those of float64.
        every: each n-th element is compared, for this n.
    """
    import pijit.ms as ms

    if by is None:
        by = tuple(k for k, one in enumerate(inputs) if one.asnumpy().dtype == np.float64)
    factors = ms.Tensor(np.cos(np.arange(cell(*inputs).size)).reshape(cell(*inputs).shape))
    weights = ms.ParameterTuple(cell.trainable_params())

    def total(*given):
        return (cell(*given) * factors).sum()

    if weights:
        _, (of_inputs, of_weights) = ms.value_and_grad(total, by, weights)(*inputs)
    else:
        of_inputs, of_weights = ms.value_and_grad(total, by)(*inputs)[1], ()
    of_inputs = of_inputs if isinstance(of_inputs, tuple) else (of_inputs,)
    leaves = [inputs[k] for k in by] + list(weights)
    for leaf, found in zip(leaves, tuple(of_inputs) + tuple(of_weights)):
        array, g = leaf.asnumpy(), found.asnumpy()
        assert g.shape == array.shape and g.dtype == array.dtype == np.float64
        for index in list(np.ndindex(*array.shape))[::every]:
            ends, kept = [], array[index]
            for step in (1e-6, -1e-6):
                array[index] = kept + step
                ends.append(total(*inputs).item())
            array[index] = kept
            assert abs(g[index] - (ends[0] - ends[1]) / 2e-6) < 2e-7 * (1 + abs(g[index])), (index, g[index], ends)
