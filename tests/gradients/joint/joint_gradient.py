"""A gradient function and the same on the tape alone, whose bits are compared."""

import numpy as np

import pijit
from pijit.core import _hook
from pijit.gradient_kernels import WARM


def bits(found):
    """What must be the same: types, dtypes, shapes, strides and bytes; a NaN has any bits."""
    if isinstance(found, tuple):
        return tuple(map(bits, found))
    if isinstance(found, np.ndarray):
        strides = found.strides if found.size else ()
        return found.dtype, found.shape, strides, found.flags.writeable, without_payloads(found)
    return type(found), without_payloads(np.asarray(found))


def without_payloads(x):
    return np.where(np.isnan(x), np.array(np.nan, x.dtype), x).tobytes()


class Gradient:
    """`value_and_grad` of a function, and the same on the tape alone."""

    def __init__(self, f, argnums):
        self.f = pijit.value_and_grad(f, argnums)
        self.argnums = argnums

    def tape(self, *args):
        found = self.f._run(args, {})
        return found.value, found.gradients[0] if isinstance(self.argnums, int) else tuple(found.gradients)

    def warm(self, *args):
        for _ in range(WARM):
            self.f(*args)
        return self

    def compare(self, *args):
        """Compare both; returns whether the call used a kernel."""
        kept = [np.array(arg) for arg in args]
        with np.errstate(all="ignore"):
            wanted, got = self.tape(*args), self.f(*args)
        assert bits(got) == bits(wanted)
        assert [one.tobytes() for one in kept] == [np.asarray(arg).tobytes() for arg in args]
        return self.f._kernels.why == ""

    @property
    def why(self):
        return self.f._kernels.why


def is_kernel(part):
    """Whether a function of a joint function has run as one kernel; a large one may be jitted, with several."""
    if type(part.usual) is _hook.KernelFunction:
        return part.usual.launcher.calls > 0
    return any(segment.kind == "kernel" for segment in pijit.explain(part.usual).segments)
