"""Linked code of an entry: the calls of its launchers, observers, on-stack replacement and call sites in place.

`core.pipeline` calls `linked_code` after all of them are made.
"""

from __future__ import annotations

import types
from typing import Any, Dict, List, Optional

from pijit.core.asynchronous_exceptions import raise_asynchronous
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.linker.link import Landings, Site, ValueProbe, link
from pijit.core.capture.driver import Capture
from pijit.core.capture.state.uncaptured_effects import unpacked
from pijit.core.entries.call_sites import CallSites
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
        code: the code that runs in a frame on a hit.
        moved: the same code, but it begins at the loop header where a running call continues; None without such a call.
        landings: where linked code continues after a kernel that runs before there is a frame.
    """

    code: types.CodeType
    moved: Optional[types.CodeType]
    landings: Landings


def linked_code(config: Any, result: Capture, sites: List[Site], reentries: Dict[Any, Site], observed: Observers,
                calls: CallSites, header: Optional[int]) -> LinkedCode:
    """Link the code of an entry; with ``header`` also the code in which a running call continues at that loop."""
    landings: Landings = {}
    arguments = sites, reentries, observed, calls
    code = _linked(config, result, None, landings, *arguments)
    moved = _linked(config, result, header, None, *arguments) if header is not None else None
    return LinkedCode(code, moved, landings)


def _linked(config: Any, result: Capture, header: Optional[int], landings: Optional[Landings], sites: List[Site],
            reentries: Dict[Any, Site], observed: Observers, calls: CallSites) -> types.CodeType:
    """One linked code object. With the option `check`, and in tests, the `bytecode` library verifies it."""
    instructions = result.cfg.function.instructions
    probes = [ValueProbe(index, observer, unpacked(instructions[index]))
              for index, observer in observed.observers.items()]
    try:
        linked = link(result.cfg, sites, probes, reentries, observed.osr_checks, header, calls.callables, landings,
                      calls.announce)
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
