"""Frame layout of a kernel: the words of inputs, outputs and scratch memory, and the launcher's codes for them.

`Kernel` makes one `FrameLayout` for each graph, and both emitters follow it. core/native/launcher/abi.h describes
the same words for the launcher, so both files must agree.
"""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np

from pijit.core._launcher import ABI_NUMBERS
from pijit.core.graph.ir import Graph, Output, SideExit, Value
from pijit.core.graph.types import (
    BOOL,
    COMPLEX,
    FLAG,
    FLOAT,
    INT,
    ITERATOR_WORDS,
    WORD,
    Array,
    IteratorType,
    Object,
    Opaque,
    Scalar,
)
from pijit.core.kernel.errors import CompileError

FIRST_INPUT_WORD = ABI_NUMBERS["FIRST_INPUT_WORD"]

ITERATOR_CODES = {"range": "range_iterator", "sequence": "sequence_iterator", "reversed": "reversed_iterator",
                  "enumerate": "enumerate", "zip": "zip", "list": "list_iterator", "dict_keys": "dict_keys",
                  "dict_values": "dict_values", "dict_items": "dict_items", "set": "set_iterator",
                  "text": "text_iterator", "bytes": "bytes_iterator"}
_ITERATOR_KINDS = {code: kind for kind, code in ITERATOR_CODES.items()}
MADE_OF_PARTS = frozenset(("tuple", "sequence_iterator", "list_iterator", "reversed_iterator", "enumerate", "zip",
                           "dict_keys", "dict_values", "dict_items", "set_iterator", "text_iterator",
                           "bytes_iterator", "map",
                           "filter", "called", "function", "generator", "instance", "kept_instance", "changed_instance",
                           "stepped", "stepped_reversed", "stepped_values", "stepped_items"))
INSTANCES = ("instance", "kept_instance", "changed_instance")
_PYTHON_CODES = {INT: "int", FLOAT: "float", BOOL: "bool", COMPLEX: "complex", WORD: "int", FLAG: "bool"}


_COMPLEX_NUMBERS = frozenset(np.dtype(code).num for code in "FD")


def input_code(kind: Any) -> Tuple[Any, ...]:
    """The launcher's input code for a type."""
    if isinstance(kind, Opaque):
        return (kind.kind,)
    if isinstance(kind, Object):
        return ("object",)
    if isinstance(kind, IteratorType):
        parts = tuple(_part_code(part) for part in kind.parts)
        return (ITERATOR_CODES[kind.kind],) if kind.kind == "range" else (ITERATOR_CODES[kind.kind], parts)
    if isinstance(kind, Array):
        return ("array", kind.ndim)
    if kind in _PYTHON_CODES:
        return (_PYTHON_CODES[kind],)
    return ("scalar", kind.dtype.num)


def _part_code(kind: Any) -> Tuple[Any, ...]:
    """The code of an object that an iterator walks over.

    No guard checks this object, so the launcher checks the full type of an array.
    """
    if isinstance(kind, Array):
        return ("typed_array", kind.dtype.num, kind.ndim, kind.layout, kind.writeable)
    return input_code(kind)


def value_words(kind: Any) -> int:
    """The number of frame words that an output of this type takes."""
    return 2 if isinstance(kind, Scalar) and kind.dtype.kind == "c" else 1


def input_words(code: Tuple[Any, ...]) -> int:
    """The number of frame words that an input takes."""
    if code[0] in ("array", "typed_array"):
        return 2 + 2 * int(code[-1] if code[0] == "array" else code[2])
    if code[0] in _ITERATOR_KINDS:
        own = len(ITERATOR_WORDS[_ITERATOR_KINDS[code[0]]])
        return own + sum(input_words(part) for parts in code[1:] for part in parts)
    if code[0] == "scalar":
        return 2 if code[1] in _COMPLEX_NUMBERS else 1
    return {"skip": 0, "complex": 2}.get(code[0], 1)


def part_word(kind: IteratorType, path: Tuple[Any, ...]) -> int:
    """The offset of a part of an iterator input, in words from the input's first word."""
    names = ITERATOR_WORDS[kind.kind]
    if isinstance(path[0], str):
        return names.index(path[0])
    word = len(names) + sum(input_words(_part_code(part)) for part in kind.parts[:path[0]])
    return word + part_word(kind.parts[path[0]], path[1:]) if len(path) > 1 else word


class FrameLayout:
    """The frame of one graph.

    ``inputs`` are the launcher's input codes, and ``input_word`` has the first word of each input. ``output_word`` is
    the first output word, ``words`` the length of the frame. ``exits`` has (graph exit, output codes) by kernel exit.

    Exits are numbered in the order in which they are met. Each distinct pair of graph exit and output codes is one
    kernel exit. The output area is as long as the longest exit needs; scratch words follow it.
    """

    def __init__(self, graph: Graph) -> None:
        self.inputs = tuple(input_code(value.type) for value in graph.inputs)
        self.input_word: List[int] = []
        word = FIRST_INPUT_WORD
        for code in self.inputs:
            self.input_word.append(word)
            word += input_words(code)
        self.output_word = word
        self.output_words = 0
        self.exits: List[Tuple[int, Tuple[Any, ...]]] = []
        self._known: Dict[Any, int] = {}
        self._scratch_used = 0
        self._scratch_words = 0
        self._instances: List[Any] = []
        for block in graph.blocks:
            for op in block.ops:
                if op.exit is not None:
                    self.exit(op.exit)
            for arm in _arms(block.terminator):
                if isinstance(arm, SideExit):
                    self.exit(arm)

    @property
    def words(self) -> int:
        return self.output_word + self.output_words + self._scratch_words

    def scratch(self, words: int) -> int:
        """Reserve ``words`` scratch words until ``reuse_scratch`` is called. Returns the number of the first one."""
        word = self.output_word + self.output_words + self._scratch_used
        self._scratch_used += words
        self._scratch_words = max(self._scratch_words, self._scratch_used)
        return word

    def reuse_scratch(self) -> None:
        """Free all scratch words, because the operation that used them is complete."""
        self._scratch_used = 0

    def exit(self, exit: SideExit) -> Tuple[int, List[Value]]:
        """The kernel exit id, and the values to store in consecutive output words, in order."""
        codes, values = [], []  # type: Tuple[List[Any], List[Value]]
        word = self.output_word
        self._instances = []
        for output in exit.outputs:
            code, word = self._output(output, word, values)
            codes.append(code)
        self.output_words = max(self.output_words, word - self.output_word)
        key = (exit.exit, tuple(map(_comparable, codes)))
        if key not in self._known:
            self._known[key] = len(self.exits)
            self.exits.append((exit.exit, tuple(codes)))
        return self._known[key], values

    def _output(self, output: Output, word: int, values: List[Value]) -> Tuple[Tuple[Any, ...], int]:
        kind = output.kind
        if kind == "input":
            return ("fetched", output.value), word
        if kind == "const":
            return ("const", output.value), word
        if kind == "value":
            values.append(output.value)
            return _value_code(output.value.type, word), word + value_words(output.value.type)
        if kind in INSTANCES and output.value[1] in self._instances:
            return ("again", self._instances.index(output.value[1])), word
        code: Tuple[Any, ...] = (kind,)
        if kind in MADE_OF_PARTS:
            parts = []
            for part in output.parts:
                item, word = self._output(part, word, values)
                parts.append(item)
            code += (tuple(parts),)
        if kind in INSTANCES:
            self._instances.append(output.value[1])
            code += (output.value[0],)
        elif output.value is not None:
            code += (output.value,)
        values.extend(output.words)
        return code + (word,) * bool(output.words), word + len(output.words)


def _value_code(kind: Any, word: int) -> Tuple[Any, ...]:
    if isinstance(kind, (Array, Object)):
        return ("array" if isinstance(kind, Array) else "object", word)
    if kind in _PYTHON_CODES:
        return (_PYTHON_CODES[kind], word)
    if isinstance(kind, Scalar):
        return ("scalar", word, kind.dtype)
    raise CompileError("a %r cannot leave a kernel as a value" % kind)


def _comparable(code: Tuple[Any, ...]) -> Any:
    """A key for an output code. Two codes have equal keys exactly when the launcher treats them alike."""
    if code[0] == "const":
        return ("const", id(code[1]))
    if code[0] in MADE_OF_PARTS:
        return (code[0], tuple(map(_comparable, code[1]))) + code[2:]
    return code


def _arms(terminator: Any) -> List[Any]:
    return [getattr(terminator, name) for name in ("then", "other", "exit") if hasattr(terminator, name)]
