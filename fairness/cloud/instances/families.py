r"""Demands that are hard for algorithms which share resources among very many tenants.

Each family is a function of the numbers of tenants and resources, which returns demands in double precision.
Random demands are smooth, and what goes well with them may go wrong with popular resources, ties, one
resource that everybody needs, vectors of one entry, sums that lose their digits, or the worst case of
algorithms that go in rounds.

``rng`` is a numpy Generator or a seed; None draws anew each time, which the demands do not tell: to repeat
them, give a seed. Demands that do not fit into memory are refused with a ModelError.

*The chain.* [1]_ remarks that an input can take as many rounds as it has resources, if each round fills up
one. How many rounds can DC-DRF take? Let all n weights be equal, and round r end at the level :math:`y_r`.
The load of a resource never rises, as tenants only stop. So where a part s of it is left at the level y, its
load is at most :math:`(1 - s)/y`, and it fills up at the level :math:`y/(1 - s)` or later. After a round more
than ε is left of every resource that is still demanded. Hence m rounds need

.. math:: y_{r+1} \ge \frac{y_r}{1 - \varepsilon}, \qquad
    1 \le y_0, \quad y_{m-1} \le n \quad\Rightarrow\quad m \le 1 + \frac{\log n}{-\log(1 - \varepsilon)},

which is the bound of Lemma 3.1 of [1]_ without its two assumptions. :func:`chain` comes close to it with a
geometric sequence of levels: :math:`y_r = n/x_r` with :math:`x_r = x_0^{1 - r/m}` for m resources, and
:math:`k_r = \lceil x_r \rceil - 1` tenants (the first: :math:`x_0`) who need all of resource r per task, and
of the next the part :math:`a_r` that fills it up at its level, :math:`k_r y_r a_r + k_{r+1} y_{r+1} = n`.

References
----------
.. [1] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018, section 3. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.arguments.validation import FloatArray, Seed, generator, require_whole
from fairness.cloud.instances.profiles import LIMIT
from fairness.cloud.model.demands import SparseDemands
from fairness.errors import ModelError
from fairness.machine.memory import require_memory

__all__ = [
    "HARD_FAMILIES",
    "chain",
    "chain_epsilon",
    "decades",
    "hot",
    "identical",
    "popular",
    "single",
    "ties",
]

Numbers = NDArray[np.int64]

LONGEST = 8
"""Entries that a tenant draws at most."""

LIGHT = 1e-10
"""Smallest of the demands in :func:`decades`."""

BYTES = 400.0, 60.0
"""Memory that a family takes per tenant and per resource at most."""


def popular(n_tenants: int, n_resources: int, *, rng: Seed) -> SparseDemands:
    """Zipf's law: the k-th most popular resource is drawn with a probability proportional to 1/k.

    Tenants draw 1 to 8 resources, of which they keep the distinct ones; demands are uniform.

    Raises
    ------
    ModelError
        If a number is not whole and >= 1.
    """
    stream = _stream(n_tenants, n_resources, rng)
    rows = _rows(stream, n_tenants)
    steps = np.cumsum(1.0 / np.arange(1, n_resources + 1))
    ranks = np.searchsorted(steps[:-1], stream.random(len(rows)) * steps[-1], side="right")
    pattern = _distinct(rows, stream.permutation(n_resources)[ranks], n_tenants, n_resources)
    return _filled(pattern, _uniform(stream, pattern.nnz))


def ties(n_tenants: int, n_resources: int, *, rng: Seed) -> SparseDemands:
    """Many copies of a small market, so that everything happens in all of them at exactly the same level.

    A copy has about as many resources as there are copies; some may be left over that nobody demands. The
    last tenant of a copy may be missing. Demands are quarters; a tenant draws 1 to 8 resources, of which it
    keeps the distinct ones.

    Raises
    ------
    ModelError
        If a number is not whole and >= 1.
    """
    stream = _stream(n_tenants, n_resources, rng)
    width = math.isqrt(n_resources)
    copies = n_resources // width
    small = -(-n_tenants // copies)
    rows = _rows(stream, small)
    market = _distinct(rows, stream.integers(0, width, len(rows)), small, width)
    market.data = stream.integers(1, 5, market.nnz) / 4
    order, names = stream.permutation(n_tenants), stream.permutation(n_resources)
    entries = market[order // copies].tocoo()
    columns = names[entries.col * copies + (order % copies)[entries.row]]
    return _demands(entries.data, entries.row, columns, n_tenants, n_resources)


def hot(n_tenants: int, n_resources: int, *, rng: Seed) -> SparseDemands:
    """One resource that everybody demands, a little each, so that it fills up when others have.

    Its load is a tenth above the mean load of the others. Those that are loaded more fill up before, and then
    all tenants that are left stop at once (about a quarter of 100,000 with 10,000 resources). Tenants draw
    1 to 8 other resources besides, of which they keep the distinct ones.

    Raises
    ------
    ModelError
        If a number is not whole and >= 1.
    """
    stream = _stream(n_tenants, n_resources, rng)
    if n_resources == 1:
        return single(n_tenants, 1, rng=stream)
    rows = _rows(stream, n_tenants)
    place = int(stream.integers(n_resources))
    # The others are numbered from 1 on, seen from the hot one.
    others = (place + stream.integers(1, n_resources, len(rows))) % n_resources
    everybody = np.arange(n_tenants)
    pattern = _distinct(
        np.concatenate([rows, everybody]),
        np.concatenate([others, np.full(n_tenants, place)]),
        n_tenants,
        n_resources,
    )
    values = _uniform(stream, pattern.nnz)
    is_hot = pattern.indices == place
    # Loads are sums of demands over the tenant's largest one.
    largest = np.maximum.reduceat(np.where(is_hot, 0.0, values), pattern.indptr[:-1])
    others_load = (values / np.repeat(largest, np.diff(pattern.indptr)))[~is_hot].sum() / (n_resources - 1)
    part = min(1.0, 2 * 1.1 * others_load / n_tenants)
    values[is_hot] *= part * largest
    return _filled(pattern, values)


def identical(n_tenants: int, n_resources: int, *, rng: Seed) -> SparseDemands:
    """All tenants have the same vector of up to 4 entries, the two largest of them equal.

    Raises
    ------
    ModelError
        If a number is not whole and >= 1.
    """
    stream = _stream(n_tenants, n_resources, rng)
    size = min(4, n_resources)
    vector = _uniform(stream, size)
    vector[np.argsort(vector)[-2:]] = vector.max()
    columns = np.sort(stream.choice(n_resources, size, replace=False))
    pattern = _distinct(
        np.repeat(np.arange(n_tenants), size), np.tile(columns, n_tenants), n_tenants, n_resources
    )
    return _filled(pattern, np.tile(vector, n_tenants))


def single(n_tenants: int, n_resources: int, *, rng: Seed) -> SparseDemands:
    """Vectors of one entry: as many separate queues as there are resources, in ties by the number of tenants.

    Raises
    ------
    ModelError
        If a number is not whole and >= 1.
    """
    stream = _stream(n_tenants, n_resources, rng)
    columns = stream.integers(0, n_resources, n_tenants)
    pattern = _distinct(np.arange(n_tenants), columns, n_tenants, n_resources)
    return _filled(pattern, _uniform(stream, n_tenants))


def decades(n_tenants: int, n_resources: int, *, rng: Seed) -> SparseDemands:
    r"""Ten decades of demands on one resource, the lightest of which decide.

    Heavy tenants come in pairs that demand (1, v(1 - δ)) and (v, 1 - δ) of the resources *gate* and *deep*:
    the gate stops them when deep is full but for a part of about δ. The light tenants (half of all, if there
    are as many resources) need all of a resource of their own per task, and 1e-10 to 2e-10 of deep. With
    δ = 1e-10 per light tenant, deep stops them at the level n_tenants/2 or so. Who subtracts the heavy
    tenants from the load of deep one by one in floats has lost the light ones in rounding.

    Raises
    ------
    ModelError
        If there are fewer than 3 tenants or 3 resources.
    """
    stream = _stream(n_tenants, n_resources, rng)
    if n_tenants < 3 or n_resources < 3:
        raise ModelError(
            f"decades needs at least 3 tenants and 3 resources; got {n_tenants} and {n_resources}"
        )
    light = min(n_tenants // 2, n_resources - 2)
    heavy = n_tenants - light
    gate, deep, *_ = names = stream.permutation(n_resources)
    order = stream.permutation(n_tenants)
    most = 1.0 - LIGHT * light
    v = np.repeat(0.2 + 0.7 * stream.random(-(-heavy // 2)), 2)[:heavy]
    if heavy % 2:
        # The one without a partner demands both alike.
        v[-1] = 1.0
    at_gate, at_deep = np.ones(heavy), v * most
    at_gate[1::2], at_deep[1::2] = v[1::2], most
    at_own, at_deep_too = np.ones(light), LIGHT * (1.0 + stream.random(light))
    values = np.concatenate([at_gate, at_deep, at_own, at_deep_too])
    tenants = np.concatenate([order[:heavy], order[:heavy], order[heavy:], order[heavy:]])
    pair, own = np.repeat([gate, deep], heavy), names[2 : 2 + light]
    columns = np.concatenate([pair, own, np.full(light, deep)])
    return _demands(values, tenants, columns, n_tenants, n_resources)


def chain(n_tenants: int, n_resources: int, *, rng: Seed) -> SparseDemands:
    r"""Every round fills up exactly one resource: as many rounds as there are resources.

    So it is for EDRF, and for DC-DRF while ε is below :func:`chain_epsilon`. A tenant demands two resources;
    the order of tenants and resources is random.

    Raises
    ------
    ModelError
        If there are not more tenants than resources: the first resource to fill up needs two.
    """
    stream = _stream(n_tenants, n_resources, rng)
    if n_resources == 1:
        return single(n_tenants, 1, rng=stream)
    x, tenants = _chain(n_tenants, n_resources)
    # What is left of resource r + 1 at its level for those of resource r, who have stopped at theirs.
    part = (x[1:] - tenants[1:]) / x[1:] * x[:-1] / tenants[:-1]
    # All tenants of the first resource together fill it up, those beyond x_0 as well.
    part[0] = (x[1] - tenants[1]) / x[1]
    names = stream.permutation(n_resources)
    group = stream.permutation(np.repeat(np.arange(n_resources), tenants))
    linked = np.flatnonzero(group < n_resources - 1)
    values = np.concatenate([np.ones(n_tenants), part[group[linked]]])
    tenants = np.concatenate([np.arange(n_tenants), linked])
    columns = np.concatenate([names[group], names[group[linked] + 1]])
    return _demands(values, tenants, columns, n_tenants, n_resources)


def chain_epsilon(n_tenants: int, n_resources: int) -> float:
    r"""Part of every other resource, at least, that is left when one fills up in :func:`chain`.

    With :math:`y_{r+1} = q y_r`, of the next :math:`k_{r+1}(y_{r+1} - y_r)/n \ge (1 - 1/q)/2` is left.

    Raises
    ------
    ModelError
        As :func:`chain`.

    Examples
    --------
    >>> round(chain_epsilon(100_000, 10_000), 6)
    0.000183
    """
    _check_sizes(n_tenants, n_resources)
    if n_resources == 1:
        return 1.0
    x, tenants = _chain(n_tenants, n_resources)
    return float((tenants[1:] * (1.0 / x[1:] - 1.0 / x[:-1])).min())


HARD_FAMILIES: dict[str, Callable[..., SparseDemands]] = {
    "popular": popular,
    "ties": ties,
    "hot": hot,
    "identical": identical,
    "single": single,
    "decades": decades,
    "chain": chain,
}
"""Demands that are hard to fill, by name of the family: ``family(n_tenants, n_resources, *, rng)``."""


def _chain(n_tenants: int, n_resources: int) -> tuple[FloatArray, Numbers]:
    """``x`` and the number of tenants of each resource, for the largest x_0 that so many tenants allow."""
    if n_tenants <= n_resources:
        raise ModelError(f"chain needs more tenants than resources; got {n_tenants} and {n_resources}")
    exponents = 1.0 - np.arange(n_resources) / n_resources

    def groups(first: int) -> tuple[FloatArray, Numbers]:
        x = float(first) ** exponents
        tenants = np.ceil(x).astype(np.int64) - 1
        tenants[0] = first
        return x, tenants

    low, high = 2, n_tenants
    while low < high:
        middle = (low + high + 1) // 2
        if groups(middle)[1].sum() <= n_tenants:
            low = middle
        else:
            high = middle - 1
    x, tenants = groups(low)
    tenants[0] += n_tenants - tenants.sum()
    return x, tenants


def _check_sizes(n_tenants: int, n_resources: int) -> None:
    require_whole("n_tenants", n_tenants, 1, LIMIT)
    require_whole("n_resources", n_resources, 1, LIMIT)
    # As measured; most of it are the pairs of row and column before and after they are sorted.
    require_memory(
        BYTES[0] * n_tenants + BYTES[1] * n_resources,
        f"a family of {n_tenants:,} tenants and {n_resources:,} resources",
        "take fewer of them",
    )


def _stream(n_tenants: int, n_resources: int, rng: Seed) -> np.random.Generator:
    _check_sizes(n_tenants, n_resources)
    return generator(rng)


def _rows(stream: np.random.Generator, n_tenants: int) -> Numbers:
    """Each tenant 1 to LONGEST times."""
    return np.repeat(np.arange(n_tenants), stream.integers(1, LONGEST + 1, n_tenants))


def _uniform(stream: np.random.Generator, size: int) -> FloatArray:
    """Uniform on (0, 1]."""
    return 1.0 - stream.random(size)


def _demands(
    values: FloatArray, rows: Numbers, columns: Numbers, n_tenants: int, n_resources: int
) -> SparseDemands:
    entries = sparse.coo_array((values, (rows, columns)), shape=(n_tenants, n_resources))
    return SparseDemands(entries.tocsr())


def _distinct(rows: Numbers, columns: Numbers, n_tenants: int, n_resources: int) -> sparse.csr_array:
    """Matrix with an entry wherever a pair of row and column occurs, sorted."""
    pairs = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_tenants, n_resources))
    return pairs.tocsr()


def _filled(pattern: sparse.csr_array, values: FloatArray) -> SparseDemands:
    pattern.data = values
    return SparseDemands(pattern)
