"""Kernel source to machine code: lower.py writes LLVM, numba's code generator makes an optimised object file of it,
and an engine of the kernel's own links that into the process."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Dict, Tuple

import llvmlite.binding as llvm

from pijit.core.kernel import fork_safety
from pijit.core.kernel.compile_permission import TooEarly, ask_permission
from pijit.core.kernel.disk_cache import SUPPORTED, Store, kernel_key, logger
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.llvm.compiler_thread import uninterrupted
from pijit.core.kernel.symbols import lasts

SYMBOL = "pijit_kernel"


def compiled(source: str, names: Dict[str, Any], symbols: Dict[str, str], on_disk: bool = False) -> Tuple[int, Any]:
    """Machine code for the source of a function ``kernel``: (address, owner of the code).

    Arguments:
        source, names: the text, and the intrinsics that it calls.
        symbols: what the names stand for that are not the same in every kernel.
        on_disk: take the code from the user's cache folder if it is there, and leave it there if not.
    Raises: CompileError; ForkedError where this process cannot compile.
    """
    def made() -> Tuple[int, Any]:
        return link(_kept(source, names, symbols) if on_disk and SUPPORTED else object_code(source, names))

    fork_safety.ensure_usable()
    try:
        return uninterrupted(made)  # type: ignore[no-any-return]
    except (CompileError, TooEarly):
        raise
    except Exception as error:
        raise CompileError("%s: %s" % (type(error).__name__, error)) from error


def _kept(source: str, names: Dict[str, Any], symbols: Dict[str, str]) -> bytes:
    """The object file of a source, from disk if it is there."""
    passing = [symbol for symbol in symbols.values() if not lasts(symbol)]
    if passing:
        logger.info("a kernel is not kept: %s means something in this process alone", passing[0])
        return object_code(source, names)
    store, key = Store(), kernel_key(source, symbols)
    code = store.load(key)
    if code is None:
        code = object_code(source, names)
        store.save(key, code)
    return code


def object_code(source: str, names: Dict[str, Any]) -> bytes:
    """The object file of a source."""
    return library(source, names).emit_native_object()  # type: ignore[no-any-return]


def library(source: str, names: Dict[str, Any]) -> Any:
    """numba's code library of a source: ``get_llvm_str`` and ``get_asm_str`` show what became of it."""
    ask_permission(source)
    fork_safety.load(_imports)
    from numba.core.compiler_lock import global_compiler_lock

    from pijit.core.kernel.llvm.lower import lower

    with global_compiler_lock:
        made = _code_generator().create_library(SYMBOL)
        module = made.create_ir_module(SYMBOL)
        lower(source, names, SYMBOL, module)
        made.add_ir_module(module)
        made.finalize()
    return made


def _imports() -> None:
    """Import what `library` needs, before any lock of numba is taken."""
    importlib.import_module("numba.core.codegen")
    importlib.import_module("pijit.core.kernel.llvm.lower")


@functools.lru_cache(maxsize=None)
def _code_generator() -> Any:
    fork_safety.load(_imports)
    from numba.core.codegen import AOTCodeLibrary, JITCPUCodegen

    class Generator(JITCPUCodegen):
        """Code for this very processor, in object files: numba's own engine would keep each for ever."""

        _library_class = AOTCodeLibrary

        def _add_module(self, module: Any) -> None:
            pass

    return Generator("pijit")


def has_feature(name: str) -> bool:
    """Whether kernels may use a feature of the processor, by LLVM's name."""
    return "+" + name in _code_generator()._tm_features.split(",")


def link(code: bytes) -> Tuple[int, Any]:
    """(address, owner) of the kernel in an object file, whose symbols must all be known in this process."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target().create_target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    fork_safety.keep_in_child(engine)
    return engine.get_function_address(SYMBOL), engine


@functools.lru_cache(maxsize=None)
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())
