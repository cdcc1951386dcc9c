"""The policies of which the checker knows a definition and a proof of the drift, by name.

=================================== ==================================== ===================================
Policy                              tasks of a state                     drift
=================================== ==================================== ===================================
MMF, DRF (and EDRF), Asset          filling                              lemma of filling; or cell by cell
PF, alpha-fair (alpha > 0)          nearly optimal prices, handed in     lemma of alpha-fairness
BMF, two classes or one resource    as PF                                lemma of alpha-fairness
BMF, any classes                    levels (wide where not unique)       cell by cell
TSF, CDRF, C-DRFH, DRFH             levels, facets for resources         cell by cell
DRF per server                      levels on each server                cell by cell, where it is stable
PS-DSF, divided time                as PF, facets for resources          lemma of alpha-fairness
=================================== ==================================== ===================================

Not here: PS-DSF of divided resources, whose allocation is not unique and depends on the order of the servers;
maximum throughput (alpha = 0), which need not be stable below load 1; balanced fairness, which has bounds of
its own; policies that are functions of a user, of which there is no definition that could be enclosed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.family import Family, family_of
from queueing.certificates.certificate import Drift
from queueing.certificates.drifts import alpha_fair as alpha_fair_drift
from queueing.certificates.drifts import cells
from queueing.certificates.drifts import filling as filling_drift
from queueing.certificates.drifts.decay import decay, radius
from queueing.certificates.drifts.powers import fall
from queueing.certificates.errors import CertificateError
from queueing.certificates.pool import Pool
from queueing.certificates.rates import alpha_fair, filling, filling_intervals, levelling
from queueing.certificates.rates.alpha_fair import TIME_DIVISION

__all__ = ["BY_CELLS", "FAMILIES", "Checked", "certified", "family", "levelling_numbers", "pool_of"]

CLUSTER_POLICIES = (TIME_DIVISION, *levelling.LEVELLING_SERVERS)
"""Policies of clusters, by name; the others are for pools."""
LEXIMIN = {
    ("alone", True): "TSF",
    ("dedicated", True): "TSF dedicated",
    ("alone", False): "CDRF",
    ("pooled", True): "C-DRFH",
    ("pooled", False): "DRFH",
}
"""Names of leximin policies, by their yardstick and whether they know placement constraints."""
TSF_WEIGHTINGS = {"TSF": "equal", "TSF dedicated": "dedicated"}
"""The parameter that the names of TSF tell."""


@dataclass(frozen=True)
class Checked:
    """What the checker asks a family of policies for.

    Attributes
    ----------
    tasks : callable
        The compiled kernel of :mod:`queueing.certificates.rates.interface`.
    numbers : callable
        ``numbers(pool, policy, parameters)``: what its ``Rates.numbers`` are, a matrix of floats.
        CertificateError where the parameters, or the pool, are not those of the policy.
    memory : callable
        ``memory(n, m)``: floats of work space.
    spare : callable
        ``spare(pool, policy, parameters, drift, least)``: the lemma. A number delta > 0, proved, such that
        ``sum_i dT/dx_i ((1 + delta) lambda_i - mu_i phi_i(x)) <= 0`` in all states with T(x) >= ``least``.
        CertificateError where there is none.
    spares : callable, optional
        The same with a number for each class, as a list, where the lemma has such.
    guess_size : callable, optional
        ``guess_size(n, m)``: floats of the guess that ``tasks`` verifies; 0 where it wants none.
    exact : callable, optional
        ``exact(pool, policy, parameters, counts)``: the tasks as fractions, by the definition.
    """

    tasks: Any
    numbers: Callable[[Pool, str, Mapping[str, Any]], FloatArray]
    memory: Callable[[int, int], int]
    spare: Callable[[Pool, str, Mapping[str, Any], Drift, float], float]
    exact: Callable[[Pool, str, Mapping[str, Any], Sequence[int]], list[Fraction]] | None = None
    spares: Callable[[Pool, str, Mapping[str, Any], Drift, float], list[float]] | None = None
    guess_size: Callable[[int, int], int] = lambda n, m: 0

    def decay(
        self, pool: Pool, policy: str, parameters: Mapping[str, Any], drift: Drift, shape: tuple[int, ...]
    ) -> float:
        """The gamma of a drift function that is proved outside of a box; not positive where there is none.

        CertificateError where the policy has no spare, the box is too small for V, or V leaves the floats.
        """
        least = radius(drift, pool, shape)
        try:
            if drift.theta > 0 and pool.phases.n_phases > 1:
                raise CertificateError("drift", "where arrivals have phases, V must be a power: theta = 0")
            if drift.theta > 0:
                return decay(drift, pool, shape, self.spare(pool, policy, parameters, drift, least))
            if self.spares is None:
                spares = [self.spare(pool, policy, parameters, drift, least)] * pool.n
            else:
                spares = self.spares(pool, policy, parameters, drift, least)
            return fall(drift, pool, shape, spares)
        except (ValueError, ArithmeticError) as error:
            # Intervals that are as wide as all floats.
            raise CertificateError(
                "drift",
                f"numbers of the proof leave the floats ({error}); take an exponent, scales or a theta that "
                "are nearer to 1",
            ) from None


def certified(policy: object) -> tuple[str, dict[str, Any]]:
    """A policy as certificates tell it, a name and parameters; CertificateError if it has no definition here.

    Examples
    --------
    >>> from fairness import DRF, AlphaFair
    >>> certified(DRF()), certified(AlphaFair(2)), certified(AlphaFair(float("inf")))
    (('DRF', {}), ('alpha-fair', {'alpha': 2.0}), ('MMF', {}))
    """
    match family_of(policy):
        case Family("filling", {"growth": growth, **given}) if growth in filling.GROWTH.values():
            return next(name for name, own in filling.GROWTH.items() if own == growth), given
        case Family("alpha-fair", {"alpha": alpha}):
            return ("PF", {}) if alpha == 1 else ("alpha-fair", {"alpha": alpha})
        case Family("bottleneck-max"):
            return "BMF", {}
        case Family("leximin", {"yardstick": yardstick, "constraints": kept}) if (yardstick, kept) in LEXIMIN:
            return LEXIMIN[yardstick, kept], {}
        case Family("filling per server", {"growth": "dominant"}):
            return "DRF per server", {}
        case Family("per-server dominant share", {"division": "time"}):
            return TIME_DIVISION, {}
    raise CertificateError("data", "it is not known to the checker")


def pool_of(system: Any, policy: str) -> Pool:
    """The pool of a system as a policy sees it; CertificateError if the policy is not for such a system."""
    pool = Pool.of(system, divides_time=policy == TIME_DIVISION, phased=True)
    if isinstance(pool.problem, Cluster) != (policy in CLUSTER_POLICIES):
        model = "a pool" if isinstance(pool.problem, Problem) else "a cluster"
        raise CertificateError("data", f"{policy} is no policy of {model}")
    return pool


def levelling_numbers(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> FloatArray:
    """Those of :func:`queueing.certificates.rates.levelling.numbers`, for the classes with arrivals."""
    given = dict(parameters)
    if policy == "DRF":
        filling.growth(pool, policy, parameters)  # looks at the parameters
    elif (
        policy in TSF_WEIGHTINGS and given.pop("weighting", TSF_WEIGHTINGS[policy]) != TSF_WEIGHTINGS[policy]
    ):
        raise CertificateError("data", f"{policy} has the weighting {TSF_WEIGHTINGS[policy]!r}")
    if given and policy != "DRF":
        raise CertificateError("data", f"{policy} has no parameter {next(iter(given))!r}")
    try:
        return levelling.numbers(pool.problem, pool.classes.tolist(), policy, parameters)
    except ModelError as error:
        raise CertificateError("data", str(error)) from None


def _cells_spare(pool: Pool, policy: str, parameters: Mapping[str, Any], drift: Drift, least: float) -> float:
    return cells.spare(pool, levelling_numbers(pool, policy, parameters), drift, least)


_FILLING = Checked(filling.tasks, filling.numbers, filling.memory, filling_drift.spare, filling.exact_tasks)
_ALPHA_FAIR = Checked(
    *(alpha_fair.tasks, alpha_fair.numbers, alpha_fair.memory, alpha_fair_drift.spare),
    spares=alpha_fair_drift.spares,
    guess_size=alpha_fair.guess_size,
)
_FILLING_BY_CELLS = replace(_FILLING, spare=_cells_spare)
_LEVELLING = Checked(filling_intervals.tasks, levelling_numbers, filling_intervals.memory, _cells_spare)

FAMILIES: Mapping[str, Checked] = {
    "MMF": _FILLING,
    "DRF": _FILLING,
    "Asset": _FILLING,
    "PF": _ALPHA_FAIR,
    "alpha-fair": _ALPHA_FAIR,
    "BMF": _ALPHA_FAIR,
    TIME_DIVISION: _ALPHA_FAIR,
    **dict.fromkeys(levelling.LEVELLING_SERVERS, _LEVELLING),
}
"""By the name of the policy; parameters are the arguments of its class, by name."""

BY_CELLS: Mapping[str, Checked] = {
    "MMF": _FILLING_BY_CELLS,
    "DRF": _FILLING_BY_CELLS,
    "Asset": _FILLING_BY_CELLS,
    "BMF": _LEVELLING,
    **dict.fromkeys(levelling.LEVELLING_SERVERS, _LEVELLING),
}
"""Those whose drift may be claimed, as ``hints["spare"]``, and is then proved cell by cell."""


def family(policy: Any, drift: Drift | None = None) -> Checked:
    """Family of a policy, by the proof that the drift wants; CertificateError if there is none."""
    if not isinstance(policy, str) or policy not in FAMILIES:
        raise CertificateError("data", f"policy {policy!r:.80} has no definition here")
    if drift is None or "spare" not in drift.hints:
        return FAMILIES[policy]
    if policy not in BY_CELLS:
        raise CertificateError(
            "drift", f"a claimed spare is proved for {', '.join(BY_CELLS)} alone; {policy} has a lemma"
        )
    return BY_CELLS[policy]
