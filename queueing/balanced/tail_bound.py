r"""How large a box of states must be: a rigorous bound for balanced fairness.

Write :math:`a` for the share of a resource that one task holds, :math:`\varrho_j = \sum_i \rho_i a_{ij}` and
:math:`\ell_i` for the limits. The balance function of balanced fairness is the smallest one that fits the
capacities,

.. math:: \Phi(0) = 1, \qquad \Phi(x) = \max\Big(\max_j \sum_i a_{ij}\Phi(x - e_i),\
          \max_{i:\,x_i > 0} \frac{\Phi(x - e_i)}{x_i \ell_i}\Big).

Let :math:`\Psi(x)\rho^x` be the terms of the power series of
:math:`\prod_i e^{\rho_i/\ell_i} \prod_j (1 - \varrho_j)^{-1}`: a job visits an infinite-server station and
then one processor-sharing station per resource, one after the other (the store-and-forward network of [1]_).
Multiplying by :math:`1 - \varrho_j` leaves coefficients :math:`\ge 0`, so
:math:`\Psi(x) \ge \sum_i a_{ij}\Psi(x - e_i)`; differentiating with respect to :math:`\rho_i` gives
:math:`x_i \Psi(x) \ge \Psi(x - e_i)/\ell_i`. By induction :math:`\Phi \le \Psi`. Hence, with
:math:`G = \sum_x \Phi(x)\rho^x`,

.. math:: P(x_i \ge K) \le \frac{\Psi\text{-mass}}{G}\, P(N_i \ge K), \qquad
          N_i = \text{Poisson}(\rho_i/\ell_i) + \sum_j \text{Geometric}(q_{ij}), \quad
          q_{ij} = \frac{\rho_i a_{ij}}{1 - \varrho_j + \rho_i a_{ij}},

where the summands are independent. :math:`N_i` is log-concave, so the ratio of successive tails
:math:`P(N_i \ge k)` falls with :math:`k`: one ratio bounds all that follow.

References
----------
.. [1] T. Bonald, L. Massoulié, A. Proutière and J. Virtamo, "A queueing analysis of max-min fairness,
   proportional fairness and balanced fairness", Queueing Systems 53, 2006. DOI 10.1007/s11134-006-7587-7.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtrc

from fairness.errors import ModelError, UnstableError
from fairness.machine.compiling import stored
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from queueing.model.class_loads import binding_resources
from queueing.model.system import System
from queueing.states.box import SMALLEST

__all__ = ["INSTEAD", "StoreAndForward", "binding_resources", "free_shares"]

INSTEAD = (
    "take duration_bound, which encloses the means of jobs without limits, or simulate a policy that is "
    "near, such as ProportionalFair"
)
"""What to do where balanced fairness takes too much."""

SELDOM = 1e-3
"""Of a class that is there for less of the time, the tail is that in this time, times a thousand."""


class StoreAndForward:
    """The store-and-forward bound of a stable system; tails of its counts.

    Parameters
    ----------
    gain : ndarray of shape (n_classes, n_resources)
        rho_i a_ij/C_j, on binding resources; of classes, or of groups of them.
    ceiling : ndarray of shape (n_classes,)
        rho_i/l_i.
    resources : sequence of str
        Names, for messages.
    """

    def __init__(self, gain: FloatArray, ceiling: FloatArray, resources: Sequence[str]) -> None:
        self.gain, self.ceiling, self.resources = gain, ceiling, tuple(resources)
        self.active: NDArray[np.bool_] = gain.any(axis=1) | (ceiling > 0)
        self._free = free_shares(gain, resources)
        self._ratios = gain / (self._free + gain)
        self.log_mass = float(ceiling.sum() - np.log(self._free).sum())
        # G >= each of: one resource alone (a multinomial law), and all classes with their limits alone.
        self.log_floor = max(float(ceiling.sum()), float(-np.log(self._free.min(initial=1.0))))

    @classmethod
    def of(cls, system: System) -> StoreAndForward:
        """The bound of a stable pool, class by class."""
        gain = system.loads[:, None] * system.problem.task_shares
        used = binding_resources(gain)
        names = [system.problem.resources[j] for j in used]
        return cls(gain[:, used], system.loads / system.problem.limits, names)

    def tails(self, job_class: int, size: int) -> FloatArray:
        """Tails P(N >= k) of the bounding count of one class for k = 0 .. size; shape (size + 1,)."""
        require_memory(
            16.0 * size, "the tail of a job count", "reduce the load, or give the shape of the box"
        )
        mean = self.ceiling[job_class]
        tail = np.zeros(size + 1)
        tail[0] = 1.0
        if mean > 0:
            tail[1:] = pdtrc(np.arange(size), mean)
        for ratio in self._ratios[job_class]:
            if ratio > 0:
                _add_geometric.small(1, tail.size)(tail, float(ratio))
        return tail

    def box(self, tail: float) -> tuple[int, ...]:
        """Grid shape, states per class, outside which balanced fairness has probability at most ``tail``."""
        allowed = tail / max(1, int(self.active.sum())) * np.exp(self.log_floor - self.log_mass)
        if allowed < 1e3 * SMALLEST:
            raise ModelError(f"tail={tail:g} is too small for this load; give a larger tail or the shape")
        return tuple(self._size(i, allowed) if self.active[i] else 1 for i in range(len(self.active)))

    def _size(self, job_class: int, allowed: float) -> int:
        # One geometric part alone tells how far the tail reaches at least.
        gain = self.gain[job_class]
        decay = (self._free / (self._free + gain))[gain > 0].min(initial=1.0)
        horizon = max(64, int(-1.2 * np.log(allowed) / decay))
        while (tail := self.tails(job_class, horizon))[-1] > (most := allowed * min(1.0, tail[1] / SELDOM)):
            horizon *= 2
        return max(2, int(np.argmax(tail <= most)))

    def outside(self, shape: Sequence[int], log_mass_inside: float) -> tuple[float, FloatArray]:
        """Bounds on what a box leaves out.

        Parameters
        ----------
        shape : sequence of int
        log_mass_inside : float
            Logarithm of the sum of Phi(x) rho^x over the box.

        Returns
        -------
        probability : float
            Upper bound of the probability outside the box.
        jobs : ndarray of shape (n_classes,), jobs
            Upper bound of the part of E[x_i] that lies outside.
        """
        scale = np.exp(self.log_mass - log_mass_inside)
        probability, jobs = 0.0, np.zeros(len(self.active))
        for k in (int(i) for i in np.flatnonzero(self.active)):
            size = shape[k]
            tail = self.tails(k, size + 1)
            beyond, ratio = tail[size], tail[size + 1] / max(tail[size], SMALLEST)
            if beyond == 0:
                continue
            probability += scale * beyond
            own = beyond * (size - 1 + 1 / (1 - ratio))
            # At resource j, given c jobs of class k, there are (c + 1) others[i, j] of class i on average.
            others = self.gain / (self._free + self.gain[k])
            joint = others.max(axis=1, initial=0.0) * own + (others.sum(axis=1) + self.ceiling) * beyond
            joint[k] = own
            jobs += scale * joint
        return min(1.0, probability), jobs


def free_shares(gain: FloatArray, resources: Sequence[str], least: float = 0.0) -> FloatArray:
    """What the loads leave free of each resource, (n_resources,); UnstableError unless above ``least``."""
    free: FloatArray = 1.0 - gain.sum(axis=0)
    # A load below 1 by an ulp or two may be 1 when summed in this order.
    if (free <= least).any():
        name = resources[int(np.argmin(free))]
        raise UnstableError(
            f"the load of resource {name!r} is 1 up to rounding; reduce arrival_rates or mean_sizes"
        )
    return free


@stored(nogil=True)
def _add_geometric(tail: FloatArray, ratio: float) -> None:
    """Replace the tails P(N >= k) by those of N + Geometric(ratio): T'(k) = (1-q) T(k) + q T'(k-1)."""
    carry = 1.0
    for k in range(1, tail.size):
        carry = (1.0 - ratio) * tail[k] + ratio * carry
        if carry < SMALLEST:
            carry = 0.0
        tail[k] = carry
