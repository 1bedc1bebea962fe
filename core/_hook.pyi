"""JitFunction and the execution of linked code, written in C.

The sources are core/native/function/jit_function.c, core/native/hook/hook.c and core/native/hidden/run.c.

Calls of a JitFunction whose code object is marked go through an entry cache and, on a miss, through `on_miss`. The
resulting code object, linked code, runs in place of the original. Calls of a function that is one kernel need no frame.
Traced and profiled threads, generators, and calls on a disabled thread always run the original. From CPython 3.12 on so
does code that a tool of sys.monitoring listens to.

Up to CPython 3.10 a frame hook (PEP 523) runs linked code in a *shadow frame*. The hook takes marked frames while a
JitFunction call waits for its frame, or while hold() is in force. Any other call of a marked function is plain.

From CPython 3.11 on there is no hook. Linked code runs in a *hidden function*, which has that code and all other fields
of the original function. Code that does not begin at the function's start begins with a call of `arrive`.
"""

import sys
from types import CodeType, FunctionType, TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type

from pijit.guards._evaluate import EntryCache, Program

OnMiss = Callable[[CodeType, List[Any], Dict[str, Any], Mapping[str, Any]], Optional[CodeType]]

class Unbound:
    """The type of UNBOUND."""

UNBOUND: Unbound
"""The mark of a local, cell or free variable without a value in the list that on_miss gets."""

MOST_INPUTS: int
"""The largest number of inputs of a kernel that runs without a frame."""

def mark(code: CodeType, cache: Optional[EntryCache], on_miss: OnMiss) -> None:
    """Send the frames of a code object through an entry cache and `on_miss`; replaces an earlier mark.

    Arguments:
        code: the code object. Neither `cache` nor `on_miss` may keep it alive: the garbage collector does not
            see the reference that the code object has to them.
        cache: payloads under guards. A payload is a code object, an Entrance, an EntryTiming, or None to run the
            original.
            None instead of a cache: no cache.
        on_miss: called as on_miss(code, localsplus, globals, builtins), with this thread disabled, if the cache has no
            payload. Returns the code object to run this time, or None for the original.
            `localsplus` lists the frame's locals, cells and free variables at entry, UNBOUND for those without a
            value. An argument that is a cell variable is only in its cell. From CPython 3.11 on the list, and guards,
            get their own cells of the function's variables, tuple of star arguments and dict of them; the call gets
            others. An exception goes to the caller of the function, except RecursionError, which means None.

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
    """Run all code on this thread as if nothing were marked, until enable(); nests."""

def enable() -> None:
    """Undo one disable() of this thread. Raises RuntimeError if there is none."""

def set_recording(on: bool) -> None:
    """Tell calls in C whether a tape records in this thread."""

def set_other_stance(on: bool) -> None:
    """Tell calls in C whether the stance is another one than the default."""

def connect() -> None:
    """Let callbacks of `pijit.core._launcher` ask whether this thread runs everything as it is."""

def set_plain(on: bool) -> bool:
    """Run all code on all threads as if nothing were marked, or stop doing so; returns the previous setting."""

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
    """Counters since the start: runs of linked code (`shadow_frames`), cache `hits` and `misses`.

    `shadow_frames` also counts hidden functions. Up to CPython 3.10 there is also the number of `frames` that the hook
    saw.
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

        While a filter is set the hook is installed. Each unmarked code object is given to the filter once. Its frames
        run the code object that the filter returns in shadow frames, or the original if that is None. Code first met on
        a disabled thread is asked about later. None removes the filter.
        """

    def osr_check(ask: Callable[..., Optional[Tuple[CodeType, int]]], slot: int) -> "OsrCheck":
        """What linked code asks at a loop's header, to continue in newer code if there is any.

        Linked code asks it for an item, as an iterator. The 2nd, 4th, 8th ... visit gets one. Then linked code calls
        the OSR check. In a shadow frame that nobody else holds and that is not traced, it calls ask(code, slots,
        globals, builtins, visits), with this thread disabled. The arguments are the original code object, and the
        frame's locals, cells and free variables.

        If ask returns a code object, and the number of its local for the operand stack, the OSR check returns a token.
        The linked code has to return the token, with its operand stack as a tuple in the local `slot`. Otherwise the
        OSR check returns None. A call moves at most three times.
        """

else:
    def arrive() -> Tuple[Any, ...]:
        """The values that were sent to the running linked code, which begins with this call.

        The innermost run of linked code of this thread gets them, once; no one else keeps the tuple. Raises SystemError
        if nothing was sent.
        """

    def osr_check(ask: Callable[..., Optional[CodeType]]) -> "OsrCheck":
        """What linked code asks at a loop's header, to continue in newer code if there is any.

        Linked code asks it for an item, as an iterator. The 2nd, 4th, 8th ... visit gets one. Then linked code calls
        the OSR check with the cells of its own variables, in the order of co_cellvars. In a frame that nobody else
        holds and that is not traced, it calls ask(code, slots, globals, builtins, visits), with this thread disabled.
        The arguments are the original code object, and the frame's locals, cells and free variables, UNBOUND for those
        without a value.

        If ask returns a code object, the OSR check returns a Move. The linked code calls the Move with its operand
        stack, a tuple, and returns the result. Otherwise the OSR check returns None. A call moves at most three times.

        The newer code begins with `arrive`, which returns one tuple: the original's locals, the cells, and the tuple of
        the operand stack. Locals without a value, and arguments that are cells, are UNBOUND. The newer code's arguments
        are None until it stores or deletes them.
        """

def set_error_handler(callable: Optional[Callable[[CodeType, BaseException], object]]) -> None:
    """Report pijit's own faults to callable(code, exception): a payload that does not fit, a filter that raises.

    The original code runs in each case. With None, sys.unraisablehook gets the faults (3.7: stderr).
    """

def set_profiling(on: bool) -> None:
    """Count the calls of jitted functions and gradient functions, and their time, from now on, or no longer."""

def call_times() -> List[Tuple[Any, int, int]]:
    """(function, calls, ns) of each function that was called since profiling is on.

    The time is without that of kernels, and without that of other such functions that the calls have made.
    """

def set_rebuild(callable: Callable[[FunctionType], object]) -> None:
    """Unpickle a JitFunction that has no global name by callable(py_func); until this is set, by its own type."""

def call(callable: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of callable(*args, **kwargs).

    Exits leave it and the callable on the operand stack as a method and its owner, where CPython has a NULL and the
    callable: bytecode cannot put a NULL below other values.
    """

class OsrCheck:
    """The result of `osr_check`: an iterator over the visits that ask, and the callable that asks."""

    def __iter__(self) -> "OsrCheck": ...

    def __next__(self) -> None:
        """Count a visit. Raises StopIteration at most visits; the iterator does not end."""

    def __call__(self, *cells: object) -> Optional[Callable[[Tuple[Any, ...]], object]]: ...

class Callee:
    """A function that linked code calls, that is not inlined, and that is compiled on its own for such calls.

    Only call sites use it; other calls of the function are unchanged.

    Arguments:
        code: its code object, which is not kept alive.
        cache, on_miss: as for mark().
        on_idle: called without arguments once 64 consecutive calls ran the original; from then on all calls run it.

    Raises:
        TypeError: an argument of another kind.
    """

    def __init__(self, code: CodeType, cache: Optional[EntryCache], on_miss: OnMiss,
                 on_idle: Callable[[], object]) -> None: ...
    @property
    def idle(self) -> bool:
        """Whether further calls run the original."""

class CallSite:
    """A call in linked code that may call one of several Callees.

    Up to CPython 3.10 linked code calls `callable()` right before the call. The next frame that starts on this thread
    may be called by the same frame and belong to a Callee. Then it runs the code from the Callee's cache or on_miss.
    From 3.11 on linked code calls `callable(function, *args, **kwargs)` in place of `function(*args, **kwargs)`. Then
    `function` may be any object.

    Arguments:
        callees: the functions that may be called.
        find: called a few times, with the code and the globals of functions that are new to the site; returns a Callee
            or None.

    Raises:
        TypeError: an argument of another kind.
    """

    def __init__(self, callees: Tuple[Callee, ...], find: Optional[Callable[..., Optional[Callee]]] = None) -> None: ...
    @property
    def open(self) -> bool: ...
    @property
    def callable(self) -> Callable[..., Any]: ...
    def bound(self, callable: Any, arguments: Any) -> Any:
        """From CPython 3.11 on: the object to call with these arguments in place of `callable`."""

class Continuation:
    """A continuation: the second part of a call whose first part a kernel has run.

    Linked code calls `callable(state)` in the frame of the caller. The state is a tuple of the function and a value for
    each slot. A frame of the function starts in this code, with these variables, and its result is that of the call.
    From CPython 3.11 on the code begins with `arrive`, which returns these values. Its arguments are None until it
    stores or deletes them, and its cells are its own.

    Arguments:
        code: the function's code with a beginning that jumps to the resume point.
        slots: the numbers of variables: locals, then cell variables, which get cells of their own. From CPython 3.11 on
            only the number of slots is used.

    Raises:
        ValueError: the code has no such variables; up to CPython 3.10.
    """

    def __init__(self, code: CodeType, slots: Tuple[int, ...]) -> None: ...
    @property
    def callable(self) -> Callable[[Tuple[object, ...]], object]: ...

class Entrance:
    """A payload: the entry into linked code, with a frame that is kept for the next call.

    The code has no OSR checks. It may begin with a kernel that runs before the call has a frame. Then the guard program
    of the entry has all guards of the launcher's program, and fetches the same values.

    Arguments:
        code: the linked code. It runs if there is no such kernel, or if the kernel leaves by an exit that does not
            return.
        launcher: a `pijit.core._launcher.Launcher`, which the first instructions of the code call, or None.
        landings: for each exit of the kernel (last, slots, stack) or None. The frame continues after the instruction at
            the offset `last`. The exit's first values are in these slots (-1: in none), and `stack` more are on its
            stack, top first. None: the code starts at its beginning, and its call of the launcher returns the kernel's
            results. From CPython 3.11 on all exits do that, and landings are ignored.

    Raises:
        ValueError: the code has no such instruction or slot.
    """

    code: CodeType
    launcher: Optional[object]
    def __init__(self, code: CodeType, launcher: Optional[object],
                 landings: Tuple[Optional[Tuple[int, Tuple[int, ...], int]], ...]) -> None: ...

class EntryTiming:
    """A payload under A/B timing: after some calls, the next ones run the payload or the original and are timed.

    Arguments:
        payload: a code object or an Entrance.
        on_result: called as on_result(lost, payload_ns, plain_ns) with the medians, when the result is known.
            plain_ns is -1 if the original was not run. After a loss it may be called again.
        limit: in nanoseconds; a payload that takes longer is kept without further timing; 0: no limit.

    Raises:
        TypeError: an argument of another kind.
    """

    payload: object
    state: str
    """"warming", "measuring", "kept" or "lost"."""
    def __init__(self, payload: object, on_result: Callable[[bool, int, int], object], limit: int) -> None: ...

class JointDispatch:
    """Runs joint functions for calls of a gradient function; see pijit/gradient_kernels.py.

    Arguments:
        function: the differentiated function.
        arguments: the number of its positional arguments; other calls are not run.
        rest: the slots of its frame after them, UNBOUND for those without a value.
        builtins: the dict of builtins that guards read.

    Raises:
        TypeError: an argument of another kind.
        ValueError: a negative number of arguments.
    """

    def __init__(self, function: FunctionType, arguments: int, rest: Tuple[Any, ...],
                 builtins: Dict[str, Any]) -> None: ...
    def run(self, args: Tuple[Any, ...]) -> Any:
        """The outcome of a call with these arguments.

        Returns:
            (value, gradients, number): entry `number` has run. (error, number): it has raised this Exception.
            None: nothing has run. No guards hold, an entry has no function, or the error state is another one. Or the
            thread is traced or profiled, or the function has other code.
        """

    def set_entries(self, entries: Tuple[Tuple[Program, Optional[Callable[..., Any]],
                                               Optional[Callable[..., Any]], Tuple[int, ...]], ...]) -> None:
        """Set the entries: (program, forward, backward, scalars).

        Arguments:
            entries: `forward` takes what the program fetches. It returns a tuple, first the value. The rest are the
                gradients if `backward` is None; otherwise `backward` takes them, and returns the gradients. `scalars`
                has the position of each gradient's input, if some are numbers: a gradient gets the type of a number.

        Raises:
            TypeError, ValueError: an entry of another kind.
        """

    def set_states(self, variable: object, caller: object, raising: object, ignoring: object) -> None:
        """Set NumPy's context variable for error states, the state of calls, and those of forward and backward."""

class GradientCall:
    """The usual call of a gradient function; see pijit/gradient_kernels.py.

    Arguments:
        dispatch: runs the joint functions.
        raised: called with (error, number) for the answer where an entry has raised.
        left: for each entry, the calls in a row that it has left; 0 after a call that it runs.
        single: whether the answer has one gradient, not a tuple.
        with_value: whether the answer is (value, gradient).

    Raises:
        TypeError: an argument of another kind.
    """

    ran: bool
    """Whether a call has run a joint function since this was set."""

    def __init__(self, dispatch: JointDispatch, raised: Callable[[Exception, int], Any],
                 left: List[int], single: bool, with_value: bool) -> None: ...
    def call(self, args: Tuple[Any, ...]) -> Any:
        """What the gradient function returns; what `raised` returns; or None: nothing has run.

        Nothing runs while a tape records in this thread or the stance is not the default. Otherwise see
        `JointDispatch.run`.
        """

class GradientFunction:
    """The base of gradient functions: a call asks `usual` first.

    For all other calls it calls ``self._call(args, kwargs, raised)``, where ``raised`` is the answer of `usual` if an
    entry has raised, else None.
    """

    usual: Optional[GradientCall]
    """What calls without keywords ask first."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class KernelFunction:
    """A function that is one kernel, without bytecode.

    Args:
        program: guards over the positional arguments and the namespace; they fetch the kernel's inputs.
        launcher: the launcher of the kernel; a call returns what it leaves at an exit in its ``returns``.
        globals, builtins: the namespace.
        left: the class of the exception that a call raises if the kernel takes another exit.
        other: the class of the exception that a call raises if a guard fails.
    """

    program: Any
    launcher: Any
    def __init__(self, program: Any, launcher: Any, globals: Dict[str, Any], builtins: Dict[str, Any],
                 left: Type[Exception], other: Type[Exception]) -> None: ...
    def __call__(self, *args: Any) -> Any: ...

class JitFunction:
    """A Python function whose calls run linked code if there is any; otherwise it looks and acts like the function.

    Up to CPython 3.10 the hook is installed from the call until the function's frame starts, so callees of the function
    run without it. Binds as a method. Not counted as a level of recursion, not visible in tracebacks. It is pickled by
    its qualified name if that leads to this very object, else by value: rebuild(py_func), then the items of
    `__dict__`.

    Arguments:
        py_func: the function.
        state: any object; kept in the attribute of the same name.

    Raises:
        TypeError: `py_func` is not a Python function.
    """

    enabled: bool
    """False: calls run `py_func` as it is."""
    heat: int
    """Nanoseconds spent in calls while the function was cold."""
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
        """Make the function cold: calls run the original, and their time is counted.

        Arguments:
            ask: called before the first call, and when the time reaches its last result. It gets the nanoseconds so
                far and returns the time of the next call of ask; None ends the cold state. None instead of a callable
                ends it at once.
            looping: whether the cache has code to run meanwhile, which calls OSR checks at the headers of loops.
        """

    def forget_linked(self) -> None:
        """Drop the linked code that is kept here for the next calls: hidden functions, from CPython 3.11 on."""

    def watch(self, before: Optional[Callable[[], bool]], accepted: Optional[EntryCache],
              check: Optional[Callable[[Tuple[Any, ...], Dict[str, Any]], object]]) -> None:
        """Register callables that run before each call, no matter what serves the call.

        Arguments:
            before: returns whether it has dropped the function's entries. None: no callable.
            accepted: a cache over the slots of the arguments; calls for which a program of it holds are not checked.
            check: called with the arguments of other calls; its exception leaves the call.

        Raises:
            TypeError: accepted is not an EntryCache, or only one of accepted and check is given.
        """
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Optional[type] = ...) -> Callable[..., Any]: ...

if sys.version_info >= (3, 11):
    def hook_function(function: FunctionType, target: JitFunction) -> None:
        """Let calls of a plain function go to a JitFunction, which has a twin of it.

        The hook is removed while the function is cold and called often: then the stack sampler counts its time. It is
        removed for good once 2000 calls in a row were not served by compiled code, and when the function gets other
        code or defaults.

        Arguments:
            function: the function; nothing shows that it is hooked.
            target: the JitFunction of another function with the same code, variables and defaults.

        Raises:
            TypeError: an argument of another kind.
            ValueError: the function is hooked, or it is that of the JitFunction.
            RuntimeError: other tools have all function watchers of this interpreter (3.12 and later), or the function
                has more than 255 parameters (3.11).
        """

    def hooked(function: object) -> Optional[JitFunction]:
        """The JitFunction of a hooked function, also while it is sampled; None for all other objects."""

    def pause_sampler() -> None:
        """End the thread of the stack sampler, before a fork. It starts again when a function is sampled again."""

    def end_sampler() -> None:
        """End the thread of the stack sampler for good, before the interpreter ends."""
