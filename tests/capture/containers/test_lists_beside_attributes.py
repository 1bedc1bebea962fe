"""Stores of attributes leave what is known of lists and dicts that the function has made: forces beside bodies."""

import numpy as np

from tests.harness import nothing_breaks, same_answers

PYTHON = {"backend": "python"}


class Body:
    def __init__(self, x, v):
        self.x, self.v, self.trail = x, v, []

    def kick(self, force, dt):
        self.v += force * dt

    def drift(self, dt):
        self.x += self.v * dt
        self.trail.append(self.x)


class World:
    def __init__(self, count):
        self.bodies = [Body(1.0 + k, -0.5 * k) for k in range(count)]
        self.t = 0.0

    def forces(self):
        return [-body.x for body in self.bodies]

    def run(self, n, dt):
        for _ in range(n):
            for body, force in zip(self.bodies, self.forces()):
                body.kick(force, dt)
            self.t += dt
        return self.t


def by_methods(world, n):
    return world.run(n, 0.1), world


def written_out(bodies, n):
    for _ in range(n):
        forces = [-body.x for body in bodies]
        for body, force in zip(bodies, forces):
            body.v += force
            body.x += body.v * 0.1
    return forces, bodies


def with_trails(world, n):
    for _ in range(n):
        for i, force in enumerate(world.forces()):
            world.bodies[i].kick(force, 0.1)
        for body in world.bodies:
            body.drift(0.1)
    return world


def replaced(body, n):
    """The attribute is the list that is known, and gets another."""
    values = [1.0, 2.0]
    body.trail = values
    total = 0.0
    for value in values:
        total += value
        body.trail = [5.0]
        values_now = body.trail
        if n > 1:
            values_now.append(value)
        total += len(values) + len(body.trail)
    return total, values, body


def appended_through(body, n):
    """The list is changed by way of the attribute that holds it."""
    values = [1.0, 2.0]
    body.trail = values
    total = 0.0
    for value in values:
        total += value
        body.x = total
        if len(values) < n:
            body.trail.append(value * 2.0)
    return total, values, body


def own_dict(body):
    """A dict that is made here becomes the one of an object, whose attributes are in it from then on."""
    names = {"x": 1.0, "v": 2.0}
    body.__dict__ = names
    total = 0.0
    for name in names:
        body.x = body.x + 3.0
        total += names[name] + names["x"]
    return total, names


def by_update(body):
    names = {"x": 1.0, "v": 2.0}
    body.__dict__.update(names)
    for value in names.values():
        body.x = body.x + value
    return names, body.x, body.v


def held(body, other):
    """What the list holds is what attributes had before they got something else."""
    values = [body.trail, other.trail]
    body.trail = [9.0]
    values[0].append(1.0)
    for k, value in enumerate(values):
        value.append(float(k))
        other.trail = values[0]
        body.x = len(values[1]) + len(other.trail)
    return values, body, other


def numbers_of(body, other):
    table = {"x": body.x, "v": other.x}
    pair = [body.x, body.v]
    for name in table:
        body.x = body.x + table[name]
        other.x = pair[0] * 2.0
    return table, pair, sum(pair), body, other


def in_a_branch(body, flag):
    values = [1.0, 2.0, 3.0]
    if flag:
        body.x = 5.0
    for value in values:
        body.v += value
    return values, body


CASES = [
    (held, (Body(1.0, 2.0), Body(3.0, 4.0)), []),
    (numbers_of, (Body(1.0, 2.0), Body(3.0, 4.0)), [(Body(np.ones(2), 1), Body(1, 2))]),
    (in_a_branch, (Body(1.0, 2.0), True), [(Body(1.0, 2.0), False), (Body(1, 2), True)]),
    (by_methods, (World(3), 4), [(World(1), 2), (World(0), 2), (World(20), 2)]),
    (written_out, ([Body(1.0, 2.0), Body(-1.0, 0.5)], 3), [([Body(np.ones(2), np.zeros(2))], 2), ([], 1)]),
    (with_trails, (World(3), 4), [(World(2), 0), (World(20), 2)]),
    (replaced, (Body(1.0, 2.0), 1), [(Body(1.0, 2.0), 3)]),
    (appended_through, (Body(1.0, 2.0), 1), [(Body(1.0, 2.0), 3), (Body(1.0, 2.0), 5)]),
    (own_dict, (Body(1.0, 2.0),), []),
    (by_update, (Body(1.0, 2.0),), []),
]

test_same_answers = same_answers(CASES, PYTHON)
STEPS = [case for case in CASES if case[0] in (by_methods, written_out, with_trails)]
test_in_machine_code = same_answers(STEPS)
test_nothing_breaks = nothing_breaks(STEPS)

SAME = Body(1.0, 2.0)
test_one_object = same_answers([(held, (SAME, SAME), [(Body(1.0, 2.0), Body(3.0, 4.0))]),
                                (numbers_of, (SAME, SAME), [(Body(1.0, 2.0), Body(3.0, 4.0))])], PYTHON)
