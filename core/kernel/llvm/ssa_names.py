"""Variables of kernel source that are values: assigned at one place, and read only where control has come by it.

Most are. As values they need no memory, which LLVM would have to look through to find the same out."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, Set


def assigned_once(definition: ast.FunctionDef) -> Set[str]:
    """The names of a function's variables that are such values."""
    finder = _Finder()
    finder.block(definition.body)
    return set(finder.assigned) - finder.others


class _Finder:
    """Goes through statements in order; a block's variables are known until it ends."""

    def __init__(self) -> None:
        self.assigned: Dict[str, int] = {}  # the number of the block
        self.others: Set[str] = set()
        self.open: List[int] = []
        self.blocks = 0

    def block(self, statements: List[Any]) -> None:
        self.blocks += 1
        self.open.append(self.blocks)
        for statement in statements:
            self.statement(statement)
        self.open.pop()

    def statement(self, statement: Any) -> None:
        if isinstance(statement, (ast.If, ast.While)):
            self.read(statement.test)
            self.block(statement.body)
            self.block(statement.orelse)
            return
        self.read(statement)
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            if target.id in self.assigned:
                self.others.add(target.id)
            self.assigned[target.id] = self.open[-1]

    def read(self, node: Any) -> None:
        """Look at the names that are read."""
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load) \
                    and self.assigned.get(name.id) not in self.open:
                self.others.add(name.id)
