"""Exact means of finite chains against elimination in fractions, closed forms and enclosures."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fairness import ModelError
from fairness.errors import NotConvergedError
from queueing import FiniteChain, enclose_chain, exact_means
from tests.queueing.chain.chains import mean_in_fractions


@pytest.mark.parametrize("kind", ["whole", "floats", "decades", "dense", "sparse"])
def test_random_chains_by_elimination(kind: str) -> None:
    """100 chains of 2 to 12 states in all, rates whole or not, rewards of both signs."""
    rng = np.random.default_rng([11, len(kind)])
    for _ in range(20):
        n = int(rng.integers(2, 13))
        there = rng.random((n, n)) < (1.0 if kind == "dense" else 0.3)
        np.fill_diagonal(there, False)
        there[np.arange(n), np.roll(np.arange(n), 1)] = True  # a circle, so that it is irreducible
        rates = {
            "whole": rng.integers(1, 9, (n, n)).astype(float),
            "decades": 10 ** rng.uniform(-12, 12, (n, n)),
        }.get(kind, rng.random((n, n)))
        rates *= there
        values = rng.integers(-3, 4, n) if kind == "whole" else rng.normal(size=n)
        chain = FiniteChain(rates, rewards={"gain": values}, labels={"first": np.arange(n) == 0})
        found = exact_means(chain, ["gain", "first"])
        assert found["gain"] == mean_in_fractions(rates, values)
        assert found["first"] == mean_in_fractions(rates, np.arange(n) == 0)


def test_a_long_queue_with_far_jumps() -> None:
    """M/M/1 with K = 60 places, its states shuffled, and a reward of 0 everywhere."""
    size, load = 61, Fraction(3, 4)
    rates = np.diag([3.0] * (size - 1), 1) + np.diag([4.0] * (size - 1), -1)
    order = np.random.default_rng(5).permutation(size)
    jobs = np.arange(size)[order]
    chain = FiniteChain(rates[np.ix_(order, order)], variables={"jobs": jobs})
    law = [load**k for k in range(size)]
    mean = sum(k * p for k, p in enumerate(law)) / sum(law)
    found = exact_means(chain, {"mine": jobs, "full": jobs == size - 1, "nothing": np.zeros(size)})
    assert found == {"mine": mean, "full": law[-1] / sum(law), "nothing": 0}
    low, high = enclose_chain(chain).bounds("jobs")
    assert low <= exact_means(chain)["jobs"] <= high


def test_transient_states_and_a_state_that_is_never_left() -> None:
    chain = FiniteChain([[0, 1, 2], [0, 0, 5], [0, 7, 0]], rewards={"gain": [100, 1, 2]})
    assert exact_means(chain) == {"gain": Fraction(7 * 1 + 5 * 2, 12)}
    assert exact_means(FiniteChain([[0, 2], [0, 0]], rewards={"gain": [1, -0.5]})) == {
        "gain": Fraction(-1, 2)
    }


def test_errors() -> None:
    two = FiniteChain([[0, 0], [0, 0]], rewards={"gain": [1, 2]})
    with pytest.raises(ModelError, match="2 sets of states that are never left"):
        exact_means(two)
    with pytest.raises(ModelError, match="must be a FiniteChain"):
        exact_means([[0, 1], [1, 0]])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="must be of what the chain knows: 'gain'"):
        exact_means(two, "loss")
    rng = np.random.default_rng(0)
    with pytest.raises(NotConvergedError):
        exact_means(FiniteChain(rng.random((150, 150)), rewards={"gain": range(150)}), time_limit=0)
