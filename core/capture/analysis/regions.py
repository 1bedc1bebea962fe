"""Region formation: a segment is a single-entry region of captured instructions with many exits.

A *piece* is a run of captured instructions inside one block version. It is a *head*, at which a segment begins, if
bytecode may lead to it: after a break, at function entry, in a handler, or where paths of different segments meet.
Every other piece belongs to the segment of all its predecessors. Where a join has lost types, every edge ends a
segment, because the values must be in variables before the paths join.

A loop with a rare break has heads in its body, to which bytecode returns after the break. The segment of the loop's
header takes copies of those pieces, so that the loop closes and iterations without a break stay native.

Versions of a loop's blocks may lead into each other: the first iteration of a loop, in which a variable has another
type, may go on in the middle of the next one. Back ends need reducible loops. So that path gets copies of the pieces up
to the loop's header (*node splitting*), or else segments end there.

A kernel that has left a loop in the middle is resumed by a *re-entry*: the rest of its region from that loop's header
on.
"""

from __future__ import annotations

from typing import Dict, FrozenSet, Iterable, Iterator, List, Optional, Set, Tuple

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.instructions.predicates import makes_iterator, steps_iterator
from pijit.core.capture.analysis.fixpoint import Analysis
from pijit.core.capture.state.block_version import Version
from pijit.core.capture.state.frame_state import has_generator, is_confined
from pijit.core.capture.values.base import raised_in
from pijit.core.errors import Break
from pijit.core.named_tuples import NamedTuple


class Piece:
    """Captured instructions ``start`` to ``end`` (exclusive) of one version.

    ``twins`` are the piece and its copies.
    """

    __slots__ = ("version", "start", "end", "predecessors", "successors", "head", "twins")

    def __init__(self, version: Version, start: int, end: int) -> None:
        self.version = version
        self.start = start
        self.end = end
        self.predecessors: List["Piece"] = []
        self.successors: Dict[int, "Piece"] = {}
        self.head: Optional["Piece"] = None
        self.twins = [self]

    def copy(self) -> "Piece":
        """Another piece for the same instructions, without edges."""
        found = Piece(self.version, self.start, self.end)
        found.twins = self.twins
        self.twins.append(found)
        return found

    @property
    def key(self) -> Tuple[int, int]:
        """Identifies the piece when the function is partitioned again."""
        return self.version.number, self.start

    @property
    def at_start(self) -> bool:
        return self.start == self.version.block.start

    @property
    def at_end(self) -> bool:
        return self.end == self.version.block.end

    def __repr__(self) -> str:
        return "piece(%r, %d..%d)" % (self.version, self.start, self.end - 1)


Key = Tuple[int, int]
"""Identifies a piece."""


class NodeSplit(NamedTuple):
    """Node splitting: these edges lead to copies of the pieces ``copied`` instead."""

    edges: FrozenSet[Tuple[Key, Key]]
    copied: FrozenSet[Key]


MOST_COPIED = 200
"""The most instructions that are copied for one loop."""


class Region:
    """A region to be built: its head and all its pieces, in reverse postorder from the head.

    ``beyond`` are the pieces where a re-entry ends and another one continues.
    """

    __slots__ = ("head", "pieces", "beyond", "has_loop", "_position")

    def __init__(self, head: Piece, members: Set[Piece], beyond: FrozenSet[Piece] = frozenset()) -> None:
        self.head = head
        self.beyond = beyond
        self.pieces = _reverse_postorder(head, members)
        self._position = {piece: k for k, piece in enumerate(self.pieces)}
        self.has_loop = any(self.closes(piece, successor)
                            for piece in self.pieces for successor in piece.successors.values())

    def closes(self, piece: Piece, successor: Piece) -> bool:
        """Whether the edge leads back to the header of a loop of the region."""
        return self._position.get(successor, len(self.pieces)) <= self._position[piece]

    def reentry(self, start: Piece, cfg: CFG) -> Optional["Region"]:
        """The part of this region that is reachable from the start of one of its pieces.

        None if back ends do not support it, or if only the continuing segment knows the values on the operand stack.
        """
        state = start.version.state
        if start.at_start and (any(map(is_confined, state.stack)) or has_generator(state)):
            return None
        beyond = frozenset(_mixing(start, self.pieces, cfg))
        found, todo = {start}, [start]
        while todo:
            for successor in todo.pop().successors.values():
                if successor in self._position and successor not in found and successor not in beyond:
                    found.add(successor)
                    todo.append(successor)
        region = Region(start, found, beyond)
        return None if _side_doors(region) else region

    def instructions(self) -> Iterator[int]:
        for piece in self.pieces:
            yield from range(piece.start, piece.end)

    def __repr__(self) -> str:
        return "region(%r)" % (self.pieces,)


def form_regions(analysis: Analysis, cut: bool = False) -> List[Region]:
    """The regions of a function. Loop steps that gain nothing natively stay bytecode.

    ``cut`` makes every instruction a region of its own where the operand stack allows it, to test the linker.
    """
    declined: Set[Key] = set()
    severed: Set[Key] = set()
    opened: Set[Key] = set()
    splits: List[NodeSplit] = []
    while True:
        pieces = _split(analysis, declined, _cuts(analysis) if cut else set())
        for split in splits:
            _copy_pieces(pieces, split)
        _choose_heads(pieces, severed | opened)
        regions = _collect(pieces, analysis, severed)
        doors = [(region, door) for region in regions for door in _side_doors(region)]
        new = [split for split in _splits(doors, analysis.cfg) if split not in splits]
        if new:
            splits += new
            continue
        headers = _headers(analysis.cfg)
        side_doors = {piece.key for region, door in doors for piece in _loop_starts(region, door, headers)}
        if side_doors:
            severed |= side_doors
            continue
        mixing = {piece.key for region in regions for piece in _mixing(region.head, region.pieces, analysis.cfg)}
        if mixing - opened:
            opened |= mixing
            continue
        lonely = {(piece.version.number, index) for region in regions for piece in region.pieces
                  for index in range(piece.start, piece.end)
                  if steps_iterator(analysis.function.instructions[index]) and not piece.version.unrolled
                  and not _is_looped(region, index)}
        if not lonely:
            return regions
        declined |= lonely


def whole_region(analysis: Analysis, without: Set[Version]) -> Region:
    """All of a callee that is to be inlined, except for some versions of blocks, as one region.

    Raises:
        Break: its loops can be entered at more than one point, or none of it is captured.
    """
    pieces = _split(analysis, set(), set())
    heads = [piece for piece in pieces if piece.version is analysis.versions[0] and piece.at_start]
    found, todo = set(heads), list(heads)
    while todo:
        new = [piece for piece in todo.pop().successors.values()
               if piece not in found and piece.version not in without]
        found.update(new)
        todo += new
    if not heads:
        raise Break("PJ202", opcode=analysis.function.instructions[0].opname)
    region = Region(heads[0], found)
    if _side_doors(region):
        raise Break("PJ213")
    return region


def _cuts(analysis: Analysis) -> Set[Key]:
    """(version, instruction) where a segment can be cut: no value on the stack lives inside one segment only."""
    found = set()
    interpreter = analysis.interpreter
    for version in analysis.versions:
        interpreter.state = version.state.copy()
        for index in range(version.block.start, version.block.end):
            if not any(map(is_confined, interpreter.state.stack)):
                found.add((version.number, index))
            analysis.advance(version, index)
    return found


def _split(analysis: Analysis, declined: Set[Key], cuts: Set[Key]) -> List[Piece]:
    pieces: List[Piece] = []
    first: Dict[Version, Piece] = {}
    last: Dict[Version, Piece] = {}
    for version in analysis.versions:
        start = version.block.start
        for index in range(version.block.start, version.block.end + 1):
            cut = (version.number, index) in cuts
            stops = index == version.block.end or index in version.breaks or (version.number, index) in declined
            if not stops and not cut:
                continue
            if index > start:
                piece = Piece(version, start, index)
                pieces.append(piece)
                if piece.at_start:
                    first[version] = piece
                if piece.at_end:
                    last[version] = piece
            start = index + 1 if stops else index
    for version, piece in last.items():
        if cuts:
            continue
        for slot, successor in version.edges.items():
            # A finally body is entered at its first instruction only, because the stack there tells how it was entered.
            handles = successor.block.start in analysis.cfg.flow.handlers and not _is_caught(successor)
            if successor in first and not successor.lossy and not handles:
                piece.successors[slot] = first[successor]
                first[successor].predecessors.append(piece)
    return pieces


def _choose_heads(pieces: List[Piece], severed: Set[Key]) -> None:
    """Optimistic fixed point: a piece joins the region of its predecessors unless these are in different regions."""
    heads = {piece for piece in pieces if piece.key in severed or _begins(piece)}
    changed = True
    while changed:
        for piece in pieces:
            piece.head = piece if piece in heads else None
        _spread(heads)
        changed = False
        for piece in pieces:
            if piece in heads:
                continue
            owners = {predecessor.head for predecessor in piece.predecessors}
            if len(owners) != 1 or None in owners:
                if piece.head is not None:
                    heads.add(piece)
                    changed = True


def _is_caught(version: Version) -> bool:
    """Whether a version handles an exception that the segment has not made."""
    return raised_in(version.state.stack) is not None


def _begins(piece: Piece) -> bool:
    version = piece.version
    if not piece.at_start or version.is_entry or version.lossy:
        return True
    return len({p.version for twin in piece.twins for p in twin.predecessors}) < len(set(version.predecessors))


def _spread(heads: Set[Piece]) -> None:
    todo = list(heads)
    while todo:
        piece = todo.pop()
        for successor in piece.successors.values():
            if successor.head is None:
                successor.head = piece.head
                todo.append(successor)


def _collect(pieces: List[Piece], analysis: Analysis, severed: Set[Key]) -> List[Region]:
    members: Dict[Piece, Set[Piece]] = {}
    for piece in pieces:
        if piece.head is not None:
            members.setdefault(piece.head, set()).add(piece)
    loops = {analysis.cfg.blocks[loop.header].start: loop.body for loop in analysis.cfg.loops}
    regions = []
    for head in pieces:
        if head in members:
            closed = Region(head, _absorb(head, loops.get(head.start, frozenset()), severed))
            regions.append(closed if closed.has_loop else Region(head, members[head]))
    return regions


def _absorb(head: Piece, body: FrozenSet[int], severed: Set[Key]) -> Set[Piece]:
    """The pieces that are reachable from a head within its loop's body, or in handlers of exceptions that were not
    made."""
    found, todo = {head}, [head]
    while todo:
        for successor in todo.pop().successors.values():
            inside = successor.version.block.index in body and successor.key not in severed
            inside = inside or _is_caught(successor.version)
            if successor not in found and (successor.head is head or inside):
                found.add(successor)
                todo.append(successor)
    return found


def _side_doors(region: Region) -> List[Piece]:
    """Targets of back edges that do not dominate their sources: irreducible loops.

    Versions of a loop's blocks can lead into each other in this way. Back ends need reducible graphs.
    """
    position = {piece: k for k, piece in enumerate(region.pieces)}
    dominators: Dict[Piece, Set[Piece]] = {region.head: {region.head}}
    everything = set(region.pieces)
    changed = True
    while changed:
        changed = False
        for piece in region.pieces[1:]:
            known = [dominators.get(p, everything) for p in piece.predecessors if p in position]
            new = set.intersection(*known) | {piece}
            if new != dominators.get(piece):
                dominators[piece], changed = new, True
    return [target for piece in region.pieces for target in piece.successors.values()
            if target in position and position[target] <= position[piece] and target not in dominators[piece]]


def _splits(doors: List[Tuple[Region, Piece]], cfg: CFG) -> List[NodeSplit]:
    """What to split so that loops are entered at their headers only; ``doors`` are the side doors of all regions."""
    found: List[NodeSplit] = []
    for region, door in doors:
        loop = cfg.loop_of(door.version.block.index)
        while loop is not None:
            inside = {piece for piece in region.pieces if piece.version.block.index in loop.body}
            around = _reachable(door, inside)
            headers = [piece for piece in around if piece.version.block.index == loop.header and piece.at_start
                       and door in _reachable(piece, inside)]
            split = _split_before(headers[0], region, inside) if len(headers) == 1 else None
            if split is not None and split not in found:
                found.append(split)
            loop = loop.parent if not headers else None
    return found


def _split_before(header: Piece, region: Region, inside: Set[Piece]) -> Optional[NodeSplit]:
    """The split after which other entries of a loop reach its header first; None if too much would be copied.

    ``inside`` are the pieces of the loop's blocks, in all versions.
    """
    loop = {piece for piece in _reachable(header, inside) if header in _reachable(piece, inside)}
    edges = [(piece, successor) for piece in region.pieces if piece not in loop
             for successor in piece.successors.values() if successor in loop and successor is not header]
    copied: Set[Piece] = set()
    todo = [successor for _, successor in edges]
    while todo:
        piece = todo.pop()
        if piece in loop and piece is not header and piece not in copied:
            copied.add(piece)
            todo += piece.successors.values()
    size = sum(piece.end - piece.start for piece in copied)
    if not edges or size > MOST_COPIED or any(len(piece.twins) > 1 for piece in copied):
        return None
    return NodeSplit(frozenset((one.key, other.key) for one, other in edges), frozenset(piece.key for piece in copied))


def _copy_pieces(pieces: List[Piece], split: NodeSplit) -> None:
    """Apply a split to the pieces of a function."""
    by_key = {piece.key: piece for piece in pieces}
    if not by_key.keys() >= split.copied.union(*split.edges):
        return
    copies = {key: by_key[key].copy() for key in split.copied}
    for key, copy in copies.items():
        for slot, successor in by_key[key].successors.items():
            copy.successors[slot] = copies.get(successor.key, successor)
            copy.successors[slot].predecessors.append(copy)
    for one, other in split.edges:
        for slot, successor in by_key[one].successors.items():
            if successor is by_key[other]:
                successor.predecessors.remove(by_key[one])
                by_key[one].successors[slot] = copies[other]
                copies[other].predecessors.append(by_key[one])
    pieces += copies.values()


def _headers(cfg: CFG) -> Dict[int, int]:
    """The first instructions of loop headers, with the number of enclosing loops."""
    depths: Dict[int, int] = {}
    for loop in cfg.loops:
        parents, around = 0, loop.parent
        while around is not None:
            parents, around = parents + 1, around.parent
        depths[cfg.blocks[loop.header].start] = parents
    return depths


def _loop_starts(region: Region, door: Piece, headers: Dict[int, int]) -> List[Piece]:
    """Where a new segment should begin so that a side door no longer leads into a loop: at the loop's header, if any.

    The header's segment contains the whole loop. That of another piece would exit wherever the loop bypasses the piece.
    For nested loops the outermost may be enough.
    """
    inside = set(region.pieces)
    reached = _reachable(door, inside)
    starts = [piece for piece in region.pieces if piece is not region.head and piece.start in headers
              and piece in reached and door in _reachable(piece, inside)]
    outermost = min([headers[piece.start] for piece in starts], default=0)
    return [piece for piece in starts if headers[piece.start] == outermost] or [door]


def _reachable(piece: Piece, inside: Set[Piece]) -> Set[Piece]:
    """The pieces reachable from a piece over at least one edge."""
    found: Set[Piece] = set()
    todo = [piece]
    while todo:
        new = [s for s in todo.pop().successors.values() if s in inside and s not in found]
        found.update(new)
        todo += new
    return found


def _mixing(head: Piece, pieces: Iterable[Piece], cfg: CFG) -> Set[Piece]:
    """Headers of loops around ``head`` after which an iterator is replaced that was on the stack at the segment's
    start.

    Exits advance iterators that came in and make others again, so a segment must not continue there.
    """
    depth, block = cfg.stack_depth[head.start] or 0, head.version.block.index
    headers = set()
    for piece in pieces:
        loop = cfg.loop_of(piece.version.block.index)
        while loop is not None and block not in loop.body:
            loop = loop.parent
        if loop is not None and any(makes_iterator(cfg.function.instructions[index])
                                    and (cfg.stack_depth[index] or 0) <= depth
                                    for index in range(piece.start, piece.end)):
            headers.add(loop.header)
    return {piece for piece in pieces if piece.version.block.index in headers and piece.at_start
            and piece is not head}


def _is_looped(region: Region, index: int) -> bool:
    """Whether a version of the instruction is on a cycle of the region; the first iteration may be another version."""
    inside = set(region.pieces)
    return any(piece in _reachable(piece, inside) for piece in inside if piece.start <= index < piece.end)


def _reverse_postorder(head: Piece, members: Set[Piece]) -> List[Piece]:
    order: List[Piece] = []
    seen = {head}
    stack: List[Tuple[Piece, Iterator[Piece]]] = [(head, iter(list(head.successors.values())))]
    while stack:
        piece, successors = stack[-1]
        for successor in successors:
            if successor in members and successor not in seen and successor is not head:
                seen.add(successor)
                stack.append((successor, iter(list(successor.successors.values()))))
                break
        else:
            order.append(piece)
            stack.pop()
    return order[::-1]
