r"""What a policy says of itself: its family and parameters, as plain data.

Proofs, bounds, definitions and explanations are about *families*: who knows something of one reads the data
and never the type of the policy, its name or its module. A policy carries its family as ``policy.family``:

========================== ========================================= ========================================
family                     parameters                                policies
========================== ========================================= ========================================
filling                    growth: "tasks", "dominant", "assets";    MaxMin, DRF, AssetFair, AlphaFair(inf);
                           "own" for other rates; resource_weights   other subclasses of FillingPolicy
alpha-fair                 alpha, from 0 on and finite               ProportionalFair, AlphaFair
bottleneck-max                                                       BottleneckMax
timed filling                                                        TDRF
on a tree                  tree, policy: the one that it carries     Hierarchical, HierarchicalPlacement
leximin                    yardstick: "alone", "dedicated",          TSF, CDRF, CDRFH, DRFH
                           "pooled", "own"; constraints: kept or not
filling per server         growth: "dominant"                        PerServerDRF
per-server dominant share  division: "resource", "time"              PSDSF
========================== ========================================= ========================================

One of which nothing is known, such as a plain function, has none. A family of one's own is any other name.
Who fills dominant shares, assets or at rates of its own also has ``growth(problem)``, the rates in floats.

*Growth.* In filling a job of weight :math:`w` whose task holds the shares :math:`b_j` grows at the rate

.. math:: r = w \;\text{("tasks")}, \qquad
   r = w \min_{j: b_j > 0} \frac{v_j}{b_j} \;\text{("dominant")}, \qquad
   r = w \Big/ \sum_j b_j \;\text{("assets")} ,

with weights :math:`v_j` of the resources, 1 unless ``resource_weights`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import Any

from fairness.protocol.policy import offers

__all__ = ["ByFamily", "Family", "family_of"]


@dataclass(frozen=True)
class Family:
    """A family of policies, and the parameters that single one out.

    Examples
    --------
    >>> from fairness import DRF, AlphaFair
    >>> DRF().family
    Family(name='filling', parameters={'growth': 'dominant'})
    >>> match AlphaFair(2).family:
    ...     case Family("alpha-fair", {"alpha": alpha}):
    ...         print(alpha)
    2.0
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def family_of(policy: object) -> Family | None:
    """Family of a policy; None if it says nothing, or answers otherwise than the class that has said it.

    Examples
    --------
    >>> from fairness import DRF
    >>> class Half(DRF):
    ...     def __call__(self, problem, counts):
    ...         return super().__call__(problem, counts) / 2
    >>> family_of(DRF()), family_of(Half()), family_of(lambda problem, counts: counts)
    (Family(name='filling', parameters={'growth': 'dominant'}), None, None)
    """
    told: Any = policy
    return told.family if offers(policy, "family") else None


class ByFamily:
    """A function of a policy and more, with one way for each family: what is decorated is for all others.

    Examples
    --------
    >>> from fairness import DRF
    >>> @ByFamily
    ... def stops(policy):
    ...     return "wherever it likes"
    >>> @stops.register("filling")
    ... def _(policy):
    ...     return "where a resource is full"
    >>> stops(DRF()), stops(lambda problem, counts: counts)
    ('where a resource is full', 'wherever it likes')
    """

    def __init__(self, otherwise: Callable[..., Any]) -> None:
        self.otherwise = otherwise
        self.ways: dict[str, Callable[..., Any]] = {}
        update_wrapper(self, otherwise)

    def register(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator of the function for the family of this name."""

        def registered(way: Callable[..., Any]) -> Callable[..., Any]:
            self.ways[name] = way
            return way

        return registered

    def __call__(self, policy: Any, *more: Any) -> Any:
        """Answer of the way of the family."""
        family = family_of(policy)
        way = self.otherwise if family is None else self.ways.get(family.name, self.otherwise)
        return way(policy, *more)
