"""Two chemicals that react and spread (the Gray-Scott model): spots grow and divide.

Run it with `python examples/reaction.py`. Each step is a few array expressions with stores in place. pijit makes one
loop of each expression, and prints at the same steps as the plain program.
"""

import time

import numpy as np

import pijit


def around(field):
    """The sum of the four neighbours, less four times the field itself; without the border."""
    return field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:] - 4.0 * field[1:-1, 1:-1]


def seal(field):
    """Let nothing flow through the border: its values are those of the next row or column."""
    field[0], field[-1] = field[1], field[-2]
    field[:, 0], field[:, -1] = field[:, 1], field[:, -2]


def react(food, feeder, steps, every=500):
    """Simulate steps; both concentrations are written in place."""
    for step in range(steps):
        u, v = food[1:-1, 1:-1], feeder[1:-1, 1:-1]
        reaction = u * v * v
        change = 0.16 * around(food) - reaction + 0.035 * (1.0 - u)
        v += 0.08 * around(feeder) + reaction - 0.1 * v
        u += change
        seal(food)
        seal(feeder)
        if step % every == 0:
            print("step %d: %.4f of the food is left" % (step, food.mean()))


def dish(size=96):
    """Food in all of the dish, and a few squares of the feeder."""
    food, feeder = np.ones((size, size)), np.zeros((size, size))
    for row, column in ((20, 24), (30, 66), (62, 40), (72, 76)):
        food[row:row + 8, column:column + 8] = 0.5
        feeder[row:row + 8, column:column + 8] = 0.25
    return food, feeder


def main(steps=2000):
    """Run the simulation with pijit, then without, and compare both."""
    fast = pijit.jit(react)
    fast(*dish(), steps=2)
    print("with pijit:")
    found = dish()
    begin = time.perf_counter()
    fast(*found, steps=steps)
    seconds = time.perf_counter() - begin
    print("without pijit:")
    expected = dish()
    begin = time.perf_counter()
    react(*expected, steps=steps)
    without = time.perf_counter() - begin
    print("same bits: %s" % all(one.tobytes() == other.tobytes() for one, other in zip(found, expected)))
    print("without pijit %.3f s, with pijit %.3f s: %.1f times as fast" % (without, seconds, without / seconds))


if __name__ == "__main__":
    main()
