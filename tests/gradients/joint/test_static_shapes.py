"""Gradients of functions with lists and short loops: captures for certain shapes, with the tape's bits."""

import numpy as np
import pytest

from pijit.core import _hook
from pijit.core.kernel import disk_cache
from pijit.core.pythons import why_not_python
from pijit.gradient_kernels import MOST_STATIC
from tests.gradients.joint.joint_gradient import Gradient

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

R = np.random.RandomState(7)
IMAGES, KERNELS, BIAS = R.rand(4, 2, 6, 5), R.rand(3, 2, 3, 2), R.rand(3)
X = R.rand(5)


def windows(x, height, width, step=1):
    """The elements of all windows of images, with one axis for the position in a window."""
    rows, columns = (x.shape[2] - height) // step + 1, (x.shape[3] - width) // step + 1
    parts = []
    for i in range(height):
        for j in range(width):
            parts.append(x[:, :, i:i + (rows - 1) * step + 1:step, j:j + (columns - 1) * step + 1:step])
    return np.stack(parts, axis=2)


def convolved(x, w, b):
    cells = windows(x, w.shape[2], w.shape[3])
    n, rows, columns = x.shape[0], cells.shape[3], cells.shape[4]
    cells = np.reshape(cells, (n, w.shape[1] * w.shape[2] * w.shape[3], rows * columns))
    r = np.matmul(np.reshape(w, (w.shape[0], w.shape[1] * w.shape[2] * w.shape[3])), cells)
    return np.reshape(r, (n, w.shape[0], rows, columns)) + np.reshape(b, (1, -1, 1, 1))


def convolution(x, w, b):
    return (np.maximum(convolved(x, w, b), 1.0) ** 2).sum()


def pooled(x):
    return (np.max(windows(x * 2.0, 2, 2, 2), axis=2) ** 2).sum()


def padded(x):
    around = max(-(-x.shape[2] // 2) - 1, 0) // 2
    y = np.zeros((x.shape[0], x.shape[1], x.shape[2] + 2 * around, x.shape[3]))
    y[:, :, around:around + x.shape[2]] = x
    return (windows(y, 2, 1).sum(axis=2) ** 2).sum()


def by_position(x, w):
    """A sum of products per position; the length of each slice is that of `w`, or a constant."""
    total, sums = 0.0, np.zeros(len(x))
    for i in range(len(x) - len(w) + 1):
        sums[i] = (x[i:i + len(w)] * w).sum()
        total += (x[i + 1:i + 3] ** 2).sum() * x[i]
    return (sums ** 2).sum() + total


def history(x):
    states = [x]
    for k in range(4):
        states.append(np.sin(states[-1]) * states[k])
    return np.concatenate(states).sum() + states[2][0] + len(states)


def layers(x):
    made, sizes = [], []
    for k in range(3):
        x = np.tanh(x + k)
        made.append((x, x * 2.0))
        sizes.append(len(x))
    total = 0.0
    for one, two in made:
        total = total + (one * two).sum()
    return total * sizes[-1] + np.vstack([one for one, _ in made]).sum()


def attention(q, k, v):
    scores = np.matmul(q, np.swapaxes(k, 1, 2))
    weights = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
    return (np.matmul(weights, v) ** 2).sum()


def shared_stack(a, w):
    return (np.matmul(a, w) ** 2).sum()


TABLE, PLACES = R.rand(6, 3), np.array([[0, 5, 2], [2, 2, -1]])
PROGRAMS = {
    "convolution": (convolution, IMAGES, KERNELS, BIAS), "pooling": (pooled, IMAGES), "padding": (padded, IMAGES),
    "history": (history, X), "layers": (layers, X),
    "attention": (attention, R.rand(2, 4, 3), R.rand(2, 5, 3), R.rand(2, 5, 2)),
    "one matrix for a stack": (shared_stack, R.rand(4, 3, 2), R.rand(2, 5)),
    "a stack of one": (shared_stack, R.rand(1, 3, 2), R.rand(4, 2, 5)),
    "stacks of stacks": (shared_stack, R.rand(2, 1, 3, 2), R.rand(3, 2, 5)),
    "rows": (lambda t: (t[PLACES] ** 2).sum() + (t[PLACES[0]] * t[:3]).sum(), TABLE),
    "copies": (lambda x: (np.array(x) * np.copy(x)[::-1]).sum(), X)}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_bits_are_the_tapes(name):
    f, *args = PROGRAMS[name]
    gradient = Gradient(f, tuple(range(len(args)))).warm(*args)
    for _ in range(2):
        assert gradient.compare(*args), gradient.why
    if disk_cache.SUPPORTED:
        kinds = {type(part.usual) for entry in gradient.f._kernels.entries
                 for part in (entry.function, entry.backward) if part is not None}
        assert kinds == {_hook.KernelFunction}, [entry.function.why for entry in gradient.f._kernels.entries]
    assert gradient.compare(*[1.5 * arg for arg in args]), gradient.why


def test_other_shapes_have_kernels_of_their_own():
    gradient = Gradient(convolution, (0, 1, 2)).warm(IMAGES, KERNELS, BIAS)
    assert gradient.compare(IMAGES, KERNELS, BIAS), gradient.why
    for images, kernels in ((IMAGES[:3].copy(), KERNELS), (IMAGES, KERNELS[:, :, :2].copy()), (IMAGES, KERNELS)):
        assert gradient.compare(images, kernels, BIAS), gradient.why
    assert len(gradient.f._kernels.entries) == 3


def test_shapes_of_arrays_that_are_read_for_nothing_else():
    table = np.zeros((2, 3))

    def f(x, y):
        parts = []
        for k in range(y.shape[0]):
            parts.append(x * k)
        for k in range(len(y)):
            parts.append(x * table.shape[1])
        return np.stack(parts).sum() * y.shape[1]

    gradient = Gradient(f, 0).warm(X, np.ones((2, 3)))
    for y in (np.ones((2, 3)), np.ones((3, 3)), np.ones((2, 4))):
        assert gradient.compare(X, y), gradient.why
    assert gradient.compare(X, np.ones((2, 3))), gradient.why
    table = np.zeros((2, 5))
    assert gradient.compare(X, np.ones((2, 3))), gradient.why


def test_many_shapes_use_the_tape():
    def f(x):
        parts = []
        for k in range(2):
            parts.append(x * k)
        return np.concatenate(parts).sum()

    gradient = Gradient(f, 0).warm(X)
    ran = [gradient.compare(R.rand(size)) for size in range(2, 9)]
    assert ran == [True] * MOST_STATIC + [False] * (7 - MOST_STATIC)
    assert gradient.compare(R.rand(3)) and not gradient.compare(R.rand(8))
    assert len(gradient.f._kernels.entries) == MOST_STATIC + 1


@pytest.mark.parametrize("size", [5, 6, 9])
def test_slices_of_one_length_in_loops(size):
    gradient = Gradient(by_position, (0, 1)).warm(R.rand(7), R.rand(3))
    assert gradient.compare(R.rand(7), R.rand(3)), gradient.why
    assert gradient.compare(R.rand(size), R.rand(3)), gradient.why
    assert len(gradient.f._kernels.entries) == 1


def test_slices_beyond_the_array_use_the_tape():
    def f(x, count):
        total = 0.0
        for i in range(count):
            total += (x[i:i + 2] ** 2).sum() * x[i]
        return total

    gradient = Gradient(f, 0).warm(X, 3)
    assert gradient.compare(X, 4), gradient.why
    assert not gradient.compare(X, 5) and "left this call" in gradient.why


def test_lists_that_are_more_than_items():
    """Lists that change while a loop goes over them, or in other ways: the tape runs these."""
    def grows(x):
        parts = [x]
        for part in parts:
            if len(parts) < 3:
                parts.append(part * 2.0)
        return np.concatenate(parts).sum()

    def changes(x):
        parts = [x, x * 2.0]
        parts[0] = x * x
        parts.insert(0, x * 3.0)
        del parts[1]
        return np.concatenate(parts).sum()

    def is_passed_on(x):
        parts = []
        parts.append(x * 2.0)
        others = (parts, parts)
        others[0].append(x * 3.0)
        return np.concatenate(parts).sum() + len(others[1])

    def by_name(x):
        parts = []
        add = parts.append
        for k in range(3):
            add(x * k)
        return np.stack(parts).sum() + len(parts)

    for f in (grows, changes, is_passed_on, by_name):
        gradient = Gradient(f, 0).warm(X)
        for _ in range(3):
            gradient.compare(X)


def test_settings_are_compared():
    settings = {"count": 2}

    def f(x):
        parts = []
        for k in range(settings["count"]):
            parts.append(x ** (k + 1))
        return np.stack(parts).sum()

    gradient = Gradient(f, 0).warm(X)
    assert gradient.compare(X), gradient.why
    settings["count"] = 3
    assert gradient.compare(X), gradient.why
    settings["count"] = 2
    assert gradient.compare(X), gradient.why
