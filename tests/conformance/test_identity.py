"""Decoding and encoding with no change gives back the code object: the standard library and site-packages."""

import dis
import gc
import os
import sysconfig
import types
import warnings

import pytest

from pijit.core.bytecode.codec.encode import reencode
from pijit.core.bytecode.instructions.line_table import LINE_TABLE_FIELD, line_of_each_unit

STDLIB = os.path.realpath(sysconfig.get_paths()["stdlib"])
SITE_PACKAGES = os.path.realpath(sysconfig.get_paths()["purelib"])
SAME_FIELDS = ("co_code", "co_stacksize", "co_flags", "co_nlocals", "co_names", "co_varnames", "co_cellvars",
               "co_freevars", "co_filename", "co_name", "co_firstlineno", "co_argcount", "co_kwonlyargcount")
if LINE_TABLE_FIELD == "co_linetable":
    # Before 3.10 the compiler and its peephole pass leave entries that say nothing.
    SAME_FIELDS += (LINE_TABLE_FIELD, "co_posonlyargcount")


def python_files(folder):
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("site-packages", "__pycache__"))
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.join(parent, name)


def packages():
    """Name and files of every package; the single modules of a folder count as one, the tests as several."""
    found = {}
    for root_name, root in (("stdlib", STDLIB), ("site-packages", SITE_PACKAGES)):
        for path in python_files(root):
            parts = os.path.relpath(path, root).split(os.sep)
            package = parts[0] if len(parts) > 1 else "*.py"
            if (root_name, package) == ("stdlib", "test"):
                package = "test/" + (parts[1] if len(parts) > 2 else "*.py")
            found.setdefault("{}/{}".format(root_name, package), []).append(path)
    return found


PACKAGES = packages()
counts = {}


def code_objects(path):
    """All code objects of a file; none when it is not valid Python of this version."""
    with open(path, "rb") as file:
        source = file.read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stack = [compile(source, path, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return
    while stack:
        code = stack.pop()
        stack.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
        yield code


def line_of_each_instruction(code):
    """Lines of first units only: where the interpreter says it is when it runs an instruction with prefixes.

    The peephole pass of 3.8 and 3.9 can leave a prefix and its instruction on different lines.
    """
    opcodes = bytes((dis.opmap["NOP"],)) + code.co_code[::2]
    return [line for line, before in zip(line_of_each_unit(code), opcodes) if before != dis.EXTENDED_ARG]


def difference(code, again):
    """The first field in which two code objects differ, or None."""
    for field in SAME_FIELDS:
        if getattr(code, field) != getattr(again, field):
            return field
    if len(code.co_consts) != len(again.co_consts) \
            or any(a is not b for a, b in zip(code.co_consts, again.co_consts)):
        return "co_consts"
    if getattr(code, LINE_TABLE_FIELD) != getattr(again, LINE_TABLE_FIELD) \
            and line_of_each_instruction(code) != line_of_each_instruction(again):
        return "lines"
    return None


@pytest.fixture(autouse=True)
def no_collection():
    """There are no cycles here, and looking for them among millions of instructions takes long."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_package(package):
    count = 0
    for path in PACKAGES[package]:
        for code in code_objects(path):
            field = difference(code, reencode(code))
            assert field is None, "{} of {}:{} {}".format(field, path, code.co_firstlineno, code.co_name)
            count += 1
    counts[package] = count


def test_lines_against_dis():
    """The reader that `difference` relies on agrees with the standard library's."""
    for code in code_objects(dis.__file__):
        expected = {instr.offset: instr.starts_line for instr in dis.get_instructions(code)}
        lines, line = line_of_each_unit(code), None
        for offset in sorted(expected):
            line = expected[offset] if expected[offset] is not None else line
            assert lines[offset // 2] in (line, None)


def test_count():
    if set(counts) != set(PACKAGES):
        pytest.skip("only some of the packages were selected")
    total = sum(counts.values())
    print("{} code objects of {} packages".format(total, len(PACKAGES)))
    assert total > 30000
