"""Region formation: a segment is a single-entry region of captured instructions with many exits.

A *region block* is a run of captured instructions inside one block version. It is a *region entry*, at which a
segment begins, if bytecode may lead to it: after a break, at function entry, in a handler, or where paths of different
segments meet.
Every other region block belongs to the segment of all its predecessors. Where a join has lost types, every edge ends a
segment, because the values must be in variables before the paths join.

A loop with a rare break has region entries in its body, to which bytecode returns after the break. The segment of the
loop's header takes copies of those blocks, so that the loop closes and iterations without a break stay native.

Versions of a loop's blocks may lead into each other: the first iteration of a loop, in which a variable has another
type, may go on in the middle of the next one. Back ends need reducible loops. So that path gets copies of the blocks up
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


class RegionBlock:
    """Captured instructions ``start`` to ``end`` (exclusive) of one version.

    ``twins`` are the block and its copies.
    """

    __slots__ = ("version", "start", "end", "predecessors", "successors", "entry", "twins")

    def __init__(self, version: Version, start: int, end: int) -> None:
        self.version = version
        self.start = start
        self.end = end
        self.predecessors: List["RegionBlock"] = []
        self.successors: Dict[int, "RegionBlock"] = {}
        self.entry: Optional["RegionBlock"] = None
        self.twins = [self]

    def copy(self) -> "RegionBlock":
        """Another block for the same instructions, without edges."""
        found = RegionBlock(self.version, self.start, self.end)
        found.twins = self.twins
        self.twins.append(found)
        return found

    @property
    def key(self) -> Tuple[int, int]:
        """Identifies the block when the function is partitioned again."""
        return self.version.number, self.start

    @property
    def at_start(self) -> bool:
        return self.start == self.version.block.start

    @property
    def at_end(self) -> bool:
        return self.end == self.version.block.end

    def __repr__(self) -> str:
        return "region block(%r, %d..%d)" % (self.version, self.start, self.end - 1)


BlockKey = Tuple[int, int]
"""Identifies a block."""


class NodeSplit(NamedTuple):
    """Node splitting: these edges lead to copies of the blocks ``copied`` instead."""

    edges: FrozenSet[Tuple[BlockKey, BlockKey]]
    copied: FrozenSet[BlockKey]


MOST_COPIED = 200
"""The most instructions that are copied for one loop."""


class Region:
    """A region to be built: its entry and all its blocks, in reverse postorder from the entry.

    ``beyond`` are the blocks where a re-entry ends and another one continues.
    """

    __slots__ = ("entry", "blocks", "beyond", "has_loop", "_position")

    def __init__(self, entry: RegionBlock, members: Set[RegionBlock],
                 beyond: FrozenSet[RegionBlock] = frozenset()) -> None:
        self.entry = entry
        self.beyond = beyond
        self.blocks = _reverse_postorder(entry, members)
        self._position = {region_block: k for k, region_block in enumerate(self.blocks)}
        self.has_loop = any(self.closes(region_block, successor)
                            for region_block in self.blocks for successor in region_block.successors.values())

    def closes(self, region_block: RegionBlock, successor: RegionBlock) -> bool:
        """Whether the edge leads back to the header of a loop of the region."""
        return self._position.get(successor, len(self.blocks)) <= self._position[region_block]

    def reentry(self, start: RegionBlock, cfg: CFG) -> Optional["Region"]:
        """The part of this region that is reachable from the start of one of its blocks.

        None if back ends do not support it, or if only the continuing segment knows the values on the operand stack.
        """
        state = start.version.state
        if start.at_start and (any(map(is_confined, state.stack)) or has_generator(state)):
            return None
        beyond = frozenset(_mixing(start, self.blocks, cfg))
        found, todo = {start}, [start]
        while todo:
            for successor in todo.pop().successors.values():
                if successor in self._position and successor not in found and successor not in beyond:
                    found.add(successor)
                    todo.append(successor)
        region = Region(start, found, beyond)
        return None if _side_doors(region) else region

    def instructions(self) -> Iterator[int]:
        for region_block in self.blocks:
            yield from range(region_block.start, region_block.end)

    def __repr__(self) -> str:
        return "region(%r)" % (self.blocks,)


def form_regions(analysis: Analysis, cut: bool = False) -> List[Region]:
    """The regions of a function. Loop steps that gain nothing natively stay bytecode.

    ``cut`` makes every instruction a region of its own where the operand stack allows it, to test the linker.
    """
    dissolved: Set[BlockKey] = set()
    severed: Set[BlockKey] = set()
    opened: Set[BlockKey] = set()
    splits: List[NodeSplit] = []
    while True:
        region_blocks = _split(analysis, dissolved, _cuts(analysis) if cut else set())
        for split in splits:
            _copy_blocks(region_blocks, split)
        _choose_entries(region_blocks, severed | opened)
        regions = _collect(region_blocks, analysis, severed)
        doors = [(region, door) for region in regions for door in _side_doors(region)]
        new = [split for split in _splits(doors, analysis.cfg) if split not in splits]
        if new:
            splits += new
            continue
        headers = _headers(analysis.cfg)
        side_doors = {one.key for region, door in doors for one in _loop_starts(region, door, headers)}
        if side_doors:
            severed |= side_doors
            continue
        mixing = {one.key for region in regions for one in _mixing(region.entry, region.blocks, analysis.cfg)}
        if mixing - opened:
            opened |= mixing
            continue
        lonely = {(region_block.version.number, index) for region in regions for region_block in region.blocks
                  for index in range(region_block.start, region_block.end)
                  if steps_iterator(analysis.function.instructions[index]) and not region_block.version.unrolled
                  and not _is_looped(region, index)}
        if not lonely:
            return regions
        dissolved |= lonely


def whole_region(analysis: Analysis, without: Set[Version]) -> Region:
    """All of a callee that is to be inlined, except for some versions of blocks, as one region.

    Raises:
        Break: its loops can be entered at more than one point, or none of it is captured.
    """
    region_blocks = _split(analysis, set(), set())
    entries = [one for one in region_blocks if one.version is analysis.versions[0] and one.at_start]
    found, todo = set(entries), list(entries)
    while todo:
        new = [region_block for region_block in todo.pop().successors.values()
               if region_block not in found and region_block.version not in without]
        found.update(new)
        todo += new
    if not entries:
        raise Break("PJ202", opcode=analysis.function.instructions[0].opname)
    region = Region(entries[0], found)
    if _side_doors(region):
        raise Break("PJ213")
    return region


def _cuts(analysis: Analysis) -> Set[BlockKey]:
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


def _split(analysis: Analysis, dissolved: Set[BlockKey], cuts: Set[BlockKey]) -> List[RegionBlock]:
    region_blocks: List[RegionBlock] = []
    first: Dict[Version, RegionBlock] = {}
    last: Dict[Version, RegionBlock] = {}
    for version in analysis.versions:
        start = version.block.start
        for index in range(version.block.start, version.block.end + 1):
            cut = (version.number, index) in cuts
            stops = index == version.block.end or index in version.breaks or (version.number, index) in dissolved
            if not stops and not cut:
                continue
            if index > start:
                region_block = RegionBlock(version, start, index)
                region_blocks.append(region_block)
                if region_block.at_start:
                    first[version] = region_block
                if region_block.at_end:
                    last[version] = region_block
            start = index + 1 if stops else index
    for version, region_block in last.items():
        if cuts:
            continue
        for slot, successor in version.edges.items():
            # A finally body is entered at its first instruction only, because the stack there tells how it was entered.
            handles = successor.block.start in analysis.cfg.flow.handlers and not _is_caught(successor)
            if successor in first and not successor.lossy and not handles:
                region_block.successors[slot] = first[successor]
                first[successor].predecessors.append(region_block)
    return region_blocks


def _choose_entries(region_blocks: List[RegionBlock], severed: Set[BlockKey]) -> None:
    """Optimistic fixed point: a block joins the region of its predecessors unless these are in different regions."""
    entries = {region_block for region_block in region_blocks if region_block.key in severed or _begins(region_block)}
    changed = True
    while changed:
        for region_block in region_blocks:
            region_block.entry = region_block if region_block in entries else None
        _spread(entries)
        changed = False
        for region_block in region_blocks:
            if region_block in entries:
                continue
            owners = {predecessor.entry for predecessor in region_block.predecessors}
            if len(owners) != 1 or None in owners:
                if region_block.entry is not None:
                    entries.add(region_block)
                    changed = True


def _is_caught(version: Version) -> bool:
    """Whether a version handles an exception that the segment has not made."""
    return raised_in(version.state.stack) is not None


def _begins(region_block: RegionBlock) -> bool:
    version = region_block.version
    if not region_block.at_start or version.is_entry or version.lossy:
        return True
    return len({p.version for twin in region_block.twins for p in twin.predecessors}) < len(set(version.predecessors))


def _spread(entries: Set[RegionBlock]) -> None:
    todo = list(entries)
    while todo:
        region_block = todo.pop()
        for successor in region_block.successors.values():
            if successor.entry is None:
                successor.entry = region_block.entry
                todo.append(successor)


def _collect(region_blocks: List[RegionBlock], analysis: Analysis, severed: Set[BlockKey]) -> List[Region]:
    members: Dict[RegionBlock, Set[RegionBlock]] = {}
    for region_block in region_blocks:
        if region_block.entry is not None:
            members.setdefault(region_block.entry, set()).add(region_block)
    loops = {analysis.cfg.blocks[loop.header].start: loop.body for loop in analysis.cfg.loops}
    regions = []
    for entry in region_blocks:
        if entry in members:
            closed = Region(entry, _absorb(entry, loops.get(entry.start, frozenset()), severed))
            regions.append(closed if closed.has_loop else Region(entry, members[entry]))
    return regions


def _absorb(entry: RegionBlock, body: FrozenSet[int], severed: Set[BlockKey]) -> Set[RegionBlock]:
    """The blocks that are reachable from an entry within its loop's body, or in handlers of exceptions that were not
    made."""
    found, todo = {entry}, [entry]
    while todo:
        for successor in todo.pop().successors.values():
            inside = successor.version.block.index in body and successor.key not in severed
            inside = inside or _is_caught(successor.version)
            if successor not in found and (successor.entry is entry or inside):
                found.add(successor)
                todo.append(successor)
    return found


def _side_doors(region: Region) -> List[RegionBlock]:
    """Targets of back edges that do not dominate their sources: irreducible loops.

    Versions of a loop's blocks can lead into each other in this way. Back ends need reducible graphs.
    """
    position = {region_block: k for k, region_block in enumerate(region.blocks)}
    dominators: Dict[RegionBlock, Set[RegionBlock]] = {region.entry: {region.entry}}
    everything = set(region.blocks)
    changed = True
    while changed:
        changed = False
        for region_block in region.blocks[1:]:
            known = [dominators.get(p, everything) for p in region_block.predecessors if p in position]
            new = set.intersection(*known) | {region_block}
            if new != dominators.get(region_block):
                dominators[region_block], changed = new, True
    return [target for source in region.blocks for target in source.successors.values()
            if target in position and position[target] <= position[source] and target not in dominators[source]]


def _splits(doors: List[Tuple[Region, RegionBlock]], cfg: CFG) -> List[NodeSplit]:
    """What to split so that loops are entered at their headers only; ``doors`` are the side doors of all regions."""
    found: List[NodeSplit] = []
    for region, door in doors:
        loop = cfg.loop_of(door.version.block.index)
        while loop is not None:
            inside = {region_block for region_block in region.blocks if region_block.version.block.index in loop.body}
            around = _reachable(door, inside)
            headers = [one for one in around if one.version.block.index == loop.header and one.at_start
                       and door in _reachable(one, inside)]
            split = _split_before(headers[0], region, inside) if len(headers) == 1 else None
            if split is not None and split not in found:
                found.append(split)
            loop = loop.parent if not headers else None
    return found


def _split_before(header: RegionBlock, region: Region, inside: Set[RegionBlock]) -> Optional[NodeSplit]:
    """The split after which other entries of a loop reach its header first; None if too much would be copied.

    ``inside`` are the blocks of the loop's blocks, in all versions.
    """
    loop = {region_block for region_block in _reachable(header, inside) if header in _reachable(region_block, inside)}
    edges = [(region_block, successor) for region_block in region.blocks if region_block not in loop
             for successor in region_block.successors.values() if successor in loop and successor is not header]
    copied: Set[RegionBlock] = set()
    todo = [successor for _, successor in edges]
    while todo:
        region_block = todo.pop()
        if region_block in loop and region_block is not header and region_block not in copied:
            copied.add(region_block)
            todo += region_block.successors.values()
    size = sum(region_block.end - region_block.start for region_block in copied)
    if not edges or size > MOST_COPIED or any(len(region_block.twins) > 1 for region_block in copied):
        return None
    return NodeSplit(frozenset((one.key, other.key) for one, other in edges), frozenset(one.key for one in copied))


def _copy_blocks(region_blocks: List[RegionBlock], split: NodeSplit) -> None:
    """Apply a split to the blocks of a function."""
    by_key = {region_block.key: region_block for region_block in region_blocks}
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
    region_blocks += copies.values()


def _headers(cfg: CFG) -> Dict[int, int]:
    """The first instructions of loop headers, with the number of enclosing loops."""
    depths: Dict[int, int] = {}
    for loop in cfg.loops:
        parents, around = 0, loop.parent
        while around is not None:
            parents, around = parents + 1, around.parent
        depths[cfg.blocks[loop.header].start] = parents
    return depths


def _loop_starts(region: Region, door: RegionBlock, headers: Dict[int, int]) -> List[RegionBlock]:
    """Where a new segment should begin so that a side door no longer leads into a loop: at the loop's header, if any.

    The header's segment contains the whole loop. That of another block would exit wherever the loop bypasses the block.
    For nested loops the outermost may be enough.
    """
    inside = set(region.blocks)
    reached = _reachable(door, inside)
    starts = [one for one in region.blocks if one is not region.entry and one.start in headers
              and one in reached and door in _reachable(one, inside)]
    outermost = min([headers[region_block.start] for region_block in starts], default=0)
    return [region_block for region_block in starts if headers[region_block.start] == outermost] or [door]


def _reachable(region_block: RegionBlock, inside: Set[RegionBlock]) -> Set[RegionBlock]:
    """The blocks reachable from a block over at least one edge."""
    found: Set[RegionBlock] = set()
    todo = [region_block]
    while todo:
        new = [s for s in todo.pop().successors.values() if s in inside and s not in found]
        found.update(new)
        todo += new
    return found


def _mixing(entry: RegionBlock, region_blocks: Iterable[RegionBlock], cfg: CFG) -> Set[RegionBlock]:
    """Headers of loops around ``entry`` after which an iterator is replaced that was on the stack at the segment's
    start.

    Exits advance iterators that came in and make others again, so a segment must not continue there.
    """
    depth, block = cfg.stack_depth[entry.start] or 0, entry.version.block.index
    headers = set()
    for region_block in region_blocks:
        loop = cfg.loop_of(region_block.version.block.index)
        while loop is not None and block not in loop.body:
            loop = loop.parent
        if loop is not None and any(makes_iterator(cfg.function.instructions[index])
                                    and (cfg.stack_depth[index] or 0) <= depth
                                    for index in range(region_block.start, region_block.end)):
            headers.add(loop.header)
    return {one for one in region_blocks if one.version.block.index in headers and one.at_start
            and one is not entry}


def _is_looped(region: Region, index: int) -> bool:
    """Whether a version of the instruction is on a cycle of the region; the first iteration may be another version."""
    inside = set(region.blocks)
    return any(one in _reachable(one, inside) for one in inside if one.start <= index < one.end)


def _reverse_postorder(entry: RegionBlock, members: Set[RegionBlock]) -> List[RegionBlock]:
    order: List[RegionBlock] = []
    visited = {entry}
    stack: List[Tuple[RegionBlock, Iterator[RegionBlock]]] = [(entry, iter(list(entry.successors.values())))]
    while stack:
        region_block, successors = stack[-1]
        for successor in successors:
            if successor in members and successor not in visited and successor is not entry:
                visited.add(successor)
                stack.append((successor, iter(list(successor.successors.values()))))
                break
        else:
            order.append(region_block)
            stack.pop()
    return order[::-1]
