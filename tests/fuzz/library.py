"""What generated programs may call or hold: source by name, and what each name needs."""

from __future__ import annotations

from typing import Dict


IMPORTS: Dict[str, str] = {
    "np": "import numpy as np", "math": "import math", "numbers": "import numbers", "operator": "import operator",
    "warnings": "import warnings",
    "partial": "from functools import partial", "deque": "from collections import deque",
    "heappush": "from heapq import heappush", "heappop": "from heapq import heappop",
}

GLOBALS: Dict[str, str] = {
    "GAIN": "GAIN = 0.5", "TABLE": "TABLE = np.arange(16.0)", "STATE": "STATE = {'total': 0}", "LOG": "LOG = []",
}

BOX = '''\
class Box:
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

DEFINITIONS: Dict[str, str] = {
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
