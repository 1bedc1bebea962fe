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

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Set

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.types import Scalar
from pijit.core.kernel.emit import scalars
from pijit.core.kernel.emit.array_views import offset
from pijit.core.kernel.emit.emitter import FLAG_NAME
from pijit.core.kernel.emit.expressions import Expression
from pijit.core.kernel.plan.control_tree import LoopNode
from pijit.core.kernel.plan.operands import Name, Operand, scalar_type
from pijit.core.kernel.plan.strips import Combined, Strip, Term
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

FAR = 2 ** 31
"""A step of indices below this cannot wrap around within a strip."""


class Unchecked(NamedTuple):
    """The state of the version without checks while it is written.

    ``quiet`` is the variable that is 0 where something is wrong. ``pinned`` are the variables that are pinned.
    ``free`` are the results that need no pin. ``inside`` are the operations whose indices are in range.
    """

    quiet: Name
    pinned: Set[Operand]
    free: Set[Value]
    inside: Set[Op]


def write_strip(emitter: KernelEmitter, loop: LoopNode, strip: Strip) -> None:
    """Write a loop twice: without floating-point checks, and with them, if the first version fails."""
    names = [emitter.text[param] for param in strip.params]
    starts = [emitter.renamed(name) for name in names]
    iterations = emitter.let("isub(%s, %s)" % (emitter.text[strip.limit], emitter.text[strip.counter]))
    quiet = emitter.renamed("watch_flags(%s)" % iterations)
    if strip.elements:
        emitter.line("if %s != 0:" % quiet)
        emitter.depth += 1
        _compare_ends(emitter, strip, quiet, iterations)
        emitter.depth -= 1
    emitter.line("if %s != 0:" % quiet)
    emitter.depth += 1
    _write_unchecked(emitter, loop, strip, quiet, iterations)
    emitter.depth -= 1
    emitter.line("if %s == 0:" % quiet)
    emitter.depth += 1
    for name, start in zip(names, starts):
        emitter.line("%s = %s" % (name, start))
    if strip.sets_flag:
        emitter.line("%s = 0" % FLAG_NAME)
    emitter.write_loop(loop)
    emitter.depth -= 1


def _compare_ends(emitter: KernelEmitter, strip: Strip, quiet: Name, iterations: Operand) -> None:
    """Give up the version without checks where an index begins or ends out of range or below 0.

    All indices in between are in range then.
    """
    for element in strip.elements:
        shape = emitter.arrays[element.op.args[0]].shape
        for index, size in zip(element.indices, shape):
            first = _source(emitter, index.first)
            tests = ["beyond(%s, %s)" % (first, size)]
            if index.step is not None:
                step = _source(emitter, index.step)
                last = emitter.let("iadd(%s, imul(%s, isub(%s, 1)))" % (first, step, iterations))
                tests += ["beyond(%s, %s)" % (last, size), "outside(%s, %d, %d)" % (step, -FAR, FAR)]
            for test in tests:
                emitter.line("%s = choose(%s, 0, %s)" % (quiet, test, quiet))


def _write_unchecked(emitter: KernelEmitter, loop: LoopNode, strip: Strip, quiet: Name, iterations: Operand) -> None:
    floats = [emitter.text[param] for param in strip.params if _is_float(param)]
    runs = _runs(emitter, strip, iterations)
    for run in runs:
        emitter.line("keep_run(%s)" % run)
    emitter.line("while True:")
    emitter.depth += 1
    _pin(emitter, floats)
    emitter.unchecked = Unchecked(quiet, set(floats), strip.free, {element.op for element in strip.elements})
    emitter.nodes(loop.body)
    emitter.unchecked = None
    emitter.depth -= 1
    _pin(emitter, floats)
    emitter.line("%s = stayed_quiet(%s)" % (quiet, quiet))
    if runs:
        emitter.indented("if %s == 0:" % quiet, *["give_back(%s)" % run for run in runs])


def _runs(emitter: KernelEmitter, strip: Strip, iterations: Operand) -> List[str]:
    """The arguments of ``keep_run`` for each store: a number, the element's size, first address, step and count."""
    runs: List[str] = []
    for element in strip.elements:
        if element.op.name == "store":
            array = emitter.arrays[element.op.args[0]]
            firsts = [_source(emitter, index.first) for index in element.indices]
            steps = [_source(emitter, index.step) for index in element.indices]
            place = emitter.let("iadd(%s, %s)" % (array.data, offset(firsts, array.strides)))
            step = emitter.let(offset(steps, array.strides))
            stays = element.indices and all(index.step is None for index in element.indices)
            count = "(1)" if stays else iterations
            runs.append("(%d), (%d), %s, %s, %s" % (len(runs), array.type.dtype.itemsize, place, step, count))
    return runs


def _pin(emitter: KernelEmitter, names: Sequence[Operand]) -> None:
    for name in names:
        emitter.line("%s = pinned(%s)" % (name, name))


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


def _source(emitter: KernelEmitter, term: Optional[Term]) -> Expression:
    """The source of an integer that is known before the loop; None is 0."""
    if isinstance(term, Combined):
        return "i%s(%s, %s)" % (term.name, _source(emitter, term.one), _source(emitter, term.other))
    if not isinstance(term, Value):
        return "(%d)" % (term or 0)
    known = emitter.facts.constants.get(term)
    return emitter.text[term] if known is None else scalars.constant(known, scalar_type(term))


def _is_float(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype.kind in "fc"
