"""Linked code of an entry: the calls of its launchers, observers, on-stack replacement and call sites in place.

`core.pipeline` calls `linked_code` after all of them are made.
"""

from __future__ import annotations

import types
from typing import Any, Dict, List, Optional

from pijit.core import _hook
from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.linker.link import Landings, ValueProbe, link
from pijit.core.capture.driver import Capture
from pijit.core.capture.state.uncaptured_effects import unpacked
from pijit.core.entries.call_sites import CallSites
from pijit.core.entries.launch_sites import Launchers
from pijit.core.errors import LinkError, is_strict
from pijit.core.named_tuples import NamedTuple


class Observers(NamedTuple):
    """What the first run of an entry observes.

    Attributes:
        observers: the observers of unknown values, by instruction.
        osr_checks: for each loop header, the function that makes the check by which a running call moves to newer code.
        stays: the loops that a running call does not leave for newer code, with the reasons.
    """

    observers: Dict[int, Any] = {}
    osr_checks: Dict[int, Any] = {}
    stays: List[Any] = []


class LinkedCode(NamedTuple):
    """The linked code of an entry.

    Attributes:
        linked: the code that runs in a frame on a hit.
        moved: the same code, but it begins at the loop header where a running call continues; None without such a call.
        entrance: the entry of calls into ``linked``.
    """

    linked: types.CodeType
    moved: Optional[types.CodeType]
    entrance: _hook.Entrance


def linked_code(config: Any, result: Capture, launchers: Launchers, observers: Observers, calls: CallSites,
                header: Optional[int]) -> LinkedCode:
    """Link the code of an entry; with ``header`` also the code in which a running call continues at that loop."""
    landings: Landings = {}
    linked = _linked(config, result, launchers, observers, calls, None, landings)
    moved = _linked(config, result, launchers, observers, calls, header) if header is not None else None
    start = launchers.frameless_start
    entrance = _hook.Entrance(linked, None, ()) if start is None else _hook.Entrance(
        linked, start.launcher, landings.get(start.launcher.callable, ()))
    return LinkedCode(linked, moved, entrance)


def _linked(config: Any, result: Capture, launchers: Launchers, observers: Observers, calls: CallSites,
            header: Optional[int], landings: Optional[Landings] = None) -> types.CodeType:
    """One linked code object. With the option `check`, and in tests, the `bytecode` library verifies it."""
    instructions = result.cfg.function.instructions
    probes = [ValueProbe(index, observer, unpacked(instructions[index]))
              for index, observer in observers.observers.items()]
    reentries = {key: reentry.site for key, reentry in launchers.reentries.items()}
    try:
        linked = link(result.cfg, launchers.sites, probes, reentries, observers.osr_checks, header, calls.callables,
                      landings, calls.announce)
        wrong = _second_opinion(linked, result.cfg.function) if config.check or is_strict() else None
    except Exception as error:
        raise_asynchronous(error)
        raise LinkError(str(error)) from error
    if wrong is not None:
        raise LinkError("the linked code does not verify: " + wrong)
    return linked


def _second_opinion(linked: types.CodeType, function: Function) -> Optional[str]:
    from pijit.core.bytecode.linker.verify import why_wrong  # imported late: it needs the `bytecode` library

    return why_wrong(linked, function)
