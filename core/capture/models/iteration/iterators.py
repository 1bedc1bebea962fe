"""Native iterators: the parts that Python's iterators consist of, and one step of each.

An iterator is a tree. ``enumerate(zip(x, range(n)))`` is a count, and below it a sequence iterator (an index and the
array) and a range iterator. A kernel holds the words and arrays of the tree. Where it exits, the iterator object is
made at its position, or the object that came in is moved there. Called for GET_ITER and FOR_ITER, by the models of
builtins, and at exits. The interpreter, the exits and the models of iteration use it. It must not step an iterator
while code is captured.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

from pijit.core.capture.models import exception_handlers
from pijit.core.capture.models.containers import characters, contents, expectations, item_reads, reads
from pijit.core.capture.models.containers.contents import is_container
from pijit.core.capture.models.containers.ranges import range_words
from pijit.core.capture.models.numpy import indexing, shapes
from pijit.core.capture.models.objects.classes import rely_on_class
from pijit.core.capture.models.objects.special_methods import iterator_special
from pijit.core.capture.models.protocol import Interpreter, Recorder
from pijit.core.capture.typing.axis_lengths import expected_number
from pijit.core.capture.values.describe import constants_of, describe
from pijit.core.capture.values.generator_frame import GeneratorFrame, begun
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    Lazy,
    LoopIterator,
    Number,
    Range,
    Sequence,
    Tensor,
    TypedValue,
    Unrolled,
    class_of,
    ssa_value,
)
from pijit.core.capture.values.virtual_object import is_virtual_list, is_virtual_tuple
from pijit.core.errors import Break
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops.objects import ENTRY_PARTS
from pijit.core.graph.types import (
    FLAG,
    INT,
    ITERATOR_WORDS,
    SEVERAL,
    TEXT_ITERATORS,
    WORD,
    Holding,
    IteratorType,
    Object,
    Type,
    numpy_scalar,
)
from pijit.core.graph.types import moving_words as words_that_move
from pijit.core.named_tuples import NamedTuple
from pijit.guards.facts import is_among
from pijit.guards.reading import class_value
from pijit.guards.source import UNBOUND

ITERATOR_OUTPUTS = {"range": "range_iterator", "sequence": "sequence_iterator", "reversed": "reversed_iterator",
                    "enumerate": "enumerate", "zip": "zip", "list": "list_iterator", "dict_keys": "dict_keys",
                    "dict_values": "dict_values", "dict_items": "dict_items", "set": "set_iterator",
                    "text": "text_iterator", "bytes": "bytes_iterator"}
_NO_ITEMS: Tuple[Any, ...] = ()
EACH_ITEM: CodeType = cast(Any, (item for item in _NO_ITEMS)).gi_code
"""Code of a generator that stands for its iterable: the iterable is iterated directly."""
DICT_KINDS = {"forwards": "dict_keys", "values": "dict_values", "items": "dict_items"}
UNROLLED_OUTPUTS = {"forwards": "stepped", "backwards": "stepped_reversed", "values": "stepped_values",
                    "items": "stepped_items"}
"""The kind of output that rebuilds each kind of unrolled iterator."""


class IteratorStep(NamedTuple):
    """One step: whether there is an item, as a FLAG or a bool; the iterator after it; and a function that makes the
    item.

    The item is made only where there is one.
    """

    more: Any
    following: Abstract
    item: Callable[[], Abstract]


def iterator_type(value: LoopIterator) -> IteratorType:
    """The graph's type of an iterator; Break if a part is unrolled or a generator, whose position is not read back."""
    for part in value.parts:
        if isinstance(part, (Unrolled, GeneratorFrame)):
            raise Break("PJ209", type=describe(part.owner if isinstance(part, Unrolled) else part))
    return IteratorType(value.kind, tuple(iterator_type(part) if isinstance(part, LoopIterator)
                                          else cast(TypedValue, part).type for part in value.parts))


def moving_words(value: LoopIterator) -> List[Value]:
    """The words that stepping changes, outermost first."""
    words = list(value.words[:words_that_move(value.kind)])
    for part in value.parts:
        if isinstance(part, LoopIterator):
            words += moving_words(part)
    return words


def iterator_over(interpreter: Interpreter, value: Abstract) -> Abstract:
    """``iter(value)``; Break if kernels cannot step it."""
    if isinstance(value, (LoopIterator, Unrolled, GeneratorFrame)):
        return value
    if isinstance(value, Lazy) and value.made.code is EACH_ITEM:
        return value.iterator
    if isinstance(value, Lazy):
        return begun(value.made, value.iterator, value.defined_at)
    found = iterator_special(interpreter, value)
    if found is not None:
        return found
    numbers = _static_range(interpreter, value)
    if numbers is not None:
        return Unrolled(Const(tuple(numbers)), len(numbers), "forwards")
    words = range_words(interpreter, value)
    if words is not None:
        return LoopIterator("range", (_word(interpreter, 0),) + words)
    if isinstance(value, Tensor) and value.type.ndim:
        rows = few_items(interpreter, value) if value.type.ndim > 1 else None  # a loop may change its elements
        if rows is not None:
            return Unrolled(Sequence(rows, defined_at=interpreter.instr.index), len(rows), "forwards")
        return LoopIterator("sequence", (_word(interpreter, 0),), (value,))
    kind = class_of(value)
    if kind is not None and is_among(kind, TEXT_ITERATORS):
        owner = Instance(Object(kind), characters.text_object(interpreter, value))
        return LoopIterator(TEXT_ITERATORS[kind], (_word(interpreter, 0),), (owner,))
    expected = expectations.items_expected(interpreter, value)
    if expected is not None:
        return LoopIterator("list", (_word(interpreter, 0),), (Instance(expected, interpreter.object_value(value)),))
    members = expectations.members_expected(interpreter, value)
    if members is not None:
        return entry_iterator(interpreter, "set", Instance(members, interpreter.object_value(value)))
    return dict_iterator(interpreter, value, "forwards") or unrolled(interpreter, value, "forwards")


def _static_range(interpreter: Interpreter, value: Abstract) -> Optional[range]:
    """The numbers of a short range of known or expected bounds, if the capture unrolls such loops; else None."""
    parts = value.parts if isinstance(value, Range) else ()
    bounds = [_bound(interpreter, part) for part in parts]
    if not bounds or None in bounds or bounds[2] == 0:
        return None
    numbers = range(*cast(List[int], bounds))
    if len(numbers) > interpreter.context.unrolling:
        return None
    base = interpreter.context.base
    if constants_of(parts) is None:
        unrolls = base.types.ranges.unrolls(interpreter.capture_point())
    else:
        unrolls = base.types.ranges.unrolls_constants() or base.options.static_roots is not None
    if not unrolls:
        return None
    for part in parts:
        if expected_number(part) is not None:
            shapes.require_expected(interpreter, part)
        else:
            interpreter.constant(part)
    return numbers


def _bound(interpreter: Interpreter, part: Abstract) -> Optional[int]:
    """The integer that a bound is, or is expected to be, or has from outside; None if nothing is known."""
    expected = expected_number(part)
    if expected is None and isinstance(part, Number) and interpreter.context.options.specialisation.may_be_known(part):
        return part.sample if type(part.sample) is int else None
    return expected


def few_items(interpreter: Interpreter, array: Tensor) -> Optional[List[Abstract]]:
    """The few items that an array is expected to have, if the capture unrolls loops over them; else None."""
    expected = array.type.lengths[0] if array.type.ndim and array.type.lengths else SEVERAL
    if not SEVERAL < expected <= interpreter.context.unrolling:
        return None
    if not interpreter.context.base.types.ranges.unrolls(interpreter.capture_point()):
        return None
    shapes.require_expected(interpreter, shapes.length(interpreter, array, 0))
    return [element_of(interpreter, array, _word(interpreter, k)) for k in range(expected)]


def dict_iterator(interpreter: Interpreter, value: Abstract, what: str) -> Optional[LoopIterator]:
    """An iterator over a dict that is too long to be unrolled, or whose entries are not known; else None."""
    expected = expectations.entries_expected(interpreter, value, what)
    if expected is None:
        return None
    return entry_iterator(interpreter, DICT_KINDS[what], Instance(expected, interpreter.object_value(value)))


def entry_iterator(interpreter: Interpreter, kind: str, owner: Instance) -> LoopIterator:
    """An iterator over the entries of a dict or the members of a set, at the first one."""
    used = interpreter.emit("list_size", [ssa_value(owner)], WORD)
    return LoopIterator(kind, (_word(interpreter, 0), used, used), (owner,))


def unrolled(interpreter: Interpreter, value: Abstract, what: str) -> Unrolled:
    """An iterator over a tuple, a list or a dict that is short enough to capture each iteration separately."""
    known = len(value.sample) if is_container(value) else 0
    kinds = (tuple, list) if what == "backwards" else (tuple, list, dict)
    if not is_among(class_of(value), kinds) and not _is_named_tuple(interpreter, value, what):
        raise Break("PJ209", type=describe(value))
    length = contents.length_of(interpreter, value) if known <= interpreter.context.unrolling else known
    if length is None:
        interpreter.context.base.types.ranges.require_constants(interpreter.capture_point())
    if length is None or length > interpreter.context.unrolling:
        raise Break("PJ209", type=describe(value), length=length)
    return Unrolled(value, length, what)


def _is_named_tuple(interpreter: Interpreter, value: Abstract, what: str) -> bool:
    """Whether a value is of a subclass of tuple whose instances are iterated in this way as tuples are."""
    kind = cast(type, class_of(value))
    plain = is_virtual_tuple(value) or is_container(value) and issubclass(kind, tuple)
    if plain and what == "backwards":
        plain = class_value(kind, "__reversed__") is UNBOUND
        rely_on_class(interpreter, value, "__reversed__", class_value(kind, "__reversed__"))
    return plain


def reverse_iterator(interpreter: Interpreter, value: Abstract) -> Abstract:
    """``reversed(value)``; Break if kernels cannot step it."""
    words = range_words(interpreter, value)
    if words is not None:
        start, step, length = words
        last = interpreter.emit("mul", [interpreter.emit("sub", [length, _word(interpreter, 1)], WORD), step], WORD)
        backwards = interpreter.emit("sub", [_word(interpreter, 0), step], WORD)
        return LoopIterator("range",
                            (_word(interpreter, 0), interpreter.emit("add", [start, last], WORD), backwards, length))
    if isinstance(value, Tensor) and value.type.ndim:
        size = interpreter.emit("dim", [ssa_value(value)], WORD, {"axis": 0})
        return LoopIterator("reversed", (interpreter.emit("sub", [size, _word(interpreter, 1)], WORD),), (value,))
    return unrolled(interpreter, value, "backwards")


def step_of(interpreter: Interpreter, value: Abstract) -> IteratorStep:
    """The step that FOR_ITER makes; Break if kernels cannot step the iterator."""
    if isinstance(value, Unrolled):
        return _step_unrolled(interpreter, value)
    if not isinstance(value, LoopIterator):
        raise Break("PJ209", type=describe(value))
    return _STEPS[value.kind](interpreter, value)


def _step_unrolled(interpreter: Interpreter, value: Unrolled) -> IteratorStep:
    owner, position = value.owner, value.position
    if is_virtual_list(owner) and len(owner.items) != value.length:
        raise Break("PJ209", type=describe(owner))  # the loop has changed it
    if position == value.length:
        return IteratorStep(False, value, lambda: value)
    return IteratorStep(True, value.over(owner, position + 1), lambda: _unrolled_item(interpreter, value))


def _unrolled_item(interpreter: Interpreter, value: Unrolled) -> Abstract:
    owner, position = value.owner, value.position
    if class_of(owner) is not dict:
        index = value.length - 1 - position if value.what == "backwards" else position
        return item_reads.container_item(interpreter, owner, Const(index))
    key = contents.key_at(interpreter, owner, position)
    if value.what == "forwards":
        return key
    item = item_reads.container_item(interpreter, owner, interpreter.use(key))
    return item if value.what == "values" else Sequence([key, item])


def _word(interpreter: Interpreter, number: int) -> Value:
    return interpreter.emit("const", [], WORD, {"value": number})


def _moved(interpreter: Interpreter, word: Value, by: str) -> Value:
    return interpreter.emit(by, [word, _word(interpreter, 1)], WORD)


def _step_range(interpreter: Interpreter, value: LoopIterator) -> IteratorStep:
    index, start, step, length = value.words
    more = interpreter.emit("compare", [index, length], FLAG, {"operator": "<"})
    offset = interpreter.emit("mul", [index, step], WORD)
    item = interpreter.emit("same", [interpreter.emit("add", [start, offset], WORD)], INT)
    return IteratorStep(more, value.stepped((_moved(interpreter, index, "add"), start, step, length), ()),
                        lambda: Number(INT, item))


def _step_sequence(interpreter: Interpreter, value: LoopIterator) -> IteratorStep:
    index, array = value.words[0], cast(Tensor, value.parts[0])
    size = interpreter.emit("dim", [ssa_value(array)], WORD, {"axis": 0})
    more = interpreter.emit("compare", [index, size], FLAG, {"operator": "<"})
    return IteratorStep(more, value.stepped((_moved(interpreter, index, "add"),), value.parts),
                        lambda: element_of(interpreter, array, index))


def _step_list(interpreter: Interpreter, value: LoopIterator) -> IteratorStep:
    """A step over a list, a string or bytes."""
    index, owner = value.words[0], cast(Instance, value.parts[0])
    if value.kind == "list" and not hasattr(owner.type, "items"):  # the paths that meet here expect different items
        raise Break("PJ209", type=describe(owner))
    size = interpreter.emit("list_size", [ssa_value(owner)], WORD)
    more = interpreter.emit("compare", [index, size], FLAG, {"operator": "<"})
    read = reads.item_of_list if value.kind == "list" else characters.item_of_text
    return IteratorStep(more, value.stepped((_moved(interpreter, index, "add"),), value.parts),
                        lambda: read(interpreter, owner, index))


def _step_dict(interpreter: Interpreter, value: LoopIterator) -> IteratorStep:
    """A step over a dict or set. Exits where its size or keys are not those that
    the iterator expects: bytecode raises."""
    (position, left, used), owner = value.words, cast(Instance, value.parts[0])
    if not isinstance(owner.type, Holding):  # the paths that meet here expect different entries
        raise Break("PJ209", type=describe(owner))
    size = interpreter.emit("list_size", [ssa_value(owner)], WORD)
    interpreter.emit("require", [interpreter.emit("compare", [size, used], FLAG, {"operator": "=="})], None, exits=True)
    end = interpreter.emit("next_entry", [ssa_value(owner), position], WORD)
    more = interpreter.emit("compare", [end, _word(interpreter, 0)], FLAG, {"operator": ">"})
    following = value.stepped((end, _moved(interpreter, left, "sub"), used), value.parts)
    return IteratorStep(more, following, lambda: _entry(interpreter, value, end))


def _entry(interpreter: Interpreter, value: LoopIterator, end: Value) -> Abstract:
    some = interpreter.emit("compare", [value.words[1], _word(interpreter, 0)], FLAG, {"operator": ">"})
    interpreter.emit("require", [some], None, exits=True)
    owner = cast(Instance, value.parts[0])
    names = zip(ENTRY_PARTS, cast(Holding, owner.type).items)
    found = [expectations.typed_item(interpreter, name, ssa_value(owner), end, kind)
             for name, kind in names if kind is not None]
    return found[0] if value.kind != "dict_items" else Sequence(found)


def _step_reversed(interpreter: Interpreter, value: LoopIterator) -> IteratorStep:
    index, array = value.words[0], cast(Tensor, value.parts[0])
    more = interpreter.emit("compare", [index, _word(interpreter, 0)], FLAG, {"operator": ">="})
    return IteratorStep(more, value.stepped((_moved(interpreter, index, "sub"),), value.parts),
                        lambda: element_of(interpreter, array, index))


def element_of(interpreter: Interpreter, array: Tensor, index: Value) -> Abstract:
    """``array[index]`` for an index that is known to be in range."""
    if array.type.ndim == 1:
        kind = numpy_scalar(array.type.dtype)
        return Number(kind, interpreter.emit("load", [ssa_value(array), index], kind, {"inside": True}))
    return indexing.row(interpreter, array, index)


def _step_enumerate(interpreter: Interpreter, value: LoopIterator) -> IteratorStep:
    count, inner = value.words[0], step_of(interpreter, value.parts[0])
    number = Number(INT, interpreter.emit("same", [count], INT)) if value.count is None else Const(value.count)
    following = value.stepped((_moved(interpreter, count, "add"),), (inner.following,))
    return IteratorStep(inner.more, following, lambda: Sequence([number, inner.item()]))


def _step_zip(interpreter: Interpreter, value: LoopIterator) -> IteratorStep:
    steps = [step_of(interpreter, part) for part in value.parts]
    more: Any = all(step.more is not False for step in steps)
    for step in steps if more else []:
        if step.more is not True:
            more = step.more if more is True else interpreter.emit("and", [more, step.more], FLAG)
    following = value.stepped((), tuple(step.following for step in steps))
    return IteratorStep(more, following, lambda: Sequence([step.item() for step in steps]))


_STEPS: Dict[str, Callable[[Any, LoopIterator], IteratorStep]] = {
    "range": _step_range, "sequence": _step_sequence, "reversed": _step_reversed, "enumerate": _step_enumerate,
    "zip": _step_zip, "list": _step_list, "dict_keys": _step_dict, "dict_values": _step_dict,
    "dict_items": _step_dict, "set": _step_dict, "text": _step_list, "bytes": _step_list,
}


def iterator_input(interpreter: Recorder, value: LoopIterator) -> LoopIterator:
    """An iterator that the segment starts with, and its words and arrays."""
    object = interpreter.segment_input(value.root, iterator_type(value))
    found = _iterator_parts(interpreter, object, value, ())
    found.input = interpreter.graph.inputs.index(object)
    return found


def _iterator_parts(interpreter: Recorder, object: Value, value: LoopIterator,
                    path: Tuple[Any, ...]) -> LoopIterator:
    """The iterator that ``path`` leads to; its words and arrays are read at the start of the graph."""
    def read(step: Any, type: Type) -> Value:
        result = interpreter.graph.new_value(type, str(step))
        interpreter.graph.blocks[0].ops.append(Op("iterator_part", [object], {"path": path + (step,)}, result))
        return result

    words = tuple(read(name, WORD) for name in ITERATOR_WORDS[value.kind])
    parts: List[Abstract] = []
    for position, part in enumerate(value.parts):
        if isinstance(part, LoopIterator):
            parts.append(_iterator_parts(interpreter, object, part, path + (position,)))
        else:
            operand = cast(TypedValue, part)
            parts.append(type(operand)(operand.type, read(position, operand.type)))
    return LoopIterator(value.kind, words, tuple(parts), None, value.defined_at)


def next_of(interpreter: Interpreter, name: str) -> Abstract:
    """``next`` of the iterator in a variable. When it has ended, a local handler catches StopIteration, or bytecode
    repeats the call."""
    step = step_of(interpreter, interpreter.use(interpreter.state.locals[name]))
    if step.more is False:
        raise Break("PJ209", type="iterator that has ended")
    if step.more is not True and exception_handlers.handler(interpreter) is not None:
        exception_handlers.raise_where(interpreter, lambda: interpreter.emit("not", [step.more], FLAG), StopIteration)
        if interpreter.exception_edges:
            exception_handlers.end_block(interpreter)
    if step.more is not True and not interpreter.exception_edges:
        interpreter.emit("require", [step.more], None, exits=True)
    interpreter.context.findings.stepped[interpreter.instr.index] = name
    interpreter.state.locals[name] = step.following
    return step.item()
