"""Types of jitted functions, for type checkers and editors. Nothing exists of them at run time.

`jit` returns a `JittedFunction`, which keeps the parameters and the result of the function. `pijit.function.Jitted` is
its class at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import functools
    from typing import Any, Callable, Generic, List, Optional, Protocol, Type, TypeVar, Union, overload

    from typing_extensions import Concatenate, ParamSpec

    from pijit.function import CacheInfo
    from pijit.options import Options
    from pijit.reporting.report import Report

    P = ParamSpec("P")
    Q = ParamSpec("Q")
    R = TypeVar("R", covariant=True)
    S = TypeVar("S")
    T = TypeVar("T")
    Descriptor = TypeVar("Descriptor", bound=Union["staticmethod[Any, Any]", "classmethod[Any, Any, Any]"])

    class JittedFunction(Generic[P, R]):
        """A jitted function with the parameters ``P`` and the result ``R`` of the function."""

        __name__: str
        __qualname__: str

        @property
        def __wrapped__(self) -> Callable[P, R]:
            """The function itself."""

        @property
        def py_func(self) -> Callable[P, R]:
            """The function itself."""

        @property
        def config(self) -> Options:
            """The options."""

        @property
        def graphs(self) -> List[Any]:
            """The reports of the segments that became kernels, over all entries, oldest first."""

        def cache_info(self) -> CacheInfo:
            """Hits and misses of the entry cache, the limit, and the number of entries."""

        def cache_clear(self) -> None:
            """Forget every entry; the next call captures again."""

        def explain(self, *args: Any, **kwargs: Any) -> Report:
            """The same as `pijit.explain(f, *args, **kwargs)`."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Call the function."""

        @overload
        def __get__(self, instance: None, owner: Any = ...) -> JittedFunction[P, R]: ...

        @overload
        def __get__(self: JittedFunction[Concatenate[S, Q], T], instance: S,
                    owner: Optional[Type[Any]] = ...) -> JittedFunction[Q, T]: ...

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """Bind a method."""

    class JitDecorator(Protocol):
        """What `jit` with options returns: it takes a function, a method, a class or a partial object."""

        @overload
        def __call__(self, fn: Type[T]) -> Type[T]: ...  # type: ignore[overload-overlap]

        @overload
        def __call__(self, fn: Descriptor) -> Descriptor: ...  # type: ignore[overload-overlap]

        @overload
        def __call__(self, fn: functools.partial[T]) -> functools.partial[T]: ...  # type: ignore[overload-overlap]

        @overload
        def __call__(self, fn: Callable[P, T]) -> JittedFunction[P, T]: ...
