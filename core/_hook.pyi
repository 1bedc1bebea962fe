"""JitFunction, and what runs linked code. Written in C: core/native/function/jit_function.c, hook.c and run.c.

Calls of a JitFunction whose code object is marked go through an entry cache and, on a miss, through `on_miss`. The code
object that comes back, linked code, runs in place of the original. Calls of a function that one kernel computes need no
frame. Traced and profiled threads, generators, and calls on a disabled thread always run the original; so does, from
CPython 3.12 on, what a tool of sys.monitoring listens to.

Up to CPython 3.10 a frame hook (PEP 523) runs linked code in a *shadow frame*. Marked frames are taken while a JitFunction
call waits for its frame, or while hold() is in force; any other call of a marked function is plain.

From CPython 3.11 on there is no hook. Linked code runs in a *hidden function*: one with that code, and all else from the
original function. Code that does not begin where the function does begins with a call of `arrive`.
"""

import sys
from types import CodeType, FunctionType, TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type

from pijit.guards._evaluate import EntryCache

OnMiss = Callable[[CodeType, List[Any], Dict[str, Any], Mapping[str, Any]], Optional[CodeType]]

class Unbound:
    """The type of UNBOUND."""

UNBOUND: Unbound
"""Stands for a local, cell or free variable without a value in the list that on_miss gets."""

def mark(code: CodeType, cache: Optional[EntryCache], on_miss: OnMiss) -> None:
    """Send the frames of a code object through an entry cache and `on_miss`; replaces an earlier mark.

    Arguments:
        code: the code object. Neither `cache` nor `on_miss` may keep it alive: the garbage collector does not
            see the reference that the code object has to them.
        cache: payloads under guards; a payload is a code object, an Entrance, a Trial, or None to run the original. None: no
            cache.
        on_miss: called as on_miss(code, localsplus, globals, builtins), with this thread disabled, when the
            cache has no payload; returns the code object to run this time, or None for the original.
            `localsplus` lists the frame's locals, cells and free variables at entry, UNBOUND for those
            without a value. An argument that is a cell is in its cell alone. From CPython 3.11 on the cells of the function's
            own variables, a tuple of star arguments and a dict of them are made for this list, and for guards: the call gets
            others. An exception goes to the caller of the function, but for RecursionError, which
            means None.

    Raises:
        TypeError: an argument of another kind.
        ImportError: a cache is given and pijit.guards._evaluate cannot be imported.

    Example:
        >>> mark(f.__code__, None, lambda code, localsplus, globals, builtins: linked)
    """

def unmark(code: CodeType) -> None:
    """Undo mark(); nothing happens if the code object is not marked."""

def marked(code: CodeType) -> bool:
    """Whether a code object is marked."""

def disable() -> None:
    """Run everything on this thread as if nothing were marked, until enable(); nests."""

def enable() -> None:
    """Undo one disable() of this thread. Raises RuntimeError if there is none."""

def set_plain(on: bool) -> bool:
    """Run everything on all threads as if nothing were marked, or no longer; returns the previous setting."""

class disabled:
    """Context manager: disable() on entry and enable() on exit, on the same thread.

    Example:
        >>> with disabled():
        ...     compile_segment()
    """

    def __enter__(self) -> None: ...
    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None: ...

def stats() -> Dict[str, int]:
    """Counts since the start: `shadow_frames` or hidden functions that ran linked code, cache `hits` and `misses`.

    Up to CPython 3.10 also the `frames` that the hook saw.
    """

if sys.version_info < (3, 11):
    def hold() -> None:
        """Keep the hook installed and take every marked frame of the process, until release(); nests."""

    def release() -> None:
        """Undo one hold(). Raises RuntimeError if there is none."""

    def installed() -> bool:
        """Whether the hook is the interpreter's current frame evaluator."""

    def set_code_filter(callable: Optional[Callable[[CodeType], Optional[CodeType]]]) -> None:
        """Replace code everywhere: for conformance tests.

        While a filter is set the hook is installed, and each code object that is not marked is given to the
        filter once; its frames run the code object that comes back in shadow frames, or as they are if that is
        None. Code first met on a disabled thread is asked about later. None removes the filter.
        """

    def mover(ask: Callable[..., Optional[Tuple[CodeType, int]]], slot: int) -> Callable[[], object]:
        """What linked code calls at a loop's header, to go on in newer code if there is any.

        At the 2nd, 4th, 8th ... visit by a shadow frame that nobody else holds and that is not traced it calls ask(code,
        slots, globals, builtins, visits), with this thread disabled: the original code object, and the frame's locals,
        cells and free variables. If that answers a code object, and the number of its local for the operand stack, the
        mover answers a token, which the linked code has to return with its operand stack, a tuple, in the local `slot`.
        Otherwise it answers None. A call moves at most three times.
        """

else:
    def arrive() -> Tuple[Any, ...]:
        """The values that were sent to the linked code which runs: what that code begins with a call of.

        The innermost run of linked code of this thread gets them, once; nobody else keeps the tuple. Raises SystemError
        where nothing was sent.
        """

    def mover(ask: Callable[..., Optional[CodeType]]) -> Callable[..., Optional[Callable[[Tuple[Any, ...]], object]]]:
        """What linked code calls at a loop's header, to go on in newer code if there is any.

        The linked code passes the cells of its own variables, in the order of co_cellvars. At the 2nd, 4th, 8th ... visit in
        a frame that nobody else holds and that is not traced it calls ask(code, slots, globals, builtins, visits), with this
        thread disabled: the original code object, and the frame's locals, cells and free variables, UNBOUND for those
        without a value. If that answers a code object, the mover answers a Move. The linked code calls that with its
        operand stack, a tuple, and returns what comes back. Otherwise the mover answers None. A call moves at most three times.

        The newer code begins with `arrive`, which answers a tuple: the original's locals, UNBOUND for those without a value
        and for arguments that are cells; then the cells; then the tuple of the operand stack. Its arguments are None until
        it stores or deletes them.
        """

def set_error_handler(callable: Optional[Callable[[CodeType, BaseException], object]]) -> None:
    """Give pijit's own faults (a payload that does not fit, a filter that raises) to callable(code,
    exception).

    The original code runs in each case. None: sys.unraisablehook gets them (3.7: stderr).
    """

def set_rebuild(callable: Callable[[FunctionType], object]) -> None:
    """Unpickle a JitFunction that has no global name by callable(py_func); before the first call: its own
    type."""

class Callee:
    """A function that linked code calls, that is not inlined, and that is compiled on its own for such calls.

    Only call sites lead there: nothing is changed for other calls of the function.

    Arguments:
        code: its code object, which is not kept alive.
        cache, on_miss: as for mark().
        on_idle: called without arguments once that many calls in a row ran the original that the next ones do too.

    Raises:
        TypeError: an argument of another kind.
    """

    def __init__(self, code: CodeType, cache: Optional[EntryCache], on_miss: OnMiss,
                 on_idle: Callable[[], object]) -> None: ...
    @property
    def idle(self) -> bool:
        """Whether calls run the original from now on."""

class CallSite:
    """A place in linked code where one of some Callees may be called.

    Up to CPython 3.10 linked code calls `callable()` right before. If the next frame that starts on this thread is called by
    the same frame and is one of a Callee, it runs what its cache or on_miss has for it. From 3.11 on linked code calls
    `callable(function, *args, **kwargs)` in place of `function(*args, **kwargs)`; `function` may be anything.

    Arguments:
        callees: what may be called.
        find: asked with the code and the globals of functions that the site has not met, a few times, for a Callee or
            None.

    Raises:
        TypeError: an argument of another kind.
    """

    def __init__(self, callees: Tuple[Callee, ...], find: Optional[Callable[..., Optional[Callee]]] = None) -> None: ...
    @property
    def open(self) -> bool: ...
    @property
    def callable(self) -> Callable[..., Any]: ...
    def bound(self, callable: Any, arguments: Any) -> Any:
        """From CPython 3.11 on: what is called with these arguments in place of `callable`."""

class Rest:
    """The rest of a call whose beginning a kernel has run.

    Linked code calls `callable(state)` in the frame of the caller: state is a tuple of the function and a value for each of
    the slots. A frame of the function starts in this code, with these variables, and the result is that of the call.
    From CPython 3.11 on the code begins with `arrive`, which answers these values; its arguments are None until it stores or
    deletes them, and its cells are its own.

    Arguments:
        code: the function's code with a beginning that jumps to where it goes on.
        slots: the numbers of variables: locals, then cell variables, which get cells of their own. From CPython 3.11 on their
            number alone counts.

    Raises:
        ValueError: the code has no such variables; up to CPython 3.10.
    """

    def __init__(self, code: CodeType, slots: Tuple[int, ...]) -> None: ...
    @property
    def callable(self) -> Callable[[Tuple[object, ...]], object]: ...

class Entrance:
    """A payload: how calls get into linked code, in a frame that is kept for the next one.

    The code has no movers. Where it begins with a kernel that runs before the call has a frame, the guard program of the
    entry has all guards of the launcher's, and fetches what those fetch.

    Arguments:
        code: the linked code. It runs where there is no such kernel, or it leaves by an exit that does not return.
        launcher: a `pijit.core._launcher.Launcher`, which the first instructions of the code call, or None.
        landings: for each exit of the kernel (last, slots, stack) or None. The frame goes on behind the instruction at the
            offset `last`, with the exit's first values in these slots (-1: in none) and `stack` more on its stack,
            top first. None: the code begins as ever, and its call of the launcher answers with what the kernel has left.
            From CPython 3.11 on all exits do that, and landings are not looked at.

    Raises:
        ValueError: the code has no such place.
    """

    code: CodeType
    launcher: Optional[object]
    def __init__(self, code: CodeType, launcher: Optional[object],
                 landings: Tuple[Optional[Tuple[int, Tuple[int, ...], int]], ...]) -> None: ...

class Trial:
    """A payload that is measured: after some calls, the next ones run it or the function as it is, and are timed.

    Arguments:
        payload: a code object or an Entrance.
        on_verdict: called as on_verdict(lost, payload_ns, plain_ns) with the medians, when it is decided; plain_ns is
            -1 if the function was not run as it is. After a defeat it may be called again.
        limit: in nanoseconds; a payload that takes longer is kept without measuring more; 0: no limit.

    Raises:
        TypeError: an argument of another kind.
    """

    payload: object
    state: str
    """"warming", "measuring", "kept" or "lost"."""
    def __init__(self, payload: object, on_verdict: Callable[[bool, int, int], object], limit: int) -> None: ...

class JitFunction:
    """A Python function whose calls run linked code where there is some; otherwise it looks and acts like the function.

    Up to CPython 3.10 the hook is installed from the call until the function's frame starts, so what the function calls runs
    without it. Binds as a method. Not counted as a level of recursion, not visible in tracebacks. Pickled by
    its qualified name if that leads to this very object, else by value: rebuild(py_func), then the items of
    `__dict__`.

    Arguments:
        py_func: the function.
        state: anything; kept in the attribute of the same name.

    Raises:
        TypeError: `py_func` is not a Python function.
    """

    enabled: bool
    """False: calls run `py_func` as it is."""
    heat: int
    """Nanoseconds in calls while it was cold."""
    state: Any
    __wrapped__: Callable[..., Any]
    # The following are read from and written to py_func.
    __name__: str
    __qualname__: str
    __code__: CodeType
    __defaults__: Optional[Tuple[Any, ...]]
    __kwdefaults__: Optional[Dict[str, Any]]
    __annotations__: Dict[str, Any]
    @property
    def __globals__(self) -> Dict[str, Any]: ...
    @property
    def __closure__(self) -> Optional[Tuple[Any, ...]]: ...
    @property
    def py_func(self) -> FunctionType: ...
    def __init__(self, py_func: FunctionType, state: Any = ...) -> None: ...
    def chill(self, ask: Optional[Callable[[int], Optional[int]]], looping: bool = False) -> None:
        """Make the function cold: calls run it as it is, and their time is counted.

        Arguments:
            ask: called before the first call and where the time reaches what it answered last. It gets nanoseconds,
                and answers at how many to ask again; None: the function is cold no more. None here does that at once.
            looping: whether the cache has code to run meanwhile, which asks at the headers of loops.
        """

    def forget_linked(self) -> None:
        """Drop the linked code that is kept here for the next calls: some functions, from CPython 3.11 on."""

    def watch(self, before: Optional[Callable[[], bool]], accepted: Optional[EntryCache],
              check: Optional[Callable[[Tuple[Any, ...], Dict[str, Any]], object]]) -> None:
        """Have something called before each call, whatever then serves it.

        Arguments:
            before: says whether it has forgotten the function's entries. None: nothing.
            accepted: what its programs, over the slots of the arguments, hold for is not checked.
            check: called with the arguments of other calls; what it raises leaves the call.

        Raises:
            TypeError: accepted is no EntryCache, or only one of accepted and check is given.
        """
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Optional[type] = ...) -> Callable[..., Any]: ...
