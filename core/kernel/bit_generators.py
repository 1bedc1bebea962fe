"""Random generators: finds the internals that kernels draw from, and tests that kernels draw the same numbers.

The capturer asks `is_drawn` before it puts a method of a generator into a graph. NumPy documents that a generator's
functions are in a ``bitgen_t``, and that ``numpy.random._generator`` exports its distributions ("Extending" in the
manual of numpy.random). The offsets of a generator's ``bitgen_t`` and lock are found by a search of its memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import random
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core import _launcher
from pijit.core.graph.draws import LEGACY, NEW, Draw

_SAMPLES = 100
"""Numbers that are drawn with each set of arguments for a comparison."""
_MANY = 3000
"""So many numbers that the runtime fills an array without the GIL."""
_DISTRIBUTIONS = ("random_standard_normal", "random_normal", "random_standard_exponential", "random_exponential",
                  "random_bounded_uint64_fill")
_BOUNDS = [(0, 6), (-5, 2 ** 40), (3, 4)]
_EXAMPLES: Dict[str, Sequence[Tuple[Any, ...]]] = {
    "uniform": [(0.0, 1.0), (-2.5, 1e3)], "normal": [(0.0, 1.0), (3.0, 0.1)], "exponential": [(1.0,), (0.3,)],
    "integers": _BOUNDS, "randint": _BOUNDS, "getrandbits": [(1,), (3,), (33,), (63,)]}


class _OffsetNotFound(Exception):
    """The search for an offset found no match, or several."""


@functools.lru_cache(maxsize=None)
def is_drawn(row: Draw) -> bool:
    """Whether kernels of this process draw the same numbers as the method, bit for bit."""
    return _is_ready() and _is_same(row)


@functools.lru_cache(maxsize=None)
def is_filled(row: Draw) -> bool:
    """Whether kernels of this process fill an array with the same numbers as the method, bit for bit."""
    return row.fills and is_drawn(row) and _fills_same(row)


@functools.lru_cache(maxsize=None)
def _is_ready() -> bool:
    """Whether all internals that kernels need were found. If so, the launcher has been told where they are."""
    try:
        _launcher.draws_configure(_words())
    except (ImportError, AttributeError, OSError, _OffsetNotFound):
        return False
    return True


def _words() -> Tuple[int, ...]:
    """The offsets and addresses that native/runtime/ufuncs/random.c needs, in the order of its enumeration."""
    import numpy.random._generator as module

    new, legacy = _fresh(NEW), _fresh(LEGACY)
    new_bits, legacy_bits = (_offset(one, _bits_of(one)) for one in (new, legacy))
    gauss = _offset(legacy, [id(legacy) + legacy_bits])
    locks = [_offset(one, [id(_bit_generator(one).lock)]) for one in (new, legacy)]
    library = ctypes.CDLL(module.__file__)
    addresses = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in _DISTRIBUTIONS]
    methods = (_launcher.method_address(random.Random.random), id(random.Random.getrandbits))
    taken = _taken_offset(_bit_generator(new).lock)
    return (new_bits, locks[0], legacy_bits, locks[1], gauss, taken, *addresses, *methods)


def _fresh(owner: str) -> Any:
    """A new generator of this class, always in the same state."""
    if owner == NEW:
        return np.random.Generator(np.random.PCG64(20))
    return np.random.RandomState(20) if owner == LEGACY else random.Random(20)


def _bit_generator(generator: Any) -> Any:
    return generator.bit_generator if hasattr(generator, "bit_generator") else generator._bit_generator


def _memory(instance: Any) -> List[int]:
    return list((ctypes.c_size_t * (type(instance).__basicsize__ // 8)).from_address(id(instance)))


def _bits_of(generator: Any) -> List[int]:
    """The five words of a generator's ``bitgen_t``."""
    address = _bit_generator(generator).ctypes.bit_generator.value
    return list((ctypes.c_size_t * 5).from_address(address))


def _offset(instance: Any, wanted: Sequence[int]) -> int:
    """The offset of these words in an object's memory, in bytes.

    Raises `_OffsetNotFound` unless they occur exactly once.
    """
    words = _memory(instance)
    found = [k for k in range(len(words)) if words[k:k + len(wanted)] == list(wanted)]
    if len(found) != 1:
        raise _OffsetNotFound
    return 8 * found[0]


def _taken_offset(lock: Any) -> int:
    """The offset, in a lock, of the byte that is zero while no thread has the lock.

    A lock that its thread may take again (NumPy 2.5) counts in this byte how often it is taken.
    """
    size, header = type(lock).__basicsize__, object.__basicsize__
    again = lock if hasattr(lock, "_is_owned") else contextlib.nullcontext()
    states = [ctypes.string_at(id(lock), size)]
    with lock:
        states.append(ctypes.string_at(id(lock), size))
        with again:
            states.append(ctypes.string_at(id(lock), size))
    counts = [0, 1, 1 if again is not lock else 2]
    found = [k for k in range(header, size) if [state[k] for state in states] == counts]
    if len(found) != 1 or ctypes.string_at(id(lock), size)[found[0]]:
        raise _OffsetNotFound
    return found[0]


def _is_same(row: Draw) -> bool:
    """Whether a kernel draws the same numbers as the method, for all example arguments."""
    one, other = _fresh(row.owner), _fresh(row.owner)
    method = getattr(one, row.method)
    for arguments in _EXAMPLES.get(row.method, [()]):
        for _ in range(_SAMPLES):
            if method(*arguments) != drawn(other, row, arguments):
                return False
    return True


def _fills_same(row: Draw) -> bool:
    """Whether a kernel fills an array with the same numbers as the method, and a second one after it."""
    one, other = _fresh(row.owner), _fresh(row.owner)
    for arguments in _EXAMPLES.get(row.method, [()]):
        for count in (1, _SAMPLES + 1, 0, _MANY, 2):
            wanted = getattr(one, row.method)(*arguments, size=count)
            found = np.empty(count, row.result.dtype)
            words = _argument_words(arguments)
            if not _launcher.draw_array(other, row.number, ctypes.addressof(words), found.ctypes.data, count) \
                    or wanted.dtype != found.dtype or wanted.tobytes() != found.tobytes():
                return False
    return True


def _argument_words(arguments: Sequence[Any]) -> Any:
    """The arguments of a method as words for the runtime."""
    kind = ctypes.c_double if all(isinstance(one, float) for one in arguments) else ctypes.c_int64
    return (kind * 2)(*arguments)


def drawn(generator: Any, row: Draw, arguments: Sequence[Any]) -> Optional[Any]:
    """The number that a kernel draws; None where the kernel leaves instead."""
    words = _argument_words(arguments)
    if not _launcher.draw(generator, row.number, ctypes.addressof(words)):
        return None
    return (ctypes.c_double if row.result.dtype.kind == "f" else ctypes.c_int64).from_buffer(words).value
