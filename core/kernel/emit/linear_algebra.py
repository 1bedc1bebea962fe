"""Linear algebra in kernel source: inner loops of generalised ufuncs on raw arrays, and NumPy's dot by its C API.

The numba emitter looks the writers up in GUFUNC_OPERATIONS. `kernel_emitter` has its functions in a table. It must not
decide how a product runs: `plan/forms/products.py` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Sequence

from pijit.core.graph.dot_errors import DOT_REPORTS
from pijit.core.graph.gufuncs import IGNORED, RAISED, REPORTED, Cores, cores_of
from pijit.core.graph.ir import Op
from pijit.core.graph.types import Scalar
from pijit.core.kernel.emit.expressions import Expression, listed
from pijit.core.kernel.emit.library_calls import read_result
from pijit.core.kernel.emit.stack_arrays import made_array
from pijit.core.kernel.plan.flag_plan import ALWAYS_CHECKED, LISTENING
from pijit.core.kernel.plan.forms.products import DotOrder, InlineDot, LoopForm, UnitForm
from pijit.core.kernel.plan.operands import NULL, ONE, ArrayVariable, Literal, Name, Operand, dtype_of, result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


_SUMS: Dict[DotOrder, str] = {DotOrder.PLAIN: "fadd(%(total)s, fmul(%(first)s, %(second)s))",
                              DotOrder.FUSED: "ffma(%(first)s, %(second)s, %(total)s)",
                              DotOrder.WIDE: "fadd(%(total)s, widen(fmul(%(first)s, %(second)s)))"}
"""The source that adds a product to a sum, by the order of summation."""


def _sizes(emitter: KernelEmitter, op: Op, arrays: List[ArrayVariable], cores: Cores) -> Dict[str, Operand]:
    """The length of each named axis. Leaves where two axes of one name differ, or the result is empty.

    The strides of an empty result differ among NumPy's versions.
    """
    sizes: Dict[str, Operand] = {}
    for array, names in zip(arrays, cores.operands):
        for name, size in zip([name for name in names if name is not None], array.shape):
            if sizes.setdefault(name, size) != size:
                emitter.guard_once(op, "%s != %s" % (sizes[name], size))
    for axis in cores.operands[-1] or cores.names:
        if axis is not None and sizes.get(axis, ONE).value != 1:
            emitter.guard_once(op, "%s < 1" % sizes[axis])
    return sizes


def _steps(emitter: KernelEmitter, arrays: List[ArrayVariable], operands: Any) -> List[Operand]:
    """The strides of all axes as NumPy passes them to a loop: 0 for axes of length 1 and for missing ones."""
    steps: List[Operand] = []
    for array, names in zip(arrays, operands):
        own = iter(zip(array.shape, array.shown))
        for name in names:
            size, stride = next(own) if name is not None else (ONE, NULL)
            steps.append(NULL if size.value == 1 else emitter.pure("choose(%s == 1, 0, %s)" % (size, stride)))
    return steps


def _words(emitter: KernelEmitter, words: Sequence[Operand]) -> Operand:
    return emitter.let("set_words(frame, %d, %s)" % (
        emitter.layout.scratch(len(words)), listed(words)))


def write_gufunc(emitter: KernelEmitter, op: Op) -> None:
    """Run the loop once into a new array or a scalar; leaves where NumPy would raise or report an error."""
    loop = op.attrs
    arrays = [emitter.arrays[value] for value in op.args]
    cores = cores_of(loop["ufunc"], [len(array.shape) for array in arrays])
    sizes = _sizes(emitter, op, arrays, cores)
    shape = [sizes[name] for name in cores.operands[-1] if name is not None]
    result = result_of(op)
    plan = emitter.plan.groups.products[result]
    if isinstance(result.type, Scalar):
        at = emitter.layout.scratch(2)
        place = emitter.let("address_of_word(frame, %d)" % at)
    else:
        made = emitter.arrays[result] = made_array(emitter, op, result, shape)
        arrays.append(made)
        place = made.data
    mask = 0 if loop["errors"] == IGNORED else LISTENING | op.attrs.get("always_checked", 0) << ALWAYS_CHECKED
    done = _inline_dot(emitter, arrays, mask, plan.inline) if plan.inline is not None else None
    emitter.depth += bool(done)
    pointers = _words(emitter, [emitter.arrays[value].data for value in op.args] + [place])
    one = Literal(1, "1")
    dims = [one] + [sizes.get(name, one) for name in cores.names]
    steps = [NULL] * len(cores.operands) + _steps(emitter, arrays, cores.operands)
    steps += [NULL] * (sum(map(len, cores.operands + (cores.operands,))) - len(steps))
    work: Operand = one
    for size in dims[1:] + shape[:1]:
        work = emitter.let("imul(%s, %s)" % (work, size)) if work is not one else size
    table = emitter.let("%s()" % emitter.loop_table(loop["ufunc"], loop["loop"]))
    run: List[Expression] = ["ld_i8(%s, 0)" % table, "ld_i8(%s, 8)" % table, pointers, _words(emitter, dims),
                             _words(emitter, steps), work]
    _LOOPS[plan.loop](emitter, op, run, mask)
    emitter.depth -= bool(done)
    if isinstance(result.type, Scalar):
        found = emitter.element(result.type.dtype, ("frame", str(8 * at)))
        if done:
            emitter.indented("if %s == 0:" % done, "%s_sum = %s" % (done, found))
        emitter.define(result, "%s_sum" % done if done else found)


def _inline_dot(emitter: KernelEmitter, arrays: List[ArrayVariable], mask: int, plan: InlineDot) -> Name:
    """Write a product of short vectors inline, in the loop's order of summation.

    Returns the name of a variable: where it is not 0, the sum is in ``<name>_sum``. For the other case a block is
    begun, which the caller fills.
    """
    kind, is_wide = arrays[0].type.dtype, plan.order is DotOrder.WIDE
    done, at, size = emitter.fresh(), emitter.fresh(), arrays[0].shape[0]
    first, second = (emitter.element(kind, (array.data, "imul(%s, %d)" % (at, kind.itemsize))) for array in arrays)
    emitter.line("%s = 0" % done)
    emitter.line("%s_sum = %s" % (done, "(0.0)" if kind.char == "d" else "float32(0.0)"))
    emitter.line("if not beyond(%s, %d):" % (size, plan.most + 1))
    emitter.depth += 1
    emitter.line("%s = 0" % at)
    total = emitter.renamed("(0.0)") if is_wide else Name("%s_sum" % done)
    more = _SUMS[plan.order] % {"total": total, "first": first, "second": second}
    emitter.indented("while %s < %s:" % (at, size), "%s = %s" % (total, more), "%s = iadd(%s, 1)" % (at, at))
    if is_wide:
        emitter.line("%s_sum = narrow(%s)" % (done, total))
    raised = emitter.flags_raised(mask, True) if mask else "0"
    emitter.indented("if not special(%s_sum):" % done, "%s = choose(%s == 0, 1, 0)" % (done, raised))
    emitter.depth -= 1
    emitter.line("if %s == 0:" % done)
    return done


def _run_small_product(emitter: KernelEmitter, op: Op, run: List[Expression], mask: int) -> None:
    emitter.checked("matmul", *run, dtype_of(op.args[0]).itemsize, mask, op=op)


def _run_loop(emitter: KernelEmitter, op: Op, run: List[Expression], mask: int) -> None:
    if mask:
        emitter.line(emitter.runtime("flags_clear"))
    emitter.checked("gufunc", *run, int(op.attrs["errors"] == RAISED), op=op)
    if op.attrs["errors"] == REPORTED:
        emitter.guard(op, "%s != 0" % emitter.runtime("flags_test", mask))


_LOOPS: Dict[LoopForm, Callable[[KernelEmitter, Op, List[Expression], int], None]] = {
    LoopForm.LIBRARY: _run_loop, LoopForm.SMALL_PRODUCT: _run_small_product}
"""The writers of the forms of a loop. They get the loop with its operands, and the mask of its flags."""


def write_product(emitter: KernelEmitter, op: Op) -> None:
    """Write ``np.dot`` of two arrays as a call of NumPy."""
    left, right = (emitter.with_object(value).object for value in op.args)
    read_result(emitter, op, "product", [left, right], [int(DOT_REPORTS)])


def _multiply(emitter: KernelEmitter, op: Op) -> None:
    """Write a product of two vectors of length 1 inline. NumPy multiplies second by first.

    NumPy does it where the product is special, because it decides which of several NaNs is the result.
    """
    kind = dtype_of(result_of(op))
    first, second = (emitter.element(kind, (emitter.arrays[value].data, "0")) for value in op.args)
    product = emitter.renamed("fmul(%s, %s)" % (second, first))
    reported = " or %s != 0" % emitter.flags_raised(LISTENING, True) if DOT_REPORTS else ""
    emitter.line("if special(%s)%s:" % (product, reported))
    emitter.depth += 1
    write_product(emitter, op)
    emitter.line("%s = %s" % (product, emitter.text[result_of(op)]))
    emitter.depth -= 1
    emitter.define(result_of(op), product)


_UNIT_PRODUCTS: Dict[UnitForm, Callable[[KernelEmitter, Op], None]] = {
    UnitForm.INLINE: _multiply, UnitForm.LIBRARY: write_product}
"""The writers of products of vectors of length 1."""


def write_dot(emitter: KernelEmitter, op: Op) -> None:
    """Write ``np.dot`` of two contiguous vectors: the loop, and vectors of length 1 as planned."""
    write_unit = _UNIT_PRODUCTS.get(emitter.plan.groups.products[result_of(op)].unit)
    if write_unit is None:
        write_gufunc(emitter, op)
        return
    size = emitter.arrays[op.args[0]].shape[0]
    emitter.line("if %s == 1:" % size)
    emitter.depth += 1
    write_unit(emitter, op)
    emitter.depth -= 1
    emitter.line("else:")
    emitter.depth += 1
    write_gufunc(emitter, op)
    emitter.depth -= 1


GUFUNC_OPERATIONS: Dict[str, Callable[[KernelEmitter, Op], None]] = {"gufunc": write_gufunc, "product": write_product,
                                                           "dot": write_dot}
