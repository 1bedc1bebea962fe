"""Operations on arrays of the class `numpy.memmap`: kernels compute with their memory.

A plain array with the memory of a memmap is fetched at the start of a segment. Elements, sums and stores are those of
that array. Views and results of ufuncs are made by methods of the class, so a kernel never makes such an object: it is
an `UnmadeArray`, which only other operations of the kernel take. Where it would leave the kernel, bytecode makes it.
Which results are of this kind differs by NumPy version, so samples are asked. Operators, subscripts, attributes, calls
and loops call the functions here.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Optional, Tuple, Union, cast

import numpy as np

from pijit.core.capture.models.objects.classes import paths_of
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import Model, method_model
from pijit.core.capture.typing.operand_reuse import is_temporary
from pijit.core.capture.values.describe import Arguments, describe
from pijit.core.capture.values.lattice import Abstract, Const, MappedArray, Tensor, UnmadeArray, number_type
from pijit.core.capture.values.mapped_arrays import HOOKS, is_unchanged
from pijit.core.capture.values.predicates import ClassHasOwn, ClassHolds
from pijit.core.errors import Break
from pijit.core.graph.types import PYTHON_CLASS
from pijit.guards.facts import is_among
from pijit.guards.source import Inner

SCALAR_METHODS = frozenset(["all", "any", "argmax", "argmin", "fill", "max", "mean", "min", "prod", "std", "sum",
                            "var"])
"""Methods whose result is a number or None, or an array that NumPy makes with code of the class."""

PRODUCTS = (np.dot, np.matmul)
FUNCTIONS = tuple(getattr(np, name) for name in sorted(SCALAR_METHODS - {"fill"})) + PRODUCTS + (np.copyto, len)
"""Functions that compute with the memory, besides ufuncs."""

READ_ATTRIBUTES = frozenset(["dtype", "itemsize", "nbytes", "ndim", "shape", "size"])

Kind = Tuple[str, Any, int]
"""What a sample is made of: "memmap", "ndarray" or "number"; the dtype or the class; and the number of dimensions."""


def involves(*values: Any) -> bool:
    """Whether one of some values is a memmap, or an array that NumPy makes with code of that class."""
    return any(isinstance(value, (MappedArray, UnmadeArray)) for value in values)


def memory_of(interpreter: Interpreter, value: Abstract) -> Abstract:
    """The plain array with the memory of an array; other values unchanged."""
    if isinstance(value, UnmadeArray):
        return value.array
    if not isinstance(value, MappedArray):
        return value
    if not is_unchanged():
        raise Break("PJ203", operand="memmap whose class was changed")
    interpreter.rely(value, ClassHasOwn(len(vars(np.memmap))))
    for name in HOOKS:
        interpreter.rely(value, ClassHolds(name, vars(np.memmap)[name]))
    paths = paths_of(value).then(Inner, "memory")
    array = Tensor(value.type, None, paths.source, value.defined_at)
    array.root = paths.root
    return interpreter.use(array)


def elementwise(interpreter: Interpreter, ufunc: Any, operands: List[Abstract],
                compute: Callable[..., Abstract]) -> Abstract:
    """The result of a ufunc or a product; ``compute`` makes it from plain arrays and numbers."""
    is_plain = not any(map(_is_mapped, operands))
    if is_plain and any(isinstance(one, Tensor) and is_temporary(interpreter.state, one) for one in operands):
        raise Break("PJ203", operand="temporary array beside one of a memmap")  # NumPy may compute into it
    result = compute(*[memory_of(interpreter, one) for one in operands])
    if is_plain or not isinstance(result, Tensor) or not _is_wrapped(ufunc, tuple(map(_kind, operands))):
        return result
    return UnmadeArray(result, False)


def _is_mapped(value: Abstract) -> bool:
    return isinstance(value, MappedArray) or isinstance(value, UnmadeArray) and value.is_mapped


def _kind(value: Abstract) -> Kind:
    """What a sample of a value is made of."""
    if isinstance(value, (MappedArray, UnmadeArray, Tensor)):
        kind = value.array.type if isinstance(value, UnmadeArray) else value.type
        return "memmap" if _is_mapped(value) else "ndarray", kind.dtype, kind.ndim
    number = number_type(value)
    if number is None:
        raise Break("PJ203", operand=describe(value))
    return "number", PYTHON_CLASS.get(number) or number.dtype.type, 0


@functools.lru_cache(maxsize=None)
def _is_wrapped(ufunc: Any, kinds: Tuple[Kind, ...]) -> bool:
    """Whether NumPy makes the result of a function with code of a memmap, which a run on samples tells."""
    with np.errstate(all="ignore"):
        made = ufunc(*map(_sample, kinds))
    return type(made) is not np.ndarray or made.base is not None


def _sample(kind: Kind) -> Any:
    name, made_of, ndim = kind
    if name == "number":
        return made_of(1)
    ones = np.ones((1,) * ndim, made_of)
    return ones.view(np.memmap) if name == "memmap" else ones


def stored_into(interpreter: Interpreter, left: Abstract, right: Abstract,
                store: Callable[[Abstract, Abstract], Abstract]) -> Abstract:
    """The result of ``left += right`` and the like for an array; ``store`` does it for plain arrays."""
    array = memory_of(interpreter, left)
    made = store(array, memory_of(interpreter, right))
    if made is array:
        return left
    return UnmadeArray(made, False) if isinstance(left, UnmadeArray) and isinstance(made, Tensor) else made


def item(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Abstract:
    """``owner[index]``: an element, or a view or copy."""
    found = interpreter.subscript(memory_of(interpreter, owner), memory_of(interpreter, index))
    if not isinstance(found, Tensor) or not involves(owner):
        return found
    is_view = found.part is not None
    if is_view or _is_mapped(owner):
        return UnmadeArray(found, is_view and _is_mapped(owner))
    return found


def iterated(interpreter: Interpreter, value: Abstract) -> Abstract:
    """What a loop iterates over: the memory of a memmap with one dimension, because its items are numbers."""
    if isinstance(value, UnmadeArray) or isinstance(value, MappedArray) and value.type.ndim == 1:
        value = memory_of(interpreter, value)
        if cast(Tensor, value).type.ndim != 1:
            raise Break("PJ209", type="memmap")
    return value


def attribute(interpreter: Interpreter, owner: Union[MappedArray, UnmadeArray], name: str) -> Optional[Abstract]:
    """``owner.name`` if the memory alone decides about it; else None."""
    if name in READ_ATTRIBUTES:
        return interpreter.attribute(memory_of(interpreter, owner), name)
    if name == "T":
        found = interpreter.attribute(memory_of(interpreter, owner), name)
        return UnmadeArray(found, _is_mapped(owner)) if isinstance(found, Tensor) else found
    return None


def method_of_memory(name: str) -> Optional[Model]:
    """The model of a method that computes with the memory; else None."""
    return method_model(np.ndarray, name) if name in SCALAR_METHODS else None


def takes(model: Model, arguments: List[Abstract], keywords: Arguments) -> bool:
    """Whether a call computes with the memory of an argument. Raises Break if it needs an object that is not made."""
    values = [*arguments, *keywords.values()]
    if not involves(*values):
        return False
    known = (issubclass(type(model.target), np.ufunc) or is_among(model.target, FUNCTIONS)
             or model.target is np.ndarray and model.method in SCALAR_METHODS)
    if not known and any(isinstance(value, UnmadeArray) for value in values):
        raise Break("PJ203", operand="view or result of a memmap")
    return known


def call(interpreter: Interpreter, target: Any, arguments: List[Abstract], keywords: Arguments,
         compute: Callable[[List[Abstract], Arguments], Abstract]) -> Abstract:
    """The result of a call that `takes` answers for; ``compute`` makes it from plain arrays and numbers."""
    memories = [memory_of(interpreter, one) for one in arguments]
    named: Dict[str, Abstract] = {name: memory_of(interpreter, one) for name, one in keywords.items()}
    is_ufunc = issubclass(type(target), np.ufunc)
    inputs = target.nin if is_ufunc else len(arguments)
    out = keywords.get("out", arguments[inputs] if len(arguments) > inputs else None)
    if isinstance(out, Const) and out.object is None:
        out = None
    if out is not None and not is_ufunc or is_ufunc and target.nout != 1:
        raise Break("PJ211", callee="a function of a memmap with an output")
    if not is_ufunc and involves(*keywords.values()):
        raise Break("PJ211", callee="a function of a memmap that is a keyword argument")
    if out is not None:
        compute(memories, named)
        return out
    if is_ufunc or is_among(target, PRODUCTS):
        return elementwise(interpreter, target, arguments[:inputs],
                           lambda *operands: compute([*operands, *memories[inputs:]], named))
    result = compute(memories, named)
    return UnmadeArray(result, False) if isinstance(result, Tensor) and _is_mapped(arguments[0]) else result
