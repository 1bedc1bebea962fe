"""What tests of hidden functions share: linked code written by hand, and JitFunctions that run it."""

import sys

from pijit.core import _hook
from pijit.core._hook import Entrance, JitFunction
from tests.native.hook.hook_marks import HOOKED, with_const

if not HOOKED:
    from bytecode import Bytecode, Instr, Label

PY = sys.version_info[:2]
JUMP_IF = "POP_JUMP_FORWARD_IF_" if PY == (3, 11) else "POP_JUMP_IF_"
LOAD_CELL = "LOAD_FAST" if PY >= (3, 13) else "LOAD_CLOSURE"
SKIPPED = {(3, 11): [], (3, 12): ["END_FOR"]}.get(PY, ["END_FOR", "POP_TOP"])


class Seen(list):
    """What on_miss got for the slots of each call."""


def jit(function, old=1000, new=5000, entrance=False):
    """A JitFunction whose linked code has another constant, and what on_miss gets for it."""
    payload = with_const(function.__code__, old, new)
    seen = Seen()

    def on_miss(code, slots, globals, builtins):
        assert code.co_name == function.__name__ and globals is function.__globals__
        assert builtins["len"] is len
        seen.append(slots)
        return Entrance(payload, None, ()) if entrance else payload

    _hook.mark(function.__code__, None, on_miss)
    return JitFunction(function), seen


def calling(count):
    return [Instr("PRECALL", count), Instr("CALL", count)] if PY == (3, 11) else [Instr("CALL", count)]


def callable_of(load):
    return [load, Instr("PUSH_NULL")] if PY >= (3, 13) else [Instr("PUSH_NULL"), load]


def call_of(constant):
    return callable_of(Instr("LOAD_CONST", constant)) + calling(0)


def insert(listing, at, items):
    location = next(item.location for item in listing[at:] if isinstance(item, Instr))
    for item in items:
        if isinstance(item, Instr):
            item.location = location
    listing[at:at] = items


def index_of(listing, name):
    return next(at for at, item in enumerate(listing) if isinstance(item, Instr) and item.name == name)


def finished(listing, code):
    """The code of a listing, with the locals of other code first: numbers go by first appearance."""
    items = []
    for name in code.co_varnames:
        if name not in listing.argnames:
            items += [Instr("LOAD_CONST", None), Instr("STORE_FAST", name), Instr("DELETE_FAST", name)]
    insert(listing, index_of(listing, "RESUME") + 1, items)
    return listing.to_code()


def entered(code, name, stored=(), take=_hook.__dict__.get("arrive")):
    """Code that begins at its first instruction of a name. `arrive` hands over what these instructions store, and one operand."""
    listing = Bytecode.from_code(code)
    target = Label()
    listing.insert(index_of(listing, name), target)
    insert(listing, index_of(listing, "RESUME") + 1,
           call_of(take) + [Instr("UNPACK_SEQUENCE", len(stored) + 1), *stored, Instr("JUMP_FORWARD", target)])
    return listing.to_code()


def stores(*names):
    return [Instr("STORE_FAST", name) for name in names]
