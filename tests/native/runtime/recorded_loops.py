"""Ufuncs made for tests, whose inner loop notes how NumPy, or the runtime, calls it."""

import ctypes

import numpy as np

try:
    from numpy._core import _multiarray_umath as umath
except ImportError:
    from numpy.core import _multiarray_umath as umath

WORDS = ctypes.POINTER(ctypes.c_ssize_t)
LOOP = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), WORDS, WORDS, ctypes.c_void_p)
MAKE = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * 3, *[ctypes.c_int] * 4, *[ctypes.c_char_p] * 2,
                         ctypes.c_int)


def _ufunc_api():
    ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.pythonapi.PyCapsule_GetPointer(umath._UFUNC_API, None)
    return ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))


class Recorded:
    """A ufunc of float64 operands, 1 + x0 + 2 * x1 ...; ``calls``: (count, strides) of each call of its loop."""

    def __init__(self, nin):
        self.nin = nin
        self.types = "d" * nin + "->d"
        self.calls = []
        self._loop = LOOP(self._run)
        self._functions = (ctypes.c_void_p * 1)(ctypes.cast(self._loop, ctypes.c_void_p).value)
        self._data = (ctypes.c_void_p * 1)(0)
        self._types = (ctypes.c_char * (nin + 1))(*[np.dtype(float).num] * (nin + 1))
        addresses = [ctypes.addressof(each) for each in (self._functions, self._data, self._types)]
        self.ufunc = MAKE(_ufunc_api()[1])(*addresses, 1, nin, 1, -1, b"recorded", b"", 0)

    def _run(self, pointers, count, steps, data):
        strides = steps[:self.nin + 1]
        self.calls.append((count[0], tuple(strides)))
        operands = []
        for pointer, stride in zip(pointers[:self.nin + 1], strides):
            low = pointer + min(0, stride * (count[0] - 1))
            memory = (ctypes.c_char * (abs(stride) * (count[0] - 1) + 8)).from_address(low)
            operands.append(np.ndarray(count[0], float, memory, pointer - low, stride))
        operands[-1][...] = 1 + sum(k * operand for k, operand in enumerate(operands[:-1], 1))

    def recorded(self, call):
        """The calls of the loop while ``call`` runs."""
        self.calls.clear()
        call()
        return list(self.calls)
