"""Recorded versions of functions and methods that convert arrays or store into them.

`calls` finds them in the table `HANDLERS`. `differentiate` imports this module so that they are registered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.core.tape import operations
from pijit.core.tape.calls import call, guarded
from pijit.core.tape.errors import refusal
from pijit.core.tape.handlers import handles, identity_give, recorded, renamed
from pijit.core.tape.iteration import iterate
from pijit.core.tape.operations import store
from pijit.core.tape.records import record_result, record_store, stored_value_give
from pijit.core.tape.state import STATE, reached, watching
from pijit.core.tape.tape import Tape


@handles("ndarray.astype")
def _astype(x: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
    r = x.astype(dtype, *args, **kwargs)
    for tape in watching(x):
        if not tape.carries(np.asarray(r)):
            tape.cut("astype({})".format(np.asarray(r).dtype))
        elif r is not x:
            record_result(tape, r, identity_give(tape, x))
    return r


@handles("ndarray.item")
def _item(x: Any, *index: Any) -> Any:
    r = x.item(*index)
    if not issubclass(type(x), np.ndarray):
        return r if r is x else renamed(x, r)
    place = np.unravel_index(index[0], x.shape) if len(index) == 1 and issubclass(type(index[0]), int) else \
        index[0] if index and issubclass(type(index[0]), tuple) else index or (0,) * x.ndim
    for tape in watching(x):
        record_result(tape, r, _place_give(tape, x, tuple(place)))
    return r


def _place_give(tape: Tape, x: Any, place: Any) -> Any:
    return lambda run, g, r: tape.give_at(run, x, place, g)


@handles("ndarray.tolist")
def _tolist(x: Any) -> Any:
    if not issubclass(type(x), np.ndarray) or not watching(x):
        return x.tolist() if issubclass(type(x), np.ndarray) else _item(x)
    return _item(x) if x.ndim == 0 else [_tolist(one) if x.ndim > 1 else _item(x, k) for k, one in enumerate(x)]


@handles("ndarray.flatten")
def _flatten(x: Any, order: str = "C") -> Any:
    return recorded(np.ravel, lambda: x.flatten(order), (x,), {"order": order if order in "CF" else "C"})


@handles("ndarray.ravel")
def _ravel(x: Any, order: str = "C") -> Any:
    return recorded(np.ravel, lambda: x.ravel(order), (x,), {"order": order if order in "CF" else "C"})


@handles("ndarray.__copy__", "ndarray.__deepcopy__")
def _copied(x: Any, *memo: Any) -> Any:
    return recorded(np.copy, x.copy, (x,), {})


@handles("ndarray.__array_wrap__", "ndarray.__array_prepare__")
def _wrapped(x: Any, r: Any, *context: Any) -> Any:
    return r


_umath: Any = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
_converter: Any = getattr(_umath, "_array_converter", None)


@handles(_converter)
def _array_converter(*values: Any) -> Any:
    """NumPy's internal helper that converts arguments and wraps results."""
    return RecordedConverter(*(
        call(np.asarray, (one,)) if issubclass(type(one), (list, tuple)) and reached(one) else one for one in values))


class RecordedConverter:
    """Wraps NumPy's converter; records the arrays made of active numbers and the results that it wraps.

    Args:
        values: the values to convert.
    """

    def __init__(self, *values: Any) -> None:
        self._values, self._converter = values, _converter(*values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._converter, name)

    def __getitem__(self, index: int) -> Any:
        return self._recorded(self._converter[index], self._values[index])

    def as_arrays(self, *args: Any, **kwargs: Any) -> Any:
        """The values as arrays."""
        made = self._converter.as_arrays(*args, **kwargs)
        return tuple(map(self._recorded, made, self._values))

    @staticmethod
    def _recorded(array: Any, value: Any) -> Any:
        return renamed(value, array) if array is not value and watching(value) else array

    def wrap(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """A result converted to the class that the values require."""
        r = self._converter.wrap(x, *args, **kwargs)
        return r if r is x or any(tape.active(r) for tape in STATE.tapes) else renamed(x, r)


for _method in (RecordedConverter.__getitem__, RecordedConverter.as_arrays, RecordedConverter.wrap):
    _method.tape_aware = True  # type: ignore[union-attr]


_unique_hash: Any = getattr(_umath, "_unique_hash", None)


@handles(_unique_hash)
def _unique(x: Any, **kwargs: Any) -> Any:
    """NumPy's internal hash table of distinct elements; each result is the first element with that value."""
    r = _unique_hash(x, **kwargs)
    if r is NotImplemented or not watching(x):
        return r
    order = np.argsort(x, kind="stable")
    return renamed(call(np.take, (x, order[np.searchsorted(x, r, sorter=order)])), r)


_singular_values: Any = getattr(getattr(np.linalg, "_umath_linalg", None), "svd", None)


@handles(_singular_values)
def _singular(x: Any, **kwargs: Any) -> Any:
    """The ufunc that implements `svd`; `cond` calls it directly from NumPy 2.5 on."""
    return recorded(np.linalg.svd, lambda: _singular_values(x, **kwargs), (x,), {"compute_uv": False})


@handles(np.broadcast)
def _broadcast(*values: Any) -> Any:
    """`numpy.broadcast`, used for its shape; `iterate` refuses to read its items."""
    return np.broadcast(*values)


@handles(np.fromiter)
def _fromiter(items: Any, dtype: Any, count: int = -1, **kwargs: Any) -> Any:
    listed = list(iterate(items))
    return call(np.array, (listed if count < 0 else listed[:count],), {"dtype": dtype}) if reached(listed) else \
        np.fromiter(listed, dtype, count, **kwargs)


@handles("ndarray.compress")
def _compressed(x: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return call(np.compress, (condition, x, axis, out))


@handles("ndarray.fill")
def _fill(x: Any, value: Any) -> None:
    store(value, x, ...)


@handles(np.copyto)
def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if not reached(dst, src):
        undo = [(tape, tape.note_store(dst, ...)) for tape in STATE.tapes]
        np.copyto(dst, src, casting, where)
        for tape, back in undo:
            tape.record(back)
        return
    undo = [(tape, tape.note_store(dst, ...)) for tape in STATE.tapes]
    np.copyto(dst, src, casting, where)
    for tape, back in undo:
        give = stored_value_give(tape, src, None if where is True else np.broadcast_to(where, dst.shape))
        record_store(tape, dst, ..., back, operations.unmasked(tape, dst, where, give), tape.reaches(src))


@handles(np.fill_diagonal)
def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    rows = np.arange(min(a.shape))
    if wrap:
        raise refusal("PJ502", what="fill_diagonal with wrap")
    store(val, a, (rows,) * a.ndim)


@handles(np.put)
def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    if mode != "raise" and reached(a, v):
        raise refusal("PJ502", what="put with mode={!r}".format(mode))
    store(np.resize(v, np.size(ind)) if not reached(v) else v, a, np.unravel_index(np.asarray(ind) % a.size, a.shape))


@handles("ndarray.put")
def _put_method(a: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    _put(a, indices, values, mode)


@handles("ndarray.sort")
def _sort(a: Any, axis: int = -1, kind: Any = None, order: Any = None) -> None:
    if not watching(a):
        guarded(a.sort, (axis,), {}, extra=(a,))
        return
    store(call(np.sort, (a, axis)), a, ...)


@handles(np.modf)
def _modf(x: Any, **kwargs: Any) -> Any:
    fraction, whole = np.modf(x, **kwargs)
    for tape in watching(x):
        record_result(tape, fraction, identity_give(tape, x))
        tape.cut("modf")
    return fraction, whole

