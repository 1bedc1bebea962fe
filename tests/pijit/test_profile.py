"""`pijit.profile`, `explain(f, profile=True)` and `python -m pijit --profile`: exact counts, times that add up."""

import gc
import re
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import pijit
from pijit.core import _hook, _launcher
from pijit.names import count_of
from pijit.reporting.profile_table import size_text, time_text

FIXED = {"perf_statistics": False}
"""Without A/B timing each call runs the same code."""


def jitted(function):
    return pijit.jit(function, jit_config=FIXED)


def make_scaled():
    @jitted
    def scaled(x, y):
        return x * 2.0 + y
    return scaled


def warm(f, *args):
    for _ in range(3):
        f(*args)


def row(profile, f):
    """The profile of a function."""
    function = f.py_func
    code = function.__code__
    return profile.of(function.__qualname__, code.co_filename, code.co_firstlineno)


def is_off():
    return not _launcher.kernel_times() and not _hook.call_times()


def test_counts_are_exact():
    scaled, x = make_scaled(), np.ones(100)
    warm(scaled, x, x)
    with pijit.profile() as profile:
        for _ in range(500):
            scaled(x, x)
    one = row(profile, scaled)
    kernel, = one.kernels
    line = scaled.py_func.__code__.co_firstlineno + 2
    assert one.calls == kernel.runs == 500 and 0 < kernel.timed <= 500
    assert (kernel.name, kernel.first, kernel.last) == ("k1", line, line)
    assert (kernel.bytes_in, kernel.bytes_out) == (500 * 2 * x.nbytes, 500 * x.nbytes)
    assert one.exits.exits == () and one.exits.misses == ()
    assert is_off()


def test_times_add_up_to_the_time_of_the_calls():
    @jitted
    def slow(x):
        y = x * 2.0 + 1.0
        time.sleep(0.02)
        return y / 3.0
    x = np.ones(1000)
    warm(slow, x)
    with pijit.profile() as profile:
        start = time.perf_counter()
        for _ in range(10):
            slow(x)
        whole = time.perf_counter() - start
    one = row(profile, slow)
    assert one.compiling == 0 and one.seconds == pytest.approx(one.bytecode + sum(kernel.seconds for kernel in one.kernels))
    assert profile.seconds == pytest.approx(profile.in_kernels + profile.in_bytecode + profile.in_compiler)
    assert 0.95 * 0.2 <= one.bytecode <= profile.seconds <= whole
    assert 0 < one.in_kernels < whole - 0.2


def test_short_kernels_are_sampled_and_all_runs_count():
    scaled, x = make_scaled(), np.ones(3)
    warm(scaled, x, x)
    with pijit.profile() as profile:
        start = time.perf_counter()
        for _ in range(20000):
            scaled(x, x)
        whole = time.perf_counter() - start
    kernel, = row(profile, scaled).kernels
    assert kernel.runs == 20000 and 16 <= kernel.timed
    assert 0 < kernel.seconds and profile.seconds <= whole
    assert "~" in str(profile) or kernel.timed == kernel.runs


def test_nothing_is_counted_after_it_or_before_it():
    scaled, x = make_scaled(), np.ones(4)
    warm(scaled, x, x)
    profile = pijit.profile()
    scaled(x, x)
    assert not profile.is_on and profile.functions == ()
    profile.start()
    scaled(x, x)
    assert profile.is_on and row(profile, scaled).calls == 1
    profile.stop()
    profile.stop()
    scaled(x, x)
    assert not profile.is_on and row(profile, scaled).calls == row(profile, scaled).kernels[0].runs == 1 and is_off()
    with profile:
        scaled(x, x)
        scaled(x, x)
    assert row(profile, scaled).calls == 2


def test_profiles_overlap():
    scaled, x = make_scaled(), np.ones(4)
    warm(scaled, x, x)
    outer, inner = pijit.profile(), pijit.profile()
    outer.start()
    scaled(x, x)
    inner.start()
    scaled(x, x)
    outer.stop()
    scaled(x, x)
    inner.stop()
    for profile in (outer, inner):
        one = row(profile, scaled)
        assert one.calls == one.kernels[0].runs == 2
    assert is_off()


def test_only_the_given_functions_are_shown():
    scaled, other, x = make_scaled(), jitted(lambda x: x + 1.0), np.ones(4)
    with pijit.profile(scaled) as profile:
        scaled(x, x)
        other(x)
    assert [one.name for one in profile.functions] == [scaled.__qualname__]
    with pijit.profile(scaled.py_func) as profile:
        other(x)
    assert str(profile) == "profile: no jitted function was called"


def test_functions_and_entries_made_meanwhile_are_counted():
    with pijit.profile() as profile:
        scaled, x = make_scaled(), np.ones(4)
        for _ in range(5):
            scaled(x, x)
            scaled(x.astype(np.float32), x.astype(np.float32))
    one = row(profile, scaled)
    assert one.calls == 10 and sum(kernel.runs for kernel in one.kernels) == 10
    assert all(kernel.name.startswith("k") and kernel.first for kernel in one.kernels)


def test_compiling_is_told_from_bytecode():
    scaled, x = make_scaled(), np.ones(4)
    with pijit.profile() as profile:
        start = time.perf_counter()
        for _ in range(3):
            scaled(x, x)
        whole = time.perf_counter() - start
    one = row(profile, scaled)
    assert 0 < one.bytecode < profile.seconds <= whole and 0 < one.compiling < profile.seconds
    assert "compiling" in str(profile) and " to compile them" in str(profile)
    with pijit.profile() as profile:
        scaled(x, x)
    assert row(profile, scaled).compiling == profile.in_compiler == 0 and "compiling" not in str(profile)


def test_exits_and_reentries_since_the_start():
    @jitted
    def total(values):
        s = 0
        for value in values:
            s += value
        return s
    small, large = np.arange(9), np.array([2 ** 62] * 4)
    warm(total, small)
    with np.errstate(all="ignore"):
        total(large)
        before = sum(one.count for one in pijit.info(total).exits.exits)
        with pijit.profile() as profile:
            total(small)
            assert row(profile, total).exits.exits == ()
            total(large)
            total(large)
        after = sum(one.count for one in pijit.info(total).exits.exits)
    one = row(profile, total)
    assert one.calls == 3 and sum(exit.count for exit in one.exits.exits) == after - before


def test_calls_that_raise_count():
    @jitted
    def bad(x, which):
        y = x * 2.0 + 1.0
        if which:
            raise KeyError(which)
        return y
    x = np.ones(4)
    warm(bad, x, 0)
    with pijit.profile() as profile:
        for _ in range(4):
            with pytest.raises(KeyError, match="7") as caught:
                bad(x, 7)
            assert caught.value.__context__ is None
        with pytest.raises(TypeError):
            bad()
    assert row(profile, bad).calls == 5
    assert row(profile, bad).kernels[0].runs == 4


def test_recursion_and_nested_calls_count_their_time_once():
    @jitted
    def outer(x, depth):
        time.sleep(0.01)
        return outer(x, depth - 1) if depth else inner(x)

    @jitted
    def inner(x):
        time.sleep(0.03)
        return x * 2.0 + 1.0
    x = np.ones(4)
    with pijit.profile() as profile:
        start = time.perf_counter()
        outer(x, 3)
        whole = time.perf_counter() - start
    assert 0.07 * 0.95 <= profile.seconds <= whole
    assert 0.07 * 0.95 <= row(profile, outer).seconds + row(profile, inner).seconds <= whole


def test_threads_add_up():
    scaled, x = make_scaled(), np.ones(50)
    warm(scaled, x, x)

    def work():
        for _ in range(300):
            scaled(x, x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    with pijit.profile() as profile:
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    one = row(profile, scaled)
    assert one.calls == one.kernels[0].runs == 1200
    assert one.bytecode > 0 and one.in_kernels > 0


def test_a_profile_that_begins_and_ends_inside_a_call():
    profile = pijit.profile()

    @jitted
    def around(x, on):
        y = x * 2.0 + 1.0
        (profile.start if on else profile.stop)()
        return y + 1.0
    x = np.ones(4)
    np.testing.assert_array_equal(around(x, True), x + 3.0)
    np.testing.assert_array_equal(around(x, False), x + 3.0)
    assert row(profile, around).calls == 0 and is_off()


def test_gradients_are_the_same_and_counted():
    @jitted
    def loss(w, x):
        return ((w * x - 1.0) ** 2).sum()
    gradient, x = pijit.grad(loss), np.linspace(0.0, 1.0, 50)
    expected = [gradient(x, x) for _ in range(4)][-1]
    with pijit.profile() as profile:
        for _ in range(7):
            np.testing.assert_array_equal(gradient(x, x), expected)
    found = {one.name: one for one in profile.functions}
    assert found["gradient of " + loss.__qualname__].calls == 7
    assert sum(kernel.runs for one in profile.functions for kernel in one.kernels) >= 7


def test_methods_and_checked_functions():
    class Layer:
        @jitted
        def run(self, x):
            return x * 2.0 + 1.0
    checked = pijit.jit(lambda x: x - 1.0, jit_config={"check": True})
    layer, x = Layer(), np.ones(4)
    with pijit.profile() as profile:
        for _ in range(4):
            layer.run(x)
            checked(x)
    assert row(profile, Layer.run).calls == row(profile, checked).calls == 4


def test_functions_are_not_kept_alive():
    scaled, x = make_scaled(), np.ones(4)
    with pijit.profile() as profile:
        warm(scaled, x, x)
    alive = weakref.ref(scaled)
    name = scaled.__qualname__
    del scaled
    gc.collect()
    assert alive() is None
    assert [one.name for one in profile.functions] == [name]


def test_explain_shows_the_profile_beside_the_lines(tmp_path):
    scaled, x = make_scaled(), np.ones(1000)
    warm(scaled, x, x)
    with pijit.profile() as profile:
        for _ in range(20):
            scaled(x, x)
        running = pijit.explain(scaled, profile=True)
    report = pijit.explain(scaled, profile=True)
    assert report.profile == row(profile, scaled) and running.profile.calls == 20
    time_of_line = time_text(report.profile.kernels[0].seconds)
    text = str(report)
    assert "k1 {} ".format(time_of_line) in text and "\nprofile:\n" in text and "bytecode" in text
    assert scaled.state.counts == (pijit.info(scaled).hits, pijit.info(scaled).misses)
    report.to_html(str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert "k1 {} ".format(time_of_line) in page and "<h2>Profile</h2>" in page
    plain = pijit.explain(scaled)
    assert plain.profile is None and "\nprofile:\n" not in str(plain) and time_of_line not in str(plain)
    assert "not called" in str(pijit.explain(jitted(lambda x: x + 1.0), x, profile=True))
    assert scaled.explain(profile=True).profile == report.profile


def test_explain_without_a_profile(monkeypatch):
    from pijit.reporting import profile as module

    monkeypatch.setattr(module._Newest, "profile", None)
    with pytest.raises(ValueError, match="explain: profile=True shows a profile, and there is none"):
        pijit.explain(make_scaled(), profile=True)


@pytest.mark.parametrize("given", [1, "yes", np.ones(3), None])
def test_explain_names_the_argument(given):
    with pytest.raises(TypeError, match="explain: profile must be True or False"):
        pijit.explain(make_scaled(), profile=given)


def test_explain_of_what_is_no_function():
    with pijit.profile():
        pass
    gradient = pijit.grad(lambda x: x * x)
    with pytest.raises(TypeError, match="explain: profile must be False for"):
        pijit.explain(gradient, 1.0, profile=True)


@pytest.mark.parametrize("given", [3, len, "f", None])
def test_profile_names_the_argument(given):
    with pytest.raises(TypeError, match=r"profile: functions\[1\] must be a Python function or a jitted one, not"):
        pijit.profile(make_scaled(), given)


def test_a_profile_cannot_begin_twice():
    with pijit.profile() as profile:
        with pytest.raises(RuntimeError, match="profile: it is on already"):
            profile.start()
    assert is_off()


def test_results_and_timing_do_not_change():
    @pijit.jit
    def scaled(x):
        return x * 2.0 + 1.0
    x = np.ones(10)
    with pijit.profile():
        for _ in range(200):
            np.testing.assert_array_equal(scaled(x), x * 2.0 + 1.0)
    assert len(scaled.state.entries) == 1


def test_the_table():
    scaled, x = make_scaled(), np.ones(100000)
    warm(scaled, x, x)
    with pijit.profile() as profile:
        for _ in range(5):
            scaled(x, x)
    lines = str(profile).splitlines()
    assert lines[0].startswith("profile: ") and " in 5 calls of jitted functions: " in lines[0]
    assert lines[2].split() == ["time", "share", "runs", "each", "in", "out"]
    assert "100 %" in lines[3] and lines[3].endswith("make_scaled.<locals>.scaled ({}:{})".format(
        scaled.py_func.__code__.co_filename, scaled.py_func.__code__.co_firstlineno))
    assert sorted(line.split("  ")[-1].split(",")[0] for line in lines[4:6]) == ["bytecode", "k1"]
    assert "8.00 MB" in str(profile) and "4.00 MB" in str(profile)
    assert repr(profile) == "<profile of {}, off>".format(count_of(1, "function"))


@pytest.mark.parametrize("seconds, text", [(0, "0"), (2e-9, "2.00 ns"), (1.234e-5, "12.3 us"), (0.5, "500 ms"),
                                           (12.0, "12.0 s"), (1234.0, "1234 s")])
def test_times_as_text(seconds, text):
    assert time_text(seconds) == text


@pytest.mark.parametrize("size, text", [(0, ""), (12, "12 B"), (1500, "1.50 kB"), (80 * 10**6, "80.0 MB")])
def test_sizes_as_text(size, text):
    assert size_text(size) == text


SCRIPT = """
import sys
import numpy as np

def rarely(x):
    return x + 1.0

def often(x):
    y = x * 2.0
    return y / (y + 1.0)

def main(n):
    x = np.ones(20000)
    for _ in range(n):
        x = often(x)
    return rarely(x)[0]

print(main(int(sys.argv[1])))
{}
"""


@pytest.mark.parametrize("end, status", [("", 0), ("sys.exit(3)", 3), ("raise ValueError('end')", 1)])
def test_the_command_line_prints_the_table_at_the_end(tmp_path, end, status):
    (tmp_path / "script.py").write_text(SCRIPT.format(end))
    done = subprocess.run([sys.executable, "-m", "pijit", "--eager", "--profile", "script.py", "200"],
                          cwd=str(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    lines = done.stdout.splitlines()
    assert done.returncode == status, done.stderr
    assert float(lines[0]) > 0 and lines[2].startswith("profile: ")
    rows = [line for line in lines if "script.py:" in line]
    assert any(re.search(r" main \(.*script\.py:12\)$", line) for line in rows), done.stdout
    assert "k1, lines" in done.stdout and "bytecode" in done.stdout


def test_a_cold_program_has_only_bytecode(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT.format(""))
    done = subprocess.run([sys.executable, "-m", "pijit", "--profile", "script.py", "1"], cwd=str(tmp_path),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    assert done.returncode == 0 and "profile: " in done.stdout, done.stderr
