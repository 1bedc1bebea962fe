"""`pijit.low_level_callable`: jitted functions as C callbacks of SciPy.

The kernel of a callback gives calls up at side exits (`abandons` of `CaptureOptions`). The jitted function makes such a
call again, so the kernel must have no effects that show. core/native/launcher/callbacks runs the calls.
"""

from __future__ import annotations

import builtins
import ctypes
import inspect
import types
from typing import Any, Callable, Collection, Dict, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core.errors import FullGraphError
from pijit.core.named_tuples import NamedTuple
from pijit.core.pythons import why_not_python
from pijit.decorator import is_disabled, jit
from pijit.explain import state_of
from pijit.names import closest
from pijit.plain_functions import unbound

LENGTH = 5
"""The length of arrays in the example call. Kernels are for all lengths."""


class CForm(NamedTuple):
    """A C signature, and the Python call that it stands for.

    Attributes:
        text: the signature of the C function.
        takes_numbers: whether the arguments are floats.
        arity: the number of arguments; 0: that of the function's parameters.
        example: makes the arguments of an example call, from their number and the number of dimensions.
    """

    text: str
    takes_numbers: bool
    arity: int
    example: Callable[[int, int], List[Any]]


def _numbers(count: int, rank: int) -> List[Any]:
    return [0.5] * count


def _arrays(count: int, rank: int) -> List[Any]:
    return [np.zeros(LENGTH) for _ in range(count)]


def _coordinates(count: int, rank: int) -> List[Any]:
    return [(0,) * rank]


_FORMS: Dict[str, CForm] = {
    "double (double)": CForm("double (double, void *)", True, 1, _numbers),
    "double (int, double *)": CForm("double (int, double *, void *)", True, 0, _numbers),
    "int (double *, intptr_t, double *)": CForm("int (double *, intptr_t, double *, void *)", False, 1, _arrays),
    "int (double *, intptr_t, double *, intptr_t)":
        CForm("int (double *, intptr_t, double *, intptr_t, void *)", False, 2, _arrays),
    "int (intptr_t *, double *, int, int)":
        CForm("int (intptr_t *, double *, int, int, void *)", False, 1, _coordinates),
}
"""By signature without the argument `void *`."""


def low_level_callable(f: Callable[..., Any], signature: str, rank: int = 2) -> Any:
    """A C callback of SciPy that computes calls of a function in machine code.

    Pass it where SciPy takes the function, such as `scipy.integrate.quad` and `scipy.ndimage.generic_filter`. The
    function has the arguments and the result that it has as a Python callback:

    - `"double (double)"`: a float; returns a number (`quad`).
    - `"double (int, double *)"`: one float for each parameter; returns a number (`quad` with `args`, `nquad`).
    - `"int (double *, intptr_t, double *)"`: an array; returns a number (`ndimage.generic_filter`).
    - `"int (double *, intptr_t, double *, intptr_t)"`: an array, and one to write (`ndimage.generic_filter1d`).
    - `"int (intptr_t *, double *, int, int)"`: a tuple of integers; returns a tuple of as many numbers as the input has
      dimensions (`ndimage.geometric_transform`).

    Results are those of the function. A call that the kernel cannot finish is repeated in Python: one that warns or
    raises, and one for which a guard fails, such as another type of a global variable. SciPy raises exceptions of
    callbacks that return `int`. A callback that returns `double` cannot report one, so it returns NaN. Its thread
    raises the exception when the C function has returned. Threads that Python does not know give it to
    `sys.unraisablehook`.

    Args:
        f: a function or a method, jitted or not.
        signature: one of the above; a last argument `void *` and spaces make no difference.
        rank: the number of coordinates that the last signature passes.

    Returns:
        a `scipy.LowLevelCallable`, which owns the machine code. `f` itself if pijit is switched off or does not support
        this Python.

    Raises:
        FullGraphError: a part of `f` is not captured.
        TypeError: `f` does not take these arguments, or has defaults for others.
        ValueError: an unknown signature; or `f` has effects besides writing the arrays that it makes or gets.

    Example:
        >>> def f(x, a):
        ...     return math.exp(-a * x * x)
        >>> callback = pijit.low_level_callable(f, "double (int, double *)")     # doctest: +SKIP
        >>> scipy.integrate.quad(callback, 0.0, 1.0, args=(2.0,))                # doctest: +SKIP
    """
    form = form_of(signature)
    if is_disabled() or why_not_python() is not None:
        return f
    from scipy import LowLevelCallable

    callback = c_callback(f, form, rank)
    return LowLevelCallable(callback.capsules()[0], _Data(callback))


class _Data(ctypes.c_void_p):
    """The data pointer of a callback, which owns it. The garbage collector sees through it, not through capsules."""

    def __init__(self, callback: Any) -> None:
        super().__init__(id(callback))
        self.callback = callback


def form_of(signature: str) -> CForm:
    """The form of a signature."""
    if not isinstance(signature, str):
        raise TypeError("low_level_callable: signature must be a str, not {!r}".format(signature))
    text = "".join(signature.split()).replace("npy_intp", "intptr_t").replace(",void*)", ")")
    found = {"".join(key.split()): form for key, form in _FORMS.items()}.get(text)
    if found is None:
        raise ValueError("low_level_callable: signature must be {}".format(closest(signature, list(_FORMS))))
    return found


def c_callback(f: Callable[..., Any], form: CForm, rank: int = 2) -> Any:
    """The callback of a function: see `pijit.core._launcher.CCallback`."""
    from pijit.core import _hook
    from pijit.core._launcher import CCallback
    from pijit.core.internal_functions import bound_locals

    jitted: Any = jit(f)
    function, receiver = unbound(jitted)
    state = state_of(function)
    if state is None:
        raise TypeError("low_level_callable: f must be a function or a method, not {!r}".format(f))
    called, python = _called(f, jitted, state)
    args = form.example(form.arity or _parameters(python) - len(receiver), rank)
    _check_parameters(python, [*receiver, *args])
    roots = bound_locals(python, (*receiver, *args), {})
    namespace = python.__globals__, _builtins_of(python)
    made = _made(state, python, (roots, *namespace))
    first, end = len(receiver), len(receiver) + len(args)
    places, short = _short_program(made, range(first, end)) if form.takes_numbers else (None, None)
    for place in range(first, end):
        roots[place] = _hook.UNBOUND
    _hook.connect()
    return CCallback(form.text, called, python.__code__, made.launcher, made.program, short, *namespace, roots,
                     _hook.UNBOUND, first, len(args), places or (-1,) * len(made.program.fetch))


def _called(f: Callable[..., Any], jitted: Any, state: Any) -> Tuple[Any, types.FunctionType]:
    """What runs the calls that the kernel does not compute, and the function whose code that is.

    A jitted function whose code object another one has runs a twin. So a plain function in its place may get other
    code that the jitted function does not see.
    """
    given, _ = unbound(f)
    return (f, given) if given is state.py_func and given is not state.function else (jitted, state.function)


def _builtins_of(function: types.FunctionType) -> Any:
    """The builtins of the calls of a function: those of its module may be others than Python's."""
    found = getattr(function, "__builtins__", None) or function.__globals__.get("__builtins__", builtins)
    return vars(found) if isinstance(found, types.ModuleType) else found


def _parameters(function: types.FunctionType) -> int:
    return function.__code__.co_argcount


def _check_parameters(function: types.FunctionType, args: Sequence[Any]) -> None:
    """Raise TypeError unless the function takes exactly these positional arguments."""
    try:
        bound = inspect.signature(function).bind(*args)
    except TypeError as error:
        raise TypeError("low_level_callable: {} does not take the arguments of the signature: {}".format(
            function.__qualname__, error)) from None
    others = [name for name in inspect.signature(function).parameters if name not in bound.arguments]
    if others:
        raise TypeError("low_level_callable: {} has defaults for parameters that the signature does not pass: "
                        "{}".format(function.__qualname__, ", ".join(others)))


class _CallbackKernel(NamedTuple):
    """The kernel of a callback.

    Attributes:
        launcher: its launcher.
        program: its guards, over the variables of a call; they fetch the inputs.
        inputs: the input codes.
        returned: the output codes of the results.
    """

    launcher: Any
    program: Any
    inputs: Tuple[Tuple[Any, ...], ...]
    returned: Tuple[Tuple[Any, ...], ...]


def _made(state: Any, function: types.FunctionType, roots: Tuple[Any, ...]) -> _CallbackKernel:
    """Compile the function for a call, as one kernel. It is the function of the state, or its plain form."""
    from pijit.core.asynchronous_exceptions import signals_deferred
    from pijit.core.kernel.compile import compile_graph
    from pijit.core.kernel.errors import CompileError, ForkedError, TooDeep
    from pijit.core.kernel.kernel_function import record_of
    from pijit.core.kernel.kernel_record import launcher_of
    from pijit.core.kernel.options import flavour_of
    from pijit.core.preview import whole_graph
    from pijit.guards.guard import FunctionCode
    from pijit.guards.program import GuardProgram
    from pijit.guards.source import Constant

    name = state.py_func.__qualname__
    if state.skip is not None:
        raise ValueError("low_level_callable: {}: {}".format(name, state.skip.title))
    with signals_deferred():
        whole = whole_graph(state, roots, abandons=True, unrolling=state.config.max_loop_unrolling, any_lengths=True)
        if isinstance(whole, str):
            raise _refusal(state, roots, whole)
        whole.graph.name = function.__name__  # profiles show it
        arguments = {value for value, name in zip(whole.graph.inputs, whole.arguments) if name is not None}
        why = _effects(whole.graph, arguments)
        if why is not None:
            raise ValueError("low_level_callable: {}: {}".format(name, why))
        try:
            config = state.config
            kernel = compile_graph(whole.graph, config.backend, False, config.cache, flavour_of(config))
        except (TooDeep, ForkedError, CompileError) as error:
            raise ValueError("low_level_callable: {}: {}".format(name, error)) from error
    unchanged = FunctionCode(Constant(function), function.__code__)
    program = GuardProgram([unchanged, *whole.program.guards], whole.program.fetch)
    record = record_of(kernel, program, whole.returning)
    return _CallbackKernel(launcher_of(record, kernel.kernel, kernel.owner), program, record.inputs,
                           tuple(record.exits[id][-1] for id in record.returns))


def _refusal(state: Any, roots: Tuple[Any, ...], why: str) -> Exception:
    """The exception for a function that is not one graph."""
    from pijit.core.preview import breaks_of

    breaks = breaks_of(state, roots)
    if breaks:
        return FullGraphError(state.py_func.__qualname__, breaks, "low_level_callable needs one graph")
    return ValueError("low_level_callable: {}: {}".format(state.py_func.__qualname__, why))


def _effects(graph: Any, arguments: Collection[Any]) -> Optional[str]:
    """The effect that shows after a call that is given up, or None.

    A call is repeated with new arrays, so stores into arrays among the ``arguments`` do not show.
    """
    from pijit.core.graph.ops import DRAWING, EFFECTS, MAKERS, MAKES_CONTAINER, OPS, STORES
    from pijit.core.graph.passes.fusion import roots

    ops = [op for block in graph.blocks for op in block.ops]
    viewed = roots(graph)
    made = {op.result for op in ops if op.name in MAKERS or op.name in MAKES_CONTAINER}
    for op in ops:
        if op.name not in EFFECTS:
            continue
        changed = viewed.get(op.args[0], op.args[0])
        if op.name in DRAWING or not (changed in made or op.name in STORES and changed in arguments):
            return "line {}: {} shows outside of the call".format(op.lineno, OPS[op.name].report_as or op.name)
    return None


def _short_program(made: _CallbackKernel, arguments: range) -> Tuple[Optional[Tuple[int, ...]], Any]:
    """How a call gets by without objects for its arguments, which are floats.

    Returns:
        for each input the number of the argument that it is, or -1, and the guards that are left. They fetch the
        other inputs. (None, None) if the call needs objects.
    """
    from pijit.guards.guard import IsType
    from pijit.guards.program import GuardProgram
    from pijit.guards.source import Local, closure_of

    def is_argument(source: Any) -> bool:
        return type(source) is Local and source.index in arguments

    def reads_argument(source: Any) -> bool:
        return any(is_argument(part) for part in closure_of(source))

    places = tuple(source.index - arguments.start if is_argument(source) else -1 for source in made.program.fetch)
    left = [guard for guard in made.program.guards
            if not (type(guard) is IsType and is_argument(guard.source) and guard.held.get() is float)]
    others = [source for source, place in zip(made.program.fetch, places) if place < 0]
    if any(reads_argument(source) for guard in left for source in guard.reads) or any(map(reads_argument, others)):
        return None, None
    if any(code[0] not in ("float", "skip") for code, place in zip(made.inputs, places) if place >= 0):
        return None, None  # the kernel asks the float itself, such as by a method
    if not all(_is_number(code, places) for code in made.returned):
        return None, None
    return places, GuardProgram(left, others)


def _is_number(code: Tuple[Any, ...], places: Tuple[int, ...]) -> bool:
    """Whether an exit's value is a number that needs no object."""
    if code[0] == "fetched":
        return bool(places[code[1]] >= 0)
    if code[0] == "scalar":
        return str(code[2].char) in "fd"
    return str(code[0]) in ("float", "int", "bool", "const")
