"""Gradients of plain NumPy functions: `grad`, `value_and_grad`, `vjp`, and functions that control them.

`pijit` exports them. They must not change the function that they differentiate.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from pijit.core.pythons import why_no_gradients, why_not_python
from pijit.core.reasons import reason
from pijit.core.tape import differentiate
from pijit.core.tape.errors import GradientError
from pijit.core.tape.host_calls import HostCallError, replayed
from pijit.core.tape.records import record_result
from pijit.core.tape.state import STATE, no_grad, reached
from pijit.core.tape.tape import NUMBERS
from pijit.reporting.gradient_report import GradientReport, files_of

if TYPE_CHECKING or why_not_python() is None:
    from pijit.core._hook import GradientFunction
else:
    GradientFunction = object  # there is no C part; `grad` raises

F = TypeVar("F", bound=Callable[..., Any])
Argnums = Union[int, str, Sequence[Union[int, str]]]

__all__ = ["GradFunction", "checkpoint", "custom_vjp", "grad", "no_grad", "nondifferentiable", "stop_gradient",
           "value_and_grad", "vjp"]


def grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, strict: bool = False,
         tape_limit: Optional[int] = None) -> "GradFunction":
    """The gradient of a function that returns one real number.

    Args:
        f: a Python function, method, jitted function or callable object over NumPy arrays and numbers.
        argnums: the differentiated arguments: a position, a name, or a tuple of these.
        has_aux: `f` returns (value, aux); the gradient function returns (gradient, aux).
        strict: raise if the result does not depend on an argument, instead of warning.
        tape_limit: maximum bytes of arrays kept for the backward sweep; by default a quarter of the free memory.

    Returns:
        A function of the same arguments. Its result has the structure of the argument: an array of the same shape and
        dtype, a number, a list, tuple or dict of these; None for leaves that are not floats. A tuple of these if
        `argnums` is a tuple.

    Raises:
        TypeError: `f` is not callable; in calls: an argument contains nothing differentiable.
        ValueError: `argnums` names no argument, or `tape_limit` is not positive.
        GradientError: in calls; its `reason_id` is one of the PJ5xx reasons.

    Example:
        >>> grad(lambda x: (x * x).sum())(np.array([1.0, 2.0]))
        array([2., 4.])
    """
    return GradFunction(f, argnums, has_aux, strict, with_value=False, tape_limit=tape_limit)


def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False,
                   strict: bool = False, tape_limit: Optional[int] = None) -> "GradFunction":
    """The value and the gradient of a function; arguments and errors are those of `grad`.

    Returns:
        A function that returns (value, gradient), or ((value, aux), gradient) with `has_aux`. The value has the bits
        and the type that `f` returns.

    Example:
        >>> value_and_grad(lambda x: x * x)(3.0)
        (9.0, 6.0)
    """
    return GradFunction(f, argnums, has_aux, strict, with_value=True, tape_limit=tape_limit)


class GradFunction(GradientFunction):
    """The result of `grad` and `value_and_grad`. Called like the function; `__wrapped__` is the function."""

    tape_aware = True

    def __init__(self, f: Callable[..., Any], argnums: Argnums, has_aux: bool, strict: bool, with_value: bool,
                 tape_limit: Optional[int] = None) -> None:
        if not callable(f):
            raise TypeError("grad: f must be callable; not {!r}".format(f))
        if why_no_gradients() is not None:
            raise GradientError(reason("PJ501"), "PJ501")
        self._single = isinstance(argnums, (int, str))
        if not self._single and not isinstance(argnums, (tuple, list)):
            raise TypeError("grad: argnums must be a position, a name or a tuple of these; not {!r}".format(argnums))
        self._keys: List[Any] = [argnums] if self._single else list(argnums)  # type: ignore[arg-type]
        for key in self._keys:
            if isinstance(key, bool) or not isinstance(key, (int, str)):
                raise TypeError("grad: argnums must be a position, a name or a tuple of these; not {!r}".format(
                    argnums))
        if not self._keys:
            raise ValueError("grad: argnums must name at least one argument")
        _check_limit(tape_limit)
        self._has_aux, self._strict, self._with_value, self._tape_limit = has_aux, strict, with_value, tape_limit
        self._kernels: Any = None
        self._compiles = why_not_python() is None
        functools.update_wrapper(self, f, updated=())

    def _call(self, args: Tuple[Any, ...], kwargs: Dict[str, Any], raised: Any) -> Any:
        """The gradient; with the value or the auxiliary result if requested. For calls that `usual` does not answer."""
        kernels = self._kernels or self._new_kernels()
        if raised is not None and isinstance(raised.error, Exception):
            from pijit.core.asynchronous_exceptions import raise_asynchronous

            raise_asynchronous(raised.error, was_caught_in_c=True)
        found = kernels.call(args, kwargs, raised=raised) if kernels and not STATE.tapes else None
        if found is not None and len(found) > 1:
            value, gradients = found[0], found[1]
            value, aux = value if self._has_aux else (value, None)
        else:
            taped = self._run(args, kwargs, *(found or ()))
            value, gradients, aux = taped.value, taped.gradients, taped.aux
        gradients = gradients[0] if self._single else tuple(gradients)
        if self._with_value:
            return ((value, aux) if self._has_aux else value), gradients
        return (gradients, aux) if self._has_aux else gradients

    def _new_kernels(self) -> Any:
        """What runs calls that need no tape, made for the first call; None if all calls use the tape."""
        if not self._compiles:
            return None
        from pijit.gradient_kernels import GradientKernels
        from pijit.joint.entry import ResultForm

        self._kernels = GradientKernels(self.__wrapped__, self._keys, self._tape_limit,  # type: ignore[attr-defined]
                                        ResultForm(self._single, self._with_value, self._has_aux), self)
        return self._kernels

    def _run(self, args: Tuple[Any, ...], kwargs: Dict[str, Any], outcomes: Sequence[HostCallError] = ()) -> Any:
        """Run the call on the tape; ``outcomes`` are those of host calls that are not repeated."""
        with replayed(outcomes):
            return differentiate.value_and_gradients(
                self.__wrapped__, self._keys, args, kwargs, self._has_aux, self._strict,  # type: ignore
                self._tape_limit)

    def __get__(self, instance: Any, owner: Optional[type] = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return "<gradient of {}>".format(getattr(self, "__qualname__", repr(self.__wrapped__)))  # type: ignore

    def gradient_report(self, *args: Any, **kwargs: Any) -> GradientReport:
        """Run once on the tape, and report the recorded lines, the operations at which derivatives are cut, and whether
        later calls use a kernel."""
        if not args and not kwargs:
            raise TypeError("explain: a gradient is explained for one call; pass its arguments as well")
        return self._report(self._kernels or self._new_kernels(), args, kwargs)[0]

    def gradient_files(self, *args: Any, **kwargs: Any) -> Dict[str, str]:
        """Run as `gradient_report` does, with new kernels, and return what they were made from: texts by file name."""
        from pijit.gradient_kernels import GradientKernels
        from pijit.joint.entry import ResultForm
        from pijit.joint.texts import KernelTexts

        shown: List[KernelTexts] = []
        kernels = GradientKernels(self.__wrapped__, self._keys, self._tape_limit,  # type: ignore[attr-defined]
                                  ResultForm(has_aux=self._has_aux), show=shown.append) if self._compiles else None
        report, source = self._report(kernels, args, kwargs)
        return files_of(report, source, shown)

    def _report(self, kernels: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[GradientReport, str]:
        """The report on one call that these kernels try, and the source of the joint function, or ""."""
        outcomes, how, source = kernels.probe(args, kwargs) if kernels and not STATE.tapes else ((), "", "")
        tape = self._run(args, kwargs, outcomes).tape
        return GradientReport(self.__wrapped__, tape, how), source  # type: ignore[attr-defined]


def _check_limit(tape_limit: Any) -> None:
    if tape_limit is None:
        return
    if isinstance(tape_limit, bool) or not isinstance(tape_limit, int):
        raise TypeError("grad: tape_limit must be a number of bytes or None; not {!r}".format(tape_limit))
    if tape_limit < 1:
        raise ValueError("grad: tape_limit must be positive; not {!r}".format(tape_limit))


def vjp(f: Callable[..., Any], *args: Any, keep: bool = False) -> Tuple[Any, Callable[[Any], Tuple[Any, ...]]]:
    """The result of a function, of any structure, and a function that pulls a seed back to the arguments.

    Args:
        f: the function.
        *args: its arguments; all are differentiated, and must hold floats.
        keep: allow several calls of `pull`.

    Returns:
        (value, pull). ``pull(seed)`` takes a seed of the value's structure and returns a tuple of gradients.

    Raises:
        RuntimeError: `pull` is called again without `keep`.
        ValueError: the seed's shape differs from the value's.

    Example:
        >>> value, pull = vjp(np.sin, np.array([0.0]))
        >>> pull(np.array([2.0]))
        (array([2.]),)
    """
    if not callable(f):
        raise TypeError("vjp: f must be callable; not {!r}".format(f))
    if why_no_gradients() is not None:
        raise GradientError(reason("PJ501"), "PJ501")
    recorded = differentiate.Recorded(f, list(range(len(args))), args, {})
    calls: List[None] = []

    def pull(seed: Any) -> Tuple[Any, ...]:
        if calls and not keep:
            raise RuntimeError("vjp: pull was called before; use vjp(..., keep=True) to call it more than once")
        _check_seed(recorded.result, seed)
        calls.append(None)
        return tuple(recorded.backward(recorded.result, seed, keep, False))
    return recorded.result, pull


def _check_seed(value: Any, seed: Any) -> None:
    if isinstance(value, (list, tuple)):
        if not isinstance(seed, (list, tuple)) or len(seed) != len(value):
            raise ValueError("vjp: seed must be a sequence of {} items, as the value is".format(len(value)))
        for one, part in zip(value, seed):
            _check_seed(one, part)
    elif np.shape(seed) != np.shape(value):
        raise ValueError("vjp: seed must have the value's shape {}; not {}".format(np.shape(value), np.shape(seed)))


def stop_gradient(x: Any) -> Any:
    """A copy of a number or array, or of containers of these, that is a constant for gradients.

    Example:
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        3.0
    """
    if isinstance(x, np.ndarray):
        return np.array(x)
    if isinstance(x, np.generic):
        return x.copy()
    if isinstance(x, (float, complex)):
        return x * 1.0
    if isinstance(x, dict):
        return {key: stop_gradient(one) for key, one in x.items()}
    if type(x) in (list, tuple):
        return type(x)(stop_gradient(one) for one in x)
    return x


stop_gradient.tape_aware = True  # type: ignore[attr-defined]


def nondifferentiable(f: F) -> F:
    """Mark a function whose calls do not depend on active values in a differentiable way, and do not write them.

    Its results are constants for gradients.

    Example:
        >>> @nondifferentiable
        ... def steps(x):
        ...     return int(abs(x).max() * 10)
    """
    @functools.wraps(f)
    def constant(*args: Any, **kwargs: Any) -> Any:
        with no_grad():
            r = f(*args, **kwargs)
        return stop_gradient(r) if reached(r) else r
    constant.tape_aware = True  # type: ignore[attr-defined]
    return constant  # type: ignore[return-value]


def checkpoint(f: F) -> F:
    """Mark a function whose intermediate values may be recomputed in the backward sweep, to save memory.

    Currently all intermediate values are kept, so the mark has no effect.

    Example:
        >>> step = checkpoint(lambda x: np.tanh(x))
    """
    if not callable(f):
        raise TypeError("checkpoint: f must be callable; not {!r}".format(f))
    return f


class custom_vjp:
    """A function with a user-defined derivative, as in JAX.

    Args:
        f: the function.

    Example:
        >>> @custom_vjp
        ... def clipped(x):
        ...     return np.clip(x, 0.0, 1.0)
        >>> clipped.defvjp(lambda x: (clipped(x), None), lambda kept, g: (g,))
    """

    tape_aware = True

    def __init__(self, f: Callable[..., Any]) -> None:
        if not callable(f):
            raise TypeError("custom_vjp: f must be callable; not {!r}".format(f))
        self._forward: Optional[Callable[..., Any]] = None
        self._backward: Optional[Callable[..., Any]] = None
        functools.update_wrapper(self, f, updated=())

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Set the derivative.

        Args:
            forward: takes the arguments, returns (result, kept).
            backward: takes (kept, g), returns a tuple with a gradient per argument; None for no contribution.
        """
        self._forward, self._backward = forward, backward

    def __call__(self, *args: Any) -> Any:
        """The function's result; recorded with its own derivative."""
        tapes = [tape for tape in STATE.tapes if tape.reaches(args)]
        if not tapes:
            return self.__wrapped__(*args)  # type: ignore[attr-defined]
        if self._forward is None or self._backward is None:
            raise TypeError("custom_vjp: {} has no derivative yet; call defvjp".format(self.__name__))  # type: ignore
        with no_grad():
            result, kept = self._forward(*args)
        if reached(result):
            result = stop_gradient(result)
        for tape in tapes:
            record_result(tape, result, self._give(tape, args, kept))
        return result

    def _give(self, tape: Any, args: Tuple[Any, ...], kept: Any) -> Any:
        backward: Any = self._backward

        def give(run: Any, g: Any, r: Any) -> None:
            parts = run(backward, kept, g)
            if not isinstance(parts, tuple) or len(parts) != len(args):
                raise TypeError("custom_vjp: backward must return a tuple of {} items; not {!r}".format(
                    len(args), parts))
            for one, part in zip(args, parts):
                if isinstance(one, (np.ndarray,) + NUMBERS):
                    tape.give(run, one, part)
        return give
