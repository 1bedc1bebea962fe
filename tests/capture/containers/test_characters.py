"""Characters of strings and items of bytes: at computed positions, in loops, compared, looked for, made and stored."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, jitted, nothing_breaks, same, same_answers

PYTHON = {"backend": "python"}
TEXT = "the quick brown fox jumps over the lazy dog, and 12 others 3.5 times"
DNA = "ACGTTGCAAGCTCCGATN" * 3
X = np.array([0.5, 1.5])
WIDE = "na\u00efve \u20ac\u4e2d\u6587 \U0001f600 text"
BYTES = TEXT.encode()


class Text(str):
    """Has a subscript of its own."""

    def __getitem__(self, index):
        return "x"

    def __len__(self):
        return 3


def edit_distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    table[:, 0] = np.arange(len(a) + 1)
    table[0] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j - 1] + cost, table[i - 1, j] + 1, table[i, j - 1] + 1)
    return table[len(a), len(b)]


def longest_common(a, b):
    row = [0] * (len(b) + 1)
    for i in range(len(a)):
        before = 0
        for j in range(len(b)):
            kept = row[j + 1]
            row[j + 1] = before + 1 if a[i] == b[j] else max(row[j], row[j + 1])
            before = kept
    return row[-1]


def count_bases(s, counts):
    for i in range(len(s)):
        c = s[i]
        if c == "A":
            counts[0] += 1
        elif c == "C" or c == "G":
            counts[1] += 1
        elif c not in "ACGT":
            counts[2] += 1
    return counts


def letters(s):
    found, vowels = {}, 0
    for c in s:
        found[c] = found.get(c, 0) + 1
        if c in "aeiou":
            vowels += 1
    return found, vowels


def number_in(s):
    value, ups = 0, 0
    for k, c in enumerate(s):
        if "0" <= c <= "9":
            value = value * 10 + ord(c) - ord("0")
        ups += c.isupper() + (c < "m") * k
    return value, ups


def runs(s):
    found, before = [], ""
    for c in s:
        if c != before:
            found.append(c)
        before = c
    return found, before


def is_palindrome(s, low, high):
    while low < high:
        if s[low] != s[high]:
            return False
        low, high = low + 1, high - 1
    return True


def rotated(s, by):
    out = []
    for c in s:
        out.append(chr((ord(c) - 97 + by) % 26 + 97))
    return "".join(out)


def hashed(s):
    h = 5381
    for c in s:
        h = (h * 33 + ord(c)) % 4294967296
    return h, len(s)


def words_of(s, k):
    found = {}
    for i in range(len(s) - k + 1):
        word = s[i:i + k]
        found[word] = found.get(word, 0) + (word == word[::-1])
    return found


def alike(a, b):
    same = 0
    for c, d in zip(a, b):
        if c == d:
            same += 1
    return same


def member(words, target, k):
    hits = 0
    for word in words:
        if target in word and word[k] == target[0]:
            hits += len(word)
    return hits


def at(s, k):
    return [s[i] for i in range(k)], ord(s[k]), s[-k]


def ordinals(s, k):
    total = 0
    for i in range(k):
        total += ord(s[i:i + 2])
    return total


def made(codes):
    text = ""
    for code in codes:
        text += chr(code)
    return text


def checksum(data, start):
    low = start
    for i in range(len(data)):
        low = (low + data[i] * (i + 1)) % 65521
    for byte in data:
        low ^= byte
    return low, data[start]


def stored(data, values, k):
    for i in range(len(values)):
        data[i * k] = values[i]
        data[-1] = data[i]
    return data


def grown(s, n):
    text, kept, half = "", [], s
    for c in s:
        before = text
        text += c
        if c == "o":
            kept.append(text)
        text = text + text if len(text) < n else text
        half = half + c + text[0]
    return text, kept, before, half


def grown_around_a_break(s, n):
    text = ""
    for k, c in enumerate(s):
        text += c
        if k < n:
            print(text)
    return text


def grown_by_raising(s, n):
    text = "a"
    for c in s:
        text += c
        n += len(text) // (n - ord(c))
        text += "-"
    return text, n


def parsed(s, x):
    value, k = 0.0, 0
    while k < len(s):
        if s[k].isdigit():
            value = value * 10 + int(s[k]) * x
        elif s[k] != " ":
            value += float(s[k:k + 3])
        k += 1
    return value


def complement(s, others):
    pairs = {"A": "T", "T": "A", "C": "G", "G": "C"}
    out = []
    for c in s:
        out.append(pairs[c])
        out.append(others[c])
    return "".join(out)


def by_mode(x, mode):
    if mode == "sum":
        return x.sum() * 2.0 + 1.0
    return x * 2.0 + 1.0


NUMBERS = np.array([65, 98, 99, 255])
CASES = [
    (edit_distance, ("kitten sitting", "sitting kitten"), [("", "abc"), (WIDE, WIDE[::-1]), ("a", "")]),
    (longest_common, (DNA, DNA[5:]), [("", ""), (WIDE, WIDE[3:]), (Text("abc"), "abc"), (list(DNA), DNA)]),
    (count_bases, (DNA, [0, 0, 0]), [("", [0, 0, 0]), (WIDE, [0, 0, 0]), (DNA, [0]), (Text("ACG"), [0, 0, 0]),
                                     (DNA.encode(), [0, 0, 0]), (None, [])]),
    (letters, (TEXT,), [("",), (WIDE,), (Text("abc"),), (list(TEXT),), (b"abc",)]),
    (number_in, (TEXT,), [("",), (WIDE + "7",), ("1" * 30,), (Text("12"),)]),
    (runs, ("aaabbc",), [("",), ("a",), (WIDE + "\u4e2d\u4e2d",)]),
    (is_palindrome, ("abcdcba", 0, 6), [("abcd", 0, 3), ("abcd", 0, 9), (WIDE, -2, 3), ("", 0, 1)]),
    (rotated, ("abcxyz", 3), [("", 1), (WIDE, 5), ("abc", 2.5), ("abc", "d")]),
    (hashed, (TEXT,), [("",), (WIDE,), (Text("abc"),), (["a", "bc"],)]),
    (words_of, (DNA, 3), [("AC", 3), (WIDE, 2), (DNA, 0), (DNA, -1)]),
    (alike, (DNA, DNA[2:]), [("", DNA), (WIDE, WIDE), (DNA, list(DNA))]),
    (member, (["abc", "bcd", "cab"] * 8, "bc", 1), [(["abc"] * 20 + ["b"], "bc", 1), (["abc"] * 20, "", 1),
                                                    (["bc\u20ac"] * 20, "\u20ac", 2)]),
    (at, (TEXT, 5), [("abc", 3), ("abc", 0), (WIDE, 9), ("", 0), (TEXT, True), (TEXT, 2 ** 70), (BYTES, 4)]),
    (ordinals, (TEXT, 0), [(TEXT, 3), ("a", 1), ("ab", 2)]),
    (made, (list(range(60, 90)),), [([300, 0x1f600],), ([-1],), ([0x110000],), ([2.5],), (NUMBERS,), ([],)]),
    (checksum, (BYTES, 1), [(b"", 0), (bytearray(BYTES), 2), (BYTES, 999), (BYTES, -3), (b"ab", 2),
                            (NUMBERS, 1)]),
    (stored, (bytearray(30), [1, 2, 255], 4), [(bytearray(30), [1, 256], 4), (bytearray(30), [1, -1], 1),
                                               (bytearray(3), [1, 2, 3], 4), (bytearray(3), [1, 2.5], 1),
                                               (bytearray(3), NUMBERS[:3], 1), (BYTES, [1, 2], 1)]),
    (parsed, ("12 34", 2.5), [("1 x", 2.5), ("", 1), ("\u0663 9", 2), ("7" * 30, 1), ("5-.5e", 1)]),
    (complement, ("ACGT" * 5, {"A": "ab", "C": "", "G": "\u20ac", "T": "d"}), [
        ("ACGN", {"A": "ab"}), ("AC", {"A": 1, "C": "b"}), ("", {}), ("A", {"A": X}), (Text("AC"), {"A": "a"})]),
    (grown, (TEXT, 40), [("", 3), ("o" * 9, 300), (WIDE * 2, 99), (Text("ab"), 3), (list("ob"), 9)]),
    (grown_around_a_break, (TEXT, 5), [("", 3), (WIDE, 99), (TEXT, 0)]),
    (grown_by_raising, ("bcd" * 9, 0), [("bcd", 98), ("", 98), (WIDE, 300)]),
    (by_mode, (np.arange(5.0), "sum"), [(np.arange(5.0), "other"), (np.arange(5.0), None)]),
]
IDS = [case[0].__name__ for case in CASES]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks([case for case in CASES if case[0] not in (
    longest_common, complement, grown, grown_around_a_break)])


@pytest.mark.parametrize("f, args, others", [CASES[IDS.index(name)] for name in (
    "edit_distance", "count_bases", "letters", "runs", "words_of", "checksum", "stored", "at", "made",
    "grown", "grown_by_raising", "parsed", "complement")])
def test_in_machine_code(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others[:4])


@pytest.mark.parametrize("f, lists", [
    (edit_distance, [("abc", "abd"), ("kitten", "sitting"), (WIDE, TEXT), ("", "a")]),
    (letters, [("abc",), ("def",), (WIDE,), ("",)]),
    (checksum, [(b"abc", 1), (b"defg", 1), (BYTES, 1)]),
    (member, [(["abc", "bcd"] * 10, target, 0) for target in ("b", "bc", "c")]),
], ids=["edit_distance", "letters", "checksum", "member"])
def test_other_strings_use_the_same_kernels(f, lists):
    with fail_unless_captured():
        j = jitted(f)
        for args in lists:
            same(f(*args), j(*args))
    assert len(j.state.entries) == 1 and len(j.state.recompiles) <= 1, list(j.state.recompiles)


@pytest.mark.skipif(CUT, reason="every instruction is a segment")
def test_a_string_that_is_only_compared_is_known_by_its_value():
    j = jitted(by_mode)
    x = np.arange(5.0)
    for mode in ("sum", "other", "sum"):
        same(by_mode(x, mode), j(x, mode))
    assert "== 'sum'" in str(pijit.explain(j, x, "sum")) and len(j.state.entries) == 2


def with_breaks(s, data, out):
    for k, c in enumerate(s):
        out[k % 4] += ord(c) * 2 + k
        if c in "aeiou":
            print(c, k)
        if k % 3 == 0:
            for byte in data:
                out[1] += byte
                if byte == 13:
                    print(byte)
    return out


def test_iterators_leave_and_come_back():
    data = bytes(range(20))
    with fail_unless_captured():
        j = check(with_breaks, TEXT, data, np.zeros(4), others=[("", data, np.zeros(4)), (WIDE, b"", np.zeros(4))])
    assert CUT or launches(j, TEXT, data, np.zeros(4)) > 5


def test_polls_move_the_iterators(leaves_often):
    check(with_breaks, TEXT, bytes(range(20)), np.zeros(4), config=PYTHON)
    check(letters, WIDE * 3, config=PYTHON)
    assert leaves_often


def identities(s, k):
    c, d = s[k], s[k]
    xs = [c, c, d]
    n = 0
    for e in s:
        n += ord(e)
    return c is d, xs[0] is xs[1], xs[0] is xs[2], n


@pytest.mark.parametrize("text", ["abc", "\u00ef\u00ef", "\u20ac\u20ac"])
def test_characters_are_the_objects_that_python_has(text):
    with fail_unless_captured():
        check(identities, text, 1)
