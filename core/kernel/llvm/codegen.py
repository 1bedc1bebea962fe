"""Code generation: kernel source to machine code in this process.

lower.py writes LLVM IR from the source. numba's code generator optimises it into an object file, and an MCJIT engine of
its own links that for each kernel. Called by kernel/compile.py; code from the disk cache passes through `link` alone.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, Dict, Tuple, cast

import llvmlite.binding as llvm

from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.kernel import fork_safety, perf_map
from pijit.core.kernel.compile_permission import TooEarly, ask_permission
from pijit.core.kernel.disk_cache import SUPPORTED, DiskCache, find, kernel_key, logger
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.llvm.compiler_thread import uninterrupted
from pijit.core.kernel.llvm.surviving_passes import AbortedPasses, SurvivingPasses, can_survive
from pijit.core.kernel.symbols import Meaning, lasts

SYMBOL = "pijit_kernel"
SCALAR_LOOPS = "pijit_scalar_loops"
"""The constant that object files of kernels without vectorised loops define, so that files on disk tell it, too."""


class MachineCode:
    """The machine code of a kernel in this process: what keeps it alive, and how it was compiled.

    Attributes:
        engine: the MCJIT engine that has linked it.
        has_scalar_loops: its loops are not vectorised, because LLVM failed.
    """

    __slots__ = ("engine", "has_scalar_loops")

    def __init__(self, engine: Any, has_scalar_loops: bool) -> None:
        self.engine = engine
        self.has_scalar_loops = has_scalar_loops


def compiled(source: str, names: Dict[str, Any], symbols: Dict[str, Meaning], on_disk: bool,
             fast: bool, label: str = "kernel") -> Tuple[int, MachineCode]:
    """Machine code for the source of a function ``kernel``: (address, owner of the code).

    Arguments:
        source, names: the text, and the intrinsics that it calls.
        symbols: the meanings of the names that differ between kernels.
        on_disk: load the code from the user's cache folder if it is there; otherwise compile and save it there.
        fast: floating-point arithmetic may be rearranged.
        label: what the profiler perf calls it.
    Raises: CompileError; ForkedError where this process cannot compile.
    """
    def made() -> Tuple[int, MachineCode]:
        return link(_kept(source, names, symbols, fast) if on_disk and SUPPORTED
                    else object_code(source, names, fast), label)

    fork_safety.ensure_usable()
    try:
        return uninterrupted(made)  # type: ignore[no-any-return]
    except (CompileError, TooEarly):
        raise
    except Exception as error:
        raise_asynchronous(error)
        raise CompileError("%s: %s" % (type(error).__name__, error)) from error


def _kept(source: str, names: Dict[str, Any], symbols: Dict[str, Meaning], fast: bool) -> bytes:
    """The object file of a source, from the disk cache if it is there."""
    passing = [symbol for symbol in symbols.values() if not lasts(symbol)]
    if passing:
        logger.info("a kernel is not kept: %s means something in this process alone", passing[0][0])
        return object_code(source, names, fast)
    key = kernel_key(source, symbols, fast)
    code = find(key)
    return DiskCache().make_once(key, lambda: object_code(source, names, fast)) if code is None else code


def object_code(source: str, names: Dict[str, Any], fast: bool) -> bytes:
    """The object file of a source."""
    return library(source, names, fast).emit_native_object()  # type: ignore[no-any-return]


def library(source: str, names: Dict[str, Any], fast: bool) -> Any:
    """numba's code library of a source; its ``get_llvm_str`` and ``get_asm_str`` show the LLVM IR and the assembly."""
    ask_permission(source)
    fork_safety.load(_imports)
    from numba.core.compiler_lock import global_compiler_lock

    from pijit.core.kernel.llvm.lower import define_symbol, lower

    def optimised(vectorizes: bool) -> Any:
        made = _code_generator(vectorizes).create_library(SYMBOL)
        module = made.create_ir_module(SYMBOL)
        lower(source, names, SYMBOL, module, fast)
        if not vectorizes:
            define_symbol(module, SCALAR_LOOPS)
        made.add_ir_module(module)
        made.finalize()
        return made

    with global_compiler_lock:
        try:
            return optimised(True)
        except AbortedPasses as error:
            logger.info("loops of a kernel are not vectorised, because LLVM fails: %s", error)
        return optimised(False)


def _imports() -> None:
    """Import the modules that `library` needs, before any lock of numba is taken."""
    importlib.import_module("numba.core.codegen")
    importlib.import_module("pijit.core.kernel.llvm.lower")


@functools.lru_cache(maxsize=None)
def _code_generator(vectorizes: bool) -> Any:
    fork_safety.load(_imports)
    from numba.core.codegen import AOTCodeLibrary, JITCPUCodegen

    survives = can_survive()
    if not survives:
        logger.info("an assertion of LLVM that fails ends the process: llvmlite's functions have no known layout")

    class Library(AOTCodeLibrary):
        """Runs the passes on the module alone. numba runs those on functions first, which serve its linked libraries.

        They take a fourth of the time of the passes, and the machine code is the same or as good.
        """

        def _optimize_functions(self, module: Any) -> None:
            module.data_layout = self._codegen._data_layout

    class Generator(JITCPUCodegen):
        """Object code for the host processor. numba's own engine would keep each kernel until the process ends."""

        _library_class: Any = Library

        def _module_pass_manager(self, **options: Any) -> Any:
            if not vectorizes:
                options = dict(options, loop_vectorize=False)
            passes = cast(Any, super())._module_pass_manager(**options)
            if not survives:
                return passes
            manager, builder = passes
            return SurvivingPasses(manager), builder

        def _add_module(self, module: Any) -> None:
            pass

    return cast(Any, Generator)("pijit")


def has_feature(name: str) -> bool:
    """Whether kernels may use a feature of the processor, given by LLVM's name."""
    return "+" + name in _code_generator(True)._tm_features.split(",")


def linked(code: bytes, label: str) -> Tuple[int, MachineCode]:
    """`link` for code that another process has compiled.

    Raises: ForkedError where this process cannot link.
    """
    fork_safety.ensure_usable()
    return uninterrupted(lambda: link(code, label))  # type: ignore[no-any-return]


def link(code: bytes, label: str) -> Tuple[int, MachineCode]:
    """(address, owner) of the kernel in an object file. All symbols of the file must be known in this process."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target().create_target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    fork_safety.keep_in_child(engine)
    address = engine.get_function_address(SYMBOL)
    perf_map.add(address, code, label, SYMBOL)
    return address, MachineCode(engine, SCALAR_LOOPS.encode() in code)


@functools.lru_cache(maxsize=None)
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())
