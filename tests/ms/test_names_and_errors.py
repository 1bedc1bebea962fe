"""Names, conversions and errors that MindSpore's programs and tests rely on, beside those of the layers."""

import math
import types

import numpy as np
import pytest

import pijit
import pijit.ms as ms
from pijit.ms import nn, ops


def values(tensor):
    return tensor.asnumpy().tolist()


def test_primitives():
    x = ms.Tensor([1.0, 2.0])
    assert values(ops.TensorAdd()(x, x)) == [2.0, 4.0]
    assert values(ops.NanToNum(nan=1.0, posinf=2.0, neginf=3.0)(ms.Tensor([np.nan, np.inf, -np.inf]))) == [1, 2, 3]
    assert values(ops.BiasAdd()(ms.Tensor([[1.0, 2.0]]), x)) == [[2.0, 4.0]]
    images = np.arange(8.0).reshape(1, 2, 2, 2)
    assert np.array_equal(ops.BiasAdd()(ms.Tensor(images), x).asnumpy(), images + np.array([[[[1.0]], [[2.0]]]]))
    assert np.array_equal(ops.BiasAdd("NHWC")(ms.Tensor(images), x).asnumpy(), images + [1.0, 2.0])
    for made in (ops.Range(50), ops.Range()):
        assert values(made(ms.Tensor(1), ms.Tensor(5), ms.Tensor(2))) == [1, 3]
    with pytest.raises(ValueError, match="range: maxlen must be at least the number of elements, 4; not 3"):
        ops.Range(3)(ms.Tensor(1), ms.Tensor(5), ms.Tensor(1))
    for method in (x.clamp(max=1.5, min=1.25), ops.clamp(x, 1.25, 1.5), x.clip(1.25, 1.5)):
        assert values(method) == [1.25, 1.5]


def test_primitives_that_a_function_makes_are_captured():
    def f(x, y):
        product = ops.MatMul(transpose_b=True)
        return product(x, y) + ops.ReduceSum(keep_dims=True)(x, 0) * ops.Add()(y, 1.0)

    x, y = (ms.Tensor(np.cos(np.arange(k, k + 16.0)).reshape(4, 4).astype(np.float32)) for k in (0, 5))
    report = pijit.explain(f, x, y)
    assert not report.breaks and len(report.segments) == 1
    jitted = pijit.jit(f)
    for _ in range(3):
        assert jitted(x, y).asnumpy().tobytes() == f(x, y).asnumpy().tobytes()


@pytest.mark.parametrize("call, message", [
    (lambda: ops.MatMul(True, False, 1), r"MatMul: takes at most 2 arguments \(transpose_a, transpose_b\); got 3"),
    (lambda: ops.MatMul(transpose=1), "MatMul: there is no argument 'transpose'; the arguments are: transpose_a, transpose_b"),
    (lambda: ops.Add(1), r"Add: takes at most 0 arguments \(\); got 1"),
    (lambda: ops.Add(x=1), "Add: there is no argument 'x'; the arguments are: none"),
    (lambda: ops.Conv2D(3), "Conv2D: the argument kernel_size must be given")], ids=range(5))
def test_arguments_that_primitives_refuse(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_modules_below_operations_are_attributes():
    assert ops.operations.Add is ops.Add and ops.functional.add is ops.add


def test_one_element_is_a_number():
    assert float(ms.Tensor([1.5])) == 1.5 and int(ms.Tensor([[2]])) == 2 and complex(ms.Tensor([3.0])) == 3
    assert math.exp(ms.Tensor([0.0])) == 1.0 and range(ms.Tensor([2])) == range(2)
    for convert in (int, float, complex):
        with pytest.raises(TypeError):
            convert(ms.Tensor([1.0, 2.0]))


def test_numbers_in_jitted_functions():
    def f(x, y):
        return x * float(y) + int(y)

    x, y = ms.Tensor(np.arange(5.0)), ms.Tensor([2.0])
    jitted = ms.jit(f, capture_mode="bytecode")
    for _ in range(3):
        assert values(jitted(x, y)) == values(f(x, y))


@pytest.fixture
def no_seed(monkeypatch):
    from pijit.ms.ops import creation

    monkeypatch.setattr(creation._random, "seed", None)


def test_without_a_seed_numpys_generator_decides_the_weights(no_seed):
    def weights():
        np.random.seed(3)
        return nn.Dense(3, 2).weight.asnumpy()

    first = weights()
    assert np.array_equal(first, weights())
    assert not np.array_equal(first, nn.Dense(3, 2).weight.asnumpy())


@pytest.mark.parametrize("arguments", [{"capture_mode": "bytecode"}, {"capture_mode": "ast"}, {"mode": "PIJit"}])
def test_a_jitted_cell_as_its_own_construct(arguments):
    class Net(nn.Cell):
        def construct(self, x):
            return x + 1

    net = Net()
    net.construct = ms.jit(net, **arguments)
    for _ in range(3):
        assert values(net(ms.Tensor([1.0]))) == [2.0]
    assert isinstance(net.construct, types.MethodType)


def test_positions_of_gradients():
    x, y = ms.Tensor([1.0]), ms.Tensor([3.0])
    assert values(ms.grad(lambda x, y: x * y, (0,))(x, y)) == [3.0]
    assert values(ms.value_and_grad(lambda x, y: x * y, (1,))(x, y)[1]) == [1.0]
    with pytest.raises(RuntimeError, match="Position index 2 is exceed input size 2"):
        ms.grad(lambda x, y: x * y, (2,))(x, y)


@pytest.mark.parametrize("begin, size", [((0, 5), (8, 5)), ((8, 9), (1, 1, 1)), ((-1, 0), (1, 1)), ((0, 0), (-2, 1))])
def test_blocks_that_slices_refuse(begin, size):
    with pytest.raises(ValueError, match="slice: begin"):
        ops.Slice()(ms.Tensor(np.zeros((8, 8))), begin, size)


def test_slices():
    x = np.arange(64.0).reshape(8, 8)
    assert np.array_equal(ops.Slice()(ms.Tensor(x), (1, 2), (3, -1)).asnumpy(), x[1:4, 2:])
    with pytest.raises(ValueError):
        ops.Slice()(ms.Tensor(1.5), (), ())


def test_errors_of_medians():
    x = ms.Tensor(np.zeros((2, 3, 4, 5)))
    with pytest.raises(ValueError, match=r"For primitive\[Median\], the axis must be in \[-4,4\), but got -5."):
        ops.Median(axis=-5)(x)
    with pytest.raises(TypeError, match="the type of 'axis' should be 'int', but got type 'float'."):
        ops.Median(axis=1.2)(x)
    with pytest.raises(TypeError, match="the type of 'keep_dims' should be 'bool', but got type 'str'."):
        ops.Median(keep_dims="False")(x)


def test_an_error_of_functions_that_must_be_one_graph():
    from pijit.ms import compilation

    def f(x):
        print(x.shape)
        return x + 1

    with pytest.raises(compilation.Unsupported):
        ms.jit(f, capture_mode="bytecode", fullgraph=True)(ms.Tensor([1.0]))


def test_counts_of_calls_and_breaks():
    @pijit.jit
    def handled(x):
        try:
            y = x + 1
        except (TypeError, ValueError) as error:
            print(error)
            y = x
        return y * 2

    @pijit.jit
    def broken(x):
        try:
            print(end="")
        except ValueError:
            x = x + 1
        return x * 2

    x = np.arange(1000.0)
    for calls in range(1, 4):
        handled(x), broken(x)
        assert pijit.get_code_extra(handled).code.call_count_ == calls
    assert (pijit.get_code_extra(handled).break_count_, pijit.get_code_extra(broken).break_count_) == (0, 1)
    breaks = pijit.explain(handled, x).breaks
    assert breaks and all(one.in_handler for one in breaks)


def test_symbols_in_signatures():
    length, relu = ms.Symbol(max=10, min=1), nn.ReLU()

    @ms.jit(input_signature=(ms.Tensor(shape=(None, length), dtype=ms.float32),))
    def f(x):
        return relu(x)

    for x in (np.ones((2, 2), "f"), -np.ones((2, 1), "f")):
        assert values(f(ms.Tensor(x))) == np.maximum(x, 0).tolist()
    with pytest.raises(TypeError):
        ms.Tensor(shape=("a",), dtype=ms.float32)
