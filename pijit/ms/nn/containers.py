"""Cells that contain cells: sequential, in a list, or by name."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Iterable, Iterator, Tuple

from pijit.ms.cell import Cell


def _require_cell(name: str, cell: Any) -> None:
    is_taken = not isinstance(cell, CellDict) and not (name == "CellDict" and isinstance(cell, _CellSequence))
    if not isinstance(cell, Cell) or not is_taken:
        raise TypeError("{}: each item must be a Cell, and no container that it does not take; not {!r}".format(
            name, cell))


class _CellSequence(Cell):
    """Common base of `SequentialCell` and `CellList`; ``cell_list`` has the cells."""

    cell_list: Tuple[Any, ...]

    def _take(self, cells: Iterable[Any]) -> None:
        listed = list(cells)
        for one in listed:
            _require_cell(type(self).__name__, one)
        for name in list(self._cells):
            object.__delattr__(self, name)
        self._cells.clear()
        for place, one in enumerate(listed):
            self._cells[str(place)] = one
            object.__setattr__(self, str(place), one)
        object.__setattr__(self, "cell_list", tuple(listed))

    def _add(self, cell: Any) -> None:
        _require_cell(type(self).__name__, cell)
        if self._auto_prefix:
            cell.update_parameters_name("{}.".format(len(self._cells)))
        self._take(list(self._cells.values()) + [cell])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self.cell_list)[index])  # type: ignore[arg-type]
        return self.cell_list[index]

    def __setitem__(self, index: int, cell: Any) -> None:
        _require_cell(type(self).__name__, cell)
        listed = list(self._cells.values())
        listed[index] = cell
        if self._auto_prefix:
            cell.update_parameters_name("{}.".format(index % len(listed)))
        self._take(listed)

    def __delitem__(self, index: Any) -> None:
        listed = list(self._cells.values())
        del listed[index]
        self._take(listed)

    def __len__(self) -> int:
        return len(self.cell_list)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cell_list)

    def __bool__(self) -> bool:
        return True

    def append(self, cell: Cell) -> Any:
        """Add a cell at the end; returns the container."""
        self._add(cell)
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Insert a cell before an index."""
        _require_cell(type(self).__name__, cell)
        listed = list(self._cells.values())
        if not -len(listed) <= index <= len(listed):
            raise IndexError("{}: index {} is out of range for {} cells".format(
                type(self).__name__, index, len(listed)))
        listed.insert(index, cell)
        self._take(listed)

    def extend(self, cells: Iterable[Cell]) -> Any:
        """Add cells at the end; returns the container."""
        for one in cells:
            self._add(one)
        return self


class SequentialCell(_CellSequence):
    """Cells that are called in order, each with the result of the previous one.

    Args:
        *args: the cells, a list of cells, or an `OrderedDict` of cells.

    Raises:
        TypeError: an item is not a cell.

    Example:
        >>> SequentialCell(Dense(3, 2), ReLU())
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        object.__setattr__(self, "cell_list", ())
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, one in args[0].items():
                _require_cell("SequentialCell", one)
                self._insert_cell(name, one)
            object.__setattr__(self, "cell_list", tuple(self._cells.values()))
        else:
            for one in args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args:
                self._add(one)

    def construct(self, x: Any) -> Any:
        """The result of the last cell."""
        for cell in self.cell_list:
            x = cell(x)
        return x


class CellList(_CellSequence):
    """A list of cells; their parameters belong to the cell that has the list as an attribute.

    Args:
        *args: the cells, or a list of cells.

    Raises:
        TypeError: an item is not a cell.

    Example:
        >>> CellList([Dense(3, 2), ReLU()])[1]
        ReLU<>
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("auto_prefix", True))
        object.__setattr__(self, "cell_list", ())
        for one in args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args:
            self._add(one)

    def construct(self, *inputs: Any) -> Any:
        """Raises: a list of cells computes nothing."""
        raise NotImplementedError("CellList: call its cells")


class CellDict(Cell):
    """Cells by name.

    Args:
        *args: a dict, or an iterable of (name, cell).

    Raises:
        TypeError: a name is not a string, or a value is not a cell.
        KeyError: a name is empty, contains a dot, or is already an attribute.

    Example:
        >>> CellDict({"relu": ReLU()})["relu"]
        ReLU<>
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("auto_prefix", True))
        if args:
            self.update(args[0])

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]  # type: ignore[return-value]

    def __setitem__(self, key: str, cell: Cell) -> None:
        self._check(key, cell)
        self._insert_cell(key, cell)

    def _check(self, key: Any, cell: Any) -> None:
        if not isinstance(key, str):
            raise TypeError("CellDict: each name must be a str; not {!r}".format(key))
        if not key or "." in key:
            raise KeyError("CellDict: a name must not be empty or have a dot; as {!r} has".format(key))
        if key not in self._cells and hasattr(self, key):
            raise KeyError("CellDict: {!r} is an attribute of the container already".format(key))
        _require_cell("CellDict", cell)

    def __delitem__(self, key: str) -> None:
        del self._cells[key]
        object.__delattr__(self, key)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key: Any) -> bool:
        return key in self._cells

    def __bool__(self) -> bool:
        return True

    def clear(self) -> None:
        """Remove all cells."""
        for key in list(self._cells):
            del self[key]

    def pop(self, key: str) -> Cell:
        """Remove a cell; returns it."""
        cell = self[key]
        del self[key]
        return cell

    def keys(self) -> Any:
        """The names."""
        return self._cells.keys()

    def values(self) -> Any:
        """The cells."""
        return self._cells.values()

    def items(self) -> Any:
        """(name, cell) pairs."""
        return self._cells.items()

    def update(self, cells: Any) -> None:
        """Add cells: a dict, another `CellDict`, or an iterable of (name, cell).

        Raises:
            TypeError: `cells` is none of these.
            ValueError: an item is not a pair.
        """
        if isinstance(cells, (dict, CellDict)):
            cells = cells.items()
        elif isinstance(cells, (str, bytes)) or not hasattr(cells, "__iter__"):
            raise TypeError("CellDict: cells must be a dict, a CellDict or an iterable of pairs; not {!r}".format(
                cells))
        for place, pair in enumerate(cells):
            if not isinstance(pair, (tuple, list)):
                raise TypeError("CellDict: item {} must be a pair; not {!r}".format(place, pair))
            if len(pair) != 2:
                raise ValueError("CellDict: item {} must be a pair (name, cell); not {!r}".format(place, pair))
            self[pair[0]] = pair[1]

    def construct(self, *inputs: Any) -> Any:
        """Raises: a dict of cells computes nothing."""
        raise NotImplementedError("CellDict: call its cells")

