"""What is new in the bytecode of CPython 3.14, in plain and in normal form."""

import gc
import opcode
import sys
import warnings
import weakref

import pytest

if sys.version_info < (3, 14):
    pytest.skip("these instructions come with CPython 3.14", allow_module_level=True)

import dis

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler, NewInstr
from pijit.core.bytecode.instructions import names_311
from pijit.core.bytecode.instructions.units_311 import SKIPPED_BY_FOR_ITER
from pijit.core.bytecode.linker.link import MISS, Call, ExitPlan, Site
from pijit.core.bytecode.normal_form import split_instructions_311
from pijit.core.bytecode.normal_form.normalise import normal_function, plain_function
from pijit.core.pythons import why_no_gradients, why_not_python
from tests.bytecode.linker.link_samples_311 import Launch, cfg_of, index_of, linked, local


def function_of(source, name="f"):
    scope = {}
    exec(compile(source, "<source>", "exec"), scope)
    return scope[name]


def normal(function):
    return normal_function(plain_function(function.__code__, False))


def names(function):
    return [instr.opname for instr in normal(function).instructions if instr.opname != "NOP"]


def test_numbers_are_those_of_the_interpreter():
    assert names_311.COMMON_CONSTANTS == tuple(opcode._common_constants)
    assert opcode._nb_ops[split_instructions_311.SUBSCRIPT[1]] == ("NB_SUBSCR", "[]")
    looked_up = [tuple(opcode._special_method_names[arg] for name, arg in sequence if name == "LOAD_SPECIAL")
                 for sequence in names_311.SEQUENCES]
    assert looked_up == [("__exit__", "__enter__"), ("__aexit__", "__aenter__")]


def test_plain_code_borrows_nothing():
    function = function_of("def f(x, y):\n  z = x + y\n  return g(x)[y:z]")
    before, after = ({instr.opname for instr in dis.get_instructions(code)}
                     for code in (function.__code__, plain_function(function.__code__, False).code))
    assert {"LOAD_FAST_BORROW", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "BINARY_SLICE"} <= before
    assert not any("BORROW" in name or "SLICE" in name for name in after - {"BUILD_SLICE"})


class Item:
    """What can be seen to end."""

    def __init__(self):
        self.ends = []
        weakref.finalize(self, self.ends.append, 1)

    def __radd__(self, other):
        return list(self.ends)


def keeps(x, f):
    return f + x


def test_a_variable_that_new_code_stores_into_does_not_take_the_operand_away():
    """The compiler borrows x, for nothing stores into it while it is an operand. A site between the two does."""
    add = index_of(cfg_of(keeps), "BINARY_ADD")
    launch = Launch((None, "other"))
    site = Site(add, 2, 2, (Call(launch, (), 1, (ExitPlan(add, ("x",), 0, True),)),))
    run = linked(keeps, cfg_of(keeps), [site])
    assert run(Item(), 1) == [] and "LOAD_FAST_BORROW" in " ".join(instr.opname for instr in dis.get_instructions(keeps))


@pytest.mark.parametrize("body, expected", [
    ("return 7, -1, 300, None", ["LOAD_CONST", "RETURN_VALUE"]),
    ("return x + 7", ["LOAD_FAST", "LOAD_CONST", "BINARY_ADD", "RETURN_VALUE"]),
    ("return x[y]", ["LOAD_FAST", "LOAD_FAST", "BINARY_SUBSCR", "RETURN_VALUE"]),
    ("x[y] = 5", ["LOAD_CONST", "LOAD_FAST", "LOAD_FAST", "STORE_SUBSCR", "LOAD_CONST", "RETURN_VALUE"]),
    ("return x[1:]", ["LOAD_FAST", "LOAD_CONST", "BINARY_SUBSCR", "RETURN_VALUE"]),
    ("assert x", ["LOAD_FAST", "TO_BOOL", "POP_JUMP_IF_TRUE", "LOAD_ASSERTION_ERROR", "RAISE_VARARGS", "LOAD_CONST", "RETURN_VALUE"]),
    ("raise NotImplementedError", ["LOAD_GLOBAL", "RAISE_VARARGS"]),
    ("return {'a': x, 'b': y}", ["LOAD_CONST", "LOAD_FAST", "LOAD_CONST", "LOAD_FAST", "BUILD_MAP", "RETURN_VALUE"]),
    ("return t'{x!r:>5}|{y}'", ["LOAD_CONST", "LOAD_FAST", "LOAD_CONST", "LOAD_CONST", "BUILD_INTERPOLATION", "LOAD_FAST",
                                "LOAD_CONST", "BUILD_INTERPOLATION", "BUILD_TUPLE", "BUILD_TEMPLATE", "RETURN_VALUE"]),
])
def test_names_are_those_of_310(body, expected):
    assert names(function_of("def f(x, y):\n    " + body)) == expected


def test_small_numbers_are_constants():
    loads = [instr.value for instr in normal(function_of("def f(x): return g(x, 0, 255, 256)")).instructions
             if instr.opname == "LOAD_CONST"]
    assert loads == [0, 255, 256]


@pytest.mark.parametrize("call, flags", [("g(*x)", 0), ("g(*x, **y)", 1), ("g(**y)", 1), ("g(x, *h(*y))", 0)])
def test_starred_calls_tell_whether_they_have_keywords(call, flags):
    """On the operand stack there is a place for them in any case."""
    function = normal(function_of("def f(x, y): return " + call))
    calls = [instr for instr in function.instructions if instr.opname == "CALL_FUNCTION_EX"]
    assert {instr.arg for instr in calls} == {flags}
    depths = build_cfg(function).stack_depth
    assert depths[calls[-1].index] == 2 + flags and depths[calls[-1].index + 1] == 1


def test_with_statements_are_entered_by_one_instruction():
    function = normal(function_of("def f(x):\n  with x as y, y.z():\n    g(y)"))
    cfg = build_cfg(function)
    enters = [instr.index for instr in function.instructions if instr.opname == "SETUP_WITH"]
    assert [[dis.opname[unit.opcode] for unit in function.instructions[index].units] for index in enters] == [
        ["COPY", "LOAD_SPECIAL", "SWAP", "SWAP", "LOAD_SPECIAL", "CALL"]] * 2
    assert [cfg.stack_depth[index + 1] - cfg.stack_depth[index] for index in enters] == [2, 2]
    call = next(instr.index for instr in function.instructions if instr.value == "g")
    assert [(block.kind, block.level) for block in cfg.block_stack[call]] == [("with", 2), ("with", 4)]
    assert [instr.arg for instr in function.instructions if instr.opname == "CALL_METHOD"].count(3) == 2


def suppresses(manager, x):
    with manager:
        x()
    return 1


def test_handlers_of_with_statements_are_left_alone():
    """Below the exception is where it was raised, as a number without an object. Code that stored it would have no value."""
    cfg = cfg_of(suppresses)
    assembler, begin = Assembler(cfg.function), index_of(cfg, "PUSH_EXC_INFO")
    assert cfg.block_stack[begin - 1] == () and cfg.flow.handlers[begin].kind == "handler"
    refused = [instr.index for instr in cfg.function.instructions
               if cfg.stack_depth[instr.index] is not None and not assembler.may_insert(instr.index)]
    assert [cfg.function.instructions[index].opname for index in refused] == [
        "PUSH_EXC_INFO", "WITH_EXCEPT_START", "TO_BOOL", "POP_JUMP_IF_TRUE", "NOP", "RERAISE", "POP_TOP", "POP_EXCEPT", "POP_TOP"]
    with pytest.raises(ValueError, match="an item of the operand stack is no object"):
        assembler.insert(refused[0], [NewInstr("NOP")])
    assert min(refused) >= begin


def test_an_unknown_lookup_of_a_special_method_is_refused():
    code = function_of("def f(x):\n  with x: pass").__code__
    raw = bytearray(code.co_code)
    raw[raw.index(bytes((dis.opmap["LOAD_SPECIAL"], 1))) + 1] = 0
    with pytest.raises(ValueError, match="LOAD_SPECIAL is no instruction of plain code"):
        normal(function_of("def g(): pass", "g").__class__(code.replace(co_code=bytes(raw)), {}))


async def asynchronous(x, log):
    async with x as y:
        async for z in y:
            log.append(z)
            if z == 3:
                return log
    return -1


class Several:
    """An asynchronous manager, which gives an asynchronous iterator."""

    def __init__(self, count):
        self.items = iter(range(count))

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        return None

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return next(self.items)
        except StopIteration:
            raise StopAsyncIteration


def result_of(coroutine):
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


def test_ends_of_asynchronous_loops_name_an_instruction():
    """END_ASYNC_FOR says where its loop's END_SEND is; control never goes there from it."""
    function = decode(asynchronous.__code__)
    (end,) = [instr for instr in function.instructions if instr.opname == "END_ASYNC_FOR"]
    assert end.target is None and function.instructions[end.written_target].opname == "END_SEND"
    assert {"BEFORE_ASYNC_WITH"} <= set(names(asynchronous))
    for form in (function, normal(asynchronous)):
        assembler = Assembler(form)
        for instr in form.instructions:
            if assembler.may_insert(instr.index):
                assembler.insert(instr.index, [NewInstr("NOP", None, instr.lineno)] * 300)
        code = assembler.assemble()
        again = decode(code).instructions
        (end,) = [instr for instr in again if instr.opname == "END_ASYNC_FOR"]
        assert again[end.written_target].opname == "END_SEND" and again[end.written_target - 1].opname == "NOP" and end.size == 2
        run = type(asynchronous)(code, globals())
        assert result_of(run(Several(9), [])) == [0, 1, 2, 3] and result_of(run(Several(2), [])) == -1


def decided(xs, tuple=tuple):
    return any(x > 3 for x in xs), all(x for x in xs), builtin_tuple(xs)


def builtin_tuple(xs):
    return tuple(x * 2 for x in xs)


@pytest.mark.parametrize("function", [decided, builtin_tuple])
def test_builtins_of_generator_expressions_are_loops(function):
    """any, all and tuple are compared with the builtins; then the function itself loops."""
    cfg = cfg_of(function)
    found = [instr.value for instr in cfg.function.instructions if dis.opname[instr.opcode] == "LOAD_COMMON_CONSTANT"]
    assert found == ([any, all] if function is decided else [tuple]) and len(cfg.loops) == len(found)
    sites = [Site(instr.index, depth, depth, (Call(Launch((MISS,)), (), 0, (ExitPlan(instr.index, (), 0, True),)),))
             for instr, depth in zip(cfg.function.instructions, cfg.stack_depth) if depth is not None and instr.opname != "NOP"]
    run = linked(function, cfg, sites)
    for xs in ([], [1, 2], [1, 0, 5]):
        assert run(xs) == function(xs)


def broken(xs):
    for x in xs:
        if x > 2:
            break
    else:
        x = None
    return x


def test_loops_end_behind_what_lets_go_of_the_iterator():
    cfg = cfg_of(broken)
    step = next(instr for instr in cfg.function.instructions if instr.opname == "FOR_ITER")
    assert step.target - step.written_target == len(SKIPPED_BY_FOR_ITER) == 2
    assert cfg.stack_depth[step.target] == 0 and cfg.stack_depth[step.written_target] is None
    pops = [instr for instr in cfg.function.instructions if dis.opname[instr.opcode] == "POP_ITER"]
    assert {instr.opname for instr in pops} == {"POP_TOP"}
    launch = Launch((None, iter([1, 5, 6])), (MISS, None))
    site = Site(0, 0, 0, (Call(launch, (local("xs"),), 1, (ExitPlan(step.index, (), 1, True),)),))
    run = linked(broken, cfg, [site])
    assert run([]) == 5 and run([1]) is None


def test_what_a_loop_over_has_goes():
    """The iterator ends where the loop ends, whether it is left or finished."""
    class Numbers(list):
        def __iter__(self):
            item = Item()
            self.ends = item.ends
            return (number for number, _ in zip(list.__iter__(self), [item] * 9))
    cfg = cfg_of(broken)
    sites = [Site(instr.index, depth, depth, (Call(Launch((MISS,)), (), 0, (ExitPlan(instr.index, (), 0, True),)),))
             for instr, depth in zip(cfg.function.instructions, cfg.stack_depth) if depth is not None and instr.opname != "NOP"]
    run = linked(broken, cfg, sites)
    for values in ([1], [1, 4, 5], []):
        numbers = Numbers(values)
        run(numbers)
        gc.collect()
        assert numbers.ends == [1]


def test_annotations_are_a_function():
    function = normal(function_of("def f(x):\n  def g(a: x, b=2, *, c=3) -> x: return x\n  return g"))
    made = [instr for instr in function.instructions if instr.opname == "MAKE_FUNCTION"]
    assert [instr.arg for instr in made] == [8, 1 | 2 | 8 | 16] and cfg_depths(function)


def cfg_depths(function):
    return [depth for depth in build_cfg(function).stack_depth if depth is not None]


def test_branches_not_taken_are_nothing():
    function = function_of("def f(x):\n  while x: x = g(x)\n  return x")
    assert "NOT_TAKEN" in {instr.opname for instr in dis.get_instructions(function)}
    assert "NOT_TAKEN" not in names(function)


def test_jit_does_nothing_and_warns_once(monkeypatch):
    from pijit import decorator

    monkeypatch.setattr(decorator, "_warned", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert decorator.jit(broken) is broken and decorator.jit(keeps) is keeps
    assert [one.category for one in caught] == [decorator.UnsupportedPythonWarning]
    assert "cpython 3.14" in str(caught[0].message) and why_not_python() is not None and why_no_gradients() is not None
