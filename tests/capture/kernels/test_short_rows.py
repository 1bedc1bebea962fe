"""Sums of rows of two to four elements, which are written out: NumPy's bits, errors and layouts."""

import numpy as np
import pytest

from pijit.core.kernel.llvm.nest import short_rows
from tests.harness import check, fail_unless_captured, jitted


def distances(x, y):
    d = x - y
    return np.sqrt((d * d).sum(axis=1)), x * y - 1


def nearest(x, y):
    return ((x[:, np.newaxis, :] - y[np.newaxis, :, :]) ** 2).sum(axis=2).argmin(axis=1)


def in_place(x, y):
    x -= x[0]
    x[1:] -= x[:-1]
    x[:] = (x + y) * x[-1]
    return x, (x * y).sum(axis=1)


def others(x, y):
    column, rows = x[:, :1], x[::2]
    return (column * y).sum(axis=1), (rows * y).sum(axis=1), (x * y[:1] - 1).sum(axis=-1), (-x * 3).sum(axis=1)


def noise(code, *shape):
    return (np.random.RandomState(5).standard_normal(shape) * 9).astype(code)


FUNCTIONS = [distances, in_place, others]


@pytest.mark.parametrize("code", "dfl")
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_answers(f, code):
    shapes = [(7, 3), (1, 3), (0, 3), (9, 2), (6, 4), (33, 4), (6, 5), (6, 1), (6, 8), (1, 4)]
    calls = [(noise(code, *shape), noise(code, shape[-1])) for shape in shapes]
    x, y = noise(code, 12, 3), noise(code, 3)
    calls += [(noise(code, 12, 3), noise(code, 12, 3)), (x[::-1].copy(), y[::-1].copy()), (x, y[:1])]
    if code != "l":
        odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-38, 1.5, 3e38, -3e38, 2.0, 3.0, -1.0], code)
        calls += [(odd.reshape(4, 3), y), (odd.reshape(3, 4), odd[4:8]), (odd.reshape(6, 2) * 0, -y[:2])]
    with np.errstate(all="warn"):
        check(f, x, y, others=calls, config={"backend": "numba", "cache_limit": 32}, calls=1)
    with fail_unless_captured():
        check(f, x, y, config={"backend": "numba"}, calls=1)


@pytest.mark.filterwarnings("ignore")
def test_layouts():
    x, y = noise("d", 24, 6), noise("d", 3)
    parts = [x[:, :3], x[:, ::2], x[::-1, 3:], x[:, 5:2:-1], np.asfortranarray(x[:, :3]), x[:3].T, x[::4, 1:3]]
    check(distances, x[:, :3].copy(), y, others=[(part, y[:part.shape[1]]) for part in parts],
          config={"backend": "numba", "cache_limit": 32}, calls=1)


def test_rows_in_more_axes():
    calls = [(noise("d", n, k), noise("d", m, k)) for n, m, k in ((5, 8, 3), (5, 8, 2), (2, 1, 4), (5, 0 + 3, 7))]
    with fail_unless_captured():
        check(nearest, *calls[0], others=calls, config={"backend": "numba"}, calls=1)


def test_rows_are_written_out(monkeypatch):
    written = []
    write = short_rows._write
    monkeypatch.setattr(short_rows, "_write", lambda writer, count, *more: (written.append(count),
                                                                            write(writer, count, *more)))

    def sums(x, y):
        return (x * y * 0.3125).sum(axis=1)

    x, y = noise("d", 5, 3), noise("d", 3)
    found = jitted(sums, {"backend": "numba", "cache": False, "force_breaks": None})(x, y)
    assert sorted(set(written)) == [2, 3, 4] and found.tobytes() == (x * y * 0.3125).sum(axis=1).tobytes()
