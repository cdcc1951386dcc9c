r"""Mean counts on a finite box as exact rational functions of the load.

With arrivals :math:`u\lambda_i`, where the busiest resource has load 1 at the rates :math:`\lambda_i`, the
mean counts of a box are quotients of polynomials in u whose degrees are below the number of states
(:mod:`queueing.exact_laws.load_images`). They answer at once for all loads and tell where the poles are, and
their Taylor series at 0 is the expansion for light traffic: a state with k jobs enters at order k, so that
the terms below the smallest side of the box are those of the infinite system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairness.display.drawing import curves
from fairness.errors import ModelError
from fairness.exact.server_rows import as_fractions
from fairness.protocol.policy import policy_name
from queueing.exact_laws.balance_equations import balance_equations, check_exact
from queueing.exact_laws.load_images import functions_of_load
from queueing.exact_laws.rational_function import RationalFunction
from queueing.model.class_results import ClassResult, class_lines, class_table
from queueing.model.system import System
from queueing.states.box import box_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MeanJobsByLoad", "mean_jobs_by_load"]

SHOWN = (0.5, 0.9)
"""Loads at which a table shows the means."""

MOST_STATES = 2000
"""States beyond which the polynomials would fill the memory: their size grows as the square."""


@dataclass(frozen=True, eq=False, repr=False)
class MeanJobsByLoad(ClassResult):
    """Mean counts of a finite box as functions of the load; made by :func:`mean_jobs_by_load`.

    Attributes
    ----------
    system : System
        Its rates give the mix; its own load does not matter.
    policy : str
        Name of the policy.
    shape : tuple of int
        States per class.
    functions : tuple of RationalFunction, (n_classes,)
        Mean counts; of the load of the busiest resource.
    n_primes, n_bits, bound_bits : int
        Evidence: the primes, the bits of their product, and the bits that it has to exceed.
    """

    system: System
    policy: str
    shape: tuple[int, ...]
    functions: tuple[RationalFunction, ...]
    n_primes: int
    n_bits: int
    bound_bits: int

    def __call__(self, load: Any) -> Any:
        """Mean counts at a load: a tuple of Fractions at a fraction, else an array (..., n_classes)."""
        values = [function(load) for function in self.functions]
        return tuple(values) if isinstance(values[0], Fraction) else np.stack(values, axis=-1)

    def function(self, job_class: int | str) -> RationalFunction:
        """The function of one class, given by its index or name."""
        return self.functions[self.system.class_index(job_class)]

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: degree of the function, bits of its coefficients, means at loads .5 and .9."""
        degrees = [max(f.degrees) for f in self.functions]
        bits = [max(c.bit_length() for c in f.numerator + f.denominator) for f in self.functions]
        means = {f"jobs at {u:g}": self(u) for u in SHOWN}
        return class_table(self.system, degree=np.array(degrees), bits=np.array(bits), **means)

    def summary(self) -> str:
        """What a person wants to read: degrees and some means per class, then the evidence."""
        return "\n".join(
            [
                f"mean jobs under {self.policy} as functions of the load, arrivals beyond the box refused",
                *class_lines(self.to_dataframe().drop(columns="load")),
                f"  box {box_name(self.shape)}; proved modulo {self.n_primes} primes ({self.n_bits} bits, "
                f"{self.bound_bits} are enough)",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean counts against the load."""
        loads, names = np.linspace(0.0, 1.0, 41), self.system.problem.job_classes
        title = f"exact means under {self.policy}"
        return curves(ax, loads, self(loads), names, xlabel="load", ylabel="mean jobs", title=title)


def mean_jobs_by_load(system: System, policy: Any, *, shape: Sequence[int] | int) -> MeanJobsByLoad:
    """Mean counts on a finite box as rational functions of the load, proved.

    Parameters
    ----------
    system : System
        As for :func:`exact_stationary`; its arrival rates are scaled from load 0 on.
    policy : MaxMin, DRF, AssetFair, BottleneckMax or ProportionalFair
        As for :func:`exact_stationary`.
    shape : sequence of int or int
        The box 0 <= x_i < shape[i]; a thousand states take some ten seconds.

    Returns
    -------
    MeanJobsByLoad

    Raises
    ------
    ModelError
        As for :func:`exact_stationary`; also if the box has more than 2000 states.

    Examples
    --------
    A single server with room for two jobs:

    >>> from fractions import Fraction
    >>> from fairness import DRF, Problem
    >>> from queueing import System
    >>> mean_jobs_by_load(System(Problem([[1]], [2]), [1]), DRF(), shape=3).functions
    (RationalFunction((0, 1, 2), (1, 1, 1)),)

    Two classes that share two resources:

    >>> pool = Problem([[1, Fraction(1, 2)], [Fraction(1, 2), 1]], [1, 1])
    >>> means = mean_jobs_by_load(System(pool, [1, 1]), DRF(), shape=4)
    >>> means
    mean jobs under DRF as functions of the load, arrivals beyond the box refused
      class    degree  bits  jobs at 0.5  jobs at 0.9
      class 1       9    19     0.573716      1.28021
      class 2       9    19     0.573716      1.28021
      box 4 x 4; proved modulo 3 primes (83 bits, 70 are enough)
    >>> means(Fraction(1, 2))[0], means(0.5)
    (Fraction(116894, 203749), array([0.5737157, 0.5737157]))
    """
    sizes = check_exact(system, policy, shape, "mean_jobs_by_load")
    states = int(np.prod(sizes, dtype=float))
    if states > MOST_STATES:
        raise ModelError.of(
            "shape",
            f"has {states:,} states; the polynomials of more than {MOST_STATES:,} are too long; give a "
            "smaller shape, or take exact_stationary at single loads",
        )
    demands, capacities = as_fractions(system.problem)
    rates, means = system.as_fractions()
    load = max(
        sum((r * m * row[j] for r, m, row in zip(rates, means, demands, strict=True)), Fraction(0)) / capacity
        for j, capacity in enumerate(capacities)
        if capacity > 0
    )
    if load == 0:
        raise ModelError(
            "no class with arrivals demands anything, so there is no load; take exact_stationary, or give "
            "demands"
        )
    live = [i for i, rate in enumerate(rates) if rate > 0]
    equations = balance_equations(system, policy, sizes, [rate / load for rate in rates])
    proved = functions_of_load(equations, live)
    functions = [RationalFunction((0,), (1,))] * len(rates)
    for i, function in zip(live, proved.functions, strict=True):
        functions[i] = function
    return MeanJobsByLoad(
        system,
        policy_name(policy),
        sizes,
        tuple(functions),
        proved.n_primes,
        proved.n_bits,
        proved.bound_bits,
    )
