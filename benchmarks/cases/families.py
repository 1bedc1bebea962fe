"""All benchmark cases, by family."""

from __future__ import annotations

from typing import Dict, Tuple

from benchmarks.cases import (
    algebra,
    complexes,
    elementwise,
    gathers,
    images,
    loops,
    networks,
    objects,
    particles,
    reductions,
    sparse,
    stencils,
    transforms,
)
from benchmarks.cases.case import SIZES, Case

FAMILIES: Dict[str, Tuple[Case, ...]] = {
    "stencils": stencils.CASES,
    "elementwise": elementwise.CASES,
    "reductions": reductions.CASES,
    "algebra": algebra.CASES,
    "loops": loops.CASES,
    "complex": complexes.CASES,
    "images": images.CASES,
    "particles": particles.CASES,
    "gathers": gathers.CASES,
    "transforms": transforms.CASES,
    "networks": networks.CASES,
    "sparse": sparse.CASES,
    "objects": objects.CASES,
}

SIZE_NAMES = list(SIZES)
