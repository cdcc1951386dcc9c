"""Demands that change a little from one control interval to the next.

In the evaluation of DC-DRF a random 5 % of the tenants change their demand by 5 % in every interval, and once
half of them by 50 % [1]_. How is open. A tenant who multiplies its vector by one factor changes nothing, for
extended DRF looks at the vector divided by its largest entry. Therefore every entry of a changed tenant is
multiplied by 1 + change or 1 - change, each with probability 1/2 and independently of the others, and cut off
at 1, the whole resource. Which resources a tenant demands stays the same.

References
----------
.. [1] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018, section 5. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import Seed, generator, require_number
from fairness.cloud.model.demands import Offsets, SparseDemands
from fairness.machine.compiling import stored

__all__ = ["churned"]


def churned(
    demands: SparseDemands, *, fraction: float = 0.05, change: float = 0.05, rng: Seed
) -> tuple[SparseDemands, NDArray[np.int64]]:
    """Demands after some tenants have changed theirs.

    Parameters
    ----------
    demands : SparseDemands
    fraction : float in [0, 1]
        Part of the tenants that change; their number is rounded.
    change : float in [0, 1)
        Relative change of an entry, up or down.
    rng : numpy Generator or seed
        None draws anew each time, which the demands do not tell: to repeat it, give a seed.

    Returns
    -------
    new : SparseDemands
        With the same ``starts`` and ``columns`` (not copied), so that a ``Pattern`` of the old ones fits.
    changed : ndarray of int
        The tenants that changed, in rising order.

    Raises
    ------
    ModelError
        If the fraction or the change is out of range.

    References
    ----------
    See :mod:`fairness.cloud.instances.churn`.

    Examples
    --------
    >>> demands = SparseDemands.from_lists([[(0, 0.5), (1, 1.0)], [(1, 0.25)]], n_resources=2)
    >>> new, changed = churned(demands, fraction=0.5, change=0.1, rng=1)
    >>> changed, new.values
    (array([0]), array([0.45, 1.  , 0.25]))
    """
    require_number("fraction", fraction, least=0, most=1, hint=", a part of the tenants")
    require_number("change", change, least=0, below=1, hint=", so that demands stay positive")
    stream = generator(rng)
    size = round(fraction * demands.n_tenants)
    changed = np.sort(stream.choice(demands.n_tenants, size, replace=False, shuffle=False))
    values = demands.values.copy()
    # The type's own smallest number keeps entries positive that a change would round to 0.
    _change(stream, changed, demands.starts, values, change, float(np.finfo(values.dtype).smallest_subnormal))
    new = SparseDemands.of_checked(demands.starts, demands.columns, values, demands.n_resources)
    return new, changed


@stored(nogil=True)
def _change(
    stream: np.random.Generator,
    changed: Offsets,
    starts: Offsets,
    values: NDArray[Any],
    change: float,
    least: float,
) -> None:
    for i in changed:
        for e in range(starts[i], starts[i + 1]):
            factor = 1.0 + change if stream.random() < 0.5 else 1.0 - change
            values[e] = min(1.0, max(least, values[e] * factor))
