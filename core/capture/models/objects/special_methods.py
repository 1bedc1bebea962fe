"""Special methods: operators, subscripts, iteration and truth of classes that define them in Python.

As in Python, a special method is looked up on the class alone. It is guarded like any callee: by its code, read
through the class of the object. Called by `operators` and by the models of builtins.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Optional, Tuple, cast

from pijit.core._hook import JitFunction
from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.opcodes import BINARY, INPLACE, UNARY
from pijit.core.bytecode.instructions.predicates import compares, loads_item, stores_item
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.objects.classes import class_paths, rely_on_class
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    LoopIterator,
    Number,
    OpaqueObject,
    Unrolled,
    class_of,
    has_class,
    number_type,
)
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.types import BOOL, FLAG, INT
from pijit.guards.facts import is_among, type_name
from pijit.guards.reading import class_value, mro_of, trust_getter
from pijit.guards.source import UNBOUND, Attr

OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
             "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift", "@": "matmul"}
COMPARISONS = {"==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"), "<": ("__lt__", "__gt__"),
               ">": ("__gt__", "__lt__"), "<=": ("__le__", "__ge__"), ">=": ("__ge__", "__le__")}
"""By operator, the methods of the left and of the right operand."""
PLAIN = (int, float, bool, complex, str, bytes, type(None))
"""Classes whose comparison runs no user code, and is not implemented for objects of user classes."""

trust_getter(JitFunction)  # guards read jitted methods from classes


def is_object(value: Abstract) -> bool:
    """Whether a value is an object of a known class, which may be the program's."""
    return isinstance(value, VirtualObject) or has_class(value)


def method_called(instr: Instr) -> Optional[Tuple[str, int]]:
    """The special method that an instruction calls first, and how far below the top of the stack its object is."""
    name = instr.opname
    if name in BINARY:
        return "__%s__" % OPERATORS[BINARY[name]], 1
    if name in INPLACE:
        return "__i%s__" % OPERATORS[INPLACE[name]], 1
    if name in UNARY:
        return "__%s__" % UNARY[name], 0
    if compares(instr) and instr.value in COMPARISONS:
        return COMPARISONS[instr.value][0], 1
    if loads_item(instr):
        return "__getitem__", 1
    return ("__setitem__", 1) if stores_item(instr) else None


def operator_method(instr: Instr, value: Abstract) -> Any:
    """The Python function that an operator or a subscript calls on its first operand, or None."""
    kind = class_of(value) if isinstance(value, (OpaqueObject, Instance, VirtualObject)) else None
    name = cast(Tuple[str, int], method_called(instr))[0]
    found = _python_method(kind, name)
    return _python_method(kind, "__" + name[3:]) if found is None and instr.opname in INPLACE else found


def special_method(value: Abstract, name: str) -> Any:
    """The Python function that the class of an object defines under a name; None if that is anything else."""
    return _python_method(class_of(value), name) if is_object(value) else None


def _python_method(kind: Optional[type], name: str) -> Any:
    found = class_value(kind, name) if kind is not None else None
    return found if issubclass(type(found), (FunctionType, JitFunction)) else None


def call_special(interpreter: Interpreter, name: str, owner: Abstract, *arguments: Abstract) -> Optional[Abstract]:
    """The result of a special method; None if the class of the object does not define it in Python."""
    if special_method(owner, name) is None:
        return None
    result = _called(interpreter, name, owner, *arguments)
    if result is NOT_IMPLEMENTED:
        raise Break("PJ203", operand="%s that is not implemented" % name)
    return result


NOT_IMPLEMENTED = Const(NotImplemented)


def _called(interpreter: Interpreter, name: str, owner: Abstract, *arguments: Abstract) -> Abstract:
    """The result of a special method that exists; `NOT_IMPLEMENTED` for any NotImplemented."""
    wrote, paths = interpreter.wrote, class_paths(interpreter, owner).then(Attr, name)
    result = interpreter.call(locations.known_object(interpreter, special_method(owner, name), *paths),
                              [owner, *arguments], {})
    if result != NOT_IMPLEMENTED:
        return result
    if interpreter.wrote and not wrote:  # an exit in the middle of it would use its result as that of the instruction
        raise Break("PJ231")
    return NOT_IMPLEMENTED


def ask_special(interpreter: Interpreter, name: str, owner: Abstract, *arguments: Abstract) -> Optional[Abstract]:
    """As `call_special`, where the result is not that of the instruction."""
    with interpreter.deriving():
        return call_special(interpreter, name, owner, *arguments)


def binary_special(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """``left <symbol> right`` by a method of one of them; None if neither has one."""
    own, reflected = "__%s__" % OPERATORS[symbol], "__r%s__" % OPERATORS[symbol]
    if special_method(left, own) is None:
        return call_special(interpreter, reflected, right, left) if _gives_way(interpreter, own, left, right) else None
    turns = [(own, left, right)]
    if class_of(right) is not class_of(left) and special_method(right, reflected) is not None:
        turns.insert(0 if _is_overloaded(interpreter, reflected, left, right) else 1, (reflected, right, left))
    elif class_of(right) is None:
        raise Break("PJ203", operand=own)
    for turn in turns:
        found = _called(interpreter, *turn)
        if found is not NOT_IMPLEMENTED:
            return found
    raise Break("PJ203", operand="%s that is not implemented" % own)


def _is_overloaded(interpreter: Interpreter, reflected: str, left: Abstract, right: Abstract) -> bool:
    """Whether the right operand is asked first: its class is a subclass with another reflected method."""
    kinds: Any = (class_of(left), class_of(right))
    if not is_subclass(kinds[1], kinds[0]):
        return False
    found = class_value(kinds[0], reflected)
    rely_on_class(interpreter, left, reflected, found)
    rely_on_class(interpreter, right, reflected, class_value(kinds[1], reflected))
    return found is not class_value(kinds[1], reflected)


def is_subclass(kind: Optional[type], base: Optional[type]) -> bool:
    """Whether a class is a proper subclass of another one."""
    return kind is not None and kind is not base and any(one is base for one in mro_of(kind))


def inplace_special(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """``left <symbol>= right`` by the in-place method of the class of ``left``; None if there is none."""
    name = OPERATORS[symbol]
    if special_method(left, "__i%s__" % name) is not None:
        found = _called(interpreter, "__i%s__" % name, left, right)
        return found if found is not NOT_IMPLEMENTED else None
    if special_method(left, "__%s__" % name) is not None:
        if class_value(cast(type, class_of(left)), "__i%s__" % name) is not UNBOUND:
            raise Break("PJ203", operand=type_name(cast(type, class_of(left))))
        rely_on_class(interpreter, left, "__i%s__" % name, UNBOUND)
    return None


def compare_special(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """A comparison by a method of one of the operands; None if neither has one."""
    own, reflected = COMPARISONS[symbol]
    asked = [(left, own), (right, reflected)] + [(left, "__eq__"), (right, "__eq__")] * (symbol == "!=")
    if all(special_method(owner, name) is None for owner, name in asked):
        return None
    turns = [(own, left, right), (reflected, right, left)]
    for turn in reversed(turns) if is_subclass(class_of(right), class_of(left)) else turns:
        found = _compared(interpreter, *turn)
        if found is not NOT_IMPLEMENTED:
            return found
    if symbol not in ("==", "!="):
        raise Break("PJ203", operand="%s that is not implemented" % own)
    return interpreter.compare("is" if symbol == "==" else "is not", left, right)


def _compared(interpreter: Interpreter, name: str, owner: Abstract, other: Abstract) -> Abstract:
    """The result of one operand's comparison method; `NOT_IMPLEMENTED` for NotImplemented."""
    kinds = class_of(owner), class_of(other)
    if special_method(owner, name) is not None and kinds[1] is not None:
        return _called(interpreter, name, owner, other)
    if is_among(kinds[0], PLAIN) and kinds[1] is not None and not issubclass(kinds[1], cast(type, kinds[0])):
        return NOT_IMPLEMENTED
    found = class_value(cast(type, kinds[0]), name) if is_object(owner) else UNBOUND
    if kinds[1] is None or found is not getattr(object, name) or name == "__eq__" and kinds[0] is kinds[1]:
        raise Break("PJ203", operand=type_name(kinds[0]) if kinds[0] is not None else name)
    rely_on_class(interpreter, owner, name, found)
    if name != "__ne__" or special_method(owner, "__eq__") is None:
        return NOT_IMPLEMENTED
    with interpreter.deriving():
        answer = _called(interpreter, "__eq__", owner, other)
    return answer if answer is NOT_IMPLEMENTED else conversions.negated(interpreter, answer)


def _gives_way(interpreter: Interpreter, own: str, left: Abstract, right: Abstract) -> bool:
    """Whether the left operand leaves the operation to the right one.

    Python numbers do so with any object that is no number. Objects whose class does not define the operation do so
    with objects of other classes.
    """
    kind = number_type(left)
    if kind is not None:
        ours = is_object(right)
        return ours and kind.family == "py" and not issubclass(cast(type, class_of(right)), (int, float, complex))
    left_class: Any = class_of(left) if is_object(left) else class_of(right)
    if left_class is class_of(right) or class_value(left_class, own) is not UNBOUND:
        return False
    rely_on_class(interpreter, left, own, UNBOUND)
    return True


def length_special(interpreter: Interpreter, value: Abstract) -> Optional[Abstract]:
    """``len(value)`` by ``__len__``, which has to return an int that is not negative."""
    length = ask_special(interpreter, "__len__", value)
    if length is None:
        return None
    if isinstance(length, Const) and type(length.object) is int and length.object >= 0:
        return length
    if not isinstance(length, Number) or length.type != INT:
        raise Break("PJ203", operand="length of %s" % type_name(cast(type, class_of(value))))
    enough = interpreter.emit("compare", [interpreter.number_value(length), interpreter.number_value(Const(0))], FLAG,
                              {"operator": ">="})
    interpreter.emit("require", [enough], None, exits=True)
    return length


def truth_special(interpreter: Interpreter, value: Abstract) -> Abstract:
    """A bool or a length in place of an object whose class defines its truth in Python; any other value itself."""
    if not is_object(value):
        return value
    if class_value(cast(type, class_of(value)), "__bool__") is UNBOUND:
        length = length_special(interpreter, value)
        if length is not None:
            rely_on_class(interpreter, value, "__bool__", UNBOUND)
        return length if length is not None else value
    answer = ask_special(interpreter, "__bool__", value)
    return _checked_bool(answer, value) if answer is not None else value


def contains_special(interpreter: Interpreter, owner: Abstract, value: Abstract) -> Optional[Abstract]:
    """``value in owner`` by ``__contains__``: the truth of its result."""
    answer = ask_special(interpreter, "__contains__", owner, value)
    if answer is None or isinstance(answer, Const):
        return _checked_bool(answer, owner) if answer is not None else None
    return conversions.negated(interpreter, conversions.negated(interpreter, answer))


def _checked_bool(answer: Abstract, owner: Abstract) -> Abstract:
    if number_type(answer) != BOOL:
        raise Break("PJ203", operand="truth of %s" % type_name(cast(type, class_of(owner))))
    return answer


def iterator_special(interpreter: Interpreter, value: Abstract) -> Optional[Abstract]:
    """``iter(value)`` by an ``__iter__`` that returns an iterator which kernels can step."""
    iterator = ask_special(interpreter, "__iter__", value)
    if iterator is not None and not isinstance(iterator, (LoopIterator, GeneratorFrame, Unrolled)):
        raise Break("PJ209", type=type_name(cast(type, class_of(value))))
    return iterator
