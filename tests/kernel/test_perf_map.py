"""Perf maps (`PIJIT_PERF=1`): the kernels of a process, of its children, and from the disk cache have names there."""

import os
import re
import subprocess
import sys
import textwrap

import pytest

from pijit.core.kernel import perf_map
from pijit.core.kernel.object_symbols import functions_beside

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="perf is a part of Linux")

PROGRAM = """
import os, sys
import numpy as np, pijit

def halves(x):
    y = x * 0.5
    total = 0.0
    for i in range(len(y)):
        total += y[i]
    return total

jitted = pijit.jit(halves, jit_config={"perf_statistics": False})
before = os.path.exists("/tmp/perf-%d.map" % os.getpid())
assert jitted(np.ones(8)) == jitted(np.ones(8)) == 4.0
address = next(one.address for entry in jitted.state.entries for one in entry.launchers if one.address)

def lines():
    path = "/tmp/perf-%d.map" % os.getpid()
    if not os.path.exists(path):
        return [address, before, None]
    with open(path) as file:
        return [address, before, file.read(), os.stat(path).st_mode & 0o777]

def tell(found):
    print(repr(found), flush=True)
"""


@pytest.fixture
def run(tmp_path):
    def run(program="tell(lines())", **environment):
        """What a program tells, and its number; its perf maps are removed."""
        environment = {**os.environ, "PIJIT_CACHE_DIR": str(tmp_path / "kernels"), **environment}
        done = subprocess.Popen([sys.executable, "-c", PROGRAM + textwrap.dedent(program)], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        printed, errors = done.communicate(timeout=120)
        assert done.returncode == 0, errors
        if os.path.exists(perf_map.PATH % done.pid):
            os.unlink(perf_map.PATH % done.pid)
        return [eval(line) for line in printed.splitlines()]

    return run


def kernel_at(address, text):
    """The function and line in a map's text of the range that contains an address; all lines must be well formed."""
    rows = [line.split(" ", 2) for line in text.splitlines()]
    name, = [name for start, size, name in rows if int(start, 16) <= address < int(start, 16) + int(size, 16)]
    return re.fullmatch(r"pijit:(\w+?)(?:_\d+)?:(\d+)", name).groups()


def test_a_kernel_has_a_name_and_its_address_lies_in_the_range(run):
    (address, before, text, mode), = run(PIJIT_PERF="1")
    assert kernel_at(address, text) == ("halves", "6")
    assert not before, "nothing is written before the first kernel is linked"
    assert mode == 0o600


def test_kernels_from_the_disk_cache_have_names(run):
    run(PIJIT_PERF="1")
    (address, _, text, _), = run(PIJIT_PERF="1")
    assert kernel_at(address, text) == ("halves", "6")


def test_nothing_is_written_without_the_variable(run):
    for value in ("", "0"):
        (_, _, text), = run(PIJIT_PERF=value)
        assert text is None


def test_the_variable_is_read_when_the_first_kernel_is_linked(run):
    (_, _, text, _), (_, _, later, _) = run("""
        os.environ["PIJIT_PERF"] = ""
        tell(lines())
        @pijit.jit
        def third(x):
            return x / 3.0 + 1.0
        third(np.ones(3)), third(np.ones(3))
        tell(lines())
    """, PIJIT_PERF="1")
    assert "third" not in text and "pijit:third" in later


def test_a_child_has_a_map_of_its_own(run):
    child, parent = run("""
        if not os.fork():
            @pijit.jit
            def third(x):
                return x / 3.0 + 1.0
            third(np.ones(3)), third(np.ones(3))
            tell(lines())
            os.unlink("/tmp/perf-%d.map" % os.getpid())
            os._exit(0)
        os.wait()
        tell(lines())
    """, PIJIT_PERF="1")
    assert kernel_at(child[0], child[2]) == kernel_at(parent[0], parent[2]) == ("halves", "6")
    assert "pijit:third" in child[2] and "pijit:third" not in parent[2]


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_is_not_followed(tmp_path, link):
    target = tmp_path / "other"
    target.write_text("kept")
    link(str(target), str(tmp_path / "perf.map"))
    with pytest.raises(OSError):
        perf_map._opened(str(tmp_path / "perf.map"), is_begun=False)
    assert target.read_text() == "kept"


def test_lines_of_an_older_process_go(tmp_path):
    (tmp_path / "perf.map").write_text("1000 10 stale\n")
    os.close(perf_map._opened(str(tmp_path / "perf.map"), is_begun=False))
    assert (tmp_path / "perf.map").read_text() == ""


def test_a_file_that_cannot_be_written_is_logged_once(run, tmp_path):
    (errors, _), = run("""
        import logging
        from pijit.core.kernel import perf_map
        logged = []
        handler = logging.Handler()
        handler.emit = lambda record: logged.append(record.getMessage())
        logging.getLogger("pijit").addHandler(handler)
        perf_map.PATH = "/no/such/folder/%d"
        for number in (3.0, 5.0):
            names = {}
            exec("def f(x):\\n  s = 0.0\\n  for i in range(len(x)): s += x[i] * %r\\n  return s" % number, names)
            f = pijit.jit(names["f"], jit_config={"cache": False})
            assert f(np.ones(3)) == f(np.ones(3)) == 3.0 * number
        tell((logged, None))
    """, PIJIT_PERF="1")
    assert len(errors) == 1 and errors[0].startswith("PIJIT_PERF: kernels have no names in perf: ")


def test_a_file_that_is_no_object_file_has_no_symbols():
    with pytest.raises(ValueError, match="no ELF file"):
        functions_beside(b"\xcf\xfa\xed\xfe" + bytes(64), "kernel")
