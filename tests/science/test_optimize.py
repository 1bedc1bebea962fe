"""Jitted callbacks of scipy.optimize and scipy.integrate: kernels serve the calls, and the answers are the plain ones."""

import math

import numpy as np
import pytest

import pijit
from tests.harness import fail_unless_captured, jitted

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")


def same_result(wanted, found):
    """Fail unless two results of SciPy have the same fields with the same bits."""
    assert type(wanted) is type(found)
    if isinstance(wanted, dict):
        assert sorted(wanted) == sorted(found)
        for key in wanted:
            same_result(wanted[key], found[key])
    elif isinstance(wanted, (tuple, list)):
        assert len(wanted) == len(found)
        for one, other in zip(wanted, found):
            same_result(one, other)
    elif isinstance(wanted, (np.ndarray, np.generic, float)) and np.asarray(wanted).dtype.kind != "O":
        assert np.asarray(wanted).tobytes() == np.asarray(found).tobytes()
        assert np.asarray(wanted).dtype == np.asarray(found).dtype
    elif isinstance(wanted, (int, str, bool, type(None))):
        assert wanted == found


def compare(run, *functions):
    """Run with plain functions and with jitted ones, which have kernels, no breaks, and serve most calls."""
    wanted = run(*functions)
    with fail_unless_captured():
        fast = [jitted(f) for f in functions]
        for _ in range(2):
            same_result(wanted, run(*fast))
    for f in fast:
        assert f.cache_info().hits > f.cache_info().misses, f.cache_info()
        assert not pijit.info(f).breaks, pijit.explain(f)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2
    return total


def rosenbrock_gradient(x):
    gradient = np.zeros_like(x)
    gradient[:-1] = -400.0 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2.0 * (1.0 - x[:-1])
    gradient[1:] += 200.0 * (x[1:] - x[:-1] ** 2)
    return gradient


START = np.array([-1.2, 1.0, 0.7, 1.3])


@pytest.mark.parametrize("f", [rosenbrock, rosenbrock_loop], ids=["array", "loop"])
@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", "CG", "BFGS", "L-BFGS-B", "TNC", "COBYLA", "SLSQP"])
def test_minimize(method, f):
    compare(lambda g: optimize.minimize(g, START, method=method), f)


@pytest.mark.parametrize("method", ["CG", "BFGS", "L-BFGS-B", "Newton-CG", "SLSQP"])
def test_minimize_with_a_jitted_gradient(method):
    compare(lambda f, g: optimize.minimize(f, START, jac=g, method=method), rosenbrock, rosenbrock_gradient)


def test_minimize_with_arguments():
    def f(x, a, b):
        return (x[0] - a) ** 2 + b * (x[1] - x[0]) ** 2

    compare(lambda g: optimize.minimize(g, np.zeros(2), args=(1.5, 3.0)), f)


def test_minimize_scalar_and_root_scalar():
    def f(x):
        return math.cos(x) * math.exp(-0.1 * x) - x * x * x + 0.25 * math.sin(3.0 * x) - 0.1 * x

    compare(lambda g: optimize.minimize_scalar(g, bounds=(0.0, 2.0), method="bounded"), f)
    compare(lambda g: optimize.brentq(g, 0.0, 1.0), f)
    compare(lambda g: optimize.root_scalar(g, bracket=[0.0, 1.0], method="brentq"), f)


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1"])
def test_root(method):
    def f(x):
        return np.array([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]])

    compare(lambda g: optimize.root(g, np.zeros(2), method=method), f)


def model(t, a, k, c):
    return a * np.exp(-k * t) + c


def test_curve_fit():
    t = np.linspace(0.0, 4.0, 50)
    y = model(t, 2.5, 1.3, 0.5) + 0.01 * np.sin(17.0 * t)
    compare(lambda g: optimize.curve_fit(g, t, y), model)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares(method):
    t = np.linspace(0.0, 4.0, 50)
    y = model(t, 2.5, 1.3, 0.5)

    def residuals(p, t, y):
        return p[0] * np.exp(-p[1] * t) + p[2] - y

    compare(lambda g: optimize.least_squares(g, [1.0, 1.0, 0.0], args=(t, y), method=method), residuals)


def test_differential_evolution():
    compare(lambda f: optimize.differential_evolution(f, [(-2.0, 2.0)] * 3, **{
        "seed": 1, "maxiter": 5, "polish": False}), rosenbrock)


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"])
def test_solve_ivp(method):
    def f(t, y):
        return np.array([y[1], (1.0 - y[0] ** 2) * y[1] - y[0]])

    compare(lambda g: integrate.solve_ivp(g, (0.0, 5.0), [2.0, 0.0], method=method), f)


def test_solve_ivp_of_a_list():
    def f(t, y, a, b):
        return [a * y[0] - b * y[0] * y[1], -a * y[1] + b * y[0] * y[1]]

    compare(lambda g: integrate.solve_ivp(g, (0.0, 3.0), [1.0, 0.5], args=(1.1, 0.4)), f)


def test_solve_ivp_of_a_grid():
    def f(t, u):
        out = np.zeros_like(u)
        out[1:-1] = u[2:] - 2.0 * u[1:-1] + u[:-2]
        return out

    compare(lambda g: integrate.solve_ivp(g, (0.0, 1.0), np.sin(np.linspace(0.0, 3.0, 40))), f)


def test_odeint():
    def f(y, t, k):
        return [y[1], -k * y[0] - 0.1 * y[1]]

    compare(lambda g: integrate.odeint(g, [1.0, 0.0], np.linspace(0.0, 5.0, 20), args=(2.0,)), f)


def test_quad():
    def f(x, a):
        return math.exp(-a * x) * np.sin(x)

    compare(lambda g: integrate.quad(g, 0.0, 3.0, args=(0.5,)), f)


def test_dblquad():
    def f(y, x):
        return x * y * y + math.exp(-x) * math.sin(y) - 0.5 * (x - y) * (x + y) + math.cos(x * y)

    compare(lambda g: integrate.dblquad(g, 0.0, 2.0, 0.0, 1.0), f)


def test_gradients_of_pijit():
    value_and_gradient = pijit.value_and_grad(rosenbrock)
    found = optimize.minimize(rosenbrock, START, jac=pijit.grad(rosenbrock), method="BFGS")
    together = optimize.minimize(value_and_gradient, START, jac=True, method="BFGS")
    assert np.allclose(rosenbrock_gradient(found.x), 0.0, atol=1e-4) and found.success
    same_result(found.x, together.x)
    assert np.allclose(pijit.grad(rosenbrock)(START), rosenbrock_gradient(START), rtol=1e-12)


def test_jitted_gradients_of_pijit():
    fast = jitted(rosenbrock)
    plain = optimize.minimize(rosenbrock, START, jac=pijit.grad(rosenbrock), method="L-BFGS-B")
    same_result(plain.x, optimize.minimize(fast, START, jac=pijit.grad(fast), method="L-BFGS-B").x)
