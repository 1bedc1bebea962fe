"""One gradient call: activate arguments, run the function on a tape, sweep backward, collect the gradients."""

from __future__ import annotations

import inspect
import types
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from pijit.core.errors import users_level
from pijit.core.named_tuples import NamedTuple
from pijit.core.reasons import reason
from pijit.core.tape import array_handlers, frame_handlers, handlers  # noqa: F401
from pijit.core.tape.calls import call
from pijit.core.tape.errors import GradientError, GradientWarning
from pijit.core.tape.leaves import Argument, arrays_in, check_separate
from pijit.core.tape.state import beneath, recording, runner
from pijit.core.tape.tape import Tape

ArgumentKey = Union[int, str]


class GradientResult(NamedTuple):
    """Result of one gradient call.

    Attributes:
        value: the function's result, without the part that `has_aux` separates.
        aux: the separated part of the result, or None.
        gradients: one per differentiated argument.
        tape: the tape, for `explain`.
    """

    value: Any
    aux: Any
    gradients: List[Any]
    tape: Tape


class Recorded:
    """A function that has run on a tape and can be swept backward.

    Args:
        function: the function.
        keys: positions or names of the differentiated arguments.
        args, kwargs: its arguments.
        tape_limit: maximum bytes that the tape may hold; None: a fraction of the free memory.
    """

    def __init__(self, function: Callable[..., Any], keys: Sequence[ArgumentKey], args: Tuple[Any, ...],
                 kwargs: Dict[str, Any], tape_limit: Optional[int] = None) -> None:
        self.tape = Tape(beneath(call), limit=tape_limit)
        places = [place_of(function, key, args, kwargs) for key in keys]
        values, named = list(args), dict(kwargs)
        self._names = [_name_of(function, place) for place in places]
        _separate(self.tape, function, places, values, named)
        self._arguments = []
        for place, name in zip(places, self._names):
            holder: Any = named if issubclass(type(place), str) else values
            argument = Argument(self.tape, holder[place])
            if not argument.active:
                raise TypeError("grad: argument {} must hold floats or float or complex arrays; not {}".format(
                    name, _described(holder[place])))
            holder[place] = argument.value
            self._arguments.append(argument)
        try:
            with recording(self.tape):
                self.result = call(function, tuple(values), named)
        except BaseException as error:
            raise error.with_traceback(without_tape(error.__traceback__))
        finally:
            for argument in reversed(self._arguments):
                argument.restore()

    def backward(self, value: Any, seed: Any, keep: bool, strict: bool) -> List[Any]:
        """Sweep backward from a value whose adjoint is ``seed``; returns the gradients of the arguments."""
        run = runner(call)
        reached = self.tape.reaches(value)
        if not reached:
            self._report_nothing(strict)
        self.tape.give(run, value, seed)
        self.tape.sweep(run, keep)
        found = [argument.gather(run) for argument in self._arguments]
        if keep:
            self.tape.forget_adjoints()
        return found

    def _report_nothing(self, strict: bool) -> None:
        text = reason("PJ503", argument=", ".join(self._names))
        if strict:
            raise GradientError(text, "PJ503")
        warnings.warn(text, GradientWarning, stacklevel=users_level())


def value_and_gradients(function: Callable[..., Any], keys: Sequence[ArgumentKey], args: Tuple[Any, ...],
                        kwargs: Dict[str, Any], has_aux: bool = False, strict: bool = False,
                        tape_limit: Optional[int] = None) -> GradientResult:
    """Run a function and differentiate its result, which must be one real number.

    Raises:
        GradientError: PJ504 if the result is not one real number; other ids if the tape refuses an operation.
        TypeError: an argument contains no differentiable values.
    """
    recorded = Recorded(function, keys, args, kwargs, tape_limit)
    value, aux = recorded.result, None
    if has_aux:
        if not issubclass(type(value), tuple) or len(value) != 2:
            raise TypeError("grad: with has_aux the function must return (value, aux); not {}".format(
                _described(value)))
        value, aux = value
    if not _is_real(value):
        raise GradientError(reason("PJ504", result=_described(value)), "PJ504")
    return GradientResult(value, aux, recorded.backward(value, 1.0, False, strict), recorded.tape)


def _is_real(value: Any) -> bool:
    if issubclass(type(value), np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "fiub"
    return issubclass(type(value), (int, float, np.floating, np.integer))


def _described(x: Any) -> str:
    if issubclass(type(x), np.ndarray):
        return "an array of {} with shape {}".format(x.dtype, x.shape)
    return "a value of type {}".format(type(x).__name__)


def place_of(function: Callable[..., Any], key: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> ArgumentKey:
    """Location of an argument: its position, or its name among the keyword arguments.

    Raises:
        ValueError: there is no such argument in this call.
        TypeError: the key is neither a position nor a name.
    """
    if issubclass(type(key), bool) or not issubclass(type(key), (int, str)):
        raise TypeError("grad: argnums must be a position, a name or a tuple of these; not {!r}".format(key))
    if issubclass(type(key), int):
        if not -len(args) <= key < len(args):
            raise ValueError("grad: argnums={} names no positional argument; the call has {}".format(key, len(args)))
        position: int = key % len(args)
        return position
    if key in kwargs:
        name: str = key
        return name
    names = _parameters(function)
    if key in names and names.index(key) < len(args):
        return names.index(key)
    raise ValueError("grad: argnums={!r} names no argument of this call; the parameters are {}".format(
        key, ", ".join(names)))


def _parameters(function: Callable[..., Any]) -> List[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _name_of(function: Callable[..., Any], place: Any) -> str:
    names = _parameters(function)
    return repr(place if issubclass(type(place), str) else names[place] if place < len(names) else place)


def _separate(tape: Tape, function: Callable[..., Any], places: Sequence[ArgumentKey], values: List[Any],
              named: Dict[str, Any]) -> None:
    """Copy each differentiated array that shares memory with another argument; neither may then be written."""
    every: List[Tuple[ArgumentKey, Any]] = list(enumerate(values)) + list(named.items())
    for place in places:
        holder: Any = named if issubclass(type(place), str) else values
        x = holder[place]
        others = [y for other, one in every if other != place for y in arrays_in(one)
                  if issubclass(type(x), np.ndarray) and np.may_share_memory(x, y) and np.shares_memory(x, y)]
        if others:
            text = "argument {} shares memory with another one, and the function writes it".format(
                _name_of(function, place))
            holder[place] = x.copy(order="K")
            for one in [holder[place]] + others:
                tape.memory(one).shared = text
    check_separate([(str(place), one) for place, one in list(enumerate(values)) + list(named.items())],
                   [str(place) for place in places])


def without_tape(trace: Any) -> Any:
    """A traceback without the frames of the tape, as the program would show it without a gradient."""
    kept: List[Any] = []
    while trace is not None:
        if not trace.tb_frame.f_globals.get("__name__", "").startswith("pijit.core.tape"):
            kept.append(trace)
        trace = trace.tb_next
    rebuilt: Optional[types.TracebackType] = None
    for one in reversed(kept):
        rebuilt = types.TracebackType(rebuilt, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return rebuilt

