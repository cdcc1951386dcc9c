r"""A deadline for every control interval: which epsilon DC-DRF should use next.

DC-DRF takes a resource for exhausted when no more than :math:`\varepsilon` of it is left; the larger
:math:`\varepsilon`, the fewer rounds. Its outer loop ([1]_, Algorithm 2, lines 24-27) raises
:math:`\varepsilon` after an interval that timed out and lowers it otherwise, so that allocations are done
just before the deadline. The paper leaves open by how much and says only that it keeps a search window with a
fast start. The search here is ours; it behaves as the paper's Figure 11 does.

*Model.* An interval times out iff :math:`\varepsilon < \varepsilon^*`, the critical value, which demands and
deadline decide. The search keeps a window: ``low``, the last value that timed out, and ``high``, the last
that completed; one of them is forgotten when an outcome contradicts it. With p = ``precision`` and a stride
that is squared from trial to trial,

* 0 timed out: try ``start``; from there the first stride is ``fast_start``, in later searches it is p;
* only ``low`` is known: try ``low`` times the stride; only ``high``: ``high`` over the stride;
* both are known, :math:`\text{high} > p \cdot \text{low} > 0`: try their geometric mean;
* :math:`\text{high} \le p \cdot \text{low}`: the window is *settled*. Use ``high`` for ``rest`` intervals,
  then ``low`` once, to see whether the boundary has moved; and so on.

Between 0, where the allocation is exact, and ``floor`` nothing is tried: a window from 0 to ``floor`` is
settled, and one from 0 to more is searched downwards by strides. At 0 there is nothing to lower. No value
exceeds ``ceiling``.

*Guarantees* while :math:`\varepsilon^* \le` ``ceiling`` stays as it is. m trials with the strides s, s², s⁴,
... go a way of :math:`s^{2^m - 1}`; let m be the smallest number for which this exceeds a ratio R. The window
between the last two trials has the ratio :math:`s^{2^{m-1}}`, which
:math:`\lceil \log_2(2^{m-1} \log s/\log p) \rceil` means narrow down to p.

1. A settled controller rests at a value that completes and is below :math:`p\,\varepsilon^*`; at ``floor`` if
   :math:`0 < \varepsilon^* \le` ``floor``; at 0 if :math:`\varepsilon^* = 0`.
2. From 0 it settles within :math:`2m + 1 + \lceil \log_2(\log s / \log p) \rceil` intervals, where
   s = ``fast_start`` and R is the ratio of ``start`` and :math:`\varepsilon^*`, whichever way is above 1. By
   default these are 12 intervals for :math:`\varepsilon^* = 10^{-6}`.
3. Settled, it lets one interval out of ``rest`` + 1 time out; none at 0.
4. If the critical value jumps above a settled window by the factor R, it has settled again after 2m + 1
   intervals (s = p). If it falls below by R, the next probe tells, and it has settled again after
   ``rest`` + 2m + 1. A new deadline is a reason to search at once, so that 2m + 1 do in both directions. By
   default 2m + 1 is 3 for R = 1.05, 9 for R = 2 and 15 for R = 1000. From 0 it searches as in 2.
5. If :math:`\varepsilon^*` differs between intervals but stays between c/s and c s, every trial of a
   controller that has settled there lies between :math:`c/(s^3 p)` and :math:`c\,s^3 p`, unless it reaches 0:
   a search starts within the band, outside of which outcomes are certain, and its last stride is at most p
   times the way behind it.

If the time is no monotone function of :math:`\varepsilon`, a settled controller still rests at a value that
completed, and one that timed out is less than p below.

References
----------
.. [1] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018, Algorithm 2 and section 5.6. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from fairness.arguments.validation import require_flag, require_number, require_whole
from fairness.cloud.approximate import dcdrf
from fairness.cloud.model.demands import SparseDemands
from fairness.cloud.model.pattern import Pattern
from fairness.cloud.rounds import Rounds
from fairness.display.colours import NEUTRAL, part_colour
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.result import Result
from fairness.errors import ModelError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ControlInterval", "DeadlineController"]

ROUNDING = 1e-9
"""A stride up and down again does not give exactly the same number."""


@dataclass(frozen=True)
class ControlInterval:
    """What happened in a control interval.

    Attributes
    ----------
    interval : int
        Number of the interval, from 1.
    epsilon : float
        Part of a resource below which it counted as exhausted.
    deadline : float, seconds
    elapsed : float, seconds
        Time that the allocation took; nan if nobody told.
    timed_out : bool
    rounds : int or None
        Rounds of the inner loop; None if nobody told.
    """

    interval: int
    epsilon: float
    deadline: float
    elapsed: float
    timed_out: bool
    rounds: int | None


class DeadlineController(Result):
    """Outer loop of DC-DRF: raises epsilon after a timeout, lowers it otherwise.

    Parameters
    ----------
    deadline : float, seconds
        Time that the allocation of an interval may take; can be set anew between intervals.
    epsilon : float
        Of the first interval; 0 or from floor to ceiling.
    start : float
        Value that is tried when 0 times out.
    fast_start : float
        First factor between two trials of the first search, and of any that begins at 0.
    precision : float
        Factor above the critical value that is good enough, and first factor of later searches.
    rest : int
        Intervals between two probes of a slightly lower value. With 1 epsilon oscillates, and every other
        interval times out.
    floor, ceiling : float
        Smallest value but 0, and largest.

    Raises
    ------
    ModelError
        If the deadline is not finite and > 0, rest is no whole number >= 1, epsilon is neither 0 nor from
        floor to ceiling, or not 0 < floor <= start <= ceiling < 1 < precision <= fast_start.

    References
    ----------
    See :mod:`fairness.cloud.controller`.

    Examples
    --------
    A system that needs epsilon >= 3e-4 to be in time:

    >>> controller = DeadlineController(8.0)
    >>> for _ in range(12):
    ...     epsilon = controller.observe(controller.epsilon < 3e-4)
    >>> print(", ".join(f"{e.epsilon:.2g}{'!' * e.timed_out}" for e in controller.history))
    0!, 0.01, 0.001, 1e-05!, 0.0001!, 0.00032, 0.00018!, 0.00024!, 0.00027!, 0.00029!, 0.00032, 0.00032
    >>> controller
    deadline controller: 8 s, epsilon 0.000316
      settled: 0.000294 timed out, 0.000316 completed
      12 intervals, 7 of them timed out
    """

    def __init__(
        self,
        deadline: float,
        *,
        epsilon: float = 0.0,
        start: float = 1e-2,
        fast_start: float = 10.0,
        precision: float = 1.1,
        rest: int = 9,
        floor: float = 1e-9,
        ceiling: float = 0.5,
    ) -> None:
        self._deadline = require_number("deadline", deadline, above=0)
        self._floor = require_number("floor", floor, above=0)
        self._start = require_number("start", start)
        self._ceiling = require_number("ceiling", ceiling)
        if not self._floor <= self._start <= self._ceiling < 1:
            raise ModelError(
                f"floor, start and ceiling must satisfy 0 < floor <= start <= ceiling < 1; got "
                f"{self._floor:g}, {self._start:g}, {self._ceiling:g}"
            )
        self._precision = require_number("precision", precision)
        self._fast_start = require_number("fast_start", fast_start)
        if not 1 < self._precision <= self._fast_start:
            raise ModelError(
                f"precision and fast_start must satisfy 1 < precision <= fast_start; got "
                f"{self._precision:g}, {self._fast_start:g}"
            )
        self._rest = require_whole("rest", rest, 1, hint=" (intervals)")
        self._epsilon = require_number("epsilon", epsilon)
        if self._epsilon != 0 and not self._floor <= self._epsilon <= self._ceiling:
            raise ModelError.of(
                "epsilon",
                f"must be 0 or from floor = {self._floor:g} to ceiling = {self._ceiling:g}; got "
                f"{self._epsilon:g}",
            )
        self._low: float | None = None
        self._high: float | None = None
        self._stride, self._rested = self._fast_start, 0
        self._history: list[ControlInterval] = []

    @property
    def epsilon(self) -> float:
        """Value to use in the next interval."""
        return self._epsilon

    @property
    def deadline(self) -> float:
        """Seconds that the allocation of an interval may take.

        What timed out says nothing about a longer deadline, and what completed nothing about a shorter one.
        Setting another deadline forgets the one or the other, and a new search begins.

        Raises
        ------
        ModelError
            If it is not finite and > 0.
        """
        return self._deadline

    @deadline.setter
    def deadline(self, value: float) -> None:
        before, self._deadline = self._deadline, require_number("deadline", value, above=0)
        high = self._high
        if self._deadline > before:
            self._low = None
        elif self._deadline < before:
            self._high = None
        if self._deadline == before or high is None:
            return
        self._rested = 0
        self._epsilon = self._next() if self._deadline > before else self._above(high)

    @property
    def window(self) -> tuple[float | None, float | None]:
        """Last epsilon that timed out and last that completed; None where unknown."""
        return self._low, self._high

    @property
    def settled(self) -> bool:
        """Whether a slightly lower epsilon than one that completed has timed out, or 0 has completed."""
        if self._high is None or self._low is None:
            return self._high == 0
        return self._high <= max(self._floor, self._precision * self._low * (1 + ROUNDING))

    @property
    def history(self) -> tuple[ControlInterval, ...]:
        """All intervals so far."""
        return tuple(self._history)

    def observe(self, timed_out: bool, *, elapsed: float = math.nan, rounds: int | None = None) -> float:
        """Take note of an interval that used the present epsilon, and return the next one.

        Parameters
        ----------
        timed_out : bool
        elapsed : float, seconds, optional
        rounds : int, optional
            Only for the records.

        Raises
        ------
        ModelError
            If ``timed_out`` is no bool.
        """
        used, late = self._epsilon, require_flag("timed_out", timed_out)
        number = len(self._history) + 1
        self._history.append(ControlInterval(number, used, self._deadline, elapsed, late, rounds))
        if late:
            self._low = used
            if self._high is not None and self._high <= used:
                self._high = None
        else:
            self._high = used
            if self._low is not None and self._low >= used:
                self._low = None
        self._epsilon = self._next()
        return self._epsilon

    def step(
        self,
        demands: SparseDemands | Any,
        weights: ArrayLike | None = None,
        *,
        pattern: Pattern | None = None,
        clock: Callable[[], float] = time.perf_counter,
        threads: int | None = None,
    ) -> Rounds:
        """Allocate for one control interval with the present epsilon and deadline; choose the next epsilon.

        The parameters are those of :func:`fairness.cloud.dcdrf`. If it raises or is interrupted, the
        controller is as before.

        Returns
        -------
        Rounds

        Raises
        ------
        ModelError
            As :func:`fairness.cloud.approximate.dcdrf`.
        """
        begin = clock()
        result = dcdrf(
            demands,
            self._epsilon,
            weights,
            pattern=pattern,
            deadline=self._deadline,
            clock=clock,
            threads=threads,
        )
        self.observe(result.timed_out, elapsed=clock() - begin, rounds=result.rounds)
        return result

    def to_dataframe(self) -> pd.DataFrame:
        """One row per control interval, with the columns of :class:`ControlInterval`."""
        import pandas as pd

        names = [field.name for field in fields(ControlInterval)]
        rows = [[getattr(entry, name) for name in names] for entry in self._history]
        return pd.DataFrame(rows, columns=names).set_index("interval")

    def summary(self) -> str:
        """What a person wants to read: the next epsilon, the window, how many intervals timed out."""
        ends = [(self._low, "timed out"), (self._high, "completed")]
        known = ", ".join(f"{end:.3g} {what}" for end, what in ends if end is not None)
        late = sum(entry.timed_out for entry in self._history)
        return "\n".join(
            [
                f"deadline controller: {self._deadline:g} s, epsilon {self._epsilon:.3g}",
                f"  {'settled' if self.settled else 'searching'}: {known or 'nothing known yet'}",
                f"  {len(self._history)} intervals, {late} of them timed out",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Epsilon of each interval so far, crosses where the deadline passed, and the next one."""
        ax = given_axes(ax)
        entries = self._history
        times = [entry.interval for entry in entries]
        ax.step(
            [*times, len(times) + 1],
            [*(entry.epsilon for entry in entries), self._epsilon],
            where="mid",
            color=NEUTRAL,
        )
        late = [entry for entry in entries if entry.timed_out]
        ax.plot(
            [e.interval for e in late],
            [e.epsilon for e in late],
            "x",
            color=part_colour(5),
            label="timed out",
        )
        ax.set(xlabel="control interval", ylabel="epsilon", title=self.summary().partition("\n")[0])
        legend_beside(ax)
        return ax

    def _next(self) -> float:
        """Next epsilon, from the window."""
        low, high = self._low, self._high
        if self.settled:
            assert high is not None
            self._stride = self._precision
            self._rested += 1
            if self._rested <= self._rest or low is None:
                return high
            self._rested = 0
            return low
        self._rested = 0
        if high is None:
            if not low:
                self._stride = self._fast_start
                return self._epsilon if low is None else self._start
            return self._above(low)
        if low:
            self._stride = self._precision
            return math.sqrt(low * high)
        trial = high / self._stretched()
        if trial >= self._floor:
            return trial
        return 0.0 if low is None else self._floor

    def _above(self, value: float) -> float:
        """The value times the stride, at most the ceiling."""
        trial = value * self._stretched()
        if trial < self._ceiling:
            return trial
        # The way back down begins with small strides.
        self._stride = self._precision
        return self._ceiling

    def _stretched(self) -> float:
        """The stride; the next one is its square."""
        stride = self._stride
        self._stride *= stride
        return stride
