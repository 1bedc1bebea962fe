"""Gradients of cells by kernels: the tape's bits; what a kernel cannot do uses the tape."""

import gc
import threading
import weakref

import numpy as np
import pytest

import pijit
from pijit.core.kernel import disk_cache
from pijit.core.pythons import why_not_python

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

RANDOM = np.random.RandomState(3)
IMAGES, CLASSES = RANDOM.rand(6, 5).astype(np.float32), np.array([0, 2, 1, 2, 0, 1], np.int32)
TARGETS = RANDOM.rand(6, 3).astype(np.float32)


def perceptron(*more):
    from pijit.ms import nn

    return nn.SequentialCell(nn.Dense(5, 4), nn.ReLU(), *more, nn.Dense(4, 3))


def with_loss(network, loss):
    from pijit.ms import nn

    return nn.WithLossCell(network, loss)


def networks():
    from pijit.ms import nn

    class Gated(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one, self.other = nn.Dense(5, 3), nn.Dense(5, 3, has_bias=False)
            self.gate, self.scale = nn.Sigmoid(), 0.5

        def construct(self, x):
            return self.one(x) * self.gate(self.other(x)) * self.scale

    return {"cross entropy": (with_loss(perceptron(), nn.CrossEntropyLoss()), CLASSES),
            "mean squares": (with_loss(perceptron(nn.Tanh()), nn.MSELoss()), TARGETS),
            "batch norm": (with_loss(perceptron(nn.BatchNorm1d(4)), nn.MSELoss()), TARGETS),
            "gates": (with_loss(Gated(), nn.L1Loss()), TARGETS),
            "float64": (with_loss(nn.Dense(5, 3, dtype=np.float64), nn.MSELoss()), TARGETS.astype(np.float64))}


def layers():
    """Networks with layers that loop over windows, positions or time, with their images."""
    from pijit.ms import nn

    class Last(nn.Cell):
        def __init__(self, layer, size):
            super().__init__()
            self.layer, self.dense = layer, nn.Dense(size, 3)

        def construct(self, x):
            r = self.layer(x)
            return self.dense((r[0] if isinstance(r, tuple) else r)[:, -1])

    class Attention(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = nn.MultiheadAttention(8, 2, batch_first=True)

        def construct(self, x):
            return self.layer(x, x, x)

    images, series = RANDOM.rand(6, 2, 6, 6).astype("f"), RANDOM.rand(6, 4, 8).astype("f")
    flat = nn.SequentialCell(nn.Flatten(), nn.Dense(27, 3))
    return {"convolution": (nn.SequentialCell(nn.Conv2d(2, 3, 3, has_bias=True), nn.BatchNorm2d(3), nn.ReLU(),
                                              nn.MaxPool2d(2, 2), flat), images),
            "strides": (nn.SequentialCell(nn.Conv2d(2, 3, 2, stride=2, pad_mode="pad", padding=0), nn.AvgPool2d(1, 1),
                                          nn.Flatten(), nn.Dense(27, 3)), images),
            "layer norm": (Last(nn.LayerNorm((8,)), 8), series), "lstm": (Last(nn.LSTM(8, 5, batch_first=True), 5), series),
            "gru": (Last(nn.GRU(8, 5, num_layers=2, batch_first=True), 5), series),
            "embedding": (Last(nn.Embedding(9, 4), 4), (series[:, :, 0] * 9).astype(np.int32)),
            "attention": (Last(Attention(), 8), series)}


def arrays(found):
    """All arrays of a result, in order."""
    if isinstance(found, (tuple, list)):
        return [array for one in found for array in arrays(one)]
    return [found.asnumpy()]


def compare(run, cell, monkeypatch):
    """Whether a call ran a kernel; its results have the bits of the tape's."""
    from pijit.ms import kernel_gradients

    got = arrays(run())
    why = kernel_gradients.why_not(cell)
    with monkeypatch.context() as patched:
        patched.setattr(kernel_gradients, "kernel_gradients", lambda *args: None)
        wanted = arrays(run())
    for one, other in zip(got, wanted):
        assert (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, other.strides)
        assert one.tobytes() == other.tobytes()
    assert len(got) == len(wanted)
    return why == ""


def kinds(cell):
    from pijit.ms import kernel_gradients

    return {type(part.usual).__name__ for one in kernel_gradients._known[cell].values() for entry in one.kernels.entries
            for part in (entry.function, entry.backward) if part is not None}


@pytest.mark.parametrize("name", ["cross entropy", "mean squares", "batch norm", "gates", "float64"])
def test_bits_are_the_tapes(name, monkeypatch):
    import pijit.ms as ms

    cell, labels = networks()[name]
    x, y = ms.Tensor(IMAGES.astype(labels.dtype) if name == "float64" else IMAGES), ms.Tensor(labels)
    gradient = ms.value_and_grad(cell, 0, cell.trainable_params())
    ran = [compare(lambda: gradient(x, y), cell, monkeypatch) for _ in range(5)]
    assert ran[2:] == [True] * 3
    if disk_cache.SUPPORTED and np.__version__ >= "2":  # NumPy 1's float32 numbers become arrays in some rules
        assert kinds(cell) == {"KernelFunction"}
    fewer = ms.Tensor(x.asnumpy()[:4].copy()), ms.Tensor(labels[:4].copy())
    assert compare(lambda: gradient(*fewer), cell, monkeypatch)


@pytest.mark.parametrize("name", ["convolution", "strides", "layer norm", "lstm", "gru", "embedding", "attention"])
def test_layers(name, monkeypatch):
    import pijit.ms as ms
    from pijit.ms import nn

    network, images = layers()[name]
    cell = with_loss(network, nn.CrossEntropyLoss())
    x, y = ms.Tensor(images), ms.Tensor(CLASSES)
    gradient = ms.value_and_grad(cell, None, cell.trainable_params())
    ran = [compare(lambda: gradient(x, y), cell, monkeypatch) for _ in range(4)]
    assert ran[2:] == [True] * 2
    if name in ("strides", "embedding"):  # others take longer to compile
        fewer = ms.Tensor(images[:4].copy()), ms.Tensor(CLASSES[:4].copy())
        assert compare(lambda: gradient(*fewer), cell, monkeypatch)


def test_dropout_draws_once_for_the_value_and_the_gradients():
    import pijit.ms as ms
    from pijit.ms import kernel_gradients, nn

    ms.set_seed(3)
    cell = with_loss(perceptron(nn.Dropout(p=0.3)), nn.CrossEntropyLoss())
    cell.set_train(True)
    x, y = ms.Tensor(IMAGES), ms.Tensor(CLASSES)

    def run(calls, uses_tape):
        ms.set_seed(7)
        found = []
        for _ in range(calls):
            gradient = ms.value_and_grad(cell, None, cell.trainable_params())
            found.append([one.tobytes() for one in arrays(gradient(x, y))])
            assert uses_tape or len(found) <= 2 or kernel_gradients.why_not(cell) == ""
        return found

    got = run(6, False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kernel_gradients, "kernel_gradients", lambda *args: None)
        assert got == run(6, True)
    assert len({value for value, *_ in got}) == 6


def forward_functions():
    """Functions as training loops define them: (function, whether it has auxiliary results)."""
    import pijit.ms as ms
    from pijit.ms import nn

    network, loss = perceptron(nn.Tanh()), nn.CrossEntropyLoss()

    def forward(x, y):
        logits = network(x)
        return loss(logits, y)

    def with_logits(x, y):
        logits = network(x)
        return loss(logits, y), logits

    def with_inputs(x, y):
        logits = network(x)
        return loss(logits, y), y, x, logits * 2.0

    def twice(x, y):
        logits = network(x)
        return loss(logits, y), logits, logits

    @ms.jit
    def compiled(x, y):
        return loss(network(x), y)

    return network, {"loss": (forward, False), "logits": (with_logits, True), "inputs": (with_inputs, True),
                     "twice": (twice, True), "jitted": (compiled, False)}


@pytest.mark.parametrize("name", ["loss", "logits", "inputs", "twice", "jitted"])
@pytest.mark.parametrize("place", [None, 0])
def test_functions_of_tensors(name, place, monkeypatch):
    import pijit.ms as ms
    from pijit.ms import kernel_gradients

    network, functions = forward_functions()
    function, has_aux = functions[name]
    x, y = ms.Tensor(IMAGES), ms.Tensor(CLASSES)
    gradient = ms.value_and_grad(function, place, network.trainable_params(), has_aux=has_aux)
    ran = [compare(lambda: gradient(x, y), function, monkeypatch) for _ in range(4)]
    assert ran[3:] == [True]  # the first call shows how many auxiliary results there are
    assert (function in kernel_gradients._known) == (name not in ("inputs", "twice"))
    if name == "inputs":
        value, _ = gradient(x, y)
        assert value[1] is y and value[2] is x
    if name == "twice":
        value, _ = gradient(x, y)
        assert value[1] is value[2]
    if has_aux:
        aux = ms.grad(function, place, network.trainable_params(), has_aux=True)(x, y)[1]
        assert [one.asnumpy().tobytes() for one in aux] == [one.asnumpy().tobytes() for one in function(x, y)[1:]]


def test_a_function_that_gets_other_results_uses_the_tape(monkeypatch):
    import pijit.ms as ms

    def function(x, count):
        total = (x * x).sum()
        return (total, x * 2.0) if count is None else (total, x * 2.0, x + 1.0)

    x = ms.Tensor(IMAGES)
    gradient = ms.value_and_grad(function, 0, has_aux=True)
    for count in (None, None, None, 3, 3, None, 3, None):
        compare(lambda: gradient(x, count), function, monkeypatch)


def test_explain_and_dump_say_how_later_calls_run(tmp_path):
    import pijit.ms as ms
    from pijit.ms import nn

    ms.set_seed(3)
    cell = with_loss(perceptron(nn.Dropout(p=0.3)), nn.CrossEntropyLoss())
    cell.set_train(True)
    x, y = ms.Tensor(IMAGES), ms.Tensor(CLASSES)
    gradient = ms.value_and_grad(cell, None, cell.trainable_params())
    ms.set_seed(5)
    first = str(pijit.explain(gradient, x, y)).splitlines()[0]
    after = ms.ops.creation.generator().random_sample()
    assert first.startswith("gradient of WithLossCell.construct: ")
    one_kernel = np.__version__ >= "2"  # NumPy 1's float32 numbers become arrays in some rules
    assert ("; later calls are one kernel" if one_kernel else "; later calls run jitted functions: ") in first
    ms.set_seed(5)
    cell(x, y)
    assert after == ms.ops.creation.generator().random_sample()  # one call has drawn
    names = {path.rpartition("/")[2] for path in pijit.dump(gradient, tmp_path, x, y)}
    assert {"explain.txt", "joint.py"} <= names
    assert any(name.startswith("kernel_joint_") for name in names) == one_kernel

    def why(function, *args):
        return str(pijit.explain(function, *args)).splitlines()[0]

    assert "PJ510" in why(ms.grad(lambda a: a * a), x)
    assert "neither a cell nor a function" in why(ms.grad(cell.construct), x, y)
    assert "an auxiliary result is no new tensor" in why(ms.grad(lambda a: ((a * a).sum(), 3), has_aux=True), x)
    assert "the adjoint of the output is no tensor of one float" in why(
        ms.ops.GradOperation(sens_param=True)(cell.backbone_network), x, ms.Tensor(TARGETS))
    with pytest.raises(TypeError, match="explain: a gradient is explained for one call"):
        pijit.explain(gradient)


def test_training_has_the_tapes_bits(monkeypatch):
    import pijit.ms as ms
    from pijit.ms import kernel_gradients, nn

    def trained():
        ms.set_seed(5)
        cell = with_loss(perceptron(), nn.CrossEntropyLoss())
        step = nn.TrainOneStepCell(cell, nn.Adam(cell.trainable_params(), learning_rate=0.01))
        losses = [float(step(ms.Tensor(IMAGES), ms.Tensor(CLASSES)).asnumpy()) for _ in range(12)]
        return losses, [one.asnumpy().tobytes() for one in cell.trainable_params()]

    with_kernels = trained()
    monkeypatch.setattr(kernel_gradients, "kernel_gradients", lambda *args: None)
    assert with_kernels == trained()


def test_every_spelling_of_gradients(monkeypatch):
    import pijit.ms as ms

    cell, labels = networks()["mean squares"]
    x, y, weights = ms.Tensor(IMAGES), ms.Tensor(labels), ms.ParameterTuple(cell.trainable_params())
    for run in (lambda: ms.grad(cell)(x, y), lambda: ms.grad(cell, (0, 1))(x, y), lambda: ms.grad(cell, None, weights)(x, y),
                lambda: ms.ops.GradOperation(get_by_list=True)(cell, weights)(x, y),
                lambda: ms.ops.GradOperation(get_all=True, get_by_list=True)(cell, weights)(x, y)):
        ran = [compare(run, cell, monkeypatch) for _ in range(4)]
        assert ran[2:] == [True, True]


def test_other_arrays_use_the_tape(monkeypatch):
    import pijit.ms as ms

    cell, labels = networks()["mean squares"]
    x, y = ms.Tensor(IMAGES), ms.Tensor(labels)
    weights = cell.trainable_params()
    gradient = ms.value_and_grad(cell, None, weights)
    for _ in range(4):
        gradient(x, y)
    assert compare(lambda: gradient(x, y), cell, monkeypatch)
    backwards = ms.value_and_grad(cell, None, weights[::-1])
    compare(lambda: backwards(x, y), cell, monkeypatch)
    weights[0].set_data(ms.Tensor(weights[0].asnumpy() * 2.0))
    assert compare(lambda: gradient(x, y), cell, monkeypatch)
    weights[0]._array = np.concatenate((weights[0].asnumpy(), weights[0].asnumpy()))[:len(weights[0].asnumpy())]
    compare(lambda: gradient(x, y), cell, monkeypatch)


def test_shared_memory_uses_the_tape(monkeypatch):
    import pijit.ms as ms
    from pijit.ms import nn

    class Shared(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(np.ones((3, 3), np.float32), name="w")
            self.v = ms.Tensor(np.ones(3, np.float32))
            self.v._array = self.w.asnumpy()[0]

        def construct(self, x):
            return (x * self.w * self.v).sum()

    cell, x = Shared(), ms.Tensor(np.arange(9, dtype=np.float32).reshape(3, 3).copy())
    gradient = ms.value_and_grad(cell, 0, cell.trainable_params())
    assert not any([compare(lambda: gradient(x), cell, monkeypatch) for _ in range(4)])


def test_threads_have_arrays_of_their_own(monkeypatch):
    import pijit.ms as ms

    cell, labels = networks()["mean squares"]
    weights, y = cell.trainable_params(), ms.Tensor(labels)
    xs = [ms.Tensor(IMAGES + number) for number in range(4)]
    forwards, backwards = (ms.value_and_grad(cell, 0, order) for order in (weights, weights[::-1]))
    wanted = [arrays(gradient(x, y)) for x in xs for gradient in (forwards, backwards)]
    for _ in range(4):
        forwards(xs[0], y)
    failed = []

    def run(number):
        for _ in range(30):
            for place, gradient in enumerate((forwards, backwards)):
                found = arrays(gradient(xs[number], y))
                if [one.tobytes() for one in found] != [one.tobytes() for one in wanted[2 * number + place]]:
                    failed.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_custom_derivatives_and_hooks_use_the_tape(monkeypatch):
    import pijit.ms as ms
    from pijit.ms import nn

    class Doubled(nn.Cell):
        def construct(self, x):
            return x * 2.0

        def bprop(self, x, out, dout):
            return (dout * 3.0,)

    cell = with_loss(perceptron(Doubled()), nn.MSELoss())
    x, y = ms.Tensor(IMAGES), ms.Tensor(TARGETS)
    gradient = ms.value_and_grad(cell, 0, cell.trainable_params())
    assert not any([compare(lambda: gradient(x, y), cell, monkeypatch) for _ in range(4)])
    seen = []
    cell, _ = networks()["mean squares"]
    gradient = ms.value_and_grad(cell, 0, cell.trainable_params())
    for _ in range(4):
        gradient(x, y)
    cell._backbone.register_backward_hook(lambda *given: seen.append(1))
    gradient(x, y)
    assert seen


def test_settings_that_change_are_followed(monkeypatch):
    import pijit.ms as ms

    cell, labels = networks()["gates"]
    x, y = ms.Tensor(IMAGES), ms.Tensor(labels)
    gradient = ms.value_and_grad(cell, 0, cell.trainable_params())
    for scale in (0.5, 0.5, 0.5, 2.0, 2.0, 0.5):
        cell._backbone.scale = scale
        compare(lambda: gradient(x, y), cell, monkeypatch)


def test_cells_are_not_kept_alive():
    import pijit.ms as ms

    cell, labels = networks()["mean squares"]
    gradient = ms.value_and_grad(cell, 0, cell.trainable_params())
    for _ in range(4):
        gradient(ms.Tensor(IMAGES), ms.Tensor(labels))
    found = weakref.ref(cell)
    del cell, gradient
    gc.collect()
    assert found() is None
