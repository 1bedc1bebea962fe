"""Training steps: jitted, in both modes, and with scaled losses, they have the bits of plain steps; kernels run."""

import numpy as np
import pytest

import pijit
from pijit.core.pythons import why_not_python
from tests.ms.test_kernel_gradients import compare

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

STEPS = 12
SOURCE = np.random.RandomState(4)
IMAGES, LABELS = SOURCE.standard_normal((16, 6)).astype("f"), SOURCE.randint(0, 3, 16)


class Parts:
    """A perceptron with its loss, its optimizer and a loss scaler."""

    def __init__(self, optimizer="Adam"):
        import pijit.ms as ms
        from pijit.ms import amp, nn

        ms.set_seed(3)
        self.network = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3))
        self.loss = nn.WithLossCell(self.network, nn.CrossEntropyLoss())
        self.optimizer = getattr(nn, optimizer)(self.network.trainable_params(), 0.02)
        self.scaler = amp.DynamicLossScaler(1024, 2, 3)

    def differentiated(self, forward):
        import pijit.ms as ms

        self.forward = forward
        return ms.value_and_grad(forward, None, self.network.trainable_params())


def function(parts):
    gradient = parts.differentiated(lambda x, y: parts.loss(x, y))

    def step(x, y):
        loss, gradients = gradient(x, y)
        parts.optimizer(gradients)
        return loss
    return step


def scaled(parts):
    from pijit.ms import amp

    gradient = parts.differentiated(lambda x, y: parts.scaler.scale(parts.loss(x, y)))

    def step(x, y):
        loss, gradients = gradient(x, y)
        finite = amp.all_finite(gradients)
        gradients = parts.scaler.unscale(gradients)
        if finite:
            parts.optimizer(gradients)
        parts.scaler.adjust(finite)
        return parts.scaler.unscale(loss)
    return step


def cell(parts):
    from pijit.ms import nn

    parts.forward = parts.loss
    return nn.TrainOneStepCell(parts.loss, parts.optimizer)


def cell_with_adjoint(parts):
    from pijit.ms import nn

    parts.forward = parts.loss
    return nn.TrainOneStepCell(parts.loss, parts.optimizer, sens=8.0)


def cell_with_scale(parts):
    from pijit.ms import nn

    parts.forward = parts.loss
    step = nn.TrainOneStepWithLossScaleCell(parts.loss, parts.optimizer, nn.DynamicLossScaleUpdateCell(1024.0, 2, 3))
    parts.scaler = step
    return step


WAYS = (function, scaled, cell, cell_with_adjoint, cell_with_scale)


def trained(parts, step):
    """The bits of losses, parameters and moments after some steps."""
    import pijit.ms as ms

    x, y = ms.Tensor(IMAGES), ms.Tensor(LABELS)
    found = [step(x, y) for _ in range(STEPS)]
    listed = [one for each in found for one in (each if isinstance(each, tuple) else (each,))]
    listed += [*parts.network.get_parameters(), *parts.optimizer.get_parameters()]
    return [(one.dtype, one.shape, one.asnumpy().tobytes()) for one in listed]


def plain(way, monkeypatch):
    """What steps give whose gradients are the tape's."""
    from pijit.ms import kernel_gradients

    parts = Parts()
    with monkeypatch.context() as patched:
        patched.setattr(kernel_gradients, "kernel_gradients", lambda *args: None)
        return trained(parts, way(parts))


def ran_a_kernel(parts):
    from pijit.ms import kernel_gradients

    return kernel_gradients._known[parts.forward] and kernel_gradients.why_not(parts.forward) == ""


@pytest.mark.parametrize("way", WAYS)
def test_jitted_steps(way, monkeypatch):
    import pijit.ms as ms

    parts = Parts()
    step = ms.jit(way(parts))
    assert trained(parts, step) == plain(way, monkeypatch)
    assert ran_a_kernel(parts)


@pytest.mark.parametrize("way", WAYS)
def test_steps_in_graph_mode(way, monkeypatch):
    """Cells run as graphs, and the gradients of a cell are those of one graph that contains its cells."""
    import pijit.ms as ms

    wanted, parts = plain(way, monkeypatch), Parts()
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert trained(parts, way(parts)) == wanted
        assert ran_a_kernel(parts)
        jitted = Parts()
        assert trained(jitted, ms.jit(way(jitted))) == wanted
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("way", (cell_with_adjoint, cell_with_scale))
def test_an_update_is_one_kernel(way):
    """What follows the gradients in a step has no break."""
    import pijit.ms as ms

    parts = Parts()
    step = way(parts)
    gradients = tuple(ms.Tensor(one.asnumpy() * np.float32(0.5)) for one in parts.network.trainable_params())
    more = (ms.Tensor(1024.0),) if way is cell_with_scale else ()
    name = "_update_unscaled" if way is cell_with_scale else "_update"
    update = pijit.jit(getattr(type(step), name))
    for _ in range(4):
        update(step, gradients, *more)
    assert pijit.get_code_extra(update).break_count_ == 0 and update.graphs


def test_cells_in_graph_mode_are_captured_whole():
    import pijit.ms as ms

    parts, x = Parts(), ms.Tensor(IMAGES)
    wanted = parts.network(x).asnumpy().tobytes()
    jitted = ms.jit(lambda x: parts.network(x))
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert [jitted(x).asnumpy().tobytes() for _ in range(3)] == [wanted] * 3
        assert pijit.get_code_extra(jitted).break_count_ == 0
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert jitted(x).asnumpy().tobytes() == wanted


@pytest.mark.parametrize("adjoint", (np.float32(1024.0), np.float32(-0.0), np.float64(0.3), np.float16(3.0)))
def test_given_adjoints(adjoint, monkeypatch):
    import pijit.ms as ms

    parts = Parts()
    weights, x, y, adjoint = parts.network.trainable_params(), ms.Tensor(IMAGES), ms.Tensor(LABELS), ms.Tensor(adjoint)
    of_weights = ms.ops.GradOperation(get_by_list=True, sens_param=True)
    of_all = ms.ops.GradOperation(get_all=True, get_by_list=True, sens_param=True)
    squares = half_squares(parts.network)
    for cell, run in ((parts.loss, lambda: of_weights.with_value(parts.loss, (x, y, adjoint), weights)),
                      (squares, lambda: of_all.with_value(squares, (x, adjoint), weights))):
        ran = [compare(run, cell, monkeypatch) for _ in range(4)]
        assert ran[2:] == [True, True]


def half_squares(network):
    from pijit.ms import nn

    class HalfSquares(nn.Cell):
        def __init__(self):
            super().__init__()
            self.network = network

        def construct(self, x):
            r = self.network(x)
            return (r * r).sum() * 0.5

    return HalfSquares()


def test_an_adjoint_of_another_shape_is_refused():
    import pijit.ms as ms

    parts = Parts()
    gradient = ms.ops.GradOperation(get_by_list=True, sens_param=True)(parts.loss, parts.network.trainable_params())
    for _ in range(4):
        gradient(ms.Tensor(IMAGES), ms.Tensor(LABELS), ms.Tensor(2.0))
        with pytest.raises(ValueError):
            gradient(ms.Tensor(IMAGES), ms.Tensor(LABELS), ms.Tensor([1.0, 2.0]))


@pytest.mark.filterwarnings("ignore:overflow")
def test_loss_scales_are_adjusted_in_kernels():
    """Growth, its end where the scale would not be finite, and the fall after an overflow, to 1 at least."""
    import pijit.ms as ms
    from pijit.ms import amp, nn

    def scales(jitted):
        scaler, found = amp.DynamicLossScaler(3.0, 2 ** 9, 2), []
        cell, of_cell = nn.DynamicLossScaleUpdateCell(3.0, 2 ** 9, 2), ms.Parameter(ms.Tensor(3.0), name="scale")
        adjust, update = scaler.adjust, cell
        if jitted:
            adjust, update = ms.jit(lambda finite: scaler.adjust(finite)), ms.jit(lambda *args: cell(*args))
        for number in range(60):
            finite = number < 40 or number % 3 == 0
            adjust(ms.Tensor(finite))
            update(of_cell, ms.Tensor(not finite))
            found.append((float(scaler.scale_value), int(scaler.counter), float(of_cell), int(cell.cur_iter)))
        breaks = [pijit.get_code_extra(one).break_count_ for one in (adjust, update)] if jitted else [0, 0]
        return found, breaks

    assert scales(True) == scales(False)
