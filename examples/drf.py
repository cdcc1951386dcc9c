"""Redraw A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types" (NSDI 2011).

python -m examples.drf --out out
python -m examples.drf --out out --full  # a larger search for counterexamples
"""

from __future__ import annotations

import sys

from examples.drf_figures import counterexamples, example, properties, whole_tasks
from examples.reproduce import Source, command
from fairqueues.kernels import bottlenecks, chains, prices

INTRODUCTION = (
    "The worked examples and the property table of the DRF paper and of its published summary, recomputed. The table of properties is "
    "generated: a mark against a policy carries the smallest witness that the search found, confirmed with fractions; a mark for it says how many models were searched."
)


SOURCE = Source(
    "drf",
    "Dominant resource fairness, redrawn",
    INTRODUCTION,
    (
        example.worked_example,
        properties.positive_demands,
        counterexamples.counterexamples,
        whole_tasks.whole_tasks,
        properties.zero_demands,
    ),
    (chains, prices, bottlenecks),
    slow=(properties.positive_demands, properties.zero_demands),
    quick=(example.worked_example, counterexamples.counterexamples, whole_tasks.whole_tasks),
)

if __name__ == "__main__":
    sys.exit(command([SOURCE], "examples.drf"))
