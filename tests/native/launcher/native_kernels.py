"""Kernels for the tests of the launcher: compiled by numba, calling the runtime table through one intrinsic."""

import ctypes
import gc
import sys

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pijit.core import _launcher
from pijit.core.kernel.runtime_entries import ENTRIES

SIGNATURE = types.int64(types.CPointer(types.int64))
FRAME_WORDS = 200


@intrinsic
def call_address(typing_context, address, arguments):
    """`int64 address(int64...)` with the items of a tuple of integers."""
    signature = types.int64(address, arguments)

    def codegen(context, builder, signature, values):
        word = ir.IntType(64)
        items = [builder.extract_value(values[1], i) for i in range(len(signature.args[1]))]
        items = [context.cast(builder, item, kind, types.int64) for item, kind in zip(items, signature.args[1])]
        function_type = ir.FunctionType(word, [word] * len(items))
        return builder.call(builder.inttoptr(values[0], function_type.as_pointer()), items)

    return signature, codegen


@intrinsic
def pointer_address(typing_context, pointer):
    """The address that a pointer holds."""

    def codegen(context, builder, signature, values):
        return builder.ptrtoint(values[0], ir.IntType(64))

    return types.int64(pointer), codegen


@intrinsic
def word_at(typing_context, address):
    """The int64 at an address."""

    def codegen(context, builder, signature, values):
        return builder.load(builder.inttoptr(values[0], ir.IntType(64).as_pointer()))

    return types.int64(address), codegen


@intrinsic
def double_at(typing_context, address):
    """The float64 at an address."""

    def codegen(context, builder, signature, values):
        return builder.load(builder.inttoptr(values[0], ir.DoubleType().as_pointer()))

    return types.float64(address), codegen


@intrinsic
def store_double(typing_context, address, value):
    """Writes a float64 to an address."""

    def codegen(context, builder, signature, values):
        builder.store(values[1], builder.inttoptr(values[0], ir.DoubleType().as_pointer()))
        return context.get_dummy_value()

    return types.void(address, types.float64), codegen


def runtime(name):
    """A numba function (frame, arguments) that calls an entry of the runtime table."""
    offset = ENTRIES[name].offset

    @numba.njit
    def call_entry(frame, arguments):
        return call_address(word_at(frame[0] + offset), arguments)

    return call_entry


class native_kernel:
    """A function (frame) as machine code. It is compiled when a test asks for its address, not at import."""

    def __init__(self, function):
        self._function, self._compiled = function, None

    @property
    def address(self):
        if self._compiled is None:
            self._compiled = numba.cfunc(SIGNATURE)(self._function)
        return self._compiled.address


def launcher(kernel, inputs, exits, width=6, words=FRAME_WORDS, output_word=40, **options):
    """A launcher without guards for a native kernel, an address or a Python kernel."""
    code = getattr(kernel, "address", kernel)
    return _launcher.Launcher(None, {}, {}, inputs, words, output_word, code, exits, width, "test", kernel, **options)


def descriptor(array):
    """The words of an array's descriptor, as an int64 array."""
    return np.array([array.ctypes.data, id(array), *array.shape, *array.strides], np.int64)


class KeptArray(ctypes.Structure):
    """The KeptArray of abi.h."""

    _fields_ = [("array", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("typenum", ctypes.c_int),
                ("ndim", ctypes.c_int), ("on_block", ctypes.c_int)]


class OwnedList(ctypes.Structure):
    """The OwnedList of abi.h."""

    _fields_ = [("count", ctypes.c_ssize_t), ("capacity", ctypes.c_ssize_t), ("items", ctypes.c_void_p),
                ("inline_items", ctypes.c_void_p * 16), ("kept", KeptArray * 8), ("kept_next", ctypes.c_int)]


class Runtime:
    """Calls entries of the table from Python, with a frame of its own."""

    def __init__(self):
        self.owned = OwnedList(0, 16, None)
        self.owned.items = ctypes.addressof(self.owned) + OwnedList.inline_items.offset
        self.frame = np.array([_launcher.RUNTIME_TABLE, ctypes.addressof(self.owned)], np.int64)

    def call(self, name, *arguments):
        """The entry's result; arrays are passed by address, an exception that it set is raised."""
        address = ctypes.c_int64.from_address(_launcher.RUNTIME_TABLE + ENTRIES[name].offset).value
        words = [each.ctypes.data if isinstance(each, np.ndarray) else int(each) for each in arguments]
        return ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(words))(address)(*words)

    def objects(self):
        items = (ctypes.c_void_p * self.owned.count).from_address(self.owned.items)
        return [ctypes.cast(item, ctypes.py_object).value for item in items]

    def release_all(self):
        while self.owned.count:
            self.call("release", self.frame, id(self.objects()[-1]))

    def forget_kept(self):
        """Give up the arrays that are kept for others."""
        for kept in self.owned.kept:
            if kept.array:
                ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(kept.array))
                kept.array = None


class Dying:
    """Counts the ends of its objects."""

    deaths = 0

    def __del__(self):
        Dying.deaths += 1


def blocks_grown(function, repeat=2000):
    """How many memory blocks `repeat` calls leave behind."""
    for _ in range(50):
        function()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(repeat):
        function()
    gc.collect()
    return sys.getallocatedblocks() - before
