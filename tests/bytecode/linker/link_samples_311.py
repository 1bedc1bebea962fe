"""What tests of linked code on CPython 3.11 and later share: functions to link, launchers and stand-ins written in Python."""

import sys
from types import FunctionType

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.assembler import natives
from pijit.core.bytecode.linker.link import Call, Site, link
from pijit.core.bytecode.linker.verify import why_wrong
from pijit.core.bytecode.normal_form.normalise import normal_function, plain_function


def cfg_of(function):
    """The flow of a function, or code object, in normal form."""
    code = getattr(function, "__code__", function)
    return build_cfg(normal_function(plain_function(code, True)))


def index_of(cfg, opname, nth=0, value=None):
    """The index of an instruction."""
    found = [instr.index for instr in cfg.function.instructions
             if instr.opname == opname and (value is None or instr.value == value)]
    return found[nth]


def line_of(cfg, line, opname=None):
    """The index of the first instruction of a line, counted from the function's first."""
    return next(instr.index for instr in cfg.function.instructions
                if instr.lineno == cfg.function.code.co_firstlineno + line and opname in (None, instr.opname))


def made(function, code):
    again = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    again.__kwdefaults__ = function.__kwdefaults__
    return again


def linked(function, cfg, sites, probes=(), **more):
    """A function with linked code, which is verified."""
    code = link(cfg, sites, list(probes), **more)
    wrong = why_wrong(code, cfg.function)
    assert wrong is None, wrong
    return made(function, code)


class Launch:
    """A launcher that gives the answers in turn, the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.seen = []

    def __call__(self, *args):
        self.seen.append(args)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(*args) if callable(answer) else answer


class Natives:
    """Stand-ins for what linked code calls."""

    def __init__(self, monkeypatch):
        self.waiting = []
        self.requests = []
        self.on_request = lambda: None
        for name in ("resume", "reporter", "continuation", "arrive"):
            monkeypatch.setattr(natives, name, getattr(self, name))

    def resume(self):
        def handle():
            self.requests.append(1)
            self.on_request()
        return handle

    def reporter(self, ufunc):
        return lambda state: state[0] + [(ufunc, state[1])]

    def arrive(self):
        return lambda: self.waiting.pop()

    def run(self, function, code, values):
        """A call of code that begins in its middle: it finds its values by `arrive`."""
        self.waiting.append(tuple(values))
        names = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
        hidden = FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)
        return hidden(*(["not this"] * code.co_argcount), **dict.fromkeys(names, "not this"))

    def continuation(self, code, slots):
        def call(state):
            assert len(state) == len(slots) + 1
            return self.run(state[0], code, state[1:])
        return call


def leaving(manager):
    """What a with statement keeps on the operand stack for its end: a method and its owner from 3.14 on."""
    return [type(manager).__exit__, manager] if sys.version_info >= (3, 14) else [manager.__exit__]


def local(name):
    return ("local", name)


def straight(x, y):
    a = x + y
    b = a * 2
    return b - 1


def straight_site(launch, exits, width, index=0):
    return Site(index, 0, 0, (Call(launch, (local("x"), local("y")), width, exits),))


def nested(f, x, y):
    return f(x) + (x * y - 1)


def in_calls(f, g, x):
    return f(x, g(x, x * 2), k=x)


NUMBERS = lambda *args, **names: (args, sorted(names.items()))  # noqa: E731


def loop(n):
    total = 0
    for i in range(n):
        total += i
        if i == 3:
            break
    else:
        total += 100
    return total


def two_loops(n):
    out = []
    for i in range(n):
        for j in range(i):
            out.append((i, j))
            if j == 1:
                break
    return out


def until(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total
