"""Frame readers: instructions left to bytecode that may run code which reads the locals of this frame.

Some libraries, loggers and debuggers read the locals of the calling frame. So the frame must have all of them then,
including those that no later instruction reads. The tables name C code that reads no frame; other code may read it.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import operator
import types
from typing import Any, Callable, Dict, FrozenSet, List, Optional, cast

import numpy as np

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.opcodes import (
    ATTRIBUTE_LOADS,
    ATTRIBUTE_WRITES,
    METHOD_LOADS,
    RUN_NO_USER_CODE,
    WITH_EXITS,
)
from pijit.core.bytecode.instructions.predicates import (
    calls,
    calls_method,
    enters_with,
    loads_method,
    makes_function,
    operands_above_callable,
    raises,
)
from pijit.core.capture.models.functions.callees import sample_of
from pijit.core.capture.models.stdlib.known_managers import ready
from pijit.core.capture.state.uncaptured_effects import is_shuffle, pops
from pijit.core.capture.values.lattice import (
    Abstract,
    BoundFunction,
    Const,
    Keywords,
    Method,
    Null,
    Sequence,
    Unknown,
    class_of,
)
from pijit.guards._evaluate import UNBOUND
from pijit.guards.facts import is_among, is_exactly, is_heap_type
from pijit.guards.reading import class_value

LIBRARIES = frozenset([
    "builtins", "numpy", "math", "cmath", "time", "itertools", "operator", "_operator", "collections", "_collections",
    "_random", "_bisect", "bisect", "_heapq", "heapq", "_struct", "struct", "zlib", "array", "_thread", "posix", "nt",
    "sys", "gc", "io", "_io", "_datetime", "datetime", "decimal", "_decimal", "binascii", "errno", "random", "mtrand",
    "weakref", "_weakref", "_json", "re", "_sre", "fractions", "string", "_string",
])
"""Modules, with their submodules, whose functions and classes in C read no frame, apart from the `READERS`."""

READERS: FrozenSet[str] = frozenset([
    "locals", "vars", "dir", "eval", "exec", "super", "breakpoint", "__import__", "__build_class__", "input",
    "_getframe", "_current_frames", "settrace", "setprofile", "excepthook", "displayhook", "breakpointhook",
    "collect", "start_new_thread", "start_new",
])
"""Functions of these modules that read frames, or run code of the program."""

C_CALLABLES = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
               types.MethodWrapperType, types.ClassMethodDescriptorType, np.ufunc, operator.itemgetter,
               operator.attrgetter, operator.methodcaller) + tuple({type(np.sum)} - {types.FunctionType})
"""The types of callables written in C. From NumPy 1.25 on they include that of its functions over array-likes."""

RUNNING = (types.FunctionType, types.MethodType, types.GeneratorType, types.FrameType,
           functools.partial, map, filter, zip, enumerate, reversed, type, itertools.chain, itertools.starmap,
           itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.groupby, itertools.accumulate,
           itertools.islice, itertools.cycle, collections.defaultdict, property)
"""Types in C whose objects run code of the program when they are used."""

SILENT_MANAGERS = (np.errstate, contextlib.suppress, contextlib.nullcontext)
"""Classes in Python whose objects run no code of the program when they are entered and left."""

INERT = frozenset(["append", "pop", "insert", "clear", "popleft", "appendleft", "extend", "id", "callable", "type"])
"""Functions and methods in C that call no method of their arguments."""

ATTRIBUTE_USES = ATTRIBUTE_LOADS | METHOD_LOADS | ATTRIBUTE_WRITES
PLAIN_HOOKS = {"__getattribute__": object.__getattribute__, "__setattr__": object.__setattr__,
               "__delattr__": object.__delattr__}
PASSED_ON = (types.FunctionType, staticmethod, classmethod, types.MemberDescriptorType, types.GetSetDescriptorType)
"""Descriptors that run no code of the program when an attribute is read."""


class FrameReaders:
    """The instructions of one function that may run code which reads its frame.

    Attributes:
        shown: by instruction, the variables that only the code it runs may read from the frame.
        looked: the same, as the present iteration of the analysis finds them.
    """

    __slots__ = ("_cfg", "_function", "_plain", "_silent", "shown", "looked")

    def __init__(self, cfg: CFG) -> None:
        self._cfg, self._function = cfg, cfg.function
        self._plain: Dict[int, bool] = {}
        self._silent: Dict[int, bool] = {}
        self.shown: Dict[int, FrozenSet[str]] = {}
        self.looked: Dict[int, FrozenSet[str]] = {}

    def begin(self, liveness: Liveness) -> None:
        """Begin an iteration of the analysis: variables that are known to be shown are live."""
        self.looked.clear()
        for index, names in self.shown.items():
            liveness.show(index, names)

    def settle(self) -> bool:
        """Keep the result of an iteration. Returns whether more variables are live."""
        named = {index: frozenset(filter(_is_named, names)) for index, names in self.looked.items()}
        found = {index: names for index, names in named.items() if names}
        self.shown.update(found)
        return bool(found)

    def look(self, index: int, hidden: FrozenSet[str]) -> None:
        """Note an instruction that runs code which may read the frame, and the variables that nothing else reads."""
        if index not in self.shown:
            self.looked[index] = hidden

    def may_look(self, instr: Instr, stack: List[Abstract]) -> bool:
        """Whether an instruction may read the frame's locals when bytecode runs it on this operand stack."""
        if instr.opname in RUN_NO_USER_CODE or is_shuffle(instr):
            return False
        if instr.opname in WITH_EXITS:
            return not self._is_left_silently(stack)
        if enters_with(instr):
            self.meet(instr, stack)
            if isinstance(stack[-1], BoundFunction):  # a context manager that has a model
                return False
        if raises(instr):  # a traceback shows the frame
            return True
        if calls(instr):
            return self._call_may_look(instr, stack)
        count = pops(instr)
        if not count or count > len(stack):
            return True
        if instr.opname in ATTRIBUTE_USES:
            plain = is_plain_attribute(stack[-1], instr.value)
            if loads_method(instr):
                self._plain[instr.index] = is_plain(stack[-1])
            return not plain
        return not all(map(self._is_passed, stack[-count:]))

    def meet(self, instr: Instr, stack: List[Abstract]) -> None:
        """Note whether the ``__exit__`` of a context manager that a with statement is about to enter reads no frame.

        In a loop it is assumed to read none. Otherwise each iteration would have to keep all objects of the previous
        one.
        """
        if enters_with(instr):
            block = cast(int, self._cfg.block_of[instr.index])
            silent = is_silent_manager(stack[-1]) or self._cfg.loop_of(block) is not None
            self._silent[instr.index] = silent and self._silent.get(instr.index, True)

    def _is_left_silently(self, stack: List[Abstract]) -> bool:
        """Whether the context manager of the innermost with statement is known to read no frame."""
        return next((self._silent.get(value.defined_at, False) for value in reversed(stack)
                     if self._is_made(value, enters_with)), False)

    def _is_made(self, value: Abstract, by: Callable[[Instr], bool]) -> bool:
        """Whether an instruction of a kind made a value; False if this function has no instruction with that index.

        Arguments of an inlined function were made by instructions of its caller.
        """
        instructions = self._function.instructions
        return 0 <= value.defined_at < len(instructions) and by(instructions[value.defined_at])

    def _is_exit(self, callee: Abstract, arguments: List[Abstract]) -> bool:
        """Whether this is the ``__exit__`` that a with statement keeps on the stack, called after a body without
        exception."""
        nothing = len(arguments) == 3 and all(isinstance(one, Const) and one.object is None for one in arguments)
        return nothing and self._is_made(callee, enters_with)

    def _call_may_look(self, instr: Instr, stack: List[Abstract]) -> bool:
        above = cast(int, operands_above_callable(instr))
        if above >= len(stack):
            return True
        callee, arguments = stack[-1 - above], stack[len(stack) - above:]
        if self._is_exit(callee, arguments):
            return not self._silent.get(callee.defined_at, False)
        looked_up = calls_method(instr) and self._plain.get(callee.defined_at, False)
        name = "" if looked_up else self._name_of(callee)
        if name is None or name in READERS:
            return True
        return name not in INERT and not all(map(self._is_passed, arguments))

    def _is_passed(self, value: Abstract) -> bool:
        """Whether a C function may receive a value: a plain one, or an unknown one that is not a new function."""
        return is_plain(value) or isinstance(value, Unknown) and not self._is_made(value, makes_function)

    @staticmethod
    def _name_of(callee: Abstract) -> Optional[str]:
        """The name of a C function of the libraries, else None."""
        if isinstance(callee, Method):
            return callee.name
        sample = sample_of(callee)
        if is_exactly(sample, C_CALLABLES):
            owner = getattr(sample, "__self__", None)
            known = in_libraries(getattr(sample, "__module__", None)) if issubclass(
                type(owner), (types.ModuleType, type(None))) else is_plain_class(type(owner))
            known = known or type(sample) is not types.BuiltinFunctionType
            return getattr(sample, "__name__", "") if known else None
        is_class = type(sample) is type and is_plain_class(sample)
        return sample.__name__ if is_class else None


def _is_named(name: str) -> bool:
    """Whether a variable has a name in the source. The iterator of a comprehension has none."""
    return not name.startswith(".")


def is_plain(value: Abstract) -> bool:
    """Whether any use of a value runs code of the libraries alone."""
    if isinstance(value, (Null, Keywords, Method)):
        return True
    if isinstance(value, Sequence):
        return all(map(is_plain, value.items))
    sample = sample_of(value)
    if issubclass(type(sample), np.ndarray) and sample.dtype.hasobject:  # isinstance would read the object's __class__
        return False
    if type(sample) is type:
        return is_plain_class(sample)
    kind = class_of(value)
    return kind is not None and is_plain_class(kind)


def is_plain_class(kind: type) -> bool:
    """Whether a class is a C class of the libraries whose objects run no other code."""
    return not is_among(kind, RUNNING) and not is_heap_type(kind) and in_libraries(kind.__module__)


def is_silent_manager(manager: Abstract) -> bool:
    """Whether entering and leaving a context manager runs code of the libraries alone."""
    kind = class_of(manager)
    if isinstance(manager, BoundFunction) and ready(manager) is not None:
        kind = manager.function.object  # type: ignore[attr-defined]
    return kind is not None and (is_plain_class(kind) or is_among(kind, SILENT_MANAGERS))


def in_libraries(module: Any) -> bool:
    """Whether a C function of this module belongs to the libraries."""
    return type(module) is str and module.split(".")[0] in LIBRARIES


def is_plain_attribute(owner: Abstract, name: str) -> bool:
    """Whether an attribute is read and written without code of the program."""
    kind = class_of(owner)
    if kind is None or isinstance(owner, BoundFunction):
        return False
    if is_plain_class(kind) or kind is types.ModuleType or kind is type:
        return True
    hooks = all(class_value(kind, hook) is plain for hook, plain in PLAIN_HOOKS.items())
    if not hooks or class_value(kind, "__getattr__") is not UNBOUND:
        return False
    found = class_value(kind, name)
    # hasattr would consult a metaclass
    return class_value(type(found), "__get__") is UNBOUND or is_exactly(found, PASSED_ON)
