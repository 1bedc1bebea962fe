"""Generator fusion: a generator expression and the builtin that consumes it become one plain loop.

The capturer's models of builtins such as ``sum`` choose the consumer.
``sum(f(x) for x in xs)`` is an example. A :class:`Consumer` has the instructions that replace ``YIELD_VALUE``, and
those that return the result. The generator's frame disappears; no other code could have seen it.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List

from pijit.core.bytecode.assembler.emit import Emit
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.codec.encode import Assembler, CodeItem, Label, NewInstr
from pijit.core.bytecode.rewrite.compensated_sum import COMPENSATES, add_item, with_lost
from pijit.core.named_tuples import NamedTuple

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.rewrite.generators_311 import GENERATOR, without_yields
else:
    from pijit.core.bytecode.rewrite.generators_37 import GENERATOR, without_yields

__all__ = [
    "ALL", "ANY", "BEST", "Consumer", "DEFAULT", "DICT", "EXTREMES", "FIRST", "GENERATOR", "ITEM", "ITEM_KEY", "KEY",
    "LIST", "LOST", "NOTHING", "Nothing", "PRODUCT", "REDUCE", "RESULT", "SET", "SUM", "VALUE_BELOW_KEY", "consumed",
    "variable"]

RESULT, KEY, BEST, DEFAULT = "result", "key", "best key", "default"
"""Names of the variables of consumers: the result so far, a function, the key of the result, and the result if there
are no items."""
ITEM, ITEM_KEY = "an item", "its key"
LOST = "what rounding has lost"
VALUE_BELOW_KEY = sys.version_info < (3, 8)
"""Whether MAP_ADD expects the value below the key on the stack."""
Items = List[CodeItem]


def variable(name: str) -> str:
    """The local variable for one of the names above; its space keeps it distinct from the generator's variables."""
    return "consumer: " + name


class Nothing:
    """The type of `NOTHING`, which `RESULT` holds before the first item."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<nothing>"


NOTHING = Nothing()


class InstructionWriter:
    """Writes instructions without a line for one code object."""

    def __init__(self, assembler: Assembler) -> None:
        self.assembler = assembler
        self.emit = Emit(assembler, None)

    def load(self, name: str) -> NewInstr:
        return self.emit.op("LOAD_FAST", self.assembler.local(variable(name)))

    def store(self, name: str) -> NewInstr:
        return self.emit.op("STORE_FAST", self.assembler.local(variable(name)))

    def const(self, value: Any) -> NewInstr:
        return self.emit.const(value)

    def returned(self, value: NewInstr) -> Items:
        return [value, self.emit.op("RETURN_VALUE")]

    def raised(self) -> NewInstr:
        """Raise without an exception, the mark for an empty generator."""
        return self.emit.op("RAISE_VARARGS", 0)

    def with_item(self, opname: str, *more: CodeItem) -> Items:
        """Apply an operation to the result so far and the item on the stack; store its result."""
        return [self.load(RESULT), self.emit.swap(), *more, self.emit.op(opname, 1), self.store(RESULT)]

    def if_nothing(self, label: Label) -> Items:
        """Jump if there is no result yet."""
        return [self.load(RESULT), self.const(NOTHING), self.emit.compare("is"), *self.emit.jump_if(True, label, True)]

    def called(self, name: str, *arguments: str) -> Items:
        """Call the function in a variable with the values of other variables."""
        return self.emit.call_of(self.load(name), [self.load(argument) for argument in arguments])


class Consumer(NamedTuple):
    """The code of a builtin for items: before the first, with each (which is on the stack), and after the last."""

    name: str
    first: Callable[[InstructionWriter], Items]
    each: Callable[[InstructionWriter], Items]
    last: Callable[[InstructionWriter], Items]


def _nothing(write: InstructionWriter) -> Items:
    return []


def _result(write: InstructionWriter) -> Items:
    return write.returned(write.load(RESULT))


def _fold(name: str, operator: str) -> "Consumer":
    """A left fold with one operation, from an initial value on."""
    return Consumer(
        name, _nothing,
        lambda write: [write.load(RESULT), write.emit.swap(), write.emit.binary(operator), write.store(RESULT)],
        _result)


def _compensated(name: str) -> Consumer:
    """``sum`` of the versions with compensated summation."""
    def each(write: InstructionWriter) -> Items:
        arguments: Items = [write.load(RESULT), write.load(LOST), write.load(ITEM)]
        return [write.store(ITEM), *write.emit.call_of(write.const(add_item), arguments),
                write.emit.op("UNPACK_SEQUENCE", 2), write.store(RESULT), write.store(LOST)]

    def last(write: InstructionWriter) -> Items:
        arguments: Items = [write.load(RESULT), write.load(LOST)]
        return [*write.emit.call_of(write.const(with_lost), arguments), write.emit.op("RETURN_VALUE")]

    return Consumer(name, _nothing, each, last)


def _until(name: str, answer: bool) -> Consumer:
    def each(write: InstructionWriter) -> Items:
        decided = Label("decided")
        write.assembler.append([decided] + write.returned(write.const(answer)))
        return write.emit.jump_if(answer, decided, False)

    return Consumer(name, _nothing, each, lambda write: write.returned(write.const(not answer)))


def _collect(name: str, make: str, add: str) -> Consumer:
    return Consumer(name, lambda write: [write.emit.op(make, 0), write.store(RESULT)],
                    lambda write: write.with_item(add), _result)


def _pairs() -> Consumer:
    """``dict``: each item is a key and its value."""
    def each(write: InstructionWriter) -> Items:
        order: Items = [] if VALUE_BELOW_KEY else [write.emit.swap()]
        return write.with_item("MAP_ADD", write.emit.op("UNPACK_SEQUENCE", 2), *order)

    return Consumer("dict", lambda write: [write.emit.op("BUILD_MAP", 0), write.store(RESULT)], each, _result)


def _first(has_default: bool) -> Consumer:
    """``next``: the first item of a generator that is not used again."""
    def each(write: InstructionWriter) -> Items:
        return [write.emit.op("RETURN_VALUE")]

    def last(write: InstructionWriter) -> Items:
        return write.returned(write.load(DEFAULT)) if has_default else [write.raised()]

    return Consumer("next %s" % has_default, _nothing, each, last)


def _reduce(has_start: bool) -> Consumer:
    """``functools.reduce``: call the function in `KEY` with the result so far and the item."""
    def first(write: InstructionWriter) -> Items:
        return [] if has_start else [write.const(NOTHING), write.store(RESULT)]

    def each(write: InstructionWriter) -> Items:
        begin, done = Label("begin"), Label("done")
        call: Items = [*write.called(KEY, RESULT, ITEM), write.store(RESULT)]
        if has_start:
            return [write.store(ITEM)] + call
        return [write.store(ITEM), *write.if_nothing(begin), *call, write.emit.jump(done),
                begin, write.load(ITEM), write.store(RESULT), done, write.emit.op("NOP")]

    def last(write: InstructionWriter) -> Items:
        empty = Label("empty")
        write.assembler.append([empty, write.raised()])
        return ([] if has_start else write.if_nothing(empty)) + _result(write)

    return Consumer("reduce %s" % has_start, first, each, last)


def _extreme(symbol: str, by_key: bool, has_default: bool) -> Consumer:
    """``min`` and ``max``: the first item that no later one beats; `RESULT` is `NOTHING` before the first item."""
    def each(write: InstructionWriter) -> Items:
        better, worse = Label("better"), Label("worse")
        mine, best = (ITEM_KEY, BEST) if by_key else (ITEM, RESULT)
        found: Items = [write.store(ITEM)]
        if by_key:
            found += [*write.called(KEY, ITEM), write.store(ITEM_KEY)]
        found += [*write.if_nothing(better), write.load(mine), write.load(best), write.emit.compare(symbol),
                  *write.emit.jump_if(False, worse, False), better, write.load(ITEM), write.store(RESULT)]
        return found + ([write.load(ITEM_KEY), write.store(BEST)] if by_key else []) + [worse, write.emit.op("NOP")]

    def last(write: InstructionWriter) -> Items:
        empty, found = Label("empty"), Label("found")
        write.assembler.append([empty] + ([write.load(DEFAULT), write.store(RESULT), write.emit.jump(found)]
                                          if has_default else [write.raised()]))
        return [*write.if_nothing(empty), found, *_result(write)]

    return Consumer("extreme %s %s %s" % (symbol, by_key, has_default),
                    lambda write: [write.const(NOTHING), write.store(RESULT)], each, last)


SUM = _compensated("sum") if COMPENSATES else _fold("sum", "BINARY_ADD")
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


def consumed(source: Function, consumer: Consumer) -> Function:
    """A generator expression with the consumer's code in place of its yields.

    The code's caller has to set the variables that the consumer reads first.

    Args:
        source: the generator expression, from `readable`.
        consumer: the builtin.

    Returns:
        The decoded function, not in normal form.

    Raises:
        ValueError: the generator does more than yield items.
    """
    assembler = Assembler(without_yields(source))
    write = InstructionWriter(assembler)
    assembler.insert(assembler.first_place(), consumer.first(write), redirect=False)
    for instr in source.encoded:
        if instr.opname == "YIELD_VALUE":
            assembler.insert(instr.index, consumer.each(write))
        elif instr.opname == "RETURN_VALUE":
            assembler.insert(instr.index - 1, consumer.last(write))
    return assembler.assemble_function()
