"""Gradients of whole functions by kernels: calls of `grad` and `value_and_grad` that need no tape.

A function that is one graph gets a joint function (`core/graph/reverse`), which computes value and
gradients, and which is jitted. Guards decide for which calls it holds. All other calls use the tape, which defines what
a gradient is; joint functions give its bits.

If a joint function raises, the tape runs the call again, and raises or warns as the program does. So a joint function
has no effects, with one exception: host calls (`core/tape/host_calls.py`), which the tape does not repeat.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from pijit.core import _hook
from pijit.core.error_states import states
from pijit.core.errors import report_internal
from pijit.core.graph.reverse.errors import Irreversible, TooLarge
from pijit.core.reasons import reason
from pijit.core.stance import current
from pijit.core.tape.host_calls import ALL_MADE, HOST_FUNCTIONS, HostCallError
from pijit.joint.entry import JointEntry, JointError, JointResult, Repeat, ResultForm, is_plain, run_entry
from pijit.joint.generators import generators_of
from pijit.joint.texts import print_texts

if TYPE_CHECKING:
    from pijit.joint.parts import JointPart, Show  # loads LLVM, which the first calls do not need

LIMIT = 8
"""The most joint functions, with their guards, of one gradient function."""
MOST_STATIC = 4
"""The most of these that hold for certain shapes; calls with further shapes use the tape, which needs no compiling."""
ATTEMPTS = 2
"""How often a function that is not one graph is tried."""
MOST_LEFT = 16
"""Calls in a row that a joint function may leave; then the tape runs all calls for which its guards hold."""
WARM = 2
"""Calls that use the tape before the first joint function is made; none if memory is limited, for which the tape may be
too large."""

LEVELS = (2, 3)
"""The levels of checkpoints that calls try, where loops would save too much otherwise."""

class GradientKernels:
    """The joint functions of one gradient function.

    Args:
        function: a Python function, or a jitted one.
        keys: positions or names of the differentiated arguments.
        limit: the most bytes that may be kept for the backward part; None: as for a tape.
        form: what the gradient function returns.
        caller: the gradient function; gets the attribute `usual`, whose calls give what it returns, or a `JointError`.
        choose: gives the positions of the differentiated inputs of a graph, for its inputs in this call, and the
            positions that are expected, or None. It raises Irreversible if there are none. It replaces ``keys``. Calls
            with other positions than those of their entry use the tape.
        options: the `jit_config` for the captures.
        show: receives the texts of each kernel that is made; None: they are printed under `print_after_all`.

    Attributes:
        entries: the joint functions and refusals, with their guards.
    """

    def __init__(self, function: Any, keys: Sequence[Any], limit: Optional[int] = None, form: ResultForm = ResultForm(),
                 caller: Optional[_hook.GradientFunction] = None,
                 choose: Optional[Callable[[Sequence[Any], Optional[Tuple[int, ...]]], Tuple[int, ...]]] = None,
                 options: Optional[Dict[str, Any]] = None, show: Optional[Show] = None) -> None:
        self.entries: List[JointEntry] = []
        self._why = ""
        self._function: Any = getattr(function, "py_func", function)
        self._given, self._keys, self._limit, self._form = function, tuple(keys), limit, form
        self._caller, self._choose, self._options, self._show = caller, choose, options, show
        self._least = 1 + max((key for key in keys if isinstance(key, int)), default=-1)
        self._left: List[int] = []  # for each entry, the calls in a row that it has left
        self._state: Any = None
        self._binder: Any = None
        self._dispatch: Optional[_hook.JointDispatch] = None
        self._usual: Optional[_hook.GradientCall] = None
        self._warm = WARM if limit is None else 0
        self._calls = self._attempts = 0
        self._refusal = ""

    @property
    def why(self) -> str:
        """Why the last call used the tape (PJ510); "" if it did not."""
        if self._usual is not None and self._usual.ran:
            self._why = ""
        return self._why

    @why.setter
    def why(self, text: str) -> None:
        self._why = text
        if self._usual is not None:
            self._usual.ran = False

    def how(self, number: int) -> str:
        """How the calls of an entry run, for reports: as one kernel, or as jitted functions, and why those."""
        entry = self.entries[number]
        whys = [part.why for part in (entry.function, entry.backward) if part is not None and part.why]
        refused = any(part is not None and part.uses_tape for part in (entry.function, entry.backward))
        how = "later calls use the tape: " if refused else "later calls run jitted functions: "
        return how + whys[0] if whys else "later calls are one kernel"

    def probe(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Sequence[HostCallError], str, str]:
        """Try a call that the tape runs in any case, and report on it.

        Returns:
            The outcomes of the host calls that were made; how later calls run, as a sentence; the source of the joint
            function, or "".
        """
        found = self.call(args, kwargs, probes=True)
        if isinstance(found, Repeat) or found is None:
            return (found.outcomes if found is not None else ()), self.why, ""
        return ALL_MADE, self.how(found[2]), self.entries[found[2]].source

    def call(self, args: Tuple[Any, ...], kwargs: Dict[str, Any], raised: Optional[JointError] = None,
             probes: bool = False) -> Union[JointResult, Repeat, None]:
        """Value and gradients, or None: the tape is to run this call, as it runs the first ones. A `Repeat` stands for
        None after host calls. ``raised`` is the answer of `usual` to this call. If the call ``probes``, the tape runs
        it in any case."""
        try:
            if raised is not None:
                return self._after_error(args, raised)
            if self._dispatch is not None and not kwargs and current() == "default":
                ran: Any = self._dispatch.run(args)
                if ran is not None and len(ran) == 3:
                    self.why = ""
                    if self._left[ran[2]]:
                        self._left[ran[2]] = 0
                    return ran  # type: ignore[no-any-return]
                if ran is not None:
                    return self._after_error(args, JointError(*ran))
            self.why = self._why_not(args)
            if self.why:
                return None
            self._calls += 1
            if self._calls <= self._warm and not probes:
                self.why = reason("PJ510", because="the first calls use the tape")
                return None
            return self._call(args, kwargs, probes)
        except Exception as error:
            from pijit.core.asynchronous_exceptions import raise_asynchronous

            raise_asynchronous(error)
            report_internal("PJ901", self._function.__qualname__, error)
            self._attempts += 1
            self.why = self._refusal = reason("PJ510", because="an internal error, which was logged (PJ901)")
            return None

    def _why_not(self, args: Tuple[Any, ...]) -> str:
        """Why no call like this one is tried."""
        if type(self._function) is not types.FunctionType:
            return reason("PJ510", because="it is not a Python function")
        if len(args) < self._least:
            return reason("PJ510", because="a differentiated argument is a keyword")
        if sys.gettrace() is not None or sys.getprofile() is not None or current() != "default":
            return reason("PJ510", because="it is traced, or the stance is not the default")
        return ""

    def _call(self, args: Tuple[Any, ...], kwargs: Dict[str, Any], probes: bool) -> Union[JointResult, Repeat, None]:
        """`call` for calls that the dispatch in C does not run."""
        if self._binder is None or self._binder.code is not self._function.__code__:
            self._start()
        if self._state is None:
            self.why = reason("PJ510", because="jit leaves the function as it is")
            return None
        try:
            roots = self._roots(args, kwargs)
        except TypeError:
            return None  # the tape raises what the call raises
        for number, entry in enumerate(self.entries):
            inputs = entry.program.check(*roots)
            if inputs is not None:
                break
        else:
            made = self._make(roots)
            if made is None:
                return None
            number, entry, inputs = len(self.entries) - 1, made, made.program.check(*roots)
        self.why = entry.why
        if entry.function is None or inputs is None or not self._is_chosen(entry, inputs):
            return None
        try:
            found = run_entry(number, entry, inputs, probes)
        except TooLarge:
            found = self._run_larger(number, inputs, roots, probes)
        if type(found) is tuple:
            self._set_dispatch()
            if entry.keep is not None:
                entry.keep()
        return self._counted(number, found)

    def _is_chosen(self, entry: JointEntry, inputs: Sequence[Any]) -> bool:
        """Whether the entry differentiates what is to be differentiated in this call."""
        try:
            if self._choose is None or self._choose(inputs, entry.wanted) == entry.wanted:
                return True
            self.why = reason("PJ510", because="other arrays are differentiated")
        except Irreversible as error:
            self.why = reason("PJ510", because=str(error))
        return False

    def _after_error(self, args: Tuple[Any, ...], raised: JointError) -> Union[JointResult, Repeat, None]:
        """What follows when a joint function that the dispatch in C ran has raised."""
        from pijit.core.asynchronous_exceptions import raise_asynchronous

        error, number = raised
        self.why, found = "", None
        if isinstance(error, Exception):
            raise_asynchronous(error)
            self._give_kernels_up(number, error)
        if error is None:
            roots = self._roots(args, {})
            inputs = self.entries[number].program.check(*roots)
            found = None if inputs is None else self._run_larger(number, inputs, roots)
        return self._counted(number, found)

    def _give_kernels_up(self, number: int, error: Any) -> None:
        """Jit the functions of an entry if one of its kernels is not for its arguments."""
        from pijit.core.kernel.kernel_function import OtherArguments

        if issubclass(type(error), OtherArguments):
            entry = self.entries[number]
            for part in (entry.function, entry.backward):
                if part is not None:
                    part.give_kernel_up()
            self._set_dispatch()

    def _counted(self, number: int, found: Union[JointResult, Repeat, None]) -> Union[JointResult, Repeat, None]:
        """Count whether a joint function left a call; if it left many, the tape runs such calls from now on."""
        left = found is None or type(found) is Repeat
        self._left[number] = self._left[number] + 1 if left else 0
        if left:
            self.why = self.why or reason("PJ510", because="the kernel left this call to the program")
            if self._left[number] == MOST_LEFT:
                why = reason("PJ510", because="the kernel left %d calls in a row" % MOST_LEFT)
                self.entries[number] = JointEntry(self.entries[number].program, None, why=why)
                self._drop_dispatch()
        return found

    def _set_dispatch(self) -> None:
        """Give the dispatch in C the entries and NumPy's error state of this call, for the next calls."""
        known = states() if self._choose is None and self._binder.rest is not None else None
        if known is None:
            return
        if self._dispatch is None:
            self._dispatch = _hook.JointDispatch(self._function, self._binder.positional, self._binder.rest,
                                                 vars(builtins))
        self._dispatch.set_states(*known)
        self._dispatch.set_entries(tuple(
            (entry.program, _usual(entry.function) if entry.runs_in_c else None,
             _usual(entry.backward),
             () if entry.are_arrays else entry.wanted) for entry in self.entries))
        if self._usual is None and self._caller is not None and not self._form.has_aux:
            self._caller.usual = self._usual = _hook.GradientCall(
                self._dispatch, JointError, self._left, self._form.single, self._form.with_value)

    def _drop_dispatch(self) -> None:
        self._dispatch = self._usual = None
        if self._caller is not None:
            self._caller.usual = None

    def _roots(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Any, ...]:
        """What the guards of a call read."""
        return self._binder.bind(args, kwargs), self._function.__globals__, vars(builtins)

    def _run_larger(self, number: int, inputs: Sequence[Any], roots: Tuple[Any, ...],
                    probes: bool = False) -> Union[JointResult, Repeat, None]:
        """The result of an entry with checkpoints, where loops would save too much otherwise; or None."""
        for place in range(len(LEVELS)):
            larger = self._larger(number, place, roots)
            self.why = larger.why
            if larger.function is None:
                return None
            try:
                found = run_entry(number, larger, inputs, probes)
            except TooLarge:
                continue
            if type(found) is tuple:
                larger.keep()
            return found
        return None

    def _larger(self, number: int, place: int, roots: Tuple[Any, ...]) -> JointEntry:
        """An entry with checkpoints."""
        entry = self.entries[number]
        if len(entry.larger) == place:
            made = self._make_entry(roots, entry, LEVELS[place])
            if not isinstance(made, JointEntry):
                made = JointEntry(entry.program, None, why=reason("PJ510", because=made))
            entry = self.entries[number] = entry._replace(larger=entry.larger + (made,))
        found: JointEntry = entry.larger[place]
        return found

    def _start(self) -> None:
        """Begin without entries: before the first one is made, and after the function was given other code."""
        from pijit.core.internal_functions import Binder
        from pijit.decorator import jit

        self.entries, self._left, self._attempts, self._refusal = [], [], 0, ""
        self._drop_dispatch()
        given: Any = self._given if hasattr(self._given, "state") else jit(self._function, jit_config=self._options)
        self._state, self._binder = getattr(given, "state", None), Binder(self._function)
        if self._state is not None and self._state.config.print_after_all:
            self._show = self._show or print_texts

    def _make(self, roots: Tuple[Any, ...]) -> Optional[JointEntry]:
        """An entry for calls like this one, or None: there is no room, or the function is not one graph."""
        if len(self.entries) >= LIMIT or self._attempts >= ATTEMPTS:
            self.why = self._refusal or reason("PJ510", because="other calls have used its limit of kernels")
            return None
        made = self._make_entry(roots)
        if isinstance(made, str):
            self._attempts += 1
            self.why = self._refusal = reason("PJ510", because=made)
            return None
        self.entries.append(made)
        self._left.append(0)
        return made

    def _make_entry(self, roots: Tuple[Any, ...], like: Optional[JointEntry] = None,
                    levels: int = 1) -> Union[JointEntry, str]:
        """An entry for calls like this one, or why the function is not one graph.

        Its guards are as strict as those of ``like``, whose calls it is for.
        """
        from pijit.core.asynchronous_exceptions import signals_deferred
        from pijit.core.preview import whole_graph

        refused: Union[JointEntry, str] = ""
        # Loops over lists of cells are unrolled. Short ranges and shapes are constants only if the graph cannot be
        # reversed otherwise, because each shape needs an entry of its own then.
        tries = [(self._choose is not None, False), (True, True)]
        if like is not None:
            tries = [tries[like.has_static_shapes]]
        elif sum(entry.has_static_shapes for entry in self.entries) >= MOST_STATIC:
            tries.pop()
        for unrolls, has_static_shapes in tries:
            with signals_deferred():
                whole = whole_graph(self._state, roots, HOST_FUNCTIONS, unrolls,
                                    self._state.config.max_loop_unrolling if unrolls else 0, has_static_shapes)
            made = whole if isinstance(whole, str) else self._joined(whole, roots, levels, has_static_shapes)
            if isinstance(made, JointEntry) and made.function is not None:
                return made
            refused = refused or made
        return refused

    def _joined(self, whole: Any, roots: Tuple[Any, ...], levels: int, has_static_shapes: bool) -> JointEntry:
        """The entry of a function that is one graph."""
        from pijit.core.graph.types import Scalar
        from pijit.core.tape.budget import default_limit
        from pijit.joint import joint_cache
        from pijit.joint.parts import JointParts

        inputs = whole.program.check(*roots) or []
        limit = joint_cache.rounded(default_limit()) if self._limit is None else self._limit
        try:
            wanted = tuple(self._position(key, whole.arguments) for key in self._keys) if self._choose is None \
                else self._choose(inputs, None)
            for position in wanted:
                if not is_plain(inputs[position]):
                    raise Irreversible("an argument that is no float and no float array in C order")
            kinds = [whole.graph.inputs[position].type for position in wanted]
            shapes = {value: one.shape for value, one in zip(whole.graph.inputs, inputs) if type(one) is np.ndarray}
            generators = generators_of(whole.graph)
            key = self._cache_key(whole, wanted, inputs, limit, levels, has_static_shapes)
            make = functools.partial(_made_joint, whole.graph, [whole.graph.inputs[position] for position in wanted],
                                     shapes, limit, whole.returning, levels, self._form.has_aux, has_static_shapes)
            parts = JointParts.of(key, make, self._show)
        except Irreversible as error:
            return JointEntry(whole.program, None, why=reason("PJ510", because=str(error)))
        plain = all(isinstance(kind, Scalar) or kind.layout == "C" and kind.dtype.isnative for kind in kinds)
        arrays = not any(isinstance(kind, Scalar) for kind in kinds)
        return JointEntry(whole.program, parts.forward, parts.backward, wanted, parts.source, are_plain=plain,
                          are_arrays=arrays, has_host_calls=parts.has_host_calls, keep=parts.keep,
                          generators=generators, has_static_shapes=has_static_shapes)

    def _cache_key(self, whole: Any, wanted: Tuple[int, ...], inputs: Sequence[Any], limit: int, levels: int,
                   has_static_shapes: bool) -> str:
        """The key of a joint function on disk, or "" if it is not kept there."""
        from pijit.joint import joint_cache

        config = self._state.config
        if not config.cache or config.backend != "numba":
            return ""
        return joint_cache.joint_key(whole.graph, wanted, joint_cache.shapes_of(inputs), limit, levels,
                                     self._form.has_aux, sorted(whole.returning), has_static_shapes)

    def _position(self, key: Any, arguments: Sequence[Optional[str]]) -> int:
        """The position of a differentiated argument among the inputs of a graph."""
        code = self._function.__code__
        name = key if isinstance(key, str) else code.co_varnames[key] if 0 <= key < code.co_argcount else None
        if name not in arguments:
            raise Irreversible("a differentiated argument that the graph does not read as a whole")
        return arguments.index(name)


def _made_joint(*args: Any) -> Any:
    """`make_joint`, whose modules a process with joint functions on disk does not import."""
    from pijit.core.graph.reverse.joint import make_joint

    return make_joint(*args)


def _usual(part: Optional[JointPart]) -> Any:
    """What calls of a part run in C: the part itself before its first call."""
    return part.usual or part if part is not None else None
