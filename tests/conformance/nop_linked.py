"""Run CPython's own test modules with launchers that always miss, inserted by the linker at the heads of all functions (3.11).

    python nop_linked.py [--every | --plain] [--hit] [--verify] test_heapq ...     run test modules
    python nop_linked.py [--every] --files FOLDER ...                              link all code in folders, and verify it

A head is where a basic block begins. With `--every` each instruction is one before which code may be inserted. At every second
head the operands above the innermost handler's are put into locals and back again. Both the test modules and the modules that
they test are linked. With `--hit` the launchers do not miss: they get these operands and leave them at the usual exit, which
leads back to the head. With `--plain` they are imported again and not linked, which some tests do not pass.
The last line of standard output is JSON: what was linked, what was refused and why, and which tests failed.
"""

import importlib
import importlib.machinery
import inspect
import itertools
import json
import operator
import os
import sys
import types
import unittest
from collections import Counter

import bytecode  # noqa: F401  # what verifies linked code is not linked itself

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.codec.encode import Assembler
from pijit.core.bytecode.linker.link import MISS, Call, ExitPlan, Site, link
from pijit.core.bytecode.linker.verify import why_wrong
from pijit.core.bytecode.normal_form.normalise import normal_function, plain_function

MANY = sys.maxsize >> 1
#: What may push an item without a value: beside a function that is no method (with statements look up methods from 3.14 on), or for
#: a variable that has none.
VALUELESS = ("LOAD_METHOD", "LOAD_SUPER_METHOD", "LOAD_FAST_AND_CLEAR") + ("SETUP_WITH", "BEFORE_ASYNC_WITH") * (sys.version_info >= (3, 14))
#: Iterators that give the answer of a launcher that misses, by the number of its values.
ANSWERS = {}
HITS = Counter()
#: What the test modules test, by their names; their other imports are linked where nobody has imported them before.
TESTED = {
    "test_heapq": ["heapq"], "test_textwrap": ["textwrap"], "test_statistics": ["statistics", "fractions"],
    "test_bisect": ["bisect"],
    "test_json": ["json", "json.decoder", "json.encoder", "json.scanner"], "test_dataclasses": ["dataclasses"],
    "test_contextlib": ["contextlib"], "test_fractions": ["fractions"], "test_functools": ["functools"], "test_copy": ["copy"],
    "test_difflib": ["difflib"], "test_string": ["string"], "test_shlex": ["shlex"], "test_configparser": ["configparser"],
    "test_graphlib": ["graphlib"], "test_enum": ["enum"], "test_calendar": ["calendar"], "test_argparse": ["argparse"]}


def calls():
    """How often a launcher was called."""
    return HITS["all"] + sum(MANY - operator.length_hint(answers) for answers in ANSWERS.values())


def launcher(width):
    """What misses, as fast as can be."""
    return ANSWERS.setdefault(width, itertools.repeat((MISS,) + (None,) * width, MANY)).__next__


def replay(*operands):
    """What hits, and changes nothing."""
    HITS["all"] += 1
    return (None, *reversed(operands))


class Linker:
    """Links code objects and counts what came of it."""

    def __init__(self, every=False, plain=False, hit=False, verify=False):
        self.every, self.plain, self.hit, self.verify = every, plain, hit, verify
        self.counts = Counter()
        self.faults = []

    def tree(self, code):
        """A code object with all functions in it linked."""
        if self.plain:
            return code
        constants = tuple(self.tree(const) if isinstance(const, types.CodeType) else const for const in code.co_consts)
        code = code.replace(co_consts=constants)
        return self.function(code) if code.co_flags & inspect.CO_OPTIMIZED else code

    def function(self, code):
        """A linked function, or the code itself where the normal form does not have it."""
        try:
            cfg = build_cfg(normal_function(plain_function(code, True)))
        except ValueError as error:
            self.counts["not read"] += 1
            self.faults.append("%s: %s" % (code.co_qualname, error))
            return code
        sites = self.sites(cfg)
        made = link(cfg, sites, [])
        self.counts["linked"] += 1
        self.counts["sites"] += len(sites)
        wrong = why_wrong(made, cfg.function) if self.verify else None
        if wrong is not None:
            self.faults.append("%s, line %d: %s" % (code.co_qualname, code.co_firstlineno, wrong))
        return made

    def sites(self, cfg):
        instructions = cfg.function.instructions
        heads = [block.start for block in cfg.blocks]
        if self.every:
            heads = [instr.index for instr in instructions if cfg.successors[instr.index] is not None]
        assembler = Assembler(cfg.function)
        sites = []
        for number, index in enumerate(heads):
            if not assembler.may_insert(index):
                continue
            depth = cfg.stack_depth[index]
            base = self.base(cfg, index) if number % 2 else depth
            plans = (ExitPlan(index, (), depth - base, True),)
            if self.hit:
                call = Call(replay, tuple(("stack", position) for position in range(base, depth)), depth - base, plans)
            else:
                call = Call(launcher(depth - base), (), depth - base, plans)
            sites.append(Site(index, base, depth, (call,)))
        return sites

    def base(self, cfg, index):
        """How many operands have to stay on the stack: all where one may be without a value, and nothing can be done with it."""
        depth = cfg.stack_depth[index]
        if (self.hit or sys.version_info < (3, 12)) and any(instr.opname in VALUELESS for instr in cfg.function.instructions):
            return depth
        levels = [entry.level for entry in cfg.block_stack[index]]
        running = bool(cfg.block_stack[index]) and cfg.block_stack[index][-1].kind == "handler"
        return depth if running or index in cfg.flow.handlers else min(depth, max(levels, default=0))


def install(linker, names):
    """Link modules when they are imported, these again."""
    loader = importlib.machinery.SourceFileLoader
    get_code = loader.get_code
    loader.get_code = lambda self, name: linker.tree(get_code(self, name))
    for name in names:
        sys.modules.pop(name, None)
        importlib.import_module(name)


def run(linker, modules):
    """The ids of tests that failed, and how many ran."""
    install(linker, [name for module in modules for name in TESTED.get(module, [])])
    failed, count = [], 0
    for module in modules:
        suite = unittest.defaultTestLoader.loadTestsFromName("test." + module)
        outcome = unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(suite)
        failed += [test.id() for test, _ in outcome.failures + outcome.errors]
        count += outcome.testsRun
    return {"tests": count, "failed": failed, "calls": calls()}


def link_files(linker, folders):
    """Link all code in folders."""
    for folder in folders:
        for parent, names, files in os.walk(folder):
            names[:] = [name for name in names if name not in ("site-packages", "__pycache__", "bad_coding", "lib2to3")]
            for name in sorted(files):
                if name.endswith(".py"):
                    with open(os.path.join(parent, name), "rb") as file:
                        source = file.read()
                    try:
                        code = compile(source, name, "exec", dont_inherit=True)
                    except (SyntaxError, ValueError):
                        continue
                    linker.tree(code)
    return {}


if __name__ == "__main__":
    arguments = sys.argv[1:]
    linker = Linker("--every" in arguments, "--plain" in arguments, "--hit" in arguments,
                    "--verify" in arguments or "--files" in arguments)
    rest = [argument for argument in arguments if not argument.startswith("--")]
    report = (link_files if "--files" in arguments else run)(linker, rest)
    report.update(linker.counts, faults=linker.faults[:20], refused=len(linker.faults))
    print()
    print(json.dumps(report), flush=True)
