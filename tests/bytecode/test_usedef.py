import pytest

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.analysis.use_def import Definition, UseDef
from pijit.core.bytecode.codec.decode import decode
from tests.bytecode.bytecode_samples import NAMES, SAMPLES, at, conditional, deletes, executed, for_else


def chains(function):
    cfg = build_cfg(decode(function.__code__))
    return cfg.function, UseDef(cfg)


def on_line(function, opname, name, text):
    line = at(function, text)
    return next(instr.index for instr in decode(function.__code__).instructions
                if (instr.opname, instr.value, instr.lineno) == (opname, name, line))


@pytest.mark.parametrize("function, calls", SAMPLES, ids=NAMES)
def test_real_definitions_are_among_those_found(function, calls):
    decoded, chain = chains(function)
    kinds = {"STORE_FAST": "store", "DELETE_FAST": "delete"}
    for args in calls:
        last = {name: Definition("argument" if slot < decoded.argument_count else "unbound", name, -1)
                for slot, name in enumerate(decoded.varnames)}
        for index in executed(function, args):
            instr = decoded.instructions[index]
            if instr.opname in ("LOAD_FAST", "DELETE_FAST"):
                assert last[instr.value] in chain.definitions(index)
                assert index in chain.uses(last[instr.value])
            for name, definition in last.items():
                if definition.kind in ("unbound", "delete"):
                    assert name in chain.may_be_unbound(index)
            if instr.opname in kinds:
                last[instr.value] = Definition(kinds[instr.opname], instr.value, index)


def test_branches_meet():
    _, chain = chains(conditional)
    first = on_line(conditional, "STORE_FAST", "y", "y = 1")
    second = on_line(conditional, "STORE_FAST", "y", "y = 2")
    load = on_line(conditional, "LOAD_FAST", "y", "return y")
    found = chain.definitions(load)
    # 3.10 gives each branch a return of its own.
    assert Definition("store", "y", first) in found
    assert {definition.kind for definition in found} <= {"store", "unbound"}
    loads = [instr.index for instr in decode(conditional.__code__).instructions
             if (instr.opname, instr.value) == ("LOAD_FAST", "y")]
    assert frozenset().union(*map(chain.definitions, loads)) == {
        Definition("store", "y", first), Definition("store", "y", second), Definition("unbound", "y", -1)}
    assert any("y" in chain.may_be_unbound(load) for load in loads)
    assert "x" not in chain.may_be_unbound(load)


def test_loop_carried():
    _, chain = chains(for_else)
    start = on_line(for_else, "STORE_FAST", "total", "total = 0")
    step = on_line(for_else, "STORE_FAST", "total", "total += i")
    load = on_line(for_else, "LOAD_FAST", "total", "total += i")
    assert chain.definitions(load) == {Definition("store", "total", start),
                                       Definition("store", "total", step)}
    assert chain.uses(Definition("argument", "stop", -1)) == {
        on_line(for_else, "LOAD_FAST", "stop", "i == stop")}
    assert "i" not in chain.may_be_unbound(load)
    assert "i" in chain.may_be_unbound(0) and chain.reaching(0, "n") == {Definition("argument", "n", -1)}


def test_deletion_reaches():
    _, chain = chains(deletes)
    load = on_line(deletes, "LOAD_FAST", "y", "return y")
    assert {definition.kind for definition in chain.definitions(load)} == {"store", "delete"}
    assert "y" in chain.may_be_unbound(load)
    assert "y" not in chain.may_be_unbound(on_line(deletes, "DELETE_FAST", "y", "del y"))


def handled(x):
    y = 1
    try:
        y = 2
        y = x.real
    except AttributeError:
        return y
    return y


def test_every_definition_of_a_protected_range_reaches_the_handler():
    function, chain = chains(handled)
    stores = [instr.index for instr in function.instructions
              if (instr.opname, instr.value) == ("STORE_FAST", "y")]
    in_handler, at_end = [instr.index for instr in function.instructions
                          if (instr.opname, instr.value) == ("LOAD_FAST", "y")][-2:]
    if function.instructions[in_handler].lineno > function.instructions[at_end].lineno:
        in_handler, at_end = at_end, in_handler
    assert {definition.at for definition in chain.definitions(in_handler)} == set(stores)
    assert {definition.at for definition in chain.definitions(at_end)} == {stores[-1]}


def test_wrong_questions():
    _, chain = chains(handled)
    with pytest.raises(ValueError):
        chain.definitions(0)
    with pytest.raises(ValueError):
        chain.reaching(0, "nobody")
