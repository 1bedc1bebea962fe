"""Copies of arrays of uncommon layouts: no program may tell two copies apart, so no comparison does."""

import numpy as np
import pytest

from pijit.copies import Copier
from pijit.differential import compare_calls, plain_twin
from tests.harness import jitted

A = np.arange(4.0 * 5 * 6 * 7).reshape((4, 5, 6, 7))
READ_ONLY = A[1, 1].copy()
READ_ONLY.setflags(write=False)
LAYOUTS = {
    "index behind a new axis": A[:, np.newaxis, np.array([1, 2, 1])],
    "index between a new axis and a slice": A[np.newaxis, np.array([1, 2, 1]), :1],
    "index in front of dots": A[np.array([1, 2]), np.newaxis, ...],
    "transposed": A[:, [0, 2]].transpose(2, 0, 1, 3),
    "backwards": A[::-1, :, ::2],
    "broadcast": np.broadcast_to(A[0, 0, 0], (3, 7)),
    "buffer": np.frombuffer(bytearray(40), np.float64),
    "misaligned": np.frombuffer(bytearray(range(41)), np.float64, offset=1),
    "part of a buffer": np.frombuffer(bytearray(range(80)), np.float64)[1::3],
    "bytes": np.frombuffer(b"12345678", np.int32),
    "field": np.array([(1, 2.5), (3, 4.5)], [("a", "i1"), ("b", "f8")])["b"],
    "overlapping": np.lib.stride_tricks.as_strided(A, (2, 2), (8, 8)),
    "empty": A[:, 3:3],
    "Fortran": np.asfortranarray(A[0])[1:],
    "read-only": READ_ONLY[:, ::2],
    "bytes of numbers": A.view(np.uint8)[..., 3:11],
}


def store(x, out):
    out[...] = x
    return x


@pytest.mark.parametrize("x", list(LAYOUTS.values()), ids=list(LAYOUTS))
def test_copies_are_alike(x):
    copied = Copier().copy(x)
    assert (copied.strides, copied.tobytes(), str(copied.flags)) == (x.strides, x.tobytes(), str(x.flags))
    base, other = x.base, copied.base
    assert isinstance(base, np.ndarray) <= isinstance(other, np.ndarray)
    if x.base is not None and x.base.__class__ is np.ndarray and x.base.base is None:
        assert (other.shape, other.strides, str(other.flags)) == (base.shape, base.strides, str(base.flags))
    for callee in (plain_twin(store), jitted(plain_twin(store))):
        for _ in range(4):  # memory is somewhere else each time
            compare_calls(store, callee, [((x, np.empty(x.shape, x.dtype)), {})] * 2)
