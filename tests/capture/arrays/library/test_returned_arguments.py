"""Results that are an argument, or share memory with one: the calls are in returned_arguments.py."""

import warnings

import numpy as np
import pytest

from tests.capture.arrays.library.returned_arguments import MAY_SHARE, NAN, NEW, UFUNCS, calls_of_numpy, rows_of_numpy
from tests.harness import check, fail_unless_captured, jitted, kernel_count

BACKENDS = ("python", "numba")
GROUP = 12
"""How many calls one function makes."""

SQUARE = np.array([[2.5, 1.0, 3.0], [0.0, 4.0, 1.5], [1.0, 0.5, 2.0]])


class Own(np.ndarray):
    pass


def read_only():
    made = SQUARE.copy()
    made.flags.writeable = False
    return made


KINDS = {
    "vector": lambda: SQUARE[0].copy(), "matrix": SQUARE.copy, "columns": lambda: np.asfortranarray(SQUARE),
    "steps": lambda: np.arange(1.0, 7.0)[::2], "integers": lambda: np.array([3, 1, 2]), "read-only": read_only,
    "list": lambda: [2.5, 1.0, 3.0], "long list": lambda: [k % 7 * 0.5 for k in range(20)], "number": lambda: 2.5,
    "nested": lambda: [[2.5, 1.0], [3.0, 2.0]], "arrays": lambda: [SQUARE[0].copy(), SQUARE[1].copy()],
    "tuple": lambda: tuple([2.5, 1.0, 3.0]), "no axes": lambda: np.array(2.5), "scalar": lambda: np.float64(2.5),
    "nothing": lambda: np.zeros(0), "subclass": lambda: SQUARE.copy().view(Own), "np.matrix": lambda: np.matrix(SQUARE),
    "masked": lambda: np.ma.array(SQUARE[0].copy(), mask=[0, 1, 0]), "complex": lambda: SQUARE[0] + 1j,
    "record": lambda: np.rec.array([(1.0, 2), (3.0, 4)], dtype=[("a", float), ("b", int)]),
}
MADE = {np.ndarray: "x * 1", list: "[v for v in x]"}


def arguments(kind):
    """The values of the names in the calls."""
    x, y = KINDS[kind](), KINDS[kind]()
    plain = np.array(np.asarray(x))
    out = np.zeros_like(plain) if plain.dtype.names is None else np.zeros(2)
    square = np.array([[2.0, 0.5, 0.0], [0.5, 3.0, 0.0], [0.0, 0.0, 1.0]])
    mask = plain.astype(bool) if plain.dtype.names is None else None
    return x, y, out, np.array([1, 0]), mask, square, np.arange(4.0)


def function(lines):
    """A function of these lines, which begin and end with work for a kernel."""
    scope = {"np": np}
    exec("def f(x, y, o, i, m, s, w):\n    z = w * 2.0 + 1.0\n" + "".join("    %s\n" % line for line in lines), scope)
    return scope["f"]


def succeeds(call, kind):
    """Whether Python makes a call with such arguments, in an expression."""
    if "cum" in call and (kind == "no axes" or "out=" in call and not isinstance(KINDS[kind](), np.ndarray)):
        return False  # NumPy crashes
    if kind == "record" and ("cum" in call or "dot" in call):
        return False  # NumPy crashes, or gives memory that nothing has written
    f = function(["return " + call])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f(*arguments(kind))
        except Exception:
            return False
    return True


def calls(kind, *tables):
    """The calls in some tables that Python makes with such arguments, in groups."""
    made = [call for table in tables for path, call in calls_of_numpy(table) if succeeds(call, kind)]
    return [made[k:k + GROUP] for k in range(0, len(made), GROUP)]


def arrays_in(value):
    """The arrays and lists in a result."""
    if isinstance(value, (list, tuple)):
        return ([value] if isinstance(value, list) else []) + [one for item in value for one in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


def shown(value, others):
    """All that can be seen of a result beside others: bits, type, strides, flags, base, identity and shared memory."""
    if isinstance(value, (list, tuple)):
        return type(value), [value is one for one in others], [shown(item, others) for item in value]
    if not isinstance(value, np.ndarray):
        return type(value), np.asarray(value).tobytes()
    base = next((k for k, one in enumerate(others) if one is value.base), type(value.base))
    return (type(value), value.dtype, value.shape, value.strides if value.size else (), value.flags.num, base,
            np.asarray(value).tobytes(), [value is one for one in others],
            [isinstance(one, np.ndarray) and np.shares_memory(one, value) for one in others])


def write(value, number):
    """Change an array or list, if it can be changed; the error else."""
    try:
        if isinstance(value, list):
            value.append(number)
        elif value.dtype.names is None:
            value[...] = number
    except Exception as error:
        return str(error)
    return None


def history(f, kind):
    """What a call shows, and what writing into each result and argument changes in the others."""
    given = arguments(kind)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = f(*given)
        seen = [str(one.message) for one in caught]
    everything = arrays_in(result) + arrays_in(list(given))[1:]
    seen.append(shown(result, everything))
    for number, one in enumerate(everything):
        seen.append((write(one, number % 5 + 1), [shown(other, ()) for other in everything]))
    return seen


def agrees(f, kind, backend):
    """Check the first call and hits; the jitted function."""
    wanted = history(f, kind)
    j = jitted(f, {"backend": backend, "perf_statistics": False})
    for _ in range(2):
        assert history(j, kind) == wanted
    return j


# ---- the tables ----


def test_every_library_function_has_calls():
    known = [set(table) for table in (MAY_SHARE, NEW, UFUNCS, NAN)]
    assert not set(rows_of_numpy()) - set().union(*known)
    assert not known[0] & known[1]


def shares(call, kind):
    """Whether a result of a call is an argument or shares memory with one."""
    f, given = function(["return " + call]), arguments(kind)
    found = arrays_in(f(*given))
    ours = arrays_in(list(given))[1:]
    return any(one is other or isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
               and np.shares_memory(one, other) for one in found for other in ours)


@pytest.mark.filterwarnings("ignore")
def test_the_tables_say_what_numpy_does():
    """What is said to be new is new for all kinds of arguments; the rest shares something for one of them."""
    sharing = {path for table in (MAY_SHARE, NEW, UFUNCS, NAN) for path, call in calls_of_numpy(table)
               for kind in (KINDS if table is not UFUNCS else ("integers",))
               if succeeds(call, kind) and shares(call, kind)}
    assert not sharing & (set(NEW) | set(NAN))
    assert sharing >= {path for path, _ in calls_of_numpy(MAY_SHARE)}


# ---- kernels ----


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (
    "columns", "complex", "integers", "nothing", "scalar", "steps", "matrix")])
@pytest.mark.filterwarnings("ignore")
def test_arguments_from_outside(kind):
    """Each result beside the argument, and whether it is that."""
    for group in calls(kind, MAY_SHARE):
        lines = ["r%d = %s" % pair for pair in enumerate(group)]
        results = ", ".join("r%d" % k for k in range(len(group)))
        agrees(function(lines + ["return x, (%s,), z - w" % results]), kind, "python")


def made_here(kind, group):
    """A function that makes its own x, asks which results are it, and writes it at last."""
    results, given = ["r%d" % k for k in range(len(group))], KINDS[kind]()
    asked = results if isinstance(given, np.ndarray) else ["x"]
    lines = ["x = " + MADE[type(given)]] + ["%s = %s" % pair for pair in zip(results, group)]
    lines += ["t = (%s,)" % ", ".join(name + " is x" for name in asked), "x[0] = 1"]
    return function(lines + ["return x, (%s,), t, z - w" % ", ".join(results)])


@pytest.mark.parametrize("kind", ("vector", "columns", "steps", "integers", "complex", "list", "long list"))
@pytest.mark.filterwarnings("ignore")
def test_arguments_made_in_the_kernel(kind):
    for group in calls(kind, MAY_SHARE, *[NEW] * (kind in ("vector", "long list"))):
        agrees(made_here(kind, group), kind, "python")


@pytest.mark.parametrize("kind", ("vector", "long list"))
@pytest.mark.filterwarnings("ignore")
def test_in_machine_code(kind):
    found = [agrees(made_here(kind, group), kind, "numba") for group in calls(kind, MAY_SHARE)]
    assert sum(map(kernel_count, found)) >= len(found)


@pytest.mark.parametrize("kind", ("vector", "matrix", "list", "long list"))
@pytest.mark.filterwarnings("ignore")
def test_results_that_are_written(kind):
    """A store into the result shows in the argument at once, and the other way round."""
    sharing = [call for _, call in calls_of_numpy(MAY_SHARE) if succeeds(call, kind) and shares(call, kind)]
    for call in sharing:
        f = function(["x = " + MADE[type(KINDS[kind]())], "r = " + call, "r[0] = 7.0", "q = x[0]", "x[0] = 5.0",
                      "p = x[0] * 2.0", "return r, q, p, x, z - w"])
        try:
            f(*arguments(kind))
        except Exception:
            continue
        agrees(f, kind, "python")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_view_that_warns_does_so_once(backend):
    """Of arrays in Fortran's order older versions of NumPy warn, but of those with one element."""
    if not succeeds("x.view(np.uint8)", "columns"):
        pytest.skip("this NumPy refuses the view")
    agrees(function(["r = x.view(np.uint8)", "return r, x, z - w"]), "columns", backend)
    agrees(function(["x = x * 1", "r = x.view(np.uint8)", "return r, x, z - w"]), "columns", backend)


# ---- lists ----


def itself(n):
    x = [k * 2.0 for k in range(n)]
    y = np.diff(x, n=0)
    y.append(5.0)
    x[0] = 9.0
    return x, y, y is x, len(y), np.diff(x), np.diff(x, 2)


def of_a_given_list(x, w):
    y = np.diff(x, 0)
    return x, y, w * 2.0 + 1.0


def written_afterwards(x, w):
    x, y, z = of_a_given_list(x, w)
    y[1] = 4.0
    return x, y, x[1], z


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_list_that_is_its_own_difference(backend):
    given = [k * 0.5 for k in range(20)]
    with fail_unless_captured():
        check(itself, 4, others=[(20,)], config={"backend": backend})
        check(of_a_given_list, given, np.arange(4.0), config={"backend": backend})
    check(written_afterwards, given, np.arange(4.0), others=[([1.0, 2.0, 3.0], np.arange(4.0))],
          config={"backend": backend})


class Pair(tuple):
    pass


def of_a_tuple(x, w):
    y = tuple(x)
    z = tuple(y)
    return y, z, w * 2.0 + 1.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_tuple_of_a_tuple_is_that_tuple(backend):
    w = np.arange(4.0)
    long = tuple(k * 0.5 for k in range(40))
    with fail_unless_captured():
        check(of_a_tuple, tuple([2.5, 1.0]), w, config={"backend": backend}, others=[
            ([2.5, 1.0], w), (Pair([2.5, 1.0]), w), ((), w), (long, w), (tuple([w, 1]), w), ("text", w)])
        check(of_a_tuple, long, w, config={"backend": backend}, others=[([2.5, 1.0], w), (Pair(long), w), (3, w)])
    for given in (tuple([2.5, 1.0]), long):
        j = jitted(of_a_tuple, {"backend": backend})
        for _ in range(3):
            assert all(one is given for one in j(given, w)[:2])
