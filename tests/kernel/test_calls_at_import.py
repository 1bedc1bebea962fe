"""Calls in the bodies of modules that are being imported: whoever imports waits for no thread that may import."""

import os
import subprocess
import sys

BODY = """
import numpy as np, pijit
{}
def f(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * 2.0
    return s
f = pijit.jit(f, jit_config=dict(perf_statistics=False, cache={}))
VALUE = f(np.ones(3))
KERNELS = sum(one.kind == 'kernel' for entry in f.state.entries for one in entry.reports.segments)
"""


def run(folder, program, **files):
    """Run a program beside modules; it must end in time and print "done"."""
    for name, text in files.items():
        path = os.path.join(str(folder), *name.split("__in__"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".py", "w") as file:
            file.write(text)
    source = "import sys\nsys.path.insert(0, %r)\n%s\nprint('done')" % (str(folder), program)
    done = subprocess.run([sys.executable, "-c", source], timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_an_import_hook_brings_the_module_in_that_is_being_imported(tmp_path):
    """Hooks that patch modules when these are imported do so: here a module of numba's that compiling needs."""
    run(tmp_path, """
import importlib
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.startswith('numba.') or name == 'pijit.core.kernel.llvm.lower':
            importlib.import_module('compiles')
sys.meta_path.insert(0, Finder)
import compiles
assert compiles.VALUE == 6.0 and compiles.KERNELS == 1
""", compiles=BODY.format("", False))


def test_packages_and_modules_that_import_each_other(tmp_path):
    run(tmp_path, """
import package.first
from package import first, second
assert [first.VALUE, second.VALUE] == [6.0, 6.0] and first.KERNELS == second.KERNELS == 1
""", package__in____init__=BODY.format("from package import second", False),
        package__in__first=BODY.format("from package import second", True),
        package__in__second=BODY.format("import package.first", True))


def test_a_thread_imports_while_the_main_thread_compiles(tmp_path):
    run(tmp_path, """
import importlib, threading
found = []
def load(name):
    found.append(importlib.import_module(name).VALUE)
threads = [threading.Thread(target=load, args=(name,)) for name in ('one', 'two', 'one')]
[thread.start() for thread in threads]
load('two')
[thread.join() for thread in threads]
assert found == [6.0] * 4
""", one=BODY.format("", False), two=BODY.format("import one", False))


def test_the_lock_of_all_imports_is_held(tmp_path):
    run(tmp_path, """
import _imp
_imp.acquire_lock()
import compiles
exec(open(compiles.__file__).read().replace('2.0', '3.0'))
_imp.release_lock()
assert VALUE == 9.0 and compiles.VALUE == 6.0
""", compiles=BODY.format("", False))
