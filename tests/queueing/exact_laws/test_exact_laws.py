"""Exact laws of boxes against elimination in fractions, closed forms and the chain in floats."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairness import (
    DRF,
    PSDSF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    Problem,
    ProportionalFair,
)
from fairness.exact.linear_algebra import reduced
from proofs.definitions.pools.filling import filled
from queueing import Erlang, OnOff, System, exact_stationary, stationary
from queueing.exact_laws.balance_equations import balance_equations
from queueing.exact_laws.lifting import SAFE, _prime_bits
from queueing.exact_laws.modular import digits, factorise, primes, residues
from queueing.exact_laws.reconstruction import fraction, from_digits

F = Fraction
TENTH = F(1, 10)
POOL = Problem([[1, TENTH], [TENTH, 1]], [1, 1])


def eliminated(system, shape, tasks):
    """Law of the box by Gauss-Jordan elimination of the balance equations in fractions."""
    states = [tuple(int(v) for v in x) for x in np.ndindex(*shape)]
    number = {x: k for k, x in enumerate(states)}
    rates, sizes = system.as_fractions()
    rows = [[F(0)] * (len(states) + 1) for _ in states]
    for x in states:
        served = tasks(x)
        for i in range(len(shape)):
            for step, rate in ((1, rates[i]), (-1, served[i] / sizes[i])):
                y = tuple(v + step * (k == i) for k, v in enumerate(x))
                if y in number and rate:
                    rows[number[y]][number[x]] += rate
                    rows[number[x]][number[x]] -= rate
    rows[0] = [F(1)] * (len(states) + 1)
    solved, pivots = reduced(rows, len(states))
    assert len(pivots) == len(states)
    return np.array([row[-1] for row in solved], dtype=object).reshape(shape)


def definition(system, rates):
    """Progressive filling as another package defines it; a class of x jobs grows x times as fast."""
    demands, capacities = system.problem.as_fractions()

    def tasks(x):
        if not any(x):
            return [F(0)] * len(x)
        here = [i for i, v in enumerate(x) if v]
        found = iter(filled([demands[i] for i in here], capacities, [x[i] * rates[i] for i in here]))
        return [next(found) if v else F(0) for v in x]

    return tasks


@pytest.mark.parametrize("seed", range(6))
def test_equals_elimination_in_fractions(seed):
    rng = np.random.default_rng(seed)
    n = 2 + seed % 2
    demands = rng.integers(0, 5, (n, 2))
    demands[:, 0] += ~demands.any(axis=1)
    capacities = rng.integers(2, 9, 2)
    weights = rng.integers(1, 4, n)
    pool = Problem(demands, capacities, weights=weights)
    rates = [F(int(a), int(b)) for a, b in rng.integers(1, 9, (n, 2))]
    system = System(pool, rates, [F(int(a), int(b)) for a, b in rng.integers(1, 9, (n, 2))])
    shape = tuple(int(k) for k in rng.integers(2, 6, n)) if n == 2 else (3, 2, 3)
    shares = [[F(int(d), int(c)) for d, c in zip(row, capacities, strict=True)] for row in demands]
    for policy, growth in (
        (MaxMin(), [F(int(w)) for w in weights]),
        (DRF(), [int(w) / max(row) for w, row in zip(weights, shares, strict=True)]),
        (AssetFair(), [int(w) / sum(row) for w, row in zip(weights, shares, strict=True)]),
    ):
        expected = eliminated(system, shape, definition(system, growth))
        law = exact_stationary(system, policy, shape=shape, distribution=True)
        assert (law.distribution == expected).all()
        for i in range(n):
            marginal = expected.sum(axis=tuple(k for k in range(n) if k != i))
            assert law.marginal(i) == law.marginals[i] == tuple(marginal)
            assert law.mean_jobs[i] == sum(k * p for k, p in enumerate(marginal))
            assert law.blocking[i] == marginal[-1]
            entering = rates[i] * (1 - marginal[-1])
            assert law.mean_durations[i] * entering == law.mean_jobs[i]
            served = sum(p * v for p, v in zip(marginal, range(len(marginal)), strict=True))
            assert law.service_rates[i] * served == entering * system.as_fractions()[1][i]
        grid = np.indices(shape).astype(object)
        second = (grid[0] * grid[1] * expected).sum()
        assert law.covariance[0][1] == law.covariance[1][0] == second - law.mean_jobs[0] * law.mean_jobs[1]
        pair = law.joint(n - 1, 0)
        assert pair.shape == (shape[-1], shape[0])
        assert all(
            pair[b, a] == sum(expected[x] for x in np.ndindex(*shape) if (x[-1], x[0]) == (b, a))
            for b, a in np.ndindex(*pair.shape)
        )


@pytest.mark.parametrize("load", [F(1, 2), F(1), F(7, 3)])
def test_one_class_has_the_geometric_law_cut_off_at_any_load(load):
    law = exact_stationary(System(Problem([[3]], [6]), [2 * load]), DRF(), shape=40)
    weights = [load**k for k in range(40)]
    assert law.mean_jobs == (sum(k * w for k, w in enumerate(weights)) / sum(weights),)
    assert law.blocking == (weights[-1] / sum(weights),)
    square = sum(k * k * w for k, w in enumerate(weights)) / sum(weights)
    assert law.covariance == ((square - law.mean_jobs[0] ** 2,),)


def test_one_resource_has_the_multinomial_law():
    pool = Problem([[2], [5], [1]], [10])
    system = System(pool, [1, F(1, 3), F(5, 2)], [F(3, 2), 1, F(1, 4)])
    loads = [
        rate * size * need / 10 for rate, size, need in zip(*system.as_fractions(), (2, 5, 1), strict=True)
    ]
    shape = (5, 4, 6)
    weights = np.empty(shape, dtype=object)
    for x in np.ndindex(*shape):
        ways = math.factorial(sum(x)) // math.prod(map(math.factorial, x))
        weights[x] = ways * math.prod((rho**k for rho, k in zip(loads, x, strict=True)), start=F(1))
    expected = weights / weights.sum()
    for policy in (DRF(), ProportionalFair(), BottleneckMax()):
        law = exact_stationary(system, policy, shape=shape, distribution=True)
        assert (law.distribution == expected).all()


@pytest.mark.parametrize("policy", [MaxMin(), DRF(), AssetFair(), BottleneckMax(), ProportionalFair()])
@pytest.mark.parametrize("floats", [False, True])
def test_agrees_with_the_chain_in_floats(policy, floats):
    demands = [[1, F(1, 10)], [F(1, 5), 1]]
    pool = Problem(np.array(demands, float) if floats else demands, [1, 1], limits=[F(1, 2), 3])
    system = System.with_load(
        pool, [1, 2], 0.9 if floats else F(9, 10), [1, 0.7] if floats else [1, F(7, 10)]
    )
    law = exact_stationary(system, policy, shape=(9, 7), distribution=True)
    near = stationary(system, policy, shape=(9, 7))
    # Elimination without subtractions is good to a few roundings.
    np.testing.assert_allclose(law.distribution.astype(float), near.distribution, rtol=1e-12)
    np.testing.assert_allclose(law.to_dataframe()["variance"], near.variances, rtol=1e-12)
    assert law.distribution.sum() == 1
    assert law.bound_bits < law.n_bits
    # As long as rates of some hundred bits make it, and no longer than the bound.
    assert law.total.bit_length() < law.bound_bits // 2 + 30
    assert (law.bound_bits > 10_000) == floats


def test_three_classes_and_one_without_arrivals():
    pool = Problem([[1, 2, 0], [2, 1, 1], [1, 1, 3], [1, 1, 1]], [4, 5, 6])
    system = System(pool, [F(1, 2), F(1, 3), F(2, 7), 0])
    law = exact_stationary(system, BottleneckMax(), shape=(5, 4, 6, 9))
    near = stationary(system, BottleneckMax(), shape=(5, 4, 6, 9))
    assert law.shape == (5, 4, 6, 1)
    np.testing.assert_allclose([float(v) for v in law.mean_jobs], near.mean_jobs, rtol=1e-12)
    assert law.mean_durations[3] is None
    assert law.blocking[3] == 0
    assert np.isnan(law.to_dataframe()["service_rate"].iloc[3])


def test_means_do_not_depend_on_the_order_of_classes_nor_on_what_is_kept():
    system = System(Problem([[1, TENTH], [F(1, 5), 1]], [1, 1]), [F(1, 2), F(2, 3)])
    other = System(Problem([[F(1, 5), 1], [1, TENTH]], [1, 1]), [F(2, 3), F(1, 2)])
    means = exact_stationary(system, DRF(), shape=(6, 11)).mean_jobs
    assert means == exact_stationary(other, DRF(), shape=(11, 6)).mean_jobs[::-1]
    assert means == exact_stationary(system, DRF(), shape=(6, 11), distribution=True).mean_jobs


def test_numbers_of_many_digits_take_smaller_primes():
    """Sums of products stay in 64 bits: rates over 300 decades have hundreds of digits."""
    system = System(Problem([[1.0, 0.0], [0.3, 1e-120]], [1.0, 1e-119]), [1e-140, 0.37])
    shape = (4, 3)
    equations = balance_equations(system, MaxMin(), shape, system.as_fractions()[0])
    bits = _prime_bits(equations)
    assert bits < 28
    count = math.ceil(int(max(equations.out)).bit_length() / (bits - 1)) * 5
    assert count * (2**bits) ** 2 <= SAFE
    law = exact_stationary(system, MaxMin(), shape=shape, distribution=True)
    pool = Problem([[1, 0], [F(0.3), F(1e-120)]], [1, F(1e-119)])
    exact = System(pool, [F(1e-140), F(0.37)])
    assert (law.distribution == eliminated(exact, shape, definition(exact, [F(1), F(1)]))).all()


def test_decimals_are_those_of_the_fraction():
    law = exact_stationary(System.with_load(POOL, [1, 1], F(9, 10)), DRF(), shape=8)
    (first, second), mean = law.decimals(60), law.mean_jobs[0]
    assert first == second  # the classes are alike
    assert F(first) <= mean < F(first) + F(1, 10**60)
    assert str(law).count("\n") == 4
    with pytest.raises(ModelError, match="digits must be"):
        law.decimals(0)
    with pytest.raises(ModelError, match="distribution=True"):
        _ = law.distribution


@pytest.mark.parametrize(
    ("system", "policy", "said"),
    [
        (System(POOL, [1, 1]), AlphaFair(2), "roots of rational"),
        (System(POOL, [1, 1]), lambda problem, counts: 0.1 * np.asarray(counts), "no exact definition"),
        (System(Problem([[4, 1], [2, 1], [1, 4]], [1, 1]), [1, 1, 1]), ProportionalFair(), "in the state"),
        (System(Problem([[1, 1], [0, 1]], [0, 1]), [1, 1]), DRF(), "serves nobody in the state"),
        (System(POOL, [1, 1], sizes=Erlang(2)), DRF(), "exponential sizes"),
        (System(POOL, [1, 1], arrivals=OnOff(1, 1)), DRF(), "Poisson"),
        (System(POOL, [0, 0]), DRF(), "always empty"),
        (System(Cluster([[1, 2]], [[4, 4]]), [1]), PSDSF(), "one pool"),
    ],
)
def test_what_has_no_exact_law_is_refused(system, policy, said):
    with pytest.raises(ModelError, match=said):
        exact_stationary(system, policy, shape=4)


def test_wrong_arguments_are_named():
    system = System(POOL, [1, 1])
    with pytest.raises(ModelError, match="no room for a job"):
        exact_stationary(system, DRF(), shape=1)
    with pytest.raises(ModelError, match="distribution"):
        exact_stationary(system, DRF(), shape=3, distribution="yes")
    with pytest.raises(ModelError, match="must be a System"):
        exact_stationary(POOL, DRF(), shape=3)


def test_what_takes_too_long_is_refused_before_it_starts():
    system = System(POOL, [1, 1])
    with pytest.raises(
        ModelError, match=r"exact solution of 1500 x 1500 states: .* use stationary, in floats"
    ):
        exact_stationary(system, DRF(), shape=1500)
    # One class has no band, and a hundred billion states no room.
    with pytest.raises(ModelError, match="exact solution of"):
        exact_stationary(System(Problem([[1]], [2]), [1]), DRF(), shape=10**11)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 6000), st.randoms(use_true_random=False), st.integers(0, 64))
def test_every_fraction_comes_back_from_its_residue(bits, random, spare):
    """Lengths on both sides of where halves decide; numerator and denominator of any share of the bits."""
    low = random.randint(0, bits)
    top, bottom = 2 ** (bits - low) + 1, 2**low + 1
    modulus = top * bottom * 2**spare + 1
    while True:
        value = F(random.randint(0, top), random.randint(1, bottom))
        if math.gcd(value.denominator, modulus) == 1:
            break
    residue = value.numerator * pow(value.denominator, -1, modulus) % modulus
    assert fraction(residue, modulus, top, bottom) == (value.numerator, value.denominator)


def test_a_residue_of_no_fraction_within_the_bounds_is_refused():
    with pytest.raises(ArithmeticError, match="no fraction"):
        fraction(5003, 10007, 30, 30)


@pytest.mark.long
@given(st.lists(st.integers(-(10**6), 10**9), max_size=40), st.integers(2, 2**28))
def test_digits_make_the_integer(parts, base):
    assert from_digits(parts, base) == sum(d * base**k for k, d in enumerate(parts))


def test_primes_below_2_to_28():
    found = primes()
    largest = [next(found) for _ in range(3)]
    assert largest == [2**28 - 57, 2**28 - 89, 2**28 - 95]  # the table of primes just below powers of 2
    assert all(n % d for n in largest for d in range(2, 2**14))
    assert list(primes(60)) == [59, 53, 47, 43, 41, 37, 31, 29, 23, 19, 17, 13, 11, 7, 5, 3]


@pytest.mark.parametrize(("size", "band"), [(1, 1), (7, 3), (40, 5), (600, 300)])
def test_factors_multiply_to_the_matrix(size, band):
    """Also with more than 256 terms in a scalar product, all of them as large as they get."""
    p = next(primes())
    rng = np.random.default_rng(size)
    lower, upper = (rng.integers(p - 50, p, (size, band)).astype(np.uint32) for _ in range(2))
    diagonal, inverses = rng.integers(p - 50, p, size).astype(np.uint32), np.zeros(size, dtype=np.uint32)
    matrix = np.zeros((size, size), dtype=object)
    place = np.arange(size)
    matrix[place, place] = diagonal
    for d in range(1, min(band, size - 1) + 1):
        matrix[place[d:], place[:-d]] = lower[d:, band - d]
        matrix[place[:-d], place[d:]] = upper[d:, band - d]
    assert factorise(lower, upper, diagonal, inverses, p)
    assert (inverses.astype(object) * diagonal % p == 1).all()
    left, right = np.eye(size, dtype=object), np.diag(diagonal.astype(object))
    for d in range(1, min(band, size - 1) + 1):
        left[place[d:], place[:-d]] = lower[d:, band - d]
        right[place[:-d], place[d:]] = upper[d:, band - d]
    some = rng.integers(0, p, size).astype(object)
    assert (left.dot(right.dot(some) % p) % p == matrix.dot(some) % p).all()


def test_a_pivot_of_zero_is_told():
    ones = np.ones((2, 1), dtype=np.uint32)
    assert not factorise(
        ones.copy(), ones.copy(), np.ones(2, dtype=np.uint32), np.zeros(2, dtype=np.uint32), 101
    )


def test_digits_of_integers():
    assert digits(np.array([0, 5, 1234], dtype=object), 10).T.tolist() == [
        [0, 0, 0, 0],
        [5, 0, 0, 0],
        [4, 3, 2, 1],
    ]
    assert residues([-1, 102], 101).tolist() == [100, 1]
