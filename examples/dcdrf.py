"""Redraw Kash, O'Shea, Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale" (SoCC 2018).

python -m examples.dcdrf --out out          # the paper's scale: a million tenants, 100,000 resources
python -m examples.dcdrf --out out --quick  # a hundredth of it
"""

from __future__ import annotations

import sys

from examples.dcdrf_figures import adaptation, deadlines, growth, lemmas, profiles
from examples.reproduce import Source, command
from fairness.cloud import dcdrf, demand_profile, edrf, edrf_rounds

INTRODUCTION = (
    "The paper finds that exact extended DRF of a million tenants takes 765 seconds, and approximates it within a deadline of 8 seconds. Filling resources one "
    "event at a time gives the exact allocation in about a second on one core. The pages redraw what the paper saw, with its algorithms as printed, each beside "
    "the exact allocation. Seconds are those of this machine, not of the paper's 48 cores."
)


def compile_kernels() -> None:
    """Call everything that is compiled once."""
    small = demand_profile("U0", 300, 200, rng=1)
    edrf(small)
    edrf_rounds(small, deadline=60.0)
    for threads in (None, 1):
        dcdrf(small, 0.01, threads=threads)


SOURCE = Source(
    "dcdrf",
    "DC-DRF, redrawn beside the exact allocation",
    INTRODUCTION,
    (
        profiles.plain_rounds,
        profiles.profiles_at_deadline,
        deadlines.utilisation,
        deadlines.fairness,
        deadlines.epsilon,
        adaptation.adaptation,
        lemmas.rounds_and_work,
        growth.scaling,
    ),
    compile_kernels,
)

if __name__ == "__main__":
    sys.exit(command([SOURCE], "examples.dcdrf"))
