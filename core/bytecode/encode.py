"""Writes code objects: original instructions with new ones put between and behind them.

Every index into the original tables (constants, names, locals, cells) stays valid: new constants, names and
locals are appended. Instructions are kept as they are, jumps are laid out anew.
"""

import dis
from itertools import accumulate
from types import CodeType
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from pijit.core.bytecode.decode import Function, decode
from pijit.core.bytecode.flow import trace_flow
from pijit.core.bytecode.linetable import JUMP_UNIT, LINE_TABLE_FIELD, write_line_table

_ABSOLUTE = frozenset(dis.hasjabs)
_RELATIVE = frozenset(dis.hasjrel)
_EXTENDED_ARG = dis.EXTENDED_ARG


class Label:
    """A place to jump to; place it by putting it into a sequence of new instructions."""

    __slots__ = ("name",)

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __repr__(self) -> str:
        return "<Label {}>".format(self.name or hex(id(self)))


class Op:
    """A new instruction.

    Args:
        opname: an opcode name of the running version.
        arg: the raw argument (an index from `Assembler.const` and its like), a Label for a jump or handler
            setup, or None for an instruction without one.
        lineno: its line; None is "no line" (3.10) or the line of what precedes it.
    """

    __slots__ = ("opname", "arg", "lineno")

    def __init__(self, opname: str, arg: Union[int, Label, None] = None,
                 lineno: Optional[int] = None) -> None:
        self.opname = opname
        self.arg = arg
        self.lineno = lineno

    def __repr__(self) -> str:
        return "<Op {} {}, line {}>".format(self.opname, "" if self.arg is None else self.arg, self.lineno)


Item = Union[Op, Label]


class _Layout:
    """The units of the code to be: one row per instruction, targets as row numbers."""

    __slots__ = ("opcodes", "args", "targets", "lines", "sizes")

    def __init__(self) -> None:
        self.opcodes: List[int] = []
        self.args: List[int] = []
        self.targets: List[Optional[int]] = []
        self.lines: List[Optional[int]] = []
        self.sizes: List[int] = []

    def resolve_jumps(self) -> None:
        """Give jumps their arguments; one that outgrows its room moves all that is behind it, so repeat."""
        jumps = [(row, target) for row, target in enumerate(self.targets) if target is not None]
        grown = True
        while grown:
            grown = False
            starts = self.starts()
            for row, target in jumps:
                units = starts[target]
                if self.opcodes[row] in _RELATIVE:
                    units -= starts[row + 1]
                if units < 0:
                    raise ValueError("{} cannot jump backwards".format(dis.opname[self.opcodes[row]]))
                arg = units * 2 // JUMP_UNIT
                self.args[row] = arg
                if _units_needed(arg) > self.sizes[row]:
                    self.sizes[row] = _units_needed(arg)
                    grown = True

    def starts(self) -> List[int]:
        return [0] + list(accumulate(self.sizes))

    def code_bytes(self) -> bytes:
        if max(self.sizes) == 1:
            raw = bytearray(2 * len(self.opcodes))
            raw[::2] = bytes(self.opcodes)
            raw[1::2] = bytes(self.args)
            return bytes(raw)
        raw = bytearray()
        for opcode, arg, size in zip(self.opcodes, self.args, self.sizes):
            for prefix in range(size - 1, 0, -1):
                raw.append(_EXTENDED_ARG)
                raw.append(arg >> 8 * prefix & 255)
            raw.append(opcode)
            raw.append(arg & 255)
        return bytes(raw)

    def unit_lines(self) -> List[Optional[int]]:
        if max(self.sizes) == 1:
            return self.lines
        return [line for line, size in zip(self.lines, self.sizes) for _ in range(size)]


def _units_needed(arg: int) -> int:
    return 1 if arg < 256 else 2 if arg < 65536 else 3 if arg < 1 << 24 else 4


class Assembler:
    """An editable copy of a function.

    New code goes in front of original instructions (`insert`) or behind all of them (`append`). Jumps of the
    original code to an instruction lead to what was inserted in front of it, unless told otherwise.

    Example:
        assembler = Assembler(decode(f.__code__))
        slot = assembler.fresh_local()
        assembler.insert(0, [Op("LOAD_CONST", assembler.const(1), 7), Op("STORE_FAST", slot, 7)])
        code = assembler.assemble()
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        code = function.code
        self._consts: List[Any] = list(code.co_consts)
        # Constants live as long as the list, so their ids are theirs alone.
        self._const_index: Dict[int, int] = {id(value): index for index, value in enumerate(self._consts)}
        self._names: List[str] = list(code.co_names)
        self._varnames: List[str] = list(code.co_varnames)
        self._fallthrough: Dict[int, List[Item]] = {}
        self._redirected: Dict[int, List[Item]] = {}
        self._tail: List[Item] = []
        self._original: Dict[int, Label] = {}
        self._inserted: Dict[int, Label] = {}
        self._retargeted: Dict[int, Label] = {}
        self._offsets: Dict[Label, int] = {}

    def const(self, value: Any) -> int:
        """Index of a constant that is this very object; objects that are merely equal get another.

        CPython itself replaces strings that look like identifiers by their interned twins.
        """
        known = self._const_index.get(id(value))
        if known is None:
            known = self._const_index[id(value)] = len(self._consts)
            self._consts.append(value)
        return known

    def name(self, name: str) -> int:
        """Index of a name in `co_names`, which it joins if need be."""
        return _index_in(self._names, name)

    def local(self, name: str) -> int:
        """Index of a local variable in `co_varnames`, which it joins if need be."""
        return _index_in(self._varnames, name)

    def fresh_local(self) -> int:
        """Index of a local variable `$s<n>` that nothing else uses."""
        number = 1
        while "$s{}".format(number) in self._varnames:
            number += 1
        return self.local("$s{}".format(number))

    def original(self, index: int) -> Label:
        """The place of original instruction `index`, past what is inserted in front of it."""
        return self._original.setdefault(index, Label("original {}".format(index)))

    def inserted(self, index: int) -> Label:
        """The place where a redirected jump to original instruction `index` leads."""
        return self._inserted.setdefault(index, Label("inserted {}".format(index)))

    def insert(self, index: int, items: Iterable[Item], redirect: bool = True) -> None:
        """Put new code in front of original instruction `index`, behind what was inserted there before.

        Args:
            index: the original instruction.
            items: Ops, and Labels for the places between them.
            redirect: jumps of the original code to `index` run the new code too. Otherwise only control that
                falls through from above does, and the code comes in front of all redirected code.
        """
        count = len(self.function.instructions)
        if not 0 <= index < count:
            raise IndexError("no instruction {} among {}".format(index, count))
        (self._redirected if redirect else self._fallthrough).setdefault(index, []).extend(items)

    def append(self, items: Iterable[Item]) -> None:
        """Put new code behind everything else; only jumps reach it."""
        self._tail.extend(items)

    def retarget(self, index: int, label: Label) -> None:
        """Make original jump (or handler setup) `index` lead to a label.

        Raises:
            ValueError: the instruction has no target.
        """
        if self.function.instructions[index].target is None:
            raise ValueError("{!r} has no target".format(self.function.instructions[index]))
        self._retargeted[index] = label

    def assemble(self) -> CodeType:
        """The edited code object.

        Raises:
            ValueError: a label that is jumped to is placed nowhere, or twice; a jump that can only go
                forwards goes backwards; paths meet with different stacks.
        """
        layout, placed = self._lay_out()
        layout.resolve_jumps()
        starts = layout.starts()
        self._offsets = {label: 2 * starts[row] for label, row in placed.items()}
        code = self.function.code
        fields = {
            "co_code": layout.code_bytes(),
            "co_consts": tuple(self._consts),
            "co_names": tuple(self._names),
            "co_varnames": tuple(self._varnames),
            "co_nlocals": len(self._varnames),
            LINE_TABLE_FIELD: write_line_table(layout.unit_lines(), code.co_firstlineno),
        }
        edited = replace_code(code, **fields)
        # The original size is kept where it is larger: CPython counts a few items that are never there.
        unchanged = edited.co_code == code.co_code
        depth = max(code.co_stacksize, trace_flow(self.function if unchanged else decode(edited)).max_depth)
        return edited if depth == code.co_stacksize else replace_code(edited, co_stacksize=depth)

    def offset(self, label: Label) -> int:
        """Where a label is in the code that `assemble` has made."""
        return self._offsets[label]

    def _lay_out(self) -> Tuple[_Layout, Dict[Label, int]]:
        layout = _Layout()
        placed: Dict[Label, int] = {}
        pending: List[Tuple[int, Label]] = []
        retargeted = self._retargeted
        rows_of_originals: List[int] = []
        rows_of_jump_targets: List[int] = []
        original_jumps: List[Tuple[int, int]] = []
        opcodes, args, targets = layout.opcodes, layout.args, layout.targets
        lines, sizes = layout.lines, layout.sizes
        for instr in self.function.instructions:
            index = instr.index
            if index in self._fallthrough:
                _place(self._fallthrough[index], layout, placed, pending)
            rows_of_jump_targets.append(len(opcodes))
            if index in self._redirected:
                _place(self._redirected[index], layout, placed, pending)
            row = len(opcodes)
            rows_of_originals.append(row)
            if instr.target is not None:
                if index in retargeted:
                    pending.append((row, retargeted[index]))
                else:
                    original_jumps.append((row, instr.target))
            opcodes.append(instr.opcode)
            args.append(instr.raw)
            targets.append(None)
            lines.append(instr.lineno)
            sizes.append(instr.size)
        _place(self._tail, layout, placed, pending)
        _place_all(placed, ((label, rows_of_originals[index]) for index, label in self._original.items()))
        _place_all(placed, ((label, rows_of_jump_targets[index]) for index, label in self._inserted.items()))
        for row, index in original_jumps:
            targets[row] = rows_of_jump_targets[index]
        for row, label in pending:
            if label not in placed or placed[label] == len(opcodes):
                raise ValueError("{!r} is placed in front of no instruction".format(label))
            targets[row] = placed[label]
        return layout, placed


def _index_in(names: List[str], name: str) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


def _place_all(placed: Dict[Label, int], pairs: Iterable[Tuple[Label, int]]) -> None:
    for label, row in pairs:
        if label in placed:
            raise ValueError("{!r} is placed twice".format(label))
        placed[label] = row


def _place(items: Sequence[Item], layout: _Layout, placed: Dict[Label, int],
           pending: List[Tuple[int, Label]]) -> None:
    for item in items:
        if isinstance(item, Label):
            _place_all(placed, ((item, len(layout.opcodes)),))
            continue
        opcode = dis.opmap[item.opname]
        jumps = opcode in _ABSOLUTE or opcode in _RELATIVE
        if jumps != isinstance(item.arg, Label) or (item.arg is None) != (opcode < dis.HAVE_ARGUMENT):
            raise ValueError("{!r} has an argument of the wrong kind".format(item))
        if isinstance(item.arg, Label):
            pending.append((len(layout.opcodes), item.arg))
        arg = item.arg if isinstance(item.arg, int) else 0
        layout.opcodes.append(opcode)
        layout.args.append(arg)
        layout.targets.append(None)
        layout.lines.append(item.lineno)
        layout.sizes.append(_units_needed(arg))


_CONSTRUCTOR_ORDER = ("co_argcount", "co_kwonlyargcount", "co_nlocals", "co_stacksize", "co_flags", "co_code",
                      "co_consts", "co_names", "co_varnames", "co_filename", "co_name", "co_firstlineno",
                      "co_lnotab", "co_freevars", "co_cellvars")


def replace_code(code: CodeType, **fields: Any) -> CodeType:
    """A copy of a code object with other values for some `co_...` fields, on every version."""
    if hasattr(code, "replace"):
        return code.replace(**fields)
    return CodeType(*(fields.get(field, getattr(code, field)) for field in _CONSTRUCTOR_ORDER))


def reencode(code: CodeType) -> CodeType:
    """Decode and encode with no change; equals the original in all that can be observed."""
    return Assembler(decode(code)).assemble()
