"""Liveness of local variables: a live variable is read later, on some path, before it is written.

The capturer asks it which locals an exit must store.
An exception may leave an instruction before or after its effect. So variables that are live at a handler are live
throughout its range. Deleting a variable counts as a read, since it shows whether the variable is bound.
"""

from typing import Dict, FrozenSet, Iterable, List, Optional

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.codec.decode import Function

# Builtins that read all locals of their caller's frame, by the global name that calls them.
_FRAME_READERS = frozenset(("locals", "vars", "dir", "eval", "exec"))
# Functions that return frames, by any attribute or global name.
_FRAME_GETTERS = frozenset(("_getframe", "currentframe"))
#: Instructions that read a local. LOAD_FAST_AND_CLEAR saves a variable that an inlined comprehension hides (3.12).
READS = frozenset(("LOAD_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"))
_GLOBAL_LOADS = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))


def reads_all_locals(function: Function) -> bool:
    """Whether a function may read its locals without an instruction for each: locals(), eval, sys._getframe..."""
    names = function.code.co_names
    if not _FRAME_GETTERS.isdisjoint(names):
        return True
    return not _FRAME_READERS.isdisjoint(names) and any(
        instr.opname in _GLOBAL_LOADS and instr.value in _FRAME_READERS for instr in function.instructions)


class Liveness:
    """Live locals of one function, computed on first use.

    Args:
        cfg: the function's control flow graph.

    Example:
        Liveness(build_cfg(decode(f.__code__))).live_in(0) == {"x"}
    """

    __slots__ = ("_cfg", "_masks", "_sets", "_always", "_shown")

    def __init__(self, cfg: CFG) -> None:
        self._cfg = cfg
        self._masks: Optional[List[int]] = None
        self._sets: Dict[int, FrozenSet[str]] = {}
        self._always = _always_live(cfg.function)
        self._shown: Dict[int, int] = {}

    def show(self, index: int, names: Iterable[str]) -> None:
        """Make instruction `index` read these locals, too, because it runs code that reads the frame."""
        slots = {name: slot for slot, name in enumerate(self._cfg.function.varnames)}
        mask = sum(1 << slots[name] for name in names) | self._shown.get(index, 0)
        if mask != self._shown.get(index):
            self._shown[index] = mask
            self._masks = None

    def live_in(self, index: int) -> FrozenSet[str]:
        """Locals that are live before instruction `index`; none if it is unreachable.

        Raises:
            IndexError: there is no such instruction.
        """
        if self._masks is None:
            self._masks = self._solve()
        mask = self._masks[index]
        if mask not in self._sets:
            names = self._cfg.function.varnames
            self._sets[mask] = frozenset(name for slot, name in enumerate(names) if mask >> slot & 1)
        return self._sets[mask]

    def _solve(self) -> List[int]:
        cfg = self._cfg
        live: List[int] = [0] * len(cfg.function.instructions)
        work = cfg.rpo[:]
        waiting = set(work)
        while work:
            block = cfg.blocks[work.pop()]
            waiting.discard(block.index)
            before = live[block.start]
            self._scan(block.index, live)
            if live[block.start] != before:
                for other in block.predecessors + block.exception_predecessors:
                    if other not in waiting:
                        waiting.add(other)
                        work.append(other)
        return live

    def _scan(self, index: int, live: List[int]) -> None:
        """Scan one block backwards."""
        cfg = self._cfg
        block = cfg.blocks[index]
        instructions = cfg.function.instructions
        handled = self._always
        for successor in block.exception_successors:
            handled |= live[cfg.blocks[successor].start]
        mask = 0
        for successor in block.successors:
            mask |= live[cfg.blocks[successor].start]
        for i in range(block.end - 1, block.start - 1, -1):
            instr = instructions[i]
            opname = instr.opname
            if opname in READS:
                mask |= 1 << instr.raw
            elif opname == "STORE_FAST":
                mask &= ~(1 << instr.raw)
            mask |= handled | self._shown.get(i, 0)
            live[i] = mask


def _always_live(function: Function) -> int:
    """Locals that code reads without an instruction for each read."""
    if reads_all_locals(function):
        return (1 << len(function.varnames)) - 1
    # super() without arguments reads the first argument in its caller's frame.
    if "super" in function.code.co_names and function.argument_count:
        return 1
    return 0
