"""The frame hook beside another PEP 523 hook: it chains to one that was there, and survives one put on top.

The other hook is a few bytes of machine code that count frames and jump to the evaluator they were given, so
the tests need x86-64 Linux, and 3.9 or later, where the evaluator has public accessors.
"""

import ctypes
import mmap
import platform
import struct
import sys

import pytest

from pijit.core import _hook
from pijit.core._hook import JitFunction
from pijit.core.bytecode.codec.encode import replace_code

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 9) or platform.machine() != "x86_64" or sys.platform != "linux",
    reason="needs the evaluator's accessors (3.9) and x86-64 Linux")


class OtherHook:
    """Counts the frames it sees and passes them on to `target`, the address of an evaluator."""

    def __init__(self, target):
        self.target = target
        self.counter = ctypes.c_uint64(0)
        code = (b"\x48\xb8" + struct.pack("<Q", ctypes.addressof(self.counter))  # mov rax, &counter
                + b"\x48\xff\x00"                                               # inc qword ptr [rax]
                + b"\x48\xb8" + struct.pack("<Q", target) + b"\xff\xe0")          # mov rax, target; jmp rax
        self.memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.memory.write(code)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    @property
    def count(self):
        return self.counter.value


def api(name, restype, *argtypes):
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = restype, argtypes
    return function


def current():
    """The address of the installed evaluator."""
    interpreter = api("PyInterpreterState_Get", ctypes.c_void_p)()
    return api("_PyInterpreterState_GetEvalFrameFunc", ctypes.c_void_p, ctypes.c_void_p)(interpreter)


def install(address):
    interpreter = api("PyInterpreterState_Get", ctypes.c_void_p)()
    api("_PyInterpreterState_SetEvalFrameFunc", None, ctypes.c_void_p, ctypes.c_void_p)(interpreter, address)


@pytest.fixture
def default():
    """The address of CPython's own evaluator, which is installed again afterwards."""
    address = current()
    yield address
    while True:
        try:
            _hook.release()
        except RuntimeError:
            break
    install(address)


def plain():
    return 1000


@pytest.fixture
def jitted():
    """A function whose calls through the hook return 5000 in place of 1000."""
    def f():
        return 1000

    payload = replace_code(f.__code__, co_consts=(None, 5000))
    _hook.mark(f.__code__, None, lambda *args: payload)
    return JitFunction(f)


def test_frames_of_others_go_to_the_hook_that_was_there(default, jitted):
    other = OtherHook(default)
    install(other.address)
    _hook.hold()
    before = other.count
    results = [plain() for _ in range(10)], jitted()
    seen = other.count - before
    _hook.release()
    restored = current()
    install(default)
    assert results == ([1000] * 10, 5000)
    assert restored == other.address
    # Ten calls, the comprehension, the property; on_miss, which is not ours to run; but not the shadow frame.
    assert seen == 10 + 1 + 1 + 1


def test_a_call_restores_the_hook_that_was_there_before_its_frame_runs(default, jitted):
    other = OtherHook(default)
    install(other.address)
    result = jitted()
    restored = current()
    install(default)
    assert (result, restored) == (5000, other.address)


def test_a_hook_put_on_top_stays_and_makes_no_loop(default, jitted):
    _hook.hold()
    other = OtherHook(current())
    install(other.address)
    _hook.release()
    assert current() == other.address
    assert not _hook.installed()
    for _ in range(3):
        assert jitted() == 5000
        assert plain() == 1000
        assert current() == other.address
    # The other hook leaves and puts back what it found: ours, which leaves after the next call.
    install(other.target)
    assert _hook.installed()
    assert (plain(), jitted()) == (1000, 5000)
    assert not _hook.installed()
    assert current() == default


def test_a_hook_that_dropped_ours_is_survived(default, jitted):
    _hook.hold()
    install(default)
    assert jitted() == 5000
    _hook.release()
    assert current() == default
    assert jitted() == 5000
    assert current() == default
