"""A chain of counts and arrival phases, written state by state."""

import itertools

import numpy as np


def generator_with_arrival_phases(system, policy, shape):
    """States, counts and then phases, and generator; exponential sizes; who finds the box full is lost.

    Of a batch, those who find it so.
    """
    modulations = [
        process.modulation(float(rate))
        for process, rate in zip(system.processes, system.arrival_rates, strict=True)
    ]
    phases = [len(hidden) for hidden, _ in modulations]
    states = list(itertools.product(*map(range, shape), *map(range, phases)))
    number = {state: k for k, state in enumerate(states)}
    n = len(shape)
    generator = np.zeros((len(states), len(states)))
    for state in states:
        counts, at = list(state[:n]), list(state[n:])
        tasks = policy(system.problem, np.array(counts, dtype=float)) if any(counts) else np.zeros(n)
        for i, (hidden, arriving) in enumerate(modulations):
            for b in range(phases[i]):
                after = [*at[:i], b, *at[i + 1 :]]
                for jobs, chance in enumerate(system.processes[i].batches.tolist(), 1):
                    more = [*counts[:i], min(counts[i] + jobs, shape[i] - 1), *counts[i + 1 :]]
                    generator[number[state], number[*more, *after]] += chance * arriving[at[i], b]
                if b != at[i]:
                    generator[number[state], number[*counts, *after]] += hidden[at[i], b]
            if counts[i]:
                fewer = [*counts[:i], counts[i] - 1, *counts[i + 1 :]]
                generator[number[state], number[*fewer, *at]] += tasks[i] / system.mean_sizes[i]
    np.fill_diagonal(generator, 0.0)
    np.fill_diagonal(generator, -generator.sum(axis=1))
    return states, generator


def counts_with_arrival_phases(system, policy, shape):
    """Law of the counts, ``shape``, of the same chain."""
    states, generator = generator_with_arrival_phases(system, policy, shape)
    law = np.linalg.solve(np.vstack([generator.T[1:], np.ones(len(states))]), np.eye(len(states))[-1])
    return law.reshape(*shape, -1).sum(axis=-1)


def jobs_by_levels(system):
    """Mean jobs of one class that is served at a constant rate: the matrix R, iterated from 0."""
    hidden, arriving = system.processes[0].modulation(float(system.arrival_rates[0]))
    rate, m = float(system.problem.capacities[0] / system.mean_sizes[0]), len(hidden)
    step = np.zeros((m, m))
    for _ in range(100_000):
        after = -(arriving + rate * step @ step) @ np.linalg.inv(hidden - rate * np.eye(m))
        step, moved = after, np.abs(after - step).max()
        if moved < 1e-17:
            break
    beyond = np.linalg.inv(np.eye(m) - step)
    balance = np.vstack([(hidden + rate * step).T[1:], beyond.sum(axis=1)])
    empty = np.linalg.solve(balance, np.eye(m)[-1])
    return float(empty @ step @ beyond @ beyond @ np.ones(m))
