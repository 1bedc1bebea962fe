"""pandas: columns become arrays for kernels; everything else keeps the semantics of pandas, on first calls, hits, misses."""

import numpy as np
import pytest

import pijit
from tests.harness import jitted

pandas = pytest.importorskip("pandas")
testing = pytest.importorskip("pandas.testing")


def frame(rows=6, seed=0):
    source = np.random.default_rng(seed)
    return pandas.DataFrame({"a": source.normal(size=rows), "b": source.uniform(1.0, 2.0, rows),
                             "n": source.integers(0, 9, rows), "s": ["x", "y"] * (rows // 2)},
                            index=pandas.Index(range(10, 10 + rows)))


def same(wanted, found):
    """Fail unless two answers are the same object of pandas or NumPy: type, dtype, bits, index, flags."""
    assert type(wanted) is type(found)
    if isinstance(wanted, pandas.Series):
        testing.assert_series_equal(wanted, found, check_exact=True)
        same(wanted.to_numpy(), found.to_numpy())
    elif isinstance(wanted, pandas.DataFrame):
        testing.assert_frame_equal(wanted, found, check_exact=True)
    elif isinstance(wanted, np.ndarray):
        assert (wanted.dtype, wanted.strides, wanted.flags.writeable) == (found.dtype, found.strides, found.flags.writeable)
        assert wanted.tobytes() == found.tobytes() if wanted.dtype != object else list(wanted) == list(found)
    elif isinstance(wanted, (float, np.generic)):
        assert np.asarray(wanted).tobytes() == np.asarray(found).tobytes()
    elif isinstance(wanted, (tuple, list)):
        assert len(wanted) == len(found)
        for one, other in zip(wanted, found):
            same(one, other)
    else:
        assert wanted == found


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error), str(error)


def compare(f, *calls, kernels=True):
    """Run calls plainly and jitted, several times in turn. Each item of ``calls`` makes the arguments of a call."""
    fast = jitted(f)
    for make in calls * 3:
        wanted_args, found_args = make(), make()
        same(outcome(f, *wanted_args), outcome(fast, *found_args))
        for one, other in zip(wanted_args, found_args):
            same(one, other)
    assert not kernels or any(segment.kind == "kernel" for entry in fast.state.entries
                              for segment in entry.reports.segments), pijit.explain(fast)
    return fast


def values_of_columns(df):
    a, b = df["a"].values, df["b"].to_numpy()
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i] - 0.5
    return total, np.sqrt(b) * a + b


def attribute_columns(df):
    return np.exp(df.a.to_numpy()) * df.b.values - 1.0


def asarray_of_series(s):
    x = np.asarray(s)
    return x * 2.0 + x[0], x.sum()


def array_of_frame(df):
    x = df[["a", "b"]].to_numpy()
    return x @ x.T + x.sum()


def loop_over_values(s):
    low = 0.0
    for value in s.to_numpy():
        low = min(low, value) + 0.25 * value
    return low


def test_columns():
    made = lambda: (frame(),)  # noqa: E731
    longer = lambda: (frame(40, 2),)  # noqa: E731
    for f in (values_of_columns, attribute_columns, array_of_frame):
        compare(f, made, longer)


def test_columns_of_other_dtypes():
    def typed(dtype):
        return lambda: (frame().astype({"a": dtype, "b": dtype}),)

    compare(values_of_columns, typed("float64"), typed("float32"), typed("Float64"), typed("object"))


@pytest.mark.parametrize("f", [asarray_of_series, loop_over_values], ids=lambda f: f.__name__)
def test_series(f):
    compare(f, lambda: (frame()["a"],), lambda: (frame()["n"],), lambda: (frame(20, 3)["b"].astype("float32"),),
            lambda: (frame()["a"].to_numpy(),) if f is asarray_of_series else (frame()["b"],))


def test_a_series_in_arithmetic_keeps_its_index():
    def f(x, y):
        return x * 2.0 + y, (x > y).sum(), -x

    def apart():
        one = frame()["a"]
        return one, one.iloc[::-1].copy()

    def other_index():
        one = frame()["a"]
        return one, one.iloc[2:].rename("z")

    arrays = lambda: (np.arange(4.0), np.ones(4))  # noqa: E731
    mixed = lambda: (frame()["a"], np.ones(6))  # noqa: E731
    compare(f, arrays, apart, mixed, other_index, arrays)


def test_functions_of_numpy_on_series():
    def f(s):
        return np.exp(s) + 1.0, np.sum(s), np.where(s > 0.0, s, 0.0), np.maximum(s, 0.5), s.mean(), len(s)

    compare(f, lambda: (np.linspace(-1.0, 1.0, 6),), lambda: (frame()["a"],), lambda: (frame()["n"],))


def test_missing_values():
    def f(s):
        x = s.to_numpy()
        return x + 1.0, np.nansum(x), np.isnan(x).sum()

    compare(f, lambda: (pandas.Series([1.0, None, 3.0]),), lambda: (pandas.Series([1, None, 3], dtype="Int64"),),
            lambda: (pandas.Series([1.0, 2.0]),))


def test_stores_into_columns():
    def f(df, scale):
        x = df["a"].to_numpy().copy()
        x[1:] += x[:-1] * scale
        df["c"] = x
        df.loc[11, "a"] = x[0] * scale
        return df["c"] + df["b"]

    compare(f, lambda: (frame(), 2.0), lambda: (frame(8, 1), 0.5))


def test_stores_into_values():
    """Depending on the version of pandas, the array may be read-only, or a store may change the frame."""
    def f(df):
        x = df["a"].values
        x[0] = 5.0
        x[1:] *= 2.0
        return x.sum()

    compare(f, lambda: (frame(),), lambda: (frame(8, 1),), kernels=False)


def test_groups_and_windows():
    def spread(x):
        low, high = x[0], x[0]
        for i in range(len(x)):
            low, high = min(low, x[i]), max(high, x[i])
        return high - low

    df, fast = frame(30), jitted(spread)
    for _ in range(3):
        same(df["a"].rolling(5).apply(spread, raw=True), df["a"].rolling(5).apply(fast, raw=True))
    assert fast.cache_info().hits > 20
    same(df.groupby("n")["a"].agg(lambda s: spread(s.to_numpy())), df.groupby("n")["a"].agg(lambda s: fast(s.to_numpy())))
    same(df[["a", "b"]].apply(spread, axis=1, raw=True), df[["a", "b"]].apply(fast, axis=1, raw=True))


def test_apply_to_rows():
    def f(row):
        return row["a"] * row["b"] + row["n"]

    df, fast = frame(), jitted(f)
    for _ in range(3):
        same(df.apply(f, axis=1), df.apply(fast, axis=1))


def test_frames_that_change_between_calls():
    def f(df, name):
        return df[name].to_numpy() * 2.0

    df, fast = frame(), jitted(f)
    for name in ("a", "b", "n", "a"):
        same(f(df, name), fast(df, name))
    df["a"] = df["a"].astype("float32")
    same(f(df, "a"), fast(df, "a"))
    del df["a"]
    assert outcome(f, df, "a") == outcome(fast, df, "a")
    df["a"] = 1
    same(f(df, "a"), fast(df, "a"))


def test_dates_and_strings_stay_plain():
    def f(df):
        return df["t"].dt.day.to_numpy() + df["n"].to_numpy(), df["s"].str.upper()

    def made():
        df = frame()
        df["t"] = pandas.date_range("2024-01-01", periods=len(df))
        return (df,)

    compare(f, made, kernels=False)
