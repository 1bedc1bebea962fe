"""Copies keep who shares memory with whom, layout, alignment and flags, and touch nothing of the original."""

import numpy as np
import pytest

from pijit.copies import Copier, arrays_in


def test_views_stay_views():
    x = np.arange(24.0).reshape(4, 6)
    views = [x, x[1:], x.T, x[::-1, ::2], x.ravel()[3:9].view(np.int64), np.broadcast_to(x[0], (3, 6))]
    copies = Copier().copy(views)
    for original, copied in zip(views, copies):
        assert copied.strides == original.strides and copied.dtype == original.dtype
        assert copied.flags.writeable == original.flags.writeable
        assert copied.tobytes() == original.tobytes()
        assert not np.shares_memory(copied, x)
    copies[0][:] = -1.0
    assert all((copied.view(np.float64) == -1.0).all() for copied in copies)
    assert x[0, 1] == 1.0


def test_owner_has_same_layout_and_owns():
    swapped = np.zeros((2, 3, 4)).transpose(1, 0, 2).copy(order="K")
    for original in (np.asfortranarray(np.ones((3, 4))), swapped):
        copied = Copier().copy(original)
        assert copied.flags.owndata and copied.strides == original.strides and copied.base is None


def test_read_only_base_with_writeable_view():
    base = np.zeros(4)
    view = base[1:]
    base.flags.writeable = False
    copied_base, copied_view = Copier().copy((base, view))
    assert not copied_base.flags.writeable and copied_view.flags.writeable
    copied_view[0] = 5.0
    assert copied_base[1] == 5.0


def test_misaligned_and_foreign_memory():
    odd = np.frombuffer(bytearray(33), np.uint8)[1:].view(np.float64)
    assert not odd.flags.aligned
    assert not Copier().copy(odd).flags.aligned
    foreign = np.frombuffer(b"12345678", np.uint8)
    copied = Copier().copy(foreign)
    assert not copied.flags.writeable and copied.tobytes() == b"12345678"


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1, 1)])
def test_degenerate_shapes(shape):
    x = np.full(shape, 7.0)
    copied, view = Copier().copy((x, x[...]))
    assert copied.shape == view.shape == shape and view.base is copied and copied.strides == x.strides


def test_containers_cycles_and_objects():
    class Slotted:
        __slots__ = ("w",)

    class Plain:
        pass

    x = np.zeros(3)
    holder, plain = Slotted(), Plain()
    holder.w = x[1:]
    plain.w, plain.self = x, plain
    cells = np.array([None, x], object)
    cells[0] = cells
    graph = {"a": [holder, plain], "b": (x, cells)}
    copied = Copier().copy(graph)
    copied["b"][0][:] = 4.0
    assert (copied["a"][0].w == 4.0).all() and copied["a"][1].w is copied["b"][0]
    assert copied["a"][1].self is copied["a"][1]
    assert copied["b"][1][0] is copied["b"][1] and copied["b"][1][1] is copied["b"][0]
    assert (x == 0.0).all()


def test_known_copies_are_used_and_not_changed():
    x, y = np.zeros(3), np.ones(3)
    first = Copier()
    copied = first.copy(x)
    second = Copier(first)
    assert second.copy([x, y])[0] is copied
    assert second.copy(y) is not first.copy(y)


def test_arrays_in_finds_each_once():
    x = np.zeros(2)
    assert [id(a) for a in arrays_in([x, x, {"k": (x,)}])] == [id(x)]
