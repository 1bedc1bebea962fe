"""`JitConfig`: the type of the options that `jit` takes as `jit_config`, for type checkers and editors.

It is a dict with known keys; other dicts are accepted as well. The texts are those of the table in `pijit.options`.
`pijit.decorator` names it in annotations. It must list each option of that table.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Collection, Optional, Union

if sys.version_info >= (3, 8):
    from typing import Literal, TypedDict
else:
    class TypedDict(dict):
        """A dict, because CPython 3.7 has no typed ones."""

        def __init_subclass__(cls, total: bool = True) -> None:
            """All keys are accepted."""


class JitConfig(TypedDict, total=False):
    """Options of `jit`: `jit_config=JitConfig(cache_limit=4)`. All are optional.

    Example:
        >>> JitConfig(cache_limit=4, fullgraph=True)
        {'cache_limit': 4, 'fullgraph': True}
    """

    print_after_all: bool
    """Print, per capture: bytecode, blocks, graph, use and definition, segments and breaks, graph passes, kernel
    plan, kernel source, linked bytecode, guards, times."""

    print_bytecode: bool
    """Print the bytecode before capture and after linking."""

    print_cfg: bool
    """Print the basic blocks."""

    print_graph: bool
    """Print the captured graphs and how the function was split."""

    print_guards: bool
    """Print the guards."""

    print_source: bool
    """Print the source that becomes machine code."""

    log_graph_break: bool
    """Log a line per break, with its reason and the line of your function."""

    log_recompile: bool
    """Log a line per recompile: the guard that failed, what it expected and found, and the line that relies on
    it."""

    loop_unrolling: bool
    """Capture each iteration of short loops over tuples and lists by itself."""

    max_loop_unrolling: int
    """The number of iterations up to which such a loop is unrolled."""

    max_inline_depth: int
    """How deep calls of Python functions are inlined; 0: not at all. Functions of `pijit.ms` do not count, up to
    three times the depth."""

    allowed_inline_modules: Optional[Collection[Union[str, ModuleType]]]
    """Inline only functions of these modules and their submodules; None: all but NumPy's and other compiled
    libraries'."""

    enable_dynamic_shape: Optional[bool]
    """None and True: lengths are symbols from the first call on, so calls in other shapes share its entry; False:
    an entry per shape of each array that the function relies on."""

    specialize_scalar: Optional[bool]
    """None: scalars are guarded by type; by value only where the value steers the capture, until a second value
    comes. True: always by value. False: never."""

    cache_limit: int
    """The number of entries a function may have; at the limit they keep serving."""

    fullgraph: bool
    """Make a break an error that shows the line of your function."""

    jit_syntax_level: Optional[Literal["STRICT", "LAX"]]
    """Under the mode "PSJit" or in GRAPH_MODE, what is not one graph is an error ("STRICT") or falls back to
    Python ("LAX"); None: as `set_context` says, which starts with "LAX"."""

    backend: Literal["numba", "python"]
    """What runs captured segments: machine code, or ("python") the segment as a Python function, for finding
    faults."""

    interpret: Collection[str]
    """Kernels, by the names that dumps show (`f_3`), in whose place bytecode runs: to find the one that gives a
    wrong answer."""

    check: bool
    """Run every call also without pijit, on copies, and raise if anything differs. Linked code is verified by the
    library `bytecode` before it runs."""

    fastmath: bool
    """Rearrange floating-point arithmetic: results may differ from NumPy's in the last bits, and nothing is said
    of overflow, division by zero and invalid values."""

    parallel: Union[bool, Literal["auto"]]
    """Share loops over arrays among threads; "auto": where they are large."""

    nogil: bool
    """Release the GIL while kernels run that read and change no Python objects but arrays; no other thread may
    write these meanwhile."""

    cache: bool
    """Keep kernels on disk, for later processes; see PIJIT_CACHE_DIR."""

    perf_statistics: Union[bool, Literal["auto"]]
    """Measure compiled code against bytecode in some of the first calls and keep the faster. "auto": only if a call
    takes less than 1 ms; 50 ms if loops touch objects in each iteration; 200 ms without compiled loops; or if kernels
    are a small part of it. Loops with breaks are measured while a long call runs."""

    auto_mixed_precision: Optional[Literal["float32"]]
    """"float32": compute functions such as `exp` and products of matrices of float64 arrays in float32, where that
    saves more than the conversions cost. Results stay float64, with errors of float32."""

    force_breaks: Optional[Literal["every"]]
    """For tests: break at each instruction where a break is possible."""
