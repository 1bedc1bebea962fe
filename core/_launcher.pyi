"""pijit.core._launcher: calls kernels from linked bytecode, and the functions that kernels call.

The protocol between launcher and kernels, and every entry of the runtime table, is in core/native/launcher/abi.h.
"""

from typing import Any, Callable, Dict, Optional, Tuple, Union

import numpy as np

MISS: int
"""The exit id of an answer that says: nothing was changed, run the original bytecode (-1)."""

ERROR: int
"""What a kernel returns after a runtime function has set a Python exception (-2)."""

RUNTIME: Dict[str, int]
"""The runtime table's entries: name -> index."""

RUNTIME_TABLE: int
"""The runtime table's address, which is what frame word 0 holds."""

EVAL_BREAKER: Optional[int]
SIGNALS: Optional[int]
"""The address of the C int that is not 0 when the interpreter has something to do between two bytecodes, or signals to
handle; None from CPython 3.13 on."""

THREAD_POLLS: Optional[Tuple[int, int, int]]
"""From CPython 3.13 on: the offset, behind the address in frame word 1, of the address of the thread's eval breaker; its bits
for which a kernel leaves; its bits for signals."""

class LoopTrial:
    """Measures the launchers of a loop against bytecode while the loop runs.

    Arguments:
        on_verdict: is told (lost, ns of kernels, ns of bytecode), per call of the loop's clock; -1 where bytecode was not
            tried.
        limit: where there are more ns than that between two calls of the clock, bytecode is not tried; 0: no limit.
    """

    state: str
    """"waiting", "measuring", "kept" or "lost"."""
    def __init__(self, on_verdict: Callable[[bool, int, int], object], limit: int) -> None: ...

class Launcher:
    """Calls one kernel from linked bytecode.

    Arguments:
        program: a guard program, or None: then the call's arguments are the inputs. Inputs are checked against their
            codes either way; one that does not fit is a miss.
        globals, builtins: the dicts that guards look names up in; None: those of the calling frame.
        inputs: one code per fetched value:
            ("skip",) | ("array", ndim) | ("int",) | ("float",) | ("bool",) | ("complex",) | ("scalar", typenum)
            | ("range_iterator",) | ("sequence_iterator", (array,)) | ("reversed_iterator", (array,))
            | (kind, (("object",),)) with the kinds "list_iterator", "text_iterator" and "bytes_iterator"
            | ("enumerate", (iterator code,)) | ("zip", (iterator codes...)), where array is
            ("typed_array", typenum, ndim, "C" or "F" or "A", must be writeable)
        words: the size of the frame in words.
        output_word: the first word behind the inputs; from there on the frame is zero when the kernel starts.
        kernel: the address of `int64_t kernel(int64_t *frame)`, or a callable that takes the fetched values and returns
            (exit id, value...), or None for a miss. There is a value per output code that is not "fetched" or "const";
            for those made of codes the values of these come first, then an int per word of their own ("advance": per
            index and count that moves, outermost first).
        exits: per exit id the tuple of its output codes, at most `width` of them:
            ("fetched", i) | ("const", object) | ("tuple", (codes...)) | ("int", word) | ("float", word) | ("bool", word)
            | ("complex", word) | ("scalar", word, dtype) | ("array", word) | ("object", word) | ("range", word)
            | ("range_iterator", word) | ("advance", i, word) | ("sequence_iterator", (code,), word)
            | ("reversed_iterator", (code,), word) | ("enumerate", (code,), word) | ("zip", (codes...))
            | ("stepped", (code,), steps) | ("stepped_reversed", (code,), steps) | ("map", (codes...)) | ("filter", (codes...))
            | ("function", (code, name, cell...)) | ("generator", (function, variable..., stack item...), plan), where plan
            is (offset of the last instruction or -1, slots of the variables, (handler, level, ...) of the loop blocks); from 3.11
            on (code of a generator function, positions of the values among its arguments, whether it is to run to a yield)
        width: the number of items of an answer behind the exit id.
        name: for messages.
        owner: an object to keep alive, such as the owner of the machine code.
        numbers: per exit id the int, from 0 on, that answers start with; None: the exit id itself. Exits may share one.
        polls: the ids of the exits that a kernel takes because the interpreter has something to do. After one of them
            bytecode does nothing of it before it has called `resume`.
        prepare: makes the kernel at the first call: prepare() gives (kernel, owner) in place of these two arguments, which
            are ignored then, or None: every call misses. An exception goes to the caller, and the next call tries again.
        returns: the ids of the exits after which bytecode only returns the exit's last value. A call without a frame ends
            there (`pijit.core._hook.Entrance`).
        held: per exit id the number in place of that in `numbers` for when the interpreter has something to do as the
            kernel leaves, which then waits for `resume`; None: it does not wait.
        slots: the numbers of locals of the calling frame whose values come behind the call's arguments; if one of them
            has none, the call misses. Bytecode cannot pass a variable that may be unbound.
        nogil: whether a machine code kernel runs without the GIL.
        rounds: per exit id which of its values counts the rounds of loops that the kernel has made, or None.
        gate: whether it is a re-entry that bytecode may come to. Such a launcher is an iterator, which bytecode asks at
            the loop's header: an item says that it is to be called (core/native/launcher/reentry_gate.h).

    Its attribute ``entry``, None until it is set, is the guard program of the entry that the segment belongs to: it is
    retired when the guards here fail again and again.

    Raises:
        ValueError, TypeError: a code, word or index that is not valid.
    Example:
        >>> launcher = Launcher(None, {}, {}, (("int",),), 3, 3, lambda x: (0, x + 1), ((("int", 2),),), 2, "increment")
        >>> launcher.callable(41)
        (0, None, 42)
    """

    callable: Callable[..., Tuple[Any, ...]]
    """The builtin that linked bytecode calls; always the same object."""
    calls: int
    misses: int
    exit_counts: Tuple[int, ...]
    cause_counts: Tuple[int, ...]
    trial: Optional[LoopTrial]
    """What measures the loop that it is in."""
    clock: bool
    """Whether it is the launcher whose calls its trial counts."""
    name: str
    program: Optional[Any]
    entry: Optional[Any]
    owner: Any
    width: int
    nogil: int
    wait: int
    """How often bytecode arrives at the gate until it opens; may be set."""
    longest_wait: int
    """How often it may arrive in vain; may be set: at 0 the gate is always open."""
    enabled: bool
    """False: every call answers MISS, or the kernel is not made yet."""
    address: int
    """The kernel's address, 0 for a Python kernel."""

    def __init__(
        self,
        program: Optional[Any],
        globals: Any,
        builtins: Any,
        inputs: Tuple[Tuple[Any, ...], ...],
        words: int,
        output_word: int,
        kernel: Union[int, Callable[..., Optional[Tuple[Any, ...]]]],
        exits: Tuple[Tuple[Tuple[Any, ...], ...], ...],
        width: int,
        name: str,
        owner: Any = None,
        numbers: Optional[Tuple[int, ...]] = None,
        polls: Optional[Tuple[int, ...]] = None,
        prepare: Optional[Callable[[], Optional[Tuple[Any, Any]]]] = None,
        returns: Optional[Tuple[int, ...]] = None,
        held: Optional[Tuple[Optional[int], ...]] = None,
        slots: Tuple[int, ...] = (),
        nogil: bool = False,
        rounds: Optional[Tuple[Optional[int], ...]] = None,
        gate: bool = False,
    ) -> None: ...

    def __next__(self) -> None: ...

def threads() -> Tuple[int, int, int]:
    """How many threads a loop of this thread may use, how many helpers were started, how many loops they have shared."""

def resume() -> None:
    """Show bytecode the requests that a poll exit has held back; the instruction behind this call handles them."""

def libm(name: str) -> int:
    """The address of a function of the process's libm (`pow`, `sinf`...); KeyError if there is none of that name."""

def untraced(callable: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A builtin that calls `callable` with its one argument while the thread's trace and profile functions see nothing.

    For observers in linked code: a program may switch tracing on in the middle of it.
    """

def ufunc_loop(ufunc: np.ufunc, index: int, is_numpys: bool = ...) -> Tuple[int, int]:
    """(function address, data address) of the inner loop `ufunc.types[index]`; IndexError beyond the last.

    Of a ufunc that `is_numpys` it may be a loop that gives the same bits and flags faster.
    """

def reduce_run() -> int:
    """How many elements of a row NumPy's reductions hand to an inner loop at once (probed once): 8192 up to NumPy 2.2;
    0: all of them."""

def sums_known() -> bool:
    """Whether NumPy's loops add up runs of floats by halves, in eight sums, as `reduce` and kernels do (probed once)."""

def reduce_supported(ufunc: np.ufunc, typenum: int) -> bool:
    """Whether the runtime's `reduce` gives NumPy's bits for this ufunc, operand and result of this dtype.

    True for add, multiply, minimum, maximum, fmin, fmax and the bitwise ufuncs where they have a loop of that one dtype,
    if this NumPy cuts sums as NumPy 1.21 to 2.5 do (probed once); holds for any shape and layout, one axis or all,
    and NumPy's default buffer size (`np.getbufsize()` 8192).
    """
