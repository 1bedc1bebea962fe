"""The `jit_config` keys: one table that validates them, holds their defaults and generates docs/options.md.

The compiler reads an `Options` object. It is immutable and has one attribute per row of `OPTIONS`. Its callback
`on_capture` shows a capture to the user (see `pijit.reporting.printing`).
"""

from __future__ import annotations

import types
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Set, Tuple

from pijit.core.named_tuples import NamedTuple
from pijit.names import nearest


def _same(value: Any) -> Any:
    return value


class Accepts(NamedTuple):
    """Accepted values of a key: their description, tests of type and value, and the conversion for storage."""

    words: str
    right_type: Callable[[Any], bool]
    right_value: Callable[[Any], bool]
    kept_as: Callable[[Any], Any] = _same


def _always(value: Any) -> bool:
    return True


def _one_of(*values: Any) -> Accepts:
    """Accept exactly these values; another value is a ValueError if its type is right, otherwise a TypeError."""
    kinds = {type(value) for value in values}
    return Accepts(" or ".join(repr(value) for value in values), lambda value: type(value) in kinds,
                   lambda value: any(type(value) is type(known) and value == known for known in values))


def _integer(minimum: int) -> Accepts:
    return Accepts("an int >= {}".format(minimum), lambda value: type(value) is int,
                   lambda value: value >= minimum)


def _are_modules(value: Any) -> bool:
    names = (str, types.ModuleType)
    return value is None or (isinstance(value, (list, tuple, set, frozenset))
                             and all(isinstance(item, names) for item in value))


def _module_names(value: Any) -> Optional[Tuple[str, ...]]:
    if value is None:
        return None
    return tuple(sorted(item if isinstance(item, str) else item.__name__ for item in value))


_ANYTHING = Accepts("anything", _always, _always)
_SWITCH = _one_of(True, False)
_SWITCH_OR_NONE = _one_of(None, True, False)
_SWITCH_OR_AUTO = _one_of("auto", True, False)
_MODULES = Accepts("None or a list of modules or module names", _are_modules, _always, _module_names)


def _are_names(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset)) and all(isinstance(item, str) for item in value)


def _sorted(value: Any) -> Tuple[str, ...]:
    return tuple(sorted(value))


_NAMES = Accepts("a list of names", _are_names, _always, _sorted)


class Option(NamedTuple):
    """A row: a `jit_config` key, its default, accepted values, description, and whether it has an effect."""

    name: str
    default: Any
    accepts: Accepts
    sentence: str
    works: bool = True


_ROWS = (
    Option("print_after_all", False, _SWITCH,
           "Print, per capture: bytecode, blocks, graph, use and definition, segments and breaks, graph "
           "passes, kernel plan, kernel source, linked bytecode, guards, times."),
    Option("print_bytecode", False, _SWITCH, "Print the bytecode before capture and after linking."),
    Option("print_cfg", False, _SWITCH, "Print the basic blocks."),
    Option("print_graph", False, _SWITCH, "Print the captured graphs and how the function was split."),
    Option("print_guards", False, _SWITCH, "Print the guards."),
    Option("print_source", False, _SWITCH, "Print the source that becomes machine code."),
    Option("log_graph_break", False, _SWITCH,
           "Log a line per break, with its reason and the line of your function."),
    Option("log_recompile", False, _SWITCH,
           "Log a line per recompile: the guard that failed, what it expected and found, and the line that relies "
           "on it."),
    Option("loop_unrolling", True, _SWITCH, "Capture each iteration of short loops over tuples and lists by itself."),
    Option("max_loop_unrolling", 16, _integer(0), "The number of iterations up to which such a loop is unrolled."),
    Option("max_inline_depth", 8, _integer(0),
           "How deep calls of Python functions are inlined; 0: not at all. Functions of `pijit.ms` do not count, up to "
           "three times the depth."),
    Option("allowed_inline_modules", None, _MODULES,
           "Inline only functions of these modules and their submodules; None: all but NumPy's and other compiled "
           "libraries'."),
    Option("enable_dynamic_shape", None, _SWITCH_OR_NONE,
           "None and True: lengths are symbols from the first call on, so calls in other shapes share its entry; "
           "False: an entry per shape of each array that the function relies on."),
    Option("specialize_scalar", None, _SWITCH_OR_NONE,
           "None: scalars are guarded by type; by value only where the value steers the capture, until a second "
           "value comes. True: always by value. False: never."),
    Option("cache_limit", 8, _integer(1),
           "The number of entries a function may have; at the limit they keep serving."),
    Option("fullgraph", False, _SWITCH, "Make a break an error that shows the line of your function."),
    Option("jit_syntax_level", None, _one_of(None, "STRICT", "LAX"),
           "Under the mode \"PSJit\" or in GRAPH_MODE, what is not one graph is an error (\"STRICT\") or falls back "
           "to Python (\"LAX\"); None: as `set_context` says, which starts with \"LAX\"."),
    Option("backend", "numba", _one_of("numba", "python"),
           'What runs captured segments: machine code, or ("python") the segment as a Python function, '
           'for finding faults.'),
    Option("interpret", (), _NAMES,
           "Kernels, by the names that dumps show (`f_3`), in whose place bytecode runs: to find the one that gives "
           "a wrong answer."),
    Option("check", False, _SWITCH,
           "Run every call also without pijit, on copies, and raise if anything differs. Linked code is verified by "
           "the library `bytecode` before it runs."),
    Option("fastmath", False, _SWITCH,
           "Rearrange floating-point arithmetic: results may differ from NumPy's in the last bits, and nothing is "
           "said of overflow, division by zero and invalid values."),
    Option("parallel", "auto", _SWITCH_OR_AUTO,
           "Share loops over arrays among threads; \"auto\": where they are large."),
    Option("nogil", False, _SWITCH,
           "Release the GIL while kernels run that read and change no Python objects but arrays; no other thread may "
           "write these meanwhile."),
    Option("cache", True, _SWITCH, "Keep kernels on disk, for later processes; see PIJIT_CACHE_DIR."),
    Option("perf_statistics", "auto", _SWITCH_OR_AUTO,
           "Measure compiled code against bytecode in some of the first calls and keep the faster. \"auto\": only if "
           "a call takes less than 1 ms; 50 ms if loops touch objects in each iteration; 200 ms without compiled "
           "loops; or if kernels are a small part of it. Loops with breaks are measured while a long call runs."),
    Option("auto_mixed_precision", None, _one_of(None, "float32"),
           "\"float32\": compute functions such as `exp` and products of matrices of float64 arrays in float32, where "
           "that saves more than the conversions cost. Results stay float64, with errors of float32."),
    Option("force_breaks", None, _one_of(None, "every"),
           "For tests: break at each instruction where a break is possible."),
)

_ARGUMENTS = (
    Option("mode", "PIJit", _one_of("PIJit", "PSJit"), "The argument of `jit`."),
    Option("input_signature", None, _ANYTHING, "The argument of `jit`, checked: a `pijit.signature.Signature`."),
    Option("hash_args", None, _ANYTHING, "The argument of `jit`, in a `pijit.hashed.HashArgs`."),
)
"""Arguments of `jit` as options: not `jit_config` keys, but stored and pickled with them."""

OPTIONS: Dict[str, Option] = {row.name: row for row in _ROWS}
ALL: Dict[str, Option] = {row.name: row for row in _ROWS + _ARGUMENTS}

_warned: Set[str] = set()


class Options:
    """The options of one jitted function; its attributes are the keys of `ALL`, and `on_capture`.

    Args:
        values: options that differ from their defaults, already validated.
        on_capture: called with the record of each capture, or None.

    Example:
        >>> parse({"cache_limit": 2}).cache_limit
        2
    """

    __slots__ = tuple(ALL) + ("on_capture",)

    if TYPE_CHECKING:  # the slots come from the table, which a type checker does not read
        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, values: Optional[Mapping[str, Any]] = None,
                 on_capture: Optional[Callable[[Any], None]] = None) -> None:
        for row in ALL.values():
            object.__setattr__(self, row.name, row.default)
        for name, value in (values or {}).items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "on_capture", on_capture)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("pijit options cannot be changed after the decoration; pass jit_config to jit")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def changed(self) -> Dict[str, Any]:
        """The values that differ from their defaults, by name."""
        values = {name: getattr(self, name) for name in ALL}
        return {name: value for name, value in values.items() if value != ALL[name].default}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self.changed() == other.changed()

    def __hash__(self) -> int:
        return hash(tuple(self.changed().items()))

    def __repr__(self) -> str:
        return "Options({!r})".format(self.changed())

    def __reduce__(self) -> Tuple[Any, ...]:
        return Options, (self.changed(),)


def parse(config: Optional[Mapping[str, Any]], stacklevel: int = 2,
          on_capture: Optional[Callable[[Any], None]] = None) -> Options:
    """Validate a `jit_config` dictionary.

    Args:
        config: the dictionary, or None for the defaults.
        stacklevel: the caller that warnings point at, as in `warnings.warn`. Unknown keys warn; a key without effect
            in this version warns once per process.
        on_capture: the value of the attribute `on_capture`.

    Returns:
        The options.

    Raises:
        TypeError: `config` is not a mapping, or a value has a type that its key does not accept.
        ValueError: a key does not accept the value.
    """
    if config is None:
        config = {}
    if isinstance(config, Options):
        config = config.changed()
    if not isinstance(config, Mapping):
        raise TypeError("jit_config must be a dict of options or None, not {}".format(type(config).__name__))
    known = {}
    for name, value in config.items():
        if name in OPTIONS:
            known[name] = _validated(OPTIONS[name], value)
            if not OPTIONS[name].works and known[name] != OPTIONS[name].default and name not in _warned:
                _warned.add(name)
                warnings.warn("{} has no effect in this version of pijit".format(name), UserWarning,
                              stacklevel=stacklevel)
        else:
            warnings.warn(_unknown(name), UserWarning, stacklevel=stacklevel)
    return Options(known, on_capture)


def _validated(row: Option, value: Any) -> Any:
    message = "jit_config[{!r}] must be {}, not {!r}".format(row.name, row.accepts.words, value)
    if not row.accepts.right_type(value):
        raise TypeError(message)
    if not row.accepts.right_value(value):
        raise ValueError(message)
    return row.accepts.kept_as(value)


def _unknown(name: Any) -> str:
    close = nearest(name, OPTIONS)
    return "unknown jit_config key {!r} is ignored; the closest known key is {!r}".format(name, close)


def page() -> str:
    """The page docs/options.md as Markdown."""
    lines = ["# Options", "",
             "Pass them as a dictionary: `@jit(jit_config={\"log_graph_break\": True})`. "
             "A wrong value raises,",
             "an unknown key warns and names the closest known one, a key that has no effect in this version",
             "warns. This page is generated: `python -m pijit options > docs/options.md`.",
             "", "| key | default | accepts | what it does | in this version |", "|---|---|---|---|---|"]
    lines += ["| `{}` | `{!r}` | {} | {} | {} |".format(
        row.name, row.default, row.accepts.words, row.sentence, "works" if row.works else "no effect")
              for row in OPTIONS.values()]
    return "\n".join(lines) + "\n"
