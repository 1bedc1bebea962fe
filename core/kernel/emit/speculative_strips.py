"""Speculative strips: iterations of a loop without floating-point checks, and one test of the flags at the end.

A loop of many iterations between two polls (graph/passes/strip_mining.py) is written twice. The first version checks
no result. It does not check indices that are affine in the loop's counter either: their ends are compared before. If
something is wrong (another index, an overflow, a flag at the end), the elements that it has replaced are put back. The
second version then repeats the strip with all checks, from the values at its beginning, and leaves where it must.
Therefore stores must have affine indices. A kernel that has repeated some strips tries no more.

LLVM knows nothing of flags. A value that is `pinned` is computed in its place, whether it is needed or not. So are the
operations on it, because LLVM neither moves a pin nor looks through it::

    t1 = watch_flags(isub(v9, v5))
    if t1 != 0:                                and the ends of indices are in range
        keep_run(0, 8, address, 8, t3)         the elements that a store replaces
        while True:
            v6 = pinned(v6)                    the loop's variables
            ...
            v8 = pinned(fmul(v6, v7))          instead of a check
            ...
            if beyond(v5, v4_s0):              instead of leaving
                t1 = 0
                break
        v6 = pinned(v6)
        t1 = stayed_quiet(t1)
        if t1 == 0:
            give_back(0, 8, address, 8, t3)
    if t1 == 0:
        v5, v6 = t2, t3
        while True: ...
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from llvmlite import ir

from pijit.core.graph.ir import Block, Branch, Jump, Op, Value
from pijit.core.graph.ops import CHEAP, PLAIN
from pijit.core.graph.passes.strip_mining import STRIP
from pijit.core.graph.types import WORD, Array, Scalar
from pijit.core.kernel.emit import scalars
from pijit.core.kernel.emit.array_views import offset
from pijit.core.kernel.emit.emitter import FLAG_NAME
from pijit.core.kernel.llvm.fp_status import READS_STATUS, clear_status, flags_are_raised
from pijit.core.kernel.llvm.intrinsics import I8, I64, INT, Intrinsic, same_kind, unary
from pijit.core.kernel.llvm.nest.pairwise_sum import loop as write_loop
from pijit.core.kernel.plan.control_tree import If, IfFlag, LoopNode, Move, SetFlag, StraightLine, Take

LEAST = 6
"""The fewest iterations of a strip, because reading the processor's flags costs as much as a few checks."""

MOST = 4
"""The number of strips that one call of a kernel repeats before it tries no more."""

ROOM = 32
"""Bytes that an iteration may store, because the previous contents are kept on the stack."""

FAR = 2 ** 31
"""A step of indices below this cannot wrap around within a strip."""

_NONE = "(0)"
"""The step of an index that stays the same."""

_AFFINE = {"add": "iadd", "sub": "isub", "mul": "imul"}
"""The functions for sums and products of integers that are affine in a loop's counter."""

_CALLING = frozenset((("floordiv", "f"), ("mod", "f"), ("abs", "c"), ("truediv", "c")))
"""The exceptions from PLAIN, by operation and kind of number.

NumPy's complex quotients raise other flags than those of machine code.
"""


class Unchecked(NamedTuple):
    """The state of the version without checks while it is written.

    ``quiet`` is the variable that is 0 where something is wrong. ``pinned`` are the variables that are pinned.
    ``free`` are the results that need no pin. ``inside`` are the operations whose indices are in range.
    """

    quiet: str
    pinned: Set[str]
    free: Set[Value]
    inside: Set[Op]


class _Even(NamedTuple):
    """An element with indices that are affine in the loop's counter: the sources of the first ones and of their
    steps."""

    op: Op
    firsts: List[str]
    steps: List[str]


class _Strip(NamedTuple):
    """A loop that can be repeated: its number of iterations, its variables, its blocks, and its elements."""

    rounds: str
    params: List[Value]
    blocks: List[Block]
    sets_flag: bool
    elements: List[_Even]


def write_strip(emitter: Any, loop: LoopNode) -> bool:
    """Write a loop twice, if it is a strip with floating-point checks that can be repeated; returns whether it is."""
    strip = _find(emitter, loop)
    if strip is None:
        return False
    names = [emitter.text[param] for param in strip.params]
    starts = [emitter.renamed(name) for name in names]
    rounds = emitter.let(strip.rounds)
    quiet = emitter.renamed("watch_flags(%s)" % rounds)
    if strip.elements:
        emitter.line("if %s != 0:" % quiet)
        emitter.depth += 1
        _compare_ends(emitter, strip, quiet, rounds)
        emitter.depth -= 1
    emitter.line("if %s != 0:" % quiet)
    emitter.depth += 1
    _write_unchecked(emitter, loop, strip, quiet, rounds)
    emitter.depth -= 1
    emitter.line("if %s == 0:" % quiet)
    emitter.depth += 1
    for name, start in zip(names, starts):
        emitter.line("%s = %s" % (name, start))
    if strip.sets_flag:
        emitter.line("%s = 0" % FLAG_NAME)
    emitter.write_loop(loop)
    emitter.depth -= 1
    return True


def _compare_ends(emitter: Any, strip: _Strip, quiet: str, rounds: str) -> None:
    """Give up the version without checks where an index begins or ends out of range or below 0.

    All indices in between are in range then.
    """
    for element in strip.elements:
        shape = emitter.arrays[element.op.args[0]].shape
        for first, step, size in zip(element.firsts, element.steps, shape):
            tests = ["beyond(%s, %s)" % (first, size)]
            if step != _NONE:
                last = emitter.let("iadd(%s, imul(%s, isub(%s, 1)))" % (first, step, rounds))
                tests += ["beyond(%s, %s)" % (last, size), "outside(%s, %d, %d)" % (step, -FAR, FAR)]
            for test in tests:
                emitter.line("%s = choose(%s, 0, %s)" % (quiet, test, quiet))


def _write_unchecked(emitter: Any, loop: LoopNode, strip: _Strip, quiet: str, rounds: str) -> None:
    floats = [emitter.text[param] for param in strip.params if _is_float(param)]
    runs = _runs(emitter, strip, rounds)
    for run in runs:
        emitter.line("keep_run(%s)" % run)
    emitter.line("while True:")
    emitter.depth += 1
    _pin(emitter, floats)
    emitter.unchecked = Unchecked(quiet, set(floats), _free(strip), {element.op for element in strip.elements})
    emitter.nodes(loop.body)
    emitter.unchecked = None
    emitter.depth -= 1
    _pin(emitter, floats)
    emitter.line("%s = stayed_quiet(%s)" % (quiet, quiet))
    if runs:
        emitter.indented("if %s == 0:" % quiet, *["give_back(%s)" % run for run in runs])


def _runs(emitter: Any, strip: _Strip, rounds: str) -> List[str]:
    """The arguments of ``keep_run`` for each store: a number, the element's size, first address, step and count."""
    runs: List[str] = []
    for element in strip.elements:
        if element.op.name == "store":
            array = emitter.arrays[element.op.args[0]]
            place = emitter.let("iadd(%s, %s)" % (array.data, offset(element.firsts, array.strides)))
            step = emitter.let(offset(element.steps, array.strides))
            count = "(1)" if set(element.steps) == {_NONE} else rounds
            runs.append("(%d), (%d), %s, %s, %s" % (len(runs), array.type.dtype.itemsize, place, step, count))
    return runs


def _pin(emitter: Any, names: List[str]) -> None:
    for name in names:
        emitter.line("%s = pinned(%s)" % (name, name))


def _is_float(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype.kind in "fc"


def unchecked_operation(unchecked: Unchecked, op: Op, source: str, fields: Dict[str, Any]) -> str:
    """The source of an operation that raises the processor's flags whenever the program executes the operation."""
    operands = dict(fields)
    if not unchecked.pinned.intersection((fields["a"], fields["b"])):
        operands["b"] = "pinned(%s)" % fields["b"]
    text = source.format(**operands)
    if op.result in unchecked.free:
        return text
    unchecked.pinned.add(fields["r"])
    return "pinned(%s)" % text


# ---- which loops ----


def _find(emitter: Any, loop: LoopNode) -> Optional[_Strip]:
    nodes = list(_all(loop.body))
    if loop.label is None or not READS_STATUS or any(isinstance(node, (LoopNode, Take)) for node in nodes):
        return None
    blocks = [node.block for node in nodes if isinstance(node, StraightLine)]
    ops = [op for block in blocks for op in block.ops]
    if not all(map(_is_plain, ops)) or not any(map(_raises, ops)):
        return None
    if any(isinstance(param.type, Array) for block in blocks for param in block.params) \
            or any(any(emitter.lifetimes.edge(node.jump)) for node in nodes if isinstance(node, Move)):
        return None
    stores = [op for op in ops if op.name == "store"]
    counted = _counted(loop.label, blocks)
    if stores and emitter.flavour.nogil:
        return None  # another thread may have changed the elements before they are put back
    if counted is None or sum(op.args[0].type.dtype.itemsize for op in stores) > ROOM:
        return None
    lines = _Lines(emitter, counted[0], blocks)
    elements = [element for element in map(lines.element, ops) if element is not None]
    if not {element.op for element in elements}.issuperset(stores):
        return None
    rounds = "isub(%s, %s)" % (emitter.text[counted[1]], emitter.text[counted[0]])
    return _Strip(rounds, [param for param in loop.label.params if param in emitter.used], blocks,
                  any(isinstance(node, SetFlag) for node in nodes), elements)


def _all(nodes: List[Any]) -> Iterator[Any]:
    for node in nodes:
        yield node
        if isinstance(node, If):
            yield from _all(node.then)
            yield from _all(node.other)
        elif isinstance(node, (LoopNode, IfFlag)):
            yield from _all(node.body)


def _counted(header: Block, blocks: List[Block]) -> Optional[Tuple[Value, Value]]:
    """A loop's counter, which goes up by 1, and its limit, which is known before the loop; else None."""
    made = {op.result: op for block in blocks for op in block.ops}
    last = header.terminator
    test = made.get(last.condition) if isinstance(last, Branch) and _leaves(header, blocks) else None
    if test is None or test.name != "compare" or test.attrs["operator"] != "<":
        return None
    index, length = test.args
    if index.type != WORD or index not in header.params \
            or length in made or any(length in block.params for block in blocks):
        return None
    position = header.params.index(index)
    for jump in [jump for block in blocks for jump in block.terminator.targets() if jump.block is header]:
        step = made.get(jump.args[position])
        if step is None or step.name != "add" or step.args[0] is not index or not _is_one(made.get(step.args[1])):
            return None
    return index, length


def _leaves(header: Block, blocks: List[Block]) -> bool:
    """Whether a loop goes on only where its header's condition holds, and accesses elements only then."""
    around: Set[Block] = set()
    found = {header}
    while found:
        around |= found
        found = {block for block in blocks for jump in block.terminator.targets() if jump.block in around} - around
    other = header.terminator.other
    return isinstance(other, Jump) and other.block not in around \
        and not any(op.name in ("load", "store") for op in header.ops)


def _is_one(op: Optional[Op]) -> bool:
    return op is not None and op.name == "const" and op.attrs["value"] == 1


class _Lines:
    """The integers of a loop that are affine in its counter."""

    def __init__(self, emitter: Any, index: Value, blocks: List[Block]) -> None:
        self.emitter, self.index = emitter, index
        self.made = {op.result: op for block in blocks for op in block.ops if op.result is not None}
        self.params = {param for block in blocks for param in block.params}

    def element(self, op: Op) -> Optional[_Even]:
        """The element of a store, or of a load with a check, if all its indices are affine; else None."""
        if op.name != "store" and (op.name != "load" or "inside" in op.attrs):
            return None
        indices = op.args[1:-1] if op.name == "store" else op.args[1:]
        if any(self.emitter.constants.get(value, 0) < 0 for value in indices):
            return None
        found = [self._line(value, 6) for value in indices]
        lines = [line for line in found if line is not None]
        if len(lines) < len(found):
            return None
        return _Even(op, [first for first, _ in lines], [step for _, step in lines])

    def _line(self, value: Value, depth: int) -> Optional[Tuple[str, str]]:
        """The sources of an integer in the first iteration and of the step per iteration; else None."""
        if value is self.index:
            return self.emitter.text[value], "(1)"
        op = self.made.get(value)
        if op is None:
            known = None if value in self.params else self.emitter.text.get(value)
            return (known, _NONE) if known is not None else None
        if op.name == "const":
            return scalars.constant(op.attrs["value"], value.type), _NONE
        if op.name == "same":
            return self._line(op.args[0], depth)
        if op.name not in _AFFINE or not depth or not all(map(_is_word, op.args)):
            return None
        a, b = (self._line(arg, depth - 1) for arg in op.args)
        return None if a is None or b is None else _combined(op.name, a, b)


def _is_word(value: Value) -> bool:
    return isinstance(value.type, Scalar) and scalars.machine_kind(value.type) == "i"


def _combined(name: str, a: Tuple[str, str], b: Tuple[str, str]) -> Optional[Tuple[str, str]]:
    first = "%s(%s, %s)" % (_AFFINE[name], a[0], b[0])
    if name != "mul":
        same = a[1] if b[1] == _NONE else b[1] if a[1] == _NONE and name == "add" else ""
        return first, same or "%s(%s, %s)" % (_AFFINE[name], a[1], b[1])
    if a[1] == _NONE == b[1]:
        return first, _NONE
    if a[1] != _NONE != b[1]:
        return None
    return first, "imul(%s, %s)" % ((a[0], b[1]) if a[1] == _NONE else (a[1], b[0]))


def _is_plain(op: Op) -> bool:
    if op.name in CHEAP:
        return True
    if op.name not in PLAIN or not all(isinstance(value.type, Scalar) for value in op.args):
        return False
    kind = op.args[0].type if op.args else None
    return kind is None or (op.name, kind.dtype.kind) not in _CALLING


def _raises(op: Op) -> bool:
    if op.exit is None or not op.args or not isinstance(op.args[0].type, Scalar):
        return False
    row = scalars.find_row(op.name, op.args[0].type)
    return row is not None and bool(row.flags)


def _free(strip: _Strip) -> Set[Value]:
    """Results that become loop variables on the only path from their definition; they are pinned as loop variables."""
    found: Set[Value] = set()
    header = strip.blocks[0]
    for block in strip.blocks:
        jump, given = block.terminator, {op.result: op.result for op in block.ops}
        while isinstance(jump, Jump) and jump.block is not header and jump.block in strip.blocks:
            given.update({param: given[arg] for param, arg in zip(jump.block.params, jump.args) if arg in given})
            jump = jump.block.terminator
        if isinstance(jump, Jump) and jump.block is header:
            found.update(given[arg] for param, arg in zip(header.params, jump.args)
                         if arg in given and param in strip.params)
    return found


# ---- in LLVM ----


def _failures(builder: Any) -> Any:
    """The memory in which the kernel counts the strips that it has repeated."""
    with builder.goto_entry_block():
        for instruction in builder.block.instructions:
            if instruction.name == "repeated_strips":
                return instruction
        memory = builder.alloca(I64, name="repeated_strips")
        builder.store(ir.Constant(I64, 0), memory)
        return memory


def _watch(builder: Any, rounds: Any) -> Any:
    """``watch_flags(rounds)``: whether a strip is tried; if so, no flag is raised afterwards."""
    few = builder.icmp_signed("<", builder.load(_failures(builder)), ir.Constant(I64, MOST))
    some = builder.icmp_unsigned("<=", builder.sub(rounds, ir.Constant(I64, LEAST)), ir.Constant(I64, STRIP - LEAST))
    tried = builder.and_(few, some)
    with builder.if_then(tried):
        clear_status(builder)
    return builder.zext(tried, I64)


def _stayed_quiet(builder: Any, quiet: Any) -> Any:
    """``stayed_quiet(quiet)``: 1 if ``quiet`` is still 1 and no flag is raised, else 0."""
    failed = builder.or_(builder.icmp_unsigned("==", quiet, ir.Constant(I64, 0)), flags_are_raised(builder))
    place = _failures(builder)
    builder.store(builder.add(builder.load(place), builder.zext(failed, I64)), place)
    return builder.zext(builder.not_(failed), I64)


def _pinned(builder: Any, value: Any) -> Any:
    """``pinned(number)``: the number in a register of its own, by an assembler statement without instructions."""
    if not isinstance(value.type, ir.LiteralStructType):
        return builder.asm(ir.FunctionType(value.type, [value.type]), "", "=x,0", [value], True)
    for part in (0, 1):
        value = builder.insert_value(value, _pinned(builder, builder.extract_value(value, part)), part)
    return value


def _run(giving_back: bool) -> Any:
    """``keep_run(number, itemsize, address, step, rounds)`` keeps elements on the stack.

    ``give_back``, with the same arguments, puts them back.
    """
    def build(builder: Any, number: Any, itemsize: Any, address: Any, step: Any, rounds: Any) -> Any:
        kind = ir.IntType(8 * itemsize.constant)
        first = builder.inttoptr(address, I8.as_pointer())
        room = _room(builder, "kept_%d_%d" % (number.constant, itemsize.constant), kind)

        def body(index: Any) -> None:
            place = builder.bitcast(builder.gep(first, [builder.mul(index, step)]), kind.as_pointer())
            kept = builder.gep(room, [index])
            if giving_back:
                builder.store(builder.load(kept), place, align=1)
            else:
                builder.store(builder.load(place, align=1), kept)

        write_loop(builder, rounds, body)
        return ir.Constant(I64, 0)
    return build


def _room(builder: Any, name: str, kind: Any) -> Any:
    """The kernel's stack memory for the elements of one strip."""
    with builder.goto_entry_block():
        for instruction in builder.block.instructions:
            if instruction.name == name:
                return instruction
        return builder.alloca(kind, STRIP, name=name)


STRIPS: Dict[str, Intrinsic] = {
    "watch_flags": unary(INT, INT, _watch), "stayed_quiet": unary(INT, INT, _stayed_quiet),
    "pinned": same_kind(1, _pinned),
    "keep_run": Intrinsic(INT, (INT,) * 5, _run(False)), "give_back": Intrinsic(INT, (INT,) * 5, _run(True)),
}
