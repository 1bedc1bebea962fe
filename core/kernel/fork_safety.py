"""Fork safety: forks take the compiler's locks first, so that a child waits for no thread that it lacks.

A child has only the forking thread. A lock that another thread holds stays locked in the child. The data that it
protects may be half changed: pijit's graphs, numba's modules, LLVM. So a fork first takes the locks of the compiler,
for at most `WAIT` seconds. A child whose parent did not get them compiles nothing and logs PJ406.
"""

from __future__ import annotations

import _imp as imp
import contextlib
import gc
import importlib
import logging
import os
import sys
import threading
import time
import types
import weakref
from typing import Any, Callable, Collection, Dict, Iterator, List, Optional, Tuple

from pijit.core.kernel.errors import ForkedError

logger = logging.getLogger("pijit")

WAIT = 10.0
"""Seconds that a fork waits, at most, for threads that compile."""

RARE = 100000
"""New objects between two garbage collections while modules are imported, which leave no garbage."""

_loading = threading.RLock()
writing = threading.RLock()
"""Held while a thread improves a graph and writes its source."""
remembering = threading.RLock()
"""Held while a thread reads or changes the memo of kernels."""
counting = threading.RLock()
"""Held while a thread begins, reads or ends a profile."""
naming = threading.RLock()
"""Held while a thread writes names of kernels for the profiler perf."""

_FOREIGN = (("numba.core.compiler_lock", "global_compiler_lock"), ("llvmlite.binding.ffi", "lib"))
"""The locks of other libraries, as (module, attribute), in the order in which threads take them."""


_PACKAGES = frozenset(("pijit", "numba", "llvmlite"))


class _ThreadPermission(threading.local):
    def __init__(self) -> None:
        self.taken: List[Any] = []
        self.missing = False


class _ForkStatus:
    """The state of this process.

    ``refusal`` says why it compiles nothing, or is None; ``told`` says whether that was logged. ``loaded`` says
    whether all modules that compiling needs are imported.
    """

    refusal: Optional[str] = None
    told = False
    loaded = False


_here = _ThreadPermission()
_owners: "weakref.WeakSet[Any]" = weakref.WeakSet()
_children: "weakref.WeakSet[Any]" = weakref.WeakSet()
_kept: List[Any] = []


class Turn:
    """A lock that no thread waits for. In a forked child it is free if another thread held it."""

    __slots__ = ("_holder", "__weakref__")

    def __init__(self) -> None:
        self._holder: Dict[str, Tuple[int, object]] = {}
        in_child(self)

    def take(self) -> bool:
        """Take the lock if it is free; returns whether it was. The caller must be a method, which gives it back.

        An exception of a signal handler may have arrived where no block gave the lock back. Then the thread that holds
        it does not run that method, and takes it again.
        """
        mine = threading.get_ident(), object()
        holder = self._holder.setdefault("holder", mine)  # one operation of C: no other thread runs in between
        if holder is not mine and holder[0] == mine[0] and not _runs_further_out(sys._getframe(1)):
            self._holder["holder"] = holder = mine
        return holder is mine

    def give_back(self) -> None:
        """Release the lock."""
        self._holder.clear()

    def forked(self) -> None:
        """Free the lock in a child if another thread held it."""
        holder = self._holder.get("holder")
        if holder is not None and holder[0] != threading.get_ident():
            self._holder.clear()


def _runs_further_out(method: types.FrameType) -> bool:
    """Whether a caller of a method's frame is a frame of the same method and object."""
    frame, owner = method.f_back, method.f_locals.get("self")
    while frame is not None:
        if frame.f_code is method.f_code and frame.f_locals.get("self") is owner:
            return True
        frame = frame.f_back
    return False


def in_child(one: Any) -> None:
    """Call the method ``forked`` of an object in each forked child, as long as the object lives."""
    _children.add(one)


def keep_in_child(owner: Any) -> None:
    """Keep an owner of machine code alive in a child that cannot call LLVM to release it."""
    _owners.add(owner)


def load(imports: Callable[[], None]) -> None:
    """Run a function that imports numba. Raises ForkedError in a child that must not compile."""
    ensure_usable()
    if not _ForkStatus.loaded:
        with loading():
            imports()
            _ForkStatus.loaded = True


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Make forks wait, and garbage collections rare, while this thread imports modules of pijit or numba.

    Two threads that import modules may wait for each other, so this lock is taken with a time limit.
    """
    lock = _loading
    taken = lock.acquire(timeout=WAIT)
    thresholds = gc.get_threshold()
    rare = (max(thresholds[0], RARE) if thresholds[0] else 0,) + thresholds[1:]
    gc.set_threshold(*rare)
    try:
        yield
    finally:
        if gc.get_threshold() == rare:
            gc.set_threshold(*thresholds)
        if taken:
            lock.release()


def ensure_usable() -> None:
    """Raise ForkedError in a child whose parent was compiling or importing in another thread when it forked."""
    if _ForkStatus.refusal is None:
        return
    if not _ForkStatus.told:
        _ForkStatus.told = True
        logger.warning("PJ406: process %d compiles nothing: %s", os.getpid(), _ForkStatus.refusal)
    raise ForkedError(_ForkStatus.refusal)


def _wait_for_imports(end: float) -> None:
    """Wait until no other thread imports a module of pijit or of its compiler.

    The lock of a module stays locked in a child. Many functions of pijit and numba import modules when they first run.
    """
    while _imports_of_others(_PACKAGES) and time.monotonic() < end:
        time.sleep(0.0005)


def _locks() -> Iterator[Any]:
    """The locks of the compiler, in the order in which threads take them."""
    yield from (writing, _loading, remembering, counting)
    for module, name in _FOREIGN:
        lock = getattr(sys.modules.get(module), name, None)
        while lock is not None and not isinstance(lock, type(writing)):
            lock = getattr(lock, "_lock", None)
        if lock is not None:
            yield lock
    yield naming


def _before() -> None:
    _here.taken, _here.missing = [], True
    end = time.monotonic() + WAIT
    for lock in _locks():
        if not lock.acquire(timeout=max(end - time.monotonic(), 0)):
            return
        _here.taken.append(lock)
    _wait_for_imports(end)
    _here.missing = False


def _release() -> None:
    taken, _here.taken = _here.taken, []
    for lock in reversed(taken):
        lock.release()


def _after_in_child() -> None:
    global _loading, writing, remembering, counting, naming
    if _here.missing:
        _kept.extend(_owners)
        _refuse("another thread was compiling when the process was forked")
    elif not _ForkStatus.loaded and _imports_of_others():
        _refuse("another thread was importing modules when the process was forked")
    held = {id(lock) for lock in _here.taken}
    _release()
    _loading, writing, remembering, counting, naming = (
        lock if id(lock) in held else threading.RLock() for lock in (_loading, writing, remembering, counting, naming))
    for one in list(_children):
        one.forked()


def _refuse(because: str) -> None:
    _ForkStatus.refusal, _ForkStatus.told = _ForkStatus.refusal or because, False


def _import_owners(packages: Collection[str] = ()) -> List[int]:
    """The identifiers of the threads that are importing modules, or only modules of some packages."""
    locks = getattr(importlib._bootstrap, "_module_locks", {})
    found = [getattr(reference(), "owner", None) for name, reference in list(locks.items())
             if not packages or name.partition(".")[0] in packages]
    return [owner for owner in found if owner is not None]


def _imports_of_others(packages: Collection[str] = ()) -> bool:
    return any(owner != threading.get_ident() for owner in _import_owners(packages))


def importing() -> bool:
    """Whether this thread is importing a module, or any thread has the global import lock.

    Then this thread must not wait for a thread that may import.
    """
    return imp.lock_held() or threading.get_ident() in _import_owners()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_release, after_in_child=_after_in_child)
