"""Tables of callees that have no derivative rule, mostly functions in C; `calls` looks up how to run them."""

from __future__ import annotations

import builtins
import collections
import functools
import itertools
import math
import operator
import types
from types import BuiltinFunctionType, MethodWrapperType, WrapperDescriptorType
from typing import Any, Callable, Dict, Set, Tuple

import numpy as np

HANDLERS: Dict[Any, Callable[..., Any]] = {}
"""Recorded versions by function, and by name for methods of arrays ("ndarray.fill") and of ufuncs ("at")."""

NATIVE_MODULES = frozenset((
    "logging", "warnings", "threading", "importlib", "inspect", "tqdm", "abc", "typing", "re", "enum", "traceback",
    "linecache", "tokenize", "unittest", "pytest", "_pytest", "gc", "weakref"))
"""Packages whose Python functions run without instrumentation: text output, and utilities that compute no values."""

OWN_MODULES = frozenset("pijit." + name for name in (
    "context", "decorator", "dump", "explain", "hashed", "info", "logs", "options", "reporting.report", "signature"))
"""Modules of pijit whose functions run without instrumentation: they create jitted functions and report on them."""

NATIVE_FUNCTIONS = frozenset((collections.namedtuple,))
"""Python functions that run without instrumentation: they create classes and inspect the frame of their caller."""

OTHER_THREADS = frozenset(("threading", "queue", "concurrent", "multiprocessing", "asyncio", "_thread", "_queue"))
"""Packages that pass values to other threads or processes, where no tape records."""

WRITERS = frozenset(("byteswap", "resize", "setfield", "itemset", "partition", "setflags", "put"))
"""Methods that write an array and have no recorded version here."""

_NAMES = (
    "all any ascii bool callable chr classmethod delattr dict dir enumerate filter format frozenset hasattr hash help "
    "hex id input int isinstance issubclass iter list map max memoryview min object oct open ord print property range "
    "repr reversed set setattr slice sorted staticmethod str tuple type zip bytes bytearray").split()

KEEPS: Set[Any] = {getattr(builtins, name) for name in _NAMES} | {
    itertools.chain, itertools.repeat, itertools.count, itertools.cycle, itertools.islice, itertools.tee,
    itertools.zip_longest, itertools.product, itertools.permutations, itertools.combinations, itertools.groupby,
    itertools.accumulate, itertools.starmap, itertools.takewhile, itertools.dropwhile, itertools.filterfalse,
    itertools.compress, itertools.chain.from_iterable, operator.itemgetter, operator.attrgetter, operator.is_,
    operator.is_not, operator.contains, operator.length_hint, operator.truth, operator.not_, operator.setitem,
    operator.delitem, collections.deque, collections.OrderedDict, collections.defaultdict}
"""Callees that return the objects they receive, or results that depend on them in no differentiable way."""

KEEPS.update((functools.partial, builtins.__build_class__))
KEEPS.discard(bytes)
KEEPS.discard(bytearray)
KEEPS.discard(memoryview)

KEEPS.update((types.SimpleNamespace, types.MappingProxyType))

READING: Set[Any] = {
    len, repr, str, format, ascii, print, range, hash, chr, bin, hex, oct, operator.truth, operator.not_,
    operator.index, operator.length_hint, math.floor, math.ceil, math.trunc}
"""Callees that read objects through special methods and return no part of them."""

ITERATING: Set[Any] = {list, tuple, set, frozenset, dict, zip, enumerate, map, filter, sorted, min, max, any, all, iter,
                       collections.deque, collections.OrderedDict} | {
    one for one in KEEPS if getattr(one, "__module__", None) == "itertools"} | {itertools.chain.from_iterable}
ITERATING -= {itertools.repeat, itertools.count}
"""Callees that iterate over their arguments, or call an argument for each item."""

ITERATING_METHODS = frozenset(("extend", "extendleft", "update", "union", "intersection", "difference", "join", "sort",
                               "fromkeys", "__init__"))
"""Methods of containers that iterate over their arguments, or call a key function."""

CONTAINERS: Tuple[type, ...] = (
    list, dict, set, frozenset, tuple, str, bytes, collections.deque, type({}.keys()), type({}.values()),
    type({}.items()), collections.OrderedDict, collections.defaultdict, type(iter([])), range)


def keeps_identities(function: Any) -> bool:
    """Whether a callee is a method of a container or an iterator, an exception class, or a text writer."""
    if issubclass(type(function), type):
        return issubclass(function, BaseException)
    if issubclass(type(function), (operator.itemgetter, operator.attrgetter)):
        return True
    self = getattr(function, "__self__", None)
    if issubclass(type(function), (BuiltinFunctionType, MethodWrapperType)) and self is not None:
        return issubclass(type(self), CONTAINERS) or function.__name__ in (
            "write", "writelines", "__next__", "__iter__", "append", "send", "throw", "close")
    owner = getattr(function, "__objclass__", None)
    if owner is not None and not issubclass(type(function), WrapperDescriptorType):
        return owner in CONTAINERS
    return owner in CONTAINERS + (object,) or function in (np.random.seed,)
