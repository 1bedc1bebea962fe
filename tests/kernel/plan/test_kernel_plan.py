"""Plans of kernels: they are made and printed before the source is written."""

import numpy as np
import pytest
from kernel_graphs import Builder

from pijit.core.graph.ir import Jump, SideExit
from pijit.core.graph.types import FLAG, WORD, Array, numpy_scalar
from pijit.core.kernel.compile import CompileError, Kernel, TooDeep
from pijit.core.kernel.options import PLAIN
from pijit.core.kernel.plan.control_tree import LoopNode, blocks_of
from pijit.core.kernel.plan.deferred_fills import FillPlan
from pijit.core.kernel.plan.exponents import BoundedArrays
from pijit.core.kernel.plan.flag_plan import NO_FLAGS, FlagPlan
from pijit.core.kernel.plan.forms.block_size import BlockSize
from pijit.core.kernel.plan.forms.products import DotOrder, InlineDot, LoopForm, ProductPlan, UnitForm
from pijit.core.kernel.plan.forms.scatters import ScatterForm, ScatterPlan
from pijit.core.kernel.plan.fp_check_plan import FpCheckPlan, SharedCheck
from pijit.core.kernel.plan.graph_facts import MergedGroup
from pijit.core.kernel.plan.group_plans import GroupPlans
from pijit.core.kernel.plan.kernel_plan import Plan, make_plan
from pijit.core.kernel.plan.memory_plan import MOST_SLOTS, MemoryPlan
from pijit.core.kernel.plan.printer import FIELDS, GROUP_LINES, MEMORY_LINES, PLAN_LINES, format_plan
from pijit.core.kernel.plan.skewing import SkewingRun
from pijit.core.kernel.plan.store_plan import NEW, StorePlan, Strategy
from pijit.core.kernel.plan.strips import AffineElement, AffineIndex, Combined, Strip
from pijit.core.kernel.plan.tiling import TiledRows, TilingRun

DOUBLE = numpy_scalar(np.dtype("d"))
VECTOR = Array(np.dtype("d"), 1, "C")


def ufunc(b, function, types, *args, exit=None):
    return b.op("ufunc", VECTOR, *args, exit=exit, ufunc=function, types=types, loop=function.types.index(types))


def unknown_function():
    """A kernel with a nest, and a function of scalars that no emitter knows."""
    b = Builder("unknown", VECTOR, DOUBLE)
    x, number = b.inputs
    exit = b.exit(1)
    total = ufunc(b, np.add, "dd->d", ufunc(b, np.multiply, "dd->d", x, x, exit=exit), x, exit=exit)
    b.leave(2, total, b.op("libm", DOUBLE, number, function="nonsense"))
    return b.graph


def nested(levels):
    """A kernel of a nest, and of conditions inside each other."""
    b = Builder("nested", VECTOR, FLAG)
    x, flag = b.inputs
    exit = b.exit(1)
    total = ufunc(b, np.add, "dd->d", ufunc(b, np.multiply, "dd->d", x, x, exit=exit), x, exit=exit)
    end = b.block()
    for _ in range(levels):
        inner = b.block()
        b.branch(flag, inner, end)
        b.at = inner
    b.jump(end)
    b.at = end
    b.leave(2, total)
    return b.graph


@pytest.mark.parametrize("graph, error, message", [
    (unknown_function(), CompileError, "no libm function nonsense"),
    (nested(120), TooDeep, "nested too deeply")], ids=["unknown function", "nested"])
def test_a_kernel_that_cannot_be_written_has_a_plan(graph, error, message):
    kernel = Kernel(graph, "numba", False, True, PLAIN)
    assert "one nest: %" in kernel.plan
    assert kernel.source.startswith("# ") and message in kernel.source
    with pytest.raises(error, match=message):
        kernel.compile()


def test_python_kernels_have_no_plan():
    assert Kernel(nested(1), "python", False, True, PLAIN).plan == ""


def test_the_tree_of_a_plan_has_each_block_once():
    graph = nested(3)
    found = list(blocks_of(make_plan(graph, PLAIN).tree))
    assert len(found) == len(graph.blocks) and set(found) == set(graph.blocks)


# ---- the text of a plan ----


def plan_of(graph):
    return make_plan(graph, PLAIN)


def with_everything():
    """A plan of nests and a view in a loop, and values for the fields that it leaves empty."""
    b = Builder("everything", VECTOR, WORD, FLAG)
    x, size, flag = b.inputs
    exit, head, end = b.exit(1), b.block(VECTOR), b.block()
    b.jump(head, x)
    b.at = head
    view = b.op("view", VECTOR, head.params[0], exit=exit, index=("s---",))
    product = ufunc(b, np.multiply, "dd->d", view, x, exit=exit)
    other = ufunc(b, np.add, "dd->d", product, x, exit=exit)
    b.branch(flag, Jump(head, (other,)), end)
    b.at = end
    b.leave(2, size)
    return b.graph


def made_up(op, value, loop):
    """A value for each field of a plan's records that is not empty."""
    size = BlockSize(1, 2, 3, 4, 5)
    run = TilingRun([op], [op], op, [value], {value}, {value}, {op: 0})
    skewed = SkewingRun([[op], [op]], [op], [op], op, {value: 1}, {value: 2}, [value], size, {op: 0})
    element = AffineElement(op, [AffineIndex(Combined("add", value, 1), 2), AffineIndex(0, None)])
    strip = Strip(value, value, [value], True, [element], {value})
    check = SharedCheck([op], SideExit(7, []))
    checks = FpCheckPlan({op: "sum"}, {op: check}, {op: [check]}, {op: SideExit(8, [])})
    return {"bounded": BoundedArrays([value], [value], [value], [value]), "tiling": {op: run}, "strips": {loop: strip},
            "memory": MemoryPlan({value}, {value}, {op: [value]}, {op: [value]}, {value}, 3), "fp_checks": checks,
            "left_out_steps": {op: value}, "unmerged": {op}, "transposed": {op}, "by_rows": {value},
            "fills": FillPlan({op: value}, {op: value}), "skewing": {op: skewed}, "stores": {op: NEW}, "nests": set(),
            "flags": {op: FlagPlan((0, 2), True, 15, True, True)}, "tiled": {op: TiledRows([value], size)},
            "scatters": {op: ScatterPlan(ScatterForm.INDEXED)}, "products": {value: ProductPlan(LoopForm.LIBRARY)}}


def plain():
    b = Builder("plain", VECTOR)
    b.leave(2, ufunc(b, np.negative, "d->d", b.inputs[0], exit=b.exit(1)))
    return plan_of(b.graph)


@pytest.fixture(scope="module")
def full():
    """A plan and its made-up values; a group of it counts as a merged one."""
    plan = plan_of(with_everything())
    last, group = next(iter(plan.facts.groups.items()))
    plan.facts.merged[last] = MergedGroup([group], group, [last])
    loop = next(node for node in plan.tree if isinstance(node, LoopNode))
    return plan, made_up(last, last.args[0], loop)


@pytest.mark.parametrize("field", Plan._fields)
def test_each_field_of_a_plan_is_printed(full, field):
    plan, values = full
    before = plain() if field in ("facts", "tree", "groups", "ownership", "escape") else plan
    changed = before._replace(**{field: values.get(field, getattr(plan, field))})
    assert format_plan(changed) != format_plan(before)
    assert field in PLAN_LINES


@pytest.mark.parametrize("field", GroupPlans._fields)
def test_each_field_of_the_plans_of_groups_is_printed(full, field):
    plan, values = full
    changed = plan._replace(groups=plan.groups._replace(**{field: values[field]}))
    empty = plan._replace(groups=plan.groups._replace(**{field: FillPlan({}, {}) if field == "fills" else {}}))
    assert format_plan(changed) != format_plan(empty if field != "nests" else plan)
    assert field in GROUP_LINES


@pytest.mark.parametrize("field", MemoryPlan._fields)
def test_each_field_of_the_plan_of_memory_is_printed(full, field):
    plan, values = full
    nothing = MemoryPlan(set(), set(), {}, {}, set(), MOST_SLOTS)
    changed = nothing._replace(**{field: getattr(values["memory"], field)})
    assert format_plan(plan._replace(memory=changed)) != format_plan(plan._replace(memory=nothing))
    assert field in MEMORY_LINES


@pytest.mark.parametrize("field, empty", [("kinds", "product"), ("before", {}), ("after", {}), ("exits", {})])
def test_each_field_of_the_checks_is_printed(full, field, empty):
    plan, values = full
    checks = values["fp_checks"]
    changed = {op: empty for op in checks.kinds} if field == "kinds" else empty
    texts = [format_plan(plan._replace(fp_checks=one)) for one in (checks, checks._replace(**{field: changed}))]
    assert texts[0] != texts[1]
    assert "takes exit7\n" in texts[0]


def test_all_fields_of_checks_are_tested():
    marks = test_each_field_of_the_checks_is_printed.pytestmark[0]
    assert [field for field, _ in marks.args[1]] == list(FpCheckPlan._fields)


@pytest.mark.parametrize("record", FIELDS, ids=lambda record: record.__name__)
def test_each_field_of_a_record_has_a_name(record):
    assert list(FIELDS[record]) != [] and set(FIELDS[record]) == set(record._fields)


EMPTY_AND_FULL = [
    (NEW, StorePlan(Strategy.BLOCKS, None, True, ("%1",), ("%1",), ("%1",), True)),
    (ScatterPlan(ScatterForm.LIBRARY), ScatterPlan(ScatterForm.INDEXED, ("%1",))),
    (ProductPlan(LoopForm.LIBRARY), ProductPlan(LoopForm.SMALL_PRODUCT, UnitForm.INLINE, InlineDot(8, DotOrder.WIDE)))]
"""Plans that have a text of their own: one with the fewest parts, and one that differs in each field."""


@pytest.mark.parametrize("plan, field, value", [
    (plan, field, value) for plan, other in EMPTY_AND_FULL for field, value in zip(plan._fields, other)])
def test_each_field_of_a_store_or_product_is_printed(plan, field, value):
    assert str(plan._replace(**{field: value})) != str(plan)


def test_the_text_of_a_loop(full):
    text = format_plan(full[0])
    for part in ("one nest: %", "views: %", "the frame owns references to: %", "released: %",
                 "on a jump to b1 retained: %", "control tree:\n    b0\n", "\n    while True:\n        b1\n"):
        assert part in text, text


# ---- the flags of nests ----


@pytest.mark.parametrize("ignored, mask", [(0, 15), (4, 11), (15, 0)])
def test_the_flags_of_a_nest_are_planned(ignored, mask):
    b = Builder("flags", VECTOR)
    x, exit = b.inputs[0], b.exit(1)
    product = b.op("ufunc", VECTOR, x, x, exit=exit, ufunc=np.multiply, types="dd->d", loop=0, ignored=ignored)
    b.leave(2, b.op("ufunc", VECTOR, product, x, exit=exit, ufunc=np.add, types="dd->d", loop=0, ignored=ignored))
    expected = FlagPlan(clears=True, mask=mask) if mask else NO_FLAGS
    assert list(plan_of(b.graph).groups.flags.values()) == [expected]
    assert list(make_plan(b.graph, PLAIN._replace(fast=True)).groups.flags.values()) == [NO_FLAGS]


def test_a_nest_with_extremes_is_watched():
    b = Builder("watched", VECTOR)
    x, exit = b.inputs[0], b.exit(1)
    larger = ufunc(b, np.maximum, "dd->d", ufunc(b, np.multiply, "dd->d", x, x, exit=exit), x, exit=exit)
    b.leave(2, larger)
    flags, = plan_of(b.graph).groups.flags.values()
    assert flags.watched and not flags.clears and not flags.mask


# ---- memory of arrays ----


TABLE = Array(np.dtype("d"), 2, "C")
COMPLEX = Array(np.dtype("D"), 1, "C")


def apply(b, function, *args, exit=None):
    """A ufunc that NumPy's loop computes. No exit: it is not tiled."""
    kind = args[0].type
    types = kind.dtype.char * len(args) + "->" + kind.dtype.char
    return b.op("ufunc", kind, *args, exit=exit, ufunc=function, types=types, loop=function.types.index(types))


def nest(b, x, exit):
    """x * x + x, by a nest."""
    return apply(b, np.add, apply(b, np.multiply, x, x, exit=exit), x, exit=exit)


def memory_of(b, *values):
    """The plan of memory of a graph from which these arrays leave."""
    b.leave(2, *values)
    return plan_of(b.graph).memory


def planned(*pooled, borrowed=(), reused=None, slots=None):
    """The plan of memory with these results in the pool, all of which have slots by default."""
    slots = set(pooled) if slots is None else slots
    return MemoryPlan(set(pooled), {*pooled, *borrowed}, reused or {}, {}, slots, MOST_SLOTS - len(slots))


def test_an_escaping_result_takes_the_memory_of_an_operand():
    b = Builder("memory", VECTOR)
    first = apply(b, np.sinh, b.inputs[0])
    assert memory_of(b, apply(b, np.cosh, first)) == planned(reused={b.at.ops[1]: [first]})


def test_memory_of_the_pool_is_handed_on_but_never_escapes():
    b = Builder("memory", VECTOR)
    first = apply(b, np.sinh, b.inputs[0])
    second = apply(b, np.cosh, first)
    memory = memory_of(b, apply(b, np.tanh, second))
    assert memory == planned(first, borrowed=[second], reused={b.at.ops[1]: [first]})


def test_memory_of_the_pool_is_not_handed_on_where_shapes_may_differ():
    b = Builder("memory", VECTOR, VECTOR)
    first = apply(b, np.sinh, b.inputs[0])
    second = apply(b, np.arctan2, first, b.inputs[1])
    memory = memory_of(b, apply(b, np.tanh, second))
    assert memory == planned(first, reused={b.at.ops[2]: [second]})


def test_other_memory_is_handed_on_to_an_escaping_result():
    b = Builder("memory", VECTOR)
    first = apply(b, np.sinh, b.inputs[0])
    shown = apply(b, np.cosh, first)
    second = apply(b, np.tanh, first)
    memory = memory_of(b, shown, nest(b, second, b.exit(1)))
    assert memory == planned(reused={b.at.ops[2]: [first], b.at.ops[4]: [second]})


def test_an_array_that_a_side_exit_needs_keeps_its_memory():
    b = Builder("memory", VECTOR)
    first = apply(b, np.sinh, b.inputs[0])
    assert memory_of(b, nest(b, first, b.exit(1, first))).reused == {}


def test_a_nest_takes_no_memory_of_the_pool_for_an_escaping_result():
    b = Builder("memory", VECTOR)
    first = apply(b, np.sinh, b.inputs[0])
    memory = memory_of(b, nest(b, first, b.exit(1)))
    assert memory.reused == {} and memory.slots == {first}


def test_operands_are_in_the_order_of_preference():
    b = Builder("memory", VECTOR)
    one, other = (apply(b, function, b.inputs[0]) for function in (np.sinh, np.cosh))
    assert memory_of(b, apply(b, np.arctan2, other, one)).reused == {b.at.ops[2]: [other, one]}


def test_the_runtime_may_compute_complex_numbers_into_an_operand():
    b = Builder("memory", COMPLEX)
    first = apply(b, np.sinh, b.inputs[0])
    memory = memory_of(b, apply(b, np.cosh, first))
    assert memory.offered == {b.at.ops[1]: [first]} and memory.reused == {}


def test_a_tiled_run_makes_lasting_results_apart_from_its_blocks():
    b = Builder("memory", VECTOR)
    exit = b.exit(1)
    first = apply(b, np.sinh, b.inputs[0], exit=exit)
    second = apply(b, np.cosh, first, exit=exit)
    memory = memory_of(b, apply(b, np.tanh, second, exit=exit))
    assert memory.reused == {b.at.ops[1]: [first]}


@pytest.mark.parametrize("count", [3, MOST_SLOTS, MOST_SLOTS + 3])
def test_the_first_results_have_stack_slots(count):
    b = Builder("memory", VECTOR)
    made = [apply(b, np.sinh, b.inputs[0]) for _ in range(count)]
    memory = memory_of(b, b.op("concatenate", VECTOR, *made, axis=0))
    assert memory == planned(*made, slots=set(made[:MOST_SLOTS]))


def test_arrays_that_the_runtime_allocates_have_no_slots():
    b = Builder("memory", TABLE, WORD)
    made = apply(b, np.sinh, b.inputs[0])
    zeros = [b.op("alloc", TABLE, b.inputs[1], b.inputs[1], fill=0, order=order) for order in "CF"]
    memory = memory_of(b, b.op("concatenate", TABLE, made, *zeros, axis=0))
    assert memory == planned(made, zeros[0], slots={zeros[0]})
