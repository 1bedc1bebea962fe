"""Generator code that hands what it yields to a builtin, as plain code: ``sum(f(x) for x in xs)`` becomes a loop.

A :class:`Consumer` says what is done with each item and what is returned; its instructions take the place of
``YIELD_VALUE``. The generator's frame, which nobody else could see, is gone.
"""

from __future__ import annotations

import dis
import sys
from types import CodeType
from typing import Any, Callable, Dict, List, NamedTuple, Union

from pijit.core.bytecode.decode import decode
from pijit.core.bytecode.encode import Assembler, Label, Op, replace_code

RESULT, KEY, BEST, DEFAULT = "result", "key", "best key", "default"
"""What consumers keep in variables: what was found, a function, the key of what was found, what is the answer if
there are no items."""
ITEM, ITEM_KEY = "an item", "its key"
GENERATOR = 0x20
VALUE_BELOW_KEY = sys.version_info < (3, 8)
"""What MAP_ADD finds on the stack."""
Items = List[Union[Op, Label]]


def variable(name: str) -> str:
    """The local variable for one of the names above; no variable of the generator's has a space."""
    return "consumer: " + name


class Nothing:
    """What `RESULT` holds before there was an item."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<nothing>"


NOTHING = Nothing()


class Writer:
    """Makes instructions for one code object."""

    def __init__(self, assembler: Assembler) -> None:
        self.assembler = assembler

    def load(self, name: str) -> Op:
        return Op("LOAD_FAST", self.assembler.local(variable(name)))

    def store(self, name: str) -> Op:
        return Op("STORE_FAST", self.assembler.local(variable(name)))

    def const(self, value: Any) -> Op:
        return Op("LOAD_CONST", self.assembler.const(value))

    def compare(self, symbol: str) -> Op:
        if symbol == "is" and "IS_OP" in dis.opmap:
            return Op("IS_OP", 0)
        return Op("COMPARE_OP", dis.cmp_op.index(symbol))

    def returned(self, value: Op) -> Items:
        return [value, Op("RETURN_VALUE")]


class Consumer(NamedTuple):
    """What a builtin does with items: before the first, with each (which is on the stack), behind the last."""

    name: str
    first: Callable[[Writer], Items]
    each: Callable[[Writer], Items]
    last: Callable[[Writer], Items]


def _nothing(write: Writer) -> Items:
    return []


def _result(write: Writer) -> Items:
    return write.returned(write.load(RESULT))


def _fold(name: str, operator: str) -> "Consumer":
    """One operation after the other, from a first value on."""
    return Consumer(name, _nothing,
                    lambda write: [write.load(RESULT), Op("ROT_TWO"), Op(operator), write.store(RESULT)], _result)


def _until(jump: str, answer: bool) -> Consumer:
    def each(write: Writer) -> Items:
        decided = Label("decided")
        write.assembler.append([decided] + write.returned(write.const(answer)))
        return [Op(jump, decided)]

    return Consumer(jump, _nothing, each, lambda write: write.returned(write.const(not answer)))


def _collect(name: str, make: str, add: str) -> Consumer:
    return Consumer(name, lambda write: [Op(make, 0), write.store(RESULT)],
                    lambda write: [write.load(RESULT), Op("ROT_TWO"), Op(add, 1), write.store(RESULT)], _result)


def _pairs() -> Consumer:
    """``dict``: each item is a key and its value."""
    def each(write: Writer) -> Items:
        order: Items = [] if VALUE_BELOW_KEY else [Op("ROT_TWO")]
        return [write.load(RESULT), Op("ROT_TWO"), Op("UNPACK_SEQUENCE", 2), *order, Op("MAP_ADD", 1),
                write.store(RESULT)]

    return Consumer("dict", lambda write: [Op("BUILD_MAP", 0), write.store(RESULT)], each, _result)


def _first(has_default: bool) -> Consumer:
    """``next``: the first item, of what nobody asks again."""
    def each(write: Writer) -> Items:
        return [Op("RETURN_VALUE")]

    def last(write: Writer) -> Items:
        return write.returned(write.load(DEFAULT)) if has_default else [Op("RAISE_VARARGS", 0)]

    return Consumer("next %s" % has_default, _nothing, each, last)


def _reduce(has_start: bool) -> Consumer:
    """``functools.reduce``: the function in `KEY`, of what was found and the item."""
    def first(write: Writer) -> Items:
        return [] if has_start else [write.const(NOTHING), write.store(RESULT)]

    def each(write: Writer) -> Items:
        begin, done = Label("begin"), Label("done")
        call: Items = [write.load(KEY), write.load(RESULT), write.load(ITEM), Op("CALL_FUNCTION", 2),
                       write.store(RESULT)]
        if has_start:
            return [write.store(ITEM)] + call
        return [write.store(ITEM), write.load(RESULT), write.const(NOTHING), write.compare("is"),
                Op("POP_JUMP_IF_TRUE", begin), *call, Op("JUMP_ABSOLUTE", done),
                begin, write.load(ITEM), write.store(RESULT), done, Op("NOP")]

    def last(write: Writer) -> Items:
        empty = Label("empty")
        write.assembler.append([empty, Op("RAISE_VARARGS", 0)])
        asked: Items = [write.load(RESULT), write.const(NOTHING), write.compare("is"), Op("POP_JUMP_IF_TRUE", empty)]
        return ([] if has_start else asked) + _result(write)

    return Consumer("reduce %s" % has_start, first, each, last)


def _extreme(symbol: str, by_key: bool, has_default: bool) -> Consumer:
    """``min`` and ``max``: the first item that no later one beats; `RESULT` is `NOTHING` before there was one."""
    def each(write: Writer) -> Items:
        better, worse = Label("better"), Label("worse")
        mine, best = (ITEM_KEY, BEST) if by_key else (ITEM, RESULT)
        found: Items = [write.store(ITEM)]
        if by_key:
            found += [write.load(KEY), write.load(ITEM), Op("CALL_FUNCTION", 1), write.store(ITEM_KEY)]
        found += [write.load(RESULT), write.const(NOTHING), write.compare("is"), Op("POP_JUMP_IF_TRUE", better),
                  write.load(mine), write.load(best), write.compare(symbol), Op("POP_JUMP_IF_FALSE", worse),
                  better, write.load(ITEM), write.store(RESULT)]
        return found + ([write.load(ITEM_KEY), write.store(BEST)] if by_key else []) + [worse, Op("NOP")]

    def last(write: Writer) -> Items:
        empty, found = Label("empty"), Label("found")
        write.assembler.append([empty] + ([write.load(DEFAULT), write.store(RESULT), Op("JUMP_ABSOLUTE", found)]
                                          if has_default else [Op("RAISE_VARARGS", 0)]))
        asked: Items = [write.load(RESULT), write.const(NOTHING), write.compare("is"), Op("POP_JUMP_IF_TRUE", empty)]
        return asked + [found] + _result(write)

    return Consumer("extreme %s %s %s" % (symbol, by_key, has_default),
                    lambda write: [write.const(NOTHING), write.store(RESULT)], each, last)


SUM = _fold("sum", "BINARY_ADD")
PRODUCT = _fold("prod", "BINARY_MULTIPLY")
ANY = _until("POP_JUMP_IF_TRUE", True)
ALL = _until("POP_JUMP_IF_FALSE", False)
LIST = _collect("list", "BUILD_LIST", "LIST_APPEND")
SET = _collect("set", "BUILD_SET", "SET_ADD")
DICT = _pairs()
FIRST = {has_default: _first(has_default) for has_default in (False, True)}
REDUCE = {has_start: _reduce(has_start) for has_start in (False, True)}
EXTREMES: Dict[Any, Consumer] = {(symbol, by_key, has_default): _extreme(symbol, by_key, has_default)
                                 for symbol in "<>" for by_key in (False, True) for has_default in (False, True)}


def consumed(code: CodeType, consumer: Consumer) -> CodeType:
    """The code of a generator expression with what ``consumer`` does in place of what it yields.

    Variables that the consumer reads first are to be set where the code is entered.

    Raises:
        ValueError: the generator does more than yield items.
    """
    plain = _without_yields(code)
    assembler = Assembler(decode(plain))
    write = Writer(assembler)
    assembler.insert(0, consumer.first(write), redirect=False)
    for instr in decode(code).instructions:
        if instr.opname == "YIELD_VALUE":
            assembler.insert(instr.index, consumer.each(write))
        elif instr.opname == "RETURN_VALUE":
            assembler.insert(instr.index - 1, consumer.last(write))
    return assembler.assemble()


def _without_yields(code: CodeType) -> CodeType:
    """The code with nothing where it yields, and where it drops what was sent."""
    raw = bytearray(code.co_code)
    instructions = decode(code).instructions
    silent = [instr for instr in instructions if instr.opname == "GEN_START"]
    for instr in instructions:
        if instr.opname == "YIELD_VALUE":
            silent += instructions[instr.index:instr.index + 2]
            if silent[-1].opname != "POP_TOP":
                raise ValueError("the generator uses what is sent to it")
    for instr in silent:
        raw[instr.offset] = dis.opmap["NOP"]
    return replace_code(code, co_code=bytes(raw), co_flags=code.co_flags & ~GENERATOR)
