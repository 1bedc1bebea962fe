"""With statements of inlined callees: managers whose methods are Python's, and ``np.errstate(kind="ignore")``.

What ``with`` keeps on the operand stack is a `Manager`, the ``__exit__`` to be called at the end. A kernel leaves such
a callee to before the call or, after an effect, into the middle of the callee, whose frame gets the method that it
stands for. Within ``np.errstate`` kernels do not look at the flags that are ignored; where they look at more than they
have to, they only leave more often.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

import numpy as np
from pijit.core.bytecode.decode import Instr
from pijit.core.capture.call_arguments import Arguments, Handler
from pijit.core.capture.operators import describe
from pijit.core.capture.outcomes import Outcomes
from pijit.core.capture.specials import ask_special, class_place, special_method
from pijit.core.capture.values import Abstract, Bound, Const
from pijit.core.errors import Break
from pijit.core.graph.ir import Output
from pijit.core.graph.ops import LOOKS_AT_FLAGS
from pijit.guards.source import Attr

FLAGS: Dict[str, int] = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
"""NumPy's numbers of the floating-point flags, by what ``np.errstate`` calls them."""


class Manager(Bound):
    """A context manager that was entered: its ``__exit__``, and the object."""

    __slots__ = ()

    ignored = 0
    make: Callable[..., Any] = types.MethodType
    """What makes the method of the items of `parts`: of a function and an object, a bound method."""

    def parts(self) -> Tuple[Abstract, ...]:
        return self.function, self.owner


def entered(*kinds: str) -> Any:
    """The ``__exit__`` of an error state that ignores these kinds of errors and was entered."""
    state = np.errstate(**dict.fromkeys(kinds, "ignore"))
    state.__enter__()
    return state.__exit__


class ErrorState(Manager):
    """``np.errstate`` of some kinds of errors, all ignored; entered or not. ``owner`` is the tuple of the kinds."""

    __slots__ = ()

    make = staticmethod(entered)

    @property
    def ignored(self) -> int:  # type: ignore[override]
        """The flags that nobody looks at."""
        return sum(FLAGS[kind] for kind in self.owner.object)  # type: ignore[attr-defined]

    def parts(self) -> Tuple[Abstract, ...]:
        return tuple(Const(kind) for kind in self.owner.object)  # type: ignore[attr-defined]


class Managers:
    """Mixin of the interpreter: where with statements begin."""

    facts: Any
    state: Any
    pop: Callable[[], Abstract]
    push: Callable[[Abstract], None]
    known_object: Callable[..., Abstract]

    def op_SETUP_WITH(self, instr: Instr) -> None:
        if not self.facts.depth:  # an exit inside would have to make the method
            raise Break("PJ206", opcode=instr.opname)
        value = self.pop()
        if isinstance(value, ErrorState):
            self.state.stack += [value, Const(None)]
            return
        function = special_method(value, "__exit__")
        if function is None or special_method(value, "__enter__") is None:
            raise Break("PJ206", type=describe(value))
        place = class_place(self, value).then(Attr, "__exit__")
        self.push(Manager(self.known_object(function, *place), value, instr.index))
        result = ask_special(self, "__enter__", value)  # which may change what is known of the manager
        if result is None or isinstance(result, Outcomes):
            raise Break("PJ206", type=describe(value))
        self.push(result)

    def ignored_errors(self) -> int:
        """The flags that no operation looks at here."""
        flags = 0
        for value in self.state.stack:
            flags |= value.ignored if isinstance(value, Manager) else 0
        return flags

    def with_ignored(self, name: str, attrs: Any) -> Any:
        """The attributes of an operation, with the flags that it need not look at."""
        ignored = self.ignored_errors() if name in LOOKS_AT_FLAGS else 0
        return dict(attrs or {}, ignored=ignored) if ignored else attrs


class Given(NamedTuple):
    """An item of the operand stack that bytecode has to make, from a tuple that a kernel leaves: ``make(*items)``."""

    position: int
    make: Callable[..., Any]


def given(stack: List[Abstract]) -> Tuple[Given, ...]:
    """The items of an operand stack that exits leave as tuples."""
    return tuple(Given(position, value.make) for position, value in enumerate(stack) if isinstance(value, Manager))


def item_output(self: Any, value: Abstract) -> Output:
    """What an exit leaves for an item of the operand stack of a callee."""
    if isinstance(value, Manager):
        return Output("tuple", None, [self._output(part) for part in value.parts()])
    return self._output(value)  # type: ignore[no-any-return]


def call_errstate(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.errstate(...)`` of errors to be ignored, in a function that is inlined."""
    hows = {name: self.constant(value) for name, value in keywords.items()} if self.facts.depth else {}
    if arguments or not hows or any(how != "ignore" for how in hows.values()) or set(hows) - {"all", *FLAGS}:
        raise Break("PJ210", callee="errstate")
    kinds = tuple(kind for kind in FLAGS if kind in hows or "all" in hows)
    return ErrorState(Const(np.errstate), Const(_kept.setdefault(kinds, kinds)))


_kept: Dict[Tuple[str, ...], Tuple[str, ...]] = {}
"""One tuple for each choice of kinds, as objects are known by their identity."""

MANAGER_CALLS: List[Tuple[Any, Handler]] = [(np.errstate, call_errstate)]
