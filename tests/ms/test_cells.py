"""Tensors, parameters and cells: what programs read of them, and that jitted cells are kernels."""

import functools
import gc
import weakref

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted


@pytest.fixture
def ms():
    import pijit.ms

    return pijit.ms


def plain(x):
    return x.asnumpy().copy() if hasattr(x, "asnumpy") else x


def same(f, *args):
    """A jitted function gives the same arrays as the plain one, in each call, from kernels."""
    wanted = plain(f(*args))
    with fail_unless_captured():
        captured = jitted(f)
        for _ in range(3):
            got = plain(captured(*args))
            assert got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()


def test_operators_and_functions_of_tensors_are_kernels(ms):
    x, n = ms.Tensor(np.linspace(0.1, 2.0, 12).reshape(3, 4).astype("f")), ms.Tensor(np.arange(12).reshape(3, 4), ms.int32)
    same(lambda a: (a * 2.0 + 1.0) * a - a / 3, x)
    same(lambda a: ms.ops.softmax(a) + ms.ops.relu(a - 1.0), x)
    same(lambda a, b: a + b, x, n)
    same(lambda a: a / 2, n)
    same(lambda a: a.sum() + a.mean(), x)
    same(lambda a: ms.ops.matmul(a, a.T), x)
    same(lambda a: a[0] + a[1:], x)


def test_dropout_in_training_is_part_of_one_kernel(ms):
    nn = ms.nn
    cell = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dropout(p=0.4), nn.Dense(4, 4), nn.Dropout(p=0.1), nn.Tanh())
    cell.set_train()
    x = ms.Tensor(np.linspace(-1.0, 1.0, 30).reshape(10, 3).astype("f"))
    fast = jitted(cell.__call__)
    for _ in range(2):
        ms.set_seed(3)
        wanted = [cell(x).asnumpy().tobytes() for _ in range(5)]
        ms.set_seed(3)
        assert [fast(x).asnumpy().tobytes() for _ in range(5)] == wanted and len(set(wanted)) == 5
    assert_nothing_breaks(cell.__call__, x)


def test_cells_are_kernels(ms):
    nn = ms.nn
    ms.set_seed(3)
    image = ms.Tensor(np.random.RandomState(1).standard_normal((2, 1, 6, 6)).astype("f"))
    for cell, x in ((nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2)), ms.Tensor(np.ones((2, 3), "f"))),
                    (nn.Conv2d(1, 2, 3), image), (nn.Conv2d(1, 2, 2, pad_mode="valid", has_bias=True), image),
                    (nn.MaxPool2d(2, 2), image), (nn.LayerNorm((6,)), image), (nn.BatchNorm2d(1), image), (nn.Flatten(), image), (nn.Softmax(), image)):
        same(cell.__call__, x)


def test_an_attribute_of_a_jitted_cell_that_changes(ms):
    class Scale(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.factor = 2.0

        @ms.jit
        def construct(self, x):
            return x * self.factor

    cell, x = Scale(), ms.Tensor([1.0, 2.0])
    for factor in (2.0, 5.0, 2.0):
        cell.factor = factor
        assert cell(x).asnumpy().tolist() == [factor, 2 * factor]


def test_text(ms):
    assert repr(ms.Tensor([1.0, -2.5])) == "Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00, -2.50000000e+00])"
    assert repr(ms.Tensor([[1], [2]])) == "Tensor(shape=[2, 1], dtype=Int64, value=\n[[1],\n [2]])"
    assert str(ms.Tensor([[1.5, 2.0]])) == str(np.array([[1.5, 2.0]], "f"))
    assert str(ms.Parameter(ms.Tensor([1.0]), name="w")) == "Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=True)"
    assert repr(ms.nn.SequentialCell(ms.nn.ReLU(), ms.nn.Flatten())) == "SequentialCell<\n  (0): ReLU<>\n  (1): Flatten<>\n  >"


def test_names_of_parameters(ms):
    class Inner(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ms.Tensor([1.0]))
            self.fixed = ms.Parameter(ms.Tensor([1.0]), requires_grad=False)

    class Outer(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = Inner()
            self.several = ms.nn.CellList([Inner(), Inner()])
            self.again = self.first

    net = Outer()
    assert [name for name, _ in net.parameters_and_names()] == [
        "first.w", "first.fixed", "several.0.w", "several.0.fixed", "several.1.w", "several.1.fixed"]
    assert [one.name for one in net.trainable_params()] == ["again.first.w", "several.0.w", "several.1.w"]
    net.first.w = ms.Tensor([7.0])
    assert net.first.w.requires_grad and net.first.w.asnumpy().tolist() == [7.0]
    with pytest.raises(AttributeError, match="call super"):
        class Forgot(ms.nn.Cell):
            def __init__(self):
                self.w = ms.Parameter(ms.Tensor([1.0]))
        Forgot()


def test_a_derivative_of_its_own(ms):
    class Doubled(ms.nn.Cell):
        def construct(self, x):
            return x * 2.0

        def bprop(self, x, out, dout):
            return (dout * 10.0 + x * 0.0,)

    cell, x = Doubled(), ms.Tensor([1.0, 2.0])
    assert ms.grad(lambda a: cell(a) * a)(x).asnumpy().tolist() == [12.0, 24.0]


def test_hooks(ms):
    class Square(ms.nn.Cell):
        def construct(self, x):
            return x * x

    cell, x, seen = Square(), ms.Tensor([3.0]), []
    handles = [cell.register_forward_pre_hook(lambda c, inputs: seen.append("pre") or (inputs[0] + 1.0,)),
               cell.register_forward_hook(lambda c, inputs, out: seen.append("forward") or out * 2.0),
               cell.register_backward_hook(lambda c, gi, go: seen.append(float(go[0].asnumpy()[0])) or (gi[0] * 3.0,))]
    assert cell(x).asnumpy().tolist() == [32.0]
    assert ms.grad(cell)(x).asnumpy().tolist() == [2.0 * 8.0 * 3.0]
    assert seen == ["pre", "forward", "pre", "forward", 2.0]
    for handle in handles:
        handle.remove()
    assert cell(x).asnumpy().tolist() == [9.0] and cell.special is None


def test_all_flags_of_grad_operation(ms):
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ms.Tensor([2.0, 3.0]), name="w")

        def construct(self, x, y):
            return x * y * self.w

    net, x, y = Net(), ms.Tensor([1.0, 2.0]), ms.Tensor([5.0, 7.0])
    seed, values = ms.Tensor([1.0, 10.0]), {"x": [10.0, 21.0], "y": [2.0, 6.0], "w": [5.0, 14.0]}
    scaled = {name: [one[0], one[1] * 10.0] for name, one in values.items()}
    weights = ms.ParameterTuple(net.trainable_params())

    def listed(found):
        return [listed(one) for one in found] if isinstance(found, tuple) else found.asnumpy().tolist()

    grad = ms.ops.GradOperation
    assert listed(grad()(net)(x, y)) == values["x"]
    assert listed(grad(get_all=True)(net)(x, y)) == [values["x"], values["y"]]
    assert listed(grad(get_by_list=True)(net, weights)(x, y)) == [values["w"]]
    assert listed(grad(get_all=True, get_by_list=True)(net, weights)(x, y)) == [[values["x"], values["y"]], [values["w"]]]
    assert listed(grad(sens_param=True)(net)(x, y, seed)) == scaled["x"]
    assert listed(grad(get_all=True, sens_param=True)(net)(x, y, seed)) == [scaled["x"], scaled["y"]]
    assert listed(grad(get_all=True)(net)(x, x)) == [[2.0, 6.0], [2.0, 6.0]]


def test_whole_numbers_have_whole_gradients(ms):
    g = ms.grad(lambda x, y: x * x * y, (0, 1))(ms.Tensor([3], ms.int32), ms.Tensor([5], ms.int32))
    assert [(one.dtype, one.asnumpy().tolist()) for one in g] == [(ms.int32, [30]), (ms.int32, [9])]


def test_names_that_are_missing(ms):
    ms.install()
    try:
        with pytest.raises(ImportError, match="mindspore.nn.Dens is not part of pijit.ms; the nearest name that is there is 'Dense'"):
            from mindspore.nn import Dens  # noqa: F401
        with pytest.raises(ImportError, match="the nearest module that is there is 'mindspore.communication'"):
            import mindspore.comunication  # noqa: F401
        import mindspore
        assert not hasattr(mindspore, "Tensr") and mindspore.Tensor is ms.Tensor
    finally:
        ms.uninstall()
    with pytest.raises(ImportError):
        import mindspore  # noqa: F401,F811


def test_checked_calls_agree(ms):
    check(lambda a, b: (a.asnumpy() * b.asnumpy()).sum(), ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0]))


def test_a_function_that_is_jitted_twice_is_one_function(ms):
    def f(x):
        return x * 2.0

    @functools.wraps(f)
    def g(x):
        return x * 3.0

    x = ms.Tensor([1.0])
    assert ms.jit(f) is ms.jit(f) and ms.jit(f) is not ms.jit(f, mode="PSJit")
    assert ms.jit(g)(x).asnumpy().tolist() == [3.0] and ms.jit(f)(x).asnumpy().tolist() == [2.0]


def test_jitted_functions_and_classes_of_cells_are_collected(ms):
    def make():
        class Net(ms.nn.Cell):
            @ms.jit
            def construct(self, x):
                return x + 1.0

        ms.set_context(mode=ms.GRAPH_MODE)
        try:
            Net()(ms.Tensor([1.0]))
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
        f = ms.jit(lambda x: x)
        return weakref.ref(Net), weakref.ref(f)

    made = [make() for _ in range(3)]
    gc.collect()
    assert sum(one() is not None for pair in made for one in pair) == 0


def test_a_package_of_that_name_is_not_hidden_unasked(ms, tmp_path, monkeypatch):
    (tmp_path / "mindspore.py").write_text("own = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RuntimeError, match="a package 'mindspore' is installed"):
        ms.install()
    ms.install(shadow=True)
    try:
        import mindspore
        assert mindspore.Tensor is ms.Tensor
    finally:
        ms.uninstall()


def test_what_has_no_effect_is_logged(ms, caplog):
    with caplog.at_level("INFO", logger="mindspore"):
        ms.jit(lambda x: x + 1.0, input_signature=ms.Tensor([1.0]), jit_config={"compile_with_try": False})
    assert [record.getMessage().split()[1] for record in caplog.records] == ["compile_with_try", "input_signature"]


def test_calls_that_run_the_undecorated_function(ms):
    """Chosen by a function of the arguments; calls are bound as usual, and only the others count."""
    from pijit.ms.compilation import get_code_extra

    @ms.jit(capture_mode="bytecode", jit_config={"_disable_pijit": lambda args, kwargs: args[0] > 1 or "y" in kwargs})
    def f(n, x, y=1.0):
        return x * y + n

    class Net(ms.nn.Cell):
        @ms.jit(jit_config=ms.JitConfig(_disable_pijit=lambda args, kwargs: len(args) > 2))
        def construct(self, x, y=None):
            return x + 1.0

    x = ms.Tensor(np.ones(3, "f"))
    assert [f(n, x).asnumpy()[0] for n in range(10)] == list(range(1, 11)) and f(0, x, y=4.0).asnumpy()[0] == 4
    assert get_code_extra(f)["code"]["call_count_"] == 2 and f.__name__ == "f"
    assert Net()(x).asnumpy().tolist() == Net()(x, x).asnumpy().tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match="jit: _disable_pijit must be a function of \\(args, kwargs\\); not 3"):
        ms.jit(f, jit_config={"_disable_pijit": 3})
    with pytest.raises(TypeError, match="f\\(\\) missing 1 required positional argument: 'x'"):
        f(0)


def test_attributes_that_construct_stores(ms):
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.steps, self.last = 0, None
            self.w = ms.Parameter(ms.Tensor(np.array([2.0, 3.0], "f")), name="w")
            self.parts = ms.nn.CellDict({"relu": ms.nn.ReLU(), "tanh": ms.nn.Tanh()})

        def construct(self, x):
            self.steps += 1
            self.last = x * self.w
            for name, part in self.parts.items():
                x = part(x) + len(name)
            for name in self.parts.keys():
                x = self.parts[name](x)
            return self.last + self.steps + x

    x = ms.Tensor(np.array([0.5, -1.5], "f"))
    plain_net, net = Net(), Net()
    captured = jitted(Net.construct)
    for _ in range(3):
        wanted, got = plain_net(x), captured(net, x)
        assert wanted.asnumpy().tobytes() == got.asnumpy().tobytes()
        assert net.steps == plain_net.steps and type(net.last) is ms.Tensor
        assert net.last.asnumpy().tobytes() == plain_net.last.asnumpy().tobytes()
    assert_nothing_breaks(Net.construct, net, x)
    net.steps = ms.nn.ReLU()  # a cell now: it is listed
    assert [name for name, _ in net.cells_and_names()][1:] == [name for name, _ in plain_net.cells_and_names()][1:] + ["steps"]
    net.steps = 4
    assert "steps" not in dict(net.cells_and_names()) and captured(net, x).asnumpy().dtype == np.float32
    assert net.steps == 5
