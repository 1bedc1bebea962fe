"""Runs a program with each function of its own modules jitted; its files are not modified.

Functions that modules and classes define get a decorator when the module is compiled. Some stay unchanged: nested
functions (compiled with their parents), special methods except `__call__`, generators and coroutines. So do functions
with a decorator that may require a plain function.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import inspect
import os
import runpy
import sys
import types
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple

from pijit import installed, logs
from pijit.core.kernel.compile_permission import set_permission
from pijit.decorator import can_wait, jit, warn_if_unsupported
from pijit.explain import cold_report, explain, module_loop_report
from pijit.options import parse
from pijit.reporting.report import Report

if TYPE_CHECKING:
    from pijit.core.warm_up import Budget  # needs an extension module

HARMLESS = frozenset(["staticmethod", "classmethod", "property", "setter", "getter", "deleter", "abstractmethod",
                      "lru_cache", "cache", "cached_property", "jit", "ms_function", "override", "final"])
"""Decorators that accept any callable, by the last part of their name."""

NAME = "__pijit_program__"
"""The builtin to which the decorators of compiled modules refer."""

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Program:
    """A script or a module that is run, and its jitted functions.

    Args:
        script: the path of the file, or the name of the module.
        config: the options of its functions.
        budget: the compile time it may spend; None: each function is compiled at its first call.
        is_module: whether `script` is a module's name, as after `python -m`.

    Attributes:
        functions: the jitted functions, in the order of their definition.
    """

    def __init__(self, script: str, config: Optional[Dict[str, Any]] = None, budget: Optional[Budget] = None,
                 is_module: bool = False) -> None:
        self.script = script
        self.is_module = is_module
        self.budget = budget
        self.root = _folder_of_module(script) if is_module else os.path.dirname(os.path.realpath(script))
        self.config = config or {}
        self.functions: List[Any] = []
        self.loops: List[Tuple[str, Tuple[int, int]]] = []
        # Called here, once: sysconfig itself imports modules, so the import hook would call it recursively.
        installed.folders()

    def run(self, arguments: Sequence[str]) -> None:
        """Run the program as Python itself does, as `__main__`; its exceptions propagate."""
        logs.read_environment()
        if self.is_module:
            self._run_module(arguments)
        else:
            self._run_script(arguments)

    def _run_module(self, arguments: Sequence[str]) -> None:
        """Like `python -m module arguments`, through the function of `runpy` that Python itself calls."""
        self._become_main(["-m", *arguments], __builtins__=builtins, __annotations__={})
        warn_if_unsupported("python -m " + self.script)
        runpy._run_module_as_main(self.script)  # type: ignore[attr-defined]

    def _run_script(self, arguments: Sequence[str]) -> None:
        """Like `python script arguments`."""
        path = os.path.abspath(self.script) if sys.version_info >= (3, 9) else self.script
        with open(path, "rb") as stream:
            code = self.compiled(stream.read(), path)
        sys.path[0] = self.root
        main = self._become_main([self.script, *arguments], __file__=path, __builtins__=builtins, __cached__=None,
                                 __annotations__={})
        warn_if_unsupported(path)
        exec(code, main.__dict__)

    def _become_main(self, argv: Sequence[str], **names: Any) -> types.ModuleType:
        """Replace `__main__` by a new module, and install the finder that compiles the program's modules."""
        main = types.ModuleType("__main__")
        main.__dict__.update(names)
        sys.argv[:] = argv
        sys.modules["__main__"] = main
        sys.meta_path.insert(0, _ProgramFinder(self))
        self.serve()
        return main

    def serve(self) -> None:
        """Install `jitted` as the decorator that compiled code refers to, and the budget as compile permission."""
        setattr(builtins, NAME, self.jitted)
        set_permission(self.budget.permit if self.budget is not None else None)

    def jitted(self, function: Any) -> Any:
        """A function that a module defines; jitted, unless it is a generator, a coroutine or no Python function."""
        if type(function) is not types.FunctionType or function.__code__.co_flags & _SUSPENDED:
            return function
        if self.budget is not None and can_wait(self.config):
            from pijit.cli.cold_functions import cold  # needs an extension module, which unsupported Pythons lack

            made, target = cold(function, parse(self.config), self.budget)
            self.functions.append(target)
            return made
        made = jit(function, jit_config=self.config)
        if made is not function:
            self.functions.append(made)
        return made

    def owns(self, path: Optional[str]) -> bool:
        """Whether the module in this file belongs to the program: below the script's folder, and not installed."""
        real = os.path.realpath(path or "")
        return real.endswith(".py") and installed.is_below(real, self.root) and not installed.is_installed(real)

    def compiled(self, source: bytes, path: str) -> types.CodeType:
        """The code of a module; functions of the module and of its classes are decorated."""
        try:
            tree = ast.parse(source, path)
        except SyntaxError as error:
            raise error.with_traceback(None)  # Python does not show the line in `ast`
        self.prepare(tree.body, path)
        return compile(tree, path, "exec", dont_inherit=True)

    def prepare(self, body: Sequence[Any], path: str) -> None:
        """Decorate the functions that a module's statements define, and note their loops for `reports`."""
        self.loops += ((path, lines) for lines in module_loops(body))
        decorate(body)

    def reports(self) -> List[Report]:
        """Reports on the functions that were called or inlined into called ones and on module-level loops, by file and
        line."""
        found = [((path, lines[0]), module_loop_report(path, lines)) for path, lines in self.loops]
        if self.functions:
            found += self._function_reports()
        return [report for _, report in sorted(found, key=lambda one: one[0])]

    def _function_reports(self) -> List[Tuple[Tuple[str, int], Report]]:
        """(file and line, report) of each function that was called or inlined into a called one."""
        from pijit.cli.cold_functions import warmths  # needs an extension module

        inlined = self._inlined()
        found = []
        for f in self.functions:
            place = f.py_func.__code__.co_filename, f.py_func.__code__.co_firstlineno
            warmth = warmths.get(f)
            if warmth is not None and warmth.is_cold and not getattr(f.state, "entries", ()):
                if warmth.called and place not in inlined:
                    found.append((place, cold_report(f)))
            elif f.state.entries or f.state.failures or f.state.pending or place in inlined:
                found.append((place, explain(f)._replace(inlined_at=tuple(inlined.get(place, ())))))
        return found

    def _inlined(self) -> Dict[Tuple[str, int], Dict[str, None]]:
        """By file and first line of an inlined function: the calls into whose kernels it was inlined."""
        found: Dict[Tuple[str, int], Dict[str, None]] = {}
        states = [f.state for f in self.functions if f.state is not None]
        for state in states:
            states += [callee for callee in state.callees.values() if callee not in states]
            for one in (one for entry in state.entries for one in entry.record.inlined):
                found.setdefault((one.filename, one.line), {})["{} ({}:{})".format(
                    one.caller, one.call_file, one.call_line)] = None
        return found


def _folder_of_module(name: str) -> str:
    """The folder of the program that a module belongs to; the current folder if the module is installed."""
    spec = importlib.machinery.PathFinder.find_spec(name.partition(".")[0])
    places = [] if spec is None else list(spec.submodule_search_locations or [spec.origin or ""])
    place = os.path.realpath(places[0]) if places and places[0] else ""
    return os.path.dirname(place) if place and not installed.is_installed(place) else os.path.realpath(os.getcwd())


def decorate(body: Sequence[Any]) -> None:
    """Add the decorator `NAME` to the functions that these statements define."""
    for function in _definitions(body, False):
        line, column = function.lineno, function.col_offset
        function.decorator_list.append(ast.Name(id=NAME, ctx=ast.Load(), lineno=line, col_offset=column,
                                                end_lineno=line, end_col_offset=column))


def module_loops(body: Sequence[Any]) -> Iterator[Tuple[int, int]]:
    """The first and the last line of the outermost loops among a module's statements, if they compute something."""
    for statement in body:
        if isinstance(statement, (ast.For, ast.While)):
            nodes = list(ast.walk(statement))
            if any(isinstance(node, (ast.BinOp, ast.AugAssign)) for node in nodes):
                yield statement.lineno, max(getattr(node, "lineno", 0) for node in nodes)
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for field in ("body", "orelse", "handlers", "finalbody", "cases"):
                yield from module_loops(getattr(statement, field, ()))


def _definitions(body: Sequence[Any], in_class: bool) -> Iterator[Any]:
    """The functions to jit among the statements of a module or class, including those in compound statements."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            special = statement.name.startswith("__") and statement.name.endswith("__")
            if not (in_class and special and statement.name != "__call__") and all(
                    map(_is_harmless, statement.decorator_list)):
                yield statement
        elif isinstance(statement, ast.ClassDef):
            yield from _definitions(statement.body, True)
        elif not isinstance(statement, ast.AsyncFunctionDef):
            for part in ("body", "orelse", "finalbody", "handlers"):
                yield from _definitions(getattr(statement, part, ()), in_class)


def _is_harmless(decorator: Any) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(target, "attr", getattr(target, "id", "")) in HARMLESS


class _ProgramFinder:
    """Finds modules like Python's own finder, and compiles those of the program with decorators."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """See `importlib.abc.MetaPathFinder`; None leaves the module to the finders after this one."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader and self._program.owns(
                spec.origin):
            spec.loader = _Loader(self._program, spec.loader.name, spec.loader.path)
            return spec
        return None


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of the program from its source; writes no bytecode file."""

    def __init__(self, program: Program, name: str, path: str) -> None:
        super().__init__(name, path)
        self._program = program

    def get_code(self, fullname: str) -> types.CodeType:
        """The code of the module."""
        path = self.get_filename(fullname)
        return self._program.compiled(self.get_data(path), path)
