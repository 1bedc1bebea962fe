"""`python -m pijit script.py` on a terminal: a line on stderr while kernels compile for long."""

import fcntl
import importlib.util
import io
import os
import pty
import struct
import subprocess
import sys
import termios
import time

import pytest

from pijit.core.kernel import compile as kernels
from pijit.reporting import progress

pytestmark = pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="needs tqdm")

SLOW = '''
import time
import numpy as np
from pijit.reporting import progress
from pijit.core.kernel import compile as kernels

progress.PATIENCE, progress.TICK = 0.1, 0.05
function = kernels._function

def slow(*args):
    time.sleep(0.5)
    return function(*args)

kernels._function = slow

def scaled(x):
    return x * 2.0 + 1.0

print(scaled(np.ones(3)))
'''


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "main.py"
    path.write_text(SLOW)
    return str(path)


def test_a_line_on_a_terminal(script):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    try:
        out = subprocess.check_output([sys.executable, "-m", "pijit", "--eager", "--backend", "python", script],
                                      universal_newlines=True, stderr=theirs, timeout=60)
    finally:
        os.close(theirs)
    with open(ours, "rb", buffering=0) as stream:
        shown = stream.read(100000).decode()
    assert out == "[3. 3. 3.]\n"
    assert "pijit: compiling scaled_1: 0 kernels done, 00:00" in shown
    assert shown.endswith("\r") and not shown.split("\r")[-2].strip()  # the line is gone


def test_nothing_elsewhere(script):
    done = subprocess.run([sys.executable, "-m", "pijit", "--backend", "python", script], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    assert (done.stdout, done.stderr) == ("[3. 3. 3.]\n", "")


def test_short_compiles_show_nothing_and_long_ones_add_up(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.5)
    monkeypatch.setattr(progress, "PAUSE", 60.0)
    stream = Terminal()
    watch = progress.Progress(stream)
    with watch("first"):
        pass
    assert stream.getvalue() == ""
    for name in ("second", "third", "fourth"):
        with watch(name):
            time.sleep(0.3)
    assert "first" not in stream.getvalue() and "compiling fourth: 3 kernels done" in stream.getvalue()


def test_the_time_goes_on_from_kernel_to_kernel(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    stream = Terminal()
    watch = progress.Progress(stream)
    with watch("first"):
        watch._began -= 65.0
        time.sleep(progress.TICK * 3)
    with watch("second"):
        time.sleep(progress.TICK)
    shown = stream.getvalue()
    assert "compiling first: 0 kernels done, 01:05" in shown
    assert "compiling second: 1 kernel done, 01:0" in shown and "second: 1 kernel done, 00" not in shown


def test_what_fails_is_counted_and_raised(monkeypatch):
    watch = progress.Progress(Terminal())
    with pytest.raises(KeyError), watch("broken"):
        raise KeyError("broken")


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_only_terminals_are_watched(stream):
    with progress.shown_progress(stream):
        assert kernels.set_watch(None) is None
    with progress.shown_progress(Terminal()):
        assert isinstance(kernels._watch, progress.Progress)
    assert kernels._watch is None
