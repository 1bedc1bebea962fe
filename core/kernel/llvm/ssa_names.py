"""Variables of kernel source in SSA form: one assignment, which dominates all reads.

Most variables are. lower.py keeps them as LLVM values. They need no stack slot, so LLVM need not promote one."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, Set, cast


def assigned_once(definition: ast.FunctionDef) -> Set[str]:
    """The names of a function's variables that can be SSA values."""
    finder = _NameFinder()
    finder.block(definition.body)
    return set(finder.assigned) - finder.others


class _NameFinder:
    """Visits statements in order; the variables of a block are known until the block ends."""

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
        for target in cast("List[ast.Name]", statement.targets) if isinstance(statement, ast.Assign) else ():
            if target.id in self.assigned:
                self.others.add(target.id)
            self.assigned[target.id] = self.open[-1]

    def read(self, node: Any) -> None:
        """Visit the names that are read."""
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load) \
                    and self.assigned.get(name.id) not in self.open:
                self.others.add(name.id)
