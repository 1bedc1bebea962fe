"""Use-def chains of locals: which definitions of a variable can reach an instruction.

The type analysis and the partition graph use them.
"""

from typing import Dict, FrozenSet, List, Optional, Tuple

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.liveness import READS
from pijit.core.bytecode.instructions.instruction import Instr
from pijit.core.named_tuples import NamedTuple

ARGUMENT = "argument"
STORE = "store"
DELETE = "delete"
UNBOUND = "unbound"
SAVED = "saved"
_MISSING = (UNBOUND, DELETE)


class Definition(NamedTuple):
    """An instruction that binds or unbinds a local.

    Attributes:
        kind: 'argument', 'store', 'delete', or 'unbound' for a local without a value at the function's start. 'saved'
            does not define the local: it records that a comprehension saved the local while it had no value (3.12).
        name: the local.
        at: the STORE_FAST, DELETE_FAST or LOAD_FAST_AND_CLEAR instruction; -1 for the function's start. A STORE_FAST
            that restores a saved local is also a 'delete', if the saved local may have had no value.
    """

    kind: str
    name: str
    at: int


class UseDef:
    """Reaching definitions of one function's locals, computed on first use.

    Args:
        cfg: the function's control flow graph.

    Example:
        UseDef(cfg).reaching(3, "x") == {Definition("store", "x", 1)}
    """

    __slots__ = ("_cfg", "_definitions", "_bit_at", "_of_slot", "_missing", "_saved_at", "_restored_at", "_reach_in")

    def __init__(self, cfg: CFG) -> None:
        self._cfg = cfg
        self._definitions: List[Definition] = []
        #: From an instruction's index to the number of its definition.
        self._bit_at: Dict[int, int] = {}
        #: From a local's slot to the mask of its definitions.
        self._of_slot: List[int] = []
        #: The mask of all definitions that leave a local without a value.
        self._missing = 0
        #: `_saved_at` has the 'saved' definition of each LOAD_FAST_AND_CLEAR. `_restored_at` has, for each STORE_FAST
        #: that restores a local, that definition and its own 'delete'.
        self._saved_at: Dict[int, int] = {}
        self._restored_at: Dict[int, Tuple[int, int]] = {}
        self._reach_in: Optional[List[int]] = None

    def definitions(self, index: int) -> FrozenSet[Definition]:
        """Definitions that reach a LOAD_FAST or DELETE_FAST instruction; none if it is unreachable.

        Raises:
            ValueError: the instruction does not read a local.
        """
        instr = self._cfg.function.instructions[index]
        if instr.opname not in READS:
            raise ValueError("{!r} does not read a local".format(instr))
        return self.reaching(index, instr.value)

    def reaching(self, index: int, name: str) -> FrozenSet[Definition]:
        """Definitions of a local that reach the point before an instruction; none if it is unreachable.

        Raises:
            ValueError: there is no such local.
        """
        slot = self._cfg.function.varnames.index(name)
        mask = self._before(index)
        mask &= self._of_slot[slot]
        return frozenset(definition for bit, definition in enumerate(self._definitions) if mask >> bit & 1)

    def may_be_unbound(self, index: int) -> FrozenSet[str]:
        """The locals that may have no value before an instruction."""
        mask = self._before(index)
        return frozenset(definition.name for bit, definition in enumerate(self._definitions)
                         if mask >> bit & 1 and definition.kind in _MISSING)

    def empty_operands(self, index: int) -> FrozenSet[int]:
        """The positions of operands that may be empty: a comprehension saved a variable without a value (3.12)."""
        function = self._cfg.function
        if function.operands is None:
            return frozenset()
        nulls, saved = function.operands.nulls[index], function.operands.saved[index]
        return frozenset(
            position - sum(null < position for null in nulls) for position, at in saved
            if function.instructions[at].opname != "LOAD_FAST_AND_CLEAR"
            or function.instructions[at].value in self.may_be_unbound(at))

    def ever_bound(self, index: int) -> FrozenSet[str]:
        """The locals that have had a value on some path to an instruction."""
        mask = self._before(index)
        return frozenset(definition.name for bit, definition in enumerate(self._definitions)
                         if mask >> bit & 1 and definition.kind not in (UNBOUND, SAVED))

    def uses(self, definition: Definition) -> FrozenSet[int]:
        """LOAD_FAST and DELETE_FAST instructions that a definition reaches."""
        instructions = self._cfg.function.instructions
        return frozenset(
            instr.index for instr in instructions
            if instr.opname in READS and instr.value == definition.name
            and definition in self.reaching(instr.index, instr.value))

    def _before(self, index: int) -> int:
        if self._reach_in is None:
            self._number_definitions()
            self._reach_in = self._solve()
        block_index = self._cfg.block_of[index]
        if block_index is None:
            return 0
        mask = self._reach_in[block_index]
        for i in range(self._cfg.blocks[block_index].start, index):
            mask = self._after(i, mask)
        return mask

    def _after(self, index: int, mask: int) -> int:
        bit = self._bit_at.get(index)
        if bit is None:
            return mask
        slot = self._cfg.function.instructions[index].raw
        after = mask & ~self._of_slot[slot] | 1 << bit
        if index in self._saved_at:
            saved = 1 << self._saved_at[index]
            after = after | saved if mask & self._of_slot[slot] & self._missing else after & ~saved
        elif index in self._restored_at:
            saved_bit, again = self._restored_at[index]
            after |= (mask >> saved_bit & 1) << again
        return after

    def _define(self, kind: str, name: str, at: int, slot: Optional[int]) -> int:
        """The number of a new definition of the local in a slot."""
        bit = len(self._definitions)
        self._definitions.append(Definition(kind, name, at))
        if slot is not None:
            self._of_slot[slot] |= 1 << bit
        if kind in _MISSING:
            self._missing |= 1 << bit
        return bit

    def _number_definitions(self) -> None:
        function = self._cfg.function
        self._of_slot = [0] * len(function.varnames)
        for slot, name in enumerate(function.varnames):
            self._define(ARGUMENT if slot < function.argument_count else UNBOUND, name, -1, slot)
        kinds = {"STORE_FAST": STORE, "DELETE_FAST": DELETE, "LOAD_FAST_AND_CLEAR": DELETE}
        for instr in function.instructions:
            if instr.opname in kinds:
                self._bit_at[instr.index] = self._define(kinds[instr.opname], instr.value, instr.index, instr.raw)
            if instr.opname == "LOAD_FAST_AND_CLEAR":
                self._saved_at[instr.index] = self._define(SAVED, instr.value, instr.index, None)
        for instr in function.instructions:
            at = self._saving_store(instr) if instr.opname == "STORE_FAST" else None
            if at is not None:
                self._restored_at[instr.index] = (
                    self._saved_at[at], self._define(DELETE, instr.value, instr.index, instr.raw))

    def _saving_store(self, store: Instr) -> Optional[int]:
        """The LOAD_FAST_AND_CLEAR whose variable a STORE_FAST restores, or None."""
        operands = self._cfg.function.operands
        if operands is None:
            return None
        top = (operands.depths[store.index] or 0) - 1
        return next(
            (at for position, at in operands.saved[store.index] if position == top and at in self._saved_at), None)

    def _solve(self) -> List[int]:
        cfg = self._cfg
        reach_in = [0] * len(cfg.blocks)
        reach_in[0] = (1 << len(cfg.function.varnames)) - 1
        work = cfg.rpo[::-1]
        visited = set()
        while work:
            block = cfg.blocks[work.pop()]
            visited.add(block.index)
            mask = anywhere = reach_in[block.index]
            for i in range(block.start, block.end):
                mask = self._after(i, mask)
                anywhere |= mask
            # An exception may come after any of the block's definitions.
            for successors, leaving in ((block.successors, mask), (block.exception_successors, anywhere)):
                for successor in successors:
                    if leaving & ~reach_in[successor]:
                        reach_in[successor] |= leaving
                        if successor in visited:
                            work.append(successor)
        return reach_in
