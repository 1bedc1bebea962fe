"""Ownership guards: virtual objects of earlier segments to which only variables of the frame still refer.

A segment may delay or drop a store into such an object, because no other code sees it. Bytecode that ran in place of a
kernel may have given the variable another object, or the object to other code. Reference counts show both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List

from pijit.core.capture.build.segment import AliasedPair
from pijit.core.capture.state.heap_locations import is_location
from pijit.core.capture.values.lattice import Abstract
from pijit.core.capture.values.provenance import Root
from pijit.core.capture.values.virtual_object import VirtualObject, has_pointer, virtual_objects_in
from pijit.core.errors import Break

if TYPE_CHECKING:
    from pijit.core.capture.build.graph_builder import GraphBuilder
    from pijit.core.capture.state.frame_state import FrameState


def objects_by_path(state: FrameState) -> Dict[Any, VirtualObject]:
    """The virtual objects at the start of a segment, by their paths from variables, stack items and each other."""
    found: Dict[Any, VirtualObject] = {}
    for name, value in state.locals.items():
        if not is_location(name):
            _add_objects(found, value, Root("local", name))
    for position, value in enumerate(state.stack):
        _add_objects(found, value, Root("stack", position))
    return found


def _add_objects(found: Dict[Any, VirtualObject], value: Abstract, path: Any) -> None:
    if isinstance(value, VirtualObject):
        found[path] = value
        for part, item in zip(value.paths(path), value.items):
            _add_objects(found, item, part)


def rely_on_ownership(builder: GraphBuilder, virtual: VirtualObject) -> None:
    """Note that no other code may read or write a virtual object, which an earlier segment may have made."""
    if virtual.root is not None or has_pointer(virtual):
        builder.captured.relies_on_ownership = True


def note_confined(builder: GraphBuilder) -> None:
    """Require of the virtual objects that the segment has found that the frame's variables alone refer to them.

    Raises:
        Break: no guard can tell.
    """
    captured = builder.captured
    if not captured.relies_on_ownership:
        return
    todo = [path for path, virtual in captured.found.items() if virtual.writable and not virtual.shared]
    visited: List[int] = []
    while todo:
        virtual = captured.starts.get(todo.pop())
        if virtual is None or virtual.shared or _is_held_elsewhere(builder.entry_state, virtual.token):
            raise Break("PJ219")
        if virtual.token not in visited:
            visited.append(virtual.token)
            first, *others = references = _references(captured.starts, virtual.token)
            captured.confined[first] = len(references)
            captured.pairs += [AliasedPair(first, other, None, None, True) for other in others]
            todo += [path.base for path in references if not isinstance(path, Root)]


def _references(found: Dict[Any, VirtualObject], token: int) -> List[Any]:
    """The paths of all references to an object, one path for each."""
    known: Dict[Any, Any] = {}
    for path, virtual in found.items():
        if virtual.token == token:
            known.setdefault(path if isinstance(path, Root) else _part(path, found[path.base].token), path)
    return list(known.values())


def _part(path: Any, owner: int) -> Any:
    """An attribute or item of the object with a token, whatever the path to the object."""
    return (owner, type(path), *(getattr(path, name) for name in path.fields if name != "base"))


def _is_held_elsewhere(state: FrameState, token: int) -> bool:
    """Whether a location outside the frame or a value other than a virtual object may refer to an object."""
    return any(_holds_inside(value, token, is_location(name)) for name, value in state.locals.items()) or any(
        _holds_inside(value, token, False) for value in state.stack)


def _holds_inside(value: Abstract, token: int, outside: bool) -> bool:
    if not any(virtual.token == token for virtual in virtual_objects_in(value)):
        return False
    return outside or not isinstance(value, VirtualObject) or any(
        _holds_inside(item, token, False) for item in value.items)
