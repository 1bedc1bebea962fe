"""NumPy functions that kernels call as they are: results, exceptions and warnings are those of the call in bytecode."""

import os
import re
import textwrap
import threading
import warnings

import numpy as np
import pytest

import pijit
from pijit.core.capture.models import registry
from pijit.core.capture.models.numpy import library
from pijit.core.capture.typing import result_types
from pijit.core.graph.library import CLIP_WARNS, FUNCTIONS, LibraryFunction
from tests.capture.arrays.test_arrays import array
from tests.capture.scalars.test_scalars import agree, define
from tests.harness import check, fail_unless_captured, jitted, kernel_count

ALONE = {"backend": "python", "force_breaks": None}

CALLS = (
    "np.sort(x)", "np.sort(x, axis=0)", "x.argsort()", "np.argmax(x, 0)", "x.argmin()", "np.any(x, axis=-1)", "x.all()",
    "np.max(x, axis=(0, 1))", "np.min(x, axis=1, keepdims=True)", "x.max(0)", "np.ptp(x, axis=0)",
    "np.sum(x, axis=(0, -1))", "np.sum(x, axis=0, keepdims=True)", "x.sum(axis=1, dtype=np.float64)", "np.prod(x, axis=0)",
    "np.mean(x, axis=0)", "x.mean(axis=1, keepdims=True)", "np.var(x, ddof=1)", "np.std(x, axis=0)", "x.var(axis=(0, 1))",
    "np.cumsum(x)", "x.cumsum(axis=1)", "np.cumprod(x, 0)", "np.diff(x)", "np.diff(x, axis=0)", "np.median(x, axis=1)",
    "np.percentile(x, 30.0)", "np.trace(x)", "x.trace()", "np.count_nonzero(x)", "np.nonzero(x)", "np.where(x > 0)",
    "np.where(x > 0, x, y)", "np.where(x > 1, x, 0.5)", "np.concatenate([x, y])", "np.concatenate((x, y), axis=1)",
    "np.stack([x, y])", "np.hstack((x, y))", "np.vstack([x, y, x])", "np.take(x, [0, 1], axis=1)", "np.repeat(x, 2)",
    "np.roll(x, 1)", "np.roll(x, -1, axis=0)", "np.flip(x, 0)", "np.tile(x[0], 3)", "np.eye(3)", "np.arange(5)",
    "np.arange(0.0, 1.0, 0.25)", "np.arange(3, dtype=np.float32)", "np.linspace(0.0, 1.0, 7)", "np.full_like(x, 3)",
    "np.full((2, 3), 1.5)", "np.zeros_like(x)", "x.reshape(-1)", "x.reshape((4, 3))", "x.reshape(2, 6)", "x.ravel()",
    "x.flatten()", "np.transpose(x)", "x.transpose(1, 0)", "np.swapaxes(x, 0, 1)", "np.expand_dims(x, 0)",
    "x.astype(np.float32)", "x.copy()", "np.asarray(x)", "np.array([1.0, 2.0])", "np.array(x)", "np.diag(x)", "np.triu(x)",
    "np.outer(x[0], y[1])", "np.dot(x, y.T)", "x.dot(y.T)", "np.matmul(x, y.T)", "np.inner(x, y)", "np.vdot(x, y)",
    "np.einsum('ij,ij->i', x, y)", "np.tensordot(x, y.T, 1)", "np.linalg.norm(x)", "np.linalg.norm(x, axis=1)",
    "np.kron(x, y)", "np.round(x, 1)", "x.round(2)", "np.clip(x, 0, 1)", "np.interp(x[0], [0.0, 1.0], [2.0, 3.0])",
    "np.searchsorted(x[0], 0.5)", "np.unique(x)", "np.argwhere(x)", "np.squeeze(x[:1], 0)", "np.array_equal(x, y)",
    "np.allclose(x, y)", "np.gradient(x[0])", "np.convolve(x[0], y[0])", "np.average(x, axis=0)", "np.quantile(x, 0.5)",
    "np.bincount(np.arange(3))", "x[:3, :3].diagonal()", "np.moveaxis(x, 0, 1)", "np.eye(3, dtype=x.dtype)",
    "np.pad(x, 1, constant_values=2.0)", "np.diff(x, prepend=0.0)", "np.linspace(0, 1, 5, endpoint=False)",
    "np.take_along_axis(x, np.argsort(x, axis=1), axis=1)", "np.lexsort((x[0], y[0]))", "x[np.ix_([0, 1], [1])]",
    "np.select([x < 0, x > 1], [y, x], 0.5)", "np.broadcast_to(x[0], (2, 4))", "np.sinc(x)", "np.hanning(5)",
    "np.unravel_index(5, (2, 3))", "np.add.reduce(x, axis=1)", "np.maximum.accumulate(x)", "np.add.accumulate(x, 1)",
    "np.minimum.reduce(x)", "np.subtract.outer(x, y[0])", "np.outer(x[0], y[1])", "np.shape(x), np.size(x), np.ndim(x)",
    "np.shape(2.5), np.size(x[0, 0]), np.ndim(x.sum()), np.ndim(7)",
    "x[:, [0, 1]]", "x[[1, 0], 1:3]", "x[1:, x[0] > 1]", "x[..., ::2, [0, 2]]", "x.sum() ** 2, x[0, 1] ** 0.5",
)


def around(call):
    """A function with enough work for a kernel around a call."""
    return define("def f(x, y):\n    z = x * 2 + y\n    r = %s\n    return r, z - x" % call)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_calls(call):
    """What the call gives is handed on; layouts, dtypes, NaN, infinities, empty arrays, errors."""
    x, y = array("d", nan=0.5)[::-1].copy() / 1e30, array("d", nan=0.25) / 1e30
    x[np.isinf(x)], y[np.isinf(y)] = 4.0, 2.5
    f = around(call)
    j = jitted(f, ALONE)
    agree(f, j, [(x, y)])
    report = pijit.explain(j, x, y)
    assert kernel_count(j) == 1 and not report.breaks or CLIP_WARNS and "clip" in call, report
    others = [(np.asfortranarray(x), y[::-1]), (array("f"), array("f")), (array("d"), array("d")), (array("?"), array("l")),
              (x[:, :0], y[:, :0]), (x[0], y[0])]
    agree(f, j, others)


SQUARES = ("np.linalg.solve(x, y)", "np.linalg.inv(x)", "np.linalg.det(x)", "np.linalg.cholesky(x)", "x @ y",
           "np.linalg.eigvalsh(x)", "np.linalg.matrix_power(x, 3)", "np.linalg.solve(x, y[0])")


@pytest.mark.parametrize("call", SQUARES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_linear_algebra(call):
    x, y = np.diag([2.0, 3.0, 4.0]) + 0.5, np.arange(9.0).reshape(3, 3)
    f = around(call)
    j = jitted(f, ALONE)
    agree(f, j, [(x, y), (np.ones((3, 3)), y), (x[:2], y), (x * np.nan, y), (-x, y), (x.astype("f"), y.astype("f"))])
    assert kernel_count(j) and not pijit.explain(j, x, y).breaks


def mixed(x, y, k):
    total = 0.0
    for i in range(k):
        row = np.sort(x * 2.0 - y[i])
        total += row[i] + np.median(row[1:])
        y[i] = row.argmax()
    a, b = np.where(x > 0.0, x, y), np.nonzero(x > 0.5)[0]
    return total, a, b, np.linalg.norm(a), np.concatenate((a, y)).reshape((2, -1)), b.size


def test_in_machine_code():
    x, y = np.linspace(-1.0, 1.0, 12), np.linspace(2.0, 0.0, 12)
    with fail_unless_captured():
        j = check(mixed, x, y, 5, others=[(x[::-1], y, 3), (x[:0], y, 0), (x, y, 40), (x * np.nan, y, 2)])
    assert not pijit.explain(j, x, y, 5).breaks


@pytest.mark.parametrize("backend", ("numba", "python"))
def test_warnings_name_the_line(backend):
    """Of too few elements, and of arithmetic in NumPy's C code."""
    f = define("def f(x):\n    y = x * 2.0\n    z = y.mean(axis=0)\n\n    return z, y.cumsum()")
    for x in (np.ones((0, 2)), np.full((2, 2), 1e308), np.ones((2, 2))):
        seen = []
        for one in (f, jitted(f, {"backend": backend})):
            for _ in range(2):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    one(x)
                seen.append([(str(w.message), w.category, w.lineno) for w in caught])
        assert seen[0] == seen[1] == seen[2] == seen[3]


def test_a_warning_comes_once_where_the_statement_is_left_after_it():
    def f(x, m, rows):
        x[rows] = m.std(axis=0)
        return x

    m = np.array([[np.nan, np.inf, 1.0], [np.inf, 2.0, 3.0]])
    with fail_unless_captured():
        check(f, np.zeros(5), np.ones((2, 3)), np.arange(3), others=[
            (np.zeros(5), m, np.arange(3)), (np.zeros(5), m, np.arange(2)), (np.zeros(5), m, np.array([0, 1, 9]))])


def test_the_error_state_is_as_before():
    x = np.array([1e308, 1e308])
    f = define("def f(x):\n    y = x * 0.5\n    return y.cumsum(), y.cumsum(), x.cumsum()")
    j = jitted(f)
    for state in ({"over": "ignore"}, {"over": "raise"}, {"all": "ignore"}):
        with np.errstate(**state):
            before = np.geterr()
            agree(f, j, [(x,)])
            assert np.geterr() == before


STOP = [False]


def waiting(x, limit):
    n = 0
    while n < limit:
        y = np.sort(x)
        n += 1
        if STOP[0] > 0:
            break
    return n < limit, y


def test_threads_are_heard():
    """What another thread changes while a call is made ends the loop."""
    j = jitted(waiting, {"backend": "numba"})
    x = np.arange(2000.0)[::-1].copy()
    j(x, 3)
    j(x, 3)
    timer = threading.Timer(0.05, lambda: STOP.__setitem__(0, True))
    timer.start()
    try:
        assert j(x, 10 ** 9)[0]
    finally:
        timer.join()
        STOP[0] = False


def test_longlong_is_not_its_twin():
    """C's two 64-bit integers compare as equal dtypes; results keep the one that the array has."""
    f = define("def f(x, y):\n    return x * 2 + y, (x * y).sum(), np.sort(x) * 3")
    j = jitted(f, ALONE)
    x = np.arange(5, dtype="l")
    for one in (x, x.astype("q"), x):
        for _ in range(2):
            assert [r.dtype.num for r in j(one, one)] == [r.dtype.num for r in f(one, one)]


def test_every_row_is_known():
    """Each row names a function that this NumPy has, and each parameter once."""
    for row in FUNCTIONS.values():
        assert callable(row.object)
        assert len(set(row.parameters)) == len(row.parameters)


def test_the_example_of_the_documentation(monkeypatch):
    """Rows as docs/extending.md shows them are all that a function needs."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "..", "..", "docs", "extending.md")) as page:
        block = textwrap.dedent(re.search(r"```python\n( *COMPUTES = .*?)```", page.read(), re.DOTALL).group(1))
    scope = {}
    exec(block, scope)
    for path, names in scope["COMPUTES"].items():
        row = LibraryFunction(path, tuple(names.split()), True, "")
        monkeypatch.setitem(library.FUNCTIONS, path, row)
        model = registry.model_of(row.object) or registry.Model(None, target=row.object)
        monkeypatch.setitem(registry.MODELS, (registry.FUNCTION, id(row.object), ""), model._replace(row=row))
    for call in ("np.roll(x, 2, axis=0)", "np.linalg.matrix_rank(x)", "np.eye(3, 4)", "np.kaiser(3, 14.0)"):
        f = around(call)
        j = jitted(f, ALONE)
        x, y = np.arange(12.0).reshape(3, 4), np.ones((3, 4))
        agree(f, j, [(x, y), (x.astype("f"), y)])
        assert not pijit.explain(j, x, y).breaks


PICKED = ("x[x > 0]", "x[i]", "x[i, i]", "x[[0, 2]]", "x[i, 1]", "x[1, i]", "x[(x > 1) | (x < 0)]", "x[x[:, 0] > 0]",
          "x[i][0]", "x[-i]", "x[i * 100]", "x[np.argsort(x[:, 0])]", "x[i > 1]", "x[i.astype(float)]")


@pytest.mark.parametrize("pick", PICKED)
@pytest.mark.filterwarnings("ignore")
def test_gather(pick):
    f = define("def f(x, i):\n    y = x * 2.0 + 1.0\n    r = %s\n    return r, y" % pick)
    j = jitted(f, ALONE)
    x, i = np.arange(12.0).reshape(3, 4) - 5.0, np.array([2, 0, 1])
    cases = [(x, i), (x, i.astype(np.int8)), (np.asfortranarray(x), i[:2]), (x, i[:0]), (x[:0], i), (x.astype("l"), i),
             (x[:, ::2], i)]
    agree(f, j, cases)
    if "float" not in pick and "100" not in pick:
        assert not pijit.explain(j, x, i).breaks


SCATTERED = ("x[x > 0] = 1.5", "x[i] = 2", "x[i, i] = y[0, 0]", "x[[0, 2]] = y[:2]", "x[i] = y[:, ::-1]",
             "x[x < 0] = -x[x < 0]", "x[i] = x[::-1]", "x[i * 50] = 0.0", "x[i] = y[:2]", "x[x > 1] += 1.0", "x[i] += 1", "x[i, 1] = np.nan",
             "x[x > 0] = y[y > 0]", "x[i > 0] = y[0]", "x[i] = True")


@pytest.mark.parametrize("store", SCATTERED)
@pytest.mark.filterwarnings("ignore")
def test_scatter(store):
    f = define("def f(x, y, i):\n    z = x * 2.0 + 1.0\n    %s\n    z = z + x\n    return z, x" % store)
    x, y, i = np.arange(12.0).reshape(3, 4) - 5.0, np.ones((3, 4)), np.array([2, 0, 1])
    readonly = x.copy()
    readonly.flags.writeable = False
    check(f, x, y, i, config=ALONE, calls=2, others=[
        (x, y, i[:2]), (x.astype("l"), y.astype("l"), i), (x.astype("f"), y, i), (x, y.astype("f"), i), (readonly, y, i),
        (x[:, ::-1], y, i), (x[:0], y[:0], i[:0])], aliased=[(x, x, i), (x, x[::-1], i)])


def histogram(values, bins, weights):
    counts = np.zeros(bins)
    for k in range(values.size):
        counts[values[k]] += weights[k]
    order = np.argsort(counts)
    top = counts[order[-3:]]
    counts[counts < top[0]] = 0.0
    weights[order[:2]] = top[:2] * 2.0
    return counts, weights[weights > 0.5].sum()


def test_gather_and_scatter_in_machine_code():
    values, weights = np.array([3, 1, 4, 1, 5, 2, 6, 5]), np.linspace(0.0, 1.0, 8)
    with fail_unless_captured():
        j = check(histogram, values, 8, weights, others=[
            (values, 7, weights[::-1]), (values, 5, weights), (values[:0], 3, weights)])
    assert not pijit.explain(j, values, 8, weights).breaks


RESULTS = (
    "np.split(x, 3)[1] + y[0], len(np.split(x, 3))", "[p * 2 for p in np.array_split(x, 2, axis=1)]",
    "np.vsplit(x, 3)", "np.stack([row * 2 for row in x])", "np.concatenate([x[k:] for k in range(3)])",
    "np.array([[k * 2.0 for k in r] for r in x])", "np.linalg.eigh(x @ x.T)", "np.linalg.eigh(x @ x.T)[1] * 2",
    "np.linalg.svd(x, full_matrices=False)[1]", "np.linalg.slogdet(x @ y.T)", "np.linalg.qr(x.T)",
    "np.linalg.eigvals(x @ y.T)", "np.linalg.lstsq(x.T, y.T, rcond=None)", "np.histogram(x, 3)", "np.divmod(x, 2.0)",
    "divmod(x, y)", "np.modf(x)", "np.frexp(x)", "np.gradient(x)", "np.r_[x[0], 1.0, y[1]]", "np.c_[x[0], y[0]]",
    "np.mgrid[0:3, 0:4]", "x * np.finfo(float).eps, np.finfo(x.dtype).max, np.iinfo(np.int32).max",
    "np.nanmean(x, axis=0)", "np.nanmax(x)", "np.nanstd(x, ddof=1)", "np.nanmedian(x, axis=1)", "np.cov(x)",
    "np.corrcoef(x, rowvar=False)", "np.cross(x[:, :3], y[:, 1:])", "x.imag, x.item(3), x.tolist()",
    "np.take(x, [5, -1], axis=0, mode='wrap')", "np.linalg.norm(x, np.inf)", "np.linalg.norm(x, ord=np.inf, axis=1)",
    "np.add(x, y, dtype=np.float64)", "np.hypot.reduce(x, axis=0)", "np.logical_and.accumulate(x)",
    "np.add.reduceat(x, [0, 2], axis=1)", "np.sum(x, where=x > 0, axis=0)", "np.max(x, initial=3.0)",
    "np.zeros((2, 3), order='F'), np.zeros_like(x, shape=(2,))", "np.einsum('ij,kj->ik', x, y)",
    "np.einsum('ij->ji', x)", "np.einsum('bi,bi->b', x, y)", "np.einsum('i,j->ij', x[0], y[:, 0])",
    "np.einsum('ij->', x), np.einsum('...j,j', x, y[0])", "np.clip(x, None, 1), x.clip(0), x.clip(max=y)",
    "np.triu_indices(3), np.unique(x, axis=0)",
)


@pytest.mark.parametrize("call", RESULTS)
@pytest.mark.filterwarnings("ignore")
def test_results(call):
    """Lists, named tuples, pairs; of lists of arrays; where nothing is left, or NumPy would warn."""
    x = np.array([[1.5, -2.0, 0.0, 4.0], [3.0, 0.25, -1.0, 2.0], [0.5, 7.0, 2.0, -3.0]])
    f, y, half = around(call), x[::-1] * 0.5, x.copy()
    half[1] = np.nan
    j = check(f, x, y, config=dict(ALONE, cache_limit=32), calls=2, others=[
        (x.astype("f"), y.astype("f")), (x.astype("l"), x.astype("l")), (np.asfortranarray(x), y[:, ::-1]), (half, y),
        (half * np.nan, y),
        (x[:, :1], y[:, :1]), (x[:1], y[:1]), (x[:0], y[:0]), (x[0], y[0]), (x * 1e308, y * 1e308)])
    report = pijit.explain(j, x, y)
    assert kernel_count(j) and not report.breaks, report


def several(x, c, n):
    w, v = np.linalg.eigh(x @ x.T)
    found = np.linalg.svd(x, full_matrices=False)
    rows = [row * 2.0 for row in x]
    total = 0.0
    for part in np.split(c, 2):
        total += part[0, 0, 0]
    for row in rows:
        total += row[n]
    stacked = np.stack(rows) + x
    below, above = np.divmod(stacked, 2.0)
    inverse = np.linalg.inv(x @ x.T + 9.0 * np.eye(3))
    return w, v * total, found, stacked, np.r_[w, total], c @ x.T, inverse @ below, above


def test_results_in_machine_code():
    x, c = np.arange(12.0).reshape(3, 4) % 5, np.arange(48.0).reshape(4, 3, 4)
    with fail_unless_captured():
        j = check(several, x, c, 2, config={"backend": "numba", "force_breaks": None}, others=[
            (x[::-1], c, 0), (x, c[:3], 1), (x, c, 9), (x * np.nan, c, 1), (x, c[:, ::-1], 1)])
    assert not pijit.explain(j, x, c, 2).breaks


def test_samples_of_what_warns():
    """NumPy 1.21 crashes where the warning of uneven lists is raised in np.correlate: samples do not raise it."""
    check(define("def f(x, k):\n    y = x * 2.0 + k\n    return np.correlate(y, [[1], [2, 3]])"), np.ones(3), 1.0)


def test_ufuncs_of_other_libraries_are_tried_without_elements(monkeypatch):
    """Their loops may raise, or not end, for values that the program never has."""
    numba = pytest.importorskip("numba")
    made = numba.vectorize(["float64(float64)"])(lambda x: 1.0 / x + 0.5)
    shifted, without, shapes = getattr(made, "ufunc", made), result_types._without_elements, []

    def watched(ufunc):
        def asked(*arguments, **named):
            shapes.extend(np.shape(one) for one in arguments)
            return ufunc(*arguments, **named)
        return without(asked)

    def f(x, k):
        return shifted(x) * 2.0 + shifted(x[0] * k)

    monkeypatch.setattr(result_types, "_without_elements", watched)
    result_types.ufunc_result.cache_clear()
    x = np.linspace(2.0, 3.0, 7)
    with fail_unless_captured():
        check(f, x, 2.0, others=[(x[:1], 3.0), (x[::2], 2)], config={"force_breaks": None})
    assert shapes and all(0 in shape for shape in shapes)
