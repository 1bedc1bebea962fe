"""Each rule of the table of derivatives against differences, real and complex, at random points."""

import math
import pathlib
import sys

import numpy as np
import pytest
from gradient_comparison import compare, weighted

from pijit import grad
from pijit.cli.commands import derivatives_page
from pijit.core.graph.derivatives import ELEMENTWISE, FUNCTIONS
from pijit.core.graph.derivatives.table import sizes_needed

RANDOM = np.random.RandomState(0)
A = RANDOM.standard_normal((3, 4))
SQUARE = RANDOM.standard_normal((3, 3)) + 3.0 * np.eye(3)
COMPLEX = SQUARE + 1j * RANDOM.standard_normal((3, 3))
SIGNED = ("copysign", "maximum", "minimum", "fmax", "fmin", "remainder", "fmod", "absolute", "fabs")
UFUNCS = sorted((one for one in ELEMENTWISE if isinstance(one, np.ufunc) and one is not np.ldexp), key=lambda one: one.__name__)


def operand(ufunc, shape, seed):
    values = np.random.RandomState(seed)
    if ufunc.__name__ in SIGNED:
        return values.standard_normal(shape)
    return values.random_sample(shape) * 0.5 + (1.5 if ufunc is np.arccosh else 0.3)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda one: one.__name__)
def test_ufuncs(ufunc):
    operands = [operand(ufunc, (2, 3) if k == 0 else (3,), k) for k in range(ufunc.nin)]
    for k, x in enumerate(operands):
        compare(lambda v: weighted(ufunc(*(operands[:k] + [v] + operands[k + 1:]))), x)


@pytest.mark.parametrize("ufunc", [one for one in UFUNCS if any(kind.startswith("D") for kind in one.types)
                                   or one is np.absolute], ids=lambda one: one.__name__)
def test_complex_ufuncs(ufunc):
    operands = [operand(ufunc, (3,), k) + 1j * operand(ufunc, (3,), k + 5) * 0.5 for k in range(ufunc.nin)]
    for k, x in enumerate(operands):
        compare(lambda v: weighted(ufunc(*(operands[:k] + [v] + operands[k + 1:]))), x)


@pytest.mark.parametrize("function", [one for one in ELEMENTWISE if not isinstance(one, np.ufunc)], ids=lambda one: one.__name__)
def test_math(function):
    arguments = [1.7 if function is math.acosh else 0.4]
    try:
        function(*arguments)
    except TypeError:
        arguments.append(2 if function is math.ldexp else 0.7)
    for k, x in enumerate(arguments):
        if isinstance(x, float):
            above, below = list(arguments), list(arguments)
            above[k], below[k] = x + 1e-6, x - 1e-6
            got = grad(function, k)(*arguments) if function is not math.copysign or k == 0 else 0.0
            assert abs(got - (function(*above) - function(*below)) / 2e-6) < 1e-6


@pytest.mark.parametrize("axis", (None, 0, -1, (0, 1)))
@pytest.mark.parametrize("keepdims", (False, True))
@pytest.mark.parametrize("name", ("sum", "mean", "var", "std", "prod", "max", "min"))
def test_reductions(name, axis, keepdims):
    compare(lambda x: weighted(getattr(np, name)(x, axis=axis, keepdims=keepdims)), A)
    compare(lambda x: weighted(getattr(x, name)(axis=axis, keepdims=keepdims)), A)


@pytest.mark.parametrize("axis", (None, 0, 1))
@pytest.mark.parametrize("name", ("cumsum", "cumprod", "median", "ptp"))
def test_scans_and_order(name, axis):
    compare(lambda x: weighted(getattr(np, name)(x, axis=axis)), A)


@pytest.mark.parametrize("name", ("prod", "cumprod"))
@pytest.mark.parametrize("zeros", (1, 2))
def test_products_with_zeros(name, zeros):
    x = np.array([0.5, 0.0, 2.0, 0.0 if zeros == 2 else 3.0])
    compare(lambda v: weighted(getattr(np, name)(v)), x)


@pytest.mark.parametrize("axis", (None, 0, 1))
def test_movement_along_axes(axis):
    compare(lambda x: weighted(np.sort(x, axis=axis)), A)
    compare(lambda x: weighted(np.quantile(x, [0.2, 0.7], axis=axis)), A)
    compare(lambda x: weighted(np.take(x, [0, 2, 2], axis=axis)), A)
    compare(lambda x: weighted(np.repeat(x, 2, axis=axis)), A)
    compare(lambda x: weighted(np.roll(x, 1, axis=axis)), A)


REAL = {
    "copy": np.copy, "array": np.array, "ravel": np.ravel, "transpose": lambda x: x.T, "diag of row": lambda x: np.diag(x[0]),
    "reshape": lambda x: np.reshape(x, (4, 3)), "reshape F": lambda x: np.reshape(x, (4, 3), order="F"),
    "ravel F": lambda x: x.ravel("F"), "flatten": lambda x: x.flatten("F"), "where": lambda x: np.where(x > 0, x, x * x),
    "concatenate": lambda x: np.concatenate([x, 2 * x], axis=1), "stack": lambda x: np.stack([x, x * x]),
    "vstack": lambda x: np.vstack([x, x]), "hstack": lambda x: np.hstack([x, x * x]), "clip": lambda x: np.clip(x, -0.5, 0.5),
    "tril": np.tril, "triu": np.triu, "diag": np.diag, "trace": np.trace, "offset trace": lambda x: x.trace(1),
    "pad": lambda x: np.pad(x, 1, mode="constant"), "pad edge": lambda x: np.pad(x, ((1, 2), (0, 1)), mode="edge"),
    "pad reflect": lambda x: np.pad(x, 2, mode="reflect"), "flip": lambda x: np.flip(x, 0), "tile": lambda x: np.tile(x, 2),
    "rot90": np.rot90, "diff": np.diff, "gradient": lambda x: np.gradient(x, axis=0), "cov": np.cov,
    "average": lambda x: np.average(x, axis=0, weights=[1.0, 2.0, 3.0]), "kron": lambda x: np.kron(x, x),
    "split": lambda x: np.split(x, 2, axis=1)[1], "broadcast_to": lambda x: np.broadcast_to(x, (2, 3, 4)),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1), "meshgrid": lambda x: np.meshgrid(x[0], x[1])[0],
    "polyval": lambda x: np.polyval(x[0], x[1]), "nan_to_num": np.nan_to_num, "fancy": lambda x: x[[0, 0, 2], [1, 1, 3]],
    "mask": lambda x: x[x > 0], "newaxis": lambda x: x[:, None] * x[None], "cross": lambda x: np.cross(x[:, :3], x[:, 1:]),
    "outer": lambda x: np.outer(x[0], x[1]), "inner": lambda x: np.inner(x, x), "vdot": lambda x: np.vdot(x, 2 * x),
    "tensordot": lambda x: np.tensordot(x, x, axes=([0], [0])), "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "einsum sum": lambda x: np.einsum("ij->j", x), "einsum batch": lambda x: np.einsum("i...,i...", x, x),
    "dot": lambda x: x.dot(x.T), "matmul": lambda x: x @ x.T, "matrix vector": lambda x: x @ x[0],
    "vector matrix": lambda x: x[:, 0] @ x, "convolve": lambda x: np.convolve(x[0], x[1, :3]),
    "convolve same": lambda x: np.convolve(x[0], x[1, :3], "same"),
    "convolve valid": lambda x: np.convolve(x[0, :2], x[1], "valid"),
    "correlate": lambda x: np.correlate(x[0], x[1, :3], "full"), "norm": np.linalg.norm,
    "norm of rows": lambda x: np.linalg.norm(x, axis=1), "norm 3": lambda x: np.linalg.norm(x[0], 3),
    "norm inf": lambda x: np.linalg.norm(x[0], np.inf), "add.reduce": lambda x: np.add.reduce(x, axis=1),
    "add.accumulate": lambda x: np.add.accumulate(x, axis=1), "multiply.outer": lambda x: np.multiply.outer(x[0], x[1]),
    "logaddexp.reduce": lambda x: np.logaddexp.reduce(x, axis=0), "choose": lambda x: np.choose([0, 1, 2, 0], list(x)),
    "compress": lambda x: np.compress([True, False, True], x, axis=0),
    "select": lambda x: np.select([x > 0, x < -0.5], [x, x * x], 0.0),
    "piecewise": lambda x: np.piecewise(x, [x > 0], [lambda t: t * t, lambda t: -t]), "unique": np.unique,
    "apply_along_axis": lambda x: np.apply_along_axis(lambda v: v * v[0], 1, x), "fft": np.fft.fft,
    "rfft": np.fft.rfft, "irfft": np.fft.irfft, "fft2": np.fft.fft2, "fftn": lambda x: np.fft.fftn(x, norm="ortho"),
    "fft padded": lambda x: np.fft.fft(x, 6, axis=0), "rfft cut": lambda x: np.fft.rfft(x, 3), "pinv": np.linalg.pinv,
    "singular values": lambda x: np.linalg.svd(x, compute_uv=False),
    "svd": lambda x: np.abs(np.linalg.svd(x, full_matrices=False)[0]), "qr": lambda x: list(np.linalg.qr(x.T)),
    "svd right": lambda x: np.abs(np.linalg.svd(x, full_matrices=False)[2]),
    "lstsq": lambda x: np.linalg.lstsq(x.T, x[0] * 1.5, rcond=None)[0],
    "interp": lambda x: np.interp(x[0], np.linspace(-2, 2, 4), x[1]), "modf": lambda x: np.modf(x)[0],
    "out": lambda x: np.multiply(x, x, out=np.zeros_like(x)), "sum into": lambda x: np.sum(x, axis=0, out=np.zeros(4)),
    "insert": lambda x: np.insert(x, 1, x[0] * 2, axis=0), "delete": lambda x: np.delete(x, 1, axis=0),
    "append": lambda x: np.append(x, x), "polyfit": lambda x: np.polyfit(x[0], x[1], 1), "corrcoef": np.corrcoef,
    "nanmean": np.nanmean, "unwrap": lambda x: np.unwrap(x * 5), "block": lambda x: np.block([[x, x], [x, x]]),
    "bincount": lambda x: np.bincount([0, 1, 1, 2], weights=x[0]), "broadcast_arrays": lambda x: np.broadcast_arrays(x, x[:1]),
    "nansum": np.nansum, "sinc": np.sinc, "ediff1d": np.ediff1d, "rollaxis": lambda x: np.rollaxis(x, 1),
}


@pytest.mark.parametrize("name", sorted(REAL))
def test_functions(name):
    compare(lambda x: weighted(REAL[name](x)), A, 2e-6)


MATRICES = {
    "solve": lambda x: np.linalg.solve(x, x[:, :2] * 2.0), "solve vector": lambda x: np.linalg.solve(x, x[0]),
    "inv": np.linalg.inv, "det": np.linalg.det, "slogdet": lambda x: np.linalg.slogdet(x)[1],
    "cholesky": lambda x: np.linalg.cholesky(x @ x.T), "eigh": lambda x: np.linalg.eigh(x @ x.T)[0],
    "eigh vectors": lambda x: np.abs(np.linalg.eigh(x @ x.T)[1]), "eigvalsh": lambda x: np.linalg.eigvalsh(x @ x.T),
    "eigvals": lambda x: np.linalg.eigvals(x @ x.T), "matrix_power": lambda x: np.linalg.matrix_power(x, 3),
    "matrix_power -2": lambda x: np.linalg.matrix_power(x, -2), "multi_dot": lambda x: np.linalg.multi_dot([x, x, x]),
    "cond": np.linalg.cond,
}


@pytest.mark.parametrize("name", sorted(MATRICES))
def test_matrices(name):
    compare(lambda x: weighted(MATRICES[name](x)), SQUARE, 5e-6)


def stores_of_parts(z):
    made = np.zeros_like(z)
    made.real = z.imag
    made.imag[0] = z.real[1]
    return made


COMPLEX_FUNCTIONS = {
    "fft": np.fft.fft, "ifft": np.fft.ifft, "irfft": np.fft.irfft, "abs": np.abs, "real": lambda z: z.real, "np.real": np.real,
    "imag": lambda z: z.imag, "np.imag": np.imag, "angle": np.angle, "conj": np.conj, "matmul": lambda z: z @ z,
    "inv": np.linalg.inv, "det": np.linalg.det, "slogdet": lambda z: list(np.linalg.slogdet(z)),
    "solve": lambda z: np.linalg.solve(z, z[0]), "sum": np.sum, "prod": np.prod, "norm": np.linalg.norm, "var": np.var,
    "einsum": lambda z: np.einsum("ij,jk", z, z.conj()), "vdot": lambda z: np.vdot(z, z * 2j), "std": np.std,
    "squared": lambda z: (z * z.conj()).real, "power": lambda z: z ** 2, "inner": lambda z: np.inner(z, z),
    "outer": lambda z: np.outer(z, z), "dot": lambda z: z.dot(z), "stores of parts": stores_of_parts,
}


@pytest.mark.parametrize("name", sorted(COMPLEX_FUNCTIONS))
def test_complex_functions(name):
    compare(lambda z: weighted(COMPLEX_FUNCTIONS[name](z)), COMPLEX, 5e-6)


def test_determinant_of_a_singular_matrix():
    compare(np.linalg.det, np.array([[1.0, 2.0], [2.0, 4.0]]))


def test_ties_are_shared():
    x = np.array([1.0, 3.0, 3.0])
    assert grad(np.max)(x).tolist() == [0.0, 0.5, 0.5]
    assert grad(lambda a: np.maximum(a, 1.0).sum())(np.array([1.0, 2.0])).tolist() == [0.5, 1.0]
    assert grad(lambda a: np.clip(a, 1.0, 2.0).sum())(np.array([1.0, 1.5, 2.0, 3.0])).tolist() == [0.5, 1.0, 0.5, 0.0]


def test_strong_zeros():
    x = np.array([0.0, 4.0, -1.0])
    with np.errstate(all="ignore"):
        assert grad(lambda a: np.where(a > 0, np.sqrt(a), 0.0).sum())(x).tolist() == [0.0, 0.25, 0.0]
        assert grad(lambda a: np.where(a > 0, np.log(a) / a, 0.0)[1])(x)[[0, 2]].tolist() == [0.0, 0.0]
    assert grad(lambda a: (a ** 2).sum())(np.array([0.0, -3.0])).tolist() == [0.0, -6.0]
    assert grad(lambda a: a ** 0)(0.0) == 0.0
    assert grad(np.linalg.norm)(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", (np.float32, np.float16, np.longdouble, np.complex64))
def test_adjoints_have_the_dtype_of_their_values(dtype):
    x = np.array([0.5, 2.0], dtype=dtype)
    got = grad(lambda a: abs(a * a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)).sum())(x)
    assert got.dtype == dtype and np.allclose(got, 2 * x, rtol=1e-3)


def test_every_rule_has_a_name():
    assert all(rule.name and len(rule.partials) >= 1 for rule in ELEMENTWISE.values())
    assert len(FUNCTIONS) > 80


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda one: one.__name__)
def test_kernels_find_the_sizes_of_what_rules_return(ufunc):
    needed = [sizes_needed(partial, ufunc.nin) for partial in ELEMENTWISE[ufunc].partials]
    assert all(len(one) == 1 + ufunc.nin for one in needed)
    if ufunc is np.ldexp:
        assert needed[0] == (False, True, True)


@pytest.mark.unshared
@pytest.mark.skipif(sys.version_info[:2] != (3, 10) or not hasattr(np, "_core"),
                    reason="the page is made with CPython 3.10 and NumPy 2")
def test_the_page_is_up_to_date():
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "derivatives.md"
    assert page.read_text() == derivatives_page()
