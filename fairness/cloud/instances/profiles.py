r"""Demands of a public cloud, drawn at random: the profiles U0 to G2 of the DC-DRF paper.

A tenant demands k resources. k is uniform (U) or a truncated Gaussian (G) on the whole numbers from
``shortest`` to ``longest``,

.. math:: P(k) \propto \exp\left(-\frac{(k - \text{mean})^2}{2\,\text{deviation}^2}\right).

Each of the k entries chooses a place by the shares of the profile: the tenant's first pod, its second pod, or
the whole data centre. Then it chooses a resource of that place, uniformly among those that the vector does
not contain yet: the resource is drawn again until it is new, the place is not, so places keep their shares.
An entry whose pod has nothing left takes a resource of the whole data centre. The tenant's two pods are
drawn uniformly and differ. The demand is uniform on :math:`[1, C_r]` units out of :math:`C_r`.

Table 3 of [1]_ gives the two kinds of length, the shares and the law of the values. It leaves open what the
Gaussian's mean and deviation are, how large pods are and how a tenant gets its own, what :math:`C_r` is, and
whether a vector may name a resource twice (here never). These are arguments.

*Streams.* Tenants come in tiles of :data:`TILE`; each tile has a random stream of its own, spawned from the
caller's generator, so that the result does not depend on the number of threads.

References
----------
.. [1] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018, section 5.1. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fairness.arguments.plain import near
from fairness.arguments.validation import (
    FloatArray,
    Seed,
    float_array,
    generator,
    require,
    require_number,
    require_whole,
)
from fairness.cloud.model.demands import IndexArray, Offsets, SparseDemands
from fairness.cloud.model.tiles import map_tiles
from fairness.errors import ModelError
from fairness.machine.compiling import stored
from fairness.machine.memory import require_memory

__all__ = ["PROFILES", "TILE", "Profile", "demand_profile"]

TILE = 4096
"""Tenants that share a random stream."""

POD = 1000
"""Resources of a pod unless the number of pods is given."""

LIMIT = np.iinfo(np.int32).max
"""Most tenants and resources that SparseDemands can number."""


@dataclass(frozen=True)
class Profile:
    """How tenants choose their resources; a line of Table 3 of the DC-DRF paper.

    Attributes
    ----------
    lengths : {"uniform", "gaussian"}
        Law of the number of resources that a tenant demands.
    first_pod, second_pod, anywhere : float
        Probability that an entry comes from the tenant's first pod (PodA), from its second (PodB), or from
        the whole data centre (DC); they sum to 1.
    """

    lengths: Literal["uniform", "gaussian"]
    first_pod: float
    second_pod: float
    anywhere: float

    def length_law(
        self,
        shortest: int = 2,
        longest: int = 128,
        *,
        mean: float | None = None,
        deviation: float | None = None,
    ) -> FloatArray:
        """Probability of each length from ``shortest`` to ``longest``, shape (longest - shortest + 1,).

        The arguments are those of :func:`demand_profile`.

        Raises
        ------
        ModelError
            If not 1 <= shortest <= longest, the mean is not finite or the deviation not finite and > 0.

        Examples
        --------
        >>> for name in ("U0", "G0"):
        ...     law = PROFILES[name].length_law()
        ...     print(name, round(float(law @ np.arange(2, 129)), 2))
        U0 65.0
        G0 27.21
        """
        require_whole("shortest", shortest, 1, LIMIT)
        require_whole("longest", longest, shortest, LIMIT)
        if self.lengths == "uniform":
            size = longest - shortest + 1
            return np.full(size, 1.0 / size)
        centre = float(shortest) if mean is None else require_number("mean", mean)
        spread = longest / 4 if deviation is None else require_number("deviation", deviation, above=0)
        lengths = np.arange(shortest, longest + 1)
        top = round(min(max(centre, shortest), longest))
        # Relative to the likeliest length, so that a mean far outside the interval leaves more than nothing.
        with np.errstate(over="ignore"):
            law = np.exp((lengths - top) * (centre - (lengths + top) / 2) / spread / spread)
        return np.asarray(law / law.sum())


PROFILES: dict[str, Profile] = {
    "U0": Profile("uniform", 0.0, 0.0, 1.0),
    "U1": Profile("uniform", 0.5, 0.0, 0.5),
    "U2": Profile("uniform", 0.5, 0.3, 0.2),
    "G0": Profile("gaussian", 0.0, 0.0, 1.0),
    "G1": Profile("gaussian", 0.5, 0.0, 0.5),
    "G2": Profile("gaussian", 0.5, 0.3, 0.2),
}
"""Profiles of demands by name: Table 3 of the DC-DRF paper."""


def demand_profile(
    name: str,
    n_tenants: int,
    n_resources: int,
    *,
    rng: Seed,
    shortest: int = 2,
    longest: int = 128,
    mean: float | None = None,
    deviation: float | None = None,
    pods: int | None = None,
    capacities: ArrayLike = 100.0,
    dtype: DTypeLike = np.float32,
) -> SparseDemands:
    """Demands of many tenants, drawn from a profile of the DC-DRF paper.

    Parameters
    ----------
    name : {"U0", "U1", "U2", "G0", "G1", "G2"}
        A profile of :data:`PROFILES`.
    n_tenants, n_resources : int
        In the paper 1,000,000 and 100,000.
    rng : numpy Generator or seed
        None draws anew each time, which the demands do not tell: to repeat it, give a seed.
    shortest, longest : int
        Fewest and most resources that a tenant demands.
    mean, deviation : float, optional
        Of the Gaussian before it is truncated. Default: ``shortest`` and a quarter of ``longest``, so that
        small tenants prevail: the lengths 2 to 128 have mean 27.2 and four fifths of them are at most 43.
    pods : int, optional
        Number of pods, runs of consecutive resources of nearly equal size. Default: pods of about 1,000
        resources, at least two.
    capacities : array_like of shape () or (n_resources,), units of resource
        A demand is uniform on 1 to capacity units. Default: 100, as of a link of 100 Gb/s whose users need at
        least 1 Gb/s.
    dtype : float32 or float64
        Type of the values.

    Returns
    -------
    SparseDemands

    Raises
    ------
    ModelError
        If the name is unknown, a number is out of range, tenants may demand more resources than there are,
        there are fewer pods than a tenant needs or more than resources, or the demands do not fit into
        memory.

    References
    ----------
    See :mod:`fairness.cloud.instances.profiles`.

    Examples
    --------
    >>> demand_profile("G2", 1000, 5000, rng=1)
    SparseDemands(1,000 tenants x 5,000 resources, 27,479 entries, float32)
    """
    if not isinstance(name, str) or name not in PROFILES:
        raise ModelError(f"unknown profile {name!r}; {near(str(name), PROFILES)}")
    profile = PROFILES[name]
    require_whole("n_tenants", n_tenants, 1, LIMIT)
    require_whole("n_resources", n_resources, 1, LIMIT)
    law = profile.length_law(shortest, longest, mean=mean, deviation=deviation)
    if longest > n_resources:
        raise ModelError(
            f"longest = {longest} exceeds n_resources = {n_resources}, and a tenant demands a resource once; "
            f"give longest <= {n_resources}"
        )
    needed = (profile.first_pod > 0) + (profile.second_pod > 0)
    if pods is None:
        pods = min(n_resources, max(2, round(n_resources / POD)))
    else:
        require_whole("pods", pods, 1, LIMIT)
    if not needed <= pods <= n_resources:
        raise ModelError(
            f"pods = {pods} must be between {max(needed, 1)}, the pods of a tenant of profile {name}, and "
            f"n_resources = {n_resources}"
        )
    lowest = 1.0 / _checked_capacities(capacities, n_resources)
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        raise ModelError.of("dtype", f"must be float32 or float64; got {dtype!r}") from error
    if kind not in (np.float32, np.float64):
        raise ModelError.of("dtype", f"must be float32 or float64; got {kind}")
    mean_length = float(law @ np.arange(shortest, longest + 1))
    # Per tenant a uniform number, a length and a start; per entry a column and a value.
    require_memory(
        n_tenants * (24 + mean_length * (np.dtype(np.int32).itemsize + kind.itemsize)),
        f"profile {name} of {n_tenants:,} tenants",
        "take fewer tenants or smaller lengths",
    )
    stream = generator(rng)
    steps = np.cumsum(law)
    # The last step, which rounding may have left below 1, is never needed.
    starts = np.zeros(n_tenants + 1, dtype=np.int64)
    np.cumsum(np.searchsorted(steps[:-1], stream.random(n_tenants), side="right") + shortest, out=starts[1:])
    columns = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1], dtype=kind)
    shares = profile.first_pod, profile.second_pod
    tiles = [(first, min(first + TILE, n_tenants)) for first in range(0, n_tenants, TILE)]
    streams = stream.spawn(len(tiles))

    def draw(tile: int, first: int, last: int) -> None:
        _draw(streams[tile], starts[first : last + 1], columns, values, n_resources, pods, *shares, lowest)

    map_tiles(draw, tiles)
    return SparseDemands.of_checked(starts, columns, values, n_resources)


def _checked_capacities(capacities: ArrayLike, n_resources: int) -> FloatArray:
    """Capacities >= 1, shape (1,) or (n_resources,)."""
    given = float_array("capacities", capacities)
    if given.shape not in ((), (n_resources,)):
        raise ModelError.of(
            "capacities", f"must be a number or have shape ({n_resources},); got {given.shape}"
        )
    each = np.atleast_1d(given)
    require("capacities", each, np.isfinite(each) & (each >= 1), "finite and >= 1, the smallest demand")
    return each


@stored(nogil=True)
def _draw(
    stream: np.random.Generator,
    starts: Offsets,
    columns: IndexArray,
    values: NDArray[Any],
    n_resources: int,
    pods: int,
    first: float,
    second: float,
    lowest: FloatArray,
) -> None:
    """Fill the rows of a tile; ``first`` and ``second`` are the shares of the two pods."""
    taken = np.zeros(n_resources, dtype=np.bool_)
    places = np.empty((3, 2), dtype=np.int64)
    places[2, 0], places[2, 1] = 0, n_resources
    left = np.zeros(2, dtype=np.int64)
    for i in range(len(starts) - 1):
        if first > 0.0:
            own = int(stream.random() * pods)
            other = own
            if second > 0.0:
                other = (own + 1 + int(stream.random() * (pods - 1))) % pods
            for k, pod in enumerate((own, other)):
                places[k, 0] = pod * n_resources // pods
                places[k, 1] = (pod + 1) * n_resources // pods
                left[k] = places[k, 1] - places[k, 0]
        for e in range(starts[i], starts[i + 1]):
            place = 2
            if first > 0.0:
                u = stream.random()
                if u < first:
                    place = 0
                elif u < first + second:
                    place = 1
                if place < 2 and left[place] == 0:
                    place = 2
            start, size = places[place, 0], places[place, 1] - places[place, 0]
            r = start + int(stream.random() * size)
            while taken[r]:
                r = start + int(stream.random() * size)
            taken[r] = True
            columns[e] = r
            if first > 0.0:
                for k in range(2):
                    if places[k, 0] <= r < places[k, 1]:
                        left[k] -= 1
        row = columns[starts[i] : starts[i + 1]]
        row.sort()
        for e in range(starts[i], starts[i + 1]):
            r = columns[e]
            taken[r] = False
            low = lowest[r] if len(lowest) > 1 else lowest[0]
            values[e] = low + stream.random() * (1.0 - low)
