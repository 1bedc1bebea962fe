"""Plans of kernels: they are made and printed before the source is written."""

import numpy as np
import pytest
from kernel_graphs import Builder

from pijit.core.graph.ir import Jump, SideExit
from pijit.core.graph.types import FLAG, WORD, Array, numpy_scalar
from pijit.core.kernel.compile import CompileError, Kernel, TooDeep
from pijit.core.kernel.options import PLAIN
from pijit.core.kernel.plan.control_tree import LoopNode
from pijit.core.kernel.plan.deferred_fills import FillPlan
from pijit.core.kernel.plan.exponents import BoundedArrays
from pijit.core.kernel.plan.flag_plan import NO_FLAGS, FlagPlan
from pijit.core.kernel.plan.fp_check_plan import FpCheckPlan, SharedCheck
from pijit.core.kernel.plan.graph_facts import MergedGroup
from pijit.core.kernel.plan.group_plans import GroupPlans
from pijit.core.kernel.plan.kernel_plan import Plan, make_plan
from pijit.core.kernel.plan.printer import FIELDS, GROUP_LINES, PLAN_LINES, format_plan
from pijit.core.kernel.plan.skewing import SkewingRun
from pijit.core.kernel.plan.store_plan import NEW, StorePlan, Strategy
from pijit.core.kernel.plan.strips import AffineElement, AffineIndex, Combined, Strip
from pijit.core.kernel.plan.tiling import TilingRun

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
    run = TilingRun([op], [op], op, [value], {value}, {value}, {op: 0})
    skewed = SkewingRun([[op], [op]], [op], [op], op, {value: 1}, {value: 2}, [value], 3, {op: 0})
    element = AffineElement(op, [AffineIndex(Combined("add", value, 1), 2), AffineIndex(0, None)])
    strip = Strip(value, value, [value], True, [element], {value})
    check = SharedCheck([op], SideExit(7, []))
    checks = FpCheckPlan({op: "sum"}, {op: check}, {op: [check]}, {op: SideExit(8, [])})
    return {"fp_checks": checks, "bounded": BoundedArrays([value], [value], [value]), "tiling": {op: run}, "strips": {loop: strip},
            "left_out_steps": {op: value}, "unmerged": {op}, "transposed": {op}, "by_rows": {value},
            "fills": FillPlan({op: value}, {op: value}), "skewing": {op: skewed}, "stores": {op: NEW}, "nests": set(),
            "flags": {op: FlagPlan((0, 2), True, 15, True, True)}}


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


@pytest.mark.parametrize("field, value", [
    ("strategy", Strategy.BLOCKS), ("buffered", None), ("waits", True), ("same", ("%1",)), ("own", ("%1",)),
    ("tested", ("%1",)), ("is_whole", True)])
def test_each_field_of_a_store_is_printed(field, value):
    assert str(NEW._replace(**{field: value})) != str(NEW)


def test_all_fields_of_stores_are_tested():
    marks = test_each_field_of_a_store_is_printed.pytestmark[0]
    assert [field for field, _ in marks.args[1]] == list(StorePlan._fields)


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
