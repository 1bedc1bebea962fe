"""From CPython 3.11 on launchers ask who runs linked code: that run gets what was handed over, and its windows are measured.

The module that runs linked code registers one function for the whole process, so each test has a process of its own."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="frames tell who runs linked code")

PRELUDE = """
import ctypes
from pijit.core import _launcher
from pijit.core._launcher import MISS, Launcher, LoopTiming

P = ctypes.c_void_p

class HandOver(ctypes.Structure):
    _fields_ = [(name, P) for name in ("launcher", "running", "answer", "type", "value", "traceback", "outer")] + [
        ("taken", ctypes.c_int)]

RUNNING = ctypes.PYFUNCTYPE(P)

class API(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("launch", P), ("hand_over", ctypes.PYFUNCTYPE(None, P, P)),
                ("hand_over_end", ctypes.PYFUNCTYPE(None, P)), ("is_launcher", P), ("loop_windows", P),
                ("kernel_clock", P), ("set_running", ctypes.PYFUNCTYPE(None, RUNNING))]

get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = P, [ctypes.py_object, ctypes.c_char_p]
api = API.from_address(get(_launcher._C_API, b"pijit.core._launcher._C_API"))
assert api.version == 7
now = [0]
running = RUNNING(lambda: now[0])
api.set_running(running)

def launcher(kernel):
    return Launcher(None, {}, {}, (("int",),), 3, 3, kernel, ((("int", 2),),), 1, "test")

def over(launcher, answer, run):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(answer))
    made = HandOver(id(launcher), None, id(answer))
    api.hand_over(ctypes.addressof(made), run)
    return made
"""


def run(code):
    done = subprocess.run([sys.executable, "-c", PRELUDE + code], stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_run_that_it_is_for_gets_the_answer_once():
    run("""
one = launcher(lambda n: (0, n))
made = over(one, (0, 99), 1000)
now[0] = 2000
assert one.callable(5) == (0, 5) and not made.taken
now[0] = 1000
assert one.callable(5) == (0, 99) and made.taken
assert one.callable(5) == (0, 5)
api.hand_over_end(ctypes.addressof(made))
""")


def test_launchers_in_front_decline():
    run("""
first, one = launcher(lambda n: (0, n)), launcher(lambda n: (0, n))
made = over(one, (0, 99), 1000)
now[0] = 1000
assert first.callable(5) == (MISS, None) and one.callable(5) == (0, 99) and first.callable(5) == (0, 5)
api.hand_over_end(ctypes.addressof(made))
""")


def test_runs_within_runs():
    run("""
one, two = launcher(lambda n: (0, n)), launcher(lambda n: (0, n))
outer, inner = over(one, (0, 1), 1000), over(two, (0, 2), 2000)
now[0] = 1000
assert one.callable(5) == (0, 1)
now[0] = 2000
assert two.callable(5) == (0, 2)
for made in (inner, outer):
    api.hand_over_end(ctypes.addressof(made))
""")


def test_exceptions_are_raised_where_they_belong():
    run("""
import sys
one = launcher(lambda n: (0, n))
made = HandOver(id(one), None, None)
error = ValueError("handed over")
for part in (ValueError, error):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(part))
made.type, made.value = id(ValueError), id(error)
api.hand_over(ctypes.addressof(made), 1000)
now[0] = 1000
try:
    one.callable(5)
except ValueError as raised:
    assert raised is error
else:
    raise AssertionError("nothing was raised")
api.hand_over_end(ctypes.addressof(made))
""")


def test_short_loops_are_left_alone():
    run("""
def spin(rounds):
    for _ in range(rounds):
        pass

one = launcher(lambda n: (spin(20), (0, n))[1])
one.timing, one.clock, misses = LoopTiming(lambda *verdict: None, 0), True, 0
timing = one.timing
for number in range(3000):
    now[0] = 1000 + number
    for _ in range(2):
        misses += one.callable(1)[0] == MISS
assert timing.state in ("kept", "measuring") and misses == 0
""")
