r"""What a property of a policy is, and what a checker finds.

A property is a statement about an allocation of a model (a pool or a cluster), such as "nobody envies
anybody", or about two allocations: before and after a *change* of the model, such as a lie, a departure or
a new server. Its checker is a function of numbers alone: it does not know how the allocations came about.
The violation is relative, larger is worse, and it is also meaningful below zero (the room that is left), so
that a search can climb.

Allocations are tasks per class, shape (n_classes,), for a :class:`~fairness.Problem`, and placements, shape
(n_classes, n_servers), for a :class:`~fairness.Cluster`. Given as floats the check is made in floats. Given
as object arrays of :class:`fractions.Fraction` it is made in rational arithmetic, without a tolerance; the
model must then be rational too.

All classes have one job; a user is a class. Weights are those of the model. Limits play no part in these
definitions, so a pool with limits is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import Entropy, Seed, entropy_of, generator
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.model.tree import Tree
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name

__all__ = [
    "TOLERANCE",
    "Change",
    "Finding",
    "Model",
    "Property",
    "Question",
    "Witness",
    "division_of",
    "tree_of",
]

Model = Problem | Cluster
Number = int | float | Fraction
Numbers = NDArray[Any]
"""Floats, or an object array of fractions."""

TOLERANCE = 1e-6
"""A violation above this counts in float arithmetic: a hundred times what the least exact policy leaves.

A smaller one cannot be told from rounding. It shows in :attr:`Finding.violation`, and fractions decide.
"""


class Change(ABC):
    """What is done to a model before a policy is asked again; a subclass is a frozen dataclass.

    A change is a recipe, so that a search can alter the model and make the same change again.
    Subclasses are in :mod:`fairness.properties.changes.changed_model`.

    Attributes
    ----------
    kind : str
        "lie", "leave", "add capacity", ...
    users : tuple of int
        Who does it, in the numbering of the model before; empty where nobody does.
    """

    kind: str
    users: tuple[int, ...] = ()

    def validate(self, model: Model) -> None:
        """Refuse a model that the change does not fit: users, resources or servers that it does not have.

        Raises
        ------
        ModelError
        """
        if self.users and max(self.users) >= model.n_classes:
            raise ModelError.of(
                "users", f"must be below {model.n_classes}, the number of classes; got {self.users}"
            )

    @abstractmethod
    def apply(self, model: Model) -> Model:
        """Model after the change; exact if the model and the change are.

        Raises
        ------
        ModelError
            If the change makes no sense for this model.
        """

    @abstractmethod
    def text(self, model: Model) -> str:
        """In words, for a person: "class 1 claims (16, 8) instead of (16, 1)"."""

    def neighbours(self, model: Model, rng: np.random.Generator) -> Iterator[Change]:
        """Similar changes, for a local search and for shrinking; simpler ones first."""
        return iter(())


@dataclass(frozen=True)
class Finding:
    """What a checker found.

    Parameters
    ----------
    name : str
        Name of the property.
    violation : float or Fraction
        Relative size of the largest violation; negative or zero where the statement holds.
    users : tuple of int
        Whom the statement fails for.
    text : str
        The largest violation in words, with numbers.
    tolerance : float
        What counts as zero; 0 in rational arithmetic.
    entropy : int, list of int or str, or None
        Of :meth:`Property.of`, which draws changes: ``rng=entropy`` repeats it; "a generator" where no seed
        does. None where nothing was drawn.
    """

    name: str
    violation: float | Fraction
    users: tuple[int, ...] = ()
    text: str = ""
    tolerance: float = TOLERANCE
    entropy: Entropy | None = None

    @property
    def holds(self) -> bool:
        """Whether the statement holds."""
        return bool(self.violation <= self.tolerance)


class Question(NamedTuple):
    """What a property is asked to judge: the arguments of :meth:`Property.check`."""

    model: Model
    allocation: Numbers
    change: Change | None = None
    allocation_after: Numbers | None = None
    division: str = "resource"


@dataclass(frozen=True, eq=False)
class Witness:
    """A model (and a change of it) on which a policy violates a property, small enough to check by hand.

    Attributes
    ----------
    policy, property : str
        Names.
    model : Problem or Cluster
    change : Change or None
    finding : Finding
    allocation, allocation_after : ndarray of floats
        What the policy gives before and after the change (None without a change).
    """

    policy: str
    property: str
    model: Model
    change: Change | None
    finding: Finding
    allocation: Numbers
    allocation_after: Numbers | None = None


class Property:
    """A property with its checker; a subclass is one file.

    Attributes
    ----------
    name, key : str
        "sharing incentive", "SI".
    statement : str
        One sentence.
    models : tuple of types
        The kinds of model that it speaks about.
    compares : bool
        Whether it compares the allocations before and after a change.
    implies : tuple of str
        Names of the properties that follow from this one on the same models.
    about_trees : bool
        Whether it says something of its own only of policies that share by a tree of queues.
    tree : Tree or None
        The tree of the policy, see :meth:`within`.
    """

    name: str
    key: str
    statement: str
    models: tuple[type, ...] = (Problem, Cluster)
    compares: bool = False
    implies: tuple[str, ...] = ()
    about_trees: bool = False
    tree: Tree | None = None

    def within(self, tree: Tree | None) -> Self:
        """Say the same of policies that share by a tree of queues; itself where there is none."""
        if tree is None:
            return self
        inside = copy(self)
        inside.tree = tree
        return inside

    def applies(self, model: Model) -> bool:
        """Whether the hypothesis of the property holds for this model."""
        return isinstance(model, self.models)

    def suit(self, model: Model) -> Model:
        """The model, altered where needed so that the hypothesis holds; for searches."""
        return model

    def changes(self, model: Model, rng: np.random.Generator, number: int) -> Iterator[Change]:
        """At most ``number`` changes worth asking about; empty for properties of one allocation."""
        return iter(())

    def everything(self, model: Model) -> Change | None:
        """The change that leaves the model as it is, if the property says of it what an implied one says."""
        return None

    def check(
        self,
        model: Model,
        allocation: Numbers,
        change: Change | None = None,
        allocation_after: Numbers | None = None,
        *,
        division: str = "resource",
    ) -> Finding:
        """Size of the largest violation.

        Parameters
        ----------
        model : Problem or Cluster
        allocation : ndarray, tasks, of shape (n_classes,) for a pool, (n_classes, n_servers) for a cluster
            Floats, or an object array of fractions.
        change, allocation_after
            For properties that compare: the change and the allocation of ``change.apply(model)``.
        division : {"resource", "time"}
            How the servers of a cluster are shared.
        """
        return self.judge(Question(model, allocation, change, allocation_after, division))

    def judge(self, question: Question) -> Finding:
        """What :meth:`check` finds; each property defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no judge(question)")

    def of(
        self,
        policy: AnyPolicy,
        model: Model,
        *,
        changes: int = 100,
        rng: Seed = 0,
    ) -> Finding:
        """Worst finding for a policy at one model, over at most so many changes."""
        answer, stream = _asker(policy), generator(rng)
        entropy = entropy_of(stream)
        before = answer(model)
        inside = self.within(tree_of(policy))
        if not self.compares:
            return inside.check(model, before, division=division_of(policy))
        findings = (
            inside.check(model, before, change, answer(change.apply(model)), division=division_of(policy))
            for change in inside.changes(model, stream, changes)
        )
        nothing = Finding(self.name, -np.inf, text="no change to ask about")
        worst = max(findings, key=lambda finding: finding.violation, default=nothing)
        return replace(worst, entropy=entropy)


def division_of(policy: AnyPolicy) -> str:
    """How the policy shares a server: "resource" unless it says otherwise."""
    return str(getattr(policy, "division", "resource"))


def tree_of(policy: object) -> Tree | None:
    """The tree of queues by which the policy shares; None if there is none."""
    tree = getattr(policy, "tree", None)
    return tree if isinstance(tree, Tree) else None


def _asker(policy: Any) -> Callable[[Model], Numbers]:
    policy_name(policy)
    return lambda model: np.asarray(policy(model, np.ones(model.n_classes)))
