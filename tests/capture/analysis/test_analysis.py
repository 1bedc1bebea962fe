"""Exact facts of the analysis on small functions: versions of blocks, poisoned values, regions, loops, exits."""

import builtins
import operator
import sys

import numpy as np
import pytest

from pijit.core._hook import UNBOUND
from pijit.core.bytecode.analysed_code import analysed_code
from pijit.core.capture import driver as module
from pijit.core.capture.analysis.fixpoint import MAX_VERSIONS
from pijit.core.capture.context import CaptureOptions
from pijit.core.capture.values.lattice import Number, Tensor, Unknown, abstract_of, number_type
from pijit.core.graph.types import FLOAT, INT

X = np.arange(4.0)
stay = operator.methodcaller("__abs__")


def captured(function, *args, feedback=(), force_breaks=None):
    code = function.__code__
    slots = list(args) + [UNBOUND] * (code.co_nlocals - len(args))
    roots = slots, function.__globals__, vars(builtins)
    request = module.CaptureRequest(analysed_code(code), roots, UNBOUND, dict(feedback), CaptureOptions(force_breaks=force_breaks))
    return module.capture(request)


def index_of(result, opname, value=None, nth=0):
    return [instr.index for instr in result.cfg.function.instructions
            if instr.opname == opname and (value is None or instr.value == value)][nth]


def versions_at(result, index):
    return [v for v in result.analysis.versions if v.block.start <= index < v.block.end]


def kernels(result):
    return [candidate for candidate in result.candidates if candidate.error is None]


def exits(candidate):
    return [(exit.target, exit.locals, exit.stack, exit.side) for exit in candidate.captured.graph.exits]


def break_ids(result):
    return {index: error.reason_id for index, error in result.breaks()}


# block versions

def sums(x, n):
    s = 0
    for i in range(n):
        s = s + x[i]
    return s


def test_loop_body_has_a_version_per_type_of_the_sum():
    result = captured(sums, X, 3)
    add = index_of(result, "BINARY_ADD")
    types = [number_type(v.state.locals["s"]) for v in versions_at(result, add)]
    assert types[0] == INT and str(types[1]) == "np.float64" and len(types) == 2
    assert not any(v.lossy for v in result.analysis.versions) and result.breaks() == []


def test_no_second_version_where_types_stay():
    result = captured(sums, np.arange(4), 3)
    kinds = {str(number_type(v.state.locals["s"])) for v in versions_at(result, index_of(result, "BINARY_ADD"))}
    assert kinds == {"py.int64", "np.int64"}

    def stable(n):
        s = 0
        for i in range(n):
            s = s + i
        return s
    result = captured(stable, 3)
    assert len(versions_at(result, index_of(result, "BINARY_ADD"))) == 1


def ever_new(n, x):
    a = 0
    b = x
    for i in range(n):
        a, b = b, (a, b)
    return a


def test_versions_of_a_block_are_bounded():
    result = captured(ever_new, 3, 1.5)
    per_block = {}
    for version in result.analysis.versions:
        per_block[version.block.index] = per_block.get(version.block.index, 0) + 1
    assert max(per_block.values()) <= MAX_VERSIONS
    assert any(v.lossy for v in result.analysis.versions)


def joins(x, flag):
    if flag:
        y = x * 2.0
    else:
        y = 1
    return y


def test_paths_with_nothing_in_common_get_versions_behind_the_join():
    result = captured(joins, X, True)
    last = versions_at(result, index_of(result, "RETURN_VALUE", nth=-1))
    if sys.version_info < (3, 10):  # 3.10 gives each path a return of its own
        assert len(last) == 2 and {type(v.state.locals["y"]) for v in last} >= {Tensor}
    assert not any(v.lossy for v in result.analysis.versions)


# known branches

def chosen(x, k):
    if k is None:
        y = x * 2.0
    else:
        y = x * k
    return y + x


@pytest.mark.parametrize("k", [None, 2.5])
def test_branch_on_a_known_condition_is_pruned(k):
    result = captured(chosen, X, k)
    multiplications = [i for i, instr in enumerate(result.cfg.function.instructions) if instr.opname == "BINARY_MULTIPLY"]
    reached = [bool(versions_at(result, index)) for index in multiplications]
    assert reached == [k is None, k is not None]
    assert len(kernels(result)) == 1


# values that cannot leave a kernel

def method_across_a_break(x, n):
    y = x * 2.0 + 1.0
    return y.astype(stay(n)) + y


def test_method_that_waits_for_a_break_is_poisoned():
    result = captured(method_across_a_break, X, 3)
    method = index_of(result, "LOAD_METHOD", value="astype")
    assert set(result.analysis.poisoned) == {method}
    assert break_ids(result)[method] == "PJ201"


def method_in_one_go(x):
    return x.sum() + 1.0


def test_method_called_at_once_is_not_poisoned():
    result = captured(method_in_one_go, X)
    assert not result.analysis.poisoned and result.breaks() == []


def slice_across_a_break(x, n):
    return x[stay(n):][:2] + x[1:3]


@pytest.mark.usefixtures("little_work")
def test_slices_are_rebuilt_by_bytecode_where_a_break_needs_them():
    result = captured(slice_across_a_break, X, 0)
    assert len(kernels(result)) >= 1
    for candidate in kernels(result):
        assert all("Slice" not in repr(output) for block in candidate.captured.graph.blocks for op in block.ops
                   if op.exit is not None for output in op.exit.outputs)


# breaks and what is observed

def one_break(x, k):
    y = x * 2.0 + 1.0
    z = stay(k)
    return y * z


def test_break_and_what_it_pushes():
    result = captured(one_break, X, 2.5)
    call = index_of(result, "CALL_FUNCTION")
    ids = break_ids(result)
    assert ids[call] == "PJ201" and result.observable() == [call]
    after = captured(one_break, X, 2.5, feedback={call: abstract_of(2.5, defined_at=call)})
    assert after.observable() == [] and set(break_ids(after)) == {call}
    assert len(kernels(after)) == len(kernels(result)) + 1


def test_feedback_gives_the_type():
    call = index_of(captured(one_break, X, 2.5), "CALL_FUNCTION")
    assert isinstance(abstract_of(2.5), Number) and abstract_of(2.5).type == FLOAT
    unknown = captured(one_break, X, 2.5, feedback={call: Unknown("PJ203", call)})
    assert len(kernels(unknown)) == 1 and unknown.observable() == []


def ignored(x, k):
    y = x * 2.0 + 1.0
    stay(k)
    return y * y


def test_ignored_result_is_not_observed():
    assert captured(ignored, X, 2.5).observable() == []


@pytest.mark.parametrize("index", range(8))
def test_forced_break(index):
    def f(x):
        y = x * 2.0 + 1.0
        return y * y - x
    result = captured(f, X, force_breaks=index)
    ids = break_ids(result)
    assert ids.pop(index) == "PJ217" and set(ids.values()) <= {"PJ218"}  # what needs its value stays bytecode, too
    assert (ids == {}) == (index in (0, 5, 6, 7))


# regions and exits

def straight(x, k):
    y = x * 2.0 + k
    z = y * y
    return z


def test_straight_code_is_one_region():
    result = captured(straight, X, 1.0)
    (only,) = kernels(result)
    returns = index_of(result, "RETURN_VALUE")
    assert (only.captured.start, only.captured.depth, only.captured.entry_depth) == (0, 0, 0)
    normal = [exit for exit in exits(only) if not exit[3]]
    assert normal == [(returns, (), 1, False)]  # y and z are dead there
    assert all(exit[3] for exit in exits(only) if exit not in normal)


def operand_below(x, k):
    return stay(k) + (x * 2.0 + 1.0) * x


def test_operands_below_are_left_alone():
    result = captured(operand_below, X, 2.5, feedback={2: abstract_of(2.5, defined_at=2)})
    call = index_of(result, "CALL_FUNCTION")
    (only,) = kernels(result)
    assert only.captured.start == call + 1
    assert only.captured.entry_depth == 1 and only.captured.depth == 0  # the addition takes stay(k), too


def operand_untouched(x, k):
    return [stay(k), x * 2.0 + x]


def test_operand_that_no_instruction_takes_is_not_an_input():
    result = captured(operand_untouched, X, 2.5)
    (only,) = kernels(result)
    assert (only.captured.depth, only.captured.entry_depth) == (1, 1)
    (normal,) = [exit for exit in exits(only) if not exit[3]]
    assert normal == (index_of(result, "BUILD_LIST"), (), 1, False)


def rare(x, n):
    s = 0.0
    for i in range(n):
        s += x[i]
        if i % 7 == 3:
            stay(i)
    return s


def test_loop_with_a_rare_break_closes():
    result = captured(rare, X, 4)
    call = index_of(result, "CALL_FUNCTION", nth=-1)
    loops = [candidate for candidate in kernels(result) if candidate.region.has_loop]
    assert len(loops) == 1
    inside = set(loops[0].region.instructions())
    assert index_of(result, "FOR_ITER") in inside and index_of(result, "INPLACE_ADD") in inside and call not in inside
    # Control leaves for the break, with the sum and the index, and comes back to an entry of its own.
    to_break = [exit for exit in exits(loops[0]) if not exit[3] and call - 3 < exit[0] <= call]
    assert len(to_break) == 1 and set(to_break[0][1]) <= {"s", "i"}


def all_breaks(x, n):
    for i in range(n):
        stay(i)
    return x


def test_loop_of_bytecode_alone_keeps_its_step():
    result = captured(all_breaks, X, 4)
    step = index_of(result, "FOR_ITER")
    assert not any(step in set(candidate.region.instructions()) for candidate in result.candidates)


def unchanged_local(x, y, n):
    z = x * 2.0 + y
    stay(n)
    return z + y


def test_exit_stores_only_what_changed_and_is_read():
    result = captured(unchanged_local, X, X + 1.0, 3)
    first = kernels(result)[0]
    (normal,) = [exit for exit in exits(first) if not exit[3]]
    assert normal[1] == ("z",)


def conditional_store(x, k):
    y = x * 2.0
    if k > 1.0:
        y = y + x
    return y * x


def test_branch_on_data_stays_in_one_region():
    result = captured(conditional_store, X, 2.0)
    assert len(kernels(result)) == 1 and not kernels(result)[0].region.has_loop


def in_handler(x, k):
    try:
        y = x * 2.0 + 1.0
        y[k] = 5.0
    except IndexError:
        y = x - 1.0
    return y * 3.0


def test_no_region_spans_the_edge_of_a_handler():
    result = captured(in_handler, X, 1)
    for candidate in kernels(result):
        blocks = {tuple(result.cfg.blocks[result.cfg.block_of[index]].exception_successors)
                  for index in candidate.region.instructions()}
        assert len(blocks) >= 1
        entries = [region_block for region_block in candidate.region.blocks if region_block.version.is_entry]
        assert entries in ([], [candidate.region.entry])


def test_cutting_everywhere_makes_single_instructions():
    result = captured(straight, X, 1.0, force_breaks="every")
    assert all(len(list(candidate.region.instructions())) == 1 for candidate in result.candidates)
    covered = sorted(index for candidate in result.candidates for index in candidate.region.instructions())
    assert covered == list(range(index_of(result, "RETURN_VALUE")))


def unpacked(x, k):
    pair = (x * 2.0, k)
    a, b = pair
    return a + b


def test_tuple_that_crosses_segments_is_taken_apart():
    """A segment that starts with a tuple finds its parts by position, not by what another segment called them."""
    result = captured(unpacked, X, 2.5, force_breaks="every")
    assert all(candidate.captured is not None for candidate in result.candidates)
    unpack = index_of(result, "UNPACK_SEQUENCE")
    (segment,) = [c for c in result.candidates if c.captured.start == unpack]
    assert sorted(map(str, segment.captured.inputs)) == ["stack[0][0]", "stack[0][1]"]


def test_nothing_is_remembered_after_release():
    result = captured(one_break, X, 2.5)
    result.release()
    assert result.analysis.versions == [] and result.analysis.interpreter.state.locals == {}
