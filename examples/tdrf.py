"""Redraw C. Zhu, "Dominant resource fairness with time constraints in cloud computing".

python -m examples.tdrf --out out
python -m examples.tdrf --out out --full  # more random users
"""

from __future__ import annotations

import sys

from examples.reproduce import Source, command
from examples.tdrf_figures import experiment, swapping, weights
from fairqueues.kernels import chains

INTRODUCTION = (
    "The exchange of contributions, the weight by join time and the experiment of the TDRF paper, recomputed. Several of its claims do not hold; "
    "each is shown beside its counterexample, in numbers that can be checked by hand."
)


SOURCE = Source(
    "tdrf",
    "Dominant resource fairness with time constraints, redrawn",
    INTRODUCTION,
    (swapping.exchange_rule, weights.join_time_weight, experiment.four_users, experiment.many_users),
    (chains,),
    quick=(swapping.exchange_rule, weights.join_time_weight, experiment.four_users),
)

if __name__ == "__main__":
    sys.exit(command([SOURCE], "examples.tdrf"))
