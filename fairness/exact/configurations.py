r"""Maximal vectors of whole tasks that fit together on a server.

Of :math:`\{k \in \mathbb N^n : \sum_n k_n b_{nr} \le 1 \text{ for all } r\}`, with the shares
:math:`b_{nr}` of the resources that one task holds, those k are listed to which no task can be added. Classes
are taken one after the other; a partial configuration says how many tasks of the first classes there are, and
the last class, that of which most tasks fit, fills what the others leave. How many partial configurations the
next class brings follows from the free amounts, so that too many are refused before they are listed.

All amounts are integers, after clearing denominators; of any size.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.exact.server_rows import ServerRows

__all__ = ["Configurations", "maximal_configurations"]

Configurations = NDArray[np.int64]
"""Tasks of each class, shape (n_configurations, n_classes), in increasing order."""


def maximal_configurations(shares: ServerRows, limit: int, slack: Fraction, name: str) -> Configurations:
    """Maximal configurations of a server, in increasing order.

    Parameters
    ----------
    shares : tuple
        Per class the shares of the resources that one task holds; None where it cannot run.
    limit : int
        Refuse more partial configurations than this.
    slack : Fraction
        Tasks fit up to a share of 1 + slack of each resource.
    name : str
        The server, for the message.

    Raises
    ------
    ModelError
        If there are more than ``limit`` partial configurations, said before they are listed, or 2^62 tasks
        of one class fit.

    Examples
    --------
    >>> maximal_configurations(((Fraction(2, 7),), (Fraction(3, 7),)), 100, Fraction(0), "the pool").tolist()
    [[0, 2], [2, 1], [3, 0]]
    """
    users = [n for n, row in enumerate(shares) if row is not None and max(row) <= 1 + slack]
    rows = [shares[n] or () for n in users]
    # The class of which most tasks fit comes last: its number follows from the others.
    order = sorted(range(len(users)), key=lambda k: (-max(rows[k]), k))
    common = [
        math.lcm(slack.denominator, *(v.denominator for v in column)) for column in zip(*rows, strict=True)
    ]
    whole = [[int(v * scale) for v, scale in zip(row, common, strict=True)] for row in rows]
    capacities = [math.floor((1 + slack) * scale) for scale in common]
    kind: Any = np.int64 if max(capacities, default=0) < 2**62 else object
    free = np.array([capacities], dtype=kind)
    tasks = np.zeros((1, len(shares)), dtype=np.int64)
    for place, k in enumerate(order):
        needs = np.array(whole[k], dtype=kind)
        some = needs > 0
        most = (free[:, some] // needs[some]).min(axis=1)
        if place == len(order) - 1:
            if most.max() >= 2**62:
                raise ModelError(
                    f"{name} has room for {int(most.max()):.1e} tasks of one class, too many to count in 64 "
                    "bits; give a task a larger demand, or take the region of divisible tasks"
                )
            tasks[:, users[k]] = most
            free = free - most[:, None] * needs
            break
        total = int(most.sum(dtype=object)) + len(most)  # may exceed 64 bits
        if total > limit:
            raise ModelError(
                f"{name} has more than {limit:,} configurations of whole tasks (at least {total:,} for "
                f"{place + 1} of {len(order)} classes); merge classes, raise max_configurations, or take the "
                "region of divisible tasks, to which large servers come close"
            )
        repeats = (most + 1).astype(np.int64)
        first = np.repeat(np.cumsum(repeats) - repeats, repeats)
        number = np.arange(total) - first
        tasks = np.repeat(tasks, repeats, axis=0)
        tasks[:, users[k]] = number
        free = np.repeat(free, repeats, axis=0) - number.astype(kind)[:, None] * needs
    maximal = np.ones(len(tasks), dtype=bool)
    for needs_of in whole:
        maximal &= (free < np.array(needs_of, dtype=kind)).any(axis=1)
    tasks = tasks[maximal]
    return np.ascontiguousarray(tasks[np.lexsort(tasks.T[::-1])])
