"""Alias guards: which objects must be distinct or identical because a segment writes or reads them.

The builder notes each access to a location in an object; `note_pairs` turns the accesses into pairs to guard.
"""

from __future__ import annotations

from itertools import combinations
from types import ModuleType
from typing import TYPE_CHECKING, Any, Dict, FrozenSet, Iterable, List, Optional, Set

from pijit.core.capture.build.segment import Access, AliasedPair
from pijit.core.capture.state.heap_locations import CellLocation, OwnedLocation
from pijit.core.capture.values.lattice import Abstract, OpaqueObject, TypedValue
from pijit.core.capture.values.provenance import Root
from pijit.core.capture.values.virtual_object import VirtualObject, has_dict, is_cell
from pijit.core.errors import Break
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.library import FUNCTIONS, Trait
from pijit.core.graph.ops import MAKES_CONTAINER
from pijit.guards._evaluate import present_dict
from pijit.guards.source import Attr, Inner, Item

if TYPE_CHECKING:
    from pijit.core.capture.build.graph_builder import GraphBuilder


def note_access(builder: GraphBuilder, location: Any, owner: Abstract, changes: bool, relied: bool) -> None:
    identity = id(owner.sample) if isinstance(owner, OpaqueObject) else None
    value = owner.value if owner.root is None and isinstance(owner, TypedValue) else None
    if isinstance(owner, OpaqueObject) and owner.root is not None and type(location) is str:
        kind = type(owner.sample)
        if not issubclass(kind, (type, ModuleType)) and has_dict(kind):
            own = present_dict(owner.sample)  # creating the dict would slow all later attribute reads (3.11)
            builder.with_dict[owner.root] = id(own) if own is not None else None
    _access(builder, location, owner.root if value is None else value, Access(owner.source, identity, changes, relied))


def note_dict(builder: GraphBuilder, path: Any) -> None:
    """Note that a dict whose items are known, if there is one, must not be a dict that the segment changes."""
    if path is not None:
        _access(builder, dict, path, Access(None, None, False, True))


def _access(builder: GraphBuilder, location: Any, key: Any, access: Access) -> None:
    known = builder.accesses.setdefault(location, {})
    before = known.get(key, access)
    known[key] = access._replace(changes=access.changes or before.changes, relied=access.relied or before.relied)


def note_closure(builder: GraphBuilder, found: Any, late: Iterable[Optional[int]]) -> None:
    """Note that the function in a variable must belong to this call: its cells are those in the frame."""
    for number, cell in enumerate(late):
        pair = AliasedPair(Item(Attr(found.root, "__closure__"), number), Root("closure", cell), None, None, True)
        if cell is not None and pair not in builder.captured.pairs:
            builder.captured.pairs.append(pair)


def note_found(builder: GraphBuilder, virtual: VirtualObject) -> None:
    """Note that an object that captured code made before is identical with exactly those with which it was
    identical."""
    found, path = builder.captured.found, virtual.root
    virtual = builder.captured.starts.get(path, virtual)  # an inlined callee numbers its objects in its own way
    for root, other in found.items():
        if other.python is virtual.python and root != path:
            pair = AliasedPair(root, path, None, None, other.token == virtual.token)
            if pair not in builder.captured.pairs:
                builder.captured.pairs.append(pair)
    found[path] = virtual
    if is_cell(virtual):
        _access(builder, CellLocation, path, Access(None, ("cell", virtual.token), True, True))


def same_object(builder: GraphBuilder, left: OpaqueObject, right: OpaqueObject) -> bool:
    same = left.sample is right.sample
    if left.root is None or right.root is None:
        raise Break("PJ218")
    pair = AliasedPair(left.root, right.root, left.source, right.source, same)
    if left.root != right.root and pair not in builder.captured.pairs:
        builder.captured.pairs.append(pair)
    return same


def note_pairs(builder: GraphBuilder) -> None:
    """Require that objects whose locations are read or written are as distinct as at capture, whatever their paths.

    Raises:
        Break: no guard can tell whether two of them are identical.
    """
    for location in builder.context.locations.values():
        root = builder.roots[location.name]
        if isinstance(location, OwnedLocation) and root is not None:
            identity = id(location.owner.sample)
            if any(access.identity == identity for access in builder.accesses.get(location.family, {}).values()):
                _access(builder, location.family, root.base, Access(location.owner.source, identity, False, True))
    _note_instance_dicts(builder)
    for known in builder.accesses.values():
        found = {key: access for key, access in known.items() if not isinstance(key, Value)}
        if len(found) < len(known) and any(access.relied for access in found.values()):
            _add_origins(builder, found, [key for key in known if isinstance(key, Value)])
        for (root, one), (other, two) in combinations(found.items(), 2):
            same = one.identity is not None and one.identity == two.identity
            if (same or one.changes or two.changes) and (one.relied or two.relied):
                if root is None or other is None:
                    raise Break("PJ219")
                builder.captured.pairs.append(AliasedPair(root, other, one.source, two.source, same))


def _note_instance_dicts(builder: GraphBuilder) -> None:
    """Require that a dict that the segment changes is not the dict of an object whose attributes are known."""
    changed = {root: access.identity for root, access in builder.accesses.get(dict, {}).items()
               if access.changes and root is not None and not isinstance(root, Value)}
    made = [root for root, virtual in builder.captured.found.items() if has_dict(virtual.python)]
    for root, identity in changed.items():
        for owner, own in {**dict.fromkeys(made), **builder.with_dict}.items():
            if own is not None and own == identity:
                raise Break("PJ219")
            builder.captured.pairs.append(AliasedPair(Inner(owner, "present_dict"), root, None, None, False))


def _add_origins(builder: GraphBuilder, found: Dict[Any, Access], values: List[Value]) -> None:
    """Treat objects that are known only by SSA values as written. The segment reads them natively.

    Guarded facts about other objects must not concern them. An object that the segment has made is never one that
    it found.
    """
    for root in set().union(*[_origins(builder, value) for value in values]):
        if root is None or root in found and found[root].relied:
            raise Break("PJ219")
        found.setdefault(root, Access(None, None, True, False))


def _makes_container(op: Op) -> bool:
    """Whether the result of an operation, if it is a container, is a new object."""
    called = FUNCTIONS[op.attrs["function"]] if op.name == "invoke" else None
    return op.name in MAKES_CONTAINER or called is not None and bool(called.traits & Trait.NEW_CONTAINER)


def _origins(builder: GraphBuilder, value: Value) -> FrozenSet[Any]:
    """The paths by which an object may have been found; None among them stands for an unknown origin."""
    inputs = dict(zip(builder.graph.inputs, builder.captured.inputs))
    made = {op.result for block in builder.graph.blocks for op in block.ops if _makes_container(op)}
    given: Dict[Value, Set[Value]] = {}
    for block in builder.graph.blocks:
        for jump in block.terminator.targets():
            for param, argument in zip(jump.block.params, jump.args):
                given.setdefault(param, set()).add(argument)
    visited, todo = {value}, [value]
    while todo:
        new = given.get(todo.pop(), set()) - visited
        visited |= new
        todo += new
    return frozenset(inputs.get(one) for one in visited if one not in given and one not in made)
