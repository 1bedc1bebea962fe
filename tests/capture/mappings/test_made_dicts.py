"""What is known of the keys and values of dicts that the function fills in native loops."""

import numpy as np

from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.random.RandomState(5).randint(0, 9, 60)
PYTHON = {"backend": "python"}


def best_of(x):
    counts = {}
    for v in x.tolist():
        counts[v] = counts.get(v, 0) + 1
    last = min(counts, key=lambda k: counts[k])
    return max(counts, key=counts.get), last, max(counts.items(), key=lambda kv: kv[1])


def in_order(x):
    counts = {}
    for v in x:
        k = int(v)
        counts[k] = counts.get(k, 0.0) + 0.5 * k
    s = 0.0
    for k in sorted(counts, key=counts.get):
        s = s * 0.5 + counts[k]
    for k, c in sorted(counts.items(), key=lambda kv: -kv[1]):
        s = s * 0.5 + k * c
    return s, sorted(counts.items()), sorted(counts.values(), reverse=True), list(counts), sum(counts.values())


def pairs(x):
    seen = {}
    for i in range(len(x) - 1):
        k = (int(x[i]), int(x[i + 1]))
        seen[k] = seen.get(k, 0) + 1
    t = 0
    for (a, b), count in seen.items():
        t = t * 3 % 1009 + a * b - count
    return t, max(seen, key=seen.get)


def by_row(x):
    """A dict in each round."""
    best = 0
    for row in x.reshape(10, 6).tolist():
        d = {}
        for i, v in enumerate(row):
            d.setdefault(v, i)
        best = best * 7 % 1013 + max(d, key=d.get)
    return best


def of_two_kinds(x):
    """What is read is not what was expected."""
    d = {}
    for i in range(len(x)):
        d[i] = i * 0.5
    d["last"] = 3
    s = 0.0
    for k, v in d.items():
        s += v
    return s, d


def started(x):
    """From entries that are known one by one, and by ``update``."""
    d = {1: 2.5, 2: 0.5}
    for v in x.tolist():
        d[v] = d.get(v, 0.0) + 1.0
    e = {"n": 1}
    d.update(e)
    made = {int(v): v * 0.5 for v in x}
    made[100] = 1.5
    t = 0.0
    for k, v in made.items():
        t = t * 0.5 + k * v
    return d, t, max(made, key=made.get)


def names(x):
    words = {}
    for v in x.tolist():
        words["w%d" % v] = words.get("w%d" % v, 0) + 1
    found = ""
    for word, count in words.items():
        if count > 4:
            found = word
    return found, sorted(words.items())[0], max(words, key=words.get)


def grows_while_it_is_read(x):
    d = {}
    for v in x.tolist():
        d[v] = v
    for k in d:
        if k == 3:
            d[1000] = 1
    return d


OTHERS = [(X[:7],), (X.astype(float),), (X[:0],), (X - 5,)]
CASES = [(best_of, (X,), OTHERS), (in_order, (X,), OTHERS), (pairs, (X,), OTHERS), (by_row, (X,), [(X % 3,)]),
         (names, (X,), OTHERS[:1]), (of_two_kinds, (X,), OTHERS), (started, (X,), OTHERS),
         (grows_while_it_is_read, (X,), OTHERS)]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(CASES[:4])


@fail_unless_captured()
def test_in_machine_code():
    check(best_of, X, others=OTHERS[:3])
    check(in_order, X, others=OTHERS[:3])
    check(pairs, X, others=OTHERS[:3])


def test_what_bytecode_makes():
    def f(make, x):
        d = make(x)
        s = 0.0
        for i in range(len(x)):
            s += x[i] * 0.5
        for k in sorted(d, key=d.get):
            s = s * 0.5 + k
        return s

    def make(x):
        return dict(zip(x.tolist(), range(len(x))))

    others = [(make, X[:5]), (lambda x: {}, X), (lambda x: {"a": 1}, X), (lambda x: {2: 2, 1: "b"}, X)]
    check(f, make, X, others=others, config=PYTHON)


def popped(x):
    d, last = {}, {}
    s = 0
    for v in x.tolist():
        s = s * 3 % 10007 + d.pop(v, -1)
        d[v % 4] = s
        last[v] = s
        last.pop(v + 1, None)
    return s, d, last


def popped_pairs(d, x):
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + d.pop((i % 3, i), 0.25)
        d.pop((i, i), None)
    return s, d


POPPED = [(popped, (X,), [(X[:5],), (X[:0],), (X.astype(float),)]),
          (popped_pairs, ({(k % 3, k): k * 0.5 for k in range(0, 60, 2)}, X),
           [({(1, 1): 3.0}, X), ({(1, 1): 3}, X), ({(1, 1): "a"}, X), ({(1, 1): [1]}, X), ({(2, 5): [1]}, X)])]
test_pop = same_answers(POPPED, PYTHON)
test_pop_breaks_nothing = nothing_breaks(POPPED)


@fail_unless_captured()
def test_pop_in_machine_code():
    for f, args, others in POPPED:
        check(f, *args, others=others)


def values_of_others(x, s, n):
    for j in range(min(n, 3)):
        for s in {i: e for i, e in enumerate(list((x * s) * s))}.values():
            x = x + 1.0
    return s, x


def test_entries_that_ways_expect_otherwise():
    for force in (None, "every"):
        check(values_of_others, X * 0.5, 0.5, 3, config=dict(PYTHON, force_breaks=force),
              others=[(X[None, :7] * 0.5, 0.5, 3), (X, 2, 2)])
