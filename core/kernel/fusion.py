"""One loop nest for a group of elementwise operations; see graph/passes/fuse.py for what a group is.

The nest writes only its own new result. The floating-point flags are cleared before and tested after it:
each element's operations are the IEEE operations that NumPy does, so a flag is raised whenever NumPy would
raise it, and then the group leaves before anything can be seen.
"""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np

from ..graph.ir import Op, Value
from ..graph.passes.fuse import scalar_operation
from ..graph.types import Array, Scalar, numpy_scalar
from . import scalar_ops
from .array_ops import broadcast, loop_dtypes
from .arrays import LISTENING, ArrayVariable, memory_code

_UNARY = {"neg": {"f": "fneg({a})", "i": "isub(0, {a})", "u": "usub(uint64(0), {a})"},
          "square": {"f": "fmul({a}, {a})"}, "sqrt": {"f": "froot({a})"}, "abs": {"f": "fabs({a})"}}
_BINARY = {"truediv": "fdiv"}


def can_fuse(emitter: Any, group: List[Op]) -> bool:
    """Whether every array that the group reads has unit stride on its last axis: else NumPy's own loops do
    as well."""
    inner = {op.result for op in group}
    for value in (value for op in group for value in op.args):
        if value in inner or not isinstance(value.type, Array):
            continue
        array = emitter.arrays[value]
        if not array.shape or array.strides[-1] != "(%d)" % array.type.dtype.itemsize:
            return False
    return True


def write_group(emitter: Any, group: List[Op]) -> None:
    """Write the whole group; leaves by the first operation's exit."""
    first, last = group[0], group[-1]
    inner = {op.result for op in group}
    leaves = list(dict.fromkeys(value for op in group for value in op.args if value not in inner))
    arrays = [value for value in leaves if isinstance(value.type, Array)]
    scalars = _scalars(emitter, first, group)
    shape = broadcast(emitter, first, [emitter.arrays[value].shape for value in arrays])
    result = _allocate(emitter, group, shape)
    emitter.arrays[last.result] = result
    emitter.line(emitter.runtime("flags_clear"))
    sizes = {emitter.arrays[value].shape[-1] for value in arrays}

    def body(places: List[Tuple[str, str]]) -> None:
        _write_element(emitter, group, dict(zip(arrays, places)), scalars, places[-1])

    operands = [emitter.arrays[value] for value in arrays] + [result]
    same = " and ".join("%s == %s" % (size, shape[-1]) for size in sorted(sizes) if size != shape[-1])
    if same:
        emitter.line("if %s:" % same)
        emitter.depth += 1
        emitter.nest(shape, operands, body, stretched=False)
        emitter.depth -= 1
        emitter.line("else:")
        emitter.depth += 1
        emitter.nest(shape, operands, body)
        emitter.depth -= 1
    else:
        emitter.nest(shape, operands, body, stretched=False)
    emitter.guard(first, "%s != 0" % emitter.runtime("flags_test", LISTENING))


def _scalars(emitter: Any, first: Op, group: List[Op]) -> Dict[Tuple[Value, str], str]:
    """The scalar operands as the loops' dtypes, converted before the nest."""
    found: Dict[Tuple[Value, str], str] = {}
    for op in group:
        for value, dtype in zip(op.args, loop_dtypes(op.attrs["types"])[0]):
            if isinstance(value.type, Scalar) and (value, dtype.char) not in found:
                found[value, dtype.char] = emitter.converted(emitter.text[value], value.type, dtype, first)
    return found


def _write_element(emitter: Any, group: List[Op], places: Dict[Value, Tuple[str, str]],
                   scalars: Dict[Tuple[Value, str], str], out: Tuple[str, str]) -> None:
    texts: Dict[Value, str] = {}
    loaded: Dict[Value, str] = {}
    for op in group:
        dtypes, dtype = loop_dtypes(op.attrs["types"])
        operands = []
        for value, wanted in zip(op.args, dtypes):
            if value in places and value not in loaded:
                loaded[value] = emitter.let(emitter.element(value.type.dtype, places[value]))
            if isinstance(value.type, Scalar):
                operands.append(scalars[value, wanted.char])
            else:
                source = loaded.get(value) or texts[value]
                operands.append(emitter.converted(source, numpy_scalar(value.type.dtype), wanted, op,
                                                  unchecked=True))
        texts[op.result] = emitter.let(_expression(scalar_operation(op), dtype, operands))
    emitter.line("st_%s(%s, %s, %s)" % ((memory_code(group[-1].result.type.dtype),) + out
                                        + (texts[group[-1].result],)))


def _expression(name: str, dtype: np.dtype, operands: List[str]) -> str:
    """One element's operation; integers wrap to the dtype."""
    letter = scalar_ops.machine_kind(numpy_scalar(dtype))
    prefix = {"f": "f", "u": "u"}.get(letter, "i")
    if len(operands) == 1:
        source = _UNARY[name][prefix].format(a=operands[0])
    else:
        source = "%s(%s, %s)" % (_BINARY.get(name, prefix + name), operands[0], operands[1])
    if letter == "n":
        source = "wrap%s(%s, %d)" % ("_signed" if dtype.kind == "i" else "_unsigned", source,
                                     8 * dtype.itemsize)
    return source


# ---- the result's layout ----


def _allocate(emitter: Any, group: List[Op], shape: List[str]) -> ArrayVariable:
    """The result, with the strides that NumPy would have come to step by step."""
    last, known = group[-1], {}  # type: Op, Dict[Value, Tuple[str, int]]
    if len(shape) == 1:
        return emitter.new_array(group[0], Array(last.result.type.dtype, 1, "C"), "v%d" % last.result.id,
                                 shape)
    for op in group:
        words, sizes = [], []
        for value, dtype in zip(op.args, loop_dtypes(op.attrs["types"])[0]):
            address, ndim = _described(emitter, value, known)
            words += [str(ndim), address, str(dtype.itemsize if value.type.dtype == dtype else 0)]
            if isinstance(value.type, Array):
                sizes.append(known[value][2])
        own = broadcast(emitter, group[0], sizes)
        address = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(2 + 2 * len(own)),
                                                            ", ".join(["0", "0"] + own)))
        likes = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(len(words)),
                                                          ", ".join(words)))
        if op is not last:
            emitter.line(emitter.runtime("layout_like", address, len(own), op.result.type.dtype.itemsize,
                                         len(op.args), likes))
            known[op.result] = (address, len(own), own)
            continue
        emitter.checked("alloc_like", "frame", address, last.result.type.dtype.num, len(own), len(op.args),
                        likes,
                        op=group[0])
        return emitter.describe_at(last.result.type, "v%d" % last.result.id, address, own)
    raise AssertionError("an empty group")


def _described(emitter: Any, value: Value, known: Dict[Value, Any]) -> Tuple[str, int]:
    """Descriptor address and ndim of an operand."""
    if isinstance(value.type, Scalar):
        at = emitter.layout.scratch(2)
        return emitter.let("set_words(frame, %d, 0, 0)" % at), 0
    if value not in known:
        array = emitter.arrays[value]
        at = emitter.layout.scratch(2 + 2 * len(array.shape))
        known[value] = (emitter.descriptor(array, at), len(array.shape), array.shape)
    return known[value][0], known[value][1]
