"""Graphs as text, one line per operation.

The text is part of a kernel's key (kernel_key.py), and is stable enough for golden tests. Reports, keys of kernels, the
verifier and the tests use it. It must print all that a key depends on.
"""

from __future__ import annotations

from typing import Any, List

from pijit.core.errors import place
from pijit.core.graph.ir import Block, Branch, Graph, Jump, Leave, Op


def format_op(op: Op) -> str:
    """``%3: py.int64 = add %1, %2  else exit1(%1)``."""
    text = "%s %s" % (op.name, ", ".join(map(repr, op.args))) if op.args else op.name
    if op.attrs:
        text += " {%s}" % ", ".join("%s=%s" % (key, _attr(op.attrs[key])) for key in sorted(op.attrs))
    if op.result is not None:
        text = "%r: %r = %s" % (op.result, op.result.type, text)
    if op.exit is not None:
        text += "  else %r" % op.exit
    return text


def _attr(value: Any) -> str:
    return getattr(value, "__name__", None) or repr(value)


def _arm(arm: Any) -> str:
    if isinstance(arm, Jump):
        return "b%d(%s)" % (arm.block.index, ", ".join(map(repr, arm.args)))
    return repr(arm)


def _whence(op: Op) -> str:
    where = place(op.lineno, op.origin.file)
    return "%s, inlined from %s" % (where, op.origin.function) if op.origin.function else where


def format_terminator(terminator: Any) -> str:
    if isinstance(terminator, Jump):
        return "jump %s" % _arm(terminator)
    if isinstance(terminator, Branch):
        return "branch %r ? %s : %s" % (terminator.condition, _arm(terminator.then), _arm(terminator.other))
    if isinstance(terminator, Leave):
        return "leave %r" % terminator.exit
    return "?"


def format_block(block: Block, lines_shown: bool = False) -> List[str]:
    params = ", ".join("%r: %r%s" % (p, p.type, " '%s'" % p.hint if p.hint else "") for p in block.params)
    lines = ["b%d(%s):" % (block.index, params)]
    for op in block.ops:
        lines.append("    " + format_op(op) + ("  # " + _whence(op) if lines_shown and op.lineno else ""))
    lines.append("    " + format_terminator(block.terminator))
    return lines


def format_graph(graph: Graph, lines_shown: bool = False) -> str:
    """The whole graph, with its exits; ``lines_shown`` adds each operation's source line."""
    lines = ["graph %s" % graph.name]
    for number, exit in enumerate(graph.exits):
        lines.append("  exit%d -> instruction %d, locals (%s), stack %d%s%s" % (
            number, exit.target, ", ".join(exit.locals), exit.stack, " [side]" if exit.side else "",
            " [inside %s]" % (exit.rest,) if exit.rest is not None else " [poll]" if exit.poll else ""))
    for block in graph.blocks:
        lines += ["  " + line for line in format_block(block, lines_shown)]
    return "\n".join(lines)
