"""Liveness of the variables in the statements of a joint function: live-in variables and dead assignments.

`joint`, `loops`, `gather` and `sum_sinking` call it. It must not run the statements.
"""

from __future__ import annotations

import ast
import textwrap
from typing import Callable, Dict, Iterator, List, Sequence, Set, Tuple


def statements_of(lines: Sequence[str]) -> List[ast.stmt]:
    """The statements of lines that have one indentation."""
    return ast.parse(textwrap.dedent("\n".join(lines))).body


def live_in(lines: Sequence[str]) -> List[str]:
    """The variables that lines may read before they assign them, in the order of their first reads."""
    found: Dict[str, None] = {}
    _scan(statements_of(lines), set(), found)
    return list(found)


def _scan(statements: Sequence[ast.stmt], assigned: Set[str], found: Dict[str, None]) -> Set[str]:
    """Add the variables that statements may read before they assign them to ``found``.

    Args:
        statements: the statements.
        assigned: the variables that are assigned before.
        found: the variables.

    Returns:
        the variables that are assigned afterwards. What iterations of a loop assign counts as assigned after it: loops
        have as many iterations as that takes.
    """
    assigned = set(assigned)
    for statement in statements:
        if isinstance(statement, ast.If):
            _read([statement.test], assigned, found)
            then = _scan(statement.body, assigned, found)
            assigned = then & _scan(statement.orelse, assigned, found)
        elif isinstance(statement, (ast.For, ast.While)):
            _read([statement.iter, statement.target] if isinstance(statement, ast.For) else [statement.test], assigned,
                  found)
            assigned = _scan(statement.body, assigned, found)
        elif isinstance(statement, ast.Assign):
            _read([statement.value, *statement.targets], assigned, found)
        elif isinstance(statement, ast.AugAssign):
            _read([statement.value], assigned, found)
            if isinstance(statement.target, ast.Name) and statement.target.id not in assigned:
                found[statement.target.id] = None
            _read([statement.target], assigned, found)
        else:
            _read([statement], assigned, found)
    return assigned


def _read(nodes: Sequence[ast.AST], assigned: Set[str], found: Dict[str, None]) -> None:
    """The same for parts of a statement; what they assign is added to ``assigned``."""
    for name, is_read in _names(nodes):
        if not is_read:
            assigned.add(name)
        elif name not in assigned:
            found[name] = None


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
