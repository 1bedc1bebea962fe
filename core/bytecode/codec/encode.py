"""The encoder: writes code objects from original instructions, with new ones between and after them.

The linker and the rewrites use the `Assembler`.
Every index into the original tables (constants, names, locals, cells) stays valid: new constants, names and locals are
appended. Original instructions are kept; all jump arguments are recomputed.
"""

from types import CodeType
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from pijit.core.bytecode.codec.decode import Function, Instr, decode
from pijit.core.bytecode.codec.layout import Layout, first_place, kind_of_argument, stack_size, why_not_before


class Label:
    """A jump target; a sequence of new instructions contains the label at its position."""

    __slots__ = ("name",)

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __repr__(self) -> str:
        return "<Label {}>".format(self.name or hex(id(self)))


class NewInstr:
    """A new instruction.

    Args:
        opname: an opcode name of the running version.
        arg: the raw argument (an index from `Assembler.const` and its like), a Label for a jump or handler
            setup, or None for an instruction without one.
        lineno: its line; None is "no line" (3.10) or the line of the previous instruction.
        site: the original instruction whose exception handler covers it (3.11). None means the instruction before which
            it is inserted.
        columns: whether it gets the columns of the site, if it is on the site's line (3.11).
    """

    __slots__ = ("opname", "arg", "lineno", "site", "columns")

    def __init__(self, opname: str, arg: Union[int, Label, None] = None, lineno: Optional[int] = None,
                 site: Optional[int] = None, columns: bool = False) -> None:
        self.opname = opname
        self.arg = arg
        self.lineno = lineno
        self.site = site
        self.columns = columns

    def __repr__(self) -> str:
        return "<Op {} {}, line {}>".format(self.opname, "" if self.arg is None else self.arg, self.lineno)


CodeItem = Union[NewInstr, Label]


class Assembler:
    """An editable copy of a function.

    New code goes before original instructions (`insert`) or after all of them (`append`). Jumps of the original code
    to an instruction lead to the code inserted before it, unless `insert` is told otherwise.

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
        # Constants live as long as the list, so no other object has their ids.
        self._const_index: Dict[int, int] = {id(value): index for index, value in enumerate(self._consts)}
        self._names: List[str] = list(code.co_names)
        self._varnames: List[str] = list(code.co_varnames)
        self._fallthrough: Dict[int, List[CodeItem]] = {}
        self._redirected: Dict[int, List[CodeItem]] = {}
        self._tail: List[Tuple[Optional[int], List[CodeItem]]] = []
        self._original: Dict[int, Label] = {}
        self._inserted: Dict[int, Label] = {}
        self._retargeted: Dict[int, Label] = {}
        self._offsets: Dict[Label, int] = {}
        #: The decoded form of the code that was assembled last.
        self.assembled: Optional[Function] = None

    def const(self, value: Any) -> int:
        """Index of a constant that is identical to `value`; equal objects get an index of their own.

        CPython itself replaces strings that look like identifiers by their interned copies.
        """
        known = self._const_index.get(id(value))
        if known is None:
            known = self._const_index[id(value)] = len(self._consts)
            self._consts.append(value)
        return known

    def name(self, name: str) -> int:
        """Index of a name in `co_names`; the name is added if missing."""
        return _index_in(self._names, name)

    def local(self, name: str) -> int:
        """Index of a local variable in `co_varnames`; the variable is added if missing."""
        return _index_in(self._varnames, name)

    def fresh_local(self) -> int:
        """Index of a new local variable `$s<n>`."""
        number = 1
        while "$s{}".format(number) in self._varnames:
            number += 1
        return self.local("$s{}".format(number))

    def original(self, index: int) -> Label:
        """The label of original instruction `index`, after the code inserted before it."""
        return self._original.setdefault(index, Label("original {}".format(index)))

    def inserted(self, index: int) -> Label:
        """The label that redirected jumps to original instruction `index` lead to."""
        return self._inserted.setdefault(index, Label("inserted {}".format(index)))

    def first_place(self) -> int:
        """The first instruction before which code may be inserted."""
        return first_place(self.function)

    def insert(self, index: int, items: Iterable[CodeItem], redirect: bool = True) -> None:
        """Insert new code before original instruction `index`, after the code that was inserted there earlier.

        Args:
            index: the original instruction.
            items: Ops, and Labels for the positions between them.
            redirect: if true, jumps of the original code to `index` run the new code, too. Otherwise the code runs only
                when control falls through from above; it is placed before all redirected code.

        Raises:
            ValueError: from 3.11 on some instructions must directly follow the previous one; see `may_insert`.
        """
        count = len(self.function.instructions)
        if not 0 <= index < count:
            raise IndexError("no instruction {} among {}".format(index, count))
        reason = why_not_before(self.function, index)
        if reason is not None:
            raise ValueError("nothing can be inserted before {!r}: {}".format(
                self.function.instructions[index], reason))
        (self._redirected if redirect else self._fallthrough).setdefault(index, []).extend(items)

    def may_insert(self, index: int) -> bool:
        """Whether `insert` accepts an instruction; before 3.11 it accepts every instruction."""
        return why_not_before(self.function, index) is None

    def append(self, items: Iterable[CodeItem], site: Optional[int] = None) -> None:
        """Append new code after all other code; only jumps reach it.

        Args:
            items: Ops and Labels.
            site: the original instruction whose exception handler covers the new code, too (3.11); None for no handler.
        """
        self._tail.append((site, list(items)))

    def retarget(self, index: int, label: Label) -> None:
        """Make original jump (or handler setup) `index` lead to a label.

        Raises:
            ValueError: the instruction has no target.
        """
        if self.function.instructions[index].target is None:
            raise ValueError("{!r} has no target".format(self.function.instructions[index]))
        self._retargeted[index] = label

    def assemble(self) -> CodeType:
        """Write the edited code object.

        Raises:
            ValueError: the target label of a jump is not placed, or is placed twice; a forward-only jump would have to
                go backwards; paths meet with different stacks.
        """
        layout, placed, places = self._lay_out()
        layout.resolve_jumps()
        starts = layout.starts()
        self._offsets = {label: 2 * starts[row] for label, row in placed.items()}
        code = self.function.code
        edited = replace_code(
            code, co_consts=tuple(self._consts), co_names=tuple(self._names), co_varnames=tuple(self._varnames),
            co_nlocals=len(self._varnames), **layout.tables(code, places))
        # A larger original size is kept: CPython's estimate counts a few items that never occur.
        self.assembled = Function(edited, self.function.encoded) if _is_alike(edited, code) else decode(edited)
        depth = max(code.co_stacksize, stack_size(self.assembled))
        return edited if depth == code.co_stacksize else replace_code(edited, co_stacksize=depth)

    def assemble_function(self) -> Function:
        """Write the edited code object, as `assemble` does. Returns it decoded, so that it need not be read again."""
        code = self.assemble()
        assert self.assembled is not None
        return Function(code, self.assembled.encoded)

    def offset(self, label: Label) -> int:
        """Byte offset of a label in the code that `assemble` has made."""
        return self._offsets[label]

    def _lay_out(self) -> Tuple[Layout, Dict[Label, int], List[int]]:
        """The rows, the rows of labels, and the row that a jump to each original instruction leads to."""
        layout = Layout(self.function, len(self._varnames) - len(self.function.varnames))
        placed: Dict[Label, int] = {}
        pending: List[Tuple[int, Label]] = []
        rows_of_originals: List[int] = []
        rows_of_jump_targets: List[int] = []
        opcodes, instructions = layout.opcodes, self.function.instructions
        jumped_to = {instr.encoded_target for instr in instructions}
        for instr in self.function.prologue:
            layout.add_original(instr)
        for instr in instructions:
            index = instr.index
            if index in self._fallthrough:
                _place(self._fallthrough[index], instr, instructions, layout, placed, pending)
            if index not in jumped_to and any(
                    index in labels for labels in (self._redirected, self._inserted, self._original)):
                layout.add_in_front_of_target(instr)
            rows_of_jump_targets.append(len(opcodes))
            if index in self._redirected:
                _place(self._redirected[index], instr, instructions, layout, placed, pending)
            rows_of_originals.append(len(opcodes))
            layout.add_original(instr)
        for site, items in self._tail:
            _place(items, None if site is None else instructions[site], instructions, layout, placed, pending)
        _place_all(placed, ((label, rows_of_originals[index]) for index, label in self._original.items()))
        _place_all(placed, ((label, rows_of_jump_targets[index]) for index, label in self._inserted.items()))
        for instr in instructions:
            target = instr.encoded_target
            if target is not None and instr.index not in self._retargeted:
                rows = rows_of_originals if instr.target is None else rows_of_jump_targets
                layout.targets[rows_of_originals[instr.index]] = rows[target]
        pending += [(rows_of_originals[index], label) for index, label in self._retargeted.items()]
        for row, label in pending:
            if label not in placed or placed[label] == len(opcodes):
                raise ValueError("{!r} is placed before no instruction".format(label))
            layout.targets[row] = placed[label]
        return layout, placed, rows_of_jump_targets


def _is_alike(edited: CodeType, code: CodeType) -> bool:
    """Whether edited code has the instructions of the original code, under the same handlers."""
    return edited.co_code == code.co_code and (
        getattr(edited, "co_exceptiontable", b"") == getattr(code, "co_exceptiontable", b""))


def _index_in(names: List[str], name: str) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


def _place_all(placed: Dict[Label, int], pairs: Iterable[Tuple[Label, int]]) -> None:
    for label, row in pairs:
        if label in placed:
            raise ValueError("{!r} is placed twice".format(label))
        placed[label] = row


def _place(items: Sequence[CodeItem], site: Optional[Instr], instructions: Sequence[Instr], layout: Layout,
           placed: Dict[Label, int], pending: List[Tuple[int, Label]]) -> None:
    for item in items:
        if isinstance(item, Label):
            _place_all(placed, ((item, len(layout.opcodes)),))
            continue
        kind = "label" if isinstance(item.arg, Label) else "nothing" if item.arg is None else "number"
        if kind != kind_of_argument(item.opname):
            raise ValueError("{!r} has an argument of the wrong kind".format(item))
        if isinstance(item.arg, Label):
            pending.append((len(layout.opcodes), item.arg))
        own = site if item.site is None else instructions[item.site]
        layout.add(item.opname, item.arg if isinstance(item.arg, int) else 0, item.lineno, own, item.columns)


_CONSTRUCTOR_ORDER = ("co_argcount", "co_kwonlyargcount", "co_nlocals", "co_stacksize", "co_flags", "co_code",
                      "co_consts", "co_names", "co_varnames", "co_filename", "co_name", "co_firstlineno",
                      "co_lnotab", "co_freevars", "co_cellvars")


def replace_code(code: CodeType, **fields: Any) -> CodeType:
    """A copy of a code object with other values for some `co_...` fields; works on every version."""
    if hasattr(code, "replace"):
        return code.replace(**fields)
    return CodeType(*(fields.get(field, getattr(code, field)) for field in _CONSTRUCTOR_ORDER))


def reencode(code: CodeType) -> CodeType:
    """Decode and encode without a change; no observer can tell the result from the original."""
    return Assembler(decode(code)).assemble()
