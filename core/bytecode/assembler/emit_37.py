"""Instructions of linked code on CPython 3.7 to 3.10.

The linker uses them by way of `emit`.
"""

from __future__ import annotations

import dis
from typing import Any, Iterable, List, Optional, Sequence

from pijit.core.bytecode.codec.encode import Assembler, CodeItem, Label, NewInstr

USUAL_EXIT = False
"""The launcher's number of the usual exit. It is the only false number, so linked code tests for it with a jump."""
ANSWERS_BARE = "MATCH_MAPPING" in dis.opmap
"""Whether linked code can tell a value from a tuple without a call."""
_LESS = dis.cmp_op.index("<")


class Emit:
    """Writes new instructions on the line of an original one.

    Args:
        assembler: the assembler of the function.
        index: the original instruction; None for code without a line.
        columns: whether exceptions show the columns of that instruction; these versions have none.
    """

    __slots__ = ("assembler", "index", "line")

    def __init__(self, assembler: Assembler, index: Optional[int], columns: bool = False) -> None:
        self.assembler = assembler
        self.index = index
        self.line: Optional[int] = None if index is None else assembler.function.instructions[index].lineno

    def op(self, opname: str, arg: Any = None) -> NewInstr:
        """An instruction that all versions have."""
        return NewInstr(opname, arg, self.line)

    def const(self, value: Any) -> NewInstr:
        """Push a constant."""
        return self.op("LOAD_CONST", self.assembler.const(value))

    def value_of(self, name: str) -> NewInstr:
        """Push the value of a local variable of the function, which may be in a cell."""
        cells = self.assembler.function.cellvars
        return (self.op("LOAD_DEREF", cells.index(name)) if name in cells
                else self.op("LOAD_FAST", self.assembler.local(name)))

    def cell(self, number: int) -> NewInstr:
        """Push a cell object; cells and free variables are numbered together."""
        return self.op("LOAD_CLOSURE", number)

    def content(self, number: int) -> NewInstr:
        """Push the content of a cell."""
        return self.op("LOAD_DEREF", number)

    def call(self, callable: Any, arguments: Iterable[CodeItem] = ()) -> List[CodeItem]:
        """Call a constant with the items that the instructions `arguments` push, one each."""
        loads = list(arguments)
        return [self.const(callable), *loads, self.op("CALL_FUNCTION", len(loads))]

    def call_on_top(self, callable: Any) -> List[CodeItem]:
        """Call a constant with the top item; the result replaces it."""
        return [self.const(callable), self.op("ROT_TWO"), self.op("CALL_FUNCTION", 1)]

    def call_starred(self, callable: Any, arguments: List[CodeItem]) -> List[CodeItem]:
        """Call a constant with the items of the tuple that the instructions push."""
        return [self.const(callable), *arguments, self.op("CALL_FUNCTION_EX", 0)]

    def call_of(self, callable: CodeItem, arguments: Sequence[CodeItem]) -> List[CodeItem]:
        """Call the item that an instruction pushes, with one or more arguments."""
        return [callable, *arguments, self.op("CALL_FUNCTION", len(arguments))]

    def swap(self) -> NewInstr:
        """Exchange the two top items."""
        return self.op("ROT_TWO")

    def binary(self, opname: str) -> NewInstr:
        """A binary operation, by its name."""
        return self.op(opname)

    def compare(self, symbol: str) -> NewInstr:
        """Compare two items; a jump follows."""
        if symbol == "is" and "IS_OP" in dis.opmap:
            return self.op("IS_OP", 0)
        return self.op("COMPARE_OP", dis.cmp_op.index(symbol))

    def jump_if(self, truth: bool, label: Label, is_bool: bool) -> List[CodeItem]:
        """Pop the top item; jump if its truth is `truth`. `is_bool` is for later versions."""
        return [self.op("POP_JUMP_IF_TRUE" if truth else "POP_JUMP_IF_FALSE", label)]

    def observe(self, observer: Any) -> List[CodeItem]:
        """Call a constant with the top item, which stays."""
        return [self.op("DUP_TOP"), *self.call_on_top(observer), self.op("POP_TOP")]

    def jump(self, label: Label) -> NewInstr:
        """Jump."""
        return self.op("JUMP_ABSOLUTE", label)

    def jump_over(self, label: Label) -> NewInstr:
        """Jump forwards."""
        return self.op("JUMP_FORWARD", label)

    def if_mapping(self, label: Label) -> List[CodeItem]:
        """Jump if the top item, which stays, is a mapping in the sense of `match`; only where there is `match`."""
        return [self.op("MATCH_MAPPING"), self.op("POP_JUMP_IF_TRUE", label)]

    def unless_usual(self, others: Label) -> List[CodeItem]:
        """Pop the exit number if it is the usual one; jump if it is another one. Only the number 0 is false."""
        return [self.op("JUMP_IF_TRUE_OR_POP", others)]

    def if_below(self, number: int, label: Label) -> List[CodeItem]:
        """Jump if the top item, which stays, is below a number."""
        return [self.op("DUP_TOP"), self.const(number), self.op("COMPARE_OP", _LESS),
                self.op("POP_JUMP_IF_TRUE", label)]

    def if_none(self, label: Label) -> List[CodeItem]:
        """Jump if the top item, which stays, is None; other items are true."""
        return [self.op("DUP_TOP"), self.op("POP_JUMP_IF_FALSE", label)]

    def operand(self, slot: int) -> NewInstr:
        """Push an operand from a local."""
        return self.op("LOAD_FAST", slot)

    def put_back(self, slots: Sequence[int]) -> List[CodeItem]:
        """Push the values of locals and clear the locals."""
        return [*[self.op("LOAD_FAST", slot) for slot in slots], *[self.op("DELETE_FAST", slot) for slot in slots]]

    def drop(self, slots: Iterable[int], filled: Iterable[int] = ()) -> List[CodeItem]:
        """Clear locals, all of which have a value."""
        return [self.op("DELETE_FAST", slot) for slot in slots]

    def unset(self, slot: int) -> List[CodeItem]:
        """Leave a local without a value; it need not have one."""
        return [self.const(None), self.op("STORE_FAST", slot), self.op("DELETE_FAST", slot)]

    def if_item(self, iterator: Any, then: Sequence[CodeItem]) -> List[CodeItem]:
        """Ask a constant, an iterator, for an item. If there is one, drop it and run the code, which ends in a jump."""
        none = Label("no item")
        return [self.const(iterator), self.op("FOR_ITER", none), self.op("POP_TOP"), self.op("POP_TOP"), *then, none]
