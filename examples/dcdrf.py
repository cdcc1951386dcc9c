"""Redraw Kash, O'Shea, Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale" (SoCC 2018).

python -m examples.dcdrf --out out         # a hundredth of the paper's scale
python -m examples.dcdrf --out out --full  # a million tenants, 100,000 resources
"""

from __future__ import annotations

import sys

from examples.dcdrf_figures import adaptation, baseline, deadlines, epsilons, growth, lemmas, profiles
from examples.reproduce import Source, command
from fairqueues.kernels import clouds, rounds

INTRODUCTION = (
    "Extended DRF (EDRF) shares the resources of a data centre: the largest share that a tenant has of any resource rises for all alike, until a resource that the tenant demands is full. The paper takes 765 seconds for a million tenants and 100,000 resources, on one thread, "
    "with its Algorithm 1, which fills resources in rounds; so it approximates: DC-DRF, its Algorithm 2, gives up the last part ε of a resource and chooses ε to meet a deadline of, say, 8 seconds. EDRF by events, this library's method, fills one resource after the other without passing over all demands "
    "in between, and gives the exact allocation. The pages redraw the paper's figures, with both of its algorithms, each beside the exact allocation. Seconds are those of this machine, not of the paper's server with 48 cores."
)


SOURCE = Source(
    "dcdrf",
    "DC-DRF, redrawn beside the exact allocation",
    INTRODUCTION,
    (
        baseline.plain_rounds,
        profiles.profiles_at_deadline,
        deadlines.utilization,
        deadlines.fairness,
        epsilons.epsilon,
        adaptation.adaptation,
        lemmas.rounds_and_work,
        growth.scaling,
    ),
    (rounds, clouds),
    timed=True,
)

if __name__ == "__main__":
    sys.exit(command([SOURCE], "examples.dcdrf"))
