"""Three bodies that attract each other, as objects with attributes.

Run it with `python examples/planets.py`. NumPy has nothing to do here: the program is loops over objects. pijit reads
and writes their attributes in machine code.
"""

import math
import time

import pijit


class Body:
    """A body in a plane: its mass, place and velocity, and the places where it was."""

    def __init__(self, mass, x, y, u, v):
        self.mass, self.x, self.y, self.u, self.v = mass, x, y, u, v
        self.path = []


def advance(bodies, dt, steps, every):
    """Simulate steps by the symplectic Euler method; note all places at each `every`-th step."""
    for step in range(steps):
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
            if step % every == 0:
                body.path.append((body.x, body.y))


def system():
    """A star, a planet, and a lighter planet on a longer orbit."""
    return [Body(1.0, 0.0, 0.0, 0.0, -0.0316), Body(0.03, 1.0, 0.0, 0.0, 1.0), Body(0.002, -1.9, 0.0, 0.0, -0.65)]


def main(steps=20000, dt=0.001):
    """Run the simulation with pijit, then without, and compare both."""
    fast = pijit.jit(advance)
    for _ in range(2):
        fast(system(), dt, 100, 50)
    found, expected = system(), system()
    begin = time.perf_counter()
    fast(found, dt, steps, 50)
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    advance(expected, dt, steps, 50)
    without = time.perf_counter() - begin
    print("same places: %s" % all(one.path == other.path for one, other in zip(found, expected)))
    print("without pijit %.3f s, with pijit %.3f s: %.1f times as fast" % (without, seconds, without / seconds))


if __name__ == "__main__":
    main()
