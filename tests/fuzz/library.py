"""What generated programs may call or hold: source by name, and what each name needs."""

from __future__ import annotations

from typing import Dict

IMPORTS: Dict[str, str] = {
    "np": "import numpy as np", "math": "import math", "numbers": "import numbers", "operator": "import operator",
    "warnings": "import warnings",
    "wraps": "from functools import wraps",
    "partial": "from functools import partial", "deque": "from collections import deque",
    "namedtuple": "from collections import namedtuple",
    "heappush": "from heapq import heappush", "heappop": "from heapq import heappop",
}

GLOBALS: Dict[str, str] = {
    "GAIN": "GAIN = 0.5", "TABLE": "TABLE = np.arange(16.0)", "STATE": "STATE = {'total': 0}", "LOG": "LOG = []",
}

BOX = '''\
class Box:
    seen = 0

    def __init__(self, w, gain):
        self.w, self.gain, self.items, self.label = w, gain, [gain], None

    def scale(self, v):
        return v * self.gain

    def mixed(self, a, b=2.0):
        return self.scale(a) + b

    def bump(self, k):
        self.gain = self.gain + k
        self.items.append(k)
        return self.gain

    @staticmethod
    def half(v):
        return v * 0.5

    @property
    def total(self):
        return self.w.sum()

    def __call__(self, v):
        return self.scale(v) + self.w
'''

NOTE = '''\
class Note:
    def __init__(self, log, name, swallows=()):
        self.log, self.name, self.swallows = log, name, swallows

    def __enter__(self):
        self.log.append("enter " + self.name)
        return self.name

    def __exit__(self, kind, error, trace):
        self.log.append((self.name, kind and kind.__name__))
        return kind is not None and issubclass(kind, self.swallows)
'''

VEC = '''\
class Vec:
    __slots__ = ("a", "b")
    count = 2

    def __init__(self, a, b=1.0):
        self.a = a
        self.b = b

    def __add__(self, other):
        return type(self)(self.a + other, self.b)

    def __iadd__(self, other):
        self.a = self.a + other
        return self

    def __mul__(self, k):
        return Vec(self.a * k, self.b * k)

    def __getitem__(self, i):
        return (self.a, self.b)[i]

    def __setitem__(self, i, value):
        setattr(self, "ab"[i], value)

    def __delitem__(self, i):
        self.b = i

    def __len__(self):
        return 2

    def __iter__(self):
        yield self.a
        yield self.b

    def __contains__(self, value):
        return value is self.b

    def __eq__(self, other):
        return self is other

    def __bool__(self):
        return self.b is not None

    def __abs__(self):
        return abs(self.b)

    def __call__(self, k):
        return self.b * k

    def __enter__(self):
        self.b = self.b + 1
        return self

    def __exit__(self, kind, error, trace):
        self.b = self.b - 1
        return kind is ValueError

    @property
    def norm(self):
        return self.b * 2

    @norm.setter
    def norm(self, value):
        self.b = value

    def moved(self, by):
        return type(self)(self.a + by, self.b)
'''

DEEP = '''\
class Deep(Vec):
    def __init__(self, a, b=0.0):
        super().__init__(a, b)
        self.made = [b]

    def moved(self, by):
        self.made.append(len(self.made))
        return super().moved(by * 0.5)
'''

LOUD = '''\
def noted(function):
    @wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        return result + 1
    return call


@noted
def loud(v, k=2):
    return v * k
'''

DEFINITIONS: Dict[str, str] = {
    "loud": LOUD,
    "factory": "def factory(k):\n    def made(v, by=k):\n        return v * k + by\n    return made\n",
    "Vec|Deep": VEC + "\n\n" + DEEP,
    "Row": "Row = namedtuple('Row', 'a b')\n",
    "steps": "def steps(v, k):\n    yield k\n    for e in v[::k]:\n        yield e\n    yield from range(k)\n",
    "Box": BOX,
    "Note": NOTE,
    "down": "def down(v, k):\n    return v if k <= 0 else down(v * 0.5, k - 1)\n",
    "fact": "def fact(k):\n    return 1 if k <= 0 else k * fact(k - 1)\n",
    "both": "def both(h, v):\n    return h(v) + h(v, 1)\n",
    "spread": "def spread(*vs):\n    total = vs[0]\n    for v in vs[1:]:\n        total = total + v\n"
              "    return total\n",
    "poke": "def poke(v, i, k):\n    v[i] = k\n",
    "rising": "def rising(v, k):\n    n = 0\n    for e in v:\n        if e > k:\n            yield e * 2, n\n"
              "            k = e\n        n += 1\n    yield k, -1\n",
    "every": "def every(v, k):\n    i = len(v) - 1\n    while i >= 0:\n        got = yield v[i]\n"
             "        i -= abs(k) + 1\n",
    "note": "def note(k):\n    LOG.append(k)\n",
    "watch": "def watch(v, k):\n    v[0] = k\n    if k > 1:\n        print('large', k)\n    return v[-1] * k\n",
    "tell": "def tell(k, *more, **named):\n    if not -2 < k < 2:\n        LOG.append(k)\n"
            "        warnings.warn('%d, %s' % (len(more), sorted(named)), stacklevel=2)\n    return k\n",
    "two": "def two(v, k):\n    return v * k, v.sum()\n",
    "change": "def change(k):\n    global GAIN\n    GAIN = GAIN + k\n",
}

ARRAYS: Dict[str, str] = {
    "values": '''\
def values(size, dtype, palette):
    return np.array([palette[i % len(palette)] for i in range(size)], dtype)
''',
    "locked": '''\
def locked(array):
    array.flags.writeable = False
    return array
''',
    "misaligned": '''\
def misaligned(array):
    memory = np.zeros(array.nbytes + 1, np.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved
''',
}
