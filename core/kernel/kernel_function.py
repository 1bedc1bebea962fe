"""Kernel functions: functions that are one kernel, called without bytecode.

`pijit/joint/parts.py` makes them. Their kernels give calls up at side exits (`abandons` of `CaptureRequest`). The
caller has another way to run such a call. So there is no linked code, and exits pass no values.
"""

from __future__ import annotations

from typing import AbstractSet, Any, Dict, Optional, Tuple

from pijit.core._hook import KernelFunction
from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.graph.ir import Graph
from pijit.core.kernel.compile import ForkedError, Kernel, TooDeep, compile_graph
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.kernel_record import KernelRecord, is_restorable, launcher_of, restored
from pijit.core.kernel.options import CompileOptions
from pijit.core.named_tuples import NamedTuple


class KernelLeft(Exception):
    """A kernel has given a call up."""


class OtherArguments(Exception):
    """A kernel is not for the arguments of a call."""


class CompiledFunction(NamedTuple):
    """A kernel function, its kernel, and its record for other processes, or None."""

    function: KernelFunction
    kernel: Kernel
    record: Optional[KernelRecord]


def kernel_function(graph: Graph, program: Any, exits: AbstractSet[int],
                    namespace: Tuple[Dict[str, Any], Dict[str, Any]], backend: str, on_disk: bool,
                    flavour: CompileOptions) -> Optional[CompiledFunction]:
    """The kernel function of a graph, or None if it cannot be compiled, or does not return.

    Args:
        graph: the graph of a whole function.
        program: its guards, which fetch its inputs.
        exits: the exits of the graph that leave the function's result.
        namespace: the globals and the builtins of the function.
        backend, on_disk, flavour: as for `compile_graph`.

    A call of it raises `KernelLeft` if the kernel gives it up, and `OtherArguments` if a guard fails.
    """
    try:
        kernel = compile_graph(graph, backend, False, on_disk, flavour)
    except (TooDeep, ForkedError, CompileError) as error:
        raise_asynchronous(error)
        return None
    record = record_of(kernel, program, exits)
    if not record.returns:
        return None
    function = KernelFunction(program, launcher_of(record, kernel.kernel, kernel.owner), *namespace, KernelLeft,
                              OtherArguments)
    return CompiledFunction(function, kernel, record if is_restorable(record) else None)


def restored_function(record: KernelRecord,
                      namespace: Tuple[Dict[str, Any], Dict[str, Any]]) -> Optional[KernelFunction]:
    """The kernel function of a record, or None if its machine code, or what it refers to, is not here."""
    return restored(record, namespace, KernelLeft, OtherArguments)


def _returning(kernel: Kernel, exits: AbstractSet[int]) -> Tuple[int, ...]:
    """The kernel's exits that leave the function's result, as their last value; the others are constants."""
    return tuple(id for id, (number, codes) in enumerate(kernel.exits)
                 if number in exits and all(code[0] == "const" for code in codes[:-1]))


def record_of(kernel: Kernel, program: Any, exits: AbstractSet[int]) -> KernelRecord:
    """The record of a kernel whose graph leaves the function's result at these exits.

    Its key is "" if the machine code is not kept on disk.
    """
    key, symbols = kernel.kept() or ("", ())
    return KernelRecord(key, symbols, tuple(program.guards), tuple(program.fetch), kernel.inputs, kernel.words,
                        kernel.output_word, tuple(codes for _, codes in kernel.exits), _returning(kernel, exits),
                        kernel.name)
