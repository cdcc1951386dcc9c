r"""A finite Markov chain in continuous time, with what is asked of its states.

States have the numbers 0, ..., N - 1, and :math:`q_{xy} \ge 0` is the rate from state x to state
:math:`y \ne x`. The generator Q has these rates off the diagonal and minus their sums on it, so that
:math:`(Qh)(x) = \sum_y q_{xy} (h(y) - h(x))`. A chain in discrete time is the same thing: with its
probabilities as rates it has the same stationary laws, and so a rate from a state to itself says nothing.

A *closed class* is a set of states that lead to each other and to no other. With one closed class the
stationary law is unique and lives there; the other states are *transient*. With several there is one
law in each, and where the chain ends depends on where it starts.

*Rewards* are numbers per state (their mean is what is earned per unit of time), *variables* are numbers that
tell what a state is, and *labels* name sets of states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fairness.arguments.validation import FloatArray, checked_names, float_array, frozen
from fairness.errors import ModelError
from fairness.machine.memory import require_memory

__all__ = ["FiniteChain", "check_chain"]

SHOWN = 5
"""Closed classes that a message names."""
ROUNDINGS = 8.0
"""By so many roundings per entry a diagonal may differ from minus the sum of its row."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class FiniteChain:
    """A finite chain, its rates stored row by row.

    Parameters
    ----------
    matrix : scipy sparse array or array_like of shape (n_states, n_states), events per unit of time
        Rates from row to column, >= 0; entries of the same place are added up. On the diagonal may stand
        nothing, minus the sum of the other rates (a generator), or rates from a state to itself, which are
        left out.
    rewards : mapping of str to array_like of shape (n_states,), optional
        Rewards per unit of time.
    variables : mapping of str to array_like of shape (n_states,), optional
    labels : mapping of str to array_like of bool of shape (n_states,), optional
        True where the state has the label.

    Attributes
    ----------
    starts : ndarray of int of shape (n_states + 1,)
        The rates out of state x have the places ``starts[x]`` to ``starts[x + 1] - 1``.
    targets : ndarray of int of shape (n_transitions,)
        Where they lead, rising within a state.
    rates : ndarray of shape (n_transitions,), events per unit of time
        > 0.
    rewards, variables : dict of str to ndarray of shape (n_states,)
    labels : dict of str to ndarray of bool of shape (n_states,)

    Raises
    ------
    ModelError
        If the matrix is not square, a rate is negative or no number, a row does not sum to 0 although its
        diagonal is negative, or other arrays have not one entry per state.

    Examples
    --------
    A machine that breaks once in ten days and is mended within one:

    >>> chain = FiniteChain([[0, 0.1], [1, 0]], rewards={"output": [5, 0]}, labels={"down": [False, True]})
    >>> chain
    FiniteChain(2 states, 2 transitions; rewards: output; labels: down)
    >>> chain.generator().toarray()
    array([[-0.1,  0.1],
           [ 1. , -1. ]])
    """

    starts: NDArray[np.int64]
    targets: NDArray[np.int32]
    rates: FloatArray
    rewards: dict[str, FloatArray]
    variables: dict[str, FloatArray]
    labels: dict[str, NDArray[np.bool_]]

    def __init__(
        self,
        matrix: Any,
        *,
        rewards: Mapping[str, ArrayLike] | None = None,
        variables: Mapping[str, ArrayLike] | None = None,
        labels: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        starts, targets, rates = _rows(matrix)
        n = len(starts) - 1
        vars(self).update(
            starts=frozen(starts),
            targets=frozen(targets),
            rates=frozen(rates),
            rewards=_numbers("rewards", rewards, n),
            variables=_numbers("variables", variables, n),
            labels=_sets(labels, n),
        )

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.starts) - 1

    @property
    def n_transitions(self) -> int:
        """Number of rates > 0 between different states."""
        return len(self.rates)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rewards, the variables and the labels."""
        return tuple(dict.fromkeys([*self.rewards, *self.variables, *self.labels]))

    def values(self, name: str) -> FloatArray:
        """Reward or variable of that name in each state; 1 where a state has that label, 0 elsewhere.

        Raises
        ------
        ModelError
            If there is nothing of that name, or a reward, a variable and a label differ under one name.
        """
        kinds = (self.rewards, self.variables, self.labels)
        found = [np.asarray(kind[name], dtype=float) for kind in kinds if name in kind]
        if not found:
            known = ", ".join(map(repr, self.names)) or "nothing"
            raise ModelError.of("name", f"must be of what the chain knows: {known}; got {name!r}")
        if any((other != found[0]).any() for other in found[1:]):
            raise ModelError.of(
                "name", f": {name!r} is a reward, a variable or a label, and these differ; rename one of them"
            )
        return found[0]

    def matrix(self) -> sparse.csr_array:
        """The rates as a CSR array without a diagonal, which shares their memory."""
        return sparse.csr_array((self.rates, self.targets, self.starts), shape=(self.n_states,) * 2)

    def generator(self) -> sparse.csr_array:
        """The generator: rates, and minus their sums on the diagonal."""
        rates = self.matrix()
        return (rates - sparse.diags_array(rates.sum(axis=1))).tocsr()

    @cached_property
    def closed_classes(self) -> tuple[NDArray[np.int64], ...]:
        """States of each closed class, rising; the classes by their first states.

        Examples
        --------
        State 0 is transient, state 1 is never left:

        >>> [states.tolist() for states in FiniteChain([[0, 1, 1], [0, 0, 0], [0, 0, 0]]).closed_classes]
        [[1], [2]]
        """
        count, component = connected_components(self.matrix(), directed=True, connection="strong")
        sources = np.repeat(component, np.diff(self.starts))
        closed = np.ones(count, dtype=bool)
        closed[sources[sources != component[self.targets]]] = False
        order = np.argsort(component, kind="stable")
        ends = np.cumsum(np.bincount(component, minlength=count))
        parts = [order[end - size : end] for end, size in zip(ends, np.diff(ends, prepend=0), strict=True)]
        kept = (part.astype(np.int64) for part, good in zip(parts, closed, strict=True) if good)
        return tuple(sorted(kept, key=lambda part: int(part[0])))

    def part(self, states: ArrayLike) -> FiniteChain:
        """The chain on a set of states that is never left, numbered as they come.

        Raises
        ------
        ModelError
            If the states are no different numbers of states, or a rate leads out of them.

        Examples
        --------
        >>> chain = FiniteChain([[0, 1, 1], [0, 0, 0], [0, 0, 0]], variables={"k": [7, 8, 9]})
        >>> chain.part(chain.closed_classes[1]).variables
        {'k': array([9.])}
        """
        given = np.asarray(states)
        if given.ndim != 1 or given.dtype.kind not in "iu" or not given.size:
            raise ModelError.of("states", f"must be a list of numbers of states; got {states!r:.80}")
        if given.min() < 0 or given.max() >= self.n_states or len(np.unique(given)) < len(given):
            raise ModelError.of("states", f"must be different numbers from 0 to {self.n_states - 1}")
        inside = np.zeros(self.n_states, dtype=bool)
        inside[given] = True
        rates = self.matrix()[given]
        if not inside[rates.indices].all():
            place = int(np.flatnonzero(~inside[rates.indices])[0])
            source = int(given[np.searchsorted(rates.indptr, place, side="right") - 1])
            raise ModelError.of(
                "states",
                f"must not be left; a rate leads from state {source} to state {rates.indices[place]}; give a "
                "closed class, or more states",
            )
        return FiniteChain(
            rates[:, given],
            rewards={name: values[given] for name, values in self.rewards.items()},
            variables={name: values[given] for name, values in self.variables.items()},
            labels={name: values[given] for name, values in self.labels.items()},
        )

    def with_rewards(self, rewards: Mapping[str, ArrayLike]) -> FiniteChain:
        """The same chain with more rewards, arrays of shape (n_states,)."""
        made: FiniteChain = object.__new__(FiniteChain)
        more = self.rewards | _numbers("rewards", rewards, self.n_states)
        vars(made).update({**vars(self), "rewards": more})
        return made

    @property
    def closed_class(self) -> NDArray[np.int64]:
        """States of the only closed class.

        Raises
        ------
        ModelError
            If there are several.
        """
        classes = self.closed_classes
        if len(classes) > 1:
            first = [f"{len(part)} with {self.told(int(part[0]))}" for part in classes[:SHOWN]]
            more = "" if len(classes) <= SHOWN else f" and {len(classes) - SHOWN} more"
            raise ModelError.of(
                "chain",
                f"has {len(classes)} sets of states that are never left, each with a law of its own "
                f"({'; '.join(first)}{more}); give one of them, such as chain.part(chain.closed_classes[0])",
            )
        return classes[0]

    def asked(
        self, of: str | Sequence[str] | Mapping[str, ArrayLike] | None
    ) -> tuple[FiniteChain, tuple[str, ...]]:
        """The chain, with functions of the user as rewards, and the names that are asked for.

        Raises
        ------
        ModelError
            If nothing is asked for, or something that is unknown.
        """
        if of is None:
            names = tuple({**self.rewards, **self.variables} or self.labels)
            if not names:
                raise ModelError.of(
                    "of",
                    "must name what is wanted, as the chain has no rewards, variables or labels; give an "
                    "array for each name, such as of={'jobs': range(n_states)}",
                )
            return self, names
        if isinstance(of, Mapping):
            if taken := [str(name) for name in of if str(name) in self.names]:
                raise ModelError.of("of", f": the chain has its own {taken[0]!r}; choose another name")
            if not of:
                raise ModelError.of("of", "is empty; give an array for each name")
            try:
                return self.with_rewards(of), tuple(map(str, of))
            except ModelError as error:
                raise ModelError.of("of", f": {error}") from None
        names = (of,) if isinstance(of, str) else tuple(dict.fromkeys(of))
        if not names:
            raise ModelError.of("of", f"is empty; give some of {', '.join(map(repr, self.names))}")
        for name in names:
            if name not in self.names:
                known = ", ".join(map(repr, self.names)) or "nothing"
                raise ModelError.of("of", f"must be of what the chain knows: {known}; got {name!r}")
            self.values(name)
        return self, names

    def told(self, state: int) -> str:
        """A state for people: its number, and its variables.

        Examples
        --------
        >>> FiniteChain([[0, 1], [1, 0]], variables={"x": [3, 4]}).told(1)
        'state 1 (x=4)'
        """
        shown = ", ".join(f"{name}={values[state]:g}" for name, values in self.variables.items())
        return f"state {state} ({shown})" if shown else f"state {state}"

    def __repr__(self) -> str:
        kinds = (("rewards", self.rewards), ("variables", self.variables), ("labels", self.labels))
        named = "".join(f"; {kind}: {', '.join(names)}" for kind, names in kinds if names)
        return f"FiniteChain({self.n_states} states, {self.n_transitions} transitions{named})"


def check_chain(chain: Any) -> FiniteChain:
    """The chain; ModelError if it is none."""
    if not isinstance(chain, FiniteChain):
        raise ModelError.of("chain", f"must be a FiniteChain; got {type(chain).__name__}")
    return chain


def _rows(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], FloatArray]:
    """Rates row by row, checked, without the diagonal."""
    if not sparse.issparse(matrix):
        matrix = sparse.csr_array(float_array("matrix", matrix, ndim=2))
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1] or 0 in matrix.shape:
        raise ModelError.of("matrix", f"must be square, a row and a column per state; got {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise ModelError.of("matrix", f"must be real numbers; got entries of type {matrix.dtype}")
    # A copy in rows, its sorting, and the rates without the diagonal.
    require_memory(40.0 * matrix.nnz, "a copy of the rates", "give fewer states")
    rows = sparse.csr_array(matrix, dtype=float, copy=True)
    rows.sum_duplicates()
    n = rows.shape[0]
    source = np.repeat(np.arange(n), np.diff(rows.indptr))
    own = rows.indices == source
    wrong = ~np.isfinite(rows.data) | ((rows.data < 0) & ~own)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        x, y = int(source[k]), int(rows.indices[k])
        rule = "finite" if not np.isfinite(rows.data[k]) else ">= 0 off the diagonal"
        raise ModelError.of(
            "matrix", f"must be {rule}; got {rows.data[k]} from state {x} to state {y}{_turned(rows)}", x, y
        )
    diagonal = rows.diagonal()
    keep = ~own & (rows.data > 0)
    starts = np.concatenate([[0], np.cumsum(np.bincount(source[keep], minlength=n))]).astype(np.int64)
    targets, rates = rows.indices[keep].astype(np.int32), rows.data[keep]
    out = np.bincount(source[keep], weights=rates, minlength=n)
    scale = np.maximum(out, -diagonal)
    slack = ROUNDINGS * np.finfo(float).eps * (np.diff(starts) + 1)
    bad = (diagonal < 0) & (np.abs(out + diagonal) > slack * scale)
    if bad.any():
        x = int(np.flatnonzero(bad)[0])
        raise ModelError.of(
            "matrix",
            f"has {diagonal[x]} on the diagonal of state {x}, but the rates out of it sum to {out[x]}; write "
            f"minus their sum, or nothing{_turned(rows)}",
            x,
            x,
        )
    return starts, targets, rates


def _turned(rows: sparse.csr_array) -> str:
    """A remark where columns sum to 0 instead of rows."""
    columns, size = rows.sum(axis=0), abs(rows).sum(axis=0)
    turned = (size > 0).any() and np.all(np.abs(columns) <= 1e-9 * size)
    return " (columns sum to 0: give the transpose, with rates from row to column)" if turned else ""


def _arrays(argument: str, given: Mapping[str, ArrayLike] | None, n: int) -> dict[str, NDArray[Any]]:
    """Arrays by name, one entry per state."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError.of(argument, f"must map names to arrays; got {type(given).__name__}")
    checked_names(argument, list(given), len(given), "name")
    arrays = {str(name): np.asarray(values) for name, values in given.items()}
    for name, array in arrays.items():
        if array.shape != (n,):
            raise ModelError.of(
                argument, f"must have one entry for each of the {n} states; {name!r} has shape {array.shape}"
            )
    return arrays


def _numbers(argument: str, given: Mapping[str, ArrayLike] | None, n: int) -> dict[str, FloatArray]:
    made = {}
    for name, values in _arrays(argument, given, n).items():
        made[name] = frozen(float_array(f"{argument}[{name!r}]", values, ndim=1))
        bad = ~np.isfinite(made[name])
        if bad.any():
            x = int(np.flatnonzero(bad)[0])
            raise ModelError.of(argument, f"must be finite; {name!r} has {made[name][x]} in state {x}", x)
    return made


def _sets(given: Mapping[str, ArrayLike] | None, n: int) -> dict[str, NDArray[np.bool_]]:
    arrays = _arrays("labels", given, n)
    for name, array in arrays.items():
        if array.dtype != np.bool_:
            raise ModelError.of(
                "labels", f"must be True and False, one for each state; {name!r} has type {array.dtype}"
            )
    return {name: frozen(array.copy()) for name, array in arrays.items()}
