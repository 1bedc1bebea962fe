"""``python -m benchmarks.gradients``: value and gradient beside JAX, PyTorch and autograd where these are installed.

Each row is a function and a size. Times are the best of interleaved rounds on one thread, in microseconds. "kernel" is
the jitted function without its gradient. JAX runs ``jit(value_and_grad)`` in double precision; programs that store in
place are written with ``lax.fori_loop`` and ``.at[].set`` for it. autograd and PyTorch, which runs without compilation,
get versions without stores.
"""

from __future__ import annotations

import argparse
import sys
import types
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

import pijit
from benchmarks.measure import geometric_mean, seconds_per_call

Function = Callable[..., Any]


class Program(NamedTuple):
    """A function, its differentiated arguments, the arguments by size, and how the competitors spell it.

    ``others`` maps a competitor to a function of its NumPy-like module that makes the function.
    """

    family: str
    function: Function
    argnums: Tuple[int, ...]
    arguments: Dict[str, Tuple[Any, ...]]
    others: Dict[str, Callable[[Any], Function]]


R = np.random.RandomState(0)


def line(n: int) -> Any:
    """``n`` numbers between 0.1 and 1."""
    return np.linspace(0.1, 1.0, n)


def heat(u0, steps):  # type: ignore[no-untyped-def]
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return (u * u).sum()


def burgers(u0, steps):  # type: ignore[no-untyped-def]
    u = u0.copy()
    for _ in range(steps):
        u[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])
    return (u * u).sum()


def plate(u0, steps):  # type: ignore[no-untyped-def]
    u = u0.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return (u * u).sum()


def leapfrog(u0, v0, steps):  # type: ignore[no-untyped-def]
    u, v = u0.copy(), v0.copy()
    for _ in range(steps):
        u += 0.01 * v
        v -= 0.01 * u * u * u
    return (u * v).sum()


def runge_kutta(y0, h, steps):  # type: ignore[no-untyped-def]
    y, t = y0, 0.0
    for _ in range(steps):
        k1 = -y * t
        k2 = -(y + 0.5 * h * k1) * (t + 0.5 * h)
        y = y + h * k2
        t = t + h
    return y.sum()


def network(h0, w, steps):  # type: ignore[no-untyped-def]
    h = h0
    for _ in range(steps):
        h = np.tanh(w @ h)
    return h.sum()


def horner(x, z):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(len(x)):
        s = s * z + x[i]
    return s


def chain(x, y):  # type: ignore[no-untyped-def]
    a = x * y
    b = np.sqrt(a * a + 1.0)
    c = b * x - a
    d = c / (1.0 + y * y)
    return (d * d).sum()


def rosenbrock(x):  # type: ignore[no-untyped-def]
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def logistic(w, b, x, y):  # type: ignore[no-untyped-def]
    return np.mean(np.log1p(np.exp(-y * (x @ w + b)))) + 0.5 * np.dot(w, w)


def layers(w, b, v, x):  # type: ignore[no-untyped-def]
    h = np.tanh(x @ w + b)
    return ((h @ v) ** 2).mean()


def softmax(w, x):  # type: ignore[no-untyped-def]
    z = x @ w
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return (p * p).sum()


def _with(module: Any, function: Function) -> Function:
    """A function whose global ``np`` is another module."""
    return types.FunctionType(function.__code__, dict(function.__globals__, np=module), function.__name__,
                              function.__defaults__, function.__closure__)


def _same(function: Function) -> Dict[str, Callable[[Any], Function]]:
    return dict.fromkeys(("jax", "autograd", "torch"), lambda np: _with(np, function))


def _jax_loop(step: Callable[..., Any]) -> Callable[[Any], Function]:
    """The sum of squares after ``steps`` applications of ``step(np, u)``."""
    def make(np: Any) -> Function:
        from jax import lax

        return lambda u, steps: (lax.fori_loop(0, steps, lambda _, u: step(np, u), u) ** 2).sum()
    return make


def _heat_step(np: Any, u: Any) -> Any:
    return u.at[1:-1].set(u[1:-1] + 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:]))


def _burgers_step(np: Any, u: Any) -> Any:
    return u.at[1:].set(u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1]))


def _plate_step(np: Any, u: Any) -> Any:
    return u.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))


def _heat_autograd(np: Any) -> Function:
    def f(u, steps):  # type: ignore[no-untyped-def]
        for _ in range(steps):
            u = np.concatenate([u[:1], u[1:-1] + 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:]), u[-1:]])
        return (u * u).sum()
    return f


def _burgers_autograd(np: Any) -> Function:
    def f(u, steps):  # type: ignore[no-untyped-def]
        for _ in range(steps):
            u = np.concatenate([u[:1], u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])])
        return (u * u).sum()
    return f


def _plate_torch(np: Any) -> Function:
    def f(u, steps):  # type: ignore[no-untyped-def]
        u = u.clone()
        for _ in range(steps):
            u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        return (u * u).sum()
    return f


def _leapfrog_jax(np: Any) -> Function:
    from jax import lax

    def step(_, pair):  # type: ignore[no-untyped-def]
        u = pair[0] + 0.01 * pair[1]
        return u, pair[1] - 0.01 * u * u * u

    def f(u, v, steps):  # type: ignore[no-untyped-def]
        u, v = lax.fori_loop(0, steps, step, (u, v))
        return (u * v).sum()
    return f


def _leapfrog_autograd(np: Any) -> Function:
    def f(u, v, steps):  # type: ignore[no-untyped-def]
        for _ in range(steps):
            u = u + 0.01 * v
            v = v - 0.01 * u * u * u
        return (u * v).sum()
    return f


def _runge_kutta_jax(np: Any) -> Function:
    from jax import lax

    def f(y, h, steps):  # type: ignore[no-untyped-def]
        def step(_, pair):  # type: ignore[no-untyped-def]
            y, t = pair
            k1 = -y * t
            k2 = -(y + 0.5 * h * k1) * (t + 0.5 * h)
            return y + h * k2, t + h
        return lax.fori_loop(0, steps, step, (y, 0.0))[0].sum()
    return f


def _network_jax(np: Any) -> Function:
    from jax import lax

    return lambda h, w, steps: lax.fori_loop(0, steps, lambda _, h: np.tanh(w @ h), h).sum()


def _horner_jax(np: Any) -> Function:
    from jax import lax

    return lambda x, z: lax.fori_loop(0, x.shape[0], lambda i, s: s * z + x[i], 0.0)


PROGRAMS: List[Program] = [
    Program("stencils", heat, (0,), {"1000 x 200": (line(1000), 200), "20000 x 100": (line(20000), 100)},
            {"jax": _jax_loop(_heat_step), "autograd": _heat_autograd, "torch": _heat_autograd}),
    Program("stencils", burgers, (0,), {"1000 x 200": (line(1000), 200), "20000 x 100": (line(20000), 100)},
            {"jax": _jax_loop(_burgers_step), "autograd": _burgers_autograd, "torch": _burgers_autograd}),
    Program("stencils", plate, (0,), {"64 x 64 x 50": (R.rand(64, 64), 50)},
            {"jax": _jax_loop(_plate_step), "torch": _plate_torch}),
    Program("steps", leapfrog, (0, 1), {"1000 x 100": (line(1000), line(1000) + 1.0, 100)},
            {"jax": _leapfrog_jax, "autograd": _leapfrog_autograd, "torch": _leapfrog_autograd}),
    Program("steps", runge_kutta, (0, 1), {"1000 x 100": (line(1000), 0.01, 100)},
            dict(_same(runge_kutta), jax=_runge_kutta_jax)),
    Program("steps", network, (0, 1), {"30 x 50": (line(30), R.randn(30, 30) * 0.2, 50)},
            dict(_same(network), jax=_network_jax)),
    Program("scalar loops", horner, (0, 1), {"1000": (line(1000), 0.999)},
            dict(_same(horner), jax=_horner_jax)),
    Program("chains", chain, (0, 1), {"1000": (line(1000), line(1000) + 0.5), "100000": (line(10 ** 5), line(10 ** 5)),
                                      "4000000": (line(4 * 10 ** 6), line(4 * 10 ** 6))}, _same(chain)),
    Program("chains", rosenbrock, (0,), {"1000": (line(1000),), "100000": (line(10 ** 5),)}, _same(rosenbrock)),
    Program("losses", logistic, (0, 1), {"40 x 30": (R.randn(30), 0.5, R.randn(40, 30), np.sign(R.randn(40))),
                                         "4000 x 100": (R.randn(100), 0.5, R.randn(4000, 100), np.sign(R.randn(4000)))},
            _same(logistic)),
    Program("losses", layers, (0, 1, 2), {"40 x 30 x 5": (R.randn(30, 5), np.ones(5), np.ones(5), R.randn(40, 30)),
                                          "1000 x 100 x 50": (R.randn(100, 50) * 0.1, np.ones(50), np.ones(50),
                                                              R.randn(1000, 100))}, _same(layers)),
    Program("losses", softmax, (0,), {"40 x 30 x 5": (R.randn(30, 5), R.randn(40, 30)),
                                      "1000 x 100 x 20": (R.randn(100, 20) * 0.1, R.randn(1000, 100))},
            _same(softmax))]


def _jax(program: Program) -> Optional[Function]:
    """``jit(value_and_grad)``, which waits for its result; None if JAX is not installed."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    function = program.others["jax"](jax.numpy)
    loops = function.__code__.co_varnames[:function.__code__.co_argcount]
    static = tuple(number for number, name in enumerate(loops) if name == "steps")
    compiled = jax.jit(jax.value_and_grad(function, program.argnums), static_argnums=static)
    return lambda *args: jax.block_until_ready(compiled(*args))


def _autograd(program: Program) -> Optional[Function]:
    """autograd's ``value_and_grad``; None if it is not installed, or has no version of the program."""
    try:
        import autograd
        import autograd.numpy as anp
    except ImportError:
        return None
    if "autograd" not in program.others:
        return None
    found: Function = autograd.value_and_grad(program.others["autograd"](anp), program.argnums)
    return found


def _torch(program: Program) -> Optional[Function]:
    """PyTorch's eager mode on one thread; None if it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    names = {name: getattr(torch, name) for name in ("sqrt", "exp", "tanh", "log1p", "mean", "dot")}
    function = program.others["torch"](types.SimpleNamespace(concatenate=torch.cat, max=torch.amax, **names))

    def value_and_grad(*args: Any) -> Any:
        given = [torch.from_numpy(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
        for number in program.argnums:
            given[number] = torch.as_tensor(given[number], dtype=torch.float64).detach().requires_grad_()
        value = function(*given)
        gradients = torch.autograd.grad(value, [given[number] for number in program.argnums])
        return value.item(), [gradient.numpy() for gradient in gradients]
    return value_and_grad


COMPETITORS: Dict[str, Callable[[Program], Optional[Function]]] = {"jax": _jax, "torch": _torch, "autograd": _autograd}


class Row(NamedTuple):
    """One measurement, in seconds: NumPy's and the kernel's value alone, and the gradients of each way."""

    family: str
    name: str
    size: str
    seconds: Dict[str, float]
    why: str

    def __str__(self) -> str:
        ours, rest = self.seconds["pijit"], self.seconds
        cells = ["%.1f" % (1e6 * rest[name]) if name in rest else "-" for name in ("numpy", "kernel", "pijit")]
        cells += ["%.1f" % (ours / rest["kernel"]), "%.2f" % (ours / rest["numpy"])]
        cells += ["%.1f (%.1fx)" % (1e6 * rest[name], rest[name] / ours) if name in rest else "-"
                  for name in COMPETITORS]
        return "| %s | %s |" % (" | ".join([self.name, self.size] + cells), self.why or "kernels")


HEADINGS = ("function", "size", "NumPy, value", "kernel, value", "pijit, value and gradient", "of its kernel",
            "of NumPy", "JAX", "PyTorch", "autograd", "runs on")


def rows(seconds: float, select: str = "") -> Iterator[Row]:
    """Measure all programs and sizes whose name or family contains ``select``."""
    for program in PROGRAMS:
        if select not in program.family + " " + program.function.__name__:
            continue
        for size, arguments in program.arguments.items():
            gradient = pijit.value_and_grad(program.function, program.argnums)
            functions: Dict[str, Function] = {"numpy": program.function, "kernel": pijit.jit(program.function),
                                              "pijit": gradient}
            for name, competitor in COMPETITORS.items():
                made = competitor(program)
                if made is not None:
                    functions[name] = made
            _require_equal(program, functions, arguments)
            found = seconds_per_call(functions, arguments, seconds, warm=4)
            yield Row(program.family, program.function.__name__, size, found, gradient._kernels.why)


def _require_equal(program: Program, functions: Dict[str, Function], arguments: Tuple[Any, ...]) -> None:
    """Raise if a way to compute the gradient has another result."""
    wanted = functions["pijit"](*arguments)
    for name in COMPETITORS:
        if name in functions:
            found = functions[name](*arguments)
            for one, other in zip((wanted[0], *wanted[1]), (found[0], *found[1])):
                scale = np.max(np.abs(np.asarray(one))) + 1e-300
                if not np.max(np.abs(np.asarray(one) - np.asarray(other))) <= 1e-9 * scale:
                    raise AssertionError("%s of %s differs" % (name, program.function.__name__))


def main() -> int:
    """Print the table and the means."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="for each row")
    parser.add_argument("--select", default="", help="part of the name of a function or family")
    known = parser.parse_args()
    print("| %s |\n|%s" % (" | ".join(HEADINGS), "---|" * len(HEADINGS)))
    found = []
    for row in rows(known.seconds, known.select):
        found.append(row)
        print(row, flush=True)
    for name in ("kernel", "numpy", *COMPETITORS):
        ratios = [row.seconds[name] / row.seconds["pijit"] for row in found if name in row.seconds]
        if ratios:
            print("geometric mean of %s over pijit's value and gradient: %.2f (%d rows)" % (
                name, geometric_mean(ratios), len(ratios)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
