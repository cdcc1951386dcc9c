r"""DC-DRF: extended DRF with resources that count as exhausted when a part epsilon of them is left.

Algorithm 2 of Kash et al. [1]_, the inner loop. Tenant i grows at the rate :math:`g_{ir}` on resource r (see
:mod:`fairness.cloud.rounds`). With :math:`\mu_{tr} = \sum_{i \in S_t} g_{ir}` of the growing tenants, round t
raises the level y of all of them and uses up what is free,

.. math:: x_t = \min_r s_{rt}/\mu_{tr}, \qquad y_t = y_{t-1} + x_t, \qquad
   s_{r,t+1} = s_{rt} - x_t \mu_{tr},

and evicts everybody who demands a resource with :math:`s_{r,t+1} \le \varepsilon`, at the level
:math:`z_i = y_t`. With :math:`\varepsilon = 0` this is EDRF. Three ideas of the paper make it faster than
Algorithm 1: epsilon, with which a round evicts more; :math:`\mu`, from which the rates of a tenant are
subtracted once, when it is evicted; and y and z, which stand for a sum per demand.

*What is done otherwise*, with the same result:

* Tenants to evict are found by asking the exhausted resources who demands them
  (:class:`~fairness.cloud.model.pattern.Pattern`), not by asking all tenants. So the cost is O(entries +
  rounds * resources), without the term O(rounds * tenants) of Lemma 3.2; and of all resources a round looks
  at one in 64, as follows.
* With :math:`F_r = \sum_{\text{evicted}} g_{ir} z_i` what is free is
  :math:`s_{r,t+1} = 1 - F_r - y_t \mu_{tr}`, so nothing needs to be subtracted in every round. A round
  searches two levels per resource, which change only when somebody who demands it is evicted
  (:mod:`fairness.cloud.engines.eviction`).

Nothing drifts, for the reasons given there. The result does not depend on the number of
threads, to the last bit.

References
----------
.. [1] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import frozen, require_number
from fairness.cloud.engines.eviction import run
from fairness.cloud.engines.loads import loads_of
from fairness.cloud.engines.threads import check_threads
from fairness.cloud.model.demands import SparseDemands
from fairness.cloud.model.pattern import Pattern
from fairness.cloud.rounds import Deadline, Rounds
from fairness.machine.memory import require_memory

__all__ = ["dcdrf"]


def dcdrf(
    demands: SparseDemands | Any,
    epsilon: float,
    weights: ArrayLike | None = None,
    *,
    pattern: Pattern | None = None,
    deadline: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
    threads: int | None = None,
) -> Rounds:
    """Extended DRF that takes a resource for exhausted when a part epsilon of it is left.

    Parameters
    ----------
    demands : SparseDemands or scipy sparse array of shape (n_tenants, n_resources)
        Parts of a resource per task, in (0, 1].
    epsilon : float
        In [0, 1); 0 gives the exact allocation.
    weights : array_like of shape (n_tenants,) or sparse with the pattern of the demands, optional
        Entitlements. Default: 1/n_tenants each. Only their ratios matter for the allocation.
    pattern : Pattern, optional
        From an earlier call with the same non-zero entries; saves the time to transpose them.
    deadline : float, optional
        Stop after the first round that ends more than so many seconds after the call; tenants that still
        grow keep what they have.
    clock : callable
        What tells the time, in seconds; called at the start and after each round, and only if there is a
        deadline.
    threads : int, optional
        Default: as many as there are cores; 1 is the paper's sDC-DRF. The allocation does not depend on it.
        (1 in a process that was forked from one that had used more, because GNU OpenMP does not survive a
        fork.)

    Returns
    -------
    Rounds

    Raises
    ------
    ModelError
        If demands or weights are not well-formed, the pattern has another shape, epsilon is not in [0, 1),
        or deadline or threads is not positive.
    NotConvergedError
        If weights differ by so many decades that rates of light tenants are lost beside those of heavy ones,
        or are so near the limits of a float that rates or levels are 0 or infinite.

    References
    ----------
    See :mod:`fairness.cloud.approximate`.

    Examples
    --------
    >>> demands = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
    >>> dcdrf(demands, epsilon=0).allocation().toarray()
    array([[0.75, 0.  ],
           [0.25, 0.5 ],
           [0.  , 0.5 ]])

    A quarter of the first resource is left when the second is full. That may be called exhausted:

    >>> result = dcdrf(demands, epsilon=0.25)
    >>> result.allocation().toarray()
    array([[0.5 , 0.  ],
           [0.25, 0.5 ],
           [0.  , 0.5 ]])
    >>> result.rounds
    1
    """
    epsilon = require_number("epsilon", epsilon, least=0, below=1)
    limit = Deadline(deadline, clock)
    given = demands if isinstance(demands, SparseDemands) else SparseDemands(demands)
    number = check_threads(threads, given.n_entries)
    if pattern is not None:
        pattern.check(given)
    with np.errstate(over="ignore"):
        growth = given.check_weights(weights) / given.largest
    n_bytes = 130 * given.n_resources + (40 + 8 * number) * given.n_tenants + given.n_entries / 2
    require_memory(n_bytes, f"DC-DRF of {given!r}", "take fewer tenants")
    begin = time.perf_counter()
    loads = loads_of(given, growth, number)
    seconds = {"load": time.perf_counter() - begin}
    passed = None if deadline is None else limit.passed
    state, _, misfit, more = run(given, growth, loads, epsilon, pattern, threads=number, passed=passed)
    rounds, left = int(state.progress[0]), int(state.progress[1])
    result = Rounds(
        demands=given,
        levels=state.stops()[0],
        growth=frozen(growth),
        free=frozen(np.maximum(0.0, state.left)),
        seconds=seconds | more,
        algorithm="DC-DRF",
        epsilon=epsilon,
        rounds=rounds,
        timed_out=limit.late,
        unfinished=left,
        round_levels=frozen(state.trail[:rounds].copy()),
    )
    return result._unless_lost(misfit)
