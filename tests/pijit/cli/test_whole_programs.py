"""Functions and loops of whole programs are compiled when they have earned it, within a budget."""

import builtins
import subprocess
import sys
import textwrap

import pytest

import pijit
from pijit.cli.program import NAME, Program
from pijit.core import _hook
from pijit.core.kernel.compile_permission import TooEarly, set_permission
from pijit.core.warm_up import Budget
from tests.harness import mode_config

SOURCE = """
def once(x):
    return x * 2.0 + 1.0

def never(x):
    return x

def looping(n):
    total = 0.0
    for k in range(n):
        total = total + k * 0.5
    return total

def small(x):
    y = x * 3.0 - 1.0
    z = y * x + 2.0
    w = z * y - x + z / (y * y + 1.0)
    v = w * z + y * 0.5 - w * w
    return v * w - z + x * y - v / (w * w + 2.0)

def recursive(n):
    return n if n < 2 else recursive(n - 1) + recursive(n - 2)
"""


class Clock:
    """A clock that goes on by a step each time it is read."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.fixture
def run(request):
    """Runs the source as a program's with a budget: its functions, and the program."""
    def run(budget, source=SOURCE):
        program = Program("nowhere.py", mode_config(), budget)
        program.serve()
        names = {"__name__": "nowhere"}
        exec(program.compiled(textwrap.dedent(source).encode(), "nowhere.py"), names)
        return names, program

    yield run
    set_permission(None)
    delattr(builtins, NAME)


def rich(threshold=0.0):
    """A budget that affords everything."""
    return Budget(Clock(1000.0), threshold, share=1000.0)


def poor():
    """A budget that affords nothing."""
    return Budget(Clock(0.0), 0.0)


def kernels(f):
    return sum(len(entry.launchers) for entry in getattr(f.state, "entries", ()))


def jitted(program, name):
    """The JitFunction of a function of the program; from CPython 3.11 on the program has the plain function."""
    return next(f for f in program.functions if f.__name__ == name)


def reasons(program):
    return {report.name: report.skipped.id for report in program.reports() if report.skipped is not None}


def test_cold_functions_have_no_kernels_and_are_reported(run):
    names, program = run(Budget(threshold=1e6))
    for _ in range(100):
        assert names["once"](2.0) == 5.0 and names["looping"](10) == 22.5 and names["recursive"](5) == 5
    assert not any(map(kernels, program.functions))
    assert reasons(program) == {"once": "PJ407", "looping": "PJ407", "recursive": "PJ407"}
    assert "PJ407" in str(program.reports()[0])


def test_a_function_that_is_called_often_is_compiled(run):
    names, program = run(rich())
    assert len({names["small"](2.0) for _ in range(200)}) == 1
    f = jitted(program, "small")
    assert kernels(f) and f.cache_info().hits
    assert "small" not in reasons(program)


@pytest.mark.unshared
@pytest.mark.skipif(sys.version_info < (3, 12), reason="CPython 3.11 inlines calls of all functions")
def test_a_function_that_no_kernel_serves_is_called_as_without_pijit(run):
    names, program = run(rich())
    for _ in range(10000):
        assert names["never"]("text") == "text"
    assert _hook.hooked(names["never"]) is None and _hook.hooked(names["once"]) is not None


def test_a_loop_is_compiled_within_one_long_call(run):
    names, program = run(rich(1e-4))
    n = 200000
    assert names["looping"](n) == sum(k * 0.5 for k in range(n))
    entry = jitted(program, "looping").state.entries[0]
    assert entry.code.moved is not None and entry.launchers


def test_the_rest_of_a_long_recursion_is_compiled(run):
    names, program = run(rich(1e-4))
    assert names["recursive"](18) == 2584
    assert jitted(program, "recursive").state is not None


def test_without_budget_nothing_is_compiled(run):
    names, program = run(poor())
    for _ in range(500):
        names["small"](2.0)
    assert names["looping"](20000) == 99995000.0
    assert reasons(program) == {"small": "PJ407", "looping": "PJ407"}


def test_a_kernel_that_is_too_early_leaves_the_function_cold(run):
    budget = rich()

    def refuse(source):
        raise TooEarly(1e9)

    names, program = run(budget, SOURCE.replace("0.5", "0.508203125"))  # no test has compiled this before
    set_permission(refuse)
    assert len({names["small"](2.0) for _ in range(100)}) == 1
    assert names["looping"](20000) == sum(k * 0.508203125 for k in range(20000))
    if mode_config().get("backend") != "python":
        small = jitted(program, "small")
        assert not kernels(small) and not small.state.failures
        assert reasons(program) == {"small": "PJ407", "looping": "PJ407"}


def test_strings_that_differ_in_each_call_cost_few_captures(run):
    """Four variants for keys of a dict, not eight: after that both strings are left out."""
    names, program = run(rich(), """
        def transfer(accounts, source, target, amount):
            accounts[source] = accounts[source] - amount
            accounts[target] = accounts[target] + amount * 0.5
            return accounts[source] * 2.0 + accounts[target]
    """)
    accounts, plain = ({str(k): 100.0 + k for k in range(60)} for _ in range(2))
    for k in range(300):
        source, target = str(7 * k % 60), str((11 * k + 1) % 60)
        result = names["transfer"](accounts, source, target, 1.0)
        plain[source] = plain[source] - 1.0
        plain[target] = plain[target] + 0.5
        assert result == plain[source] * 2.0 + plain[target]
    assert accounts == plain
    f = jitted(program, "transfer")
    assert any("PJ308" in why and "source" in why and "target" in why for why in f.state.recompiles)
    assert f.cache_info().misses <= 6 and f.cache_info().hits


def test_an_explicit_decorator_compiles_at_the_first_call(run, monkeypatch, tmp_path):
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path))  # no kernel is on disk
    names, _ = run(Budget(threshold=1e6), """
        from pijit import jit

        @jit
        def f(n):
            total = 0.0
            for k in range(n):
                total = total + k * 0.5
            return total
    """)
    assert names["f"](10) == 22.5 and names["f"](10) == 22.5
    assert kernels(names["f"]) and names["f"].cache_info().hits == 1


def test_exceptions_and_attributes_are_those_of_the_function(run):
    names, _ = run(rich(), """
        def fails(x):
            for k in range(3):
                if k == x:
                    raise ValueError(k)
            return k
        fails.note = 7
    """)
    for _ in range(50):
        with pytest.raises(ValueError):
            names["fails"](1)
        assert names["fails"](5) == 2
    assert names["fails"].note == 7 and names["fails"].__name__ == "fails"


def test_budget_counts_what_was_spent():
    now = [10.0]
    budget = Budget(lambda: now[0], share=0.5)
    assert not budget.affords(1.0)
    now[0] = 20.0
    assert budget.affords(4.0) and not budget.affords(6.0)

    def serve():
        now[0] += 3.0

    budget.spend(serve)
    assert not budget.affords(2.0) and budget.affords(1.5)


def test_compile_times_are_multiples_of_the_start(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.delitem(sys.modules, "pijit.core.function_state", raising=False)
    slow, fast = Budget(startup=0.5), Budget(startup=0.05)
    assert slow.expected() == pytest.approx(10 * fast.expected())
    assert slow.of_source("x" * 1000) == pytest.approx(10 * fast.of_source("x" * 1000))
    assert Budget(startup=3600.0).expected() == pytest.approx(2 * slow.expected())


def test_programs_without_arrays_start_without_numpy(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent("""
        import sys

        def total(n):
            return sum(number(k) for k in range(n)) + looped(n)

        def looped(n):
            t = 0
            for k in range(n):
                t += k
            return t

        def number(k):
            return k + 1

        print(total(5), [m for m in ("numpy", "numba", "bytecode", "pijit.core.function_state") if m in sys.modules])
    """))
    printed = subprocess.check_output([sys.executable, "-m", "pijit", str(script)], universal_newlines=True)
    assert printed == "25 []\n"


def test_chill_wants_a_callable():
    f = pijit.jit(lambda x: x)
    with pytest.raises(TypeError, match="chill: ask must be callable or None, not int"):
        f.chill(3)


LOOPS = """
total = 0.0
for k in range(3):
    total += k * 2.0
for k in (1, 2):
    print(k)
if total:
    while total > 1.0:
        total = total / 2.0
def f(n):
    for k in range(n):
        n += 1
    return n
"""


def test_loops_at_module_level_are_reported(tmp_path, capsys):
    from pijit.__main__ import main

    (tmp_path / "program.py").write_text(LOOPS)
    assert main(["explain", str(tmp_path / "program.py")]) == 0
    printed = capsys.readouterr().out
    assert printed.count("PJ408") == 2 and "Move the loop into a function" in printed
    assert "total += k * 2.0" in printed and "total = total / 2.0" in printed and "print(k)" not in printed


@pytest.mark.skipif(sys.version_info < (3, 10), reason="match statements are of CPython 3.10")
def test_loops_in_match_statements_are_reported(tmp_path, capsys):
    from pijit.__main__ import main

    (tmp_path / "program.py").write_text("match 1:\n    case 1:\n        k = 0\n        while k < 3:\n            k += 1\n")
    assert main(["explain", str(tmp_path / "program.py")]) == 0
    assert "PJ408" in capsys.readouterr().out
