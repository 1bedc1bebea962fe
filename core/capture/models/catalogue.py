"""All modules that register models. Who imports this module finds the registry filled."""

from __future__ import annotations

from pijit.core.capture.models.containers import characters, counters, deques, heaps, popitem, sorting, strings, updates  # noqa: F401
from pijit.core.capture.models.functions import higher_order, partials  # noqa: F401
from pijit.core.capture.models.iteration import (  # noqa: F401
    compensated_sums,
    consumers,
    index_iterators,
    iterator_calls,
    itertools_calls,
)
from pijit.core.capture.models.numpy import arrays, library, reductions, scans, views  # noqa: F401
from pijit.core.capture.models.objects import introspection, method_binding, named_tuples  # noqa: F401
from pijit.core.capture.models.registry import models
from pijit.core.capture.models.scalars import complex, math, number_calls  # noqa: F401
from pijit.core.capture.models.stdlib import environment  # noqa: F401
from pijit.core.capture.models.stdlib.known_managers import MANAGER_CALLS
from pijit.core.capture.profile.hints import HINT_CALLS

for _rows in (HINT_CALLS, MANAGER_CALLS,
              ):
    for _target, _handler in _rows:
        models(_target)(_handler)
