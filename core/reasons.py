"""The table of reasons why something is not compiled, one row each.

A reason has a stable id that users may search for and tests may assert. The same rows feed breaks, `explain`, the logs
and the page docs/reasons.md, which `python -m pijit reasons` generates. The id's first digits are the group:

    PJ1xx  the whole function runs as plain Python
    PJ2xx  a break: this instruction stays bytecode, capture continues after it
    PJ30x  a recompile: why a function was captured again
    PJ31x  an exit: a line at which kernels are left most of the time
    PJ32x  a kernel that is slower than it could be
    PJ4xx  a choice: capturable, but bytecode is the better way to run it
    PJ5xx  a gradient that cannot be computed, or that is zero
    PJ9xx  an error inside pijit: the function runs as plain Python, please report it
"""

from __future__ import annotations

from typing import Dict, Tuple

from pijit.core.named_tuples import NamedTuple


class Reason(NamedTuple):
    """A row of the table.

    Attributes:
        id: the stable id, "PJ201".
        title: what happened, without a full stop; the facts of the case follow it.
        why: the sentences that explain this behaviour of pijit.
        hint: advice for the user.
    """

    id: str
    title: str
    why: str
    hint: str


GROUPS: Tuple[Tuple[str, str], ...] = (
    ("PJ1", "Whole-function skips: the function runs as plain Python"),
    ("PJ2", "Breaks: one instruction stays bytecode, capture continues after it"),
    ("PJ30", "Recompiles: a function was captured again"),
    ("PJ31", "Exits: a kernel is left in the middle so often that its line is no faster"),
    ("PJ32", "Slow kernels: compiled, but slower than they could be"),
    ("PJ4", "Choices: capturable, but bytecode is the better way to run it"),
    ("PJ5", "Gradients: a derivative that cannot be computed, or that is zero"),
    ("PJ9", "Internal errors: the original function ran; please report them"),
)

_ROWS = (
    # The function as a whole.
    Reason("PJ101", "generator function",
           "A generator's frame is entered many times; only frames that run once from start to end are "
           "captured.",
           "Move the numeric part into a function of its own and decorate that."),
    Reason("PJ102", "coroutine function",
           "A coroutine's frame is suspended and resumed; only frames that run once from start to end "
           "are captured.",
           "Move the numeric part into a plain function and decorate that."),
    Reason("PJ103", "async generator function",
           "An async generator's frame is entered many times; only frames that run once are captured.",
           "Move the numeric part into a plain function and decorate that."),
    Reason("PJ104", "class body or other code without fast locals",
           "Class bodies and exec'd code keep their names in a dictionary that anyone may change while "
           "they run.",
           "Decorate the methods, or move the code into a function."),
    Reason("PJ105", "this Python is not supported",
           "pijit reads and writes the bytecode of CPython 3.7 to 3.13; on any other Python the "
           "decorator does nothing.",
           "Run on CPython 3.7, 3.8, 3.9, 3.10, 3.11, 3.12 or 3.13."),
    Reason("PJ106", "function too large",
           "Capture time grows with the size of the function, and very large ones would take longer than "
           "they gain.",
           "Move the hot loop into a function of its own and decorate that."),
    Reason("PJ107", "tracing or profiling is active",
           "A debugger, profiler or coverage tool wants to see every line, so the original code runs.",
           "Nothing to do: kernels are used again once tracing is off."),
    Reason("PJ108", "switched off",
           "PIJIT_DISABLE or NUMBA_DISABLE_JIT was set when the function was decorated.",
           "Unset the variable before the function is decorated."),
    # Breaks.
    Reason("PJ201", "call of a function that is not captured",
           "The effects and the result of the call are unknown before it runs, so Python makes the call.",
           "Move the call out of the hot loop, or make it rare: the code around it is still compiled."),
    Reason("PJ202", "instruction that stays bytecode",
           "There is no compiled form of this instruction.",
           "Keep it out of the innermost loop."),
    Reason("PJ203", "operand of a type that is not captured",
           "Operators are compiled for Python and NumPy scalars and for plain NumPy arrays; other types "
           "bring their own code.",
           "Convert the operand to an array or to a number before the loop."),
    Reason("PJ204", "attribute that is not captured",
           "Reading an attribute of an arbitrary object can run code, so Python reads it.",
           "Read the attribute into a local variable before the loop."),
    Reason("PJ205", "subscript form that is not captured",
           "Compiled subscripts of plain arrays are integers, slices, None, Ellipsis and tuples of these. Lists, "
           "tuples, bytes and bytearrays take integers, strings take integers and slices, and lists are also changed "
           "at slices. Dicts, defaultdicts and Counters take numbers, strings and tuples of these. OrderedDict keeps "
           "an order of its own.",
           "Use basic indexing where it has the same effect."),
    Reason("PJ206", "entry or exit of a with block, or of an exception handler",
           "Kernels make no exceptions. If a kernel can predict the exception, and the handler does not use the "
           "exception object, the kernel continues at the handler. Otherwise it exits, and Python handles the "
           "exception. Python enters and leaves context managers whose methods are not compiled, or whose block has a "
           "loop; the code in such a block is compiled.",
           "Nothing to do, unless a with block is entered in the innermost loop: then move it out."),
    Reason("PJ207", "import of a module that is not there yet",
           "Importing can run a whole module. Kernels look up modules that were imported before, and names in them, "
           "but not relative imports.",
           "Import at the top of the module."),
    Reason("PJ208", "global or closure variable that may have been deleted",
           "Whether such a variable has a value at this point depends on what Python did before.",
           "Keep the value in a local variable."),
    Reason("PJ209", "iteration over a type that is not captured",
           "Compiled loops run over arrays, range(), strings, short tuples, generators, and lists and dicts whose "
           "items have one type; also over enumerate(), zip(), map(), filter() and reversed() of these. Other "
           "iterators run code for each item.",
           "Loop over an array, or a list of numbers, arrays, strings or tuples that have the same types."),
    Reason("PJ210", "NumPy function that is not captured",
           "There is no compiled form of this NumPy function, so NumPy runs it.",
           "Nothing to do for large arrays: NumPy is fast there."),
    Reason("PJ211", "keyword or star arguments in a captured call",
           "This combination of arguments has no compiled form.",
           "Pass the arguments by position."),
    Reason("PJ212", "local variable that may be unbound",
           "Python raises UnboundLocalError if the variable has no value there; only Python can do that.",
           "Give the variable a value before the branch or loop."),
    Reason("PJ213", "value has different types where paths join",
           "A compiled variable has one type; here it depends on the path taken.",
           "Give the variable the same type on both paths, for example 0.0 instead of 0."),
    Reason("PJ214", "result type depends on the value of a scalar",
           "This NumPy version picks the dtype of the result by looking at the value, so NumPy does the "
           "operation.",
           "Give the scalar a dtype: np.float32(2.5)."),
    Reason("PJ215", "dtype that is not captured",
           "Kernels work on bool, integer, float16, float32, float64 and complex data in native byte order.",
           "Convert with astype() before the loop."),
    Reason("PJ216", "string formatting or building of a container",
           "Kernels make strings from numbers and strings, and containers from values whose types are known. Other "
           "objects may run code when they are formatted or collected.",
           "Format and collect numbers rather than arrays and objects, or do it outside of the innermost loop."),
    Reason("PJ217", "forced break",
           "The option force_breaks asked for it: a test switch.",
           "Remove the option."),
    Reason("PJ218", "type of a value is not known yet",
           "The value comes from a call that Python makes; the first run observes its type, the next "
           "capture uses it.",
           "Nothing to do: it is seen when this line runs, and the next call uses it."),
    Reason("PJ219", "read of a location that a kernel in this function writes",
           "Attributes and items of guarded objects are fetched where a segment starts. Here this segment, or another "
           "one of the function, writes that object or one that may be the same.",
           "Keep the value in a local variable."),
    Reason("PJ220", "store that stays bytecode",
           "Compiled stores go into instance dictionaries, slots, classes, modules, lists and dicts whose classes do "
           "not define the store themselves. Other stores can run user code.",
           "Keep the value in a local variable and store it after the loop."),
    Reason("PJ221", "raise of an exception",
           "Kernels never raise: they exit, and Python makes and raises the exception.",
           "Nothing to do: a raise that is not reached costs nothing."),
    Reason("PJ230", "call of a Python function that is not inlined",
           "A call is compiled with its caller if every path of the callee that returns is captured. Otherwise Python "
           "makes the call.",
           "Look at the reason inside the callee; the code around the call is still compiled."),
    Reason("PJ231", "function that may raise after it has written",
           "A kernel exits before an operation that could raise, and bytecode continues in the middle of the callee. "
           "That is impossible here: a comprehension or a builtin makes the call, or the callee holds an iterator, a "
           "tuple of its caller or a value that exists in kernels only.",
           "Let the callee return its results, and write them in the caller."),
    Reason("PJ232", "path of an inlined function that stays bytecode",
           "A cold path of the callee, such as logging, is not compiled. Kernels exit there, in the middle of the "
           "call, and bytecode runs the rest of it.",
           "Nothing to do if it is rare; otherwise look at the reason inside the callee."),
    # Recompiles.
    Reason("PJ301", "guard failed",
           "A fact that the compiled code relies on does not hold in this call.",
           "Call with the same types; an argument that changes type in each call is best converted by "
           "the caller."),
    Reason("PJ302", "types were observed",
           "A run showed the types that calls between segments return, so more of the function can be compiled.",
           "Nothing to do."),
    Reason("PJ303", "cache limit reached",
           "The function has as many entries as cache_limit allows: they keep serving, other calls run "
           "the original code.",
           "Look at the guard that keeps failing, or raise cache_limit."),
    Reason("PJ304", "types were observed in a loop of a call that still runs",
           "The loop showed the types that its calls return. The running call continued in code compiled for them.",
           "Nothing to do."),
    Reason("PJ305", "segments no longer fit",
           "Calls between the segments return values of other types than before. A run is observed, and the function "
           "is captured for the old and the new types.",
           "Nothing to do; a call that keeps returning new types is observed only three more times."),
    Reason("PJ306", "hint of a type does not hold",
           "A comment with @jit.typing, or pijit.hint, declares the type of a value that Python makes. The guards of "
           "the code compiled for that type failed, so a run is observed, as without the hint.",
           "Correct the hint, or remove it."),
    Reason("PJ307", "a declared dependency has changed",
           "A value that hash_args names has changed, or set_context has changed a setting. The compiled code is "
           "dropped.",
           "Nothing to do; leave values out of hash_args that change often and that no captured code uses."),
    Reason("PJ308", "object that each call creates",
           "Guards named a class, function, module or string in this location, and no later call had the same object. "
           "Captures leave the location out: its operations stay bytecode, and the rest is compiled.",
           "Make the class or function once, outside of functions that are called often."),
    Reason("PJ309", "captures wait",
           "Each capture served one call, because guards named objects that were made for that call. Misses run the "
           "original code for a while; then one more capture is tried.",
           "Make the class or function once, outside of functions that are called often."),
    # Exits.
    Reason("PJ310", "leaves the kernel in most iterations",
           "The operation meets a value for which Python may raise or warn, or for which the code was not compiled. "
           "Bytecode repeats the statement and runs the rest of that iteration, so the line is no faster than without "
           "pijit.",
           "Look at the operation and the reason. Handle such values in a branch of their own, or convert them before "
           "the loop."),
    # Slow kernels.
    Reason("PJ320", "loops are not vectorised",
           "An assertion of LLVM failed while it optimised the kernel. So the kernel was compiled again without "
           "vectorisation: its loops compute one element at a time. Results are the same.",
           "Write the loop as operations on whole arrays, or try another version of llvmlite."),
    # Choices.
    Reason("PJ401", "too little work for a kernel",
           "Calling a kernel costs more than these few instructions.",
           "Nothing to do."),
    Reason("PJ402", "measured slower than bytecode",
           "The kernel was timed against the bytecode that it replaces and lost.",
           "Set perf_statistics to False to keep it anyway."),
    Reason("PJ403", "loop that a long first call stays in",
           "The types that the loop shows are used from the next call on. The running call cannot move to newer code "
           "here.",
           "Put the loop into a function of its own, and do not rebind its arguments."),
    Reason("PJ404", "run as bytecode by request",
           "The option interpret names this kernel, or `python -m pijit bisect` tries the program without it.",
           "Leave it out of the option."),
    Reason("PJ405", "too much code",
           "Capturing and compiling take time for each operation, so the size of kernels is limited. A function whose "
           "capture takes too many steps stays bytecode, and so do branches that are nested about a hundred deep.",
           "Move the hot loop into a function of its own and decorate that."),
    Reason("PJ406", "process that was forked while another thread compiled",
           "A child has only the forking thread. LLVM and numba may be in an inconsistent state in it, so nothing is "
           "compiled there. Kernels that were compiled before the fork are used.",
           "Fork before threads call jitted functions, or start processes by the method \"spawn\"."),
    Reason("PJ407", "cold",
           "`python -m pijit` compiles hot functions and loops of a program: their calls took longer than compiling "
           "takes. Only a part of the program's run time goes into compiling.",
           "Nothing to do; `--eager`, or the decorator `jit`, compiles a function at its first call."),
    Reason("PJ408", "loop at module level",
           "The variables of a module can be changed by every function and by other modules. So the loop runs as "
           "bytecode; functions that it calls are compiled.",
           "Move the loop into a function, such as main(), and call that."),
    # Gradients.
    Reason("PJ501", "gradients need CPython 3.7 to 3.13",
           "Gradients are computed by rewriting bytecode, and a gradient has no plain Python to fall back to.",
           "Run on CPython 3.7 to 3.13, with the GIL."),
    Reason("PJ502", "no derivative is known",
           "A value that depends on the arguments went through code without a derivative rule, and a gradient flows "
           "back to it. C code that may write such a value is refused at once.",
           "Write the derivative with `custom_vjp`, or mark code that does not matter with `nondifferentiable` or "
           "`stop_gradient`."),
    Reason("PJ503", "nothing flows to an argument",
           "The result does not depend on the argument through operations that have a derivative, so the gradient is "
           "zero everywhere.",
           "Look at the cuts that `explain` lists, such as comparisons, `floor` and conversions to integers."),
    Reason("PJ504", "the result to differentiate is not one real number",
           "A gradient is defined for one real number; other results need a seed.",
           "Return a float or an array without dimensions, or use `vjp` with a seed."),
    Reason("PJ505", "active memory has several names or was written unseen",
           "Arguments that share memory have no partial derivatives of their own once the function writes them.",
           "Pass a copy of one of them."),
    Reason("PJ506", "the tape would need more memory than its limit",
           "The backward sweep reads the arrays that the function has computed, so they are kept until then.",
           "Differentiate fewer steps at once, pass a larger `tape_limit`, or put code that does not matter into "
           "`no_grad`."),
    Reason("PJ507", "store of an active value into an integer array",
           "The conversion to an integer is constant between its steps, so nothing flows through the store.",
           "Store into an array of floats."),
    Reason("PJ510", "the gradient runs on the tape",
           "A kernel computes value and gradients of a function that is one graph, with loops, branches, stores into "
           "arrays that it makes, and text output. Other functions, and the first calls of each, are recorded on a "
           "tape: the same gradients, but slower.",
           "Nothing to do; `explain` names the first operation that needs the tape."),
    # Errors inside pijit.
    Reason("PJ901", "capture failed",
           "Capture met a state that it does not expect. The original function ran.",
           "Please report it with the log line."),
    Reason("PJ902", "compiling failed",
           "The source that pijit generated did not become machine code. The segment stays bytecode.",
           "Please report it with the log line."),
    Reason("PJ903", "linking failed",
           "The rewritten code object did not verify. The original function ran.",
           "Please report it with the log line."),
)

REASONS: Dict[str, Reason] = {row.id: row for row in _ROWS}


def reason(reason_id: str, **facts: object) -> str:
    """The sentence of a reason, with the facts of the case.

    Args:
        reason_id: a key of `REASONS`.
        **facts: the facts of the case, printed in the order given.

    Returns:
        One line.

    Raises:
        KeyError: there is no such reason.

    Example:
        >>> reason("PJ201", callee="print")
        'PJ201 call of a function that is not captured (callee: print)'
    """
    text = "{} {}".format(reason_id, REASONS[reason_id].title)
    if facts:
        text += " ({})".format(", ".join("{}: {}".format(name, value) for name, value in facts.items()))
    return text


def page() -> str:
    """The page docs/reasons.md, as Markdown."""
    lines = ["# Reasons", "",
             "Whatever pijit does not compile has a reason with a stable id. `pijit.explain(f, *args)` "
             "shows them at the",
             "lines of your function. This page is generated: `python -m pijit reasons > docs/reasons.md`."]
    for prefix, title in GROUPS:
        lines += ["", "## " + title]
        for row in REASONS.values():
            if row.id.startswith(prefix):
                lines += ["", "### {}: {}".format(row.id, row.title), "", row.why, "",
                          "*What to do:* " + row.hint]
    return "\n".join(lines) + "\n"
