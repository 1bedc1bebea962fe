"""Calls of module functions without method instructions, so that segments can begin inside them.

``LOAD_METHOD; ...; CALL_METHOD`` becomes ``LOAD_ATTR; ...; CALL_FUNCTION``. LOAD_METHOD pushes an empty slot, which no
instruction can store in a local variable, so a segment could not begin between the two. For a module both pairs do the
same, and the instructions have the same size.
"""

from __future__ import annotations

import copy
import dis
import sys
import types
from typing import Any, Dict, Optional, Set, Tuple

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.codec.encode import replace_code
from pijit.core.bytecode.instructions.instruction import Instr

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.rewrite.method_calls_311 import with_attribute_lookups

_LOADS = frozenset(["LOAD_ATTR"])
_CALLS = frozenset(["CALL_METHOD", "CALL_METHOD_KW"])


ModuleCalls = Dict[int, Tuple[int, Set[int]]]
"""By the LOAD_METHOD of a module's function: the LOAD_GLOBAL of the module, and the method calls that use the result.
"""


def module_calls(cfg: CFG, globals: Dict[str, Any]) -> ModuleCalls:
    """The calls of module functions.

    Arguments:
        cfg: the function's control flow graph.
        globals: the dict for lookups of module names. A name that gets another value later is still called correctly.
    """
    found: ModuleCalls = {}
    targets = {target for index, after in enumerate(cfg.successors) for target in after or () if target != index + 1}
    for instr in cfg.function.instructions:
        begin = _module_before(cfg, instr.index, globals) if instr.opname == "LOAD_METHOD" else None
        if begin is None or not targets.isdisjoint(range(begin + 1, instr.index + 1)):
            continue  # after a conditional expression, several values meet at the load
        calls = _calls_of(cfg, instr.index)
        if calls:
            found[instr.index] = begin, calls
    return found


def with_plain_calls(function: Function, found: ModuleCalls) -> Function:
    """The function with the given method lookups and their calls made plain, not in normal form."""
    if sys.version_info >= (3, 11):
        return with_attribute_lookups(function, [(begin, load) for load, (begin, _) in found.items()])
    changed: Dict[int, str] = {}
    for load, (_, calls) in found.items():
        changed[load] = "LOAD_ATTR"
        changed.update(dict.fromkeys(calls, "CALL_FUNCTION"))
    raw, instructions = bytearray(function.code.co_code), list(function.instructions)
    for index, opname in changed.items():
        instructions[index] = instr = copy.copy(instructions[index])
        instr.opname, instr.opcode = opname, dis.opmap[opname]
        raw[instr.offset + 2 * (instr.size - 1)] = instr.opcode
    return Function(replace_code(function.code, co_code=bytes(raw)), instructions)


def _module_before(cfg: CFG, load: int, globals: Dict[str, Any]) -> Optional[int]:
    """The LOAD_GLOBAL of the module that LOAD_METHOD takes, by name or by attribute path; None for other values."""
    index = load - 1
    path = []
    while index >= 0 and cfg.function.instructions[index].opname in _LOADS:
        path.append(cfg.function.instructions[index].value)
        index -= 1
    if index < 0 or cfg.function.instructions[index].opname != "LOAD_GLOBAL":
        return None
    found = globals.get(cfg.function.instructions[index].value)
    for name in reversed(path):
        found = vars(found).get(name) if issubclass(type(found), types.ModuleType) else None
    return index if issubclass(type(found), types.ModuleType) else None


def _names(instr: Instr) -> bool:
    """Whether keyword names are on the stack, above the arguments (3.13)."""
    return instr.opname == "CALL_METHOD_KW" and type(instr.value) is not tuple


def _calls_of(cfg: CFG, load: int) -> Set[int]:
    """The method calls that use the result of LOAD_METHOD at ``load``: on each path the first one at its stack depth.

    There are several if an argument has branches whose ends the compiler has duplicated.
    """
    base, calls, visited, rest = cfg.stack_depth[load], set(), {load}, list(cfg.successors[load] or ())
    while rest:
        index = rest.pop()
        depth = cfg.stack_depth[index]
        if index in visited or base is None or depth is None:  # a depth of None means unreachable
            continue
        visited.add(index)
        instr = cfg.function.instructions[index]
        if instr.opname in _CALLS and depth - (instr.arg or 0) - _names(instr) - 2 == base - 1:
            calls.add(index)
        elif depth > base:
            rest += cfg.successors[index] or ()
    return calls
