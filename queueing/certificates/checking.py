r"""The checker: whether a certificate proves its bounds of stationary means, in one pass over a box.

Let :math:`Qg(x) = \sum_i \lambda_i (g(x+e_i) - g(x)) + \mu_i\varphi_i(x) (g(x-e_i) - g(x))`, and let A, V, h,
v and :math:`\delta` be as in :mod:`queueing.certificates.certificate`. P(x) is the state of the box nearest
to x, :math:`P(x)_i = \min(x_i, s_i - 1)`. Outside of the box h is continued by :math:`h(P(x))` and v by V.

*Theorem.* Let

- ("drift") :math:`QV \le -\gamma V` outside of A with :math:`\gamma > 0`, where :math:`V \ge 1`;
- ("inside") :math:`f + Q(h + \delta v) \le \bar c` and :math:`f + Q(h - \delta v) \ge \underline c` on A;
- ("face") :math:`v \le V` in all states of A with some :math:`x_i = s_i - 1`;
- ("outside") :math:`D + f - \bar c \le \delta\gamma V` and :math:`\underline c + D - f \le \delta\gamma V`
  outside of A, where :math:`D = \sum_i (\lambda_i + \mu_i\bar\varphi_i) D_i`, :math:`\bar\varphi_i` bounds
  the tasks and :math:`D_i` the steps :math:`|h(y+e_i) - h(y)|` between states of A that lie on a face
  :math:`y_k = s_k - 1` of another class.

Then :math:`\underline c \le E f \le \bar c` under every stationary law. *Proof.* :math:`W = V` outside of A
and 0 on A satisfies :math:`QW \le -\gamma W + b 1_A`; the rates out of all states are bounded, so the chain
does not explode, and :math:`\pi(W) \le b/\gamma` for every stationary law :math:`\pi` [1]_, [2]_. The
functions :math:`g^\pm = h \pm \delta v`, continued, are at most a constant plus :math:`\delta W` in size, and
rates are bounded, so :math:`\pi(Qg^\pm) = 0`. Outside of A a move in a direction i with :math:`x_i \ge s_i`
leaves P(x), another one changes h by at most :math:`D_i`, so :math:`|Qh| \le D`; and Qv is at most QV there,
since a neighbour in A lies on a face and :math:`v \le V`. So :math:`f + Qg^+ \le f + D - \delta\gamma V \le
\bar c` outside, and likewise below. Sum over :math:`\pi`. ∎

*Outside, for all states at once.* f is at most :math:`K T^m` with m = 0 (probabilities), 1 or 2:
:math:`x_i \le T/b_i`, and :math:`\sum_i x_i \le T\sum_i 1/b_i`. If :math:`\theta T_A \ge m` then
:math:`T^m \le T_A^m V` outside, since :math:`\log(T/T_A) \le (T - T_A)/T_A`; so :math:`\max(D - \bar c, 0) +
K T_A^m \le \delta\gamma` suffices for the first condition, :math:`\underline c + D \le \delta\gamma` for the
second.

*Powers.* If :math:`V = (T/T_A)^p`, all this holds with :math:`QV \le -\gamma U`, :math:`U(x) = \max(1,
\max_i x_i/s_i)^{p-1}`, and U in place of V in "outside": :math:`\pi(U)` is finite, as :math:`\pi(Q
\min(V, N)) = 0` for all N, and the steps of :math:`g^\pm` are at most a constant times :math:`(1 +
|x|)^{p-1}`, so :math:`\pi(Qg^\pm) = 0`. f of degree :math:`m \le p - 1` is at most f(s) U, which takes the
place of :math:`K T_A^m`.

*Arrivals with phases* (:mod:`queueing.certificates.arrival_phases`). States are pairs of counts and a phase a
of all classes together, V is a power (:mod:`queueing.certificates.drifts.powers`), and all this holds with Q
of the pairs, h continued by :math:`h(P(x), a)`. An arrival at a face :math:`x_i = s_i - 1` changes the phase
alone: so outside of A a change of phase matters, too. There h moves from :math:`(P(x), a)` to :math:`(P(x),
b)` and then by at most :math:`D_i`, now the largest in any phase; so D has the largest rate of arrivals in
a phase in place of :math:`\lambda_i`, and one term more, the largest :math:`\sum_b r_{ab} |h(y, b) - h(y,
a)|` of states y of A on a face, with the rates :math:`r_{ab}` of all moves to other phases.

How h, v and V were found does not matter. Tasks are recomputed from the definition of the policy
(:mod:`queueing.certificates.rates`), the decay of V from a lemma (:mod:`queueing.certificates.drifts`),
everything rounded outward (:mod:`queueing.certificates.intervals`).

References
----------
.. [1] S. P. Meyn and R. L. Tweedie, "Stability of Markovian processes III: Foster-Lyapunov criteria for
   continuous-time processes", Adv. Appl. Prob. 25, 1993. DOI 10.2307/1427522.
.. [2] P. W. Glynn and A. Zeevi, "Bounding stationary expectations of Markov processes", in Markov processes
   and related topics, IMS Collections 4, 2008. DOI 10.1214/074921708000000381.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.errors import ModelError
from fairness.exact.outward import above, below, outward
from fairness.machine.compiling import first_class
from fairness.machine.cores import available_cores
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates.box_pass import (
    ALL,
    AT_LEAST,
    JOBS,
    PRODUCTS,
    Claim,
    Found,
    Outside,
    box_pass,
    nothing_found,
    outside_powers,
)
from queueing.certificates.certificate import Certificate, Drift, Functional
from queueing.certificates.chain_certificate import ChainCertificate, check_chain_certificate
from queueing.certificates.drifts.decay import radius
from queueing.certificates.errors import CertificateError
from queueing.certificates.exact_pass import exact_pass
from queueing.certificates.families import family, pool_of
from queueing.certificates.intervals import Interval, total
from queueing.certificates.lower_certificate import LowerCertificate
from queueing.certificates.rates.interface import Guessing, rates_of
from queueing.certificates.upper_certificate import UpperCertificate

__all__ = ["Bounds", "Checkable", "proved"]

KINDS = {"jobs": JOBS, "products": PRODUCTS, "at least": AT_LEAST}
SECONDS = 4e-7
"""Time per state, functional and class, about."""
LARGEST = 1e100
"""Of numbers in h, v and delta: products with rates are floats then."""
SLAB = 2**12
"""States whose guesses are in memory at a time."""
MOST_JOBS = 2**25
"""Sum of the sides of a box: products of counts are exact then."""


Checkable = Certificate | ChainCertificate | LowerCertificate | UpperCertificate


class Bounds(NamedTuple):
    """What a checker has proved of the means of the functionals, in their order."""

    lower: FloatArray
    upper: FloatArray


def proved(certificate: Checkable, exact: bool, guess: Guessing) -> Bounds:
    """What :func:`queueing.check_certificate` returns; ``guess`` finds prices, of which none is trusted."""
    if isinstance(certificate, LowerCertificate):
        return Bounds(np.array([below(certificate.check())]), certificate.upper)
    if isinstance(certificate, UpperCertificate):
        return Bounds(certificate.lower, np.array([above(certificate.check())]))
    if isinstance(certificate, ChainCertificate):
        return Bounds(*check_chain_certificate(certificate, exact))
    return _Checker(certificate).bounds(exact, guess)


class _Checker:
    """One certificate; its data are looked at first, then one condition after the other."""

    def __init__(self, certificate: Certificate) -> None:
        if not isinstance(certificate, Certificate):
            raise CertificateError("data", f"must be a Certificate; got {type(certificate).__name__}")
        self.certificate = certificate
        self._check_kinds()
        self.family = family(certificate.policy, certificate.drift)
        self.pool = pool = pool_of(certificate.system, certificate.policy)
        self.numbers = self.family.numbers(pool, certificate.policy, certificate.parameters)
        self._check_box()
        self._check_functionals()
        self._check_drift()
        self.functionals = self._table()

    def bounds(self, exact: bool, guess: Guessing) -> Bounds:
        """All conditions; the bounds are what they give, compared with the claims."""
        c, drift = self.certificate, self.certificate.drift
        gamma = self.family.decay(self.pool, c.policy, c.parameters, drift, c.shape)
        if not drift.gamma <= gamma:
            raise CertificateError(
                "drift",
                f"gamma = {drift.gamma:.6g} is claimed, {gamma:.6g} is proved; take a larger box, "
                "or a smaller theta or gamma",
            )
        found = self._exact() if exact else self._pass(guess)
        if not found.excess[0] <= 0:
            raise CertificateError(
                "face", f"v exceeds V by {found.excess[0]:.6g}", self._state(found.excess_at[0])
            )
        return self._compared(found)

    # The data.

    def _check_kinds(self) -> None:
        """A file may hold anything."""
        c = self.certificate
        if not isinstance(c.drift, Drift) or not isinstance(c.drift.hints, dict):
            raise CertificateError("data", "drift must be a Drift, and its hints a dict")
        if not isinstance(c.parameters, dict) or not isinstance(c.functionals, tuple):
            raise CertificateError("data", "parameters must be a dict, and functionals a tuple")

    def _check_box(self) -> None:
        c, n = self.certificate, self.certificate.system.n_classes
        shape = c.shape
        whole = isinstance(shape, tuple) and all(type(side) is int and side >= 1 for side in shape)
        if not whole or len(shape) != n or sum(shape) > MOST_JOBS:
            raise CertificateError("data", f"shape must be {n} whole numbers >= 1; got {shape!r:.80}")
        live = set(self.pool.classes.tolist())
        for i, side in enumerate(shape):
            if (i in live) != (side > 1):
                raise CertificateError(
                    "data",
                    f"shape[{i}] = {side}: classes with arrivals need at least 2 states, others have 1",
                )
        n_f, m = len(c.functionals), self.pool.phases.n_phases
        states = shape if m == 1 else (*shape, m)
        for name, values, expected in (
            ("h", c.h, (n_f, *states)),
            ("v", c.v, states),
            ("delta", c.delta, (n_f,)),
            ("lower", c.lower, (n_f,)),
            ("upper", c.upper, (n_f,)),
        ):
            if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.shape != expected:
                raise CertificateError("data", f"{name} must be floats of shape {expected}")
            if name in ("h", "v", "delta") and not (np.abs(values) <= LARGEST).all():
                raise CertificateError("data", f"{name} holds numbers that are not within {LARGEST:g}")
        if not (c.delta >= 0).all():
            raise CertificateError("data", "delta must be >= 0")

    def _check_functionals(self) -> None:
        n = self.certificate.system.n_classes
        for one in self.certificate.functionals:
            named = isinstance(one, Functional) and isinstance(one.kind, str) and one.kind in KINDS
            if not named or type(one.level) is not int or abs(one.level) > MOST_JOBS:
                raise CertificateError("data", f"{one!r:.80} is no functional")
            for place in (one.job_class, one.other_class):
                if place is not None and not (type(place) is int and 0 <= place < n):
                    raise CertificateError("data", f"{one!r:.80} names a class that does not exist")

    def _check_drift(self) -> None:
        drift, n = self.certificate.drift, self.certificate.system.n_classes
        scales = drift.scales
        if not isinstance(scales, np.ndarray) or scales.dtype != np.float64 or scales.shape != (n,):
            raise CertificateError("data", f"scales must be floats of shape ({n},)")
        power = type(drift.theta) is float and drift.theta == 0
        for name, value, least in (
            ("exponent", drift.exponent, 2.0 if power else 1.001),
            ("theta", drift.theta, 0.0 if power else 1e-50),
            ("gamma", drift.gamma, 1e-50),
            *((f"scales[{i}]", float(scales[i]), 1e-50) for i in self.pool.classes),
        ):
            if type(value) is not float or not least <= value <= 1e50:
                raise CertificateError(
                    "data", f"{name} must be a float from {least:g} to 1e+50; got {value!r}"
                )

    def _table(self) -> IntArray:
        """Functionals as the pass wants them, (n_f, 4); classes are counted among those with arrivals."""
        place = {int(k): i for i, k in enumerate(self.pool.classes)}
        rows = []
        for one in self.certificate.functionals:
            # A class without arrivals has no jobs: it is none of those that are counted.
            first, second = (
                ALL if k is None else place.get(k, self.pool.n) for k in (one.job_class, one.other_class)
            )
            if one.kind == "products" and one.other_class is None:
                second = first
            rows.append((KINDS[one.kind], first, second, one.level))
        return np.array(rows, dtype=np.int64).reshape(-1, 4)

    # The conditions.

    @property
    def radius(self) -> float:
        """T_A."""
        return radius(self.certificate.drift, self.pool, self.certificate.shape)

    def _outside(self) -> Outside:
        """V on the states next to the box."""
        drift, pool = self.certificate.drift, self.pool
        sides = [self.certificate.shape[i] for i in pool.classes]
        lower, upper = np.zeros((2, pool.phases.n_phases, pool.n, max(sides) + 1))
        ahead = outward(pool.phases.ahead)
        outside_powers(drift.scales[pool.classes], ahead, self.radius, drift.exponent, lower, upper)
        steep = Interval.of(drift.theta) * self.radius
        ends = [steep.low, steep.high] if drift.theta > 0 else [0.0, 0.0]
        return Outside(drift.exponent, np.array(ends), lower, upper)

    def _claim(self) -> Claim:
        """What the certificate says, as the passes want it."""
        c, pool = self.certificate, self.pool
        shape = np.array([c.shape[i] for i in pool.classes])
        states = int(shape.prod()) * pool.phases.n_phases
        return Claim(
            *(pool.phases.for_kernel(), pool.mean_sizes, self._outside()),
            *(self.functionals, np.ascontiguousarray(c.delta), shape),
            *(np.ascontiguousarray(c.h).reshape(-1, states), np.ascontiguousarray(c.v).reshape(states)),
        )

    def _pass(self, guess: Guessing) -> Found:
        """Everything that is to be known of h and v, found by threads that share the box."""
        pool, claim = self.pool, self._claim()
        m, n_f = pool.phases.n_phases, len(claim.h)
        states = len(claim.v) // m
        rates = rates_of(pool, self.numbers)
        space, guess_size = (
            self.family.memory(*pool.demands.shape),
            self.family.guess_size(*pool.demands.shape),
        )
        state, row, memory = np.zeros(pool.n, dtype=np.int64), np.zeros(pool.n), np.zeros(space)
        tasks = first_class(self.family.tasks, rates, state, row, row, memory)
        threads = max(1, min(available_cores(), states // 10_000))
        seconds = SECONDS * states * m * pool.n * (1 + n_f) / threads
        # Parts that follow one another, so that each thread moves from a state to its neighbour.
        parts = max(threads, min(1000, math.ceil(seconds / 0.1)))
        ends = [states * k // parts for k in range(parts + 1)]

        def part(start: int, stop: int) -> Found:
            found = nothing_found(n_f, pool.n)
            places, space_of_pass = np.zeros((2, pool.n), dtype=np.int64), np.zeros(4 * pool.n + space)
            for first in range(start, stop, SLAB):
                last = min(first + SLAB, stop)
                guesses = np.zeros((last - first, guess_size))
                if guess_size > 0:
                    counts = np.stack(np.unravel_index(np.arange(first, last), claim.shape), axis=1)
                    guess(rates, counts, guesses)
                box_pass(tasks, rates, claim, np.array([first, last]), guesses, found, places, space_of_pass)
            return found

        with (
            Task(f"check of {states} states", states, "states", seconds) as task,
            ThreadPoolExecutor(threads) as pool_of_threads,
        ):
            results = []
            for k, found in enumerate(pool_of_threads.map(part, ends[:-1], ends[1:])):
                results.append(found)
                task.advance(ends[k + 1] - ends[k])
        return _merged(results)

    def _exact(self) -> Found:
        """The same in fractions."""
        c, pool, tasks = self.certificate, self.pool, self.family.exact
        if tasks is None:
            raise ModelError.of(
                "exact", f"is True, but tasks of {c.policy!r} are no fractions; check with exact=False"
            )

        def tasks_in(counts: Sequence[int]) -> list[Fraction]:
            return tasks(pool, c.policy, c.parameters, counts)

        try:
            return exact_pass(tasks_in, self._claim(), pool.phases)
        except OverflowError:
            told = "V next to the box, or a flow, is above all floats; other scales may do"
            raise CertificateError("inside", told) from None

    def _compared(self, found: Found) -> Bounds:
        """Bounds by the conditions "inside" and "outside"; CertificateError if more is claimed."""
        c, drift = self.certificate, self.certificate.drift
        lower, upper = np.empty(len(c.delta)), np.empty(len(c.delta))
        for f, one in enumerate(c.functionals):
            allowed = (Interval.of(c.delta[f]) * drift.gamma).low
            *apart, turn = found.steps[f]
            between = total(
                (Interval.of(rate) + most / float(size)) * float(step)
                for rate, size, most, step in zip(
                    self.pool.phases.peaks(),
                    self.pool.mean_sizes,
                    self.pool.most_tasks,
                    apart,
                    strict=True,
                )
            )
            steps = (between + float(turn) if turn else between).high
            growth = self._growth(one)
            if not growth <= allowed:
                raise CertificateError(
                    "outside",
                    f"delta gamma = {allowed:.6g} for {one.name}, which needs at least {growth:.6g}",
                )
            beyond = (Interval.of(steps) + growth - allowed).high
            upper[f] = max(found.highest[f], beyond)
            lower[f] = min(found.lowest[f], (Interval.of(allowed) - steps).low)
            for side, proved, claimed, inside, at in (
                ("upper", upper[f], c.upper[f], found.highest[f], found.highest_at[f]),
                ("lower", lower[f], c.lower[f], found.lowest[f], found.lowest_at[f]),
            ):
                if proved == claimed or (proved < claimed if side == "upper" else proved > claimed):
                    continue
                within = proved == inside
                raise CertificateError(
                    "inside" if within else "outside",
                    f"{side} = {float(claimed)!r} is claimed of {one.name}, {float(proved)!r} is proved",
                    self._state(at) if within else None,
                )
        return Bounds(lower, upper)

    def _growth(self, one: Functional) -> float:
        """K: f is at most this times U outside."""
        c, drift, degree = self.certificate, self.certificate.drift, len(one.factors)
        if drift.theta > 0:
            if not (Interval.of(drift.theta) * self.radius).low >= degree:
                raise CertificateError("outside", f"theta T_A must be at least {degree} for {one.name}")
            each = {int(k): Interval.of(self.radius) / float(drift.scales[k]) for k in self.pool.classes}
        else:
            if not drift.exponent >= degree + 1:
                raise CertificateError(
                    "outside", f"the exponent must be at least {degree + 1} for {one.name}"
                )
            each = {int(k): Interval.of(float(c.shape[k])) for k in self.pool.classes}
        return one.largest(each).high

    def _state(self, index: int) -> tuple[int, ...]:
        shape = self.certificate.shape
        return tuple(int(k) for k in np.unravel_index(int(index), shape))


def _merged(parts: list[Found]) -> Found:
    """Extremes over all parts."""
    whole = parts[0]
    for part in parts[1:]:
        for values, at, more, more_at, sign in (
            (whole.highest, whole.highest_at, part.highest, part.highest_at, 1),
            (whole.lowest, whole.lowest_at, part.lowest, part.lowest_at, -1),
            (whole.excess, whole.excess_at, part.excess, part.excess_at, 1),
        ):
            better = ~(sign * more <= sign * values)
            values[better], at[better] = more[better], more_at[better]
        np.maximum(whole.steps, part.steps, out=whole.steps)
    return whole
