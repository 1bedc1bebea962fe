"""`Primitive`: an operation as an object, such as `ops.Add()`; its class comes from a row of the table."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

from pijit.core.named_tuples import NamedTuple


class Row(NamedTuple):
    """One operation.

    Attributes:
        name: the name of its class.
        function: the function on tensors that computes it.
        attributes: (name, default) of the arguments of the class, which are passed to the function by name; `REQUIRED`
            means that there is no default.
    """

    name: str
    function: Callable[..., Any]
    attributes: Tuple[Tuple[str, Any], ...] = ()


REQUIRED = object()
"""Default of an attribute that must be given."""


class Primitive:
    """An operation as an object.

    Attributes:
        name: the name of the class.
        bprop_getter: the registered function that returns a derivative, or None; see `bprop_getters`.

    Example:
        >>> Add()(Tensor([1.0]), Tensor([2.0]))
        Tensor(shape=[1], dtype=Float32, value= [ 3.00000000e+00])
    """

    row: Optional[Row] = None
    bprop_getter: Any = None

    def __init__(self, name: Optional[str] = None) -> None:
        self.name = name or type(self).__name__
        self.attributes: Dict[str, Any] = {}

    def __call__(self, *inputs: Any) -> Any:
        """The result of the operation on these inputs."""
        if self.bprop_getter is not None:
            from pijit.ms.derivatives import call_with_derivative  # needs tensors of this package

            return call_with_derivative(self.compute, self.bprop_getter(), inputs)
        return self.compute(*inputs)

    def compute(self, *inputs: Any) -> Any:
        """The result, without a registered derivative."""
        raise NotImplementedError("{}: a Primitive needs a compute method".format(self.name))

    def add_prim_attr(self, name: str, value: Any) -> "Primitive":
        """Set an attribute; returns the operation."""
        self.attributes[name] = value
        return self

    def set_device(self, device_target: str) -> "Primitive":
        """Accepted for the CPU; returns the operation."""
        if device_target != "CPU":
            raise ValueError("{}: device_target must be 'CPU'; not {!r}".format(self.name, device_target))
        return self

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> "Primitive":
        """Accepted for one process; returns the operation."""
        return self

    def set_stage(self, stage: int) -> "Primitive":
        """Accepted for one process; returns the operation."""
        return self

    def __repr__(self) -> str:
        given = ", ".join("{}={}".format(name, value) for name, value in self.attributes.items())
        return "Prim[{}]<{}>".format(self.name, given)


PrimitiveWithInfer = PrimitiveWithCheck = Primitive


def primitive_class(row: Row) -> type:
    """The primitive class of a row."""
    names = tuple(name for name, _ in row.attributes)
    defaults = dict(row.attributes)
    function = row.function

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(names):
            raise TypeError("{}: takes at most {} arguments ({}); got {}".format(
                row.name, len(names), ", ".join(names), len(args)))
        given = dict(zip(names, args), **kwargs)
        for name in given:
            if name not in defaults:
                raise TypeError("{}: there is no argument {!r}; the arguments are: {}".format(
                    row.name, name, ", ".join(names) or "none"))
        values = dict(defaults, **given)
        missing = [name for name, value in values.items() if value is REQUIRED]
        if missing:
            raise TypeError("{}: the argument {} must be given".format(row.name, missing[0]))
        Primitive.__init__(self, row.name)
        self.attributes = values
        for name, value in values.items():
            setattr(self, name, value)

    def compute(self: Any, *inputs: Any) -> Any:
        return function(*inputs)

    def compute_with_attributes(self: Any, *inputs: Any) -> Any:
        return function(*inputs, **self.attributes)

    body = {"__init__": __init__, "compute": compute_with_attributes if names else compute, "row": row,
            "__doc__": "`{}` as an object.{}".format(
                function.__name__, function.__doc__ and "\n\n    " + function.__doc__),
            "__module__": "pijit.ms.ops"}
    return type(row.name, (Primitive,), body)
