"""Fit the heat conductivity of a rod to measured temperatures, by the gradient of an in-place simulation.

Run it with `python examples/fit_conductivity.py`. The simulation is ordinary NumPy code that writes its array in each
step. `pijit.value_and_grad` differentiates it without changes.
"""

import sys

import numpy as np

import pijit

STEPS = 40


def simulate(conductivity, rod):
    """Simulate heat that spreads along a rod; the rod is written in place.

    Args:
        conductivity: between each two neighbours, shape (n - 1,).
        rod: temperatures, shape (n,).
    """
    for _ in range(STEPS):
        flow = conductivity * (rod[1:] - rod[:-1])
        rod[:-1] += 0.2 * flow
        rod[1:] -= 0.2 * flow
    return rod


def misfit(halves, start, measured):
    """The mean square difference between simulated and measured temperatures, for the conductivities of both halves."""
    conductivity = np.repeat(halves, (12, 11))
    rod = simulate(conductivity, start.copy())
    return ((rod - measured) ** 2).mean()


def fit(start, measured, rounds, rate=60.0):
    """Descend along the gradient; return the conductivities and the misfit of each round."""
    halves = np.array([0.8, 0.8])
    losses = []
    gradient_of = pijit.value_and_grad(misfit)
    for _ in range(rounds):
        loss, gradient = gradient_of(halves, start, measured)
        losses.append(loss)
        halves -= rate * gradient
    return halves, losses


def main(rounds=40):
    """Make measurements from known conductivities, and recover these."""
    start = np.where(np.arange(24) % 8 < 4, 1.0, 0.0)
    measured = simulate(np.repeat([1.0, 0.6], (12, 11)), start.copy())
    found, losses = fit(start, measured, rounds)
    print("misfit: %.2e at first, %.2e after %d rounds" % (losses[0], losses[-1], rounds))
    print("conductivity of the left half: %.3f (1.000), of the right half: %.3f (0.600)" % tuple(found))
    return losses


if __name__ == "__main__":
    try:
        main()
    except pijit.GradientError as error:
        sys.exit("this example cannot run here: {}".format(error))
