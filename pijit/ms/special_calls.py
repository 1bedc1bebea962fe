"""Calls of cells with extra work: one graph in `GRAPH_MODE`, hooks, casts, user-defined derivatives.

`Cell.__call__` uses this module only if a cell is marked `special` or `GRAPH_MODE` is on.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from pijit.core.tape.state import STATE
from pijit.ms.casts import cast_all, constructed
from pijit.ms.derivatives import HookHandle, call_with_derivative, hooked
from pijit.ms.dtype import as_numpy
from pijit.ms.tensor import Tensor

graph_mode: Optional[str] = None
"""Not None if each cell runs as one graph; `set_context` sets it."""

GRAPH = "_pijit_graph"
"""The attribute of a cell class that holds its jitted `construct`."""

Hooks = Dict[str, List[Any]]


def note_class(cls: Any) -> None:
    """Mark a cell class that defines its own derivative."""
    if cls.bprop is not None:
        cls.special = "bprop"


def register(cell: Any, kind: str, hook: Callable[..., Any]) -> HookHandle:
    """Add a hook to a cell.

    Raises:
        TypeError: the hook is not callable.
    """
    if not callable(hook):
        raise TypeError("register_{}_hook: hook_fn must be callable; not {!r}".format(kind, hook))
    hooks: Hooks = cell.__dict__.setdefault("_hooks", {})
    hooks.setdefault(kind, []).append(hook)
    _decide(cell)
    return HookHandle(hooks[kind], hook, lambda: _decide(cell))


def set_cast(cell: Any, dtype: Any, result: Any = None) -> None:
    """Cast the float inputs and the weights of a cell and of its nested cells from now on.

    Args:
        cell: the cell.
        dtype: the type in which they compute.
        result: the type of the results of `cell`, or None: the type that `construct` gives.
    """
    wanted = as_numpy(dtype, "to_float")
    for _, one in cell.cells_and_names():
        object.__setattr__(one, "_cast", wanted)
        object.__setattr__(one, "_result_cast", result if one is cell else None)
        note_parameters(one)
        _decide(one)


def note_parameters(cell: Any) -> None:
    """Note the parameters that a cell casts in calls: its own weights that are floats, also frozen ones."""
    object.__setattr__(cell, "_cast_parameters", tuple(
        one for one in cell._params.values() if one.is_weight and one._array.dtype.kind == "f"))


def _decide(cell: Any) -> None:
    kinds = {"hooks": any(cell.__dict__.get("_hooks", {}).values()), "cast": "_cast" in cell.__dict__,
             "bprop": cell.bprop is not None}
    object.__setattr__(cell, "special", ", ".join(kind for kind, there in kinds.items() if there) or None)


def call(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """Call a cell with extra work, or any cell in `GRAPH_MODE`."""
    hooks: Hooks = cell.__dict__.get("_hooks", {})
    for hook in list(hooks.get("pre", ())):
        changed = hook(cell, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    if "_cast" in cell.__dict__:
        args = cast_all(args, cell._cast)
    out = _computed(cell, args, kwargs, hooks)
    if cell.__dict__.get("_result_cast") is not None:
        out = cast_all(out, cell._result_cast)
    for hook in list(hooks.get("forward", ())):
        changed = hook(cell, args, out)
        out = out if changed is None else changed
    return out


def _computed(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], hooks: Hooks) -> Any:
    if STATE.tapes and cell.bprop is not None:
        return call_with_derivative(lambda *given: construct(cell, given, kwargs), cell.bprop, args)
    if STATE.tapes and (hooks.get("backward") or hooks.get("backward_pre")):
        return _with_backward_hooks(cell, args, kwargs, hooks)
    return construct(cell, args, kwargs)


def construct(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """The result of `construct`; in `GRAPH_MODE` of its graph."""
    if "_cast" in cell.__dict__:
        return constructed(*args, owner=cell, kwargs=kwargs)
    if graph_mode is not None:
        return constructed_as_graph(*args, owner=cell, kwargs=kwargs)
    return cell.construct(*args, **kwargs)


def constructed_as_graph(*args: Any, owner: Any, kwargs: Dict[str, Any]) -> Any:
    """The result of `construct`, from its graph unless a tape records."""
    if not STATE.tapes and "construct" not in owner.__dict__:
        return graph_of(type(owner))(owner, *args, **kwargs)
    return owner.construct(*args, **kwargs)


def graph_of(cls: Any) -> Any:
    """`construct` of a cell class, jitted as one graph."""
    if GRAPH not in cls.__dict__:
        from pijit.decorator import jit

        setattr(cls, GRAPH, jit(cls.construct, mode="PSJit"))
    return cls.__dict__[GRAPH]


def _with_backward_hooks(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], hooks: Hooks) -> Any:
    """Run `construct` between two records whose adjoints the hooks receive."""
    seen: Dict[str, Any] = {}
    tensors = [k for k, one in enumerate(args) if isinstance(one, Tensor)]

    def at_inputs(grad_input: Tuple[Any, ...]) -> Any:
        for hook in list(hooks.get("backward", ())):
            changed = hook(cell, grad_input, seen["output"])
            if changed is not None:
                grad_input = changed if isinstance(changed, tuple) else (changed,)
        return grad_input

    def at_output(grad_output: Tuple[Any, ...]) -> Any:
        for hook in list(hooks.get("backward_pre", ())):
            changed = hook(cell, grad_output)
            if changed is not None:
                grad_output = changed if isinstance(changed, tuple) else (changed,)
        seen["output"] = grad_output
        return grad_output

    marked = list(args)
    for place, one in zip(tensors, hooked(at_inputs, tuple(args[k] for k in tensors))):
        marked[place] = one
    out = construct(cell, tuple(marked), kwargs)
    several = isinstance(out, tuple)
    through = hooked(at_output, out if several else (out,))
    return through if several else through[0]
