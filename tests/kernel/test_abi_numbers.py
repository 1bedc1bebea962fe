"""Numbers and codes that C and Python share: the packages that do not import C agree with the launcher's tables."""

import pytest

from pijit.core._launcher import ABI_NUMBERS, INPUT_CODES, OUTPUT_CODES
from pijit.core.graph import draws, ops
from pijit.core.graph.types import ITERATOR_WORDS
from pijit.core.kernel import abi

DRAW_PREFIXES = {draws.NEW: "NEW", draws.LEGACY: "LEGACY", draws.PYTHONS: "PYTHON"}


def test_draws():
    for row in draws.DRAWS:
        assert ABI_NUMBERS["%s_%s" % (DRAW_PREFIXES[row.owner], row.method.upper())] == row.number
    assert len({name for name in ABI_NUMBERS if name.startswith(tuple(DRAW_PREFIXES.values()))}) == len(draws.DRAWS)


@pytest.mark.parametrize("name", ["NEVER", "ALWAYS", "UNKNOWN", "LEAVES"])
def test_elision(name):
    assert ABI_NUMBERS["INTO_" + name] == getattr(ops, name)
    assert ABI_NUMBERS["ELIDED_BYTES"] == ops.ELIDED_BYTES


@pytest.mark.parametrize("kind", sorted(abi.ITERATOR_CODES))
def test_iterator_codes(kind):
    """An iterator of a range has no parts; the outputs of the others read the words that tell their position."""
    code = abi.ITERATOR_CODES[kind]
    assert INPUT_CODES[code][0] == (1 if kind == "range" else 2)
    assert OUTPUT_CODES[code][1] == len(ITERATOR_WORDS[kind])


def test_output_codes():
    assert abi.MADE_OF_PARTS | set(abi.INSTANCES) <= set(OUTPUT_CODES)
