"""Library functions, selections and reshapes in joint functions: the tape's bits, and one kernel."""

import numpy as np
import pytest

from pijit.core import _hook
from pijit.core.kernel import disk_cache
from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import Gradient, is_kernel

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

R = np.random.RandomState(5)
X, Y, A, B = R.uniform(0.2, 1.5, 7), R.uniform(-1.0, 1.0, 3), R.normal(size=(4, 7)), R.normal(size=(4, 7))
S = R.normal(size=(4, 4)) + 4.0 * np.eye(4)
PLACES = np.array([0, 2, 2, 6, -1])
ORDER = np.array([2, 0, 1, 6, 3, 5, 4])
POINTS = np.array([0.3, 0.45, 1.2])
PROGRAMS = {
    "cumsum": (lambda x: (np.cumsum(x) ** 2).sum(), X),
    "cumprod": (lambda x: np.cumprod(x).sum(), X[:3]),
    "prod": (lambda x: np.prod(x) * x.sum(), X),
    "prod along an axis": (lambda a: (np.prod(a, axis=1) ** 2).sum(), A),
    "max along an axis": (lambda a: (a.max(axis=1) ** 2).sum(), A),
    "min along the last axis": (lambda a: (a.min(axis=-1, keepdims=True) * a).sum(), A),
    "solve": (lambda s, b: (np.linalg.solve(s, b) ** 2).sum(), S, X[:4]),
    "solve columns": (lambda s, b: (np.linalg.solve(s, b) ** 2).sum(), S, A),
    "inv": (lambda s: (np.linalg.inv(s) * s.T).sum(), S),
    "det": (lambda s: np.linalg.det(s) ** 2, S),
    "cholesky": (lambda s: np.linalg.cholesky(s @ s.T).sum(), S),
    "norm": (lambda x: np.linalg.norm(x) * x[0], X),
    "singular values": (lambda s: np.linalg.svd(s, compute_uv=False)[0], S),
    "gather": (lambda x: (x[PLACES] ** 2).sum() + x.sum(), X),
    "gathered rows": (lambda a: (np.take(a, PLACES[:3], axis=0) ** 2).sum(), A),
    "elements that a mask picks": (lambda x: (x[x > 0.8] ** 3).sum() + x.sum(), X),
    "concatenate": (lambda x, y: (np.concatenate([x, y, x[::-1]]) ** 2).sum() + x[0], X, Y),
    "hstack": (lambda x, y: (np.hstack((x, 2.0 * y)) ** 2).sum(), X, Y),
    "roll": (lambda x: ((np.roll(x, 1) - x) ** 2).sum(), X),
    "roll rows": (lambda a: (np.roll(a, -1, axis=0) * a).sum(), A),
    "clip": (lambda x: (np.clip(x, 0.4, 1.0) * x).sum(), X),
    "clip by an array": (lambda x, y: np.clip(x, -1.0, y).sum(), X, X[::-1].copy()),
    "sort": (lambda x: (np.sort(x)[:3] ** 2).sum(), X),
    "convolve": (lambda x, y: (np.convolve(x, y) ** 2).sum(), X, Y),
    "interp": (lambda x: (np.interp(POINTS, np.sort(x), x) ** 2).sum(), X),
    "bincount": (lambda x: (np.bincount(np.abs(PLACES), weights=x[:5]) ** 2).sum(), X),
    "trace": (lambda s: np.trace(s @ s), S),
    "tril": (lambda s: (np.tril(s, -1) ** 2).sum(), S),
    "outer": (lambda x, y: (np.outer(x, y) ** 2).sum(), X, Y),
    "pad": (lambda x: (np.pad(x, 1) ** 2).sum(), X),
    "repeat": (lambda x: (np.repeat(x, 2) ** 2).sum(), X),
    "var": (lambda a: a.var(axis=0).sum(), A),
    "std": (lambda a: np.std(a), A),
    "std along an axis": (lambda a: (a.std(axis=-1, ddof=1) ** 2).sum() + a[0, 0], A),
    "cumsum along an axis": (lambda a: (np.cumsum(a, axis=1) ** 2).sum(), A),
    "cumprod of columns": (lambda a: (np.cumprod(a, axis=0) ** 2).sum(), A),
    "median": (lambda a: np.median(a, axis=0).sum(), A),
    "softmax": (lambda a: -np.log(np.exp(a[:, 0]) / np.exp(a - a.max()).sum(axis=1)).mean(), A),
    "reshape": (lambda x: (x[:6].reshape(2, 3) ** 2).sum() + x[0], X),
    "reshape and slice": (lambda a: (a.reshape(2, 14)[:, 3:] * a.reshape(-1, 14)[:, :-3]).sum() + (a * a).sum(), A),
    "reshaped product": (lambda a, b: (np.reshape(a @ b.T, (2, 8))[1] ** 2).sum(), A, B),
    "power of elements": (lambda x: x[0] ** 2 + x[1] ** 3 + 2.0 ** x[2], X)}
JITTED = {"cumprod of columns", "median", "cumprod", "gathered rows", "power of elements", "pad", "prod along an axis", "repeat", "clip by an array", "solve columns"}
"""Programs whose joint functions are jitted: their rules iterate over tuples, or NumPy 1's functions are not captured."""
if np.__version__ < "2":
    JITTED |= {"interp", "trace"}


def parts(gradient):
    return [part for entry in gradient.f._kernels.entries for part in (entry.function, entry.backward) if part is not None]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_bits_are_the_tapes(name):
    f, *args = PROGRAMS[name]
    gradient = Gradient(f, tuple(range(len(args)))).warm(*args)
    for _ in range(2):
        assert gradient.compare(*args), gradient.why
    assert all(map(is_kernel, parts(gradient)))
    if disk_cache.SUPPORTED and name not in JITTED:
        assert all(type(part.usual) is _hook.KernelFunction for part in parts(gradient)), parts(gradient)[0].why
    scaled = [1.5 * arg for arg in args]
    assert gradient.compare(*scaled), gradient.why


def test_special_values():
    x = np.array([0.0, -0.0, np.inf, np.nan, 1.0, 1.0, 0.4])
    for name in ("cumsum", "prod", "gather", "concatenate", "roll", "clip", "reshape", "sort"):
        f, *args = PROGRAMS[name]
        gradient = Gradient(f, 0).warm(*args)
        assert gradient.compare(*args), gradient.why
        gradient.compare(x, *args[1:])


def test_errors_are_the_programs():
    gradient = Gradient(PROGRAMS["inv"][0], 0).warm(S)
    assert gradient.compare(S)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        gradient.f(np.zeros((4, 4)))


def test_arrays_that_change_after_a_reshape_use_the_tape():
    def f(x):
        y = x * 2.0
        z = y.reshape(2, 3)
        y[0] = 5.0
        return (z * z).sum()

    gradient = Gradient(f, 0).warm(X[:6])
    assert not gradient.compare(X[:6].copy()) and "reshaped" in gradient.why


def test_stores_beside_selections():
    def f(x, y):
        z = x * 1.0
        z[1:] = y[1:] * y[PLACES].sum()
        return (z ** 2).sum()

    gradient = Gradient(f, (0, 1)).warm(X, X[::-1].copy())
    assert gradient.compare(X, X[::-1].copy()), gradient.why


def loop(x, steps):
    u = x * 1.0
    for _ in range(steps):
        u = u + 0.1 * np.roll(u, 1)
        u = u * u[ORDER] / np.linalg.norm(u)
    return (np.cumsum(u) ** 2).sum()


@pytest.mark.parametrize("steps", [1, 2, 9])
def test_loops(steps):
    gradient = Gradient(loop, 0).warm(X, 4)
    assert gradient.compare(X, steps), gradient.why
    assert all(map(is_kernel, parts(gradient)))
