"""Certificates of the least costs: their definitions in plain fractions, and what is refused."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fairness import Problem
from queueing import CertificateError, System, check_certificate, optimal
from queueing.certificates.cost_certificate import Numbers
from queueing.certificates.lower_certificate import LowerCertificate
from queueing.certificates.running import running
from queueing.certificates.state_function import StateFunction
from queueing.certificates.table_policy import TablePolicy
from queueing.certificates.upper_certificate import UpperCertificate, far_bound

SYSTEM = System(Problem([[2, 1], [1, 2]], [3, 3]), [Fraction(1, 2), Fraction(1, 3)], [1, Fraction(3, 2)])
LIMITED = System(Problem([[2, 1], [1, 2]], [3, 3], limits=[0.4, 4]), [0.5, 0.2], [1, 1.5])


@pytest.fixture(scope="module", params=[SYSTEM, LIMITED], ids=["free", "limited"])
def best(request):
    # Less precisely, the bound by hand would be near enough, and the lower certificate have no states.
    return optimal(request.param, cost=[1, 2], precision=0.05)


# --- the definitions ------------------------------------------------------------------------------------


def can_run(problem, state):
    """Vertices of what can run in a state, by all pairs of tight rows; fractions."""
    rows = [
        ([Fraction(a) for a in column], Fraction(c))
        for column, c in zip(problem.demands.T, problem.capacities, strict=True)
    ]
    for i, (x, limit) in enumerate(zip(state, problem.limits.tolist(), strict=True)):
        unit = [Fraction(int(i == k)) for k in range(2)]
        rows.append(([-u for u in unit], Fraction(0)))
        if x == 0 or np.isfinite(limit):
            rows.append((unit, Fraction(limit) * x if x else Fraction(0)))
    for (one, a), (other, b) in product(rows, rows):
        det = one[0] * other[1] - one[1] * other[0]
        if det:
            point = ((a * other[1] - b * one[1]) / det, (b * one[0] - a * other[0]) / det)
            if all(g[0] * point[0] + g[1] * point[1] <= h for g, h in rows):
                yield point


def table_of(states, values, bits):
    return {
        tuple(x): Fraction(v) * Fraction(2) ** -bits
        for x, v in zip(states.tolist(), values.tolist(), strict=True)
    }


def drift(system, h, state, tasks):
    """Qh in a state, for h as a function."""
    rates, sizes = system.as_fractions()
    total = Fraction(0)
    for i in range(2):
        up, down = list(state), list(state)
        up[i], down[i] = up[i] + 1, down[i] - 1
        total += rates[i] * (h(tuple(up)) - h(state))
        if state[i]:
            total += tasks[i] / sizes[i] * (h(tuple(down)) - h(state))
    return total


def test_the_lower_bound_by_its_definition(best):
    proof = best.lower_proof
    known = table_of(proof.states, proof.h, proof.bits)
    far = proof.states.max(axis=0) + 3
    values = {}
    for state in product(*map(range, far.tolist())):
        least = min(
            drift(best.system, lambda x: known.get(x, 0), state, tasks)
            for tasks in can_run(best.system.problem, state)
        )
        values[state] = state[0] + 2 * state[1] + least
    assert min(values.values()) == proof.check()
    assert proof.bound <= proof.check() <= proof.bound + Fraction(1, 10**12)
    assert check_certificate(proof).lower[0] == proof.lower[0]


def test_the_upper_bound_by_its_definition(best):
    proof, system = best.upper_proof, best.system
    known = table_of(proof.states, proof.h, proof.bits)
    _, sizes = system.as_fractions()
    gains = [Fraction(g) for g in proof.policy.gains.tolist()]

    def u(x):
        square = sum(g * s * k * k for g, s, k in zip(gains, sizes, x, strict=True))
        return proof.factor / 2 * square + known.get(x, 0)

    far = proof.states.max(axis=0) + 8
    states = list(product(*map(range, far.tolist())))
    tasks = proof.policy(system.problem, np.array(states, dtype=float))
    values = [
        x[0] + 2 * x[1] + drift(system, u, x, [Fraction(t) for t in row])
        for x, row in zip(states, tasks.tolist(), strict=True)
    ]
    assert max(values) <= proof.check() <= proof.bound
    assert check_certificate(proof) == (0.0, proof.upper[0])


def test_the_bound_far_away(best):
    """Its formula once more, and that it holds under the largest weight, in all states."""
    proof, system, (rates, sizes) = best.upper_proof, best.system, best.system.as_fractions()
    gains = [Fraction(g) for g in proof.policy.gains.tolist()]
    constant, slopes = far_bound(system.problem, Numbers.of(system, proof.costs), gains, proof.factor)
    demands, eta = np.vectorize(Fraction)(system.problem.demands), Fraction(1, 2**40)
    loads = np.array(rates) * np.array(sizes)
    most = [Fraction(3, 2)] * 2
    theta = min((3 - loads @ demands) / (most @ demands))
    points = loads + theta * np.array(most)
    assert slopes == [
        w + proof.factor * g * (rho - p * (1 - eta))
        for w, g, rho, p in zip(proof.costs, gains, loads, points, strict=True)
    ]
    full = max(gains[0] * x + gains[1] * y for x, y in can_run(system.problem, (9, 9)))
    # Jobs of class 1 are limited where they are fewer than four.
    limited = 0 if system is SYSTEM else 4 * gains[0] * points[0]
    ends = (gains @ loads + full * (1 + eta)) / 2
    assert constant == proof.factor * (limited + ends)

    def square(x):
        return proof.factor / 2 * sum(g * s * k * k for g, s, k in zip(gains, sizes, x, strict=True))

    for x in product(range(0, 200, 9), range(0, 200, 9)):
        tasks = max(
            can_run(system.problem, x), key=lambda phi: gains[0] * x[0] * phi[0] + gains[1] * x[1] * phi[1]
        )
        value = x[0] + 2 * x[1] + drift(system, square, x, tasks)
        assert value <= constant + slopes[0] * x[0] + slopes[1] * x[1]


def test_vertices_by_their_definition(best):
    found = running(best.system.problem, [0, 1])
    for pattern, points in found.vertices.items():
        assert points == sorted(set(can_run(best.system.problem, pattern)))
    assert found.caps == ((1, 1) if best.system is SYSTEM else (4, 1))


def test_neighbours_and_frontier():
    line = StateFunction(2, np.array([[0, 0], [3, 1]]), np.array([5, -2]), 1)
    near = {(0, 0), (1, 0), (0, 1), (3, 1), (2, 1), (4, 1), (3, 0), (3, 2)}
    assert set(map(tuple, line.counts.tolist())) == near
    outside = {(x, y) for x, y in product(range(9), range(9)) if (x, y) not in near}
    reached = {x for x in outside if {(x[0] - 1, x[1]), (x[0], x[1] - 1)} & near}
    assert set(map(tuple, line.frontier.tolist())) == reached
    at = [tuple(x) for x in line.counts.tolist()].index((0, 0))
    assert (line.unit, line.step(0, 1)[at], line.step(1, -1)[at]) == (Fraction(1, 2), -5, -5)
    assert line.contains(np.array([[3, 2], [9, 9], [1, 1], [0, 19]])).tolist() == [True, False, False, False]
    empty = StateFunction(1, np.zeros((0, 1), dtype=np.int64), np.zeros(0, dtype=np.int64), 0)
    assert (len(empty.counts), empty.frontier.tolist()) == (0, [[0]])


def test_with_a_pencil():
    """M/M/1 at load 1/2: two states prove that no policy has less than 4/7 jobs."""
    system = System(Problem([[1]], [1]), [Fraction(1, 2)])
    h = np.array([-(18 << 40) // 7, -(10 << 40) // 7])
    proof = LowerCertificate(system, (Fraction(1),), np.array([[0], [1]]), h, 40, Fraction(0))
    # Values rounded to multiples of 2^-40.
    assert 0 <= Fraction(4, 7) - proof.check() <= Fraction(3, 2**40)
    one = replace(
        proof, states=proof.states[:1], h=np.array([-2 << 40]) // 3, bound=Fraction(1, 3) - Fraction(1, 2**38)
    )
    assert one.check() <= Fraction(1, 3)


def test_no_states_prove_nothing(best):
    nothing = np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64)
    proof = replace(best.lower_proof, states=nothing[0], h=nothing[1], bound=Fraction(0))
    assert proof.check() == 0


# --- what is refused --------------------------------------------------------------------------------------


def changed(array, place, by):
    copy = array.copy()
    copy[place] += by
    return copy


def without(proof, place):
    kept = np.arange(len(proof.h)) != place
    return replace(proof, states=proof.states[kept], h=proof.h[kept])


def test_a_lower_bound_that_claims_too_much(best):
    proof = best.lower_proof
    more = proof.check() + Fraction(1, 10**20)
    with pytest.raises(CertificateError, match="'inequality' in state") as refused:
        replace(proof, bound=more).check()
    assert refused.value.state is not None
    tight = replace(proof, bound=proof.check())
    assert tight.check() == tight.bound
    unit = 2**proof.bits // 1000
    for place in range(0, len(proof.h), 7):
        # The inequality is an equality where the controller goes on: a change breaks its own or another.
        for by in (unit, -unit):
            with pytest.raises(CertificateError, match="'inequality'"):
                replace(proof, h=changed(proof.h, place, by)).check()
        with pytest.raises(CertificateError, match="'inequality'"):
            without(proof, place).check()


def test_an_upper_bound_that_claims_too_much(best):
    proof = best.upper_proof
    with pytest.raises(CertificateError, match="'inequality' in state"):
        replace(proof, bound=proof.check() - Fraction(1, 10**20)).check()
    unit = 2**proof.bits // 1000
    for place in np.flatnonzero(proof.h)[::7]:
        with pytest.raises(CertificateError, match="'inequality'"):
            replace(proof, h=changed(proof.h, place, -unit * 100)).check()
        with pytest.raises(CertificateError, match=r"'inequality'|table of the policy has states"):
            without(proof, place).check()
    for factor, said in (
        (proof.factor / 2, "grow faster than u falls"),
        (-proof.factor, "grow faster than u falls"),
        (float(proof.factor), "factor must be a fraction"),
    ):
        with pytest.raises(CertificateError, match=said):
            replace(proof, factor=factor).check()


def test_an_upper_bound_is_one_of_its_policy(best):
    proof = best.upper_proof

    def refuse(said, **change):
        with pytest.raises(CertificateError, match=said):
            replace(proof, policy=replace(proof.policy, **change)).check()

    idle = proof.policy.table.copy()
    idle[1, 0] = 0
    refuse("'inequality'", table=idle)
    larger = np.pad(proof.policy.table, [(0, 60), (0, 60), (0, 0)], constant_values=0.0)
    refuse("table of the policy has states", table=larger)
    refuse("for other classes", classes=(0,))
    for gains in ([1.0, 0.0], [1.0, np.inf], [1.0, 1e-51], [1.0, 1e51]):
        refuse("gains of the policy must be from 1e-50 to", gains=np.array(gains))
    for gains in ([1.0, 1.0], np.array([1, 1]), np.ones(3), np.ones((2, 2)), None):
        refuse("gains of the policy must be floats of 1 dim", gains=gains)
    for table in (None, [1.0], np.ones(3), np.ones((3, 3, 3)), np.ones((0, 3, 2)), np.ones((3, 3, 2), int)):
        refuse("table of the policy must be floats of 3 dim", table=table)
    refuse("must be a TablePolicy", problem=Problem([[1, 1], [1, 2]], [3, 3]))
    negative = proof.policy.table.copy()
    negative[1, 1] = -1
    refuse("tasks must be finite", table=negative)


@pytest.mark.parametrize("gain", [1.7e308, 5e-324])
def test_weights_that_are_no_floats_prove_nothing(gain):
    """At counts of 4 they are infinite, or 0 times infinite: the policy of this gain serves nobody."""
    system = System(Problem([[1.0]], [0.4]), [0.2])
    policy = TablePolicy(system.problem, (0,), np.full((1, 1), np.nan), np.array([gain]))
    nothing = np.zeros((0, 1), dtype=np.int64), np.zeros(0, dtype=np.int64), 0
    factor = Fraction(51, 10) / Fraction(gain)
    proof = UpperCertificate(system, (Fraction(1),), *nothing, Fraction(2**60), policy, factor)
    with pytest.raises(CertificateError, match="gains of the policy must be from 1e-50 to"):
        proof.check()
    # With a gain whose weights are floats it is a proof.
    good = replace(proof, policy=replace(policy, gains=np.array([1.0])), factor=Fraction(51, 10))
    assert 1 < good.check() < 2


def test_data_that_are_none(best):
    for proof in (best.lower_proof, best.upper_proof):
        states, h = proof.states, proof.h
        for change, said in (
            ({"h": h.astype(float)}, "64-bit integers"),
            ({"states": states.tolist()}, "64-bit integers"),
            ({"h": h[:-1]}, "a number for each state"),
            ({"states": states - 1}, "from 0 to"),
            ({"states": states * 0}, "listed twice"),
            ({"states": states << 22}, "from 0 to"),
            ({"bits": 4000}, "bits must be"),
            ({"costs": (Fraction(1),)}, "costs must be"),
            ({"costs": (Fraction(1), Fraction(0))}, "costs must be"),
            ({"costs": (Fraction(1), Fraction(10) ** -51)}, "costs must be"),
            ({"bound": float(proof.bound)}, "bound must be a fraction"),
            ({"bound": None}, "bound must be a fraction"),
            ({"bound": (-1 if proof.is_upper else 1) * Fraction(10) ** 400}, "is claimed"),
            ({"system": best.system.at_load(1.5)}, "not below 1"),
        ):
            with pytest.raises(CertificateError, match=said):
                replace(proof, **change).check()
