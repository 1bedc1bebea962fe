"""The normal form of CPython 3.11 and later: 3.10's names, no empty slots, blocks from the exception table.

A test looks at a part of the standard library. As a program this file looks at all: `python tests/bytecode/test_normal_311.py`.
"""

import sys

import pytest

if sys.version_info < (3, 11):
    pytest.skip("earlier versions have these instructions themselves", allow_module_level=True)

import dis

from pijit.core.bytecode.analysis.blocks import build_cfg, innermost_handler
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.analysis.use_def import UseDef
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler
from pijit.core.bytecode.codec.layout import stack_size
from pijit.core.bytecode.instructions import names_311
from pijit.core.bytecode.instructions.opcodes import CLASS_OF_NAME
from pijit.core.bytecode.instructions.units_311 import SKIPPED_BY_FOR_ITER
from pijit.core.bytecode.normal_form.normalise import normal_function, plain_function
from tests.bytecode.test_identity_311 import FIELDS, FOLDERS, code_objects, python_files


def function_of(source, name="f"):
    scope = {}
    exec(compile(source, "<source>", "exec"), scope)
    return normal_function(plain_function(scope[name].__code__, False))


def shown(function, leave_out=("NOP",)):
    return [(instr.opname, instr.value) for instr in function.instructions if instr.opname not in leave_out]


def test_every_opcode_is_known():
    unknown = [name for name, number in dis.opmap.items() if number < 256 and names_311.why_unknown(name) is not None
               and not name.startswith(("INSTRUMENTED_", "RESERVED", "ENTER_EXECUTOR", "EXIT_INIT_CHECK"))]
    assert unknown == []


def test_every_name_has_a_class():
    assert names_311.normal_names() - set(CLASS_OF_NAME) == set()


def test_an_unknown_opcode_is_refused():
    instr = decode(function_of.__code__).instructions[0]
    instr.opname = "LOAD_ANYTHING"
    with pytest.raises(ValueError, match="does not know the instruction LOAD_ANYTHING"):
        names_311.normal(instr, names_311.Names(function_of.__code__, []))


@pytest.mark.parametrize("body, expected", [
    ("return x + y", [("LOAD_FAST", "x"), ("LOAD_FAST", "y"), ("BINARY_ADD", None), ("RETURN_VALUE", None)]),
    ("x **= y; return x", [("LOAD_FAST", "x"), ("LOAD_FAST", "y"), ("INPLACE_POWER", None), ("STORE_FAST", "x"),
                           ("LOAD_FAST", "x"), ("RETURN_VALUE", None)]),
    ("return g(x, y)", [("LOAD_GLOBAL", "g"), ("LOAD_FAST", "x"), ("LOAD_FAST", "y"), ("CALL_FUNCTION", 2), ("RETURN_VALUE", None)]),
    ("return x.m(y)", [("LOAD_FAST", "x"), ("LOAD_METHOD", "m"), ("LOAD_FAST", "y"), ("CALL_METHOD", 1), ("RETURN_VALUE", None)]),
    ("return x.a", [("LOAD_FAST", "x"), ("LOAD_ATTR", "a"), ("RETURN_VALUE", None)]),
    ("return -x, not y", [("LOAD_FAST", "x"), ("UNARY_NEGATIVE", None), ("LOAD_FAST", "y"), ("UNARY_NOT", None),
                          ("BUILD_TUPLE", 2), ("RETURN_VALUE", None)]),
    ("return 7", [("LOAD_CONST", 7), ("RETURN_VALUE", None)]),
    ("return x[y:]", [("LOAD_FAST", "x"), ("LOAD_FAST", "y"), ("LOAD_CONST", None), ("BUILD_SLICE", 2), ("BINARY_SUBSCR", None),
                      ("RETURN_VALUE", None)]),
    ("return x < y", [("LOAD_FAST", "x"), ("LOAD_FAST", "y"), ("COMPARE_OP", "<"), ("RETURN_VALUE", None)]),
    ("return x is not y", [("LOAD_FAST", "x"), ("LOAD_FAST", "y"), ("IS_OP", "is not"), ("RETURN_VALUE", None)]),
    ("return g(*x)", [("LOAD_GLOBAL", "g"), ("LOAD_FAST", "x"), ("CALL_FUNCTION_EX", 0), ("RETURN_VALUE", None)]),
])
def test_names_are_those_of_310(body, expected):
    ignored = ("NOP", "TO_BOOL")
    assert shown(function_of("def f(x, y):\n    " + body), ignored) == expected


def test_calls_with_keywords():
    plain = function_of("def f(x): return g(1, a=x)")
    method = function_of("def f(x): return x.m(1, a=x)")
    calls = [[instr for instr in one.instructions if instr.opname.startswith("CALL")] for one in (plain, method)]
    assert [[call.opname for call in found] for found in calls] == [["CALL_FUNCTION_KW"], ["CALL_METHOD_KW"]]
    for found in calls:
        named = ("a",) if sys.version_info < (3, 13) else 2  # 3.13 has the names on the operand stack
        assert found[0].arg == 2 and found[0].value == named


def test_a_callable_with_its_first_argument_beside_it():
    """The interpreter calls decorators, comprehensions and __exit__ with an argument in place of the empty slot."""
    function = function_of("def f(x):\n  @x\n  def g(): pass\n  with x: pass\n  return (y for y in x)")
    called = [(instr.opname, instr.arg) for instr in function.instructions if instr.opname.startswith("CALL_")]
    # From 3.14 on with statements look __exit__ up as a method, with its owner beside it.
    end = "CALL_METHOD" if sys.version_info >= (3, 14) else "CALL_FUNCTION"
    assert called == [("CALL_FUNCTION", 1), (end, 3), ("CALL_FUNCTION", 1)]


def test_empty_slots_are_not_counted():
    function = function_of("def f(x): return g(x, h(x))")
    depths = build_cfg(function).stack_depth
    by_name = {instr.opname + str(instr.value): depths[instr.index] for instr in function.instructions}
    assert (by_name["LOAD_GLOBALg"], by_name["LOAD_GLOBALh"], by_name["CALL_FUNCTION1"], by_name["CALL_FUNCTION2"]) == (0, 2, 4, 3)
    nulls = function.operands.nulls[next(i.index for i in function.instructions if i.opname == "CALL_FUNCTION" and i.arg == 1)]
    assert nulls == ((0, 3) if sys.version_info < (3, 13) else (1, 4))


def test_the_prologue_is_left_out():
    function = function_of("def g(x):\n  def f(): return x\n  return f\nf = g(1)")
    assert [instr.opname for instr in function.prologue][-1] == "RESUME" and len(function.prologue) == 2
    assert function.instructions[0].opname == "LOAD_DEREF" and function.instructions[0].arg == 0


def test_cells_are_numbered_as_before_311():
    """An argument that is a cell has no second slot from 3.11 on, but still a number among the cells."""
    function = function_of("def f(a, b):\n  c = a\n  def g(): return b, c\n  c += b\n  return g, d")
    cells = function.code.co_cellvars
    used = {(instr.opname, instr.value): instr.arg for instr in function.instructions if "DEREF" in instr.opname or "CLOSURE" in instr.opname}
    assert used == {(name, cells[number]): number for (name, _), number in used.items()}
    assert ("LOAD_CLOSURE", "b") in used and ("STORE_DEREF", "c") in used


def test_a_loop_leads_behind_what_it_skips():
    function = function_of("def f(x):\n  for i in x: g(i)\n  return 1")
    step = next(instr for instr in function.instructions if instr.opname == "FOR_ITER")
    cfg = build_cfg(function)
    assert function.instructions[step.target].opname == "LOAD_CONST"
    assert cfg.stack_depth[step.target] == 0 and cfg.stack_depth[step.index + 1] == 2 and len(cfg.loops) == 1


BLOCKS = """
def f(x):
    try:
        a(x)
        try:
            b(x)
        finally:
            c(x)
    except KeyError as error:
        d(error)
    except (ValueError, m.Error):
        e(x)
    with m(x):
        g(x)
    try:
        h(x)
    except:
        i(x)
"""
EXPECTED = {"a": ("except",), "b": ("except", "finally"), "c": ("except",), "d": ("handler", "finally"), "e": ("handler",),
            "g": ("with",), "h": ("except",), "i": ("handler",)}


def test_blocks_are_found_in_the_exception_table():
    function = function_of(BLOCKS)
    cfg = build_cfg(function)
    found = {}
    for instr in function.instructions:
        if instr.opname == "LOAD_GLOBAL" and instr.value in EXPECTED and cfg.stack_depth[instr.index] is not None:
            found.setdefault(instr.value, tuple(block.kind for block in cfg.block_stack[instr.index]))
    assert found == EXPECTED


@pytest.mark.parametrize("inner, outer", [("b(x)", "finally"), ("b(x)", "except ValueError"), ("raise b(x)", "finally"),
                                          ("raise b(x)", "except ValueError")])
def test_handlers_protect_what_they_should(inner, outer):
    """An exception in an except clause goes on to the handler around it, past the code that ends the clause."""
    function = function_of("def f(x):\n try:\n  try: a(x)\n  except KeyError: %s\n %s: c(x)" % (inner, outer))
    cfg = build_cfg(function)
    call = next(instr for instr in function.instructions if instr.opname == "LOAD_GLOBAL" and instr.value == "b")
    block = cfg.blocks[cfg.block_of[call.index]]
    handler = cfg.blocks[block.exception_successors[0]].start
    assert function.instructions[handler].opname == "PUSH_EXC_INFO" and handler in cfg.flow.handlers


def test_handlers_of_a_statement_that_holds_nothing_but_another():
    """The exception table leads to the outer handler from the clean-up of the inner one alone, which is not reached."""
    function = function_of("def f(x):\n try:\n  try: a(x)\n  except KeyError: raise b from None\n except m: c(x)")
    cfg = build_cfg(function)
    begins = [instr.index for instr in function.instructions if instr.opname == "PUSH_EXC_INFO"]
    assert sorted(cfg.flow.handlers) == begins and {cfg.blocks[cfg.block_of[index]].start for index in begins} == set(begins)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="comprehensions are functions")
def test_inlined_comprehensions():
    function = function_of("def f(x, i):\n  y = [i * 2 for i in x]\n  return y, i")
    names = [instr.opname for instr in function.instructions]
    saved = function.instructions[names.index("LOAD_FAST_AND_CLEAR")]
    cfg = build_cfg(function)
    assert saved.value == "i" and "i" in Liveness(cfg).live_in(saved.index)
    assert "i" in UseDef(cfg).may_be_unbound(saved.index + 1)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="comprehensions are functions")
@pytest.mark.parametrize("before, empty", [("pass", True), ("v = 1", False), ("for v in xs: pass", True)])
def test_variables_that_comprehensions_put_aside_may_have_no_value(before, empty):
    """Then what is on the operand stack is no value either, and the variable has none again behind the comprehension."""
    function = function_of("def f(xs):\n    {}\n    ys = g(xs, [v + w for v, w in xs])\n    return ys".format(before))
    cfg = build_cfg(function)
    chains = UseDef(cfg)
    end = [instr.index for instr in function.instructions if instr.opname == "END_FOR"][-1] + len(SKIPPED_BY_FOR_ITER)
    depth = cfg.stack_depth[end]
    assert chains.empty_operands(end) == ({depth - 3, depth - 2} if empty else {depth - 3})
    assert chains.empty_operands(0) == frozenset()
    returned = next(instr.index for instr in function.instructions if instr.opname == "RETURN_VALUE")
    assert chains.may_be_unbound(returned) == ({"v", "w"} if empty else {"w"})


def wrong(code):
    """What is wrong with the normal form of a code object, or None."""
    function = normal_function(plain_function(code, False))
    plain = function.code
    cfg = build_cfg(function)
    Liveness(cfg).live_in(0)
    again = Assembler(function).assemble()
    for field in FIELDS:
        if getattr(again, field) != getattr(plain, field):
            return "{} differs when it is encoded again".format(field)
    caught = {innermost_handler(blocks or ()) for blocks in cfg.block_stack} - {None}
    if not caught <= set(cfg.flow.handlers):
        return "a handler is not found"
    deepest = max(depth for depth in function.operands.depths if depth is not None)
    if deepest > plain.co_stacksize:
        return "its operand stack is {} deep, not {}".format(deepest, plain.co_stacksize)
    if stack_size(decode(plain)) > code.co_stacksize + 1:  # a constant that is returned has been an operand of none
        return "plain code needs a much deeper stack"
    return None


def faults(every):
    for folder in FOLDERS.values():
        for number, path in enumerate(python_files(folder)):
            for code in code_objects(path) if number % every == 0 else ():
                found = wrong(code)
                if found is not None:
                    yield "{}:{}: {}".format(path, code.co_qualname, found)


def test_the_standard_library():
    assert list(faults(60)) == []


if __name__ == "__main__":
    for fault in faults(1):
        print(fault)
