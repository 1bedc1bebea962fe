"""The kernels of an entry's graphs: compiled ones for segments, prepared ones for re-entries.

`core.pipeline` calls `kernel_of` for each candidate and `reentries_of` for each capture. A function's state and the
memory that functions of one code share hold the kernels, so no graph is compiled twice.
"""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING, Any, Dict, List, Union

from pijit.core import _hook
from pijit.core.asynchronous_exceptions import raise_asynchronous, signals_deferred
from pijit.core.capture.build.segment import Captured
from pijit.core.capture.driver import Candidate, Capture
from pijit.core.entries.launch_sites import Reentry, make_reentry
from pijit.core.errors import Break, first_line
from pijit.core.graph.ir import Graph
from pijit.core.graph.kernel_key import graph_key
from pijit.core.kernel.compile import ForkedError, Kernel, TooDeep, compile_graph
from pijit.core.kernel.compile_permission import TooEarly
from pijit.core.kernel.options import CompileOptions, flavour_of
from pijit.core.profiling.watcher import compiling

if TYPE_CHECKING:
    from pijit.core.function_state import State

KernelOrBreak = Union[Kernel, Break, None]
"""A kernel, or the Break that says why there is none; None if another capture has the same graph."""


def kernel_of(state: State, candidate: Candidate, later: bool = False) -> KernelOrBreak:
    """The kernel of a candidate: a known one, or a new one. With ``later`` it is compiled when first needed."""
    if candidate.error is not None:
        return candidate.error
    if not candidate.segment.number:
        return None
    graph = candidate.segment.graph
    if graph.name in state.config.interpret:
        return Break("PJ404", name=graph.name)
    text, objects = graph_key(graph)
    flavour = flavour_of(state.config)
    key = (state.config.backend, flavour, text)
    known = state.kernels.get(key) or (state.shared_kernels.get(key), ())
    if known[0] is not None and (later or known[0].kernel is not None):
        return state.slow.get(known[0], known[0])
    kernel = _new_kernel(state, graph, later, flavour)
    if isinstance(kernel, Kernel) and objects:
        state.kernels[key] = kernel, objects
    elif isinstance(kernel, Kernel):
        state.shared_kernels[key] = kernel
    return kernel


def _new_kernel(state: State, graph: Graph, later: bool, flavour: CompileOptions) -> Union[Kernel, Break]:
    """Compile a graph. An error of the kernel compiler becomes a Break, so the segment stays bytecode."""
    try:
        return compile_graph(graph, state.config.backend, later, state.config.cache, flavour)
    except TooDeep:
        return Break("PJ405")
    except ForkedError as error:
        return Break("PJ406", because=first_line(error))
    except TooEarly:
        raise
    except Exception as error:
        raise_asynchronous(error)
        state.fail("PJ902", error)
        return Break("PJ902", error=first_line(error))


def reentries_of(state: State, result: Capture, number: int, kept: List[Captured]) -> Dict[Any, Reentry]:
    """The re-entries into loops of the kept segments; their kernels are compiled when first needed."""
    made: Dict[Any, Reentry] = {}
    todo = kept
    while todo:
        for key in {exit.reentry for exit in todo.pop().graph.exits}.intersection(result.reentries):
            candidate = result.reentries[key]
            kernel = kernel_of(state, candidate, later=True) if (number, key) not in made else None
            if isinstance(kernel, Kernel):
                made[(number, key)] = make_reentry(result, candidate, kernel, number, _preparer(state, kernel))
                todo.append(candidate.segment)
    return {(number, key): made[(number, key)] for key in result.reentries if (number, key) in made}


def _preparer(state: State, kernel: Kernel) -> Any:
    """The function that makes a launcher's missing kernel. It must not own the state, which leads to the launcher."""
    weak = weakref.ref(state)

    def prepare() -> Any:
        start, alive = time.perf_counter(), weak()
        try:
            with signals_deferred(), _hook.disabled(), compiling(alive):
                return kernel.compile()
        except (TooDeep, ForkedError):
            return None
        except Exception as error:
            raise_asynchronous(error)
            if alive is not None:
                alive.fail("PJ902", error)
            return None
        finally:
            if alive is not None and alive.budget is not None:
                alive.budget.charge(time.perf_counter() - start)

    return prepare
