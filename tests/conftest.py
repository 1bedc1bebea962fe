"""For all tests: the installed pijit is tested, and its internal errors are raised, not logged."""

import atexit
import faulthandler
import gc
import importlib
import itertools
import os
import shutil
import signal
import sys
import tempfile
import zlib

import pytest

# pytest puts the source tree on the path, where pijit/ lacks core/ and guards/: those are its siblings there.
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != ROOT]

if "PIJIT_TEST_CACHE" not in os.environ:
    # A cache of this run's own, shared by its workers and subprocesses: kernels of other runs decide nothing here.
    os.environ["PIJIT_TEST_CACHE"] = os.environ["PIJIT_CACHE_DIR"] = tempfile.mkdtemp(prefix="pijit-test-")
    atexit.register(lambda made=os.getpid(): made == os.getpid() and shutil.rmtree(os.environ["PIJIT_TEST_CACHE"],
                                                                                    ignore_errors=True))



def _avoid_bits_of_addresses():
    """Switch off loops of AVX-512 in NumPy 1.22 to 1.26, whose last bits depend on addresses (docs/limits.md).

    NumPy reads the variable when it is imported.
    """
    try:
        from importlib.metadata import version
        with open("/proc/cpuinfo") as lines:
            wide = " avx512vl" in lines.read()
    except (ImportError, OSError):
        return
    if wide and version("numpy").startswith("1.") and "numpy" not in sys.modules:
        os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "AVX512_SKX")


_avoid_bits_of_addresses()

import pijit  # noqa: E402
from pijit.core import errors  # noqa: E402
from pijit.core.pythons import why_not_python  # noqa: E402

COMPILES = why_not_python() is None
HERE = os.path.dirname(__file__)
collect_ignore = ["native/hidden/test_hidden_functions.py"]  # which has syntax that 3.7 does not have
if sys.version_info >= (3, 11):  # tests of bytecode that these versions do not have, and of the frame hook
    both = ("test_opcodes.py", "test_methods.py")  # of the normal form; the rest has its like in files of 3.11 and later
    collect_ignore = [folder + name for folder in ("bytecode/", "bytecode/linker/")
                      for name in os.listdir(os.path.join(HERE, folder))
                      if name.startswith("test_") and not name.endswith(("_311.py", "_314.py")) and name not in both]
    # Shadow frames are the hook's; tests/bytecode/test_identity_311.py has what test_identity.py has.
    collect_ignore += ["conformance/test_identity.py", "conformance/test_identity_frame.py"]
    # Frames, hooks of others and the next frame as a callee: native/hidden has what takes their place.
    collect_ignore += ["native/function/test_call_sites.py"]
    collect_ignore += ["native/hook/test_{}.py".format(name) for name in (
        "hook", "hook_coexistence", "hook_frames", "continuations")]
if not COMPILES:  # gradients and pijit.ms need no compiler
    collect_ignore = [name for name in os.listdir(HERE) if name not in ("gradients", "ms", "conftest.py")]

if os.environ.get("PIJIT_TEST_INSTALLED"):
    assert os.path.dirname(os.path.abspath(pijit.__file__)) != os.path.join(ROOT, "pijit"), "not installed"


LONG = 2
"""Test functions with more cases than this are shared out when PIJIT_TEST_SHARE asks for it."""


PATIENCE = 300.0
"""Seconds after which a test that does not come to an end ends its process: its name and all stacks are shown then."""


WHOLE = ("bytecode", "guards", "native", "reporting", "science")
"""Folders whose functions with few cases run on a version of each family of CPython: what they test differs by family,
or needs a tool of one version."""


SLOW_FILES = ("tests/conformance/test_jitted_modules.py", "tests/capture/analysis/test_budgets.py",
              "tests/bytecode/test_identity_311.py")
"""Files of few tests that take long. Processes that share a run begin with them, so that none ends long after the others."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A scheduler of whole files, as "--dist loadfile" asks for; its own order starts with the files of most tests."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class SlowFilesFirst(LoadFileScheduling):
        def _assign_work_unit(self, node):
            for path in [path for path in self.workqueue if path.endswith(SLOW_FILES)]:
                self.workqueue.move_to_end(path, last=False)
            super()._assign_work_unit(node)

    return SlowFilesFirst(config, log)


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    """Choose where stacks of tests that crash or hang are shown: in the file PIJIT_TEST_STACKS, else on this stderr."""
    global shown_at
    config.addinivalue_line("markers", "unshared: each version that does not skip the test runs all of its cases")
    stacks = os.environ.get("PIJIT_TEST_STACKS")
    shown_at = os.open(stacks, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644) if stacks else os.dup(2)
    if stacks:
        faulthandler.enable(file=shown_at)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Watch from a thread that needs no GIL, for what hangs may hold it."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True, file=shown_at)
    yield
    faulthandler.cancel_dump_traceback_later()


def pytest_collection_modifyitems(config, items):
    """With PIJIT_TEST_SHARE=k/n run every n-th case of test functions with many cases ("j,k/n": two of n cases). Each
    function begins with another part, so that no version gets the first cases of all functions. With PIJIT_TEST_FEW=k/n
    run every n-th test of the other functions, those in the folders WHOLE excepted, unless PIJIT_TEST_WHOLE=0. With
    PIJIT_TEST_DEAL=k/n run every n-th test of all that are left. Cases marked as unshared are never left to another
    version: only one version has results to compare them with."""
    whole = WHOLE if os.environ.get("PIJIT_TEST_WHOLE", "1") != "0" else ()
    cases, few, dropped = {}, [], set()
    for item in items:
        cases.setdefault((item.location[0], getattr(item, "originalname", None)), []).append(item)
    for (path, name), group in cases.items():
        if group[0].get_closest_marker("unshared") is not None:
            continue
        if len(group) > LONG:
            dropped.update(_not_in_part(group, "SHARE", zlib.crc32((os.path.basename(path) + str(name)).encode())))
        elif not any(folder in path.split("/") for folder in whole):
            few += group
    dropped.update(_not_in_part(few, "FEW"))
    dropped.update(_not_in_part([item for item in items if item not in dropped], "DEAL"))
    config.hook.pytest_deselected(items=[item for item in items if item in dropped])
    items[:] = [item for item in items if item not in dropped]


def _not_in_part(items, name, first=0):
    """The items of the other parts. ``first``: the part of the first item."""
    mine, parts = os.environ.get("PIJIT_TEST_" + name, "1/1").split("/")
    kept = {int(part) % int(parts) for part in mine.split(",")}
    return [item for number, item in enumerate(items, first) if number % int(parts) not in kept]


@pytest.fixture(autouse=True, scope="session")
def strict():
    """Turn the strict switch on, and make interrupts arrive."""
    previous = errors.set_strict(True)
    # A shell that starts jobs in the background lets them ignore interrupts, which some tests raise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    errors.set_strict(previous)


@pytest.fixture
def lenient():
    """Turn the strict switch off: an internal error is logged, and the original function runs."""
    previous = errors.set_strict(False)
    errors._logged.clear()
    yield
    errors.set_strict(previous)


@pytest.fixture(autouse=True)
def unmeasured(request, monkeypatch):
    """What a test sees does not depend on the clock, but where it is about that."""
    if COMPILES and "measured" not in request.fixturenames:
        from pijit.core import entry_timing  # it needs the extension modules

        monkeypatch.setattr(entry_timing, "LIMIT_NS", {})


@pytest.fixture
def measured():
    """Asks for entries to be measured, as the option perf_statistics says."""


@pytest.fixture
def no_collections():
    """Up to CPython 3.8 a callback of the collector that finds no level of recursion left makes the next overflow abort
    the process (hypothesis has one)."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def short_collections():
    """Leave what exists out of collections: with all that numba makes, each would take a tenth of a second."""
    if COMPILES:
        importlib.import_module("pijit.core.function_state")
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def first_poll(monkeypatch):
    """Start the count of the polls of Python kernels, one in a thousand of which leaves: what a test counts does not
    depend on the tests that ran before."""
    if COMPILES:
        from pijit.core.kernel.reference import runtime  # it needs the extension modules

        monkeypatch.setattr(runtime, "_polls", itertools.count(1))
