"""Special functions: values of the C library, types, layouts, kernels on disk, and derivatives."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import pijit
from pijit.core.graph.special_functions import erf
from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import Gradient
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(-7.0, 7.0, 1001)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-300, 1e300, -1e300])

compiled = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")


def halves(x, y):
    return x * 0.5 * (1 + erf(x * 0.7)) + y


def test_values():
    wanted = np.array([math.erf(x) for x in X])
    np.testing.assert_allclose(erf(X), wanted, rtol=3e-16)
    np.testing.assert_allclose(erf(X.astype("f")), wanted, rtol=3e-7)
    assert [erf(X.astype(kind)).dtype for kind in "efd"] == [np.float32, np.float32, np.float64]
    got = erf(SPECIAL)
    assert got[4] != got[4] and np.signbit(got[1]) and got[[2, 3, 7, 8]].tolist() == [1, -1, 1, -1]
    assert np.array_equal(erf(X[::-3].reshape(2, -1).T), erf(X)[::-3].reshape(2, -1).T)


@compiled
def test_kernels():
    check(halves, X, X, others=[(X.astype("f"), X), (X[::2], X[1::2][:500].tolist()[0]), (SPECIAL, 1.0), (X.reshape(7, -1).T, 2)])
    with fail_unless_captured():
        f = jitted(halves)
        f(X, X)
        assert np.array_equal(f(X, X), halves(X, X))


@compiled
def test_kernels_on_disk(tmp_path):
    """Another process finds the ufunc by its name."""
    (tmp_path / "program.py").write_text(
        "import numpy as np\nfrom pijit import jit\nfrom pijit.core.graph.special_functions import erf\n\n\n"
        "@jit(mode='PIJit')\ndef f(x):\n    return erf(x * 2.0) + x\n\n\nx = np.linspace(-1, 1, 1000)\nf(x)\n"
        "assert np.array_equal(f(x), erf(x * 2.0) + x)\n"
        "assert f.state.entries[0].launchers[0].calls == 2\n")
    kept = tmp_path / "kept"
    for _ in range(2):
        subprocess.run([sys.executable, "program.py"], cwd=str(tmp_path), check=True, env=dict(os.environ, PIJIT_CACHE_DIR=str(kept)))
        assert len([one for one in kept.rglob("*") if one.suffix == ".kernel"]) == 1


@pytest.mark.parametrize("kind", "df")
def test_derivatives(kind):
    x = X.astype(kind)
    gradient = pijit.grad(lambda x: (x * erf(x)).sum())(x)
    wanted = erf(X) + X * (2 / math.sqrt(math.pi)) * np.exp(-X * X)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-12 if kind == "d" else 1e-5, atol=1e-30)
    assert gradient.dtype == kind


@compiled
def test_gradients_in_kernels():
    def f(x):
        return (x * erf(x)).sum()

    for x in (X, X.astype("f")):
        joint = Gradient(f, 0).warm(x)
        assert joint.compare(x) and joint.compare(x[::2].copy())
