r"""Means of one server under an order of service: the answer, and how well it is known.

*Errors.* Of a law with atoms all but the index policy is a sum, right up to rounding. Else the panels of the
law (:mod:`queueing.one_server.size_table`) are doubled until the means change by less than the precision
asked for; the last change is the error. It is an estimate, as in other quadrature, and no bound.

Close to load 1 most panels stand where jobs up to a size leave little of the server. Means below the least
that they can be, E[S] and 1, are never taken for right.

*Slowdowns.* E[T(S)/S] is infinite where small jobs wait as long as others and :math:`E[1/S] = \infty`: under
``fcfs`` and ``sjf`` with exponential sizes, for instance. Laws know E[1/S]
(:attr:`queueing.model.laws.Law.inverse_mean`). Of one that does not it is guessed, from how P(S <= s) falls
for small s, like :math:`s^\kappa`: it is finite for :math:`\kappa > 1` only. What the smallest 1e-10 of all
jobs are like nobody sees: an infinite slowdown that is a guess has an infinite error, and to that of a finite
one comes what another :math:`\kappa`, that of somewhat larger sizes, would change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairness.arguments.validation import require_choice, require_number
from fairness.display.colours import part_line
from fairness.display.drawing import given_axes
from fairness.display.result import Result
from fairness.errors import ModelError, NotConvergedError, UnstableError
from fairness.model.problem import FloatArray
from queueing.model.laws import Law
from queueing.model.scipy_law import as_law
from queueing.one_server.by_size import FORMULAS
from queueing.one_server.gittins import gittins
from queueing.one_server.size_table import NOWHERE, SizeTable, size_spread, size_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["OrderMeans", "single_server"]

ORDERS = (*FORMULAS, "gittins")

FIRST, LAST = 128, 8192
"""Panels of a law at first and at last."""
LAST_OF_INDEX = 4096
"""Under the index policy, whose time grows with their square."""
MOST_ATOMS = 20_000
"""Atoms under the index policy."""
UNSHOWN = 1e-5
"""Part of the jobs, smallest and largest, that a picture leaves out."""
WIDE = 20.0
"""Quotient of slowdowns from which on their axis is logarithmic."""
ROUNDING = 2.0**-52
"""Relative, of one operation."""
WAITING = ("fcfs", "sjf", "gittins")
"""Orders in which the smallest jobs wait for others, or may; under the index policy the law tells."""
FLAT = 1e-3
"""Exponents this little above 1 are 1, where they are guessed."""


@dataclass(frozen=True, eq=False, repr=False)
class OrderMeans(Result):
    """Means of the M/G/1 queue under an order of service; made by :func:`single_server`.

    Attributes
    ----------
    law : Law
        Of the sizes.
    relative_load : float
        Arrival rate times mean size.
    order : str
    mean_duration, mean_slowdown : float
        E[T], in the unit of the mean size, as the server works at rate 1; E[T/S], which may be infinite.
    duration_error, slowdown_error : float
        Estimated absolute errors; infinite of an infinite slowdown that is a guess.
    sizes : ndarray of shape (n,)
        Sizes in increasing order.
    durations : ndarray of shape (n,)
        Mean durations of jobs of these sizes.
    """

    law: Law
    relative_load: float
    order: str
    mean_duration: float
    mean_slowdown: float
    duration_error: float
    slowdown_error: float
    sizes: FloatArray
    durations: FloatArray

    @property
    def mean_jobs(self) -> float:
        """Mean number of jobs in the system, by Little's law."""
        return self.relative_load / self.law.mean * self.mean_duration

    @property
    def slowdowns(self) -> FloatArray:
        """Mean durations over sizes, for each size, (n,)."""
        return self.durations / self.sizes

    def to_dataframe(self) -> pd.DataFrame:
        """One row: order, load, mean and squared coefficient of variation of the sizes, means, errors."""
        import pandas as pd

        row = {
            "order": self.order,
            "load": self.relative_load,
            "mean_size": self.law.mean,
            "scv": self.law.scv,
            "mean_duration": self.mean_duration,
            "mean_duration_error": self.duration_error,
            "mean_slowdown": self.mean_slowdown,
            "mean_slowdown_error": self.slowdown_error,
        }
        return pd.DataFrame([row])

    def summary(self) -> str:
        """The means, and how they were found."""
        way = "SOAP formula" if self.order == "gittins" else "formula"
        return "\n".join(
            [
                f"one server, order {self.order}, load {self.relative_load:.4g}, sizes {self.law!r}",
                f"  mean duration {self.mean_duration:.8g}, error about {self.duration_error:.1e}",
                f"  mean slowdown {self._slowdown_words()}",
                f"  {way} at {len(self.sizes):,} sizes",
            ]
        )

    def _slowdown_words(self) -> str:
        if self.mean_slowdown == math.inf:
            seen = " as far as can be seen" if self.slowdown_error else ""
            return f"infinite{seen}: the smallest jobs wait as long as others"
        return f"{self.mean_slowdown:.8g}, error about {self.slowdown_error:.1e}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean slowdown of jobs by size; of a law without atoms not of the smallest and largest 1e-5."""
        ax, shown = given_axes(ax), np.ones(len(self.sizes), dtype=bool)
        line = part_line(ORDERS.index(self.order))
        if self.law.atoms() is None:
            shown = np.abs(self.law.upper_moments(self.sizes)[0] - 0.5) < 0.5 - UNSHOWN
        else:
            line |= {"marker": "o", "linestyle": ""}
        slowdowns = self.slowdowns[shown]
        ax.plot(self.sizes[shown], slowdowns, **line)
        ax.set(xscale="log", xlabel="size", ylabel="mean slowdown of a job of this size")
        if slowdowns.max() > WIDE * slowdowns.min():
            ax.set_yscale("log")
        ax.set_title(f"{self.order}, load {self.relative_load:.3g}")
        return ax


def single_server(law: Law, load: float, order: str = "srpt", *, precision: float = 1e-5) -> OrderMeans:
    """Mean duration and slowdown of jobs at one server, in an order of service: the M/G/1 queue.

    Parameters
    ----------
    law : Law
        Of the sizes, in units of work: any law of this package or frozen distribution of scipy.stats, with
        atoms or a density; or one of your own with a method ``upper_moments`` (and ``inverse_mean``, without
        which it is a guess whether slowdowns are infinite).
    load : float
        Arrival rate of the Poisson process times mean size, in (0, 1). The server works at rate 1.
    order : {"srpt", "psjf", "sjf", "las", "ps", "fcfs", "gittins"}
        Least left first; smallest size first, with and without preemption; least attained service first;
        equally; first come first served (:mod:`queueing.one_server.by_size`). Or the Gittins index policy,
        the best that knows the law and not the sizes (:mod:`queueing.one_server.gittins`).
    precision : float
        Relative error of the means to reach, in (0, 1).

    Returns
    -------
    OrderMeans

    Raises
    ------
    ModelError
        If an argument is out of range, the law knows no probabilities, or, for the index policy, has more
        than 20,000 atoms.
    UnstableError
        If the load is 1 or more.
    NotConvergedError
        If the precision is not reached with the most panels; ``best`` is what was found.

    References
    ----------
    M. Harchol-Balter, "Performance Modeling and Design of Computer Systems", Cambridge, 2013, part VII.

    Examples
    --------
    Exponential sizes at load 0.8: without knowing sizes every order has the same mean duration, 5. Serving
    what has least left takes half of it.

    >>> from queueing import Exponential, single_server
    >>> round(single_server(Exponential(), 0.8, "las").mean_duration, 4)
    5.0
    >>> single_server(Exponential(), 0.8, "srpt")
    one server, order srpt, load 0.8, sizes Exponential(mean=1.0)
      mean duration 2.35277..., error about ...
      mean slowdown 1.5778..., error about ...
      formula at ... sizes
    """
    law = as_law("law", law)
    require_choice("order", order, ORDERS)
    load = require_number("load", load, above=0)
    precision = require_number("precision", precision, above=0, below=1)
    if load >= 1:
        raise UnstableError(
            f"load {load:g} of one server: jobs pile up for ever; give a load below 1", argument="load"
        )
    panels, most = FIRST, LAST if order != "gittins" else LAST_OF_INDEX
    # In units of the mean: squares of extreme sizes would be none.
    unit = law.with_mean(1.0)
    discrete = unit.atoms() is not None
    spread, jumps = None if discrete else size_spread(unit, load), NOWHERE
    inverse = unit.inverse_mean if order in WAITING and not discrete else None
    found: OrderMeans | None = None
    while True:
        coarse, table = found, size_table(unit, spread, panels, jumps)
        found, jumps = _means(law, load, order, table, 16 * panels, inverse)
        if discrete and order != "gittins":
            return found
        if coarse is not None:
            found = replace(
                found,
                duration_error=found.duration_error + abs(found.mean_duration - coarse.mean_duration),
                slowdown_error=found.slowdown_error + _distance(found.mean_slowdown, coarse.mean_slowdown),
            )
            reached = _reached(found)
            if reached <= precision:
                return found
            if panels >= most:
                break
        panels *= 2
    raise NotConvergedError(
        f"with {panels:,} panels the means are known to {reached:.1e} of them, not to the precision "
        f"{precision:g}; raise precision",
        best=found,
        residual=reached,
    )


def _distance(one: float, other: float) -> float:
    return 0.0 if one == other == math.inf else abs(one - other)


def _reached(found: OrderMeans) -> float:
    """The larger relative error of the means; infinite where they are below the least that they can be."""
    duration = found.mean_duration, found.duration_error, found.law.mean
    slowdown = found.mean_slowdown, found.slowdown_error, 1.0
    means = [mean for mean in (duration, slowdown) if mean[0] != math.inf]
    if not all(value + error >= least for value, error, least in means):
        return math.inf
    return max(error / max(abs(value), least) for value, error, least in means)


def _means(
    law: Law, load: float, order: str, table: SizeTable, points: int, inverse: float | None
) -> tuple[OrderMeans, FloatArray]:
    """Means from a table of the law in units of its mean, and where durations jump; ``inverse`` is E[1/S].

    The errors are those of rounding, and of the moments of the table.
    """
    jumps, waiting = NOWHERE, order in WAITING
    if order != "gittins":
        durations = FORMULAS[order](table, load)
    elif table.chances is not None and len(table.sizes) > MOST_ATOMS:
        raise ModelError.of(
            "law",
            f"has {len(table.sizes):,} values, and the index policy compares each with all later ones: take "
            f"at most {MOST_ATOMS:,}, such as Empirical of a part of them",
        )
    else:
        durations, jumps, waiting = gittins(table, load, points)
    duration = table.mean(durations)
    slowdown, doubt = _slowdown(table, durations, waiting, inverse)
    # What the law says of itself; in the means its error is larger by what is left of the server.
    off = np.abs(table.moments[1:] / (1.0, 1.0 + law.scv) - 1.0).max() + 4 * ROUNDING
    off = float(off) / (1 - load) + len(table.sizes) * ROUNDING
    means = (
        law.mean * duration,
        slowdown,
        off * law.mean * abs(duration),
        doubt if slowdown == math.inf else doubt + off * abs(slowdown),
    )
    return OrderMeans(law, load, order, *means, law.mean * table.sizes, law.mean * durations), jumps


def _slowdown(
    table: SizeTable, durations: FloatArray, waiting: bool, inverse: float | None
) -> tuple[float, float]:
    """E[T(S)/S], if the smallest jobs wait from E[1/S] or a guess, and how much that guess may be off."""
    if not waiting or table.chances is not None:
        return table.mean(durations / table.sizes), 0.0
    if inverse == math.inf:
        return math.inf, 0.0
    smallest = float(table.sizes[0])
    waits = float(durations[0]) - smallest
    if inverse is not None:
        # All wait as the smallest do; what some wait more is no more than in proportion to their sizes.
        return 1 + waits * inverse + table.mean((durations - waits) / table.sizes - 1), 0.0
    more, further = (exponent - 1 for exponent in table.exponents)
    if more < FLAT:
        return math.inf, math.inf
    # The table counts what is below its first size as that.
    below = float(table.upto[0, 0]) * waits / smallest / more
    slowdown = table.mean(durations / table.sizes) + below
    return slowdown, below * abs(1 - further / more) if below else 0.0
