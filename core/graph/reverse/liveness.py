"""Liveness of the variables in the statements of a joint function: live-in variables and dead assignments."""

from __future__ import annotations

import ast
import textwrap
from typing import Callable, Dict, Iterator, List, Sequence, Set, Tuple


def statements_of(lines: Sequence[str]) -> List[ast.stmt]:
    """The statements of lines that have one indentation."""
    return ast.parse(textwrap.dedent("\n".join(lines))).body


def live_in(lines: Sequence[str]) -> List[str]:
    """The variables that lines may read before they assign them, in the order of their first reads."""
    assigned: Set[str] = set()
    found: Dict[str, None] = {}
    for name, is_read in _accesses(statements_of(lines)):
        if not is_read:
            assigned.add(name)
        elif name not in assigned:
            found[name] = None
    return list(found)


def _accesses(statements: Sequence[ast.stmt]) -> Iterator[Tuple[str, bool]]:
    """(name, whether it is read) of variables, in the order in which straight-line code accesses them."""
    for statement in statements:
        if isinstance(statement, ast.Assign):
            yield from _names([statement.value, *statement.targets])
        elif isinstance(statement, ast.AugAssign):
            yield from _names([statement.value])
            if isinstance(statement.target, ast.Name):
                yield statement.target.id, True
            yield from _names([statement.target])
        elif isinstance(statement, ast.For):
            yield from _names([statement.iter, statement.target])
            yield from _accesses(statement.body)
        elif isinstance(statement, ast.If):
            yield from _names([statement.test])
            yield from _accesses(statement.body)
        else:
            yield from _names([statement])


def _names(nodes: Sequence[ast.AST]) -> Iterator[Tuple[str, bool]]:
    for node in nodes:
        names = [name for name in ast.walk(node) if isinstance(name, ast.Name)]
        yield from ((name.id, True) for name in names if isinstance(name.ctx, ast.Load))
        yield from ((name.id, False) for name in names if not isinstance(name.ctx, ast.Load))


def without_dead(lines: Sequence[str], temporary: Callable[[str], bool]) -> List[str]:
    """The lines without assignments to variables that no later line reads, if only these lines need the variables."""
    read: Set[str] = set()
    found: List[str] = []
    for line, statement in reversed(list(zip(lines, statements_of(lines)))):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id not in read and temporary(target.id):
            continue
        if isinstance(target, ast.Name):
            read.discard(target.id)
        read.update(node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and node is not target)
        found.append(line)
    return found[::-1]
