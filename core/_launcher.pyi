"""pijit.core._launcher: calls kernels from linked bytecode; the runtime functions that kernels call.

core/native/launcher/abi.h has the protocol between launcher and kernels, core/native/runtime/entries.inc every entry of
the runtime table.
"""

from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np

MISS: int
"""The exit id of a result that means: nothing was changed, run the original bytecode (-1)."""

ERROR: int
"""The kernel's result after a runtime function has set a Python exception (-2)."""

RUNTIME_ENTRIES: str
"""The runtime table's entries, one a line: name, result, use of the GIL, and names of the words.

core/kernel/runtime_entries.py reads them."""

ABI_NUMBERS: Dict[str, int]
"""The numbers on which kernels, the launcher and the runtime agree, by their names in launcher/abi_numbers.inc."""

INPUT_CODES: Dict[str, Tuple[int, int]]
OUTPUT_CODES: Dict[str, Tuple[int, int]]
"""By name of an input or output code: the length of the code, and the number of words that an output reads."""

RUNTIME_TABLE: int
"""The runtime table's address, which is in frame word 0."""

EVAL_BREAKER: Optional[int]
SIGNALS: Optional[int]
"""The addresses of C ints. The first is not 0 if the interpreter has to act between two bytecodes, the second if there
are signals to handle. None from CPython 3.13 on."""

THREAD_POLLS: Optional[Tuple[int, int, int]]
"""From CPython 3.13 on: the offset of the address of the thread's eval breaker, from the address in frame word 1; the
bits for which a kernel leaves; the bits for signals."""

class LoopTiming:
    """A/B timing of a loop's launchers against bytecode while the loop runs.

    Arguments:
        on_result: called with (lost, ns of kernels, ns of bytecode), per call of the loop's clock; -1 if bytecode was
            not timed.
        limit: in ns; if more time passes between two calls of the clock, bytecode is not timed; 0: no limit.
    """

    state: str
    """"waiting", "measuring", "kept" or "lost"."""
    def __init__(self, on_result: Callable[[bool, int, int], object], limit: int) -> None: ...

class Launcher:
    """Calls one kernel from linked bytecode.

    Arguments:
        program: a guard program, or None: then the call's arguments are the inputs. Inputs are checked against their
            codes in both cases; one that does not fit is a miss.
        globals, builtins: the dicts in which guards look up names; None: those of the calling frame.
        inputs: one code per fetched value:
            ("skip",) | ("array", ndim) | ("int",) | ("float",) | ("bool",) | ("complex",) | ("scalar", typenum)
            | ("range_iterator",) | ("sequence_iterator", (array,)) | ("reversed_iterator", (array,))
            | (kind, (("object",),)) with the kinds "list_iterator", "text_iterator" and "bytes_iterator"
            | ("enumerate", (iterator code,)) | ("zip", (iterator codes...)), where array is
            ("typed_array", typenum, ndim, "C" or "F" or "A", must be writeable)
        words: the size of the frame in words.
        output_word: the first word after the inputs; from there on the frame is zero when the kernel starts.
        kernel: the address of `int64_t kernel(int64_t *frame)`, or a callable that takes the fetched values and returns
            (exit id, value...), or None for a miss. There is one value per output code that is not "fetched" or
            "const". For a code made of codes, the values of these come first, then an int per word of its own
            ("advance": per index and count that moves, outermost first).
        exits: per exit id the tuple of its output codes, at most `width` of them:
            ("fetched", i) | ("const", object) | ("tuple", (codes...)) | ("int", word) | ("float", word)
            | ("bool", word) | ("complex", word) | ("scalar", word, dtype) | ("array", word) | ("object", word)
            | ("range", word)
            | ("range_iterator", word) | ("advance", i, word) | ("sequence_iterator", (code,), word)
            | ("reversed_iterator", (code,), word) | ("enumerate", (code,), word) | ("zip", (codes...))
            | ("stepped", (code,), steps) | ("stepped_reversed", (code,), steps) | ("map", (codes...))
            | ("filter", (codes...)) | ("function", (code, name, cell...))
            | ("generator", (function, variable..., stack item...), plan), where plan is (offset of the last
            instruction or -1, slots of the variables, (handler, level, ...) of the loop blocks). From 3.11 on plan is
            (code of a generator function, positions of the values among its arguments, whether it must run to a yield)
        width: the number of items of a result after the exit id.
        name: for messages.
        owner: an object to keep alive, such as the owner of the machine code.
        numbers: per exit id the first item of results, an int from 0 on; None: the exit id itself. Exits may share one.
        polls: the ids of the exits that a kernel takes because the interpreter has a request to handle. After such an
            exit bytecode handles no request before it has called `resume`.
        prepare: makes the kernel at the first call: prepare() returns (kernel, owner), which replace these two
            arguments, or None: every call misses. An exception goes to the caller, and the next call tries again.
        returns: the ids of the exits after which bytecode only returns the exit's last value. A call without a frame
            ends there (`pijit.core._hook.Entrance`).
        held: per exit id the number that replaces that in `numbers` if the interpreter has a request to handle as the
            kernel leaves. The request then waits for `resume`. None: it does not wait.
        slots: the numbers of locals of the calling frame whose values follow the call's arguments. If one of them has
            no value, the call misses. Bytecode cannot pass a variable that may be unbound.
        nogil: whether a machine code kernel runs without the GIL.
        iterations: per exit id the index of the value that counts the loop iterations of the kernel, or None.
        gate: whether it is a re-entry that bytecode may reach. Such a launcher is an iterator, which bytecode asks for
            an item at the loop's header: an item means that the launcher is to be called
            (core/native/launcher/reentry_gate_inl.h).
        bare: the ids of exits of one value whose result may be that value, without a tuple. It is if the value is no
            mapping, and if the interpreter has no request to handle. The tuples of such a launcher say that they are
            mappings, so MATCH_MAPPING (CPython 3.10) tells what the result is.

    Its attribute ``entry``, None until it is set, is the guard program of the entry to which the segment belongs. The
    entry is retired if the guards of this launcher fail again and again.

    Raises:
        ValueError, TypeError: a code, word or index that is not valid.
    Example:
        >>> launcher = Launcher(None, {}, {}, (("int",),), 3, 3, lambda x: (0, x + 1), ((("int", 2),),), 2, "increment")
        >>> launcher.callable(41)
        (0, None, 42)
    """

    callable: Callable[..., Any]
    """The builtin that linked bytecode calls; always the same object."""
    calls: int
    misses: int
    exit_counts: Tuple[int, ...]
    cause_counts: Tuple[int, ...]
    timing: Optional[LoopTiming]
    """The timing of the loop that contains it."""
    clock: bool
    """Whether its timing counts the calls of this launcher."""
    name: str
    program: Optional[Any]
    entry: Optional[Any]
    owner: Any
    width: int
    nogil: int
    wait: int
    """Number of arrivals of bytecode until the gate opens; may be set."""
    longest_wait: int
    """Upper bound of the arrivals that the gate turns away; may be set; at 0 the gate is always open."""
    enabled: bool
    """False: every call returns MISS, or the kernel is not made yet."""
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
        iterations: Optional[Tuple[Optional[int], ...]] = None,
        gate: bool = False,
        bare: Optional[Tuple[int, ...]] = None,
    ) -> None: ...

    def __next__(self) -> None: ...

class CCallback:
    """A jitted function that C libraries call by a function pointer and a data pointer.

    The kernel computes a call if its guards hold and it leaves at an exit that returns. Otherwise the function is
    called with the same arguments. So the kernel must have no effects except on arrays among the arguments.

    Arguments:
        signature: the C signature, one of those in core/native/launcher/callbacks/c_signatures.c.
        function: the jitted function or method.
        code: the code object that the kernel was made from.
        launcher: the launcher of the kernel, without a guard program.
        program: the guards over the roots; they fetch the kernel's inputs.
        short_program: the guards that are left where the arguments are floats, or None: calls need objects for them. It
            fetches the inputs that are no arguments.
        globals, builtins: the namespace of the guards.
        roots: the local variables and cells that a call starts with; those of arguments are replaced in each call.
        unbound: the object that stands for no value among the roots.
        first, count: the first root that is an argument, and the number of arguments.
        places: for each input of the kernel the number of the argument that it is, or -1.
    """

    function: Any
    launcher: Launcher
    calls: int
    kernel_calls: int
    def __init__(self, signature: str, function: Any, code: Any, launcher: Launcher, program: Any, short_program: Any,
                 globals: Dict[str, Any], builtins: Dict[str, Any], roots: List[Any], unbound: Any, first: int,
                 count: int, places: Tuple[int, ...]) -> None: ...
    def capsules(self) -> Tuple[Any, Any]:
        """The C function and the data for its last argument, each in a capsule. The second one owns this object."""

def threads() -> Tuple[int, int, int]:
    """Number of threads that a loop of this thread may use, of helpers that were started, of loops that were shared."""

def set_profiling(on: bool) -> None:
    """Count the runs of kernels and their time from now on, or no longer."""

def kernel_times() -> List[Tuple[Launcher, int, int, int, int, int]]:
    """(launcher, runs, timed runs, ns, bytes in, bytes out) of each launcher that has run since profiling is on.

    The time of runs that were not timed is estimated. Bytes are those of the arrays that kernels got and returned.
    """

def begin_span() -> Tuple[int, int]:
    """Begin a span of time of this thread; what `end_span` takes. Calls and kernel runs are spans, too."""

def end_span(span: Tuple[int, int]) -> int:
    """End a span; the nanoseconds that were spent in no span inside it."""

def resume() -> None:
    """Show bytecode the requests that a poll exit has held back; the instruction after this call handles them."""

def reporter(name: str) -> Callable[[Tuple[Any, int]], Any]:
    """A builtin that takes (array, floating-point flags) and returns the array, after NumPy has warned or raised.

    NumPy reacts to the flags as it does for the ufunc of that name.
    """

def taken_entry(owner: Any) -> int:
    """The position after the entry that popitem or pop takes, 0 for none; TypeError unless it is a dict or set."""

def dict_iterator(iterator: Any) -> Tuple[Any, int, int, int]:
    """(owner, position, left, used) of an iterator over a dict or set; the owner is None after the end."""

def next_entry(owner: Any, position: int) -> Optional[Tuple[int, Any, Any]]:
    """(position after it, key, value) of the next entry of a dict or set, or None; a set's values are None."""

def libm(name: str) -> int:
    """The address of a function of the process's libm (`pow`, `sinf`...); KeyError if libm has no such function."""

def short_dot(function: int, data: int, itemsize: int, order: int) -> int:
    """The longest vectors whose product a loop [function, data] adds up in an order of small_matmul.inc; 0: none."""

def untraced(callable: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A builtin that calls `callable` with its one argument, hidden from the thread's trace and profile functions.

    For observers in linked code, because a program may switch tracing on while the code runs.
    """

def ufunc_loop(ufunc: np.ufunc, index: int, is_numpys: bool = ...) -> Tuple[int, int]:
    """(function address, data address) of the inner loop `ufunc.types[index]`; IndexError after the last loop.

    For a ufunc that `is_numpys` it may be a faster loop that gives the same bits and flags.
    """

def buffers_clear() -> int:
    """Frees the memory that is kept for arrays of kernels; how many bytes of large ones."""

def draws_configure(words: Tuple[int, ...]) -> None:
    """Says where random generators keep what kernels draw from: the words of native/runtime/ufuncs/random.c."""

def draw(generator: Any, method: int, words: int) -> bool:
    """Draws as kernels do, by the method of a number, from and to two words at an address; whether it drew a number."""

def draw_array(generator: Any, method: int, words: int, data: int, count: int) -> bool:
    """Fills an array as kernels do; the words are the method's arguments. Returns whether it is filled.

    Raises:
        ValueError: the method is not one of NumPy's generators, or the count is negative.
    """

def method_address(method: Any) -> int:
    """The address of the C function of a method descriptor without arguments."""

def reduce_run() -> int:
    """Number of elements of a row that NumPy's reductions pass to an inner loop at once (probed once): 8192 up to
    NumPy 2.2; 0: all of them."""

def half_scans_run() -> bool:
    """Whether the runtime computes running sums and products of float16."""

def sums_known() -> bool:
    """Whether NumPy adds floats by pairwise summation with eight sums, as `reduce` and kernels do (probed once)."""

def reduce_supported(ufunc: np.ufunc, typenum: int) -> bool:
    """Whether the runtime's `reduce` gives NumPy's bits for this ufunc, with operand and result of this dtype.

    True for add, multiply, minimum, maximum, fmin, fmax and the bitwise ufuncs that have a loop of that one dtype. This
    NumPy must split sums as NumPy 1.21 to 2.5 do (probed once). The result holds for any shape and layout, one axis or
    all, and NumPy's default buffer size (`np.getbufsize()` 8192).
    """
