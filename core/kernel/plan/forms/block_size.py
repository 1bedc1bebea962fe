"""Sizes of blocks: how many rows a tiling run or a skewing run computes at once.

The length of a row is known at run time only, unless each row is one element. So a size has the numbers from which the
kernel computes it.
"""

from __future__ import annotations

from pijit.core.graph.types import Array
from pijit.core.kernel.llvm.threads import ALIGNMENT
from pijit.core.named_tuples import NamedTuple

TILED_BYTES = 1 << 17
"""Bytes of a block of one array in a tiling run, approximately. A few blocks fit into the second-level cache."""

TILED_ROWS = 16
"""Blocks of a tiling run have a multiple of this many rows, so that they begin where vectors do."""

SKEWED_BYTES = 1 << 15
"""Bytes of a block of one array in a skewing run, approximately."""

MOST_BYTES = 1 << 17
"""Bytes of the largest block of one array in a skewing run, for long rows or distant operands.

About ten such blocks fit into the second-level cache.
"""


class BlockSize(NamedTuple):
    """The number of rows of a block.

    Attributes:
        rows: the number, if each row is one element; otherwise 0.
        elements: the elements of a block that longer rows make, approximately.
        multiple: the number of longer rows is a multiple of this one.
        least: the fewest rows.
        most: the elements of the largest block; 0: any number.
    """

    rows: int
    elements: int
    multiple: int = 1
    least: int = 1
    most: int = 0


def tiled_size(kind: Array) -> BlockSize:
    """The size of a block in a tiling run, for the array with the longest rows."""
    elements = TILED_BYTES // kind.dtype.itemsize
    rows = elements // ALIGNMENT * ALIGNMENT if kind.ndim == 1 else 0
    return BlockSize(rows, elements, TILED_ROWS, TILED_ROWS)


def skewed_size(kind: Array, reach: int) -> BlockSize:
    """The size of a block in a skewing run, for an array that it writes. A block has at least ``reach`` rows."""
    elements = SKEWED_BYTES // kind.dtype.itemsize
    rows = max(reach, elements // ALIGNMENT * ALIGNMENT) if kind.ndim == 1 else 0
    return BlockSize(rows, elements, 1, reach, MOST_BYTES // kind.dtype.itemsize)
