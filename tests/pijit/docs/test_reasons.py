"""The table of reasons: well formed, and its page up to date."""

import pathlib
import re

import pytest

from pijit.core import reasons

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_rows_are_unique_and_sorted():
    ids = [row.id for row in reasons._ROWS]
    assert ids == sorted(set(ids)) and len(ids) == len(reasons.REASONS)


@pytest.mark.parametrize("row", list(reasons.REASONS.values()), ids=lambda row: row.id)
def test_row_is_complete(row):
    assert re.match(r"PJ[123459]\d\d$", row.id)
    assert any(row.id.startswith(prefix) for prefix, _ in reasons.GROUPS)
    assert row.title and not row.title.endswith(".")
    assert row.why.endswith(".") and row.hint.endswith(".")


def test_reason_text():
    assert reasons.reason("PJ217") == "PJ217 forced break"
    assert reasons.reason("PJ203", operator="+", type="list") == (
        "PJ203 operand of a type that is not captured (operator: +, type: list)")
    with pytest.raises(KeyError):
        reasons.reason("PJ000")


def test_page_is_up_to_date():
    assert (ROOT / "docs" / "reasons.md").read_text() == reasons.page()


def test_ids_in_the_sources_exist():
    known = set(reasons.REASONS)
    for folder in ("core", "guards", "pijit"):
        for path in (ROOT / folder).rglob("*.py"):
            used = set(re.findall(r"[\"'](PJ\d\d\d)[\"']", path.read_text()))
            assert used <= known, path
