"""Reference back end: writes graphs as Python functions, in which NumPy and Python do every operation on real objects.

It is the reference for the numba back end, and ``backend="python"`` runs it. An operation with an exit runs in
``try``. The whole function runs under ``np.errstate(all="raise")``. So an operation that would warn leaves instead,
and the interpreter repeats it and warns. Only ``Exception`` leads to an exit: KeyboardInterrupt passes through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Tuple, Union, cast

from pijit.core.graph.ir import Graph, Jump, Op, Output, SideExit, Value
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.ops import ALWAYS, FLOORS, FOUND, MAKERS, OVERFLOWS, SYMBOLS, UNKNOWN
from pijit.core.graph.types import INT, PYTHON_CLASS, WORD, Array, IteratorType, Object, Scalar
from pijit.core.kernel.abi import INSTANCES, FrameLayout
from pijit.core.kernel.emit.emitter import Emitter
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.reference import effects, runtime

if TYPE_CHECKING:
    import numpy as np

    from pijit.core.graph.types import Type

_UNARY = {"neg": "-%s", "invert": "~%s", "abs": "abs(%s)", "not": "not %s", "truth": "bool(%s)",
          "real": "%s.real", "imag": "%s.imag", "infinite": "infinite(%s)"}


class PythonEmitter(Emitter):
    """Writes ``def name(inputs): ...``; constants that have no literal are in ``names``."""

    def __init__(self, graph: Graph, layout: FrameLayout) -> None:
        super().__init__(graph, layout, set(graph.uses()))
        self.names: Dict[str, Any] = dict(runtime.NAMES, **effects.NAMES)
        self.made = {op.result for block in graph.blocks for op in block.ops if op.name in MAKERS}
        self.depth = 2

    def source(self, name: str) -> str:
        head = ["def %s(%s):" % (name, ", ".join(map(_name, self.graph.inputs))),
                "    with errstate(all='raise'):"]
        self.lines = head
        self.body()
        return "\n".join(self.lines) + "\n"

    def constant(self, value: Any) -> str:
        """A new name for an object."""
        name = "c%d" % len(self.names)
        self.names[name] = value
        return name

    # ---- Emitter ----

    def condition(self, value: Value) -> str:
        return _name(value)

    def moves(self, jump: Jump) -> List[Tuple[str, str]]:
        return [(_name(param), _name(value)) for param, value in zip(jump.block.params, jump.args)
                if param in self.used]

    def take(self, exit: SideExit) -> None:
        number, _ = self.layout.exit(exit)
        items = [str(self.answer(number))]
        instances: List[Any] = []
        for output in exit.outputs:
            items += _answers(output, instances)
        self.line("return (%s,)" % ", ".join(items))

    def operation(self, op: Op) -> None:
        write = _OPERATIONS.get(op.name)
        if write is None:
            raise CompileError("the Python back end has no operation %r" % op.name)
        expression = write(self, op)
        if op.attrs.get("ignored"):
            expression = "ignoring(%d, lambda: %s)" % (op.attrs["ignored"], expression)
        if op.exit is None:
            self._compute(op, expression)
            return
        self.line("try:")
        self.depth += 1
        self._compute(op, expression)
        self.depth -= 1
        self.line("except Exception:")
        self.depth += 1
        self.take_because([op], op.exit)
        self.depth -= 1

    def _compute(self, op: Op, expression: str) -> None:
        if op.result is None:
            self.line(expression)
            return
        self.line("%s = %s" % (_name(op.result), expression))


def _name(value: Value) -> str:
    return "v%d" % value.id


def _answers(output: Output, instances: List[Any]) -> List[str]:
    """The objects that the launcher takes from the kernel's result for one output; each instance is made once."""
    if output.kind == "value":
        return [_name(output.value)]
    words = [_name(word) for word in output.words]
    if output.kind in ("range", "range_iterator"):
        return ["%s(%s)" % ("range" if output.kind == "range" else "make_iterator", ", ".join(words))]
    if output.kind in INSTANCES and output.value[1] in instances:
        return []
    found = [item for part in output.parts for item in _answers(part, instances)] + words
    if output.kind in INSTANCES:
        instances.append(output.value[1])
    return found


# ---- operations: expressions ----


def _args(op: Op) -> List[str]:
    return [_name(value) for value in op.args]


def _kind(op: Op) -> Type:
    """The type of the result of an operation that has one."""
    return cast(Value, op.result).type


def _dtype(op: Op) -> np.dtype[Any]:
    """The dtype of the result of an operation that makes a number or an array."""
    return cast("Union[Scalar, Array]", _kind(op)).dtype


def _shape(names: List[str]) -> str:
    return "(%s)" % "".join(name + ", " for name in names)


def _fitted(op: Op, expression: str) -> str:
    """Python integers outside of int64 raise, so that their exit is taken; the compiler's own integers wrap."""
    kind = op.result.type if op.result is not None else None
    if op.name not in OVERFLOWS or kind not in (INT, WORD):
        return expression
    return "%s(%s)" % ("wrap" if kind == WORD else "fit", expression)


def _binary(emitter: PythonEmitter, op: Op) -> str:
    left, right = _args(op)
    if op.name in FLOORS and op.exit is not None:
        right = "nonzero(%s)" % right
    return _fitted(op, "%s %s %s" % (left, SYMBOLS[op.name], right))


def _unary(emitter: PythonEmitter, op: Op) -> str:
    return _fitted(op, _UNARY[op.name] % _name(op.args[0]))


def _complex(emitter: PythonEmitter, op: Op) -> str:
    kind = cast(Scalar, _kind(op))
    return "cast(complex(%s), %s, %r, False)" % (", ".join(_args(op)), emitter.constant(kind.dtype), kind.family)


def _const(emitter: PythonEmitter, op: Op) -> str:
    kind, value = _kind(op), op.attrs["value"]
    if isinstance(kind, Scalar) and kind.family == "np":
        value = kind.dtype.type(value)
    elif isinstance(kind, Scalar):
        value = (int if kind == WORD else PYTHON_CLASS.get(kind, bool))(value)
    return emitter.constant(value)


def _cast(emitter: PythonEmitter, op: Op) -> str:
    return "cast(%s, %s, %r, %r)" % (_name(op.args[0]), emitter.constant(_dtype(op)),
                                     cast(Scalar, _kind(op)).family, op.exit is not None)


def _same(emitter: PythonEmitter, op: Op) -> str:
    return "cast(%s, %s, %r, False)" % (_name(op.args[0]), emitter.constant(_dtype(op)),
                                        cast(Scalar, _kind(op)).family)


def _compare(emitter: PythonEmitter, op: Op) -> str:
    left, right = _args(op)
    return "bool(%s %s %s)" % (left, op.attrs["operator"], right)


def _libm(emitter: PythonEmitter, op: Op) -> str:
    return "libm(%r, %r, %s)" % (op.attrs["function"], "finite" in op.attrs, ", ".join(_args(op)))


def _power(emitter: PythonEmitter, op: Op) -> str:
    return "power(%r, %s)" % (op.attrs["by"], ", ".join(_args(op)))


def _iterator_part(emitter: PythonEmitter, op: Op) -> str:
    if not isinstance(op.args[0].type, IteratorType):
        raise CompileError("iterator_part of a %r" % op.args[0].type)
    return "iterator_part(%s, %r)" % (_name(op.args[0]), op.attrs["path"])


def _dim(emitter: PythonEmitter, op: Op) -> str:
    return "%s.shape[%d]" % (_name(op.args[0]), op.attrs["axis"])


def _view(emitter: PythonEmitter, op: Op) -> str:
    names = iter(_args(op)[1:])
    items = []
    for item in op.attrs["index"]:
        if item in ("n", "e"):
            items.append("None" if item == "n" else ":")
        elif item == "i":
            items.append(next(names))
        else:
            items.append(":".join(next(names) if part == "v" else "" for part in item[1:]))
    return "%s[%s]" % (_name(op.args[0]), "".join(item + ", " for item in items) + "...")


def _transpose(emitter: PythonEmitter, op: Op) -> str:
    return "%s.transpose(%r)" % (_name(op.args[0]), tuple(op.attrs["axes"]))


def _reshape(emitter: PythonEmitter, op: Op) -> str:
    names = _args(op)
    return "%s.reshape((%s))" % (names[0], _shape(names[1:]))


def _load(emitter: PythonEmitter, op: Op) -> str:
    names = _args(op)
    return "%s[%s]" % (names[0], _shape(names[1:]))


def _store(emitter: PythonEmitter, op: Op) -> str:
    names = _args(op)
    return "%s[%s] = %s" % (names[0], _shape(names[1:-1]), names[-1])


def _ufunc(emitter: PythonEmitter, op: Op) -> str:
    args = _shape(_args(op))
    if "fits" in op.attrs:
        return "ufunc_fits(%s, %r, %d, %s)" % (emitter.constant(op.attrs["ufunc"]), op.attrs["types"],
                                               op.attrs["fits"], args)
    if "into" not in op.attrs:
        return "ufunc(%s, %r, %r, %s)" % (emitter.constant(op.attrs["ufunc"]), op.attrs["types"],
                                          isinstance(_kind(op), Array), args)
    into = tuple(UNKNOWN if state == ALWAYS and value not in emitter.made else state
                 for value, state in zip(op.args, op.attrs["into"]))
    return "by_operator(%s, %r, %r, %r, %s)" % (emitter.constant(op.attrs["ufunc"]), op.attrs["types"], into,
                                                op.attrs["ordered"], args)


def _where(emitter: PythonEmitter, op: Op) -> str:
    return "where%s" % _shape(_args(op))


def _ufunc_into(emitter: PythonEmitter, op: Op) -> str:
    names = _args(op)
    return "ufunc_into(%s, %s, %r, %s)" % (names[0], emitter.constant(op.attrs["ufunc"]), op.attrs["types"],
                                           _shape(names[1:]))


def _reduce(emitter: PythonEmitter, op: Op) -> str:
    return "reduce(%s, %s, %r, %r, %r)" % (_name(op.args[0]), emitter.constant(op.attrs["ufunc"]),
                                           op.attrs["axis"],
                                           bool(op.attrs["keepdims"]), op.attrs["types"])


def _scan(emitter: PythonEmitter, op: Op) -> str:
    return "scan(%s, %s, %s)" % (_name(op.args[0]), emitter.constant(op.attrs["ufunc"]),
                                 emitter.constant(_dtype(op)))


def _alloc(emitter: PythonEmitter, op: Op) -> str:
    return "alloc(%s, %s, %r, %r)" % (_shape(_args(op)), emitter.constant(_dtype(op)),
                                      op.attrs["fill"],
                                      op.attrs["order"])


def _invoke(emitter: PythonEmitter, op: Op) -> str:
    kind = op.result.type if op.result is not None else Object(type(None))
    return "invoke(%s, %r, %s, %s)" % (emitter.constant(FUNCTIONS[op.attrs["function"]].object), op.attrs["keywords"],
                                       emitter.constant(kind), _shape(_args(op)))


def _set_items(emitter: PythonEmitter, op: Op) -> str:
    return "set_items(%s)" % ", ".join(_args(op))


def _item(emitter: PythonEmitter, op: Op) -> str:
    return "fitting(%s[%d], %s)" % (_name(op.args[0]), op.attrs["index"], emitter.constant(_kind(op)))


def _call(emitter: PythonEmitter, op: Op) -> str:
    """A call of the function of the same name."""
    return "%s(%s)" % (op.name, ", ".join(_args(op)))


def _found(emitter: PythonEmitter, op: Op) -> str:
    return "%s(%s)" % (op.name, ", ".join(_args(op) + [emitter.constant(_kind(op))]))


_OPERATIONS: Dict[str, Callable[[PythonEmitter, Op], str]] = {
    **dict.fromkeys(effects.NAMES, _call), **dict.fromkeys(FOUND, _found),
    **dict.fromkeys(("in_order", "shares", "add_at", "assign", "require", "new_instance", "changed_instance",
                     "new_cell", "new_function", "new_object"), _call),
    **dict.fromkeys(SYMBOLS, _binary), **dict.fromkeys(_UNARY, _unary),
    "const": _const, "cast": _cast, "same": _same, "compare": _compare, "libm": _libm, "power": _power,
    "compare_size": lambda emitter, op: "bool(abs(%s) %s %s)" % (_name(op.args[0]), op.attrs["operator"],
                                                                 _name(op.args[1])),
    "complex": _complex, "part": lambda emitter, op: "%s.%s" % (_name(op.args[0]), op.attrs["which"]),
    "flag": _same, "select": lambda emitter, op: "{1} if {0} else {2}".format(*_args(op)),
    "iterator_part": _iterator_part, "dim": _dim, "view": _view, "transpose": _transpose, "reshape": _reshape,
    "load": _load, "gather": _load, "pick": _load, "rows": _load, "store": _store, "ufunc": _ufunc, "where": _where,
    "ufunc_into": _ufunc_into, "reduce": _reduce, "scan": _scan,
    "alloc": _alloc, "invoke": _invoke, "gufunc": _invoke, "product": _invoke, "dot": _invoke, "item": _item,
    "perform": _invoke, "scatter": _set_items, "put_mask": _set_items,
    "identical": lambda emitter, op: "%s is %s" % tuple(_args(op)),
    "raised": lambda emitter, op: "0",
    "poll": lambda emitter, op: "None" if "serves" in op.attrs else "poll()",
    "length": lambda emitter, op: "len(%s)" % _name(op.args[0]),
    "origin": lambda emitter, op: "id(%s)" % _name(op.args[0]),
    "new_tuple": lambda emitter, op: _shape(_args(op)),
    "has_class": lambda emitter, op: "type(%s) is %s" % tuple(_args(op)),
    "char_code": lambda emitter, op: "ord(%s[%s])" % tuple(_args(op)),
    "text_add": lambda emitter, op: "%s + %s" % tuple(_args(op)),
    "same_text": lambda emitter, op: "%s == %s" % tuple(_args(op)),
    **dict.fromkeys(("char_at", "byte_at"), lambda emitter, op: "%s[%s]" % tuple(_args(op))),
    "draw": lambda emitter, op: "draw(%s)" % ", ".join([str(op.attrs["method"])] + _args(op)),
    "draw_array": lambda emitter, op: "draw_array(%d, %d, %s)" % (
        op.attrs["method"], op.attrs["ndim"], ", ".join(_args(op))),
    "has_text": lambda emitter, op: "{1} in {0}".format(*_args(op)),
    "store_byte": lambda emitter, op: "{0}[{1}] = {2}".format(*_args(op)),
    "list_size": lambda emitter, op: "len(%s)" % _name(op.args[0]),
    "list_item": lambda emitter, op: "fitting(%s[%s], %s)" % (tuple(_args(op)) + (emitter.constant(_kind(op)),)),
    "concatenate": lambda emitter, op: "concatenate((%s), %d)" % (_shape(_args(op)), op.attrs["axis"]),
    "roll": lambda emitter, op: "roll(%s, %s, %d)" % (*_args(op), op.attrs["axis"]),
    "elements": lambda emitter, op: "elements(%s, %s, %s)" % (
        _shape(_args(op)), op.attrs["shape"], emitter.constant(_dtype(op))),
    "listed": lambda emitter, op: "listed(%s, %s, %s, %s)" % (*_args(op), emitter.constant(op.attrs["kinds"]),
                                                              emitter.constant(_kind(op))),
    "tuple_of": lambda emitter, op: "tuple(%s)" % _name(op.args[0]),
    "box": lambda emitter, op: _name(op.args[0]),
    "bound_method": lambda emitter, op: "getattr(%s, %s)" % tuple(_args(op)),
    "new_slice": lambda emitter, op: "slice(%s)" % ", ".join(_args(op)),
    "new_set": lambda emitter, op: "new_set(%s)" % _shape(_args(op)),
    "new_list": lambda emitter, op: "[%s]" % ", ".join(_args(op)),
    "new_dict": lambda emitter, op: "{%s}" % ", ".join(map("{}: {}".format, _args(op)[::2], _args(op)[1::2])),
}
