"""The programs of MindSpore's documents print what is documented, with `import mindspore` as they have it."""

import contextlib
import io
import os
import subprocess
import sys

import pytest

HEAD = """
import numpy as np
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import ms_function
ms.set_context(mode=ms.{mode})
x = ms.Tensor(np.array([1.0, 2.0, 3.0]).astype(np.float32))
y = ms.Tensor(np.array([4.0, 5.0, 6.0]).astype(np.float32))
"""

COMBINED = """
class Add(nn.Cell):
    def construct(self, x):
        x = x + x
        x = x + x
        return x

class Mul(nn.Cell):
    @ms_function
    def construct(self, x):
        x = x * x
        x = x * x
        return x

class Test(nn.Cell):
    def __init__(self):
        super(Test, self).__init__()
        self.add = Add()
        self.mul = Mul()

    def construct(self, x):
        x = self.add(x)
        x = self.mul(x)
        x = self.add(x)
        return x

x = ms.Tensor(np.ones([3, 3], dtype=np.float32))
print("init x:\\n", x)
print("\\nx:\\n", Test()(x))
"""

ONCE = """
from mindspore import context, Tensor

class Add(nn.Cell):
    def construct(self, x):
        x = x + x
        return x

class Mul(nn.Cell):
    @ms_function
    def construct(self, x):
        x = x * x
        return x

class Test(nn.Cell):
    def __init__(self):
        super(Test, self).__init__()
        self.add = Add()
        self.mul = Mul()

    def construct(self, x):
        x = self.add(x)
        x = self.mul(x)
        x = self.add(x)
        return x

context.set_context(mode=context.PYNATIVE_MODE)
print("x:\\n", Test()(Tensor(np.ones([3, 3], dtype=np.float32))))
"""

FUNCTION = """
@ms_function
def add_func(x, y):
    return ops.add(x, y)
print(add_func(x, y))
"""

GRADIENT = """
class Add(nn.Cell):
    @ms_function
    def construct(self, x, y):
        out = x + y
        return out

net = Add()
grad_out = ops.GradOperation(get_all=True)(net)(x, y)
print("Infer result:\\n", net(x, y))
print("Gradient result:")
print("Grad x Tensor1:\\n", grad_out[0])
print("Grad y Tensor2:\\n", grad_out[1])
"""

GLOBAL = """
value = 5

@ms_function
def func(x, y):
    out = x + y
    value = 1
    return out

func(x, y)
print(value)
"""

ATTRIBUTE = """
class Func(nn.Cell):
    def __init__(self):
        super(Func, self).__init__()
        self.value = 5

    @ms_function
    def construct(self, x):
        out = self.value + x
        return out

func = Func()
print("out1:", func(x))
func.value = 1
print("out2:", func(x))
"""

PRIMITIVE = """
add = ops.Add()

@ms_function
def add_fn(x, y):
    res = add(x, y)
    return res

z = add_fn(x, y)
print("x:", x.asnumpy(), "\\ny:", y.asnumpy(), "\\nz:", z.asnumpy())
"""

CONVOLUTION = """
conv_obj = nn.Conv2d(in_channels=3, out_channels=4, kernel_size=3, stride=2, padding=0)
conv_obj.init_parameters_data()

@ms_function
def conv_fn(x):
    res = conv_obj(x)
    return res

z = conv_fn(ms.Tensor(np.random.randn(1, 3, 3, 3).astype(np.float32)))
print(z.asnumpy().shape, z.dtype)
"""

NETWORKS = """
class MyNet(nn.Cell):
    def __init__(self):
        super(MyNet, self).__init__()
        self.add = ops.Add()

    def construct(self, x, y):
        return self.add(x, y)

class Net(nn.Cell):
    def __init__(self):
        super(Net, self).__init__()
        self.mul = ops.Mul()

    def construct(self, x, y):
        return self.mul(x, y)

print(MyNet()(x, y))
print(Net()(x, y))
print(ops.mul(x, y).asnumpy())
"""

MATMUL = """
class Net(nn.Cell):
    def __init__(self):
        super(Net, self).__init__()
        self.matmul = ops.MatMul()
        self.z = ms.Parameter(ms.Tensor(np.array([1.0], np.float32)), name='z')

    def construct(self, x, y):
        x = x * self.z
        x = self.matmul(x, y)
        return x

class GradNetWrtX(nn.Cell):
    def __init__(self, net):
        super(GradNetWrtX, self).__init__()
        self.net = net
        self.grad_op = ops.GradOperation()

    def construct(self, x, y):
        gradient_function = self.grad_op(self.net)
        return gradient_function(x, y)

x = ms.Tensor([[0.8, 0.6, 0.2], [1.8, 1.3, 1.1]], dtype=ms.float32)
y = ms.Tensor([[0.11, 3.3, 1.1], [1.1, 0.2, 1.4], [1.1, 2.2, 0.3]], dtype=ms.float32)
print(GradNetWrtX(Net())(x, y))
"""

LOOP = """
class Net(nn.Cell):
    def __init__(self):
        super(Net, self).__init__()
        self.z = ms.Parameter(ms.Tensor(np.array([1.0], np.float32)), name='z')

    def construct(self, x):
        for _ in range(3):
            x = x + self.z
        return x

print(Net()(x))
"""

LAYERS = """
class AddMulMul(nn.Cell):
    def __init__(self):
        super(AddMulMul, self).__init__()
        self.param = ms.Parameter(ms.Tensor(0.5, ms.float32))

    @ms.jit
    def construct(self, x):
        x = x + x
        x = x * self.param
        x = x * x
        return x

class CellCallSingleCell(nn.Cell):
    def __init__(self):
        super(CellCallSingleCell, self).__init__()
        self.conv = nn.Conv2d(1, 2, kernel_size=2, stride=1, padding=0, weight_init="ones", pad_mode="valid")
        self.bn = nn.BatchNorm2d(2, momentum=0.99, eps=0.00001, gamma_init="ones")
        self.relu = nn.ReLU()
        self.add_mul_mul = AddMulMul()

    def construct(self, x):
        x = self.conv(x)
        x = self.bn(x)
        x = self.add_mul_mul(x)
        x = self.relu(x)
        return x

print(CellCallSingleCell()(ms.Tensor(np.ones([1, 1, 2, 2]).astype(np.float32))))
"""

REGISTERED = """
from mindspore.ops._grad.grad_base import bprop_getters

@bprop_getters.register(ops.Mul)
def get_bprop_mul(self):
    mul_func = ops.Add()

    def bprop(x, y, out, dout):
        return mul_func(y, dout), mul_func(x, dout)
    return bprop

print(ops.GradOperation(get_all=True)(lambda a, b: ops.Mul()(a, b))(x, y))
ops.Mul.bprop_getter = None
"""

ONES = " [[1. 1. 1.]\n [1. 1. 1.]\n [1. 1. 1.]]\n"

PROGRAMS = {
    "combination": (COMBINED, "init x:\n" + ONES + "\nx:\n" + ONES.replace("1.", "1024.")),
    "once": (ONCE, "x:\n" + ONES.replace("1.", "8.")),
    "function": (FUNCTION, "[5. 7. 9.]\n"),
    "gradient": (GRADIENT, "Infer result:\n [5. 7. 9.]\nGradient result:\nGrad x Tensor1:\n [1. 1. 1.]\nGrad y Tensor2:\n [1. 1. 1.]\n"),
    "global": (GLOBAL, "5\n"),
    # Documented is a second line of the first call's numbers, a cache without a guard: see docs/mindspore.md.
    "attribute": (ATTRIBUTE, "out1: [6. 7. 8.]\nout2: [2. 3. 4.]\n"),
    "primitive": (PRIMITIVE, "x: [1. 2. 3.] \ny: [4. 5. 6.] \nz: [5. 7. 9.]\n"),
    "convolution": (CONVOLUTION, "(1, 4, 2, 2) Float32\n"),
    "networks": (NETWORKS, "[5. 7. 9.]\n[ 4. 10. 18.]\n[ 4. 10. 18.]\n"),
    "matmul": (MATMUL, "[[4.5099998 2.7       3.6000001]\n [4.5099998 2.7       3.6000001]]\n"),
    "loop": (LOOP, "[4. 5. 6.]\n"),
    "layers": (LAYERS, "[[[[15.99984]]\n\n  [[15.99984]]]]\n"),
    "registered": (REGISTERED, "(Tensor(shape=[3], dtype=Float32, value= [ 5.00000000e+00,  6.00000000e+00,  7.00000000e+00]), "
                               "Tensor(shape=[3], dtype=Float32, value= [ 2.00000000e+00,  3.00000000e+00,  4.00000000e+00]))\n"),
}


@pytest.fixture
def mindspore():
    """`import mindspore` gives pijit.ms, until the test ends."""
    import pijit.ms as ms

    ms.install()
    yield ms
    ms.uninstall()
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("mode", ["PYNATIVE_MODE", "GRAPH_MODE"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs_print_what_is_documented(name, mode, mindspore):
    program, printed = PROGRAMS[name]
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(HEAD.format(mode=mode) + program, name, "exec"), {"__name__": "__main__"})
    assert stream.getvalue() == printed


def test_the_command_runs_a_program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD.format(mode="PYNATIVE_MODE") + NETWORKS + "import sys\nprint(sys.argv)\n")
    run = subprocess.run([sys.executable, "-m", "pijit.ms", str(path), "--flag"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         universal_newlines=True, env=dict(os.environ))
    assert run.returncode == 0, run.stderr
    assert run.stdout == PROGRAMS["networks"][1] + "[{!r}, '--flag']\n".format(str(path))
