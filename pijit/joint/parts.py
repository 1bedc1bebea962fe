"""The functions of a joint function, as `gradient_kernels` calls them: kernels, or jitted functions."""

from __future__ import annotations

import builtins
import dis
import linecache
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple

from pijit.core import _hook
from pijit.core.graph.reverse.errors import ANSWERS, OtherShapes
from pijit.joint import joint_cache
from pijit.joint.texts import KernelTexts, kernel_texts

if TYPE_CHECKING:
    from pijit.core.graph.reverse.joint import Joint


Show = Callable[[KernelTexts], None]

MOST_LINES = 150
"""The most lines of a function that is jitted. The tape runs longer ones, which would take minutes to compile."""


def _refuse(*args: Any) -> Optional[bool]:
    """Leaves all calls to the tape."""
    return ANSWERS[OtherShapes]


class JointPart:
    """One of the functions of a joint function: a kernel function, or a jitted one.

    The first call makes a kernel function, if that is possible. The function is jitted once it is called with arguments
    of other types, because jitted functions have several kernels.

    Args:
        make: makes the Python function.
        has_host_calls: it makes host calls, so that it is jitted.
        ignored_flags: the floating-point flags that it runs without.
        show: receives the texts of its kernel once that is made, see `KernelTexts`; None: nobody asks for them.

    Attributes:
        usual: what the next calls run; None before the first one.
        record: the record of the kernel function, or None.
        why: why the function is jitted; "" if it is a kernel function.
    """

    def __init__(self, make: Callable[[], types.FunctionType], has_host_calls: bool = False,
                 ignored_flags: int = 0, show: Optional[Show] = None) -> None:
        self._make, self._show = make, show
        self._has_host_calls, self._ignored_flags = has_host_calls, ignored_flags
        self.usual: Any = None
        self.record: Any = None
        self.why = "it calls functions that are not part of kernels" if has_host_calls else ""

    def __call__(self, *args: Any) -> Any:
        from pijit.core.kernel.kernel_function import OtherArguments

        if self.usual is None:
            kernel = None if self._has_host_calls else self._kernel(args)
            self.usual = kernel or self._otherwise()
        try:
            return self.usual(*args)
        except OtherArguments:
            self.give_kernel_up()
        return self.usual(*args)

    def restore(self, record: Any) -> None:
        """Use a kernel from disk, if all that it needs is here."""
        from pijit.core.kernel.kernel_function import restored_function

        self.usual = restored_function(record, ({}, vars(builtins)))

    def give_kernel_up(self) -> None:
        """Let the next calls run the jitted function."""
        self.usual, self.why = self._otherwise(), "it was called with arguments of several types"

    def _otherwise(self) -> Any:
        """What runs where no kernel does. Jitted functions are short: their side exits hand out all that is alive."""
        lines = sum(1 for _ in dis.findlinestarts(self._make().__code__))
        return self._jitted() if lines <= MOST_LINES else _refuse

    @property
    def uses_tape(self) -> bool:
        """Whether it leaves all calls to the tape, because it is no kernel and too long to be jitted."""
        return self.usual is _refuse

    def _jitted(self) -> Any:
        from pijit.decorator import jit

        jitted: Any = jit(self._make())
        jitted.state.ignored_flags, jitted.state.constant_globals = self._ignored_flags, True
        return jitted

    def _kernel(self, args: Tuple[Any, ...]) -> Any:
        from pijit.core.asynchronous_exceptions import signals_deferred
        from pijit.core.graph.passes import recorded
        from pijit.core.kernel.kernel_function import kernel_function
        from pijit.core.kernel.options import flavour_of
        from pijit.core.preview import whole_graph

        state = self._jitted().state
        function = state.py_func
        namespace, unset = (function.__globals__, vars(builtins)), len(function.__code__.co_varnames) - len(args)
        with signals_deferred(), recorded(self._show is not None) as stages:
            whole = whole_graph(state, (list(args) + [_hook.UNBOUND] * unset,) + namespace, abandons=True,
                                unrolling=state.config.max_loop_unrolling)
            if isinstance(whole, str):
                self.why = whole
                return None
            captured, whole.graph.name = whole.graph.name, function.__name__
            if self._show is not None:
                stages[function.__name__] = stages.pop(captured, [])
            made = kernel_function(whole.graph, whole.program, whole.returning, namespace, state.config.backend,
                                   state.config.cache, flavour_of(state.config))
        if made is None:
            self.why = "it is not one kernel"
            return None
        self.record = made.record
        if self._show is not None:
            self._show(kernel_texts(function.__name__, whole.graph, stages[function.__name__], made.kernel))
        return made.function


class JointParts:
    """The functions of a joint function, made or from disk.

    Attributes:
        forward, backward: the functions; the second may be None.
        source: their sources.
        has_host_calls: whether the first one makes host calls.
    """

    def __init__(self, key: str, stored: Optional[joint_cache.StoredJoint], make: Callable[[], Joint],
                 show: Optional[Show] = None) -> None:
        from pijit.core.graph.passes.fusion import EVERY_FLAG

        self._key, self._make, self._made = key, make, None if stored is not None else make()
        named: Any = stored if stored is not None else self._made
        self._is_kept = stored is not None or not key
        self.has_host_calls = self._made is not None and self._made.has_host_calls
        self.source: str = named.source + named.backward_source
        self.forward = JointPart(self._function, self.has_host_calls, show=show)
        self.backward: Optional[JointPart] = None
        if named.backward_source:
            self.backward = JointPart(self._backward_function, self.has_host_calls, EVERY_FLAG, show)

    @classmethod
    def of(cls, key: str, make: Callable[[], Joint], show: Optional[Show] = None) -> JointParts:
        """The functions under a key on disk, if they are there, else those that `make` makes; see `JointPart`.

        Functions from disk have no texts to show, so they are made if ``show`` asks for texts.
        """
        stored = joint_cache.load(key) if show is None else None
        if stored is None:
            return cls(key, None, make, show)
        parts = cls(key, stored, make)
        parts.forward.restore(stored.forward)
        if parts.backward is not None and stored.backward is not None:
            parts.backward.restore(stored.backward)
        return parts

    def _joint(self) -> Joint:
        """The joint function; it is made now if its kernels are from disk."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def _function(self) -> types.FunctionType:
        joint = self._joint()
        return function_of(joint.name, joint.source, joint.objects)

    def _backward_function(self) -> types.FunctionType:
        joint = self._joint()
        return function_of(joint.name + "_backward", joint.backward_source, joint.objects)

    def keep(self) -> None:
        """Put the functions on disk, if both are kernels that other processes can use; only the first call does."""
        if self._is_kept:
            return
        self._is_kept = True
        records = [part.record for part in (self.forward, self.backward) if part is not None]
        if None not in records:
            joint = self._joint()
            joint_cache.save(self._key, joint_cache.StoredJoint(joint.source, joint.backward_source, *records,
                                                                *[None] * (2 - len(records))))


def function_of(name: str, source: str, objects: Dict[str, Any]) -> types.FunctionType:
    """A part of a joint function as a Python function; tracebacks and dumps find its source."""
    filename = "<pijit gradient {}>".format(name)
    namespace: Dict[str, Any] = dict(objects)
    exec(compile(source, filename, "exec"), namespace)
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    function: types.FunctionType = namespace[name]
    return function
