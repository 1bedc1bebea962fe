"""All modules that register models. Who imports this module finds the registry filled."""

from __future__ import annotations

from pijit.core.capture.models import predicted_exceptions
from pijit.core.capture.models.containers import (
    characters,
    counters,
    deques,
    heaps,
    popitem,
    slices,
    sorting,
    strings,
    updates,
)
from pijit.core.capture.models.functions import higher_order, partials, type_hints
from pijit.core.capture.models.iteration import (
    compensated_sums,
    consumers,
    index_iterators,
    iterator_calls,
    itertools_calls,
)
from pijit.core.capture.models.numpy import array_attributes, arrays, library, random, reductions, scans, views
from pijit.core.capture.models.objects import introspection, method_binding, named_tuples, substitutions
from pijit.core.capture.models.scalars import complex, math, number_calls
from pijit.core.capture.models.stdlib import environment, known_managers

MODULES = (
    array_attributes, arrays, library, random, reductions, scans, views,
    complex, math, number_calls,
    characters, updates, counters, deques, heaps, popitem, slices, sorting, strings,
    introspection, method_binding, named_tuples, substitutions,
    compensated_sums, consumers, index_iterators, iterator_calls, itertools_calls,
    higher_order, partials, type_hints,
    environment, known_managers,
    predicted_exceptions,
)
"""A module that registers models has to be here; a test compares the list with the files."""
