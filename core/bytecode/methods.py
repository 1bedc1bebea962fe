"""Calls of module functions as plain calls: ``LOAD_METHOD; ...; CALL_METHOD`` becomes ``LOAD_ATTR; ...;
CALL_FUNCTION``.

LOAD_METHOD leaves an empty slot on the operand stack that no instruction can put into a local variable, so a segment
could not begin between the two. On a module both pairs do the same, and the instructions have the same size.
"""

from __future__ import annotations

import dis
import types
from typing import Any, Dict, Optional, Set

from pijit.core.bytecode.blocks import CFG
from pijit.core.bytecode.encode import replace_code

_LOADS = frozenset(["LOAD_ATTR"])


def plain_module_calls(cfg: CFG, globals: Dict[str, Any]) -> Optional[types.CodeType]:
    """The code with its module function calls made plain, or None when there are none.

    Arguments:
        cfg: the function's flow.
        globals: where module names are looked up; a name that later means something else is called just as well.
    """
    if "LOAD_METHOD" not in dis.opmap:
        return None
    changed: Dict[int, str] = {}
    for instr in cfg.function.instructions:
        if instr.opname == "LOAD_METHOD" and _is_module(cfg, instr.index - 1, globals):
            calls = _calls_of(cfg, instr.index)
            if calls:
                changed[instr.index] = "LOAD_ATTR"
                changed.update(dict.fromkeys(calls, "CALL_FUNCTION"))
    if not changed:
        return None
    raw = bytearray(cfg.function.code.co_code)
    for index, opname in changed.items():
        instr = cfg.function.instructions[index]
        raw[instr.offset + 2 * (instr.size - 1)] = dis.opmap[opname]
    return replace_code(cfg.function.code, co_code=bytes(raw))


def _is_module(cfg: CFG, index: int, globals: Dict[str, Any]) -> bool:
    """Whether the instructions up to ``index`` load a module: a global name and attributes of it."""
    path = []
    while index >= 0 and cfg.function.instructions[index].opname in _LOADS:
        path.append(cfg.function.instructions[index].value)
        index -= 1
    if index < 0 or cfg.function.instructions[index].opname != "LOAD_GLOBAL":
        return False
    found = globals.get(cfg.function.instructions[index].value)
    for name in reversed(path):
        found = vars(found).get(name) if issubclass(type(found), types.ModuleType) else None
    return issubclass(type(found), types.ModuleType)


def _calls_of(cfg: CFG, load: int) -> Set[int]:
    """The CALL_METHODs that take what LOAD_METHOD at ``load`` pushed: on each path the first at its stack depth.

    There are several where an argument has branches whose ends the compiler has copied.
    """
    base, calls, seen, rest = cfg.stack_depth[load], set(), {load}, list(cfg.successors[load] or ())
    while rest:
        index = rest.pop()
        depth = cfg.stack_depth[index]
        if index in seen or base is None or depth is None:  # None: no path leads there
            continue
        seen.add(index)
        instr = cfg.function.instructions[index]
        if instr.opname == "CALL_METHOD" and depth - (instr.arg or 0) - 2 == base - 1:
            calls.add(index)
        elif depth > base:
            rest += cfg.successors[index] or ()
    return calls
