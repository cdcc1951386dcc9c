"""Fluid trajectories with dozens of classes: closed forms, Euler's scheme, both rules for empty classes."""

from __future__ import annotations

import numpy as np
import pytest

from fairness import DRF, AssetFair, BottleneckMax, MaxMin, Problem, ProportionalFair
from fairness.protocol.calling import policy_tasks
from queueing import System, simulate
from queueing.fluid.faces import BARELY, Averages, Leftovers
from queueing.fluid.lyapunov import known_certificate
from queueing.fluid.settling import settle
from queueing.fluid.subsets import every_subset, few_leaves
from queueing.fluid.trajectory import trajectory
from queueing.networks.backbones import abilene
from queueing.networks.gravity import gravity_traffic
from tests.own_policies import priority, short_first
from tests.queueing.fluid.test_fluid import euler

CONTINUOUS = [DRF(), MaxMin(), AssetFair(), ProportionalFair()]


def backbone(routes, load=0.8):
    traffic = gravity_traffic(abilene().to_directed(), pairs=routes)
    return System.with_load(traffic.problem, traffic.loads, load)


def line(links):
    """A long class over all links, and a short one on each."""
    return Problem(np.vstack([np.ones(links), np.eye(links)]), np.ones(links))


@pytest.mark.parametrize("policy", CONTINUOUS)
def test_forty_classes_that_share_one_resource_drain_its_work_linearly(policy):
    rng = np.random.default_rng(1)
    problem = Problem(rng.uniform(0.5, 2, (40, 1)), [3.0], weights=rng.uniform(0.5, 2, 40))
    system = System.with_load(problem, rng.uniform(0.2, 1, 40), 0.9, rng.uniform(0.5, 2, 40))
    start = np.where(rng.random(40) < 0.5, rng.uniform(0, 1, 40), 0.0)
    path = trajectory(system, policy, start, rtol=1e-7)
    expected = path.workloads[0, 0] / (3.0 - float(system.resource_loads[0]))
    # rtol 1e-7 per step, some hundred steps.
    assert path.emptying_time == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(
        path.workloads[:, 0], path.workloads[0, 0] * (1 - path.times / expected), atol=1e-5 * start.sum()
    )


@pytest.mark.parametrize("policy", CONTINUOUS)
def test_classes_with_resources_of_their_own_empty_one_after_the_other(policy):
    rng = np.random.default_rng(2)
    n = 30
    system = System(Problem(np.eye(n), np.ones(n)), rng.uniform(0.1, 0.9, n), rng.uniform(0.5, 1, n))
    start = np.where(np.arange(n) < 24, rng.uniform(1, 2, n), 0.0)
    path = trajectory(system, policy, start, rtol=1e-7)
    ends = start * system.mean_sizes / (1 - system.loads)
    seen = {e.job_class: e.time for e in path.events if e.kind == "empties"}
    names = system.problem.job_classes
    for i in np.flatnonzero(start > 0)[np.argsort(ends[:24])][:-1]:
        assert seen[names[i]] == pytest.approx(ends[i], rel=1e-5)
    assert path.emptying_time == pytest.approx(ends.max(), rel=1e-5)
    assert not path.counts[:, 24:].any()
    assert not any(e.kind == "leaves zero" for e in path.events)


def test_a_line_of_twenty_links_is_drained_by_its_busiest_link_under_pf():
    rng = np.random.default_rng(3)
    system = System(line(20), np.append(0.3, rng.uniform(0.1, 0.6, 20)))
    start = np.append(2.0, rng.uniform(0, 1, 20))
    path = trajectory(system, ProportionalFair(), start, rtol=1e-8)
    # Few on a link empty when the long class leaves them more than their load; who empties is held until it
    # does not. PF gives x_0 / sum of all on links that are full, a closed form; so the last link is full.
    slowest = (path.workloads[0] / (1 - system.resource_loads)).max()
    assert path.emptying_time >= slowest * (1 - 1e-6)
    grid = np.linspace(0, 0.9 * path.emptying_time, 30)
    here = np.stack([np.interp(grid, path.times, path.counts[:, i]) for i in range(21)], axis=1)
    part = here[:, 0] / np.maximum(here.sum(axis=1), 1e-300)
    held = here[:, 1:] < 1e-12
    # A class that stays empty has its load left over.
    assert held.any()
    assert (1 - part[:, None] >= system.loads[1:] - 1e-6)[held].all()


@pytest.mark.parametrize(("policy", "routes"), [(DRF(), 12), (ProportionalFair(), 20), (BottleneckMax(), 12)])
@pytest.mark.long
def test_backbones_agree_with_euler_long_after_classes_have_emptied(policy, routes):
    system = backbone(routes)
    start = np.random.default_rng(4).uniform(0, 1, routes)
    path = trajectory(system, policy, start, rtol=1e-7)
    assert len(path.events) > 5
    end = 0.6 * path.emptying_time
    emptied = [e for e in path.events if e.time < end]
    assert emptied
    here = np.array([np.interp(end, path.times, path.counts[:, i]) for i in range(routes)])
    steps = [1000, 4000]
    gaps = [np.abs(euler(system, policy, start, end / k, end) - here).max() for k in steps]
    # Of first order: a quarter with a quarter of the step, but for what the faces add.
    assert gaps[1] < 0.5 * gaps[0]
    assert gaps[1] < 2e-3 * start.sum()


def faces(policy, number, seed):
    """Random networks with a random face: system, ask, direction, empty classes."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(4, 9))
        routes = rng.permuted(np.arange(5) < rng.integers(1, 3, (n, 1)), axis=1)
        problem = Problem(routes * rng.uniform(0.5, 2, (n, 5)), np.ones(5), weights=rng.uniform(0.5, 2, n))
        system = System.with_load(problem, rng.uniform(0.2, 1, n), rng.uniform(0.2, 0.9))
        empty = rng.permutation(n) < min(5, n - 2)
        u = np.where(empty, 0.0, rng.dirichlet(np.ones(n)))
        yield system, lambda x, p=problem: policy_tasks(p, policy, x), u / u.sum(), empty


@pytest.mark.long
@pytest.mark.parametrize("policy", CONTINUOUS)
def test_leftovers_say_what_averages_over_all_subsets_say(policy):
    held = met = 0
    for system, ask, u, empty in faces(policy, 150, 5):
        left, mean = Leftovers(system, ask, empty), Averages(system, ask, empty, u)
        margins, own = left.margins(u), mean.margins(u)[:-1]
        stays = bool((margins > 0).all())
        # The averages suppose independence, which leaves a band around margin 0.
        assert stays == bool((own > 0).all()) or np.abs(margins).min() < 0.02
        met += not stays
        if stays and (own > 0).all():
            held += 1
            # Few take 1e-9 of the many, times what their weights and demands differ by.
            np.testing.assert_allclose(
                left.drift(u), mean.drift(u), atol=1e-5 * float(system.arrival_rates.sum())
            )
    assert min(held, met) >= 15


def crowded(policy, problem, present, loads):
    """Rule for the classes that are empty while only ``present`` have jobs."""
    n = problem.n_classes
    u = np.zeros(n)
    u[present] = 1 / len(present)
    ask = lambda x: policy_tasks(problem, policy, x)  # noqa: E731
    return settle(System(problem, loads), policy, ask, u, None, u == 0)[0]


def test_other_policies_are_tested_before_many_classes_live_on_leftovers():
    # Eight short flows and a long one over their links, all empty, beside a class with a link of its own.
    block = np.zeros((10, 9))
    block[:9, :8], block[9, 8] = line(8).demands, 1
    problem, loads = Problem(block, np.ones(9)), np.full(10, 0.1)
    bmf = crowded(BottleneckMax(), problem, [9], loads)
    assert isinstance(bmf, Leftovers)
    assert bmf.seen
    assert bmf.empty.sum() == 9

    def apart(problem, counts):
        return np.concatenate(
            [short_first(problem, counts[..., :9]), (counts[..., 9:] > 0).astype(float)], axis=-1
        )

    # Strict priorities are seen by who is there, however few: (1 - 0.1)^8 > 0.1 keeps the long class at 0 ...
    rule = crowded(apart, problem, [9], loads)
    assert isinstance(rule, Averages)
    assert rule.empty.sum() == 9
    # ... and 0.9^8 = 0.43 < 0.45 does not, although every link has room for both: 0.45 + 0.1.
    loads[0] = 0.45
    assert np.flatnonzero(~crowded(apart, problem, [9], loads).empty).tolist() == [0, 9]
    # BMF gives the long class its part: no link is full.
    assert crowded(BottleneckMax(), problem, [9], loads).empty.sum() == 9


def test_few_that_grow_on_what_is_left_are_seen():
    # Nobody has a rule by who is there, and all links are full: half of a link is wasted where both are.
    def wasteful(problem, counts):
        tasks = ProportionalFair()(problem, counts)
        tasks[..., :8] *= 0.5
        return tasks

    problem = Problem(np.eye(9), np.ones(9))
    assert not isinstance(crowded(wasteful, problem, [8], np.full(9, 0.4)), Leftovers)
    assert np.flatnonzero(~crowded(wasteful, problem, [8], np.full(9, 0.6)).empty).tolist() == list(range(9))


@pytest.mark.parametrize("kind", ["priority", "short_first", "crossed"])
def test_leaves_give_the_means_over_all_subsets(kind):
    rng = np.random.default_rng(6)
    k = 9
    problem = Problem(np.ones((k + 1, 1)), [1.0]) if kind == "priority" else line(k)

    def crossed(problem, counts):
        # Classes 2 and 3 serve each other's link while both are there; the rest as short flows first.
        tasks = short_first(problem, counts)
        both = (tasks[..., 2] > 0) & (tasks[..., 3] > 0)
        tasks[..., 2] *= np.where(both, 0.7, 1.0)
        tasks[..., 3] *= np.where(both, 0.4, 1.0)
        return tasks

    policy = {"priority": priority, "short_first": short_first, "crossed": crossed}[kind]
    members = np.arange(1, k + 1) if kind != "priority" else np.arange(k)
    base = np.zeros(k + 1)
    base[np.setdiff1d(np.arange(k + 1), members)] = 1.0

    def ask(subsets):
        states = np.repeat(base[None], len(subsets), axis=0)
        states[:, members] = subsets * BARELY
        return policy_tasks(problem, policy, states)

    whole, cut = every_subset(k), few_leaves(ask, members, rng)
    assert len(cut.low) < len(whole.low) / 20
    for theta in rng.uniform(size=(5, k)):
        means, reaches = [], []
        for leaves in (whole, cut):
            tasks = ask(leaves.states)
            outside = np.setdiff1d(np.arange(k + 1), members)
            means.append(leaves.mean(theta, tasks)[outside])
            reaches.append(leaves.when_present(theta, leaves.own(tasks[:, members])))
            assert leaves.spread(tasks, members) < 1e-12
        # Sums of 512 terms against sums of a few.
        np.testing.assert_allclose(*means, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(*reaches, rtol=1e-12, atol=1e-14)


def test_leaves_that_are_none_any_more_are_seen():
    members = np.arange(8)
    cut = few_leaves(lambda s: np.column_stack([s, np.ones(len(s))]), members, np.random.default_rng(0))
    assert cut.spread(np.column_stack([cut.states, np.ones(len(cut.states))]), members) == 0
    crowd = 1.0 / (1 + cut.states.sum(axis=1))
    assert cut.spread(np.column_stack([cut.states * crowd[:, None], crowd]), members) > 0.5


@pytest.mark.parametrize("number", [8, 20])
def test_flows_over_many_short_links_get_the_product_of_idle_times(number):
    # The long class runs a part prod (1 - rho_i) of the time: links are independent under short flows first.
    loads = np.random.default_rng(7).uniform(0.02, 0.06, number)
    free = float(np.prod(1 - loads))
    system = System(line(number), np.append(0.5 * free, loads))
    path = trajectory(system, short_first, np.append(1.0, np.zeros(number)), rtol=1e-7)
    assert path.emptying_time == pytest.approx(1 / (0.5 * free), rel=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("policy", [DRF(), ProportionalFair()])
def test_known_functions_decrease_along_trajectories_of_twenty_classes(policy):
    system = backbone(20)
    path = trajectory(system, policy, np.random.default_rng(8).uniform(0, 1, 20), rtol=1e-7)
    values = known_certificate(system, policy).value(path.counts)
    # rtol 1e-7 per step, and classes below 1e-9 of all jobs are not told apart.
    assert (np.diff(values) <= 1e-5 * values[:-1] + 1e-9 * values[0]).all()


@pytest.mark.long
@pytest.mark.parametrize("policy", [DRF(), ProportionalFair()])
def test_two_thousand_jobs_on_twelve_routes_follow_the_fluid(policy):
    # As for two classes: mean jobs times time, from n x_0 until long after the fluid has drained.
    system = backbone(12, 0.5)
    start = np.random.default_rng(9).uniform(0, 1, 12)
    start /= start.sum()
    path = trajectory(system, policy, start)
    fluid = np.trapezoid(path.counts, path.times, axis=0)
    still = simulate(system, policy, rng=1, events=200_000, progress=False).mean_jobs
    n = 2000
    begin = np.round(n * start)
    events = 6 * n
    run = simulate(
        system, policy, events=events, warmup=0, replications=20, rng=2, start=begin, progress=False
    )
    total = run.time / run.replications
    assert total > n * path.emptying_time
    area = (run.mean_jobs * total - still * (total - n * path.emptying_time)) / n**2
    # Fluctuations of the order 1/sqrt(n) per run, over sqrt(20) runs: 0.5 % of all jobs; ten times that.
    np.testing.assert_allclose(area, fluid, atol=0.05 * fluid.max())
