"""Entries of gradient kernels: guards, the joint functions for the calls that they hold for, and how a call runs.

`pijit/gradient_kernels.py` makes and chooses entries. An entry never decides whether it is for a call.
"""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple, Union

import numpy as np

from pijit.core.error_states import enter_ignoring, enter_raising, leave
from pijit.core.graph.reverse.errors import TooLarge, check_answer
from pijit.core.named_tuples import NamedTuple
from pijit.core.tape.host_calls import HostCallError, outcomes_of, run_no_python
from pijit.joint.generators import restore, states_of

JointResult = Tuple[Any, Sequence[Any], int]
"""The value and the gradients of one call, and the number of the entry that computed them."""


class Repeat(NamedTuple):
    """The tape is to repeat a call, without the host calls that the joint function has made.

    Attributes:
        outcomes: the outcomes of these host calls, see `replayed`.
    """

    outcomes: List[HostCallError]


class JointEntry(NamedTuple):
    """What calls do for which the guards hold.

    Attributes:
        program: the guards; they fetch the inputs.
        function: the joint function, or None: the tape runs these calls.
        backward: its second function, or None.
        wanted: the positions of the active inputs.
        source: the source of the joint function, or "".
        why: the reason for the tape, or "".
        are_plain: whether the guards know that the active inputs are plain, see `is_plain`.
        are_arrays: whether all active inputs are arrays, so that the gradients have their types.
        has_host_calls: whether the function makes host calls.
        keep: puts the functions on disk, once both have run; it does that at most once.
        generators: the positions of the random generators that the functions draw from.
        larger: the entries with checkpoints for calls whose loops would save too much otherwise; see `LEVELS`.
        has_static_shapes: whether the guards compare the shapes of all arrays.
    """

    program: Any
    function: Any
    backward: Any = None
    wanted: Tuple[int, ...] = ()
    source: str = ""
    why: str = ""
    are_plain: bool = False
    are_arrays: bool = False
    has_host_calls: bool = False
    keep: Any = None
    generators: Tuple[int, ...] = ()
    larger: Tuple[Any, ...] = ()
    has_static_shapes: bool = False

    @property
    def runs_in_c(self) -> bool:
        """Whether the dispatch in C may run the function: nothing has to be looked at before a call or after it."""
        return self.are_plain and not self.has_host_calls and not self.generators


class ResultForm(NamedTuple):
    """What a gradient function returns.

    Attributes:
        single: one gradient, not a tuple of them.
        with_value: the value, and then the gradient.
        has_aux: the function returns (value, aux), and the gradient function returns aux as well.
    """

    single: bool = False
    with_value: bool = True
    has_aux: bool = False


class JointError(NamedTuple):
    """The exception of a joint function, or its answer (`ANSWERS`), and the number of its entry."""

    error: Union[Exception, bool, None]
    number: int


def is_plain(value: Any) -> bool:
    """Whether joint functions differentiate an argument: a float, or a float array in C order."""
    if type(value) is np.ndarray:
        return value.dtype.kind == "f" and value.dtype.isnative and value.flags.c_contiguous
    return type(value) is float or isinstance(value, np.floating)


def run_entry(number: int, entry: JointEntry, inputs: Sequence[Any],
              probes: bool = False) -> Union[JointResult, Repeat, None]:
    """The result of the joint function of entry ``number``, or None if it raised; a `Repeat` after host calls.

    The caller's error state decides what NumPy reports. Unless there is a result, random generators are as before; so
    they are in any case if the call ``probes``, because the tape runs it, too.

    Raises:
        TooLarge: loops would save too much. There was no host call.
    """
    states = states_of(inputs, entry.generators) if entry.generators else []
    found: Union[JointResult, Repeat, None] = None
    try:
        found = _run(number, entry, inputs)
    finally:
        if states and (probes or type(found) is not tuple):
            restore(states)
    return found


def _run(number: int, entry: JointEntry, inputs: Sequence[Any]) -> Union[JointResult, Repeat, None]:
    """`run_entry` for functions that draw no random numbers."""
    if not entry.are_plain and not all(is_plain(inputs[position]) for position in entry.wanted):
        return None
    if entry.has_host_calls and not run_no_python(inputs):
        return None
    marks: List[int] = []
    raising = enter_raising()
    try:
        found = entry.function(*inputs, marks) if entry.has_host_calls else entry.function(*inputs)
        check_answer(found)
        value, *gradients = found
        if entry.backward is not None:
            ignoring = enter_ignoring()
            try:
                gradients = entry.backward(*gradients)
            finally:
                leave(ignoring)
            check_answer(gradients)
    except Exception as error:
        from pijit.core.asynchronous_exceptions import raise_asynchronous

        raise_asynchronous(error)
        if isinstance(error, TooLarge) and not marks:
            raise
        return Repeat(outcomes_of(marks, error)) if marks else None
    finally:
        leave(raising)
    if not entry.are_arrays:
        gradients = [g if type(inputs[position]) is np.ndarray else type(inputs[position])(g)
                     for position, g in zip(entry.wanted, gradients)]
    return value, gradients, number
