"""`Cell`: a module of a network, with parameters and cells as attributes and its computation in `construct`."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from pijit.ms import cell_calls, special_calls
from pijit.ms.derivatives import HookHandle
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor


class Cell:
    """A module of a network.

    A subclass defines `construct` and sets parameters and cells as attributes in its `__init__`. Calling the cell calls
    `construct`; in `GRAPH_MODE` it runs as one graph.

    Args:
        auto_prefix: whether names of parameters of nested cells begin with the attribute's name.
        flags: attributes to set.

    Attributes:
        training: whether `set_train` enabled training; some layers then compute differently.

    Example:
        >>> class Scale(Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.w = Parameter(Tensor([2.0]))
        ...     def construct(self, x):
        ...         return x * self.w
    """

    special: Optional[str] = None
    """Kinds of extra work of a call beside `construct`: hooks, a derivative, casts. None if there are none; guarded."""

    training = False
    requires_grad = False
    bprop: Optional[Callable[..., Any]] = None
    _params: "Dict[str, Parameter]" = {}
    _cells: "Dict[str, Optional[Cell]]" = {}
    _auto_prefix: bool

    def __init__(self, auto_prefix: bool = True, flags: Optional[Dict[str, Any]] = None) -> None:
        put = object.__setattr__
        put(self, "_params", {})
        put(self, "_cells", {})
        put(self, "_auto_prefix", auto_prefix)
        put(self, "_dynamic_shape_inputs", None)
        put(self, "cls_name", type(self).__name__)
        if flags:
            self.add_flags(**flags)
        if type(self).bprop is not None:
            put(self, "special", "bprop")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        special_calls.note_class(cls)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """The computation; a subclass defines it."""
        raise AttributeError("For 'Cell', the method 'construct' is not defined in {}".format(type(self).__name__))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of `construct`."""
        if self.special is not None or special_calls.graph_mode is not None:
            return cell_calls.call(*args, cell=self, kwargs=kwargs)
        return self.construct(*args, **kwargs)

    # Attributes.

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, (Parameter, Cell)) or name in self._params or name in self._cells:
            self._set_member(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_member(self, name: str, value: Any) -> None:
        """Set an attribute that is or was a parameter or a cell."""
        if isinstance(value, Parameter):
            self.insert_param_to_cell(name, value)
        elif isinstance(value, Cell):
            if value is not self or name != "construct":  # `cell.construct = jit(cell)`: it is jitted already
                self._insert_cell(name, value)
        elif isinstance(value, Tensor) and name in self._params:
            self._params[name].set_data(value)
        else:
            self._forget(name)
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._forget(name)
        object.__delattr__(self, name)

    def _forget(self, name: str) -> None:
        self._params.pop(name, None)
        self._cells.pop(name, None)

    def insert_param_to_cell(self, param_name: str, param: Any, check_name_contain_dot: bool = True) -> None:
        """Add a parameter as an attribute.

        Raises:
            TypeError: `param` is not a parameter.
            AttributeError: the cell's `__init__` was not called.
        """
        if not isinstance(param, Parameter):
            raise TypeError("insert_param_to_cell: param must be a Parameter; not {!r}".format(param))
        self._require_init()
        if param.name == "Parameter":
            param.name = param_name
        self._forget(param_name)
        self._params[param_name] = param
        object.__setattr__(self, param_name, param)
        if "_cast" in self.__dict__:
            special_calls.note_parameters(self)

    def _insert_cell(self, name: str, cell: "Cell") -> None:
        self._require_init()
        if self.__dict__["_auto_prefix"]:
            cell.update_parameters_name(name + ".")
        self._forget(name)
        self._cells[name] = cell
        object.__setattr__(self, name, cell)

    def insert_child_to_cell(self, child_name: str, child_cell: "Cell") -> None:
        """Add a cell as an attribute.

        Raises:
            TypeError: `child_cell` is not a cell.
        """
        if not isinstance(child_cell, Cell):
            raise TypeError("insert_child_to_cell: child_cell must be a Cell; not {!r}".format(child_cell))
        self._insert_cell(child_name, child_cell)

    def _require_init(self) -> None:
        if "_params" not in self.__dict__:
            raise AttributeError("{}: call super().__init__() before parameters and cells are set".format(
                type(self).__name__))

    # Parameters and cells.

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[Tuple[str, Parameter]]:
        """(path of attributes, parameter) of each parameter; with `expand` including nested cells."""
        seen = set()
        cells = self.cells_and_names(name_prefix) if expand else [(name_prefix, self)]
        for cell_name, cell in cells:
            for name, one in cell._params.items():
                if id(one) not in seen:
                    seen.add(id(one))
                    yield (cell_name + "." + name if cell_name else name), one

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Each parameter."""
        for _, one in self.parameters_and_names(expand=expand):
            yield one

    def trainable_params(self, recurse: bool = True) -> List[Parameter]:
        """The parameters with `requires_grad`."""
        return [one for one in self.get_parameters(recurse) if one.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> List[Parameter]:
        """The parameters without `requires_grad`."""
        return [one for one in self.get_parameters(recurse) if not one.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> "OrderedDict[str, Parameter]":
        """Parameters by the names that they have themselves."""
        return OrderedDict((one.name, one) for one in self.get_parameters(recurse))

    def state_dict(self) -> "OrderedDict[str, Parameter]":
        """Parameters by the paths of their attributes."""
        return OrderedDict(self.parameters_and_names())

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Add a prefix to the names of parameters."""
        for _, one in self.parameters_and_names(expand=recurse):
            if prefix:
                one.name = prefix + one.name

    def cells(self) -> Any:
        """The cells that are attributes."""
        return [one for one in self._cells.values() if one is not None]

    def name_cells(self) -> "OrderedDict[str, Cell]":
        """The cells that are attributes, by name."""
        return OrderedDict((name, one) for name, one in self._cells.items() if one is not None)

    def cells_and_names(self, name_prefix: str = "", cells: Any = None) -> Iterator[Tuple[str, "Cell"]]:
        """(name, cell) of this cell and of all nested cells."""
        seen = set() if cells is None else cells
        if id(self) in seen:
            return
        seen.add(id(self))
        yield name_prefix, self
        for name, one in self._cells.items():
            if one is not None:
                yield from one.cells_and_names((name_prefix + "." if name_prefix else "") + name, seen)

    def apply(self, fn: Callable[["Cell"], Any]) -> "Cell":
        """Call a function with each nested cell, then with this one."""
        for one in self.cells():
            one.apply(fn)
        fn(self)
        return self

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> Dict[Parameter, Parameter]:
        """The parameters; their initial values are computed at creation."""
        return {one: one for one in self.get_parameters()}

    # Modes and options.

    def set_train(self, mode: bool = True) -> "Cell":
        """Switch training behaviour on or off; returns the cell."""
        for _, one in self.cells_and_names():
            object.__setattr__(one, "training", bool(mode))
        return self

    def set_grad(self, requires_grad: bool = True) -> "Cell":
        """Accepted; returns the cell. Gradients need no preparation."""
        object.__setattr__(self, "requires_grad", bool(requires_grad))
        return self

    def add_flags(self, **flags: Any) -> "Cell":
        """Set attributes; returns the cell."""
        for name, value in flags.items():
            object.__setattr__(self, name, value)
        return self

    def add_flags_recursive(self, **flags: Any) -> "Cell":
        """Set attributes of all nested cells, too; returns the cell."""
        for _, one in self.cells_and_names():
            one.add_flags(**flags)
        return self

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Describe the inputs by tensors; None in a shape is any length. `get_inputs` returns the description."""
        object.__setattr__(self, "_dynamic_shape_inputs", inputs or tuple(kwargs.values()))

    def get_inputs(self) -> Any:
        """The description that `set_inputs` stored."""
        return self._dynamic_shape_inputs  # type: ignore[attr-defined]

    def to_float(self, dst_type: Any) -> "Cell":
        """Let the cell and its nested cells compute in a float type; returns the cell. Parameters keep their type."""
        special_calls.set_cast(self, dst_type)
        return self

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> "Cell":
        """Accepted for one process; returns the cell."""
        return self

    def recompute(self, **kwargs: Any) -> None:
        """Accepted; values are always kept for the backward pass."""

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Accepted; cells are compiled when they are called."""

    def compile_and_run(self, *args: Any, **kwargs: Any) -> Any:
        """The result of a call."""
        return self(*args, **kwargs)

    def register_forward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, inputs)` before `construct`; its result replaces the inputs, unless it is None.

        Returns:
            A handle whose `remove` removes the hook.
        """
        return special_calls.register(self, "pre", hook_fn)

    def register_forward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, inputs, output)` after `construct`; its result replaces the output, unless it is None."""
        return special_calls.register(self, "forward", hook_fn)

    def register_backward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, grad_input, grad_output)` in the backward pass; its result replaces `grad_input`."""
        return special_calls.register(self, "backward", hook_fn)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, grad_output)` in the backward pass; its result replaces `grad_output`."""
        return special_calls.register(self, "backward_pre", hook_fn)

    # Text.

    def extend_repr(self) -> str:
        """The text between the brackets of `repr`; a subclass defines it."""
        return ""

    def __repr__(self) -> str:
        inside = self.extend_repr()
        cells = self._cells
        if not cells:
            return "{}<{}>".format(type(self).__name__, inside)
        lines = [inside] if inside else []
        for name, one in cells.items():
            lines.append("({}): {}".format(name, repr(one).replace("\n", "\n  ")))
        return "{}<\n  {}\n  >".format(type(self).__name__, "\n  ".join(lines))


class GraphCell(Cell):
    """A cell of a stored graph; not supported.

    Raises:
        NotImplementedError: always.
    """

    def __init__(self, graph: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("GraphCell: stored graphs (MindIR) cannot be loaded; call the cell itself")
