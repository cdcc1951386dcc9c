r"""Certificates of the stationary means of a finite chain, and their checker.

*Theorem.* Let C be a set of states of a finite chain that no rate leaves, f a function of the states, h any
function on C, and Q the generator. Every stationary law :math:`\pi` on C satisfies

.. math:: \min_{x \in C}\,(f + Qh)(x) \;\le\; E_\pi f \;\le\; \max_{x \in C}\,(f + Qh)(x) .

*Proof.* :math:`\pi Q = 0` on C, since nothing leads out of it, and sums are finite; so the mean of
:math:`f + Qh` is that of f, and a mean lies between the least and the largest value. ∎

The bounds are as close as h solves Poisson's equation :math:`f + Qh = c`; how h was found does not matter.
Where C is one closed class, its law is unique, and where it is the only one, it is that of the whole chain.

*Rounding.* h is a sum of two floats, :math:`h = h_1 + h_2`, as rates that span many decades would let the
roundings of one float be seen. A state adds :math:`f(x)` and the products :math:`q_{xy}(h(y) - h(x))`. The
difference of two floats is the sum of two floats exactly, their product, too, and the sum of two [1]_: so the
large parts are added without error, and what is left over is collected apart: K numbers, each a product of
at most two rounded factors, whose sum in floats is off by at most :math:`(K + 4) 2^{-53}` times the sum of
their absolute values, up to second order; twice that is added, and :math:`10^{-285}` for each product that is
too small to be split. What overflows becomes infinite or NaN, which bounds nothing.

References
----------
.. [1] T. Ogita, S. M. Rump and S. Oishi, "Accurate sum and dot product", SIAM J. Scientific Computing 26(6),
   2005. DOI 10.1137/030601818.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.exact.outward import outward
from fairness.machine.compiling import stored
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates import intervals
from queueing.certificates.bounded_means import BoundedMeans
from queueing.certificates.errors import CertificateError
from queueing.certificates.intervals import TINY, ULP, above, below
from queueing.certificates.rates import slack
from queueing.certificates.rates.slack import two_product, two_sum
from queueing.model.finite_chain import FiniteChain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ChainCertificate", "check_chain_certificate", "poisson_sides"]

SMALL = 1e-270
"""Products below this are not split."""
LOST = 1e-285
"""More than what rounding takes from such a product."""
SECONDS = 2e-8
"""Time per rate and mean, about."""


@dataclass(frozen=True, eq=False, repr=False)
class ChainCertificate(BoundedMeans):
    """Bounds of stationary means of a finite chain, with all that is needed to check them.

    Attributes
    ----------
    chain : FiniteChain
    states : ndarray of int of shape (n,)
        A set of states that is never left, rising; the laws are those on it.
    names : tuple of str
        Rewards, variables and labels of the chain, whose means (of labels: probabilities) are bounded.
    h, h_rest : ndarray of shape (n_names, n)
        The function of the theorem is their sum.
    lower, upper : ndarray of shape (n_names,)
        What is claimed of the means.
    """

    chain: FiniteChain
    states: NDArray[np.int64]
    names: tuple[str, ...]
    h: FloatArray
    h_rest: FloatArray
    lower: FloatArray
    upper: FloatArray

    def summary(self) -> str:
        """The claims, and the states they are about."""
        return "\n".join(
            [
                f"certificate of {len(self.names)} means of a finite chain",
                *self._claims(),
                f"  {len(self.states)} of {self.chain.n_states} states; check_certificate() checks it",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Middle of the bounds of each mean, with the bounds as error bars."""
        return self._drawn(ax, "bounds of stationary means")


def check_chain_certificate(
    certificate: ChainCertificate, exact: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds that a certificate proves; at least as narrow as those that it claims.

    With ``exact`` the sums are computed in fractions, and only the bounds are rounded, outward.

    Raises
    ------
    CertificateError
        If its arrays do not fit together, a rate leads out of its states, or more is claimed than follows; it
        names the state and the values.
    """
    c = certificate
    size = (len(c.names), len(c.states))
    _check_data(c, size)
    inside = np.zeros(c.chain.n_states, dtype=bool)
    inside[c.states] = True
    source = np.repeat(np.arange(c.chain.n_states), np.diff(c.chain.starts))
    leaving = inside[source] & ~inside[c.chain.targets]
    if leaving.any():
        k = int(np.flatnonzero(leaving)[0])
        raise CertificateError(
            "closed", f"a rate leads to state {c.chain.targets[k]}, which is not among states", (source[k],)
        )
    part = c.chain if inside.all() else c.chain.part(c.states)
    lower, upper = np.empty((2, size[0]))
    seconds = SECONDS * c.chain.n_transitions * size[0]
    with Task(f"check of {size[1]} states", size[0], "means", seconds) as task:
        for k, name in enumerate(c.names):
            f = c.chain.values(name)[c.states]
            sides = _exact_sides if exact else poisson_sides
            least, most = sides(part, f, c.h[k], c.h_rest[k])
            # h = 0 is one more certificate: a mean lies between the least and the largest value.
            lower[k], upper[k] = max(_finite(least.min(), -1), f.min()), min(_finite(most.max(), 1), f.max())
            for side, proved, claimed, at in (
                ("lower", lower[k], c.lower[k], least.argmin()),
                ("upper", upper[k], c.upper[k], most.argmax()),
            ):
                if not (proved >= claimed if side == "lower" else proved <= claimed):
                    raise CertificateError(
                        "inside",
                        f"{side} = {float(claimed)!r} is claimed of {name!r}, {float(proved)!r} is proved",
                        (c.states[at],),
                    )
            task.advance()
    return lower, upper


def _check_data(c: ChainCertificate, size: tuple[int, int]) -> None:
    """Refuse what is no certificate at all."""
    if not isinstance(c.chain, FiniteChain):
        raise CertificateError("data", f"chain must be a FiniteChain; got {type(c.chain).__name__}")
    _check_chain(c.chain)
    states = c.states
    good = isinstance(states, np.ndarray) and states.dtype == np.int64 and states.ndim == 1 and len(states)
    if not good or states[0] < 0 or states[-1] >= c.chain.n_states or not (np.diff(states) > 0).all():
        raise CertificateError("data", "states must be rising numbers of states of the chain")
    if unknown := [name for name in c.names if name not in c.chain.names]:
        raise CertificateError("data", f"the chain knows nothing of the name {unknown[0]!r}")
    for name, values, shape in (
        ("h", c.h, size),
        ("h_rest", c.h_rest, size),
        ("lower", c.lower, size[:1]),
        ("upper", c.upper, size[:1]),
    ):
        if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.shape != shape:
            raise CertificateError("data", f"{name} must be floats of shape {shape}")
        if name.startswith("h") and not np.isfinite(values).all():
            raise CertificateError("data", f"{name} holds numbers that are not finite")


def _check_chain(chain: FiniteChain) -> None:
    """Refuse a chain whose arrays were changed since it was made."""
    starts, targets, n = chain.starts, chain.targets, chain.n_states
    rising = starts[0] == 0 and (np.diff(starts) >= 0).all()
    if not rising or starts[-1] != len(targets) or len(targets) != len(chain.rates):
        raise CertificateError("data", "starts of the chain must rise from 0 to the number of its rates")
    if len(targets) and not (targets.min() >= 0 and targets.max() < n):
        raise CertificateError("data", "targets of the chain must be numbers of its states")
    if not ((chain.rates > 0) & np.isfinite(chain.rates)).all():
        raise CertificateError("data", "rates of the chain must be finite and > 0")
    for values in (*chain.rewards.values(), *chain.variables.values(), *chain.labels.values()):
        if values.shape != (n,) or not np.isfinite(values).all():
            raise CertificateError(
                "data", "rewards, variables and labels must be numbers, one for each state"
            )


def _finite(extreme: float, sign: int) -> float:
    """An extreme of some numbers; of NaN, which bounds nothing, infinity with that sign."""
    return sign * np.inf if np.isnan(extreme) else float(extreme)


def poisson_sides(
    chain: FiniteChain, f: FloatArray, h: FloatArray, rest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bounds of f + Q(h + rest) in all states."""
    lower, upper = np.empty((2, chain.n_states))
    _sides(Moves(chain.starts, chain.targets, chain.rates), f, h, rest, lower, upper)
    return lower, upper


def _exact_sides(
    chain: FiniteChain, f: FloatArray, h: FloatArray, rest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The bounds of :func:`poisson_sides` in fractions, rounded outward at the end."""
    whole = [Fraction(a) + Fraction(b) for a, b in zip(h.tolist(), rest.tolist(), strict=True)]
    values = []
    for i, here in enumerate(whole):
        own = slice(chain.starts[i], chain.starts[i + 1])
        moves = zip(chain.rates[own].tolist(), chain.targets[own].tolist(), strict=True)
        values.append(Fraction(float(f[i])) + sum(Fraction(q) * (whole[j] - here) for q, j in moves))
    lower, upper = outward([values])[:, 0]
    return lower, upper


class Moves(NamedTuple):
    """Those of a chain, state by state."""

    starts: NDArray[np.int64]
    targets: NDArray[np.int32]
    rates: FloatArray


@stored(intervals, slack, nogil=True, error_model="numpy")
def _sides(
    moves: Moves, f: FloatArray, h: FloatArray, rest: FloatArray, lower: FloatArray, upper: FloatArray
) -> None:
    """Bounds of :func:`poisson_sides`, state by state; see the module docstring."""
    starts, targets, rates = moves
    for i in range(len(f)):
        first, last = starts[i], starts[i + 1]
        large, small, size, tiny = f[i], 0.0, 0.0, 0
        for k in range(first, last):
            q, j = rates[k], targets[k]
            step, left = two_sum(h[j], -h[i])
            product, lacking = two_product(q, step)
            if abs(product) < SMALL:
                lacking = 0.0
                tiny += 1
            large, lost = two_sum(large, product)
            more, other = q * left, q * (rest[j] - rest[i])
            small += lost + lacking
            small += more
            small += other
            size += abs(lost) + abs(lacking) + abs(more) + abs(other)
        terms = 4.0 * (last - first) + 8.0
        whole = large + small
        # The roundings of small, of this bound, and of the last sum.
        error = above(above(terms * ULP * size) + above(ULP * abs(whole) + tiny * LOST + terms * TINY))
        lower[i], upper[i] = below(whole - error), above(whole + error)
