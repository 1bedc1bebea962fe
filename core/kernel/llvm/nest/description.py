"""Descriptions of loop nests: what is computed per element, over which arrays, and with which strides.

Plans and emitters make them; nest.py builds the loops. This module imports nothing of LLVM.
"""

from __future__ import annotations

from typing import Tuple

from pijit.core.named_tuples import NamedTuple

UNIT, ZERO, ANY, FAR = "u", "0", "?", "f"

STEPS = {UNIT: 1, ZERO: 0, "r": -1, "2": 2, "3": 3, "4": 4}
"""Last strides in elements that loops may rely on: LLVM loads elements at these distances by whole vectors."""

LIKELY = {ANY: UNIT, "b": "2", "c": "3", "d": "4"}
"""Kinds of last strides that are known only at run time, and the strides that they probably are."""


def step_kind(stride: int, itemsize: int) -> str:
    """The kind of a last stride."""
    return next((kind for kind, step in STEPS.items() if step * itemsize == stride), ANY)


def likely_kind(step: int) -> str:
    """The kind of a last stride that is known only at run time and probably is ``step`` elements."""
    return next((kind for kind, usual in LIKELY.items() if STEPS[usual] == step), ANY)


CONVERT, GATHER = "convert", "gather"
"""Operations of steps that have a parameter: the dtype of the results, and the number of a table."""


class Step(NamedTuple):
    """One step of a nest: an operation on single elements.

    Attributes:
        operation: the name of the operation (elements.py).
        codes: the dtype letters that the operands are converted to first.
        operands: the numbers of the operands.
        target: the dtype letter of the results of CONVERT; "" for other operations.
        table: for GATHER, the number of the array that elements are gathered from; -1 for other operations.
    """

    operation: str
    codes: str
    operands: Tuple[int, ...]
    target: str = ""
    table: int = -1

    def __repr__(self) -> str:
        """As comments in kernel source show it, with the parameter beside the operation."""
        name = "to_" + self.target if self.operation == CONVERT else self.operation
        return repr((name if self.operation != GATHER else "%s%d" % (name, self.table), self.codes, self.operands))


class Nest(NamedTuple):
    """The description of a nest.

    ``ndim`` axes; ``arrays`` and ``scalars`` are dtype letters. ``lasts`` has the kind of each array's last stride (of
    STEPS or LIKELY, or FAR: unlike the other arrays' strides). Operands are numbered: arrays that are read, then
    scalars, then ``steps``. The last step's result is stored in the last array.

    ``least``: threads share a nest of at least this much work (threads.py).

    ``sums``: the last axis is added up in NumPy's order, and the last array has one axis less. Sums of floats have
    three more arguments: function and data of NumPy's inner loop, and the address of a buffer of PAIRWISE_RUN elements.
    Without them the order is free. With ``halves`` they are used only for NaN, and the address may be 0.

    ``whole``: integers are added up along all axes, into the one element of the last array, whose strides are 0.

    ``beside``: numbers of earlier arrays of the same strides that arrays are parts of, or -1. The data address of such
    a part is its distance from the earlier array. LLVM can then load interleaved elements at once.

    ``same``: the number of an array that is read and has the memory and strides of the last one, or -1. With two
    addresses LLVM would find that they overlap.

    ``tables``: (dtype letter, number of axes) of arrays that are gathered from. The operands of a GATHER step are
    indices, one for each axis of its table. The arguments of tables come last: data address, strides, shape. The
    nest's result is 1 if an index was out of range, else 0.

    ``watched``: numbers of steps whose results are tested. The nest's result is also 1 if arithmetic gave infinity or
    NaN, or if operands of an extreme were NaN or zeros of two signs. A clip is tested like an extreme, but a NaN
    between bounds stays what it is. The result is also 1 if a float did not fit into an integer.

    ``families``: the last array is new, shares no memory with others, and may be written more than once. They number,
    for each array that is read, the array that it is part of.

    ``rolled``: (number, axis) of arrays that are read as if rolled along an axis. The last arguments are the shifts,
    from 0 to less than the size.

    ``delays_stores``: elements are computed from nearby ones that the nest replaces (delayed_store.py).

    ``ends``: rows are written with the elements beside them (row_ends.py has the last arguments and the result).

    ``outputs``: numbers of steps whose results are stored, too. Their arrays come before the last one. All these arrays
    have the shape of the nest, are new, and share no memory with others.

    ``totals``: numbers of steps whose results are added up, each into one of the last arrays. The nest has one axis
    then, and the result of the last step is not special (several_sums.py).

    ``part``: the last array is part of one whose size in bytes is the next argument. The addresses that other
    parts read follow.
    """

    ndim: int
    arrays: str
    lasts: str
    scalars: str
    steps: Tuple[Step, ...]
    sums: bool = False
    tables: Tuple[Tuple[str, int], ...] = ()
    least: int = 0
    same: int = -1
    watched: Tuple[int, ...] = ()
    halves: bool = False
    whole: bool = False
    beside: Tuple[int, ...] = ()
    families: Tuple[int, ...] = ()
    rolled: Tuple[Tuple[int, int], ...] = ()
    delays_stores: bool = False
    ends: str = ""
    part: bool = False
    outputs: Tuple[int, ...] = ()
    totals: Tuple[int, ...] = ()

    @property
    def targets(self) -> int:
        """The number of the last arrays that results are stored in or added up into."""
        return max(1, len(self.totals))

    @property
    def read(self) -> int:
        """The number of arrays that are read."""
        return len(self.arrays) - self.targets - len(self.outputs)


def can_share(nest: Nest) -> bool:
    """Whether parts of the first axis can be computed in parallel, because their results are disjoint."""
    return nest.ndim > nest.sums and not nest.whole and not nest.rolled
