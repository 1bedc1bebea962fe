"""Compile locks: processes that share a cache folder compile each kernel once, and none waits for a dead one."""

import os
import signal
import subprocess
import sys
import time

import pytest

from pijit.core.kernel import compile_lock, disk_cache

KEY, OTHER = "ab" * 32, "cd" * 32

WORKER = """
import os, sys, time
from pijit.core.kernel.llvm import codegen
made = codegen.object_code

def noted(*args):
    with open(sys.argv[1], "a") as file:
        file.write("%d\\n" % os.getpid())
    return made(*args)

codegen.object_code = noted
import numpy as np
from pijit import jit

@jit
def total(x):
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + x[i]
    return s

@jit
def scaled(x):
    return x * 2.0 + 1.0

while time.time() < float(sys.argv[2]):
    time.sleep(0.001)
print(total(np.ones(4)), scaled(np.ones(4)).sum())
"""


def start(folder, tmp_path, count):
    """Processes that wait for each other and then call the same two functions."""
    script, at = tmp_path / "worker.py", time.time() + 3.0
    script.write_text(WORKER)
    environment = dict(os.environ, PIJIT_CACHE_DIR=str(folder))
    return [subprocess.Popen([sys.executable, str(script), str(tmp_path / "made"), str(at)], env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
            for _ in range(count)]


def finished(processes):
    outputs = [process.communicate(timeout=240) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), outputs
    return {output for output, _ in outputs}, [errors for _, errors in outputs if errors]


def test_processes_that_start_at_once_compile_each_kernel_once(tmp_path):
    outputs, errors = finished(start(tmp_path / "kernels", tmp_path, 8))
    assert outputs == {"1.875 12.0\n"} and not errors
    kernels = [name for name in os.listdir(str(tmp_path / "kernels")) if name.endswith(disk_cache.SUFFIX)]
    assert len((tmp_path / "made").read_text().split()) == len(kernels) == 2
    outputs, errors = finished(start(tmp_path / "kernels", tmp_path, 2))
    assert len((tmp_path / "made").read_text().split()) == 2 and not errors


def test_a_process_that_is_killed_while_it_compiles_stops_no_other(tmp_path):
    first, = start(tmp_path / "kernels", tmp_path, 1)
    made = tmp_path / "made"
    while not made.exists() or not made.read_text():
        time.sleep(0.005)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    outputs, errors = finished(start(tmp_path / "kernels", tmp_path, 1))
    assert outputs == {"1.875 12.0\n"} and not errors


@pytest.fixture
def cache(tmp_path):
    return disk_cache.DiskCache(str(tmp_path / "kernels"))


HOLDER = """
import fcntl, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(cache):
    """Another process that holds the lock of KEY until its input ends."""
    os.mkdir(cache.path, 0o700)
    process = subprocess.Popen([sys.executable, "-c", HOLDER, os.path.join(cache.path, compile_lock.lock_name(KEY))],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.stdin.close()
    process.wait()
    process.stdout.close()


def test_a_kernel_that_appears_while_a_process_waits_is_loaded(cache, holder, monkeypatch):
    def sleep(seconds):
        cache.save(KEY, b"theirs")
        holder.stdin.close()
        holder.wait()

    monkeypatch.setattr(compile_lock.time, "sleep", sleep)
    assert cache.make_once(KEY, lambda: b"ours") == b"theirs"


def test_a_lock_that_is_not_released_is_waited_for_no_longer_than_the_limit(cache, holder, monkeypatch):
    monkeypatch.setattr(compile_lock, "LONGEST_WAIT", 0.02)
    assert cache.make_once(KEY, lambda: b"ours") == b"ours" == cache.load(KEY)


def test_other_kernels_do_not_wait(cache, holder, monkeypatch):
    monkeypatch.setattr(compile_lock.time, "sleep", lambda seconds: pytest.fail("it waits"))
    assert cache.make_once(OTHER, lambda: b"ours") == b"ours"


def test_a_child_does_not_keep_the_lock_of_its_parent(cache, monkeypatch):
    monkeypatch.setattr(compile_lock, "LONGEST_WAIT", 20.0)
    os.mkdir(cache.path, 0o700)
    folder = os.open(cache.path, os.O_RDONLY)
    code = ("import os, sys\nfrom pijit.core.kernel.compile_lock import compile_lock\n"
            "with compile_lock(os.open(sys.argv[1], os.O_RDONLY), sys.argv[2]):\n"
            "    child = os.fork()\n"
            "    if child == 0:\n        sys.stdin.read()\n        os._exit(0)\n"
            "print(child, flush=True)\nos._exit(0)\n")
    process = subprocess.Popen([sys.executable, "-c", code, cache.path, KEY], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, universal_newlines=True)
    assert int(process.stdout.readline())
    begin = time.monotonic()
    with compile_lock.compile_lock(folder, KEY):
        assert time.monotonic() - begin < 10.0
    os.close(folder)
    process.stdin.close()
    process.wait()
    process.stdout.close()


def test_an_error_of_the_compiler_releases_the_lock(cache):
    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.make_once(KEY, fails)
    assert cache.load(KEY) is None and cache.make_once(KEY, lambda: b"ours") == b"ours"


def test_where_there_is_no_folder_the_kernel_is_made(tmp_path):
    (tmp_path / "file").write_text("")
    assert disk_cache.DiskCache(str(tmp_path / "file" / "kernels")).make_once(KEY, lambda: b"ours") == b"ours"
