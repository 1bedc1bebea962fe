"""Kernels on disk: found again, never believed when others could have made them, and no trouble for anybody."""

import contextlib
import fcntl
import io
import logging
import os
import signal
import stat
import subprocess
import sys
import tempfile

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import pytest
from another_user import NOBODY, as_a_user, as_root
from kernel_graphs import Builder

from pijit.__main__ import main
from pijit.core.graph.types import Array
from pijit.core.kernel import disk_cache, symbols
from pijit.core.kernel.abi import FrameLayout
from pijit.core.kernel.compile_lock import is_lock
from pijit.core.kernel.emit.kernel_emitter import KernelEmitter
from pijit.core.kernel.llvm import codegen
from pijit.core.kernel.llvm.nest.description import Nest, Step
from pijit.core.kernel.options import PLAIN
from pijit.core.kernel.plan.kernel_plan import make_plan

KEY, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A store of the test's own, which is also the default one; what was noted before is forgotten."""
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(disk_cache, "_noted", set())
    monkeypatch.setattr(disk_cache.DiskCache, "_written", disk_cache.SIZE_CAP)
    return disk_cache.DiskCache()


def file_of(kept, key=KEY):
    return os.path.join(kept.path, key + disk_cache.SUFFIX)


def lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "pijit.cache"]


def test_what_was_kept_is_found(kept, caplog):
    assert kept.load(KEY) is None and kept.contents() == (kept.path, 0, 0, "")
    kept.save(KEY, b"code")
    kept.save(KEY, b"code")
    assert kept.load(KEY) == b"code" and kept.load(OTHER) is None
    assert kept.contents()[1:] == (1, len(disk_cache.packed(KEY, b"code")), "")
    assert os.listdir(kept.path) == [KEY + disk_cache.SUFFIX] and not lines(caplog)
    assert stat.S_IMODE(os.stat(kept.path).st_mode) == 0o700 and stat.S_IMODE(os.stat(file_of(kept)).st_mode) == 0o600
    assert kept.clear() == 1 and kept.clear() == 0 and kept.load(KEY) is None


WHOLE = disk_cache.packed(KEY, b"code")


@pytest.mark.parametrize("data", [
    b"", WHOLE[:-1], WHOLE[:20], WHOLE + b"x", WHOLE[:-1] + b"E", b"X" + WHOLE[1:], disk_cache.packed(OTHER, b"code"),
    b"\x7fELF" + bytes(100)])
def test_what_is_damaged_or_foreign_is_ignored_and_replaced(kept, caplog, data):
    kept.save(KEY, b"code")
    with open(file_of(kept), "wb") as file:
        file.write(data)
    assert kept.load(KEY) is None and kept.load(KEY) is None
    assert len(lines(caplog)) == 1 and "not read" in lines(caplog)[0]
    kept.save(KEY, b"code")
    assert kept.load(KEY) == b"code"


@pytest.mark.parametrize("make", [
    lambda path, other: os.symlink(other, path), lambda path, other: os.mkdir(path),
    lambda path, other: os.mkfifo(path),
    lambda path, other: (os.rename(other, path), os.chmod(path, 0o620)),
    lambda path, other: (os.rename(other, path), os.chmod(path, 0o602))])
def test_what_others_may_have_made_is_not_read(kept, tmp_path, caplog, make):
    kept.save(KEY, b"planted")
    os.rename(file_of(kept), str(tmp_path / "other"))
    make(file_of(kept), str(tmp_path / "other"))
    assert kept.load(KEY) is None and len(lines(caplog)) == 1


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(kept, caplog, mode):
    kept.save(KEY, b"planted")
    os.chmod(kept.path, mode)
    assert kept.load(KEY) is None and "others may write to the folder" in lines(caplog)[0]
    kept.save(OTHER, b"code")
    assert not os.path.exists(file_of(kept, OTHER)) and kept.contents().problem == "others may write to the folder"
    with pytest.raises(disk_cache.Distrust):
        kept.clear()


def test_what_belongs_to_another_user_is_not_used(kept, monkeypatch, caplog):
    kept.save(KEY, b"planted")
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(kept.path).st_uid + 1)
    assert kept.load(KEY) is None and "the folder belongs to another user" in lines(caplog)[0]


@pytest.fixture
def users(kept, monkeypatch):
    """A store in a folder of that user's, below one that it can reach."""
    with tempfile.TemporaryDirectory() as above:
        os.chmod(above, 0o755)
        users = disk_cache.DiskCache(os.path.join(above, "kernels"))
        users.save(KEY, b"code")
        for path in (users.path, file_of(users)):
            os.chown(path, *(NOBODY, NOBODY) if os.geteuid() == 0 else (-1, -1))
        monkeypatch.setenv("PIJIT_CACHE_DIR", users.path)
        yield users


def run_commands(*commands):
    """The statuses of `python -m pijit cache ...` and all that they write."""
    with io.StringIO() as written, contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        return [main(["cache", command]) for command in commands], written.getvalue()


def test_a_folder_that_cannot_be_written_serves(users, caplog):
    caplog.set_level(logging.INFO)
    os.chmod(users.path, 0o500)

    def work():
        found = [users.load(KEY) == b"code", users.load(OTHER)]
        users.save(OTHER, b"other")
        users.save("ef" * 32, b"another")
        return found, lines(caplog), run_commands("info", "clear")

    found, noted, (statuses, printed) = as_a_user(work)
    assert found == [True, None] and os.listdir(users.path) == [KEY + disk_cache.SUFFIX]
    assert len(noted) == 1 and "not kept" in noted[0] and "Permission denied" in noted[0]
    assert statuses == [0, 1] and "read-only" in printed and "nothing was removed" in printed


def test_what_cannot_be_removed_is_counted(users):
    os.mkdir(file_of(users, OTHER))
    statuses, printed = as_a_user(lambda: run_commands("clear", "clear"))
    assert statuses == [1, 1] and os.listdir(users.path) == [OTHER + disk_cache.SUFFIX]
    assert "removed 1 kernel " in printed and "1 kernel could not be removed" in printed


@as_root
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_folder_of_root_is_not_the_users(users, caplog, mode):
    caplog.set_level(logging.INFO)
    os.chown(users.path, 0, 0)
    os.chmod(users.path, mode)
    found, noted, (statuses, printed) = as_a_user(
        lambda: (users.load(KEY), lines(caplog), run_commands("info", "clear")))
    assert found is None and len(noted) == 1 and statuses == [0, 1] and "not used: " in printed
    assert os.listdir(users.path) == [KEY + disk_cache.SUFFIX]


@pytest.mark.parametrize("path", ["/proc/pijit", os.path.join(os.path.abspath(__file__), "below")])
def test_a_folder_that_cannot_be_made_is_done_without(kept, caplog, path):
    caplog.set_level(logging.DEBUG)
    nowhere = disk_cache.DiskCache(path)
    nowhere.save(KEY, b"code")
    nowhere.save(OTHER, b"code")
    assert nowhere.load(KEY) is None and len(lines(caplog)) == 1


def test_a_full_disk_leaves_nothing_behind(kept, monkeypatch, caplog):
    def full(*args, **keywords):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(os, "replace", full)
    kept.save(KEY, b"code")
    assert os.listdir(kept.path) == [] and "No space left" in lines(caplog)[0]


@pytest.mark.parametrize("step", ["fdopen", "replace"])
def test_a_process_that_is_killed_while_it_writes_leaves_nothing_that_is_read(kept, caplog, step):
    kept.save(OTHER, b"another")

    def killed(descriptor, *args, **names):
        if step == "fdopen":
            os.write(descriptor, WHOLE[:20])
        os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        setattr(os, step, killed)
        kept.save(KEY, b"code")
        os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    torn, = [name for name in os.listdir(kept.path) if name.startswith(".")]
    assert kept.load(KEY) is None and kept.load(OTHER) == b"another" and kept.contents().kernels == 1
    kept.save(KEY, b"code")
    assert kept.load(KEY) == b"code" and kept.contents().kernels == 2 and not lines(caplog)
    os.utime(os.path.join(kept.path, torn), (1, 1))
    kept.contents()
    assert torn not in os.listdir(kept.path), "it goes when no process can still be writing it"


def test_the_oldest_go_first(kept, monkeypatch):
    keys = ["%064x" % number for number in range(8)]
    for age, key in enumerate(keys):
        kept.save(key, b"x" * 1000)
        os.utime(file_of(kept, key), (1e9 - age, 1e9 - age))
    left = os.path.join(kept.path, ".%s.kernel.0123" % KEY)
    open(left, "w").close()
    os.utime(left, (1e9, 1e9))
    assert kept.load(keys[-1]) is not None  # the oldest, but it was used
    monkeypatch.setattr(disk_cache, "SIZE_CAP", 6000)
    kept.save(OTHER, b"x" * 1000)
    assert sorted(os.listdir(kept.path)) == sorted(key + disk_cache.SUFFIX for key in [OTHER, keys[-1], keys[0], keys[1]])


def test_one_process_at_a_time_removes(kept, monkeypatch):
    kept.save(KEY, b"x" * 1000)
    monkeypatch.setattr(disk_cache, "SIZE_CAP", 1500)
    other = os.open(kept.path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    kept.save(OTHER, b"x" * 1000)
    assert kept.contents().kernels == 2
    os.close(other)
    kept.save(OTHER, b"x" * 1000)
    assert kept.contents().kernels == 1


@pytest.mark.parametrize("variables, path", [
    ({"PIJIT_CACHE_DIR": "/x/y", "XDG_CACHE_HOME": "/z"}, "/x/y"), ({"PIJIT_CACHE_DIR": "~/k"}, "/home/u/k"),
    ({"XDG_CACHE_HOME": "/z"}, "/z/pijit"), ({"XDG_CACHE_HOME": "z"}, "/home/u/.cache/pijit"),
    ({"PIJIT_CACHE_DIR": ""}, "/home/u/.cache/pijit")])
def test_where_the_folder_is(monkeypatch, variables, path):
    for name in ("PIJIT_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in dict(variables, HOME="/home/u").items():
        monkeypatch.setenv(name, value)
    assert disk_cache.default_path() == path


# ---- keys ----


EXP = symbols.LinkSymbol("pijit.ufunc.exp.2", "ufunc", "exp", "", 2)


def nest(step=Step("add", "d", (0, 1)), least=0):
    return Nest(1, "ddd", "111", "", (step,), False, "", least)


def key_of(source="text", names=None, fast=False):
    disk_cache._makers.cache_clear()
    return disk_cache.kernel_key(source, names or {"loop_0": EXP}, fast)


@pytest.fixture
def fresh():
    yield
    disk_cache._makers.cache_clear()


MAKERS = [(sys, "version"), (np, "__version__"), (llvmlite, "__version__"), (disk_cache, "__version__"),
          (llvm, "llvm_version_info"), (disk_cache, "numba_version"), (disk_cache, "compiler_digest"),
          (llvm, "get_host_cpu_name"), (llvm, "get_process_triple")]


@pytest.mark.parametrize("owner, name", MAKERS, ids=lambda part: getattr(part, "__name__", part))
def test_all_that_makes_machine_code_is_in_the_key(monkeypatch, fresh, owner, name):
    before = key_of()
    assert key_of() == before
    known = getattr(owner, name)
    monkeypatch.setattr(owner, name, (lambda: "other") if callable(known) else "other")
    assert key_of() != before


def test_features_settings_source_and_symbols_are_in_the_key(monkeypatch, fresh):
    keys = [key_of(), key_of("text "), key_of("text", {"loop_0": EXP._replace(loop=3)}), key_of("text", {"loop_1": EXP}),
            key_of("text", {"loop_0": EXP._replace(function="sin")}), key_of(fast=True),
            key_of("text", {"nest": nest()}), key_of("text", {"nest": nest(Step("mul", "d", (0, 1)))}),
            key_of("text", {"nest": nest(Step("add", "f", (0, 1)))}), key_of("text", {"nest": nest(least=7)})]
    features = llvm.get_host_cpu_features()
    features["pijit"] = True
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: features)
    keys.append(key_of())
    monkeypatch.setenv("NUMBA_OPT", "1")
    keys.append(key_of())
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("path", ["kernel/lower.py", "kernel/llvm/nest.py", "graph/element_ops.py", "graph/ops/info.py"])
def test_the_compiler_itself_is_in_the_key(monkeypatch, tmp_path, path):
    """And so are the tables of operations, from which it reads facts."""
    for folder in ("kernel/llvm", "graph/ops"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "graph/element_ops.py").write_text("one")
    (tmp_path / path).write_text("one")
    monkeypatch.setattr(disk_cache, "__file__", str(tmp_path / "kernel" / "disk_cache.py"))
    before = disk_cache.compiler_digest()
    (tmp_path / path).write_text("two")
    assert disk_cache.compiler_digest() != before


def test_numba_is_known_without_importing_it():
    program = "import sys; from pijit.core.kernel import disk_cache; print(disk_cache.numba_version(), 'numba' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True).stdout.split()
    assert printed == [disk_cache.numba_version().encode(), b"False"] and len(printed[0]) == 64


# ---- kernels ----


def emitted(function):
    """An emitter and the source of ``function(x)``, a ufunc on doubles."""
    kind = Array(np.dtype("d"), 1, "C")
    b = Builder("stored", kind)
    b.leave(2, b.op("ufunc", kind, b.inputs[0], exit=b.exit(1), ufunc=function, types="d->d",
                    loop=function.types.index("d->d")))
    emitter = KernelEmitter(b.graph, FrameLayout(b.graph), make_plan(b.graph, PLAIN), PLAIN)
    return emitter, emitter.source("kernel")


def test_a_kernel_comes_from_disk_and_not_from_numba(kept, monkeypatch):
    emitter, source = emitted(np.exp)
    codegen.compiled(source, emitter.names, emitter.symbols, on_disk=True, fast=False)
    assert kept.contents().kernels == 1
    monkeypatch.setattr(codegen, "object_code", None)
    address, owner = codegen.compiled(source, emitter.names, emitter.symbols, on_disk=True, fast=False)
    assert address and owner is not None


def test_sources_have_no_addresses():
    (exp, first), (_, second), (sinh, third) = emitted(np.exp), emitted(np.exp), emitted(np.sinh)
    assert first == second == third and list(sinh.symbols.values()) != list(exp.symbols.values())
    assert [symbol.name for symbol in exp.symbols.values()] == ["pijit.ufunc.exp.%d" % np.exp.types.index("d->d")]


def test_what_lasts_no_longer_than_the_process_is_not_kept(kept, caplog):
    caplog.set_level(logging.INFO, "pijit.cache")
    unknown = np.frompyfunc(abs, 1, 1)
    symbol = symbols.loop_symbol(unknown, 0, (1, 2))
    assert not symbols.lasts(symbol) and symbols.lasts(symbols.loop_symbol(np.exp, 0, (3, 4)))
    assert not symbols.lasts(symbols.loop_symbol(np.exp, 0, (5, 6)))  # somebody has changed NumPy's table
    codegen.compiled("def kernel(frame):\n    return 7\n", {}, {"loop_0": symbol}, on_disk=True, fast=False)
    assert kept.contents().kernels == 0 and "means something in this process alone" in lines(caplog)[0]


PROGRAM = """
import sys, numpy, pijit
@pijit.jit
def f(x, s):
    for i in range(len(x)):
        s += x[i] * 0.5
    return s, numpy.exp(x) * 2.0 + s
total, result = f(numpy.arange(9.0), 1.0)
assert total == 19.0 and result.tobytes() == (numpy.exp(numpy.arange(9.0)) * 2.0 + 19.0).tobytes()
assert pijit.explain(f, numpy.arange(9.0), 1.0).segments
print("numba" in sys.modules)
"""


def start():
    return subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE)


def test_a_later_process_compiles_nothing(kept):
    first, second = start(), start()  # at once, on an empty cache
    found = [process.communicate()[0].strip() for process in (first, second)]
    assert sorted(found) == [b"False", b"True"]  # the other one waits for the kernel, or starts late
    assert kept.contents().kernels
    assert not [name for name in os.listdir(kept.path) if not is_lock(name) and not name.endswith(disk_cache.SUFFIX)]
    assert start().communicate()[0].strip() == b"False"
    with open(file_of(kept, kept.keys()[0]), "r+b") as file:
        file.truncate(100)
    assert start().communicate()[0].strip() == b"True"
    assert start().communicate()[0].strip() == b"False"
