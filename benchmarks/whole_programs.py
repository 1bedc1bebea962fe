"""``python -m benchmarks.whole_programs``: programs of about a second, plain and by ``python -m pijit``.

Each program runs plain, with an empty folder of kernels, and with the kernels of that run. Times are processor seconds
of the whole process; the best run counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from typing import Dict, List, NamedTuple

PROGRAMS: Dict[str, str] = {}

PROGRAMS["many small functions"] = '''
import sys
import textwrap

source = "\\n".join(textwrap.dedent("""
    def step_{n}(x, table):
        y = x * {n}.0 + 1.0
        for k in range(3):
            y = y * 0.5 + table[(k + {n}) % 10]
        if y > 1e6:
            y = y / 1e6
        return helper_{n}(y)

    def helper_{n}(y):
        return abs(y - {n}.5) + 0.25
""").format(n=n) for n in range(150))
names = {}
exec(compile(source, "<generated>", "exec"), names)

def run_all(rounds):
    table = [0.5 * k for k in range(10)]
    x = 1.0
    for _ in range(rounds):
        for n in range(150):
            x = names["step_%d" % n](x, table)
    return x

def once_a(): return sum(i * i for i in range(1000))
def once_b(values): return sorted(values)[len(values) // 2]
def once_c(text): return " ".join(reversed(text.split()))

print(once_a(), once_b([3, 1, 2]), once_c("a b c"))
print(round(run_all(SCALE * 35), 6))
'''

PROGRAMS["numeric loops"] = '''
def sieve(n):
    flags = [True] * (n + 1)
    flags[0] = flags[1] = False
    i = 2
    while i * i <= n:
        if flags[i]:
            for k in range(i * i, n + 1, i):
                flags[k] = False
        i += 1
    return sum(flags)

def collatz(limit):
    best, longest = 0, 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        if steps > longest:
            best, longest = start, steps
    return best, longest

def integrate(n):
    total, h = 0.0, 1.0 / n
    for k in range(n):
        x = (k + 0.5) * h
        total += 4.0 / (1.0 + x * x)
    return total * h

print(sieve(SCALE * 12000), collatz(SCALE * 300), round(integrate(SCALE * 30000), 9))
'''

PROGRAMS["objects and dicts"] = '''
class Account:
    def __init__(self, name, balance):
        self.name, self.balance, self.log = name, balance, []

    def deposit(self, amount):
        self.balance += amount
        self.log.append(("in", amount))

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("not enough")
        self.balance -= amount
        self.log.append(("out", amount))

class Bank:
    def __init__(self):
        self.accounts = {}

    def account(self, name):
        if name not in self.accounts:
            self.accounts[name] = Account(name, 100.0)
        return self.accounts[name]

    def transfer(self, source, target, amount):
        try:
            self.account(source).withdraw(amount)
        except ValueError:
            return False
        self.account(target).deposit(amount)
        return True

def simulate(rounds):
    bank, done, seed = Bank(), 0, 1
    for k in range(rounds):
        seed = (seed * 1103515245 + 12345) % 2147483648
        done += bank.transfer("n%d" % (seed % 50), "n%d" % (seed // 50 % 50), seed % 17 + 0.5)
    return done, sum(account.balance for account in bank.accounts.values())

print(simulate(SCALE * 4000))
'''

PROGRAMS["recursion"] = '''
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def permutations(items):
    if len(items) <= 1:
        return [items]
    return [[items[k]] + rest for k in range(len(items)) for rest in permutations(items[:k] + items[k + 1:])]

def depth(tree):
    return 0 if tree is None else 1 + max(depth(tree[0]), depth(tree[1]))

def build(n):
    return None if n == 0 else (build(n - 1), build(n - 1))

for _ in range(SCALE // 2):
    print(fib(21), len(permutations(list(range(7)))), depth(build(12)))
'''

PROGRAMS["command line and json"] = '''
import argparse
import collections
import json
import re

def options(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=SCALE * 800)
    parser.add_argument("--top", type=int, default=5)
    return parser.parse_args(arguments)

def record(k):
    return {"id": k, "name": "item %d" % (k * 7919 % 1000), "tags": ["t%d" % (k % 7), "t%d" % (k % 11)],
            "price": k % 97 * 1.25}

def words(text):
    return re.findall(r"[a-z]+|[0-9]+", text)

def normalise(one):
    one = dict(one)
    one["price"] = round(one["price"] * 1.19, 2)
    one["key"] = "-".join(words(one["name"]))
    return one

def summary(records):
    totals = collections.defaultdict(float)
    for one in records:
        for tag in one["tags"]:
            totals[tag] += one["price"]
    return dict(sorted(totals.items()))

def main():
    known = options([])
    text = json.dumps([record(k) for k in range(known.records)])
    records = [normalise(one) for one in json.loads(text)]
    totals = summary(records)
    for tag in sorted(totals, key=totals.get)[-known.top:]:
        print(tag, round(totals[tag], 2))

main()
'''

PROGRAMS["arrays"] = '''
import numpy as np

def heat(n, steps):
    u = np.zeros((n, n))
    u[n // 2, n // 2] = 1000.0
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    return float(u.sum())

def walk(n):
    rng = np.random.RandomState(0)
    position, far = 0.0, 0.0
    for step in rng.standard_normal(n):
        position = 0.99 * position + step
        far = max(far, abs(position))
    return far

print(round(heat(200, SCALE * 8), 6), round(walk(SCALE * 2500), 6))
'''


class Times(NamedTuple):
    """Seconds of one program: plain, without kernels on disk, and with the kernels of the run before."""

    plain: float
    cold: float
    warm: float


def seconds(command: List[str], environment: Dict[str, str]) -> float:
    """The processor seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(source: str, scale: int, runs: int) -> Times:
    """Run one program in all three ways."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    plain: List[float] = []
    cold: List[float] = []
    warm: List[float] = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            script, kernels = os.path.join(folder, "program.py"), os.path.join(folder, "kernels")
            with open(script, "w", encoding="utf-8") as stream:
                stream.write(source.replace("SCALE", str(scale)))
            path = os.pathsep.join([root] + os.environ.get("PYTHONPATH", "").split(os.pathsep))
            environment = dict(os.environ, PIJIT_CACHE_DIR=kernels, PYTHONPATH=path)
            plain.append(seconds([sys.executable, script], environment))
            cold.append(seconds([sys.executable, "-m", "pijit", script], environment))
            warm.append(seconds([sys.executable, "-m", "pijit", script], environment))
    return Times(min(plain), min(cold), min(warm))


def main() -> None:
    """Print a row per program."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.whole_programs")
    parser.add_argument("--scale", type=int, default=100, help="100: about a second each")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the name of a program")
    known = parser.parse_args()
    print("{:24} {:>7} {:>7} {:>7} {:>6} {:>6}".format("program", "plain", "cold", "warm", "cold/p", "warm/p"))
    for name, source in PROGRAMS.items():
        if known.only in name:
            times = measure(source, known.scale, known.runs)
            print("{:24} {:7.2f} {:7.2f} {:7.2f} {:6.2f} {:6.2f}".format(
                name, *times, times.cold / times.plain, times.warm / times.plain), flush=True)


if __name__ == "__main__":
    main()
