"""Things that are jitted where they are defined, for test_decorator.py."""

from pijit import jit


def plain(x, k=2.0):
    """Twice."""
    return x * k


@jit(jit_config={"cache_limit": 3})
def module_level(x):
    return x * 2.0


class Model:
    def __init__(self, w):
        self.w = w

    @jit
    def method(self, x):
        return x * self.w

    @staticmethod
    @jit
    def static(x):
        return x * 2.0

    @classmethod
    @jit
    def klass(cls, x):
        return cls.__name__, x * 2.0

    outer_static = jit(staticmethod(plain))
    outer_class = jit(classmethod(lambda cls, x: (cls.__name__, x * 2.0)))


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return x + self.w
