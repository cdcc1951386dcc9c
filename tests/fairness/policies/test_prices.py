"""The kernel of prices step by step: how it starts, how far it steps, what it does where resources depend."""

from __future__ import annotations

import numpy as np
import pytest

from fairness.model.nonzeros import nonzeros
from fairness.policies.engines import price_approach, price_space, price_step, prices
from fairness.policies.engines.cholesky import factorise
from fairness.policies.engines.conjugate import conjugate_step, rounds_worth
from fairness.policies.engines.price_space import space_for


def start(weights, start_prices):
    """Space of the kernel for classes without limits."""
    space = getattr(space_for, "py_func", space_for)(len(weights), len(start_prices))
    space.weight[:], space.limit[:], space.price[:] = weights, np.inf, start_prices
    return space


def steps_left(monkeypatch, most):
    """Newton's method, interpreted, with so many looks at the usages."""
    monkeypatch.setattr(prices, "_STEPS", most)
    return getattr(prices._newton, "py_func", prices._newton)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("factor", [0.6, 1.8])
def test_one_resource_alone_takes_one_step(monkeypatch, alpha, factor):
    # Its usage is a power of its price: the logarithms of both are on a line, wherever the step begins.
    shares, weights = np.array([[0.2], [0.4]]), np.array([0.01, 0.03])
    price = (weights @ shares[:, 0] ** (1 - 1 / alpha)) ** alpha
    space = start(weights, [price / factor])
    newton = steps_left(monkeypatch, 2)  # the second look finds it solved
    assert newton(nonzeros(shares), np.arange(2), alpha, space, 0) <= 1e-13
    assert space.price[0] == pytest.approx(price, rel=1e-13)


def test_a_price_that_more_than_doubles_grows_by_the_step_itself(monkeypatch):
    # Eight times the capacity: log 8 > 1 is added, 8/(1 + log 8) = 2.6 are left, and their logarithm is < 1.
    shares, weights = np.array([[1.0], [1.0]]), np.array([0.1, 0.7])
    space = start(weights, [0.1])
    newton = steps_left(monkeypatch, 3)
    assert newton(nonzeros(shares), np.arange(2), 1.0, space, 0) <= 1e-13
    np.testing.assert_allclose(space.tasks, weights / 0.8, rtol=1e-13)


def test_who_finds_everything_free_pays_for_what_others_leave():
    # Class 0 gets all of resource 0, of which class 1 needs nothing, and half of resource 1 with it.
    shares = np.array([[1.0, 0.5], [0.0, 1.0]])
    space = start([3.0, 2.0], [0.0, 0.0])
    prices._revise_prices(nonzeros(shares), np.arange(2), 1.0, space)
    np.testing.assert_allclose(space.price, [3.0, 2.0 / 0.5])
    np.testing.assert_allclose(space.load, [0.0, 0.0], atol=1e-15)


def test_who_pays_goes_on_paying_as_much():
    space = start([3.0, 2.0], [0.0, 5.0])
    prices._revise_prices(nonzeros(np.eye(2)), np.arange(2), 1.0, space)
    np.testing.assert_allclose(space.price, [3.0, 5.0])


def test_what_nobody_uses_is_free():
    space = start([1.0], [2.0, 5.0])
    prices._revise_prices(nonzeros(np.array([[1.0, 0.0]])), np.arange(1), 1.0, space)
    assert space.price.tolist() == [2.0, 0.0]


def dual_objective(shares, weights, caps, alpha, p):
    """Sum of the prices, and for each class the most that its utility exceeds what its tasks cost."""
    bill = shares @ p
    tasks = np.minimum(caps, weights * bill ** (-1 / alpha))
    power = tasks ** (1 - alpha) / (1 - alpha) if alpha != 1 else np.log(tasks)
    return p.sum() + (weights**alpha * power - tasks * bill).sum()


@pytest.mark.parametrize("alpha", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("limited", [False, True])
def test_no_round_raises_the_dual_objective(alpha, limited):
    rng = np.random.default_rng(5)
    for _ in range(20):
        n, m = rng.integers(1, 6, 2)
        shares, weights = 10.0 ** rng.uniform(-1, 1, (n, m)), 10.0 ** rng.uniform(-1, 1, n)
        space = start(weights, 10.0 ** rng.uniform(-1, 1, m))
        space.limit[:] = 10.0 ** rng.uniform(-1, 1, n) if limited else np.inf
        users, p = np.arange(n), space.price
        price_space.use(nonzeros(shares), users, alpha, space)
        before = dual_objective(shares, weights, space.limit, alpha, p)
        for _ in range(30):
            price_approach.approach(nonzeros(shares), users, alpha, space, 1, 0.0)
            after = dual_objective(shares, weights, space.limit, alpha, p)
            assert after <= before + 1e-12 * abs(before)
            before = after


def test_a_round_keeps_the_price_of_what_is_hardly_used():
    # Loads of 1e-20 less 1 are -1: at a lower price, they are more.
    space = start([1e-20, 1.0], [1.0, 1.0])
    price_space.use(nonzeros(np.eye(2)), np.arange(2), 1.0, space)
    assert price_approach.approach(nonzeros(np.eye(2)), np.arange(2), 1.0, space, 5, 0.0)
    np.testing.assert_allclose(space.price, [1e-20, 1.0], rtol=1e-12)


def test_conjugate_gradients_solve_the_system_of_those_who_change():
    rng = np.random.default_rng(3)
    shares = np.where(rng.random((40, 12)) < 0.3, rng.uniform(0.1, 1, (40, 12)), 0.0)
    factor, more, right = rng.uniform(0.5, 1, 40), np.zeros(12), rng.normal(size=12)
    step, work = np.empty(12), np.empty((4, 12))
    more[3], right[7], kept = 2.0, np.nan, np.arange(12) != 7
    assert conjugate_step(nonzeros(shares), np.arange(40), factor, more, right, step, work, 1e-12, 50.0)
    hessian = shares.T @ np.diag(factor**2) @ shares + np.diag(more)
    wanted = np.linalg.solve(hessian[np.ix_(kept, kept)], right[kept])
    np.testing.assert_allclose(step[kept], wanted, rtol=1e-9)
    assert step[7] == 0.0
    assert not conjugate_step(nonzeros(shares), np.arange(40), factor, more, right, step, work, 1e-12, 3.0)


def test_conjugate_gradients_are_tried_where_a_factor_is_dear():
    assert rounds_worth(100_000, 1_000) > 100  # five demands each of 20,000 classes
    assert rounds_worth(600_000, 300) == 0  # dense
    assert rounds_worth(20, 4) == 0


def dependent_hessian(rng, n_resources):
    """Hessian of a dual whose last resource is a mixture of all others."""
    shares = rng.uniform(0.1, 1.0, (12, n_resources - 1))
    mixture = rng.uniform(0.5, 2.0, n_resources - 1)
    shares = np.column_stack([shares, shares @ mixture])
    return shares.T @ (rng.uniform(0.5, 2.0, (12, 1)) * shares), np.append(mixture, -1.0)


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("n_resources", [2, 3, 5])
def test_prices_move_where_no_class_notices(n_resources, side):
    hessian, unnoticed = dependent_hessian(np.random.default_rng(n_resources), n_resources)
    factor = hessian.copy()
    factorise(factor)
    load = hessian @ np.linspace(-1, 1, n_resources)  # loads that agree: there are prices that fill everybody
    assert not price_step._exchange(factor, load.copy(), np.empty(n_resources))
    load[-1] += side * 1e-3
    assert price_step._exchange(factor, load, np.empty(n_resources))
    # Towards the resource that is too full, away from those it is made of.
    np.testing.assert_allclose(load, -side * unnoticed, rtol=1e-10)


def test_prices_that_are_given_are_the_start(monkeypatch):
    shares, weights = np.array([[0.5, 0.1], [0.1, 0.5]]), np.ones(2)
    solved = np.zeros((2, 2, 2))
    residuals = np.empty((2, 1))
    given = np.zeros(2)

    def solve(k):
        step = getattr(prices.solve_states, "py_func", prices.solve_states)
        step(
            nonzeros(shares),
            np.full(2, np.inf),
            np.ones((1, 2)),
            solved[k, :1],
            weights,
            1.0,
            given,
            residuals[k],
        )

    solve(0)
    assert (given > 0).all()
    given *= [1.0, 1.1]

    def never(*_):
        raise AssertionError("from nothing, though prices were given")

    monkeypatch.setattr(prices, "enter", never)
    solve(1)
    assert residuals.max() <= prices.CERTIFIED
    np.testing.assert_allclose(solved[1, 0], solved[0, 0], rtol=1e-12)


def test_prices_that_reach_zero_at_once_leave_together():
    space = start([1.0], [1.0, 2.0, 3.0])
    space.step[:] = [-2.0, -4.0, -3.0]
    assert price_step.take_step(space, False) == (0.5, 0, 1.0)
    assert space.price.tolist() == [0.0, 0.0, 1.5]


def solved_alone(shares, limits, counts, given):
    """Tasks of one state and what its prices have become."""
    shares, given = np.asarray(shares, dtype=float), np.array(given)
    demanding = shares.any(axis=1)
    growth = np.where(demanding, 1.0, np.inf)
    tasks, residuals = np.empty((1, len(limits))), np.empty(1)
    step = getattr(prices.solve_states, "py_func", prices.solve_states)
    step(
        nonzeros(shares),
        np.array(limits),
        np.array([counts], dtype=float),
        tasks,
        growth,
        1.0,
        given,
        residuals,
    )
    return tasks[0], given


def test_who_demands_nothing_runs_to_its_limit():
    tasks, _ = solved_alone([[0.0], [0.5]], [3.0, np.inf], [1.0, 1.0], [0.0])
    np.testing.assert_allclose(tasks, [3.0, 2.0], rtol=1e-12)


def test_nobody_pays_where_nobody_is():
    tasks, given = solved_alone([[0.5]], [np.inf], [0.0], [7.0])
    assert tasks.tolist() == [0.0]
    assert given.tolist() == [0.0]
