"""The table of operations: both back ends have all rows, and facts about operations stand nowhere else.

**The rule.** A set, list, tuple or dict display, or a string that is split, has names of operations if at least two
of its strings, and at least half of them, name rows of `core/graph/ops`. It is then a fact about operations: a column
of that table. Two kinds of displays may stand elsewhere:

- `HANDLERS`: tables from an operation to the function or the source that handles it, beside the handlers.
- `OTHER_NAMES`: displays of other names that look alike: of ufunc loops' elements, instructions, attributes and
  Python's operators.
"""

import ast
import importlib
import os

import pytest

from pijit.core.graph.element_ops import ELEMENT_OPS
from pijit.core.graph.ops import (
    DROPS_ITEMS,
    DROPS_REFERENCES,
    FREES_OPERANDS,
    HIDES_OPERANDS,
    NEEDS_GIL,
    OPS,
    SHARES_OBJECTS,
    STORES,
    STORES_ALL,
    arrays,
    effects,
    objects,
    scalars,
)
from pijit.core.graph.ops.info import Fact
from pijit.core.graph.reverse.forward import HOST_CALL, STATEMENTS
from pijit.core.kernel.emit.array_ops import ARRAY_OPERATIONS
from pijit.core.kernel.emit.kernel_emitter import _SPECIAL
from pijit.core.kernel.emit.scalars import ROWS
from pijit.core.kernel.llvm.nest.elements import OPERATIONS
from pijit.core.kernel.reference.emitter import _OPERATIONS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

HANDLERS = {
    "capture/models/numpy/library.py": ["OPERATIONS"],
    "graph/bounds_prover.py": ["_PROMISES"],
    "graph/length_origins.py": ["_LENGTHS"],
    "graph/linear_forms.py": ["_FORMS", "_SPANS"],
    "graph/passes/eliminate_checks.py": ["_CHECKED"],
    "graph/reverse/adjoint.py": ["ADJOINTS"],
    "graph/reverse/sizes/dims.py": ["MEASURES", "_INTEGERS"],
    "graph/reverse/forward.py": ["FORWARD", "STATEMENTS"],
    "graph/reverse/library_calls.py": ["CALLS", "SELECTIONS"],
    "kernel/plan/array_layouts.py": ["_DERIVED"],
    "kernel/plan/group_plans.py": ["_PLANNERS"],
    "kernel/plan/shape_classes.py": ["_DERIVED"],
    "kernel/emit/fused_nest.py": ["_ONE_BY_ONE"],
    "kernel/emit/array_ops.py": ["ARRAY_OPERATIONS"],
    "kernel/emit/kernel_emitter.py": ["_SPECIAL"],
    "kernel/emit/library_calls.py": ["LIBRARY_OPERATIONS"],
    "kernel/emit/linear_algebra.py": ["GUFUNC_OPERATIONS"],
    "kernel/emit/objects.py": ["OBJECT_OPERATIONS"],
    "kernel/emit/stores/scatters.py": ["SCATTER_OPERATIONS"],
    "kernel/reference/emitter.py": ["_OPERATIONS", "_UNARY"],
}
OTHER_NAMES = {
    "graph/element_ops.py": ["ELEMENT_OPS"],
    "kernel/emit/scalars.py": ["_complex_rows", "_float_rows", "_half_rows", "_integer_rows"],
    "kernel/llvm/intrinsics.py": ["_integer_rows"],
    "kernel/llvm/nest/elements.py": ["OPERATIONS"],
    "kernel/reference/runtime.py": ["NAMES"],
    "bytecode/instructions/opcodes.py": ["OUTER_WRITES"],
    "capture/models/numpy/element_stores.py": ["store_complex_part"],
    "capture/models/operators.py": ["UNARY_UFUNCS"],
    "capture/models/scalars/complex.py": ["_name", "call_complex", "part_of"],
    "capture/models/scalars/number_calls.py": ["BINARY", "UNARY"],
    "tape/attributes.py": ["_array_attribute", "store_attribute"],
    "tape/operations.py": ["_NAMES"],
}


def test_each_operation_has_one_row():
    kinds = (scalars.ROWS, arrays.ROWS, objects.ROWS, effects.ROWS)
    assert sum(map(len, kinds)) == len(OPS)


def test_both_back_ends_have_all_operations():
    machine_code = {*ARRAY_OPERATIONS, *_SPECIAL, *(name for name, _, _ in ROWS)}
    compiled = set(OPS) - {HOST_CALL}
    assert (machine_code ^ compiled, set(_OPERATIONS) ^ compiled) == (set(), set())


def test_operations_on_objects_have_the_duties():
    on_objects = {**objects.ROWS, **effects.ROWS}
    assert {name for name, info in on_objects.items() if not info.facts & Fact.NEEDS_GIL} == {"origin"}
    assert all(info.facts & Fact.EFFECT for info in effects.ROWS.values())
    assert DROPS_ITEMS <= DROPS_REFERENCES and SHARES_OBJECTS <= NEEDS_GIL and FREES_OPERANDS <= HIDES_OPERANDS
    assert STORES_ALL <= STORES == set(STATEMENTS)


def test_element_operations_are_those_of_loop_nests():
    assert set(ELEMENT_OPS) <= set(OPERATIONS)


@pytest.mark.parametrize("path", sorted(HANDLERS))
def test_handlers_are_of_operations(path):
    module = importlib.import_module("pijit.core." + path[:-3].replace("/", "."))
    for table in HANDLERS[path]:
        assert set(getattr(module, table)) <= set(OPS)


def string(node):
    """The string that a node is, or None."""
    value = node.value if isinstance(node, ast.Constant) else getattr(node, "s", None)  # CPython 3.7 has ast.Str
    return value if isinstance(value, str) else None


def displayed(node):
    """The strings of a display, or of a string that is split; none of other nodes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        return (string(node.func.value) or "").split()
    parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", None)
    return [one for one in map(string, parts or ()) if one is not None]


def tables_of_operations(path):
    """The names of the assignments and functions of a module that have names of operations."""
    with open(path, encoding="utf-8") as file:
        for statement in ast.parse(file.read()).body:
            targets = getattr(statement, "targets", None) or [getattr(statement, "target", statement)]
            name = getattr(targets[0], "id", None) or getattr(statement, "name", "line %d" % statement.lineno)
            for node in ast.walk(statement):
                strings = displayed(node)
                known = sum(one in OPS for one in strings)
                if known >= 2 and 2 * known >= len(strings):
                    yield name


def test_facts_about_operations_are_columns():
    found = {}
    for folder, _, files in os.walk(os.path.join(ROOT, "core")):
        for path in (os.path.join(folder, file) for file in files if file.endswith(".py")):
            inside = os.path.relpath(path, os.path.join(ROOT, "core")).replace(os.sep, "/")
            names = set() if inside.startswith("graph/ops/") else set(tables_of_operations(path))
            if names:
                found[inside] = names
    assert found == {path: {*HANDLERS.get(path, ()), *OTHER_NAMES.get(path, ())} for path in {**HANDLERS, **OTHER_NAMES}}
