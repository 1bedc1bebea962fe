"""Operators, subscripts, iteration and truth of objects whose classes define them in Python: calls of special
methods.

As in Python they are looked up on the class alone. What a method has found natively is guarded like any callee: by
its code, read through the class of the object.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Optional, Tuple

from pijit.core._hook import JitFunction
from pijit.core.bytecode.decode import Instr
from pijit.core.bytecode.opcodes import BINARY, INPLACE, UNARY
from pijit.core.capture.conditions import ClassHolds, ClassLacks, Holds
from pijit.core.capture.facts import Place
from pijit.core.capture.record import Record
from pijit.core.capture.suspended import Suspended
from pijit.core.capture.values import Abstract, Const, Instance, LoopIterator, Number, Opaque, class_of, number_type
from pijit.core.errors import Break
from pijit.core.graph.types import BOOL, FLAG, INT
from pijit.guards.facts import type_name
from pijit.guards.reading import class_value, mro_of
from pijit.guards.source import UNBOUND, Attr, TypeOf

OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
             "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift", "@": "matmul"}
COMPARISONS = {"==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"), "<": ("__lt__", "__gt__"),
               ">": ("__gt__", "__lt__"), "<=": ("__le__", "__ge__"), ">=": ("__ge__", "__le__")}
"""What is asked of the left operand, and of the right one."""

SUBSCRIPTS = {"BINARY_SUBSCR": "__getitem__", "STORE_SUBSCR": "__setitem__"}


def method_called(instr: Instr) -> Optional[Tuple[str, int]]:
    """The special method that an instruction calls first, and how far below the top of the stack its object is."""
    name = instr.opname
    if name in BINARY:
        return "__%s__" % OPERATORS[BINARY[name]], 1
    if name in INPLACE:
        return "__i%s__" % OPERATORS[INPLACE[name]], 1
    if name in UNARY:
        return "__%s__" % UNARY[name], 0
    if name == "COMPARE_OP" and instr.value in COMPARISONS:
        return COMPARISONS[instr.value][0], 1
    return (SUBSCRIPTS[name], 1) if name in SUBSCRIPTS else None


def operator_method(instr: Instr, value: Abstract) -> Any:
    """The Python function that an operator or a subscript calls of its first operand, or None."""
    kind = class_of(value) if isinstance(value, (Opaque, Instance, Record)) else None
    name = method_called(instr)[0]  # type: ignore[index]
    found = _python_method(kind, name)
    return _python_method(kind, "__" + name[3:]) if found is None and instr.opname in INPLACE else found


def special_method(value: Abstract, name: str) -> Any:
    """What the class of an object from outside defines under a name, if that is a Python function; else None."""
    return _python_method(class_of(value), name) if isinstance(value, (Opaque, Record)) else None


def _python_method(kind: Optional[type], name: str) -> Any:
    found = class_value(kind, name) if kind is not None else None
    return found if issubclass(type(found), (FunctionType, JitFunction)) else None


def call_special(self: Any, name: str, owner: Abstract, *arguments: Abstract) -> Optional[Abstract]:
    """The result of a special method; None if the class of the object does not define it in Python."""
    found = special_method(owner, name)
    if found is None:
        return None
    place = class_place(self, owner).then(Attr, name)
    result = self.call(self.known_object(found, *place), [owner, *arguments], {})
    if isinstance(result, Const) and result.object is NotImplemented:
        raise Break("PJ203", operand="%s that is not implemented" % name)
    return result  # type: ignore[no-any-return]


def class_place(self: Any, value: Abstract) -> Place:
    """Where the class of an object is."""
    if isinstance(value, Record):
        cls = self.use(value.cls)
        return Place(cls.source, cls.root)
    return Place(value.source, value.root).then(TypeOf)


def rely_on_class(self: Any, value: Abstract, name: str, found: Any) -> None:
    """The class of an object must have this under a name, or nothing."""
    if isinstance(value, Record):
        self.rely(self.use(value.cls), Holds(name, found))
    else:
        self.rely(value, ClassLacks(name) if found is UNBOUND else ClassHolds(name, found))


def ask_special(self: Any, name: str, owner: Abstract, *arguments: Abstract) -> Optional[Abstract]:
    """As `call_special` where the result is not that of the instruction."""
    before, self.derived = self.derived, True
    try:
        return call_special(self, name, owner, *arguments)
    finally:
        self.derived = before


def binary_special(self: Any, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """``left <symbol> right`` by a method of one of them; None where neither has one."""
    name = OPERATORS[symbol]
    if special_method(left, "__%s__" % name) is not None:
        _refuse_subclass(left, right)
        return call_special(self, "__%s__" % name, left, right)
    return call_special(self, "__r%s__" % name, right, left) if _gives_way(left, right) else None


def inplace_special(self: Any, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """``left <symbol>= right`` by a method that the class of ``left`` has for that."""
    name = OPERATORS[symbol]
    found = call_special(self, "__i%s__" % name, left, right)
    if found is None and special_method(left, "__%s__" % name) is not None:
        if class_value(class_of(left), "__i%s__" % name) is not UNBOUND:  # type: ignore[arg-type]
            raise Break("PJ203", operand=type_name(class_of(left)))
        rely_on_class(self, left, "__i%s__" % name, UNBOUND)
    return found


def compare_special(self: Any, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """A comparison by a method of one of the operands; None where neither has one."""
    own, reflected = COMPARISONS[symbol]
    if special_method(left, own) is not None:
        _refuse_subclass(left, right)
        return call_special(self, own, left, right)
    undefined = (isinstance(left, (Opaque, Record))
                 and class_value(class_of(left), own) is getattr(object, own))  # type: ignore[arg-type]
    if symbol == "!=" and undefined and special_method(left, "__eq__") is not None:
        _refuse_subclass(left, right)
        rely_on_class(self, left, own, object.__ne__)
        return self.negated(ask_special(self, "__eq__", left, right))  # type: ignore[no-any-return]
    if undefined and symbol not in ("==", "!=") and special_method(right, reflected) is not None:
        rely_on_class(self, left, own, getattr(object, own))
        return call_special(self, reflected, right, left)
    return call_special(self, reflected, right, left) if _gives_way(left, right) else None


def _refuse_subclass(left: Abstract, right: Abstract) -> None:
    """The right operand is asked first if its class is a subclass of the left one's."""
    kinds = class_of(left), class_of(right)
    if kinds[1] is None or kinds[1] is not kinds[0] and any(kind is kinds[0] for kind in mro_of(kinds[1])):
        raise Break("PJ203", operand="object of a subclass")


def _gives_way(left: Abstract, right: Abstract) -> bool:
    """Whether the left operand is a number of Python's, which leaves the operation to any object that is none."""
    kind = number_type(left)
    ours = isinstance(right, (Opaque, Record))
    ours = ours and not issubclass(class_of(right), (int, float, complex))  # type: ignore[arg-type]
    return ours and kind is not None and kind.family == "py"


def length_special(self: Any, value: Abstract) -> Optional[Abstract]:
    """``len(value)`` by ``__len__``, which has to give an int that is not negative."""
    length = ask_special(self, "__len__", value)
    if length is None:
        return None
    if isinstance(length, Const) and type(length.object) is int and length.object >= 0:
        return length
    if not isinstance(length, Number) or length.type != INT:
        raise Break("PJ203", operand="length of %s" % type_name(class_of(value)))
    enough = self.emit("compare", [self.number_value(length), self.number_value(Const(0))], FLAG, {"operator": ">="})
    self.emit("require", [enough], None, exits=True)
    return length


def truth_special(self: Any, value: Abstract) -> Abstract:
    """A bool, or a length, in place of an object whose class says in Python whether it is true; any other value
    itself."""
    if not isinstance(value, (Opaque, Record)):
        return value
    if class_value(class_of(value), "__bool__") is UNBOUND:  # type: ignore[arg-type]
        length = length_special(self, value)
        if length is not None:
            rely_on_class(self, value, "__bool__", UNBOUND)
        return length if length is not None else value
    answer = ask_special(self, "__bool__", value)
    return _checked_bool(answer, value) if answer is not None else value


def contains_special(self: Any, owner: Abstract, value: Abstract) -> Optional[Abstract]:
    """``value in owner`` by ``__contains__``: whether what that gives is true."""
    answer = ask_special(self, "__contains__", owner, value)
    if answer is None or isinstance(answer, Const):
        return _checked_bool(answer, owner) if answer is not None else None
    return self.negated(self.negated(answer))  # type: ignore[no-any-return]


def _checked_bool(answer: Abstract, owner: Abstract) -> Abstract:
    if number_type(answer) != BOOL:
        raise Break("PJ203", operand="truth of %s" % type_name(class_of(owner)))
    return answer


def iterator_special(self: Any, value: Abstract) -> Optional[Abstract]:
    """``iter(value)`` by ``__iter__`` that gives an iterator over what kernels step."""
    iterator = ask_special(self, "__iter__", value)
    if iterator is not None and not isinstance(iterator, (LoopIterator, Suspended)):
        raise Break("PJ209", type=type_name(class_of(value)))
    return iterator
