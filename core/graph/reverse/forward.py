"""Operations of a graph as NumPy code, for the forward part of joint functions.

Each writer returns an expression with the bits and the type of the operation's result. Where the operation would leave
its kernel, the expression raises, or NumPy reports a floating-point error; callers run joint functions under an error
state that raises these.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Dict, Sequence

import numpy as np

from pijit.core.graph.derivatives.table import PRODUCTS
from pijit.core.graph.draws import DRAWS
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.library import resolve
from pijit.core.graph.ops import SYMBOLS
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.library_calls import LibraryCall, any_call, is_selection, library_call
from pijit.core.graph.types import Array, Object, Scalar

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # CPython 3.7 has none

REDUCTIONS: Dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}
"""The function of NumPy whose rule and bits a reduction of a ufunc has."""

UFUNC_ATTRS = frozenset(["ufunc", "types", "loop", "into", "ordered", "ignored"])

FLAGS = {1: "divide", 2: "over", 4: "under", 8: "invalid"}
"""NumPy's floating-point flags, by their bits in `ignored`: the keywords of `np.errstate`."""


class JointNames(Protocol):
    """What writers need: the names of values and objects in the joint function.

    Attributes:
        reports_flags: whether the code runs under an error state that raises for flags.
    """

    reports_flags: bool

    def name(self, value: Value) -> str:
        """The variable of a value."""

    def object(self, value: Any, hint: str) -> str:
        """The variable of an object that the joint function refers to."""

    def index(self, value: Value) -> str:
        """A number in an index."""

    def target(self, value: Value) -> str:
        """The code of an array as the target of an assignment."""


Writer = Callable[[JointNames, Op], str]


def _converted(names: JointNames, op: Op) -> str:
    kind, source = op.result.type, names.name(op.args[0])  # type: ignore[union-attr]
    if isinstance(kind, Array) and op.name == "cast":
        same = kind.dtype == op.args[0].type.dtype  # type: ignore[union-attr]
        return source + (".copy()" if same else ".astype(%s)" % names.object(kind.dtype, kind.dtype.name))
    if not isinstance(kind, Scalar):
        raise Irreversible("the operation %s of an array" % op.name)
    if kind.family == "raw":
        return source
    made: Any = kind.dtype.type if kind.family == "np" else {"f": float, "i": int, "b": bool}.get(kind.dtype.kind)
    if made is None:
        raise Irreversible("a conversion to %r" % kind)
    return "%s(%s)" % (names.object(made, made.__name__), source)


def _infix(names: JointNames, op: Op) -> str:
    return "%s %s %s" % (names.name(op.args[0]), SYMBOLS[op.name], names.name(op.args[1]))


def _compare(names: JointNames, op: Op) -> str:
    return "%s %s %s" % (names.name(op.args[0]), op.attrs["operator"], names.name(op.args[1]))


def _negative(names: JointNames, op: Op) -> str:
    return "-" + names.name(op.args[0])


def _absolute(names: JointNames, op: Op) -> str:
    return "%s(%s)" % (names.object(abs, "abs"), names.name(op.args[0]))


def _truth(names: JointNames, op: Op) -> str:
    return names.name(op.args[0]) + " != 0"


def _not(names: JointNames, op: Op) -> str:
    return "not " + names.name(op.args[0])


def _select(names: JointNames, op: Op) -> str:
    condition, one, other = map(names.name, op.args)
    return "%s if %s else %s" % (one, condition, other)


def _dim(names: JointNames, op: Op) -> str:
    return "%s.shape[%d]" % (names.name(op.args[0]), op.attrs["axis"])


@functools.lru_cache(maxsize=None)
def ignoring(function: Any, flags: int, parameters: str) -> Any:
    """A function of NumPy as a Python function under `np.errstate`, which the capture inlines.

    Args:
        function: the function.
        flags: the flags that it ignores, as NumPy's bits.
        parameters: its parameters, separated by commas; those after a star are keywords.
    """
    names = [name for name in parameters.split(", ") if name != "*"]
    first = parameters.split(", ").index("*") if "*" in parameters else len(names)
    words = names[:first] + ["%s=%s" % (name, name) for name in names[first:]]
    state = ", ".join("%s='ignore'" % name for bit, name in FLAGS.items() if flags & bit)
    namespace = {"function": function, "errstate": np.errstate}
    exec("def %s(%s):\n    with errstate(%s):\n        return function(%s)\n" % (
        function.__name__, parameters, state, ", ".join(words)), namespace)
    return namespace[function.__name__]


def _function(names: JointNames, op: Op, function: Any, parameters: str) -> str:
    """The variable of the function that an operation calls, with the flags that it ignores."""
    flags = op.attrs.get("ignored", 0) if names.reports_flags else 0
    return names.object(ignoring(function, flags, parameters) if flags else function, function.__name__)


def _numbered(count: int) -> str:
    return ", ".join("a%d" % number for number in range(count))


def _library(names: JointNames, op: Op, call: LibraryCall) -> str:
    """The call of a library function that has a rule."""
    words = list(map(names.name, call.args))
    words += ["%s=%s" % (name, names.name(value)) for name, value in call.keywords]
    words += ["%s=%r" % option for option in call.options]
    parameters = [_numbered(len(call.args))] + ["*"] * bool(call.keywords + call.options)
    parameters += [name for name, _ in call.keywords + call.options]
    return "%s(%s)" % (_function(names, op, call.function, ", ".join(parameters)), ", ".join(words))


def _ufunc(names: JointNames, op: Op) -> str:
    call = library_call(op)
    if call is not None:
        return _library(names, op, call)
    if not UFUNC_ATTRS.issuperset(op.attrs):
        raise Irreversible("keywords of %s" % op.attrs["ufunc"].__name__)
    return applied(names, op, op.args)


def applied(names: JointNames, op: Op, values: Sequence[Value]) -> str:
    """The call of an operation's ufunc with values, which ignores the flags that the operation ignores."""
    function = _function(names, op, op.attrs["ufunc"], _numbered(len(values)))
    return "%s(%s)" % (function, ", ".join(map(names.name, values)))


def _reduce(names: JointNames, op: Op) -> str:
    function = REDUCTIONS.get(op.attrs["ufunc"])
    if function is None:
        raise Irreversible("a reduction by %s" % op.attrs["ufunc"].__name__)
    return "%s(%s, axis=%r, keepdims=%r)" % (_function(names, op, function, "a, *, axis, keepdims"),
                                             names.name(op.args[0]), op.attrs["axis"], op.attrs["keepdims"])


def _where(names: JointNames, op: Op) -> str:
    return "%s(%s)" % (names.object(np.where, "where"), ", ".join(map(names.name, op.args)))


def _scan(names: JointNames, op: Op) -> str:
    call = library_call(op)
    if call is None:
        raise Irreversible("the operation %s" % op.name)
    return _library(names, op, call)


def _gather(names: JointNames, op: Op) -> str:
    return "%s[%s]" % (names.name(op.args[0]), ", ".join(map(names.name, op.args[1:])))


def _concatenate(names: JointNames, op: Op) -> str:
    return "%s((%s), axis=%r)" % (names.object(np.concatenate, "concatenate"),
                                  "".join(names.name(arg) + ", " for arg in op.args), op.attrs["axis"])


def _product(names: JointNames, op: Op) -> str:
    call = library_call(op)
    if call is not None:
        return _library(names, op, call)
    function = PRODUCTS.get(op.attrs["function"])
    if function is None or op.attrs["keywords"]:
        raise Irreversible("the function %s" % op.attrs["function"])
    return "%s(%s, %s)" % (names.object(function, function.__name__), names.name(op.args[0]), names.name(op.args[1]))


def view_of(op: Op, text: Callable[[Value], str]) -> str:
    """The code that follows an array to make a view of it; ``text`` gives the code of the index's numbers."""
    if op.name == "reshape":
        sizes = list(map(text, op.args[1:]))
        if op.attrs["unknown"] is not None:
            sizes[op.attrs["unknown"]] = "-1"
        return ".reshape(%s)" % ", ".join(sizes)
    if op.name == "in_order":
        return ""
    if "axes" in op.attrs:
        return ".transpose(%r)" % (tuple(op.attrs["axes"]),)
    if "index" not in op.attrs:
        raise Irreversible("the view %s" % op.name)
    values = [text(value) for value in op.args[1:]]
    items = []
    for item in op.attrs["index"]:
        if item in "ne":
            items.append("None" if item == "n" else ":")
        elif item == "i":
            items.append(values.pop(0))
        else:
            start, stop, step = (values.pop(0) if part == "v" else "" for part in item[1:])
            items.append("%s:%s%s" % (start, stop, ":" + step if step else ""))
    return "[%s]" % ", ".join(items)


def _alloc(names: JointNames, op: Op) -> str:
    fill, kind = op.attrs["fill"], op.result.type  # type: ignore[union-attr]
    function: Any = {None: np.empty, 0: np.zeros, 1: np.ones}[fill]
    return "%s((%s), %s%s)" % (
        names.object(function, function.__name__), "".join(names.name(arg) + ", " for arg in op.args),
        names.object(kind.dtype, kind.dtype.name), "" if op.attrs["order"] == "C" else ", order='F'")  # type: ignore[union-attr]


def _load(names: JointNames, op: Op) -> str:
    return "%s[%s]" % (names.name(op.args[0]), ", ".join(map(names.name, op.args[1:])) or "()")


def _raised(names: JointNames, op: Op) -> str:
    """The flags that were raised: none, because those that NumPy reports are exceptions here."""
    return "0"


def _flag(names: JointNames, op: Op) -> str:
    return names.name(op.args[0])


def _view(names: JointNames, op: Op) -> str:
    return names.name(op.args[0]) + view_of(op, names.index)


def _elements(names: JointNames, op: Op) -> str:
    kind = op.result.type  # type: ignore[union-attr]
    return "%s([%s], %s).reshape(%r)" % (
        names.object(np.array, "array"), ", ".join(map(names.name, op.args)),
        names.object(kind.dtype, kind.dtype.name), tuple(op.attrs["shape"]))  # type: ignore[union-attr]


def _invoke(names: JointNames, op: Op) -> str:
    """A library function with a rule, a function of numbers and strings that makes a string, or a string's length."""
    call = library_call(op)
    if call is not None:
        return _library(names, op, call)
    if op.attrs["function"] in PRODUCTS:
        return _product(names, op)
    if is_selection(op):
        return _gather(names, op)
    call = any_call(op)
    if call is not None and isinstance(op.result.type, (Array, Scalar)) and not op.attrs["function"].startswith(  # type: ignore[union-attr]
            ("ndarray.", "time.")):
        return _library(names, op, call)
    makes_text = op.result.type == Object(str) or op.attrs["function"] == "builtins.len"  # type: ignore[union-attr]
    if op.attrs["keywords"] or not makes_text:
        raise Irreversible("the function %s" % op.attrs["function"])
    function = resolve(op.attrs["function"])
    return "%s(%s)" % (names.object(function, function.__name__), ", ".join(map(names.name, op.args)))


def _tuple(names: JointNames, op: Op) -> str:
    return "(%s)" % "".join(names.name(arg) + ", " for arg in op.args)


def _draw(names: JointNames, op: Op) -> str:
    """The call of a method of one of NumPy's random generators."""
    row = DRAWS[op.attrs["method"]]
    if not row.fills:
        raise Irreversible("numbers of Python's random generator")
    words = list(map(names.name, op.args[1:]))
    split = len(words) - op.attrs.get("ndim", 0)
    size = ["size=(%s)" % "".join(word + ", " for word in words[split:])] if words[split:] else []
    return "%s.%s(%s)" % (names.name(op.args[0]), row.method, ", ".join(words[:split] + size))


FORWARD: Dict[str, Writer] = {
    "cast": _converted, "same": _converted, "add": _infix, "sub": _infix, "mul": _infix,
    "truediv": _infix, "floordiv": _infix, "mod": _infix, "power": _infix, "and": _infix, "or": _infix, "xor": _infix,
    "truth": _truth, "not": _not, "select": _select, "neg": _negative, "abs": _absolute,
    "compare": _compare, "dim": _dim, "ufunc": _ufunc, "where": _where, "reduce": _reduce,
    "gufunc": _product, "product": _product, "dot": _product, "view": _view,
    "transpose": _view, "elements": _elements, "alloc": _alloc, "load": _load, "raised": _raised, "flag": _flag,
    "invoke": _invoke, "new_tuple": _tuple, "reshape": _view, "in_order": _view, "scan": _scan, "roll": _scan,
    "gather": _gather, "pick": _gather, "rows": _gather, "concatenate": _concatenate, "draw": _draw,
    "draw_array": _draw}
"""The writer of each operation that can be reversed, or that only serves others."""


def _assignment(names: JointNames, op: Op) -> str:
    dtype = op.args[0].type.dtype  # type: ignore[union-attr]
    if getattr(op.args[1].type, "dtype", dtype).kind not in "biuf":
        raise Irreversible("a store of another kind")
    return "%s = %s" % (names.target(op.args[0]), names.name(op.args[1]))


def _into(names: JointNames, op: Op) -> str:
    if not UFUNC_ATTRS.issuperset(set(op.attrs) - {"reports"}):
        raise Irreversible("keywords of %s" % op.attrs["ufunc"].__name__)
    return applied(names, op, (*op.args[1:], op.args[0]))


def _element(names: JointNames, op: Op) -> str:
    return "%s[%s] = %s" % (names.name(op.args[0]), ", ".join(map(names.name, op.args[1:-1])), names.name(op.args[-1]))


HOST_CALL = "host_call"
"""The operation that calls a function with effects outside of arrays."""

MARKS = "marks"
"""The last parameter of joint functions with host calls: a list to which they append before and after each one."""

STATEMENTS: Dict[str, Writer] = {"assign": _assignment, "ufunc_into": _into, "store": _element}
"""The writer of each store."""


def host_call(names: JointNames, op: Op) -> str:
    """A host call as a statement."""
    function, keywords = op.attrs["function"], op.attrs["names"]
    words = list(map(names.name, op.args))
    split = len(words) - len(keywords)
    words[split:] = ["%s=%s" % pair for pair in zip(keywords, words[split:])]
    return "%s(%s)" % (names.object(function, function.__name__), ", ".join(words))


def statement(names: JointNames, op: Op) -> str:
    """A store as a statement."""
    return STATEMENTS[op.name](names, op)


def expression(names: JointNames, op: Op) -> str:
    """An operation as an expression.

    Raises:
        Irreversible: the operation has no writer.
    """
    writer = FORWARD.get(op.name)
    if writer is None or op.result is None:
        raise Irreversible("the operation %s%s" % (op.name, " (%s)" % op.attrs["function"] if "function" in op.attrs
                                                   else ""))
    return writer(names, op)
