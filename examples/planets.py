"""Three bodies that attract each other, as objects with attributes.

Run it with `python examples/planets.py`. NumPy has nothing to do here: the program is loops over objects. pijit reads
and writes their attributes in machine code.
"""

import math
import time

import pijit


class Body:
    """A body in a plane: its mass, place and velocity."""

    def __init__(self, mass, x, y, u, v):
        self.mass, self.x, self.y, self.u, self.v = mass, x, y, u, v


def advance(bodies, dt, steps):
    """Simulate steps by the symplectic Euler method."""
    for _ in range(steps):
        for body in bodies:
            for other in bodies:
                if other is not body:
                    dx, dy = other.x - body.x, other.y - body.y
                    square = dx * dx + dy * dy
                    pull = dt * other.mass / (square * math.sqrt(square))
                    body.u += pull * dx
                    body.v += pull * dy
        for body in bodies:
            body.x += dt * body.u
            body.y += dt * body.v


def system():
    """A star, a planet, and a lighter planet on a longer orbit."""
    return [Body(1.0, 0.0, 0.0, 0.0, -0.0316), Body(0.03, 1.0, 0.0, 0.0, 1.0), Body(0.002, -1.9, 0.0, 0.0, -0.65)]


def orbits(function, rounds, steps=100, dt=0.001):
    """The places of all bodies at the start and after each round of steps."""
    bodies = system()
    places = [[(body.x, body.y) for body in bodies]]
    for _ in range(rounds):
        function(bodies, dt, steps)
        places.append([(body.x, body.y) for body in bodies])
    return places


def main(rounds=200):
    """Run the simulation with pijit, then without, and compare both."""
    fast = pijit.jit(advance)
    orbits(fast, 2)
    begin = time.perf_counter()
    found = orbits(fast, rounds)
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    expected = orbits(advance, rounds)
    without = time.perf_counter() - begin
    print("same places: %s" % (found == expected))
    print("without pijit %.3f s, with pijit %.3f s: %.1f times as fast" % (without, seconds, without / seconds))


if __name__ == "__main__":
    main()
