"""Differential execution: runs a function with and without pijit on equal arguments, and raises on any difference.

Each side has a *world*: its own copies of the globals and closure cells that the function uses, which persist from call
to call. Each call gets copies of its arguments. Views stay views, and an object that a global holds stays that object.
"""

from __future__ import annotations

import io
import logging
import random
import sys
import types
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, Union

import numpy as np

from pijit.compare import TOLERANCES, Difference, differences
from pijit.copies import Copier
from pijit.core.named_tuples import NamedTuple
from pijit.plain_functions import plain_twin, unbound

logger = logging.getLogger("pijit")

Effects = Sequence[Tuple[Any, ...]]
CallArguments = Tuple[Tuple[Any, ...], Dict[str, Any]]
GivenCall = Union[CallArguments, Callable[[], CallArguments]]


class DifferenceError(AssertionError):
    """A function behaved differently with pijit. The attribute `differences` lists the differences."""

    def __init__(self, message: str, found: Sequence[Difference]) -> None:
        super().__init__("\n  ".join([message] + [str(difference) for difference in found]))
        self.differences = tuple(found)


class Missing:
    """Marks a global that does not exist, or an empty cell."""


class Outcome(NamedTuple):
    """The observed result and side effects of a call."""

    result: Any
    error: Optional[BaseException]
    trace: Tuple[Tuple[str, str, int], ...]  # function, file and line of each traceback entry
    effects: Tuple[Tuple[Any, ...], ...]  # prints and warnings, in order
    arguments: CallArguments
    state: Dict[str, Any]
    generators: Tuple[Any, ...]  # the state of the global random number generators


class World:
    """One side's globals and closure cells.

    Args:
        function: the function that is called.
        calls: its calls; globals used by calls that are functions belong to the world, too.
    """

    def __init__(self, function: types.FunctionType, calls: Sequence[GivenCall] = ()) -> None:
        self._function = function
        seen: Set[int] = set()
        names = [_names_used(user, seen) for user in (function,) + tuple(calls)
                 if isinstance(user, types.FunctionType)]
        self._names = sorted(set().union(*names))
        self._copier = Copier()
        self._state = {name: self._own(value) for name, value in self._read().items()}

    def _own(self, value: Any) -> Any:
        try:
            return self._copier.copy(value)
        except Exception:  # a file, a lock: both sides share the original
            return value

    def _read(self) -> Dict[str, Any]:
        """The current globals and cells, by name; a cell's name is "cell x"."""
        values = {name: self._function.__globals__.get(name, Missing) for name in self._names}
        for name, cell in self._cells():
            try:
                values["cell " + name] = cell.cell_contents
            except ValueError:
                values["cell " + name] = Missing
        return values

    def _cells(self) -> Any:
        return zip(self._function.__code__.co_freevars, self._function.__closure__ or ())

    def _write(self, state: Dict[str, Any]) -> None:
        for name in self._names:
            if state[name] is not Missing:
                self._function.__globals__[name] = state[name]
            else:
                self._function.__globals__.pop(name, None)
        for name, cell in self._cells():
            if state["cell " + name] is not Missing:
                cell.cell_contents = state["cell " + name]
            else:
                _clear(cell)

    def call(self, callee: Callable[..., Any], call: GivenCall) -> Outcome:
        """Call with copies of the arguments while the globals and cells of this world are installed."""
        before = self._read()
        self._write(self._state)
        try:
            args, kwargs = call() if callable(call) else Copier(self._copier).copy(call)
            outcome = observe(callee, args, kwargs)
            self._state = self._read()
        finally:
            self._write(before)
        return outcome._replace(state=dict(self._state))


def _clear(cell: Any) -> None:
    if hasattr(cell, "cell_contents"):
        del cell.cell_contents


def _names_used(function: types.FunctionType, seen: Set[int]) -> Set[str]:
    """The globals that a function may use, including those of functions that it reaches by name in its module."""
    if id(function) in seen:
        return set()
    seen.add(id(function))
    names: Set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    for name in tuple(names):
        value = function.__globals__.get(name)
        if isinstance(value, types.FunctionType) and value.__globals__ is function.__globals__:
            names |= _names_used(value, seen)
    return names - {"__builtins__"}


class _Stream(io.TextIOBase):
    """Records the text that is written, and optionally forwards it."""

    def __init__(self, name: str, effects: List[Tuple[Any, ...]], wrapped: Any) -> None:
        self._name, self._effects, self._wrapped = name, effects, wrapped

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._wrapped is not None:
            self._wrapped.write(text)
        if self._effects and self._effects[-1][0] == self._name:
            text = self._effects.pop()[1] + text
        self._effects.append((self._name, text))
        return len(text)


def observe(callee: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any],
            visible: bool = False) -> Outcome:
    """Call a function and record its effects, except those on globals and cells.

    Args:
        callee: the function.
        args, kwargs: its arguments, which it may change.
        visible: forward prints and warnings, and leave the warning filters unchanged.
    """
    effects: List[Tuple[Any, ...]] = []
    result = error = None
    stdout, stderr = sys.stdout, sys.stderr
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note(message: Any, category: type, filename: str, lineno: int,
                 file: Any = None, line: Any = None) -> None:
            if category.__module__.split(".")[0] != "pijit":
                effects.append(("warning", category.__name__, str(message), filename, lineno))
            if visible:
                show(message, category, filename, lineno, file, line)

        if not visible:
            warnings.simplefilter("always")
        warnings.showwarning = note
        sys.stdout = _Stream("stdout", effects, stdout if visible else None)
        sys.stderr = _Stream("stderr", effects, stderr if visible else None)
        try:
            result = callee(*args, **kwargs)
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            error = raised
        finally:
            sys.stdout, sys.stderr = stdout, stderr
    generators = (random.getstate(), np.random.get_state())
    return Outcome(result, error, _trace(error), tuple(effects), (args, kwargs), {}, generators)


def _trace(error: Optional[BaseException]) -> Tuple[Tuple[str, str, int], ...]:
    """The traceback below this file's own frame."""
    entries = []
    entry = error.__traceback__.tb_next if error is not None and error.__traceback__ is not None else None
    while entry is not None:
        code = entry.tb_frame.f_code
        entries.append((code.co_name, code.co_filename, entry.tb_lineno))
        entry = entry.tb_next
    return tuple(entries)


def outcome_differences(expected: Outcome, got: Outcome, tolerance: float = 0.0) -> List[Difference]:
    """All differences between two calls; for the tolerance see `differences`."""
    found = []
    if (expected.error is None) != (got.error is None):
        found.append(Difference("exception", "call", _ending(expected), _ending(got)))
    elif expected.error is not None and type(expected.error) is not type(got.error):
        found.append(Difference("exception", "call", _ending(expected), _ending(got)))
    elif expected.trace != got.trace:
        found.append(Difference("traceback", "call", str(expected.trace), str(got.trace)))
    found += _effect_differences(expected.effects, got.effects)
    roots = [("result", "result"), ("error", "error")] if not found or found[0].kind != "exception" else []
    named = [[(where, getattr(outcome, field)) for where, field in roots]
             + [("args", outcome.arguments[0]), ("kwargs", outcome.arguments[1]), ("globals", outcome.state)]
             for outcome in (expected, got)]
    found += differences(named[0], named[1], tolerance)
    if differences([("random", expected.generators)], [("random", got.generators)]):
        found.append(Difference("random", "number generators", "the state after the call", "another state"))
    return found


def _ending(outcome: Outcome) -> str:
    error = outcome.error
    return "a result" if error is None else "{}: {}".format(type(error).__name__, error)


def _effect_differences(expected: Effects, got: Effects) -> List[Difference]:
    found = []
    for kind in ("stdout", "stderr", "warning"):
        one, other = _of_kind(kind, expected), _of_kind(kind, got)
        if one != other:
            found.append(Difference(kind, "call", one, other))
    if not found and expected != got:
        found.append(Difference("order", "effects", repr(expected), repr(got)))
    return found


def _of_kind(kind: str, effects: Effects) -> str:
    """The warnings, or the text of a stream; a stream's writes are joined, as other effects may split them."""
    chosen = [effect[1:] for effect in effects if effect[0] == kind]
    return repr(chosen if kind == "warning" else "".join(effect[0] for effect in chosen))


def compare_calls(function: types.FunctionType, jitted: Callable[..., Any],
                  calls: Sequence[GivenCall], tolerance: float = 0.0) -> List[Outcome]:
    """Call both functions with each of `calls` in turn, and compare all effects after each call.

    Args:
        function: the function; both sides use its globals and closure.
        jitted: the function that must behave like it.
        calls: (args, kwargs) pairs; or callables that return one, for arguments that cannot be copied or that
            globals hold. A callable may also change globals before the call.
        tolerance: see `differences`.

    Returns:
        The outcomes of the calls without pijit.

    Raises:
        DifferenceError: the two sides differ.
    """
    plain = plain_twin(function)
    worlds = World(function, calls), World(function, calls)
    outcomes = []
    for number, call in enumerate(calls, 1):
        start = random.getstate(), np.random.get_state()
        expected = worlds[0].call(plain, call)
        random.setstate(start[0])
        np.random.set_state(start[1])
        got = worlds[1].call(jitted, call)
        found = outcome_differences(expected, got, tolerance)
        if found:
            message = "{} behaves differently with pijit in call {} of {}:".format(
                function.__qualname__, number, len(calls))
            raise DifferenceError(message, found) from got.error
        outcomes.append(expected)
    return outcomes


def checked_call(function: types.FunctionType, plain: Callable[..., Any], jitted: Callable[..., Any],
                 args: Tuple[Any, ...], kwargs: Dict[str, Any], tolerance: float = 0.0) -> Any:
    """Call `plain` on copies, then `jitted` on the arguments, and compare; runs at each call under `check`.

    For the tolerance see `differences`.

    Arguments that cannot be copied are not checked: the call is made once, with pijit. The same applies to arguments
    whose copies already differ before the call, as some libraries' objects do. The first such call of a function is
    logged.

    Returns:
        The result of `jitted`.

    Raises:
        DifferenceError: the two calls differ; otherwise any exception of `jitted`.
    """
    try:
        world = World(function)
        copied = Copier(world._copier).copy((args, kwargs))
        unlike = differences([("call", (args, kwargs)), ("globals", world._read())],
                             [("call", copied), ("globals", world._state)])
    except Exception as error:
        unlike = [Difference("exception", "copy", "a copy", "%s: %s" % (type(error).__name__, error))]
    if unlike:
        _tell_unchecked(function, unlike[0])
        return jitted(*args, **kwargs)
    start = random.getstate(), np.random.get_state()
    expected = world.call(plain, lambda: copied)
    random.setstate(start[0])
    np.random.set_state(start[1])
    got = observe(jitted, args, kwargs, visible=True)._replace(state=world._read())
    found = outcome_differences(expected, got, tolerance)
    if found:
        message = "{} behaves differently with pijit:".format(function.__qualname__)
        raise DifferenceError(message, found) from got.error
    if got.error is not None:
        raise got.error
    return got.result


_unchecked: Set[str] = set()


def _tell_unchecked(function: types.FunctionType, why: Difference) -> None:
    """Log that calls with such arguments are not checked, once per function."""
    if function.__qualname__ not in _unchecked:
        _unchecked.add(function.__qualname__)
        logger.warning("a call of %s is not checked, because its arguments cannot be copied exactly: %s",
                       function.__qualname__, why)


def check(f: Callable[..., Any], *args: Any, calls: int = 3, config: Optional[Dict[str, Any]] = None,
          others: Sequence[Tuple[Any, ...]] = (), **kwargs: Any) -> Any:
    """Compare a function with its jitted version: results, arguments, globals, output, warnings, exceptions.

    `f` itself is neither changed nor jitted; a copy of it is. The first calls use `args` (a miss, then hits). With
    `others`, two calls with each of them follow, and one more with `args`.

    Args:
        f: a function or method, jitted or not.
        args, kwargs: the arguments; they are not changed, because calls get copies.
        calls: the number of initial calls with `args`.
        config: a `jit_config`. With `auto_mixed_precision` floating-point numbers are compared with a tolerance.
        others: tuples of other positional arguments, for example of other types; they are called with `kwargs`, too.

    Returns:
        The jitted function, to inspect what was captured; a copy of `f` if pijit is off.

    Raises:
        DifferenceError: there is a difference; the message lists all of them.
        TypeError: `f` is not a Python function.

    Example:
        >>> check(lambda x: x * 2.0, np.ones(3)).cache_info().hits      # doctest: +SKIP
        3
    """
    from pijit.decorator import jit

    function, receiver = unbound(f)
    function = getattr(function, "py_func", function)
    if not isinstance(function, types.FunctionType):
        raise TypeError("check: f must be a Python function or a jitted one, not {!r}".format(f))
    jitted = jit(plain_twin(function), jit_config=config)
    sequence = [args] * calls + [tuple(other) for other in others for _ in range(2)] + [args] * bool(others)
    compare_calls(function, jitted, [(receiver + one, kwargs) for one in sequence],
                  TOLERANCES[(config or {}).get("auto_mixed_precision")])
    return jitted
