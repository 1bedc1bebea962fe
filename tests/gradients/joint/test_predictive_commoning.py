"""Terms of a nest that differ by a shift: they are found, and computed once."""

import numpy as np
import pytest

from pijit.core.kernel.llvm.codegen import has_feature
from pijit.core.kernel.llvm.nest import shifted_loads
from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import Gradient

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")


def test_terms_at_a_distance_are_found(monkeypatch):
    """The backward nest has a term for each element and for its neighbour."""
    if not has_feature("avx512f"):
        pytest.skip("vectors are shifted with AVX-512 alone")
    found, find_terms = [], shifted_loads.find_terms

    def find(*args):
        found.append(find_terms(*args))
        return found[-1]

    def f(u, steps):
        u = u.copy()
        for _ in range(steps):
            u[1:] = u[1:] - 0.1220703125 * u[1:] * (u[1:] - u[:-1])
        return (u * u).sum()

    monkeypatch.setattr(shifted_loads, "find_terms", find)
    x = np.linspace(0.1, 1.0, 200)
    gradient = Gradient(f, 0).warm(x, 5)
    assert gradient.compare(x, 9), gradient.why
    assert any(distance == 1 for terms in found for _, distance in terms.taken.values())
