"""Policies as functions that tests of queues and regions share: simple, and some of them wasteful."""

import numpy as np

__all__ = ["first_round", "handed", "longest_first", "owned", "priority", "sharing", "short_first"]


def present(counts):
    return (np.asarray(counts) > 0).astype(float)


def alone(problem):
    return 1 / problem.task_shares.max(axis=1)


def sharing(problem, counts):
    """Processor sharing of one resource of capacity 1, demands 1."""
    return counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)


def priority(problem, counts):
    """All for the first class present."""
    here = present(counts)
    return np.where(np.cumsum(here, axis=-1) == 1, here, 0.0) * alone(problem)


def longest_first(problem, counts):
    """One resource of capacity 1, demands 1: all for the classes with most jobs."""
    x = np.asarray(counts, dtype=float)
    longest = (x == x.max(axis=-1, keepdims=True)) & (x > 0)
    return longest / np.maximum(longest.sum(axis=-1, keepdims=True), 1)


def owned(problem, counts):
    """Each class owns the same part of every resource, used or not."""
    return present(counts) * alone(problem) / problem.n_classes


def handed(problem, counts):
    """The classes that are present own the same part of every resource."""
    here = present(counts)
    return here / np.maximum(here.sum(axis=-1, keepdims=True), 1) * alone(problem)


def first_round(problem, counts):
    """Equal dominant shares up to the first full resource, and no second round."""
    x = np.asarray(counts, dtype=float) * alone(problem)
    used = (x @ problem.task_shares).max(axis=-1, keepdims=True)
    return x / np.where(used > 0, used, 1.0)


def short_first(problem, counts):
    """Classes with links of their own take them; class 0 runs when all links are free. Nothing is wasted."""
    here = present(counts)
    long = here[..., :1] * np.prod(1 - here[..., 1:], axis=-1, keepdims=True)
    return np.concatenate([long, here[..., 1:]], axis=-1)
