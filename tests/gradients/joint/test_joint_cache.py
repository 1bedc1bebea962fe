"""Joint functions on disk: a later process neither reverses nor captures them; damaged or other files are left alone."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from pijit.core import _hook
from pijit.core.kernel import disk_cache, kernel_record
from pijit.core.kernel.symbols import LIBM, LOOP, OBJECT, LinkSymbol
from pijit.joint import joint_cache
from tests.gradients.joint.joint_gradient import Gradient

pytestmark = pytest.mark.skipif(not disk_cache.SUPPORTED, reason="kernels are not kept on disk here")
ROOT = pathlib.Path(__file__).parents[3]

PROGRAM = """
import json, sys
import numpy as np
import pijit
from pijit.core.kernel.llvm import codegen
compiled = []
whole = codegen.object_code
codegen.object_code = lambda source, *more: compiled.append(source) or whole(source, *more)

def heat(u, steps):
    for _ in range(steps):
        u = u.copy()
        u[1:-1] = u[1:-1] + {factor} * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return (np.sin(u) ** 2).sum()

def loss(w, x):
    return (np.tanh(x @ w) ** 2).sum() + np.exp(-w).mean()

found = []
for f, args in ((heat, (np.linspace(0.0, 1.0, 50), 9)), (loss, (np.full((4, 3), 0.1), np.ones((5, 4))))):
    gradient = pijit.value_and_grad(f)
    results = [gradient(*args) for _ in range(5)]
    assert all(np.array_equal(one[1], results[0][1]) and one[0] == results[0][0] for one in results)
    kernels = gradient._kernels
    found.append([kernels.why, [type(part.usual).__name__ for entry in kernels.entries
                                for part in (entry.function, entry.backward) if part is not None],
                  results[0][1].tobytes().hex()])
print(json.dumps([found, len(compiled), "pijit.core.graph.reverse.backward" in sys.modules]))
"""


def run(tmp_path, factor="0.1"):
    environment = dict(os.environ, PIJIT_CACHE_DIR=str(tmp_path / "cache"))
    environment.pop("PIJIT_TEST_BACKEND", None)
    environment.setdefault("PYTHONPATH", "" if os.environ.get("PIJIT_TEST_INSTALLED") else str(ROOT))
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.replace("{factor}", factor))
    text = subprocess.check_output([sys.executable, str(script)], env=environment, universal_newlines=True,
                                   cwd=str(tmp_path))
    return json.loads(text.splitlines()[-1])


def test_a_later_process_finds_kernels_of_gradients(tmp_path):
    first, compiled, reversed_first = run(tmp_path)
    assert compiled > 0 and reversed_first
    second, compiled, reversed_again = run(tmp_path)
    assert second == first and compiled == 0 and not reversed_again
    assert all(why == "" and set(kinds) == {"KernelFunction"} for why, kinds, _ in second)


def test_another_constant_is_another_function(tmp_path):
    first = run(tmp_path)[0]
    second, compiled, _ = run(tmp_path, "0.2")
    assert compiled > 0 and second[0][2] != first[0][2] and second[1] == first[1]


def test_missing_and_damaged_files(tmp_path):
    first = run(tmp_path)[0]
    folder = tmp_path / "cache"
    files = sorted(one for one in folder.rglob("*") if one.is_file() and one.stat().st_size > 200)
    for number, one in enumerate(files):
        if number % 2:
            one.unlink()
        else:
            data = bytearray(one.read_bytes())
            data[len(data) // 2] ^= 0xff
            one.write_bytes(bytes(data))
    assert run(tmp_path)[0] == first and run(tmp_path)[0] == first


def chain(x):
    return (np.sin(x) * x).sum()


def test_a_stored_function_serves_other_arguments(tmp_path, monkeypatch):
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path))
    X = np.linspace(0.1, 2.0, 9)
    Gradient(chain, 0).warm(X).compare(X)
    gradient = Gradient(chain, 0).warm(X)
    assert gradient.compare(X), gradient.why
    part = gradient.f._kernels.entries[0].function
    assert type(part.usual) is _hook.KernelFunction and part.record is None
    assert gradient.compare(np.linspace(0.1, 2.0, 30)), gradient.why
    gradient.compare(X.astype("f"))
    part.give_kernel_up()
    assert gradient.f._kernels.entries[0].function(X)[0] == chain(X)


def test_only_kernels_over_arguments_are_stored():
    from pijit.guards.guard import IsType
    from pijit.guards.source import Attr, Global, Local

    record = kernel_record.KernelRecord("00", (), (), (Local(0, "x"),), (), 3, 3, (), (0,), "f")
    assert kernel_record.is_restorable(record)
    assert not kernel_record.is_restorable(record._replace(key=""))
    assert not kernel_record.is_restorable(record._replace(fetch=(Attr(Global("a"), "b"),)))
    assert not kernel_record.is_restorable(record._replace(guards=(IsType(Global("a"), float),)))
    libm, loop = LinkSymbol("pijit.libm.pow", LIBM, "pow"), LinkSymbol("pijit.ufunc.linalg.det.0", LOOP, "det", "linalg")
    assert kernel_record.is_restorable(record._replace(symbols=(libm, loop)))
    assert not kernel_record.is_restorable(record._replace(symbols=(LinkSymbol("pijit.type.own", OBJECT),)))


def test_records_of_symbols_that_are_not_here(tmp_path, monkeypatch):
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path))
    key = disk_cache.record_key("nothing")
    disk_cache.DiskCache().save(key, b"code")
    unknown = LinkSymbol("pijit.ufunc.no_such_function.0", LOOP, "no_such_function")
    record = kernel_record.KernelRecord(key, (unknown,), (), (), (), 3, 3, (), (0,), "f")
    assert kernel_record.restored(record, ({}, {}), ValueError, ValueError) is None
    assert kernel_record.restored(record._replace(key="ab" * 32, symbols=()), ({}, {}), ValueError, ValueError) is None


def test_what_is_no_joint_function_is_not_loaded(tmp_path, monkeypatch):
    import pickle
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path))
    for data in (b"no pickle", pickle.dumps([1, 2])):
        key = disk_cache.record_key(data)
        disk_cache.DiskCache().save(key, data)
        assert joint_cache.load(key) is None
    assert joint_cache.load("") is None


def test_attributes_whose_text_says_all_that_they_mean():
    for value in (1, 2.5, "add", None, (1, slice(2)), np.add, np.sum, np.dtype("f8"), np.float64, float, np.float32(2.0)):
        assert joint_cache._is_lasting(value), value
    for value in (np.vectorize(chain), chain, np.frompyfunc(chain, 1, 1), np.random.RandomState(1).normal, object(),
                  np.zeros(3), Gradient, np.dtype([("a", "f8")]), (1, chain)):
        assert not joint_cache._is_lasting(value), value


def test_limits_are_rounded():
    assert [joint_cache.rounded(one) for one in (0, 1, 2, 3, 1023, 1024, 3 << 30)] == [1, 1, 2, 2, 512, 1024, 2 << 30]
