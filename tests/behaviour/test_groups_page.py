"""The page docs/behaviours.md: each group of 1 to 86 has a row, and each row names a file with its tests."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROW = re.compile(r"^\| (\d+) \| (.+) \| (kernel|kernels around) \| `(tests/\S+\.py)` \|$", re.MULTILINE)


def text_of(path):
    with open(os.path.join(ROOT, *path.split("/")), encoding="utf-8") as file:
        return file.read()


def groups_in(text):
    """The groups that a test file has tests of."""
    numbers = re.findall(r"\bCase\((\d+),", text)
    for listed in re.findall(r"@group\(([\d, ]+)\)", text):
        numbers += listed.split(",")
    return {int(number) for number in numbers}


def test_every_group_has_a_row_and_tests():
    rows = ROW.findall(text_of("docs/behaviours.md"))
    assert [int(number) for number, _, _, _ in rows] == list(range(1, 87))
    for number, _, _, path in rows:
        assert int(number) in groups_in(text_of(path)), (number, path)
