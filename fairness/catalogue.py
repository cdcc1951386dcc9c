"""The catalogue: every policy with the colour it has in all figures, for pools and for clusters.

A new policy is one line here; the tests take their lists from it. Colours of pool policies are those of Okabe
and Ito, those of cluster policies, which have their own figures, Tol's muted ones, with other greys: how far
apart they lie for colour-blind readers, and from the colours of classes, resources and other parts of a
model, is said in :mod:`fairness.display.colours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import cycle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairness.protocol.cluster_policy import ClusterPolicy
    from fairness.protocol.policy import Policy

__all__ = ["CATALOGUE", "CLUSTER_CATALOGUE", "Entry", "colour", "coloured"]


@dataclass(frozen=True)
class Entry:
    """A policy, its colour, and the checks of the battery that it fails by nature.

    The policy is made when it is asked for, so that a colour costs no solver. The battery is
    :func:`fairness.testing.check_policy`.

    Attributes
    ----------
    name : str
        That of the policy.
    place : str
        Module of its class in :mod:`fairness.policies`, and the class: "maxmin:DRF".
    colour : str
    skip : frozenset of str
        Checks of the battery.
    arguments : tuple
        Those of the class.
    """

    name: str
    place: str
    colour: str
    skip: frozenset[str] = frozenset()
    arguments: tuple[Any, ...] = ()

    @cached_property
    def policy(self) -> Any:
        """The policy: a :class:`~fairness.protocol.policy.Policy` or a cluster policy."""
        module, _, name = self.place.partition(":")
        policy: Policy | ClusterPolicy = getattr(import_module(f"fairness.policies.{module}"), name)(
            *self.arguments
        )
        return policy


CATALOGUE: tuple[Entry, ...] = (
    Entry("MMF", "maxmin:MaxMin", "#707070", frozenset({"task units"})),
    Entry("DRF", "maxmin:DRF", "#D55E00"),
    Entry("PF", "proportional:ProportionalFair", "#0072B2"),
    Entry("BMF", "bottleneck:BottleneckMax", "#009E73"),
    Entry("alpha=2", "proportional:AlphaFair", "#CC79A7", frozenset({"task units"}), (2,)),
    Entry("Asset", "asset:AssetFair", "#E69F00", frozenset({"duplicated resource"})),
)
"""Policies of a pool, each with its name, its class, its colour and the checks that it fails by nature."""

CLUSTER_CATALOGUE: tuple[Entry, ...] = (
    Entry("PS-DSF rdm", "servers.psdsf:PSDSF", "#332288"),
    Entry("PS-DSF tdm", "servers.psdsf:PSDSF", "#88CCEE", frozenset({"one server"}), ("time",)),
    Entry("TSF", "servers.task_share:TSF", "#117733"),
    Entry("TSF dedicated", "servers.task_share:TSF", "#44AA99", arguments=("dedicated",)),
    Entry("C-DRFH", "servers.task_share:CDRFH", "#DDCC77"),
    Entry("DRFH", "servers.task_share:DRFH", "#CC6677"),
    Entry("CDRF", "servers.task_share:CDRF", "#882255"),
    Entry("DRF per server", "servers.per_server:PerServerDRF", "#222222"),
)
"""Policies of a cluster, as ``CATALOGUE`` has those of a pool."""

_COLOURS = {entry.name: entry.colour for entry in (*CATALOGUE, *CLUSTER_CATALOGUE)}
_MODELS = {"balanced fairness": "#000000", "bound": "#56B4E9", "H-DRF": "#780000"}


def colour(name: str) -> str:
    """Colour of a policy, of "balanced fairness" or of "bound" in figures; dark grey for any other name."""
    return _COLOURS.get(name) or _MODELS.get(name, "#404040")


_SPARE = ("#CC0000", "#1144BB", "#557755", "#7777FF", "#88BB77", "#442244", "#CCEE00")


def coloured(names: Sequence[str]) -> dict[str, str]:
    """Colour of each policy or model; those without one of their own get spare ones that no other has.

    Examples
    --------
    >>> coloured(["DRF", "mine", "balanced fairness"])
    {'DRF': '#D55E00', 'mine': '#CC0000', 'balanced fairness': '#000000'}
    """
    unknown = colour("")
    spare = cycle(_SPARE)
    return {name: next(spare) if colour(name) == unknown else colour(name) for name in names}
