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
    function = row.function

    def compute(primitive: Any, *inputs: Any) -> Any:
        return function(*inputs)

    def compute_with_attributes(primitive: Any, *inputs: Any) -> Any:
        return function(*inputs, **primitive.attributes)

    body = {"__init__": _constructor(row), "row": row,
            "compute": compute_with_attributes if row.attributes else compute,
            "__doc__": "`{}` as an object.{}".format(
                function.__name__, function.__doc__ and "\n\n    " + function.__doc__),
            "__module__": "pijit.ms.ops"}
    return type(row.name, (Primitive,), body)


def _constructor(row: Row) -> Callable[..., None]:
    """The `__init__` of a row's class, made from source text as those of data classes are.

    It has a parameter per attribute and no loop, so that a primitive that a jitted function makes is captured.
    """
    names = [name for name, _ in row.attributes]
    lines = ["def __init__(self{}, *more, **unknown):".format("".join(", {0}=of_{0}".format(name) for name in names)),
             "    if more or unknown: refuse(row, more, unknown)"]
    lines += ["    if {0} is REQUIRED: refuse_without(row, {0!r})".format(name)
              for name, default in row.attributes if default is REQUIRED]
    lines.append("    Primitive.__init__(self, {!r})".format(row.name))
    if names:
        lines.append("    self.attributes = {{{}}}".format(", ".join("{0!r}: {0}".format(name) for name in names)))
    lines += ["    self.{0} = {0}".format(name) for name in names]
    scope: Dict[str, Any] = {"of_" + name: default for name, default in row.attributes}
    scope.update(Primitive=Primitive, REQUIRED=REQUIRED, refuse=_refuse, refuse_without=_refuse_without, row=row,
                 __name__="pijit.ms.ops")
    exec(compile("\n".join(lines), "<arguments of {}>".format(row.name), "exec"), scope)
    return scope["__init__"]  # type: ignore[no-any-return]


def _refuse(row: Row, more: Tuple[Any, ...], unknown: Dict[str, Any]) -> None:
    """Raise the error for arguments that the class of a row does not have."""
    names = [name for name, _ in row.attributes]
    if more:
        raise TypeError("{}: takes at most {} arguments ({}); got {}".format(
            row.name, len(names), ", ".join(names), len(names) + len(more)))
    raise TypeError("{}: there is no argument {!r}; the arguments are: {}".format(
        row.name, next(iter(unknown)), ", ".join(names) or "none"))


def _refuse_without(row: Row, name: str) -> None:
    raise TypeError("{}: the argument {} must be given".format(row.name, name))
