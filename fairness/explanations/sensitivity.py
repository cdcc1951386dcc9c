r"""One-sided derivatives of what a policy gives, from allocations that were solved.

What a class runs is, as a function :math:`t(h)` of what is added to a capacity, smooth but for breakpoints,
where another resource takes over. The quotients :math:`q_k = (t(h_k) - t(0))/h_k` at four steps
:math:`h_k = h/2^k` are extrapolated to 0 (Richardson),

.. math:: r_k = 2q_k - q_{k-1}, \qquad r = (4 r_3 - r_2)/3 .

On a smooth piece the differences :math:`r_k - r_{k-1}` fall like :math:`h_k^2`; where a breakpoint lies below
all steps they grow like :math:`1/h_k`, and where it lies among the steps they are as large as the jump of the
derivative. Unless they fall, the steps become 16 times smaller. So a derivative is never taken across a
breakpoint, unless that is so near that it hides in the rounding errors; such a one counts as lying here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

__all__ = ["one_sided_rate"]

FIRST, SMALLER, ATTEMPTS = 2.0**-8, 2.0**-4, 4
"""First step over the scale, what it is multiplied with, and how often."""

AGREEMENT = 1e-3
"""Relative difference of two extrapolations up to which their limit is told."""


def one_sided_rate(
    tasks: Callable[[float], float], here: float, scale: float, sign: float, rounding: float
) -> tuple[float, float]:
    """Derivative at 0 from one side and how well it is known; NaN where every step met a breakpoint.

    Parameters
    ----------
    tasks : callable
        Tasks when so much is added.
    here : float
        ``tasks(0)``.
    scale : float
        Largest change that is looked at, times 256.
    sign : {1.0, -1.0}
        From which side: -1 takes away.
    rounding : float
        Largest error of ``tasks``.

    Examples
    --------
    A corner at 0, and one at a thousandth:

    >>> round(one_sided_rate(lambda h: min(3 * h, h), 0.0, 1.0, 1.0, 1e-15)[0], 9)
    1.0
    >>> round(one_sided_rate(lambda h: min(3 * h, h), 0.0, 1.0, -1.0, 1e-15)[0], 9)
    3.0
    >>> round(one_sided_rate(lambda h: min(h, 0.001), 0.0, 1.0, 1.0, 1e-15)[0], 6)
    1.0
    """
    step = scale * FIRST
    for _ in range(ATTEMPTS):
        slopes = [(tasks(sign * h) - here) / (sign * h) for h in (step, step / 2, step / 4, step / 8)]
        first, second, third = (2 * fine - coarse for coarse, fine in pairwise(slopes))
        rate, error = (4 * third - second) / 3, abs(third - second)
        # The third has errors of up to 40 rounding/step, the second half of that.
        blur = 60 * rounding / step
        if error <= min(abs(second - first) / 2, AGREEMENT * abs(rate)) + blur:
            return (rate if abs(rate) > error + blur else 0.0), max(error, blur)
        step *= SMALLER
    return math.nan, math.nan
