"""``python -m benchmarks.training``: training steps with `pijit.ms`, beside PyTorch in eager mode if it is installed.

Each row is one network and one optimizer: a step computes the loss, its gradients, and new parameters. It runs without
`jit`, jitted, and in PyTorch with the same parameters. All run on one thread, in turn. Losses of the first steps must
agree, or the benchmark ends with an error.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported

import numpy as np  # noqa: E402

import pijit.ms as ms  # noqa: E402
from benchmarks.measure import geometric_mean, seconds_per_call  # noqa: E402
from pijit.ms import nn  # noqa: E402

STEPS = 5
"""The number of first steps whose losses must agree."""
TOLERANCE = 2e-3
"""The accepted relative difference between losses; both compute in float32, in another order."""

Step = Callable[[], float]


class Row(NamedTuple):
    """A program: how to make the network and its data here, and the layers in PyTorch."""

    name: str
    network: Callable[[], Any]
    data: Callable[[], Tuple[Any, Any]]
    layers: Callable[[Any], List[Any]]


def _perceptron() -> Any:
    return nn.SequentialCell(nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 10))


def _vectors() -> Tuple[Any, Any]:
    source = np.random.RandomState(1)
    return source.standard_normal((64, 64)).astype(np.float32), source.randint(0, 10, 64)


def _convolutions() -> Any:
    return nn.SequentialCell(nn.Conv2d(1, 16, 3, pad_mode="valid", has_bias=True), nn.ReLU(), nn.Flatten(),
                             nn.Dense(16 * 36, 64), nn.ReLU(), nn.Dense(64, 10))


def _images() -> Tuple[Any, Any]:
    source = np.random.RandomState(2)
    return source.uniform(0.0, 1.0, (32, 1, 8, 8)).astype(np.float32), source.randint(0, 10, 32)


ROWS = (
    Row("perceptron 64-64-10, batch 64", _perceptron, _vectors,
        lambda nn: [nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)]),
    Row("network of examples/digits.py, batch 32", _convolutions, _images,
        lambda nn: [nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 36, 64), nn.ReLU(),
                    nn.Linear(64, 10)]),
)
OPTIMIZERS = ("SGD", "Momentum", "Adam")


def _optimizer(name: str, parameters: Any) -> Any:
    """The optimizer of `pijit.ms`."""
    if name == "Adam":
        return nn.Adam(parameters, learning_rate=1e-3)
    if name == "Momentum":
        return nn.Momentum(parameters, learning_rate=0.01, momentum=0.9)
    return nn.SGD(parameters, learning_rate=0.01)


def _ours(row: Row, optimizer: str, jitted: bool) -> Tuple[Step, List[Any]]:
    """A training step of `pijit.ms`, and its parameters as arrays before the first step."""
    ms.set_seed(3)
    network = row.network()
    parameters = [one.asnumpy().copy() for one in network.trainable_params()]
    loss = nn.WithLossCell(network, nn.CrossEntropyLoss())
    one_step = nn.TrainOneStepCell(loss, _optimizer(optimizer, network.trainable_params()))
    x, y = map(ms.Tensor, row.data())

    def step(x: Any, y: Any) -> Any:
        return one_step(x, y)

    run = ms.jit(step) if jitted else step
    return lambda: float(run(x, y)), parameters


def _torch(row: Row, optimizer: str, parameters: List[Any]) -> Optional[Step]:
    """The same step in PyTorch's eager mode, from the same parameters; None if it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    network = torch.nn.Sequential(*row.layers(torch.nn))
    with torch.no_grad():
        for own, given in zip(network.parameters(), parameters):
            own.copy_(torch.from_numpy(given))
    loss = torch.nn.CrossEntropyLoss()
    made = {"Adam": lambda: torch.optim.Adam(network.parameters(), lr=1e-3),
            "Momentum": lambda: torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9),
            "SGD": lambda: torch.optim.SGD(network.parameters(), lr=0.01)}[optimizer]()
    x, y = map(torch.from_numpy, row.data())

    def step() -> float:
        made.zero_grad()
        value = loss(network(x), y)
        value.backward()
        made.step()
        return float(value.item())

    return step


def measured(row: Row, optimizer: str, seconds: float) -> Iterator[Tuple[str, float]]:
    """The seconds of a step by name of the version; raises AssertionError if the losses differ."""
    eager, parameters = _ours(row, optimizer, False)
    versions: Dict[str, Step] = {"eager": eager, "jitted": _ours(row, optimizer, True)[0]}
    torch = _torch(row, optimizer, parameters)
    if torch is not None:
        versions["torch"] = torch
    losses = {name: [step() for _ in range(STEPS)] for name, step in versions.items()}
    for name, found in losses.items():
        if not np.allclose(found, losses["eager"], rtol=TOLERANCE, atol=0.0):
            raise AssertionError("{} of {} with {}: losses {}, not {}".format(
                name, row.name, optimizer, found, losses["eager"]))
    yield from seconds_per_call(versions, (), seconds, warm=20).items()


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row (%(default)s)")
    known = parser.parse_args()
    print("| network | optimizer | pijit, us | without jit | PyTorch | pijit / PyTorch |\n|---|---|---|---|---|---|")
    ratios: List[float] = []
    for row in ROWS:
        for optimizer in OPTIMIZERS:
            found = dict(measured(row, optimizer, known.seconds))
            cells = ["%.0f" % (1e6 * found[name]) if name in found else "-" for name in ("jitted", "eager", "torch")]
            if "torch" in found:
                ratios.append(found["jitted"] / found["torch"])
            cells.append("%.2f" % ratios[-1] if "torch" in found else "-")
            print("| %s |" % " | ".join([row.name, optimizer] + cells), flush=True)
    if ratios:
        print("geometric mean of pijit over PyTorch: %.2f" % geometric_mean(ratios))
    return 0


if __name__ == "__main__":
    sys.exit(main())
