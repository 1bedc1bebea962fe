"""Probes: one call of a gradient function that says how such calls run, for `pijit.explain` and `pijit.dump`.

The gradient functions of `gradient_functions.py` get value and gradients from `gradients_of`. While a probe is active
in their thread, the tape runs the call, and the probe keeps it.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Any, Callable, Dict, Iterator, MutableMapping, Optional, Sequence, Union

from pijit.core.reasons import reason
from pijit.ms import kernel_gradients as kernels
from pijit.ms.cell import Cell
from pijit.ms.derivatives import Gradients
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor
from pijit.reporting.gradient_report import GradientReport


class Probe:
    """What one call has shown.

    Attributes:
        show: receives the texts of the kernels that are made; None: nobody asks for them.
        tape: the tape that has recorded the call, or None.
        how: how later calls run, as a sentence.
        source: the source of the joint function, or "".
    """

    def __init__(self, show: Optional[Callable[[Any], None]]) -> None:
        self.show = show
        self.tape: Any = None
        self.how = self.source = ""

    def report(self, function: Any) -> GradientReport:
        """The report on a function or a cell."""
        return GradientReport(function.construct if isinstance(function, Cell) else function, self.tape, self.how)


class _ThreadProbe(threading.local):
    probe: Optional[Probe] = None


_here = _ThreadProbe()


@contextlib.contextmanager
def probing(show: Optional[Callable[[Any], None]]) -> Iterator[Probe]:
    """Let the next call of this thread that needs gradients be a probe."""
    before, _here.probe = _here.probe, Probe(show)
    try:
        yield _here.probe
    finally:
        _here.probe = before


_aux_counts: MutableMapping[Any, int] = weakref.WeakKeyDictionary()
"""By function: the number of auxiliary results of its last call on a tape, if these were new tensors."""


def gradients_of(function: Any, args: Sequence[Any], kwargs: Dict[str, Any], positions: Sequence[int],
                 weights: Sequence[Parameter], has_aux: bool = False,
                 seed: Any = None) -> Union[Gradients, kernels.KernelGradients]:
    """The result and the gradients of a call, from a kernel or a tape. A tape needs a call of `sweep`.

    Args:
        function: a function or a cell.
        args, kwargs: its arguments.
        positions: positions of the differentiated arguments.
        weights: differentiated parameters.
        has_aux: the function returns a tuple, and the first result is differentiated.
        seed: the adjoint of the result, or None: ones.
    """
    probe, _here.probe = _here.probe, None
    aux = _aux_counts.get(function, 0) if has_aux and kernels.is_lasting(function) else 0
    if probe is None and (aux or not has_aux):
        kernel = kernels.kernel_gradients(function, args, kwargs, positions, weights, aux, seed)
        if kernel is not None:
            return kernel
    found = Gradients(function, args, kwargs, positions, weights)
    if has_aux and kernels.is_lasting(function):
        aux = _aux_counts[function] = _new_tensors_beside(found.result, args)
    if probe is not None:
        probe.tape = found.tape
        why = "" if aux or not has_aux else "an auxiliary result is no new tensor"
        probe.how, probe.source = (reason("PJ510", because=why), "") if why else kernels.probe(
            function, args, kwargs, positions, weights, aux, seed, probe.show)
    return found


def _new_tensors_beside(result: Any, args: Sequence[Any]) -> int:
    """The number of results beside the first one, if all of them are tensors with memory of their own; else 0.

    An argument or a result that is returned again has to stay the same object, which a kernel does not know.
    """
    are_new = type(result) is tuple and all(
        type(one) is Tensor and one._array.base is None and all(one is not other for other in args)
        for one in result) and len({id(one._array) for one in result}) == len(result)
    return len(result) - 1 if are_new else 0
