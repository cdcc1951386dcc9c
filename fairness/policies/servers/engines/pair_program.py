"""Linear programs over pairs of class and server, which are changed and solved again."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from fairness.arguments.validation import FloatArray
from fairness.machine.linear_programs import Entries, linear_program
from fairness.policies.servers.engines.level_evidence import Pairs

__all__ = ["PairProgram"]

SMALL_PROGRAM = 60
"""Rows up to which a matrix is a table: to make sparse arrays takes most of the time of a small program."""


class PairProgram:
    """Rows are the demanded resources of servers, each at most 1, then the classes, each at least 0.

    Attributes
    ----------
    demanded : ndarray of bool, shape (n_servers, n_resources)
    first_class : int
        The first row of a class.
    rising : ndarray of int, shape (n_classes,)
        The rows of the classes.
    lower, upper : ndarray of shape (n_rows,)
    """

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.demanded = np.zeros((pairs.n_servers, pairs.n_resources), dtype=bool)
        np.logical_or.at(self.demanded, pairs.server, pairs.shares > 0)
        self.first_class = int(self.demanded.sum())
        self.rising = (self.first_class + np.arange(pairs.n_classes)).astype(np.int32)
        self.lower: FloatArray = np.append(np.full(self.first_class, -np.inf), np.zeros(pairs.n_classes))
        self.upper: FloatArray = np.append(np.ones(self.first_class), np.full(pairs.n_classes, np.inf))

    def matrix(self, tasks: FloatArray, parts: FloatArray, *others: Entries) -> FloatArray | csc_array:
        """The columns: first the pairs; of a small program as a table.

        Parameters
        ----------
        tasks, parts : ndarray of shape (n_pairs,)
            Tasks that a unit of the column stands for, and what it adds to the row of its class.
        others : tuple of rows, columns and values
            Entries of what stands behind the pairs.
        """
        pairs, row = self.pairs, np.full(self.demanded.shape, -1)
        row[self.demanded] = np.arange(self.first_class)
        pair, resource = np.nonzero(pairs.shares)
        use = pairs.shares[pair, resource] * tasks[pair]
        entries = (
            (row[pairs.server[pair], resource], pair, use),
            (self.first_class + pairs.job_class, np.arange(len(parts)), parts),
            *others,
        )
        rows, columns, values = (np.concatenate(kind) for kind in zip(*entries, strict=True))
        shape = len(self.lower), int(columns.max()) + 1
        if shape[0] > SMALL_PROGRAM:
            return csc_array((values, (rows, columns)), shape=shape)
        table = np.zeros(shape)
        table[rows, columns] = values
        return table

    def model(
        self, matrix: FloatArray | csc_array, cost: FloatArray, most: FloatArray, **options: Any
    ) -> Any:
        """HiGHS with as many columns of the matrix as have a cost, each from 0 to ``most``."""
        return linear_program(
            cost,
            matrix,
            self.lower,
            self.upper,
            most,
            presolve="off",
            primal_feasibility_tolerance=1e-10,
            dual_feasibility_tolerance=1e-10,
            small_matrix_value=1e-12,
            **options,
        )

    def by_place(self, dual: FloatArray) -> FloatArray:
        """Prices of the resources of servers, from the dual values of the rows."""
        prices = np.zeros(self.demanded.shape)
        prices[self.demanded] = dual[: self.first_class]
        return prices
