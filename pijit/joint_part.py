"""The functions of a joint function, as `gradient_kernels` calls them: kernels, or jitted functions."""

from __future__ import annotations

import builtins
import linecache
import types
from typing import Any, Dict, Tuple

from pijit.core import _hook


class JointPart:
    """One of the functions of a joint function: a kernel function, or a jitted one.

    The first call makes a kernel function, if that is possible. The function is jitted once it is called with arguments
    of other types, because jitted functions have several kernels.

    Args:
        name, source, objects: the function, and the objects that its source names.
        has_host_calls: it makes host calls, so that it is jitted.
        ignored_flags: the floating-point flags that it runs without.

    Attributes:
        usual: what the next calls run; None before the first one.
    """

    def __init__(self, name: str, source: str, objects: Dict[str, Any], has_host_calls: bool,
                 ignored_flags: int = 0) -> None:
        self._function = _function_of(name, source, objects)
        self._has_host_calls, self._ignored_flags = has_host_calls, ignored_flags
        self.usual: Any = None

    def __call__(self, *args: Any) -> Any:
        from pijit.core.kernel.kernel_function import OtherArguments

        if self.usual is None:
            self.usual = (None if self._has_host_calls else self._kernel(args)) or self._jitted()
        try:
            return self.usual(*args)
        except OtherArguments:
            self.give_kernel_up()
        return self.usual(*args)

    def give_kernel_up(self) -> None:
        """Let the next calls run the jitted function."""
        self.usual = self._jitted()

    def _jitted(self) -> Any:
        from pijit.decorator import jit

        jitted: Any = jit(self._function)
        jitted.state.ignored_flags, jitted.state.constant_globals = self._ignored_flags, True
        return jitted

    def _kernel(self, args: Tuple[Any, ...]) -> Any:
        from pijit.core.asynchronous_exceptions import signals_deferred
        from pijit.core.kernel.kernel_function import kernel_function
        from pijit.core.kernel.options import flavour_of
        from pijit.core.preview import whole_graph

        state, namespace = self._jitted().state, (self._function.__globals__, vars(builtins))
        unset = [_hook.UNBOUND] * (len(self._function.__code__.co_varnames) - len(args))
        with signals_deferred():
            whole = whole_graph(state, (list(args) + unset,) + namespace, abandons=True)
            if isinstance(whole, str):
                return None
            whole.graph.name = self._function.__name__
            return kernel_function(whole.graph, whole.program, whole.returning, namespace, state.config.backend,
                                   state.config.cache, flavour_of(state.config))


def _function_of(name: str, source: str, objects: Dict[str, Any]) -> types.FunctionType:
    """A part of a joint function as a Python function; tracebacks and dumps find its source."""
    filename = "<pijit gradient {}>".format(name)
    namespace: Dict[str, Any] = dict(objects)
    exec(compile(source, filename, "exec"), namespace)
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    function: types.FunctionType = namespace[name]
    return function
