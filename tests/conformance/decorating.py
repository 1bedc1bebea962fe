"""Jits the functions of modules where there is no frame hook (CPython 3.11 and later): they are replaced by JitFunctions.

A module that is not imported yet is compiled with a decorator on each of its functions, also on those inside functions and on
lambdas. Those of one that is imported are replaced where the module and its classes have them.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable, Dict, Iterator, List, Optional

from pijit.core import _hook, function_state
from pijit.options import Options

NAME = "__pijit_conformance__"
"""The builtin that decorates."""

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Decorating:
    """Makes JitFunctions, and captures for their code, one for all functions of a code object.

    Arguments:
        options: those of the captures; None: there are none, so that JitFunctions run the functions as they are.
    """

    def __init__(self, options: Optional[Options]) -> None:
        self.options = options
        self.states: List[function_state.State] = []
        self._seen: Dict[int, CodeType] = {}
        self._made: Dict[FunctionType, Any] = {}

    def jitted(self, function: Any) -> Any:
        """A JitFunction in place of a function; anything else is itself."""
        if type(function) is not FunctionType or function.__code__.co_flags & _SUSPENDED:
            return function
        if self.options is not None and id(function.__code__) not in self._seen:
            self.states.append(attached(function.__code__, self.options))
            self._seen[id(function.__code__)] = function.__code__
        return _hook.JitFunction(function)

    def compiled(self, source: bytes, path: str) -> CodeType:
        """The code of a module with decorated functions."""
        setattr(builtins, NAME, self.jitted)
        tree = ast.fix_missing_locations(_Decorate().visit(ast.parse(source, path)))
        return compile(tree, path, "exec", dont_inherit=True)

    def replace(self, module: ModuleType) -> None:
        """Replace the functions that a module and its classes define, also in dicts and lists of the module."""
        for holder in [module, *_classes(module)]:
            for name, value in list(vars(holder).items()):
                made = self._replacement(value, module)
                if made is not value:
                    setattr(holder, name, made)
                self._replace_items(value, module)

    def _replace_items(self, container: Any, module: ModuleType, depth: int = 3) -> None:
        """Replace functions in a dict or list and in those that it holds: programs compare them with the names."""
        places = container.items() if type(container) is dict else enumerate(container) if type(container) is list else ()
        for place, value in list(places) if depth else ():
            made = self._replacement(value, module)
            if made is not value:
                container[place] = made
            self._replace_items(value, module, depth - 1)

    def _replacement(self, value: Any, module: ModuleType) -> Any:
        if type(value) is FunctionType:
            if value.__globals__ is vars(module):
                return self._made[value] if value in self._made else self._made.setdefault(value, self.jitted(value))
            return value
        if type(value) in (classmethod, staticmethod):
            made = self._replacement(value.__func__, module)
            return value if made is value.__func__ else type(value)(made)
        if type(value) is property:
            parts = [value.fget, value.fset, value.fdel]
            new = [self._replacement(part, module) for part in parts]
            return value if all(map(_same, parts, new)) else property(*new, doc=value.__doc__)
        return value


def attached(code: CodeType, options: Options) -> function_state.State:
    """Captures for a code object, whatever functions it has; live as long as the answer."""
    cells = tuple((lambda: code).__closure__[0] for _ in code.co_freevars)  # type: ignore[index]
    return function_state.attach(FunctionType(code, {}, code.co_name, None, cells), options)


def imported(chosen: Callable[[str], bool]) -> List[ModuleType]:
    """The modules whose file is chosen, by name."""
    return [module for _, module in sorted(sys.modules.items())
            if isinstance(module, ModuleType) and chosen(getattr(module, "__file__", None) or "")]


def _same(one: Any, other: Any) -> bool:
    return one is other


def _classes(holder: Any) -> Iterator[type]:
    """The classes that a module defines, and those inside them."""
    name = holder.__name__ if isinstance(holder, ModuleType) else holder.__module__
    for value in list(vars(holder).values()):
        if isinstance(value, type) and value.__module__ == name and value is not holder and (
                isinstance(holder, ModuleType) or value.__qualname__.startswith(holder.__qualname__ + ".")):
            yield value
            yield from _classes(value)


class _Decorate(ast.NodeTransformer):
    """Gives all functions a decorator that comes first."""

    def visit_FunctionDef(self, node: Any) -> Any:
        self.generic_visit(node)
        node.decorator_list.append(_decorator(node))
        return node

    def visit_Lambda(self, node: Any) -> Any:
        self.generic_visit(node)
        return ast.copy_location(ast.Call(func=_decorator(node), args=[node], keywords=[]), node)


def _decorator(node: Any) -> Any:
    """The name of the decorator, on the line where the function begins."""
    return ast.Name(id=NAME, ctx=ast.Load(), lineno=node.lineno, col_offset=node.col_offset, end_lineno=node.lineno,
                    end_col_offset=node.col_offset)
