"""Call sites: the places where linked code calls functions that are compiled on their own.

`core.pipeline` makes them for each entry. The C code of a call site calls a known callee without an intermediate frame.
"""

from __future__ import annotations

import types
import weakref
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, cast

from pijit.core import _hook
from pijit.core.bytecode.linker.continuation import Announce
from pijit.core.capture.driver import Capture
from pijit.core.capture.inline.inliner import Inliner
from pijit.core.internal_functions import stand_in
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.function_state import State


class CallSites(NamedTuple):
    """The call sites of an entry.

    Attributes:
        called: the states of the functions that calls in bytecode run, by instruction.
        callables: for each such instruction, the callable to call right before it.
        announce: the announcement of calls in linked code of continuations.
        announced: the states of the functions of these calls; linking adds to it.
    """

    called: Dict[int, List[State]]
    callables: Dict[int, Any]
    announce: Announce
    announced: List[List[State]]

    def states(self) -> List[State]:
        """Each called function's state, once."""
        return list({id(callee): callee for found in [*self.called.values(), *self.announced]
                     for callee in found}.values())


def call_sites(state: State, results: Sequence[Capture]) -> CallSites:
    """The call sites of the captures of one entry."""
    called = _compiled_calls(state, results)
    open_calls = {index for one in results for index, known in one.callees().items() if not known}
    callables = {index: _hook.CallSite(
        _callees_of(callees), _finder(state, index) if index in open_calls else None).callable
        for index, callees in called.items()}
    return CallSites(called, callables, *_announcer(state))


def _compiled_calls(state: State, results: Sequence[Capture]) -> Dict[int, List[State]]:
    """The states of the functions that calls in bytecode are known to run, by instruction.

    The list is empty for a call whose first runs must show the callee.
    """
    found: Dict[int, List[State]] = {}
    for index, callees in [call for one in results for call in one.callees().items()]:
        states = [state.callee_of(code, name) for code, name in callees] if callees else state.met.get(index, [])
        if not callees or any(states):
            known = found.setdefault(index, [])
            known += [callee for callee in states if callee is not None and callee not in known]
    return found


def _announcer(state: State) -> Tuple[Announce, List[List[State]]]:
    """The announcement of calls in the linked code of callees, and the list of the states of these calls' functions."""
    sites: Dict[Any, Any] = {}
    found: List[List[State]] = []

    def announce(callees: Tuple[Tuple[types.CodeType, str], ...]) -> Any:
        key = tuple(id(code) for code, _ in callees)
        if key not in sites:
            states = [one for one in (state.callee_of(code, name) for code, name in callees) if one is not None]
            found.append(states)
            sites[key] = _hook.CallSite(_callees_of(states)).callable if states else None
        return sites[key]

    return announce, found


def _callees_of(states: List[State]) -> Tuple[_hook.Callee, ...]:
    """What a call site needs of functions that are compiled alone."""
    return tuple(cast(_hook.Callee, one.callee) for one in states)


def _finder(state: State, index: int) -> Any:
    """The function that a call site calls for functions that are new to it."""
    weak = weakref.ref(state)

    def find(code: types.CodeType, globals: Dict[str, Any]) -> Optional[_hook.Callee]:
        alive = weak()
        if alive is None or not inliner_of(alive).compiles_alone(stand_in(code, code.co_name, globals)):
            return None
        callee = alive.callee_of(code, code.co_name)
        if callee is not None:
            alive.met.setdefault(index, []).append(callee)
        return callee.callee if callee is not None else None

    return find


def inliner_of(state: State) -> Inliner:
    """A new inliner with the options of a function."""
    return Inliner(state.config.max_inline_depth, state.config.allowed_inline_modules, state.inlined)
