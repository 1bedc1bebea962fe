"""Draws docs/pictures/gallery_*.svg from the programs in examples/; docs/gallery.md shows them.

Run it with `python docs/scripts/gallery.py`. It needs no library for plots. `PICTURES` has a function for each picture.
"""

import contextlib
import io
import math
import pathlib
import runpy
import sys

import numpy as np

import pijit

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "pictures"

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from svg import Drawing  # noqa: E402


def example(name):
    """The functions of a program in examples/."""
    return runpy.run_path(str(ROOT / "examples" / (name + ".py")))


def silent(function, *arguments):
    """The result of a call whose output is dropped."""
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*arguments)


def place(values, low, high, start, length):
    """Pixels for values between two limits."""
    return [start + length * (float(value) - low) / (high - low) for value in values]


def plate():
    """The hot disc of examples/quickstart.py, at three times."""
    program = example("quickstart")
    simulate, temperatures = pijit.jit(program["simulate"]), program["make_plate"]()
    drawing = Drawing(630, 240, "A hot disc on a plate after 0, 100 and 300 steps")
    done = 0
    for k, steps in enumerate((0, 100, 300)):
        silent(simulate, temperatures, steps - done, 100, io.StringIO())
        done = steps
        drawing.cells(temperatures[160:240:2, 160:240:2], 10 + 205 * k, 30, 5, 20.0, 80.0)
        drawing.frame(10 + 205 * k, 30, 200, 200)
        drawing.label(10 + 205 * k, 20, "step %d" % steps)
    return drawing


def reaction():
    """The spots of examples/reaction.py, at three times."""
    program = example("reaction")
    react, (food, feeder) = pijit.jit(program["react"]), program["dish"]()
    drawing = Drawing(630, 240, "Spots of a chemical after 0, 4000 and 12000 steps")
    done = 0
    for k, steps in enumerate((0, 4000, 12000)):
        silent(react, food, feeder, steps - done)
        done = steps
        drawing.cells(feeder[::2, ::2], 10 + 205 * k, 30, 4, 0.0, 0.4)
        drawing.frame(10 + 205 * k, 30, 192, 192)
        drawing.label(10 + 205 * k, 20, "step %d" % steps)
    return drawing


def planets():
    """The orbits of examples/planets.py."""
    program = example("planets")
    paths = list(zip(*program["orbits"](pijit.jit(program["advance"]), 260)))
    drawing = Drawing(440, 440, "Orbits of two planets around a star")
    drawing.frame(10, 10, 420, 420)
    for path, colour, radius in zip(paths, ("third", "first", "second"), (5, 4, 3)):
        across = place([x for x, _ in path], -2.2, 1.8, 10, 420)
        down = place([-y for _, y in path], -2.0, 2.0, 10, 420)
        drawing.curve(zip(across, down), colour)
        drawing.dots([(across[-1], down[-1])], colour, radius)
    return drawing


def conductivity():
    """The misfit of examples/fit_conductivity.py, by round of the fit."""
    losses = silent(example("fit_conductivity")["main"])
    powers = [math.log10(loss) for loss in losses]
    low, high = math.floor(min(powers)), math.ceil(max(powers))
    drawing = Drawing(440, 260, "Misfit by round, on a logarithmic axis")
    drawing.frame(60, 20, 360, 200)
    for power in range(low, high + 1):
        (y,) = place([-power], -high, -low, 20, 200)
        drawing.label(54, y + 4, "1e%d" % power, "end")
    drawing.label(240, 248, "round of the fit: 0 to %d" % (len(losses) - 1), "middle")
    drawing.curve(zip(place(range(len(losses)), 0, len(losses) - 1, 60, 360),
                      place([-power for power in powers], -high, -low, 20, 200)), "first")
    return drawing


def ring():
    """The answers of the network of examples/train_cell.py, and points with their labels."""
    import pijit.ms as ms

    program = example("train_cell")
    network, _, _ = program["train"]()
    middles = (np.arange(40) + 0.5) / 20.0 - 1.0
    grid = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2).astype(np.float32)
    answers = network(ms.Tensor(grid)).asnumpy().argmax(axis=1).reshape(40, 40)
    points, labels = program["ring"](150, 3)
    drawing = Drawing(420, 420, "The region that a network takes for a ring, and random points")
    drawing.cells(answers * 0.5, 10, 10, 10, -0.15, 1.0)
    for kind, colour in ((0, "first"), (1, "second")):
        chosen = points[labels == kind]
        drawing.dots(zip(place(chosen[:, 0], -1, 1, 10, 400), place(chosen[:, 1], -1, 1, 10, 400)), colour, 3.5)
    drawing.frame(10, 10, 400, 400)
    return drawing


def digits():
    """The loss of examples/digits.py by training step, with digits that the program draws itself."""
    program = example("digits")
    _, _, losses = program["train"](150, 32, program["drawn"](), 1, iter)
    means = [sum(losses[k:k + 10]) / 10.0 for k in range(0, len(losses), 10)]
    drawing = Drawing(440, 260, "Loss by training step")
    drawing.frame(60, 20, 360, 200)
    for value in (0.0, 1.0, 2.0):
        drawing.label(54, place([-value], -2.5, 0.0, 20, 200)[0] + 4, "%.1f" % value, "end")
    drawing.label(240, 248, "training steps: 0 to %d" % len(losses), "middle")
    drawing.curve(zip(place(range(len(means)), 0, len(means) - 1, 60, 360),
                      place([-value for value in means], -2.5, 0.0, 20, 200)), "second")
    return drawing


PICTURES = {"plate": plate, "reaction": reaction, "planets": planets, "conductivity": conductivity, "ring": ring,
            "digits": digits}


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (TARGET / "gallery_{}.svg".format(name)).write_text(draw().text(), encoding="utf-8")
