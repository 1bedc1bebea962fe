"""The decoder and the assembler against the `bytecode` library, which reads code objects in its own way."""

import bytecode
import pytest

from pijit.core.bytecode.analysis import blocks, liveness, use_def
from pijit.core.bytecode.codec import decode, encode
from pijit.core.bytecode.flow import control_flow
from pijit.core.bytecode.instructions import line_table


def code_objects():
    """The functions of our own bytecode package: loops, handlers, with blocks, comprehensions, closures."""
    for module in (blocks, decode, encode, control_flow, line_table, liveness, use_def):
        todo = [compile(open(module.__file__).read(), module.__file__, "exec")]
        while todo:
            code = todo.pop()
            yield code
            todo += [constant for constant in code.co_consts if isinstance(constant, type(code))]


CODES = list(code_objects())


def listing(code):
    """(name, argument) of each instruction as the library sees it."""
    concrete = bytecode.ConcreteBytecode.from_code(code, extended_arg=False)
    rows = [item for item in concrete if isinstance(item, bytecode.ConcreteInstr)]
    return [(row.name, row.arg if row.require_arg() else None) for row in rows]


@pytest.mark.parametrize("code", CODES, ids=["%d-%s" % (k, code.co_name) for k, code in enumerate(CODES)])
def test_both_read_the_same(code):
    ours = [(instr.opname, instr.arg) for instr in decode.decode(code).instructions]
    assert ours == listing(code)
    assert listing(encode.reencode(code)) == listing(code)


def test_there_are_enough():
    assert len(CODES) > 100
