"""Instructions of linked code on CPython 3.11 and later.

The linker uses them by way of `emit`.
New code is covered by the exception handler of one original instruction, its *site*. Jumps may lead both ways;
conditional jumps lead forwards only.
"""

from __future__ import annotations

import dis
from typing import Any, Iterable, List, Optional, Sequence

from pijit.core.bytecode.codec.encode import Assembler, CodeItem, Label, NewInstr
from pijit.core.bytecode.codec.read_311 import slot_names
from pijit.core.bytecode.instructions.names_311 import KEYWORDS_HAVE_A_SLOT
from pijit.core.bytecode.instructions.units_311 import JUMP_NO_INTERRUPT, SKIPPED_BY_FOR_ITER

USUAL_EXIT = None
"""The launcher's result at the usual exit. Linked code tests for it with a jump that needs no bool."""
ANSWERS_BARE = True
"""Whether linked code can tell a value from a tuple without a call."""
_IS_311 = "PRECALL" in dis.opmap
_FORWARD = "POP_JUMP_FORWARD_IF_" if _IS_311 else "POP_JUMP_IF_"
_CLEARS = "LOAD_FAST_AND_CLEAR" in dis.opmap


def _compared(symbol: str) -> int:
    """The argument of COMPARE_OP before a jump, as CPython's compiler writes it.

    From 3.12 on it contains a mask. From 3.13 on a flag says that the result is converted to bool.
    """
    code = compile("0 if a %s b else 1" % symbol, "<compared>", "eval")
    return next(instr.arg or 0 for instr in dis.get_instructions(code) if instr.opname == "COMPARE_OP")


_LESS = _compared("<")
# Arguments of BINARY_OP.
_OPERATORS = {"BINARY_ADD": 0, "BINARY_MULTIPLY": 5}


class Emit:
    """Writes new instructions with the line and the exception handler of an original one.

    Args:
        assembler: the assembler of the function.
        index: the original instruction; None for code without a line.
        columns: whether exceptions show the columns of that instruction.
    """

    __slots__ = ("assembler", "index", "line", "columns")

    def __init__(self, assembler: Assembler, index: Optional[int], columns: bool = False) -> None:
        self.assembler = assembler
        self.index = index
        self.line: Optional[int] = None if index is None else assembler.function.instructions[index].lineno
        self.columns = columns

    def handled_below(self, depth: int) -> "Emit":
        """An `Emit` for the same line with another handler: the innermost one that keeps at most `depth` operands."""
        inner = Emit(self.assembler, self.index)
        inner.line = self.line
        instructions = self.assembler.function.instructions
        index = self.index
        while index is not None:
            entry = instructions[index].entry
            if entry is None or entry.depth <= depth:
                break
            index = inner.index = entry.target
        return inner

    def op(self, opname: str, arg: Any = None) -> NewInstr:
        """An instruction that all versions have."""
        return NewInstr(opname, arg, self.line, self.index, self.columns)

    def const(self, value: Any) -> NewInstr:
        """Push a constant."""
        return self.op("LOAD_CONST", self.assembler.const(value))

    def value_of(self, name: str) -> NewInstr:
        """Push the value of a local variable of the function, which may be in a cell."""
        cells = self.assembler.function.cellvars
        if name in cells:
            return self.op("LOAD_DEREF", cell_slot(self.assembler, cells.index(name)))
        return self.op("LOAD_FAST", self.assembler.local(name))

    def cell(self, number: int) -> NewInstr:
        """Push a cell object; cells and free variables are numbered together."""
        return self.op("LOAD_SLOT", cell_slot(self.assembler, number))

    def content(self, number: int) -> NewInstr:
        """Push the content of a cell."""
        return self.op("LOAD_DEREF", cell_slot(self.assembler, number))

    def call(self, callable: Any, arguments: Iterable[CodeItem] = ()) -> List[CodeItem]:
        """Call a constant with the items that the instructions `arguments` push, one each.

        The first argument takes the slot beside the callable; without arguments this slot is empty.
        """
        loads = list(arguments)
        if loads:
            return self.call_of(self.const(callable), loads)
        return [*self._with_empty_slot(callable), *self._call(0)]

    def _call(self, count: int) -> List[CodeItem]:
        return [*[self.op("PRECALL", count)] * _IS_311, self.op("CALL", count)]

    def _with_empty_slot(self, callable: Any) -> List[CodeItem]:
        """Push a constant and an empty slot; before 3.13 the slot is below the constant."""
        items: List[CodeItem] = [self.op("PUSH_NULL"), self.const(callable)]
        return items[::-1] if "TO_BOOL" in dis.opmap else items

    def call_pair(self, more: int = 0) -> List[CodeItem]:
        """Call an item with the one above it and `more` further arguments."""
        return self._call(more)

    def call_on_top(self, callable: Any) -> List[CodeItem]:
        """Call a constant with the top item; the result replaces it."""
        return [self.const(callable), self.op("SWAP", 2), *self._call(0)]

    def call_starred(self, callable: Any, arguments: List[CodeItem]) -> List[CodeItem]:
        """Call a constant with the items of the tuple that the instructions push."""
        return [*self._with_empty_slot(callable), *arguments, *self._call_starred()]

    def _call_starred(self) -> List[CodeItem]:
        """Call with a tuple of arguments. From 3.14 on an item for keywords is above it, which may be empty."""
        if KEYWORDS_HAVE_A_SLOT:
            return [self.op("PUSH_NULL"), self.op("CALL_FUNCTION_EX")]
        return [self.op("CALL_FUNCTION_EX", 0)]

    def call_of(self, callable: CodeItem, arguments: Sequence[CodeItem]) -> List[CodeItem]:
        """Call the item that an instruction pushes, with one or more arguments; the slot beside it gets the first."""
        return [callable, *arguments, *self._call(len(arguments) - 1)]

    def swap(self) -> NewInstr:
        """Exchange the two top items."""
        return self.op("SWAP", 2)

    def binary(self, opname: str) -> NewInstr:
        """A binary operation, by its name in the normal form."""
        return self.op("BINARY_OP", _OPERATORS[opname])

    def compare(self, symbol: str) -> NewInstr:
        """Compare two items; a jump follows."""
        return self.op("IS_OP", 0) if symbol == "is" else self.op("COMPARE_OP", _compared(symbol))

    def jump_if(self, truth: bool, label: Label, is_bool: bool) -> List[CodeItem]:
        """Pop the top item; jump forwards if its truth is `truth`. `is_bool` says that the item is always a bool."""
        made: List[CodeItem] = [] if is_bool or "TO_BOOL" not in dis.opmap else [self.op("TO_BOOL")]
        return made + [self.op(_FORWARD + str(truth).upper(), label)]

    def observe(self, observer: Any) -> List[CodeItem]:
        """After the site, call a constant with the top item, which stays. An empty slot may be above it (3.13)."""
        operands = self.assembler.function.operands
        assert operands is not None and self.index is not None
        following = self.index + 1
        top = (operands.depths[following] or 0) - 1
        copy = self.op("COPY", 1 + (top in operands.nulls[following]))
        return [copy, *self.call_on_top(observer), self.op("POP_TOP")]

    def jump(self, label: Label) -> NewInstr:
        """Jump without a check of the eval breaker."""
        return self.op(JUMP_NO_INTERRUPT, label)

    def jump_over(self, label: Label) -> NewInstr:
        """Jump forwards."""
        return self.op("JUMP_FORWARD", label)

    def if_mapping(self, label: Label) -> List[CodeItem]:
        """Jump if the top item, which stays, is a mapping in the sense of `match`."""
        return [self.op("MATCH_MAPPING"), self.op(_FORWARD + "TRUE", label)]

    def unless_usual(self, others: Label) -> List[CodeItem]:
        """Pop the exit number if it is the usual one, which is None; jump if it is another one."""
        return [self.op("COPY", 1), self.op(_FORWARD + "NOT_NONE", others), self.op("POP_TOP")]

    def if_below(self, number: int, label: Label) -> List[CodeItem]:
        """Jump if the top item, which stays, is below a number."""
        return [self.op("COPY", 1), self.const(number), self.op("COMPARE_OP", _LESS), self.op(_FORWARD + "TRUE", label)]

    def if_none(self, label: Label) -> List[CodeItem]:
        """Jump if the top item, which stays, is None."""
        return [self.op("COPY", 1), self.op(_FORWARD + "NONE", label)]

    def unless_true(self, label: Label) -> List[CodeItem]:
        """Pop the top item, a bool; jump if it is false."""
        return [self.op(_FORWARD + "FALSE", label)]

    def operand(self, slot: int) -> NewInstr:
        """Push an operand from a local. The load is checked, because the item beside a method may be an empty slot."""
        return self.op("LOAD_FAST_CHECK" if _CLEARS else "LOAD_FAST", slot)

    def put_back(self, slots: Sequence[int]) -> List[CodeItem]:
        """Push the values of locals and clear the locals. From 3.12 on a local may hold an empty slot."""
        if _CLEARS:
            return [self.op("LOAD_FAST_AND_CLEAR", slot) for slot in slots]
        return [self.op(name, slot) for name in ("LOAD_FAST", "DELETE_FAST") for slot in slots]

    def drop(self, slots: Iterable[int], filled: Iterable[int] = ()) -> List[CodeItem]:
        """Clear locals; from 3.12 on only those in `filled` are known to have a value."""
        known = frozenset(filled)
        return [item for slot in slots
                for item in ([self.op("DELETE_FAST", slot)] if slot in known or not _CLEARS else self.unset(slot))]

    def unset(self, slot: int) -> List[CodeItem]:
        """Leave a local without a value; it need not have one."""
        return [self.const(None), self.op("STORE_FAST", slot), self.op("DELETE_FAST", slot)]

    def if_item(self, iterator: Any, then: Sequence[CodeItem]) -> List[CodeItem]:
        """Ask a constant, an iterator, for an item. If there is one, drop it and run the code, which ends in a jump."""
        none = Label("no item")
        skipped: List[CodeItem] = [self.op(dis.opname[opcode]) for opcode in SKIPPED_BY_FOR_ITER]
        return [self.const(iterator), self.op("FOR_ITER", none), self.op("POP_TOP"), self.op("POP_TOP"), *then, none,
                *skipped]


def cell_slot(assembler: Assembler, number: int) -> int:
    """The slot of a cell or free variable in the numbering of the original."""
    code = assembler.function.code
    return slot_names(code).index((code.co_cellvars + code.co_freevars)[number])
